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

/** Pseudonyms that one isolate keeps, at about 200 bytes each. A full memory is emptied. */
const REMEMBERED_MAX = 2_000;

/** The pseudonym to store, as {@link PseudonymsOf}. The isolate remembers it, because each request of a person needs it. */
export function rememberPseudonyms(
  pseudonymsOf: PseudonymsOf,
): (identity_id: string) => Promise<string> {
  const known = new Map<string, string>();
  return async (identity_id) => {
    const remembered = known.get(identity_id);
    if (remembered !== undefined) return remembered;
    const [pseudonym] = await pseudonymsOf([identity_id]);
    if (known.size >= REMEMBERED_MAX) known.clear();
    known.set(identity_id, pseudonym);
    return pseudonym;
  };
}
