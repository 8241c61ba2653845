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
}

/** `reason`: a word for people and the log, which contains nothing of the receiver's response; null: it was accepted. */
export interface Attempted {
  /** The receiver's status; null: it did not respond. */
  readonly status: number | null;
  readonly duration_ms: number;
  readonly reason: string | null;
}

/**
 * Sends the event once, if its address is still allowed: the settings may have changed since it was registered. Never
 * throws because of the receiver.
 */
export async function attempt(
  { url, id, body, secrets }: Attempt,
  { is_development }: { readonly is_development: boolean },
): Promise<Attempted> {
  const began_at_ms = Date.now();
  const ended = (status: number | null, reason: string | null): Attempted => ({
    status,
    duration_ms: Date.now() - began_at_ms,
    reason,
  });
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
      },
      body,
      // The event would go to another address than was registered.
      redirect: "manual",
      signal: limit.signal,
    });
    // Nothing in the body matters, and it may be endless.
    await response.body?.cancel();
    return ended(response.status, response.ok ? null : `status_${response.status}`);
  } catch (error) {
    const name = errorName(error);
    return ended(null, name === "TimeoutError" ? "timeout" : "unreachable");
  } finally {
    clearTimeout(timer);
  }
}
