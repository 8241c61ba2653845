/**
 * Sealing secrets at rest: AES-256-GCM with the keys of `ENCRYPTION_KEYS`. What is sealed can be
 * opened only with the same key, for the same account, and for the same purpose.
 */
import { base64url } from "jose";
import { VAULT_PURPOSE, vaultKeys, type EncryptionKey } from "../../keys/encryption.ts";

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

/** The nonce's length that AES-GCM takes unhashed (NIST SP 800-38D, section 5.2.1.1). */
const NONCE_BYTES = 12;

/** Seals `secret` with the first key. */
export async function seal(
  keys: readonly EncryptionKey[],
  place: SealedFor,
  secret: string,
): Promise<Sealed> {
  const { kid, key } = await vaultKeys(keys, place.identity_id).first();
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const ciphertext = await crypto.subtle.encrypt(
    algorithm(nonce, place),
    key,
    new TextEncoder().encode(secret),
  );
  const sealed = new Uint8Array(NONCE_BYTES + ciphertext.byteLength);
  sealed.set(nonce);
  sealed.set(new Uint8Array(ciphertext), NONCE_BYTES);
  return { key_id: kid, sealed: base64url.encode(sealed) };
}

/** Opens what {@link seal} made; null where its key is gone, or it was altered or moved. */
export async function unseal(
  keys: readonly EncryptionKey[],
  place: SealedFor,
  { key_id, sealed }: Sealed,
): Promise<string | null> {
  const found = await vaultKeys(keys, place.identity_id).named(key_id);
  if (found === null) return null;
  try {
    const bytes = base64url.decode(sealed);
    const secret = await crypto.subtle.decrypt(
      algorithm(bytes.slice(0, NONCE_BYTES), place),
      found.key,
      bytes.slice(NONCE_BYTES),
    );
    return new TextDecoder().decode(secret);
  } catch {
    // WebCrypto says no more than that the tag does not match.
    return null;
  }
}

function algorithm(nonce: Uint8Array, { identity_id, provider }: SealedFor) {
  const place = JSON.stringify([VAULT_PURPOSE, identity_id, provider]);
  return { name: "AES-GCM", iv: nonce, additionalData: new TextEncoder().encode(place) };
}
