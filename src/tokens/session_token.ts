/** Session JWTs: who the caller is, for a quarter of an hour (RFC 7519, typed as RFC 8725 asks). */
import { jwtVerify, SignJWT, type JWTPayload } from "jose";
import { SESSION_JWT_TTL_SECONDS } from "../domain/limits.ts";
import type { Identified, Proof } from "../domain/proof.ts";
import { SIGNING_ALGORITHM, type KeyRing } from "../keys/signing.ts";
import {
  rememberVerified,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  type VerifyToken,
} from "./verified_tokens.ts";

/**
 * The header's `typ`, by what stands behind the token. A token of another use is never taken for a
 * session, and apps that check ours by themselves never take what a personal token gave, with limits
 * they know nothing of, for a full session.
 */
const TYPES = { session: "session+jwt", personal_token: "personal-session+jwt" } as const;

/** What a session JWT says: whose it is, what it is bound to (claim `sid` or `pat`), and to whom it was issued. */
export interface SessionClaims extends Identified {
  /**
   * Which session cookie it goes with (claim `session_binding`): only beside that one is it taken as a
   * cookie. Null: it is good as a bearer token alone.
   */
  readonly binding: string | null;
}

export interface SessionTokens {
  /** Signs a token that `issuer` (the service's base URL) vouches for. */
  sign(issuer: string, claims: SessionClaims): Promise<string>;
  readonly verify: VerifyToken<SessionClaims>;
}

/** Session JWTs signed and checked with the keys of a ring, all in memory. */
export function createSessionTokens(keys: KeyRing): SessionTokens {
  return {
    async sign(issuer, { identity_id, proof, binding }) {
      const { kid, key } = await keys.signer();
      return new SignJWT({
        ...boundTo(proof),
        ...(binding === null ? {} : { session_binding: binding }),
      })
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: TYPES[proof.kind] })
        .setIssuer(issuer)
        .setSubject(identity_id)
        .setIssuedAt()
        .setExpirationTime(`${SESSION_JWT_TTL_SECONDS}s`)
        .sign(key);
    },
    verify: rememberVerified(async (issuer, token) => {
      const { payload, protectedHeader } = await jwtVerify(token, keys.resolve, {
        issuer,
        algorithms: [SIGNING_ALGORITHM],
        requiredClaims: ["sub", "iat", "exp"],
        clockTolerance: TOKEN_CLOCK_TOLERANCE_SECONDS,
      });
      const proof = readProof(protectedHeader.typ, payload);
      const { sub, exp: expires_at_seconds, session_binding } = payload;
      if (typeof sub !== "string" || sub === "" || proof === null) return null;
      if (expires_at_seconds === undefined) return null;
      const binding = typeof session_binding === "string" ? session_binding : null;
      return { claims: { identity_id: sub, proof, binding }, expires_at_seconds };
    }),
  };
}

function boundTo(proof: Proof): JWTPayload {
  return proof.kind === "session"
    ? { sid: proof.session_id, azp: proof.azp }
    : { pat: proof.personal_token_id };
}

/** The claims that the type requires, and not the other's: such a token would be two things at once. */
function readProof(type: string | undefined, { sid, azp, pat }: JWTPayload): Proof | null {
  if (type === TYPES.session && typeof sid === "string" && pat === undefined) {
    return typeof azp === "string" && azp !== "" ? { kind: "session", session_id: sid, azp } : null;
  }
  if (type === TYPES.personal_token && typeof pat === "string" && sid === undefined) {
    return { kind: "personal_token", personal_token_id: pat };
  }
  return null;
}
