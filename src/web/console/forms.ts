/** Reading, checking and submitting the console's forms. */
import type * as z from "zod/mini";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { OnceAnswer } from "../../account/contract.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { FormState } from "./form.tsx";
import { FORM_PROBLEMS } from "./labels.ts";
import { actingOf } from "../../http/caller/acting.ts";
import type { AppContext } from "../../http/context.ts";
import { refusalForError } from "../../http/failures.ts";
import { describeRefusal } from "../../http/refusals.ts";
import type { Acting } from "../../operator/acting.ts";

/** The text fields of the request's form and its idempotency key. A body that is not a form has no fields. */
export async function readForm(context: AppContext): Promise<FormState> {
  const form = await context.req.formData().catch(() => new FormData());
  const values = Object.fromEntries(
    [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
  // Our forms always have a key. Without one, an action that needs it is refused.
  return { values, problems: {}, key: values["key"] ?? "" };
}

/** A field's text, with `\n` line ends as in JSON bodies. */
export function textOf({ values }: FormState, name: string): string {
  return (values[name] ?? "").replaceAll("\r\n", "\n").trim();
}

/** An optional field as a member of a body: left out if it is empty. */
export function optional(form: FormState, name: string): Readonly<Record<string, string>> {
  const text = textOf(form, name);
  return text === "" ? {} : { [name]: text };
}

/** A field's whole number; NaN, which every schema refuses, for any other text. */
export function wholeNumberOf(form: FormState, name: string): number {
  const text = textOf(form, name);
  return /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
}

/** The entries of a list as it was typed, each with its line. Blanks and commas also separate entries. */
export function entriesOf({ values }: FormState, name: string) {
  return (values[name] ?? "")
    .split("\n")
    .flatMap((text, index) => text.split(/[\s,]+/).map((entry) => ({ entry, line: index + 1 })))
    .filter(({ entry }) => entry !== "");
}

/** The most wrong entries of a list that are named. A list of 500 would fill the page. */
const ENTRY_PROBLEMS_MAX = 5;

/** The longest part of a wrong entry that is repeated, in UTF-16 code units. */
const ENTRY_SHOWN_MAX_LENGTH = 60;

/**
 * Checks a body that was made from a form. The problems name fields by their labels, and entries of a list by their
 * lines.
 */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  body: object,
  labels: Readonly<Record<string, string>>,
  form: FormState | null = null,
): Result<z.output<Schema>, FormState["problems"]> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return accepted(parsed.data);
  const found: Record<string, Map<string, string[]>> = {};
  for (const { path, message } of parsed.error.issues) {
    const name = String(path[0] ?? "");
    const index = path[1];
    const of_field = (found[name] ??= new Map<string, string[]>());
    const is_entry = form !== null && typeof index === "number";
    const where = is_entry ? entryText(form, name, index) : (labels[name] ?? name);
    of_field.set(message, [...(of_field.get(message) ?? []), where]);
  }
  return refused(
    Object.fromEntries(
      Object.entries(found).map(([name, of_field]) => {
        const is_list = form !== null && entriesOf(form, name).length > 1;
        return [name, sentenceOf(is_list ? [...of_field] : [...of_field].slice(0, 1))];
      }),
    ),
  );
}

/** The problems of a field, each said once for all entries that have it. */
function sentenceOf(problems: readonly (readonly [message: string, where: readonly string[]])[]) {
  const texts = problems.map(([message, where]) => {
    const shown = where.slice(0, ENTRY_PROBLEMS_MAX).join(", ").replaceAll(", Line", ", line");
    const more = where.length > ENTRY_PROBLEMS_MAX ? " and others" : "";
    return `${shown}${more} ${message}.`;
  });
  return texts.join(" ");
}

/** The problem of a list's entry, such as "Line 3: “mailinator” must be an e-mail domain." */
export function entryProblem(
  form: FormState,
  name: string,
  { index, message }: { readonly index: number; readonly message: string },
): string {
  return `${entryText(form, name, index)} ${message}.`;
}

function entryText(form: FormState, name: string, index: number): string {
  const { entry = "", line = 1 } = entriesOf(form, name)[index] ?? {};
  const where = form.values[name]?.includes("\n") === true ? `Line ${line}: ` : "";
  return `${where}“${entry.slice(0, ENTRY_SHOWN_MAX_LENGTH)}”`;
}

/** A form to show again, because its action failed or its outcome is unknown. */
export interface FailedForm {
  readonly form: FormState;
  readonly status: ContentfulStatusCode;
  /** Set if the action was refused. */
  readonly code?: Refusal["code"];
}

/** The form with its problems. */
export function invalid(form: FormState, problems: FormState["problems"]): FailedForm {
  return { form: { ...form, problems }, status: 400 };
}

/** Refusals that mean the form's idempotency key can no longer be used. */
const USED_KEY_PROBLEMS: Readonly<Partial<Record<Refusal["code"], string>>> = {
  idempotency_key_reused: FORM_PROBLEMS.reused,
  app_key_revoked: FORM_PROBLEMS.revoked,
};

/**
 * Runs a form's action, and returns its value if it was done, now or by an earlier request. `fields` maps refusal codes
 * to the fields that they concern. A form that failed keeps its values and its key, so that sending it again is safe; it
 * gets a new key only if the old one can no longer be used.
 */
export async function submit<Value>(
  context: AppContext,
  form: FormState,
  perform: (acting: Acting) => Promise<OnceAnswer<Value>>,
  fields: Readonly<Partial<Record<Refusal["code"], string>>> = {},
): Promise<Result<Value, FailedForm>> {
  try {
    const result = await perform(await actingOf(context));
    if (result.ok) return accepted(result.value.value);
    const { status, error, code } = describeRefusal(result.refusal);
    context.set("refusal_code", code);
    const used_key_problem = USED_KEY_PROBLEMS[code];
    const key = used_key_problem === undefined ? form.key : crypto.randomUUID();
    const problems = { [fields[code] ?? ""]: used_key_problem ?? error };
    return refused({ form: { ...form, key, problems }, status, code });
  } catch (error) {
    const refusal = refusalForError(error, context);
    context.set("refusal_code", refusal.code);
    const { status } = describeRefusal(refusal);
    return refused({ form: { ...form, problems: { "": FORM_PROBLEMS.unavailable } }, status });
  }
}
