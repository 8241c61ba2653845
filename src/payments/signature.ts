/** Checks the signature and age of a webhook message. */

/** A webhook message signed longer ago is refused as a replay. Stripe's own libraries use 300 s. */
const WEBHOOK_TOLERANCE_SECONDS = 300;

interface SignatureHeader {
  readonly signed_at_seconds: number;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/** While a secret is rotated, a message has one signature for each. */
const SIGNATURES_MAX = 8;

/**
 * Checks a `Stripe-Signature` header: `t=…,v1=…`, where `v1` is the HMAC-SHA-256 of `t.body` under the
 * endpoint's secret and may occur several times. Other schemes than `v1` are ignored, so that a weaker one is
 * never accepted. WebCrypto compares in constant time.
 */
export async function isSignatureValid(
  secret: string,
  body: string,
  header: string | undefined,
  now_ms: number,
): Promise<boolean> {
  const read = header === undefined ? null : readHeader(header);
  if (read === null) return false;
  const age_seconds = Math.floor(now_ms / 1000) - read.signed_at_seconds;
  if (Math.abs(age_seconds) > WEBHOOK_TOLERANCE_SECONDS) return false;
  const text = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", text.encode(secret), algorithm, false, [
    "verify",
  ]);
  const signed = text.encode(`${read.signed_at_seconds}.${body}`);
  for (const signature of read.signatures) {
    if (await crypto.subtle.verify("HMAC", key, signature, signed)) return true;
  }
  return false;
}

function readHeader(header: string): SignatureHeader | null {
  const pairs = header.split(",").map((part) => part.trim().split("="));
  const times = pairs.filter(([name]) => name === "t").map(([, value = ""]) => value);
  const [time = ""] = times;
  if (times.length !== 1 || !/^[1-9]\d{0,11}$/.test(time)) return null;
  const signatures = pairs
    .filter(([name, value = ""]) => name === "v1" && /^[0-9a-f]{64}$/i.test(value))
    .slice(0, SIGNATURES_MAX)
    .map(([, value = ""]) => fromHex(value));
  return { signed_at_seconds: Number(time), signatures };
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
