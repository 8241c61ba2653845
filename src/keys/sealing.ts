/**
 * Sealing: AES-256-GCM with the keys of one use. Sealed data opens only with the same key and the same context.
 */
import { base64url } from "jose";
import type { EncryptionKeys } from "./encryption.ts";

/**
 * The purpose and owner of sealed data. They are authenticated, not hidden: data with another context does not
 * open.
 */
export type SealingContext = readonly [purpose: string, ...of: string[]];

/** Sealed data: `nonce | ciphertext | tag` in base64url, and the id of its key. */
export interface Sealed {
  readonly key_id: string;
  readonly sealed: string;
}

/** Sealed data as one word, for a cookie, a form or an address. Operators choose key ids, which may have any characters. */
export function packSealed({ key_id, sealed }: Sealed): string {
  return `${base64url.encode(key_id)}.${sealed}`;
}

/** Reads what {@link packSealed} made; null for another form. */
export function unpackSealed(word: string): Sealed | null {
  const dot = word.indexOf(".");
  if (dot < 0) return null;
  try {
    const key_id = new TextDecoder().decode(base64url.decode(word.slice(0, dot)));
    return { key_id, sealed: word.slice(dot + 1) };
  } catch {
    return null;
  }
}

/** The nonce length that AES-GCM uses without hashing (NIST SP 800-38D, section 5.2.1.1). */
const NONCE_BYTES = 12;

/** Seals `secret` with the first key. */
export async function sealFor(
  keys: EncryptionKeys,
  context: SealingContext,
  secret: string,
): Promise<Sealed> {
  const { kid, key } = await keys.first();
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const ciphertext = await crypto.subtle.encrypt(
    algorithm(nonce, context),
    key,
    new TextEncoder().encode(secret),
  );
  const sealed = new Uint8Array(NONCE_BYTES + ciphertext.byteLength);
  sealed.set(nonce);
  sealed.set(new Uint8Array(ciphertext), NONCE_BYTES);
  return { key_id: kid, sealed: base64url.encode(sealed) };
}

/** Opens what {@link sealFor} made; null if its key was retired, or the data or context differ. */
export async function unsealFor(
  keys: EncryptionKeys,
  context: SealingContext,
  { key_id, sealed }: Sealed,
): Promise<string | null> {
  const found = await keys.named(key_id);
  if (found === null) return null;
  try {
    const bytes = base64url.decode(sealed);
    const secret = await crypto.subtle.decrypt(
      algorithm(bytes.slice(0, NONCE_BYTES), context),
      found.key,
      bytes.slice(NONCE_BYTES),
    );
    return new TextDecoder().decode(secret);
  } catch {
    // WebCrypto only says that the tag does not match.
    return null;
  }
}

/** The context as JSON, so that two different contexts never have the same bytes. */
function algorithm(nonce: Uint8Array, context: SealingContext) {
  const additionalData = new TextEncoder().encode(JSON.stringify(context));
  return { name: "AES-GCM", iv: nonce, additionalData };
}
