/** One attempt to deliver an event to a webhook's receiver. */
import { WEBHOOK_TIMEOUT_MS } from "../domain/limits.ts";
import { errorName } from "../domain/result.ts";
import { webhookUrlProblem } from "../domain/webhook.ts";
import { signatureOf } from "./signature.ts";

export interface Attempt {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  /** The newest first. */
  readonly secrets: readonly string[];
  /** Whether the event is a sample. */
  readonly is_test?: boolean;
}

/** The part of a response that is kept, in bytes. */
const RESPONSE_KEPT_BYTES = 1024;

/**
 * `reason`: a word for people and the log, which contains nothing of the receiver's response; null: it was accepted.
 * `response`: the beginning of the body of a response that did not accept it, for operators; null: there was none.
 */
export interface Attempted {
  /** The receiver's status; null: it did not respond. */
  readonly status: number | null;
  readonly duration_ms: number;
  readonly reason: string | null;
  readonly response: string | null;
}

/**
 * Sends the event once, if its address is still allowed: the settings may have changed since it was registered. Never
 * throws because of the receiver.
 */
export async function attempt(
  { url, id, body, secrets, is_test = false }: Attempt,
  { is_development }: { readonly is_development: boolean },
): Promise<Attempted> {
  const began_at_ms = Date.now();
  const ended = (
    status: number | null,
    reason: string | null,
    response: string | null = null,
  ): Attempted => ({ status, duration_ms: Date.now() - began_at_ms, reason, response });
  if (webhookUrlProblem(url, is_development) !== null) return ended(null, "address_refused");
  if (secrets.length === 0) return ended(null, "secret_lost");
  const at_seconds = Math.floor(began_at_ms / 1000);
  const signature = await signatureOf({ id, at_seconds, body }, secrets);
  const limit = new AbortController();
  // Not `AbortSignal.timeout`, which would keep the object running, and billed, after the response.
  const timer = setTimeout(() => {
    limit.abort(new DOMException("the receiver took too long", "TimeoutError"));
  }, WEBHOOK_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": "Passbook-Webhooks",
        "webhook-id": id,
        "webhook-timestamp": String(at_seconds),
        "webhook-signature": signature,
        ...(is_test && { "webhook-test": "true" }),
      },
      body,
      // The event would go to another address than was registered.
      redirect: "manual",
      signal: limit.signal,
    });
    const { status, ok } = response;
    const beginning = ok ? null : await readBeginning(response);
    // The body may be endless.
    await response.body?.cancel().catch(() => undefined);
    return ended(status, ok ? null : `status_${status}`, beginning);
  } catch (error) {
    const name = errorName(error);
    return ended(null, name === "TimeoutError" ? "timeout" : "unreachable");
  } finally {
    clearTimeout(timer);
  }
}

/** The beginning of a body, as text without control characters; null: it is empty, or ends in an error. */
async function readBeginning({ body }: Response): Promise<string | null> {
  if (body === null) return null;
  let text = "";
  const decoder = new TextDecoder();
  let left = RESPONSE_KEPT_BYTES;
  try {
    // Leaving the loop keeps the body, whose rest `attempt` cancels.
    for await (const chunk of body.values({ preventCancel: true })) {
      text += decoder.decode(chunk.subarray(0, left), { stream: true });
      left -= chunk.byteLength;
      if (left <= 0) break;
    }
  } catch {
    // What came before the error says more than nothing.
  }
  const shown = text.replaceAll(/[^\P{C}\n\t]/gu, "").trim();
  return shown === "" ? null : shown;
}
