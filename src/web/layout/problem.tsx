/** A refusal as a page. */
import { ProblemPage, type WayOn } from "./problem_page.tsx";
import { formProblem, PAGE_PROBLEMS, type Problem } from "./words.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../../http/context.ts";
import type { RefusalPage } from "../../http/refusal_page.ts";
import { describeRefusal } from "../../http/refusals.ts";

/** The page of a refusal. */
export const showRefusal: RefusalPage = (context, refusal) => {
  const { status, error, headers } = describeRefusal(refusal);
  const problem = problemOf(refusal, error);
  const page = <ProblemPage problem={problem} way_on={wayOnFrom(context, refusal)} />;
  return context.html(page, status, headers);
};

/** What a page says of a refusal, whose sentence is `error`. */
function problemOf(refusal: Refusal, error: string): Problem {
  if (refusal.code === "invalid_request") return formProblem(error);
  const words = PAGE_PROBLEMS[refusal.code] ?? { title: "That did not work", next: error };
  return "address" in refusal ? { ...words, address: refusal.address } : words;
}

function wayOnFrom(context: AppContext, refusal: Refusal): WayOn | null {
  if (refusal.code === "misconfigured") return null;
  if (refusal.code === "suspended") return { act: "sign_out" };
  const in_console = context.get("is_operator") === true && context.req.path.startsWith("/console");
  if (in_console) return { href: "/console", text: "Go to the console" };
  if (!("base_url" in refusal)) return { href: "/account", text: "Go to your account" };
  return { href: refusal.base_url, text: `Go to ${refusal.base_url}` };
}
