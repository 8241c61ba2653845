/**
 * Derives all keys from keys (HKDF, RFC 5869). Each use has its own key by `info`, so a token or ciphertext of
 * one use is invalid in another.
 */
import { base64url, type CryptoKey } from "jose";

interface DerivedFor {
  /** Names the use. Another one gives another key. */
  readonly info: Uint8Array;
  readonly algorithm: SubtleCryptoImportKeyAlgorithm;
  readonly usages: readonly string[];
}

/**
 * A key derived from 256 random bits in base64url. Without a salt: HKDF needs none for uniformly random input
 * (RFC 5869, section 3.1).
 */
export async function deriveKey(
  secret: string,
  { info, algorithm, usages }: DerivedFor,
): Promise<CryptoKey> {
  const bits = base64url.decode(secret);
  const material = await crypto.subtle.importKey("raw", bits, "HKDF", false, ["deriveKey"]);
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return crypto.subtle.deriveKey(parameters, material, algorithm, false, [...usages]);
}

export function infoOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
