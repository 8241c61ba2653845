/**
 * Session tokens: JWTs that identify the caller for a quarter of an hour (RFC 7519, with a `typ` as in RFC
 * 8725).
 */
import { jwtVerify, SignJWT, type JWTPayload } from "jose";
import { SESSION_JWT_TTL_SECONDS } from "../domain/limits.ts";
import { readScope } from "../domain/oauth_scopes.ts";
import type { AllowanceProof, SessionProof } from "../domain/proof.ts";
import { SIGNING_ALGORITHM, type KeyRing } from "../keys/signing.ts";
import {
  cacheVerified,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  type VerifyToken,
} from "./verified_tokens.ts";

/**
 * The header's `typ`, by proof. No token of another use is accepted as a session token. Apps that verify tokens
 * themselves do not accept a token of a personal token, whose limits they do not know, as a full session.
 */
const TYPES = {
  session: "session+jwt",
  personal_token: "personal-session+jwt",
  connection: "personal-session+jwt",
} as const;

/** The session or allowance that a session token is bound to. */
type SessionTokenProof = SessionProof | AllowanceProof;

/**
 * The claims of a session token: its identity, what it is bound to (claim `sid` or `pat`), and the origin that
 * it was issued to.
 */
interface SessionClaims {
  readonly identity_id: string;
  readonly proof: SessionTokenProof;
  /**
   * The session cookie that it belongs to (claim `session_binding`): as a cookie it is accepted only with that
   * one. Null: it is only valid as a bearer token.
   */
  readonly binding: string | null;
}

export interface SessionTokens {
  /** Signs a token of `issuer` (the service's base URL). `ends_at_ms`: it expires then, if that is sooner than usual. */
  sign(issuer: string, claims: SessionClaims, ends_at_ms?: number): Promise<string>;
  readonly verify: VerifyToken<SessionClaims>;
}

/** Signs and verifies session tokens with the keys of a ring, in memory. */
export function createSessionTokens(keys: KeyRing): SessionTokens {
  return {
    async sign(issuer, { identity_id, proof, binding }, ends_at_ms = Infinity) {
      const { kid, key } = await keys.signer();
      const now_seconds = Math.floor(Date.now() / 1000);
      const ends_at_seconds = Math.floor(ends_at_ms / 1000);
      return new SignJWT({
        ...boundTo(proof),
        ...(binding === null ? {} : { session_binding: binding }),
      })
        .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: TYPES[proof.kind] })
        .setIssuer(issuer)
        .setSubject(identity_id)
        .setIssuedAt(now_seconds)
        .setExpirationTime(Math.min(now_seconds + SESSION_JWT_TTL_SECONDS, ends_at_seconds))
        .sign(key);
    },
    verify: cacheVerified(async (issuer, token) => {
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

function boundTo(proof: SessionTokenProof): JWTPayload {
  if (proof.kind === "session") return { sid: proof.session_id, azp: proof.azp };
  const { credential, client_id } = proof;
  return credential.kind === "allowance"
    ? { pat: credential.allowance_id, client_id }
    : {
        family: credential.family_id,
        generation: credential.generation,
        scope: credential.scopes === "all" ? "" : credential.scopes.join(" "),
        client_id,
      };
}

/** The claims that the type requires, without those of the other type: a token must not have two meanings. */
function readProof(
  type: string | undefined,
  { sid, azp, pat, family, generation, scope, client_id }: JWTPayload,
): SessionTokenProof | null {
  const has_credential = pat !== undefined || family !== undefined;
  if (type === TYPES.session && typeof sid === "string" && !has_credential) {
    return typeof azp === "string" && azp !== "" ? { kind: "session", session_id: sid, azp } : null;
  }
  if (type !== TYPES.personal_token || sid !== undefined) return null;
  if (typeof pat === "string" && family === undefined) {
    const credential = { kind: "allowance", allowance_id: pat } as const;
    const client = typeof client_id === "string" ? { client_id } : {};
    return { kind: "personal_token", credential, ...client };
  }
  if (pat !== undefined || typeof family !== "string" || typeof client_id !== "string") return null;
  if (typeof generation !== "number" || typeof scope !== "string") return null;
  const scopes = readScope(scope);
  const credential = { kind: "family", family_id: family, generation, scopes } as const;
  return { kind: "connection", credential, client_id };
}

/** Signs a token and verifies it. @throws if either fails. */
export async function checkKeys(session_tokens: SessionTokens): Promise<void> {
  const issuer = "readiness";
  const proof = { kind: "session", session_id: issuer, azp: issuer } as const;
  const token = await session_tokens.sign(issuer, { identity_id: issuer, proof, binding: null });
  if ((await session_tokens.verify(issuer, token)) === null) throw new Error("keys do not verify");
}
