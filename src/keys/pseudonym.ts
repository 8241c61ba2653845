/**
 * Pseudonyms replace identities in data that must not contain them. Without our keys, a copy of the stores
 * cannot be tested against a list of identities. With the keys we can test whether a pseudonym belongs to a
 * given identity.
 */
import { base64url } from "jose";
import type { MacKeys } from "./mac.ts";

/** The pseudonyms of an identity, one for each key. The first is the one to store; any of them may be found. */
export type PseudonymsOf = (identity: readonly string[]) => Promise<readonly [string, ...string[]]>;

/** Pseudonyms under these keys. One made with a retired key matches nobody any more. */
export function createPseudonyms(macKeys: MacKeys): PseudonymsOf {
  return async (identity) => {
    const message = new TextEncoder().encode(JSON.stringify(identity));
    const [first, ...others] = await Promise.all(
      (await macKeys()).map(async ({ key }) =>
        base64url.encode(new Uint8Array(await crypto.subtle.sign("HMAC", key, message))),
      ),
    );
    if (first === undefined) throw new Error("pseudonyms need at least one key");
    return [first, ...others];
  };
}
