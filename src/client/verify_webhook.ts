/** Verification of webhooks on an app's server (standardwebhooks.com). */
import { PassbookError } from "./errors.ts";
import type { WebhookEvent } from "./responses.ts";

/** The headers of a request: of `Request`, or of Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request that came to your webhook, and the secret that must have signed it. */
export interface VerifyWebhook {
  /** The body exactly as it was received, not parsed. */
  readonly body: string | Uint8Array;
  readonly headers: WebhookHeaders;
  /** The webhook's secret, `whsec_…`; several while you replace one. */
  readonly secret: string | readonly string[];
  /** How old or how far ahead the request's time may be, in seconds; 300 if omitted. */
  readonly toleranceSeconds?: number;
}

/** An event, with the id by which a repeated delivery is recognised. */
export type VerifiedWebhook = WebhookEvent & {
  /** The same in every attempt: store it to handle the event once. */
  readonly id: string;
};

const TOLERANCE_SECONDS = 300;

const SECRET_PREFIX = "whsec_";

/** Signatures that are compared: more than any sender needs. */
const SIGNATURES_MAX = 10;

/**
 * The event of a request, if one of your secrets signed it in the last minutes. A replayed request is valid within that
 * time: handle each `id` once.
 * @throws PassbookError `signature_invalid` if it is not; `invalid_argument` if a secret is not one, or the body was parsed.
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  toleranceSeconds = TOLERANCE_SECONDS,
}: VerifyWebhook): Promise<VerifiedWebhook> {
  if (typeof body !== "string" && !ArrayBuffer.isView(body)) {
    const message = "body must be the text or the bytes as received, not what a parser made of it.";
    throw new PassbookError("invalid_argument", message);
  }
  const keys = await Promise.all([secret].flat().map(readSecret));
  if (keys.length === 0) throw new PassbookError("invalid_argument", "Pass at least one secret.");
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  if (id === "" || !/^\d{1,12}$/.test(timestamp) || signatures === "") {
    throw refusal("The request lacks a header of Standard Webhooks.");
  }
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) {
    throw refusal("The request is too old, or this server's clock is wrong.");
  }
  const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = concatenated(new TextEncoder().encode(`${id}.${timestamp}.`), content);
  if (!(await isSigned(signed, signatures, keys))) {
    throw refusal("No signature of the request is of this secret. Pass the body as received.");
  }
  return { ...readEvent(content), id };
}

/** A variable of the environment may be missing. */
async function readSecret(secret = ""): Promise<CryptoKey> {
  const bytes = secret.startsWith(SECRET_PREFIX)
    ? bytesOf(secret.slice(SECRET_PREFIX.length))
    : null;
  if (bytes === null || bytes.length === 0) {
    const message = "secret must be a webhook's secret, which begins with whsec_.";
    throw new PassbookError("invalid_argument", message);
  }
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
}

/** `verify` of WebCrypto compares in constant time. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  keys: readonly CryptoKey[],
): Promise<boolean> {
  for (const signature of signatures.split(" ").slice(0, SIGNATURES_MAX)) {
    const bytes = signature.startsWith("v1,") ? bytesOf(signature.slice("v1,".length)) : null;
    if (bytes === null) continue;
    for (const key of keys) {
      if (await crypto.subtle.verify("HMAC", key, bytes, signed)) return true;
    }
  }
  return false;
}

function readEvent(content: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(content)) as WebhookEvent;
    if (typeof event.type === "string" && Object(event.data) === event.data) return event;
  } catch {
    // Refused below.
  }
  throw refusal("The body is signed, but is not an event of Passbook.");
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : headers[name];
  return typeof value === "string" ? value : "";
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers["get"] === "function";
}

/** Null if the text is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concatenated(one: Uint8Array, two: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + two.length);
  both.set(one);
  both.set(two, one.length);
  return both;
}

function refusal(message: string): PassbookError {
  return new PassbookError("signature_invalid", message, { status: 400 });
}
