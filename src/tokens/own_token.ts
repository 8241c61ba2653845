/** Recognises our own tokens. */
import { decodeJwt, decodeProtectedHeader } from "jose";
import { OWN_PREFIXES } from "../domain/proof.ts";
import type { KeyRing } from "../keys/signing.ts";

/**
 * Whether a token looks like ours, also if it has expired or was signed with a retired key. Its signature is
 * not checked: a token that only looks like ours must not be sent to another server either.
 */
export function isOwnToken(issuer: string, keys: KeyRing, token: string): boolean {
  if (OWN_PREFIXES.some((prefix) => token.startsWith(prefix))) return true;
  try {
    const { kid } = decodeProtectedHeader(token);
    return keys.public_jwks.keys.some((key) => key.kid === kid) || decodeJwt(token).iss === issuer;
  } catch {
    return false;
  }
}
