/** A refusal as a page. */
import { ProblemPage, type NextStep } from "./problem_page.tsx";
import {
  formProblem,
  internalProblem,
  PAGE_PROBLEMS,
  suspendedFor,
  type Problem,
} from "./messages.ts";
import { message, verbatim } from "../language/text.tsx";
import type { Refusal } from "../../domain/refusals.ts";
import type { AppContext } from "../../http/context.ts";
import type { RefusalPage } from "../../http/context.ts";
import { describeRefusal, type DescribedRefusal } from "../../http/refusals.ts";

export const showRefusal: RefusalPage = (context, refusal) => {
  const described = describeRefusal(refusal);
  const { status, headers } = described;
  const problem = problemOf(refusal, described);
  const page = <ProblemPage problem={problem} next_step={nextStepAfter(context, refusal)} />;
  return context.html(page, status, headers);
};

/** The page's text for a refusal; `error` is its sentence in the API. */
function problemOf(refusal: Refusal, { code, error }: DescribedRefusal): Problem {
  if (refusal.code === "internal") return internalProblem(refusal.request_id);
  if (code === "invalid_request") return formProblem(verbatim(error));
  const problem = PAGE_PROBLEMS[code] ?? { title: "This did not work", next: verbatim(error) };
  if (code === "role_required") return { ...problem, what: verbatim(error) };
  if (refusal.code === "suspended" && refusal.public_reason !== null) {
    return { ...problem, ...suspendedFor(refusal.public_reason) };
  }
  return "address" in refusal ? { ...problem, address: refusal.address } : problem;
}

function nextStepAfter(context: AppContext, refusal: Refusal): NextStep | null {
  if (refusal.code === "misconfigured") return null;
  if (refusal.code === "suspended") return { kind: "sign_out" };
  const is_operator = (context.get("operator") ?? null) !== null;
  const in_console = is_operator && context.req.path.startsWith("/console");
  if (in_console && refusal.code === "role_required")
    return { kind: "link", href: "/console/operators", text: "See who has this role" };
  if (in_console) return { kind: "link", href: "/console", text: "Go to the console" };
  if (!("base_url" in refusal))
    return { kind: "link", href: "/account", text: "Go to your account" };
  return {
    kind: "link",
    href: refusal.base_url,
    text: message("Go to {address}", { address: refusal.base_url }),
  };
}
