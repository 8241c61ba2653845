/** Signatures of Standard Webhooks: HMAC-SHA256 over the id, the time and the body, one for each valid secret. */

/** The prefix of a secret; the rest is base64 of the key's bytes. */
const SECRET_PREFIX = "whsec_";

interface SignedMessage {
  readonly id: string;
  /** When the attempt is made, in seconds since the epoch. Receivers refuse old ones. */
  readonly at_seconds: number;
  readonly body: string;
}

/** The value of the header `webhook-signature`. `secrets`: the newest first. */
export async function signatureOf(
  { id, at_seconds, body }: SignedMessage,
  secrets: readonly string[],
): Promise<string> {
  const signed = new TextEncoder().encode(`${id}.${at_seconds}.${body}`);
  const signatures = await Promise.all(
    secrets.map(async (secret) => {
      const bytes = fromBase64(secret.slice(SECRET_PREFIX.length));
      const algorithm = { name: "HMAC", hash: "SHA-256" };
      const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
      return `v1,${toBase64(await crypto.subtle.sign("HMAC", key, signed))}`;
    }),
  );
  return signatures.join(" ");
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.codePointAt(0) ?? 0);
}

function toBase64(bytes: ArrayBuffer): string {
  return btoa(String.fromCodePoint(...new Uint8Array(bytes)));
}
