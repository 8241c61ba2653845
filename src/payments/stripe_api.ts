/** The calls of Stripe's API: form in, JSON out. */
import type * as z from "zod/mini";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { requestUpstream, UpstreamFailure, type UpstreamResponse } from "../oauth/ask.ts";

/** The API version that we read; the account's default may differ. */
const API_VERSION = "2026-10-28.endive";

/**
 * The largest response read, in bytes: a page of 20 disputes, each with the 150,000 characters of evidence that Stripe
 * accepts, takes 3 MB. A larger page would stop every reconciliation at the same place.
 */
const RESPONSE_MAX_BYTES = 8 * 1024 * 1024;

export interface StripeAccount {
  readonly api_url: string;
  readonly secret_key: string;
}

export interface StripeCall {
  readonly method: "GET" | "POST";
  /** Below the API's address, such as `/v1/checkout/sessions`. */
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly idempotency_key?: string;
}

/**
 * Sends a request to Stripe. A time-out or server error is `payments_unavailable`, and the caller may retry. A
 * refusal is `payments_refused` or `idempotency_key_reused`, logged with type, code and parameter. The message
 * is not logged, because it may quote a key.
 */
export async function requestStripe(
  account: StripeAccount,
  call: StripeCall,
): Promise<Result<unknown, Refusal>> {
  const sent = await sendToStripe(account, call);
  if (!sent.ok) return sent;
  const { status, content } = sent.value;
  if (status >= 200 && status <= 299 && content !== undefined) return accepted(content);
  return refusedBy(status, content);
}

/**
 * Requests an object from Stripe. One without the documented form is as good as none: `payments_unavailable`, logged as an
 * error.
 */
export async function requestObject<Schema extends z.ZodMiniType>(
  account: StripeAccount,
  schema: Schema,
  call: StripeCall,
): Promise<Result<z.output<Schema>, Refusal>> {
  const answer = await requestStripe(account, call);
  if (!answer.ok) return answer;
  const read = schema.safeParse(answer.value);
  if (read.success) return accepted(read.data);
  console.error({ event: "payments_unavailable", problem: "unknown_form" });
  return unavailable();
}

/** Sends a request to Stripe, and returns its status and JSON; refused only as `payments_unavailable`. */
export async function sendToStripe(
  { api_url, secret_key }: StripeAccount,
  { method, path, form, idempotency_key }: StripeCall,
): Promise<Result<{ readonly status: number; readonly content: unknown }, Refusal>> {
  const headers = new Headers({
    Authorization: `Bearer ${secret_key}`,
    "Stripe-Version": API_VERSION,
  });
  if (idempotency_key !== undefined) headers.set("Idempotency-Key", idempotency_key);
  const body = form === undefined ? null : new URLSearchParams(form);
  let answer: UpstreamResponse;
  try {
    answer = await requestUpstream(
      `${api_url}${path}`,
      { method, headers, body },
      { max_bytes: RESPONSE_MAX_BYTES },
    );
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    console.warn({ event: "payments_unavailable", problem: error.problem, status: error.status });
    return unavailable();
  }
  return accepted({ status: answer.status, content: parse(answer.text) });
}

/** 409: another request with the same key is in progress (Stripe's docs, "Idempotent requests"). */
function refusedBy(status: number, content: unknown): Result<never, Refusal> {
  const { error } = (content ?? {}) as { error?: Readonly<Record<string, unknown>> };
  const word = (name: string): string | null => {
    const value = error?.[name];
    return typeof value === "string" && /^[\w.[\]-]{1,80}$/.test(value) ? value : null;
  };
  const about = { status, type: word("type"), code: word("code"), param: word("param") };
  if (status >= 500 || status === 429 || status === 409 || status < 400) {
    console.warn({ event: "payments_unavailable", ...about });
    return unavailable();
  }
  if (about.type === "idempotency_error") return refused({ code: "idempotency_key_reused" });
  console.error({ event: "payments_refused", ...about });
  return refused({ code: "payments_refused" });
}

function unavailable(): Result<never, Refusal> {
  const retry_after_seconds = UNAVAILABLE_RETRY_AFTER_SECONDS;
  return refused({ code: "payments_unavailable", retry_after_seconds });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
