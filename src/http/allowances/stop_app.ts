/** The holder stops an app, through the API or on the page. */
import type { Answer, StopAppRequest } from "../../account/contract.ts";
import { accountOf, callerOf, type AppContext } from "../context.ts";

/** The account knows which app owned a resource when the person connected, and the registry which owns it now. */
export async function stopAppOf(
  context: AppContext,
  { slug, started_jobs }: Pick<StopAppRequest, "slug" | "started_jobs">,
): Promise<Answer<null>> {
  const resources = await context.get("services").apps.resourcesOf(slug);
  return accountOf(context).stopApp(callerOf(context), { slug, started_jobs, resources });
}
