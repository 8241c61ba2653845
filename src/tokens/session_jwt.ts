/** Session JWTs: who the caller is, for a quarter of an hour (RFC 7519, typed as RFC 8725 asks). */
import { jwtVerify, SignJWT } from "jose";
import {
  SESSION_JWT_TTL_SECONDS,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  TOKEN_MAX_LENGTH,
} from "../domain/limits.ts";
import { SIGNING_ALGORITHM, type KeyRing } from "./keys.ts";

/** The header's `typ`: a token of another use is never taken for a session. */
const SESSION_TYPE = "session+jwt";

/** What a session JWT stands for: a browser session. */
export interface SessionClaims {
  readonly identity_id: string;
  readonly session_id: string;
}

export interface SessionTokens {
  /** Signs a token that `issuer` (the service's base URL) vouches for. */
  sign(issuer: string, claims: SessionClaims): Promise<string>;
  /** The claims of a valid token; null where it is anything else, for whatever reason. */
  verify(issuer: string, token: string): Promise<SessionClaims | null>;
}

/** Session JWTs signed and checked with the keys of a ring, all in memory. */
export function createSessionTokens(keys: KeyRing): SessionTokens {
  return {
    async sign(issuer, claims) {
      const { kid, key } = await keys.signer();
      return new SignJWT({ sid: claims.session_id })
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: SESSION_TYPE })
        .setIssuer(issuer)
        .setSubject(claims.identity_id)
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
          requiredClaims: ["sub", "iat", "exp", "sid"],
          clockTolerance: TOKEN_CLOCK_TOLERANCE_SECONDS,
        });
        const { sub, sid } = payload;
        if (typeof sub !== "string" || sub === "" || typeof sid !== "string") return null;
        return { identity_id: sub, session_id: sid };
      } catch {
        // Every reason is the same refusal; which one it was helps only whoever forges tokens.
        return null;
      }
    },
  };
}
