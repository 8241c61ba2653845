/**
 * Sealing secrets at rest: AES-256-GCM with the keys of `ENCRYPTION_KEYS`. What is sealed can be
 * opened only with the same key, for the same account, and for the same purpose.
 */
import { base64url } from "jose";
import type { Config } from "../config.ts";

export type EncryptionKeys = Config["encryption_keys"];

/** Where a secret belongs. Moved to another place, it does not open. */
export interface SealedFor {
  readonly identity_id: string;
  readonly provider: string;
}

/** A sealed secret: `nonce | ciphertext | tag` in base64url, and the id of the key that opens it. */
export interface Sealed {
  readonly key_id: string;
  readonly sealed: string;
}

/** Names this use of a key, so that no other use of it yields the same AES key. */
const PURPOSE = "passbook vault v1";

/** The nonce's length that AES-GCM takes unhashed (NIST SP 800-38D, section 5.2.1.1). */
const NONCE_BYTES = 12;

/** Seals `secret` with the first key. */
export async function seal(
  keys: EncryptionKeys,
  place: SealedFor,
  secret: string,
): Promise<Sealed> {
  const [key] = keys;
  if (key === undefined) throw new Error("sealing needs at least one key");
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const ciphertext = await crypto.subtle.encrypt(
    algorithm(nonce, place),
    await deriveKey(key.k, place.identity_id),
    new TextEncoder().encode(secret),
  );
  const sealed = new Uint8Array(NONCE_BYTES + ciphertext.byteLength);
  sealed.set(nonce);
  sealed.set(new Uint8Array(ciphertext), NONCE_BYTES);
  return { key_id: key.kid, sealed: base64url.encode(sealed) };
}

/** Opens what {@link seal} made; null where its key is gone, or it was altered or moved. */
export async function unseal(
  keys: EncryptionKeys,
  place: SealedFor,
  { key_id, sealed }: Sealed,
): Promise<string | null> {
  const key = keys.find(({ kid }) => kid === key_id);
  if (key === undefined) return null;
  try {
    const bytes = base64url.decode(sealed);
    const secret = await crypto.subtle.decrypt(
      algorithm(bytes.slice(0, NONCE_BYTES), place),
      await deriveKey(key.k, place.identity_id),
      bytes.slice(NONCE_BYTES),
    );
    return new TextDecoder().decode(secret);
  } catch {
    // WebCrypto says no more than that the tag does not match.
    return null;
  }
}

function algorithm(nonce: Uint8Array, { identity_id, provider }: SealedFor) {
  const additionalData = encodeList([PURPOSE, identity_id, provider]);
  return { name: "AES-GCM", iv: nonce, additionalData };
}

/**
 * A key of this purpose and account (HKDF, RFC 5869). One for each account, since random nonces are
 * good for 2^32 messages under one key (NIST SP 800-38D, section 8.3), which all accounts together
 * could reach.
 */
async function deriveKey(k: string, identity_id: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", base64url.decode(k), "HKDF", false, [
    "deriveKey",
  ]);
  const info = encodeList([PURPOSE, identity_id]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

/** JSON, so that no two lists are the same bytes. */
function encodeList(parts: readonly string[]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(parts));
}
