/** Refusals as pages, for people; programs get the same refusal as JSON. */
import { ProblemPage, type WayOn } from "../pages/problem.tsx";
import { formProblem, PAGE_PROBLEMS, type Problem } from "../pages/words.ts";
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
  const problem = problemOf(refusal, error);
  const page = <ProblemPage problem={problem} way_on={wayOnFrom(context, refusal)} />;
  return context.html(page, status, headers);
}

/** What a page says of a refusal, whose sentence is `error`. */
function problemOf(refusal: Refusal, error: string): Problem {
  if (refusal.code === "invalid_request") return formProblem(error);
  const words = PAGE_PROBLEMS[refusal.code] ?? { title: "That did not work", next: error };
  return "address" in refusal ? { ...words, address: refusal.address } : words;
}

function wayOnFrom(context: AppContext, refusal: Refusal): WayOn | null {
  if (refusal.code === "misconfigured") return null;
  if (refusal.code === "suspended") return { act: "sign_out" };
  const in_console = context.get("operates") === true && context.req.path.startsWith("/console");
  if (in_console) return { href: "/console", text: "Go to the console" };
  if (!("base_url" in refusal)) return { href: "/account", text: "Go to your account" };
  return { href: refusal.base_url, text: `Go to ${refusal.base_url}` };
}

/** Whether the client names HTML among what it accepts; a bare wildcard is a program. */
export function acceptsHtml(context: AppContext): boolean {
  return (context.req.header("Accept") ?? "").includes("text/html");
}
