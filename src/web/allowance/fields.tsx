/** The parts of a form's fields: a choice with its label, and a field's problem. */
import type { Child } from "hono/jsx";
import { say, type Message, type Said } from "../language/text.tsx";

/** A field's problem; the field refers to it with `aria-describedby`. */
export function FieldProblem({ id, problem }: { id: string; problem: string | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class="field-problem" id={id}>
      {problem}
    </p>
  );
}

/** A problem of a field in the language of the page. */
export function problemText(problem: Said | undefined): string | undefined {
  return problem === undefined ? undefined : say(problem);
}

/** The attributes that connect a field to its hint and its problem. */
export function describedBy(
  problem_id: string,
  problem: string | Message | undefined,
  hint_id?: string,
) {
  const ids = [problem === undefined ? null : problem_id, hint_id ?? null].filter(Boolean);
  return {
    ...(ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }),
    ...(problem === undefined ? {} : { "aria-invalid": "true" as const }),
  };
}

/** {@link describedBy} for a group, which cannot have `aria-invalid` (WAI-ARIA 1.2). */
export function groupDescribedBy(problem_id: string, problem: string | Message | undefined) {
  return problem === undefined ? {} : { "aria-describedby": problem_id };
}

/** A checkbox or radio button with its label. */
export function Choice(props: { children: Child; [attribute: string]: unknown }) {
  const { children, ...attributes } = props;
  return (
    <label class="choice">
      <input {...attributes} />
      <span>{children}</span>
    </label>
  );
}
