/**
 * The one place where keys are made of keys (HKDF, RFC 5869). Each use of a key derives its own by
 * `info`, so that what is made for one use is worth nothing in another.
 */
import { base64url, type CryptoKey } from "jose";

/** What a derived key is for. */
export interface DerivedFor {
  /** Tells uses apart; another one gives another key. */
  readonly info: Uint8Array;
  readonly algorithm: SubtleCryptoImportKeyAlgorithm;
  readonly usages: readonly string[];
}

/**
 * A key derived from 256 random bits in base64url. No salt: HKDF needs none where the input is
 * uniformly random (RFC 5869, section 3.1).
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

/** The text of a use as HKDF takes it. */
export function infoOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
