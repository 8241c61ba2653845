/** The guard of an idempotency key: the key, and a digest of its request. */
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "./limits.ts";
import type { Refusal } from "./refusals.ts";
import { accepted, refused, type Result } from "./result.ts";
import { toHexadecimal } from "./text.ts";

interface IdempotencyGuard {
  readonly key: string;
  readonly fingerprint: string;
}

/**
 * The guard of a key and its request; null without a key. The fingerprint is that of the validated body, so white space
 * and the order of known fields do not matter.
 */
export async function guardOf(
  key: string | undefined,
  body: object,
): Promise<Result<IdempotencyGuard | null, Refusal>> {
  if (key === undefined) return accepted(null);
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > IDEMPOTENCY_KEY_MAX_LENGTH) {
    const detail = `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} printable ASCII characters without spaces.`;
    return refused({ code: "invalid_request", detail });
  }
  return accepted({ key, fingerprint: await fingerprintOf(body) });
}

/** A digest of a validated body. */
export async function fingerprintOf(body: object): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return toHexadecimal(await crypto.subtle.digest("SHA-256", bytes));
}
