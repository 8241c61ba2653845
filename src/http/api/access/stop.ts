/** `POST /api/access/apps/{slug}/stop` and `/allow`: the holder stops an app, and allows it again. */
import * as z from "zod/mini";
import type { Answer } from "../../../account/contract.ts";
import { STARTED_JOBS } from "../../../domain/app_stop.ts";
import { readAccessList } from "../../allowances/access_list.ts";
import { stopAppOf } from "../../allowances/stop_app.ts";
import { accountOf, callerOf, type AppContext } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { endpoint } from "../endpoint.ts";
import { appView } from "./read.ts";

const stopBody = z.object({
  started_jobs: z._default(z.enum(STARTED_JOBS, "must be keep or expire"), "keep"),
});

export const stopApp = endpoint(
  {
    at: "POST /api/access/apps/{slug}/stop",
    caller: "user",
    body: stopBody,
    refusals: ["app_not_found"],
  },
  async (context, { params: { slug }, body: { started_jobs } }) => {
    const stopped = await stopAppOf(context, { slug, started_jobs });
    return respondWithApp(context, slug, stopped);
  },
);

/** Only on our own pages, because it gives access. */
export const allowApp = endpoint(
  {
    at: "POST /api/access/apps/{slug}/allow",
    caller: "user",
    refusals: ["app_not_found"],
  },
  async (context, { params: { slug } }) =>
    respondWithApp(context, slug, await accountOf(context).allowApp(callerOf(context), slug)),
);

/** Without an app that was allowed again and was never open: no list has it. */
async function respondWithApp(
  context: AppContext,
  slug: string,
  changed: Answer<null>,
): Promise<Response> {
  if (!changed.ok) return refuse(context, changed.refusal);
  const read = await readAccessList(context);
  if (!read.ok) return refuse(context, read.refusal);
  const app = read.value.apps.find((one) => one.slug === slug);
  return context.json({ app: app === undefined ? null : appView(app, context.get("base_url")) });
}
