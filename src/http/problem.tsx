/** Refusals as pages, for people; programs get the same refusal as JSON. */
import { ProblemPage } from "../pages/problem.tsx";
import { PAGE_PROBLEMS } from "../pages/words.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { AppContext } from "./context.ts";
import { describeRefusal, refuse } from "./refusals.ts";

/** Answers a refusal as a page outside `/api` where the client reads HTML, otherwise as JSON. */
export function refuseByAccept(
  context: AppContext,
  refusal: Refusal,
): Response | Promise<Response> {
  const is_page = !context.req.path.startsWith("/api/") && acceptsHtml(context);
  return is_page ? refuseWithPage(context, refusal) : refuse(context, refusal);
}

/** Answers a refusal as a page. */
export function refuseWithPage(
  context: AppContext,
  refusal: Refusal,
): Response | Promise<Response> {
  const { status, error, headers } = describeRefusal(refusal);
  const problem = PAGE_PROBLEMS[refusal.code] ?? { title: "That did not work", next: error };
  const leads_on = refusal.code !== "misconfigured";
  return context.html(<ProblemPage problem={problem} leads_on={leads_on} />, status, headers);
}

/** Whether the client names HTML among what it accepts; a bare wildcard is a program. */
export function acceptsHtml(context: AppContext): boolean {
  return (context.req.header("Accept") ?? "").includes("text/html");
}
