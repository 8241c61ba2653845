/**
 * Keys for what only this service checks: HMAC keys derived (HKDF, RFC 5869) from the private signing
 * keys, one for each, so that they rotate with them. Nobody can make or check with a published key
 * what these protect.
 */
import { base64url, type CryptoKey } from "jose";
import type { SigningKey } from "./keys.ts";

const MAC_KEY_BITS = 256;

export interface MacKey {
  /** The id of the signing key it is derived from. */
  readonly kid: string;
  readonly key: CryptoKey;
}

/** The keys of one purpose: the first makes MACs, all check them. */
export type MacKeys = () => Promise<readonly MacKey[]>;

/**
 * Keys for `purpose`, derived on first use and kept as values: a failure is tried again. Another purpose
 * gives other keys.
 */
export function createMacKeys(signing_keys: readonly SigningKey[], purpose: string): MacKeys {
  let derived: readonly MacKey[] | undefined;
  return async () => {
    derived ??= await Promise.all(
      signing_keys.map(async ({ kid, d }) => ({ kid, key: await derive(d, purpose) })),
    );
    return derived;
  };
}

async function derive(private_part: string, purpose: string): Promise<CryptoKey> {
  const secret = base64url.decode(private_part);
  const material = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  const info = new TextEncoder().encode(purpose);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info },
    material,
    { name: "HMAC", hash: "SHA-256", length: MAC_KEY_BITS },
    false,
    ["sign", "verify"],
  );
}
