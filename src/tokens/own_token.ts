/** Telling our own tokens from other people's. */
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { KeyRing } from "../keys/signing.ts";

/** What personal access tokens begin with. */
const PAT_PREFIX = "pb_pat_";

/** What app keys begin with. */
const APP_PREFIX = "pb_app_";

/**
 * Whether a token is one of ours, also an expired one, or one signed with a key since retired. Nothing
 * is verified: the question is only whether it may be sent to someone else, and looking like ours is
 * reason enough not to.
 */
export function isOwnToken(issuer: string, keys: KeyRing, token: string): boolean {
  if (token.startsWith(PAT_PREFIX) || token.startsWith(APP_PREFIX)) return true;
  try {
    const { kid } = decodeProtectedHeader(token);
    return keys.public_jwks.keys.some((key) => key.kid === kid) || decodeJwt(token).iss === issuer;
  } catch {
    return false;
  }
}
