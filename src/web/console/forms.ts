/** Forms of the console as they were sent, and what became of them. */
import type * as z from "zod/mini";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { OnceAnswer } from "../../account/contract.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { FormState } from "./form.tsx";
import { FORM_PROBLEMS } from "./words.ts";
import type { AppContext } from "../../http/context.ts";
import { refusalForError } from "../../http/failures.ts";
import { describeRefusal } from "../../http/refusals.ts";

/** Text fields by name, as they were typed, and the key. A body that is no form has none. */
export async function readForm(context: AppContext): Promise<FormState> {
  const form = await context.req.formData().catch(() => new FormData());
  const values = Object.fromEntries(
    [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
  // A form without its key is not ours; the act will be refused for it where that matters.
  return { values, problems: {}, key: values["key"] ?? "" };
}

/** A field's text; a line ends in one character, as it does in JSON. */
export function textOf({ values }: FormState, name: string): string {
  return (values[name] ?? "").replaceAll("\r\n", "\n").trim();
}

/** A field that may be left empty, as a member of a body. */
export function optional(form: FormState, name: string): Readonly<Record<string, string>> {
  const text = textOf(form, name);
  return text === "" ? {} : { [name]: text };
}

/** A whole number as people type it; NaN, which every schema refuses, for anything else. */
export function wholeOf(form: FormState, name: string): number {
  const text = textOf(form, name);
  return /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
}

/** Checks a body made of a form; what is wrong, in the words of its fields. */
export function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  body: object,
  labels: Readonly<Record<string, string>>,
): Result<z.output<Schema>, FormState["problems"]> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return accepted(parsed.data);
  const problems: Record<string, string> = {};
  for (const { path, message } of parsed.error.issues) {
    const name = String(path[0] ?? "");
    problems[name] ??= `${labels[name] ?? name} ${message}.`;
  }
  return refused(problems);
}

/** An act that did not happen, or may not have: the form to show again, and its status. */
export interface NotDone {
  readonly form: FormState;
  readonly status: ContentfulStatusCode;
  /** The refusal, where the act was refused. */
  readonly code?: Refusal["code"];
}

/** The form again with what is wrong in it. */
export function notDone(form: FormState, problems: FormState["problems"]): NotDone {
  return { form: { ...form, problems }, status: 400 };
}

/** Refusals after which the form needs another key, in the words of forms. */
const FORM_PROBLEMS_BY_CODE: Readonly<Partial<Record<Refusal["code"], string>>> = {
  idempotency_key_reused: FORM_PROBLEMS.reused,
  app_key_revoked: FORM_PROBLEMS.revoked,
};

/**
 * Does the act that a form asks for; null where it was done, now or before. `field`: where a refusal of
 * this code belongs. What was typed is kept whatever happens, and the key with it, so that sending it
 * again is safe; only a key that can do nothing more gives way to a new one.
 */
export async function attempt(
  context: AppContext,
  form: FormState,
  perform: () => Promise<OnceAnswer<unknown>>,
  fields: Readonly<Partial<Record<Refusal["code"], string>>> = {},
): Promise<NotDone | null> {
  try {
    const answer = await perform();
    if (answer.ok) return null;
    const { refusal } = answer;
    const { status, error } = describeRefusal(refusal);
    const used_up = FORM_PROBLEMS_BY_CODE[refusal.code];
    const problem = used_up ?? error;
    const key = used_up === undefined ? form.key : crypto.randomUUID();
    const problems = { [fields[refusal.code] ?? ""]: problem };
    return { form: { ...form, key, problems }, status, code: refusal.code };
  } catch (error) {
    const refusal = refusalForError(error as Error, context);
    const { status } = describeRefusal(refusal);
    return { form: { ...form, problems: { "": FORM_PROBLEMS.unavailable } }, status };
  }
}
