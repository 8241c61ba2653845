/** Session JWTs: who the caller is, for a quarter of an hour (RFC 7519, typed as RFC 8725 asks). */
import { jwtVerify, SignJWT, type JWTPayload } from "jose";
import {
  SESSION_JWT_TTL_SECONDS,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  TOKEN_MAX_LENGTH,
} from "../domain/limits.ts";
import type { Identified, Proof } from "../domain/proof.ts";
import { SIGNING_ALGORITHM, type KeyRing } from "../keys/signing.ts";

/** The header's `typ`: a token of another use is never taken for a session. */
const SESSION_TYPE = "session+jwt";

/** What a session JWT says: whose it is, and what it is bound to (claim `sid` or `pat`). */
export type SessionClaims = Identified;

export interface SessionTokens {
  /** Signs a token that `issuer` (the service's base URL) vouches for. */
  sign(issuer: string, claims: SessionClaims): Promise<string>;
  /** The claims of a valid token; null where it is anything else, for whatever reason. */
  verify(issuer: string, token: string): Promise<SessionClaims | null>;
}

/** Session JWTs signed and checked with the keys of a ring, all in memory. */
export function createSessionTokens(keys: KeyRing): SessionTokens {
  return {
    async sign(issuer, { identity_id, proof }) {
      const { kid, key } = await keys.signer();
      return new SignJWT(
        proof.kind === "session" ? { sid: proof.session_id } : { pat: proof.token_id },
      )
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: SESSION_TYPE })
        .setIssuer(issuer)
        .setSubject(identity_id)
        .setIssuedAt()
        .setExpirationTime(`${SESSION_JWT_TTL_SECONDS}s`)
        .sign(key);
    },
    async verify(issuer, token) {
      if (token.length > TOKEN_MAX_LENGTH) return null;
      try {
        const { payload } = await jwtVerify(token, keys.resolve, {
          issuer,
          typ: SESSION_TYPE,
          algorithms: [SIGNING_ALGORITHM],
          requiredClaims: ["sub", "iat", "exp"],
          clockTolerance: TOKEN_CLOCK_TOLERANCE_SECONDS,
        });
        const proof = readProof(payload);
        const { sub } = payload;
        if (typeof sub !== "string" || sub === "" || proof === null) return null;
        return { identity_id: sub, proof };
      } catch {
        // Every reason is the same refusal; which one it was helps only whoever forges tokens.
        return null;
      }
    },
  };
}

/** Exactly one of the two claims; a token with both would be two things at once. */
function readProof({ sid, pat }: JWTPayload): Proof | null {
  if (typeof sid === "string" && pat === undefined) return { kind: "session", session_id: sid };
  if (typeof pat === "string" && sid === undefined) return { kind: "pat", token_id: pat };
  return null;
}
