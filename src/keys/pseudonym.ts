/**
 * Pseudonyms: what is kept of a person's identity where the identity itself must not be. Whoever has the
 * stores alone can neither read one nor try identities until one fits; only with our keys can be asked
 * whether it is of an identity at hand.
 */
import { base64url } from "jose";
import type { MacKeys } from "./mac.ts";

/** The pseudonyms of an identity, one for each key: the first is the one to keep, any may be met. */
export type PseudonymsOf = (identity: readonly string[]) => Promise<readonly [string, ...string[]]>;

/** Pseudonyms under these keys. One kept under a key since retired fits nobody any more. */
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
