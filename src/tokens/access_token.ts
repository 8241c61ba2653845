/**
 * Access tokens of OAuth clients: for our API `pb_at_` and a JWT under our secret keys, like a personal access token; for
 * another resource a JWT that the resource verifies with our public keys (RFC 9068).
 */
import { jwtVerify, SignJWT, type JWTHeaderParameters, type JWTPayload } from "jose";
import { readScope } from "../domain/oauth_scopes.ts";
import { ACCESS_TOKEN_PREFIX, credentialId, type Credential } from "../domain/proof.ts";
import type { MacKeys } from "../keys/mac.ts";
import { RSA_ALGORITHM, type RsaKeys } from "../keys/rsa_keys.ts";
import {
  cacheVerified,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  type VerifyToken,
} from "./verified_tokens.ts";

/** Not the algorithm of the published keys, as for personal access tokens. */
const ALGORITHM = "HS256";

/** ID tokens have the same keys, so no token of another use is accepted as one of these, nor the reverse. */
const RESOURCE_TYPE = "at+jwt";

/** The actor (RFC 8693, section 4.1). */
export interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

interface AccessClaims {
  readonly identity_id: string;
  /** The row that makes the token valid. */
  readonly credential: Credential;
  readonly client_id: string;
  readonly scopes: readonly string[];
  /** Null: nobody but the client. */
  readonly act: Actor | null;
}

/** An access token for a resource: its audience. */
interface ResourceClaims extends AccessClaims {
  readonly resource: string;
}

/** When a token was issued and expires. Given and not taken from the clock, so that a repeated response is the same. */
export interface Lifetime {
  readonly issued_at_seconds: number;
  readonly expires_at_seconds: number;
}

export interface AccessTokens {
  /** As of {@link ResourceTokens}. */
  sign(issuer: string, claims: AccessClaims, lifetime: Lifetime, id: string): Promise<string>;
  readonly verify: VerifyToken<AccessClaims & Lifetime>;
}

export interface ResourceTokens {
  /** `id`: the token's own id among those of its response; the same id never has two contents. */
  sign(issuer: string, claims: ResourceClaims, lifetime: Lifetime, id: string): Promise<string>;
  readonly verify: VerifyToken<ResourceClaims & Lifetime>;
}

/** `macKeys`: keys of this purpose only, so no other token verifies with them. */
export function createAccessTokens(macKeys: MacKeys): AccessTokens {
  const keyOf = async ({ kid }: JWTHeaderParameters) => {
    const known = (await macKeys()).find((candidate) => candidate.kid === kid);
    if (known === undefined) throw new Error("no such key");
    return known.key;
  };
  return {
    async sign(issuer, claims, lifetime, id) {
      const [first] = await macKeys();
      if (first === undefined) throw new Error("access tokens need at least one key");
      const header = { alg: ALGORITHM, kid: first.kid };
      const started = start(issuer, claims, lifetime, id);
      const jwt = await started.setProtectedHeader(header).sign(first.key);
      return `${ACCESS_TOKEN_PREFIX}${jwt}`;
    },
    verify: cacheVerified(async (issuer, token) => {
      if (!token.startsWith(ACCESS_TOKEN_PREFIX)) return null;
      const { payload } = await jwtVerify(token.slice(ACCESS_TOKEN_PREFIX.length), keyOf, {
        issuer,
        algorithms: [ALGORITHM],
        requiredClaims: ["sub", "jti", "iat", "exp"],
        clockTolerance: TOKEN_CLOCK_TOLERANCE_SECONDS,
      });
      const claims = readClaims(payload);
      const { iat: issued_at_seconds = 0, exp: expires_at_seconds = 0 } = payload;
      if (claims === null) return null;
      return { claims: { ...claims, issued_at_seconds, expires_at_seconds }, expires_at_seconds };
    }),
  };
}

export function createResourceTokens(keys: RsaKeys): ResourceTokens {
  return {
    async sign(issuer, claims, lifetime, id) {
      const { kid, key } = await keys.signer();
      return start(issuer, claims, lifetime, id)
        .setAudience(claims.resource)
        .setProtectedHeader({ alg: RSA_ALGORITHM, kid, typ: RESOURCE_TYPE })
        .sign(key);
    },
    verify: cacheVerified(async (issuer, token) => {
      const { payload } = await jwtVerify(token, keys.resolve, {
        issuer,
        typ: RESOURCE_TYPE,
        algorithms: [RSA_ALGORITHM],
        requiredClaims: ["sub", "jti", "iat", "exp", "aud"],
        clockTolerance: TOKEN_CLOCK_TOLERANCE_SECONDS,
      });
      const claims = readClaims(payload);
      const { aud, iat: issued_at_seconds = 0, exp: expires_at_seconds = 0 } = payload;
      if (claims === null || typeof aud !== "string") return null;
      const lifetime = { issued_at_seconds, expires_at_seconds };
      return { claims: { ...claims, ...lifetime, resource: aud }, expires_at_seconds };
    }),
  };
}

/** The `jti` names the row; `id` distinguishes the tokens of one row. */
function start(
  issuer: string,
  { identity_id, credential, client_id, scopes, act }: AccessClaims,
  { issued_at_seconds, expires_at_seconds }: Lifetime,
  id: string,
): SignJWT {
  const generation = credential.kind === "family" ? [credential.generation] : [];
  const row = [credential.kind, credentialId(credential), ...generation];
  return new SignJWT({ client_id, scope: scopes.join(" "), ...(act === null ? {} : { act }) })
    .setIssuer(issuer)
    .setSubject(identity_id)
    .setJti([...row, id].join(":"))
    .setIssuedAt(issued_at_seconds)
    .setExpirationTime(expires_at_seconds);
}

/** The claims that we signed; null if one is missing. */
function readClaims(payload: JWTPayload): AccessClaims | null {
  const { sub = "", jti = "", client_id, scope, act = null } = payload;
  if (typeof client_id !== "string" || typeof scope !== "string") return null;
  const scopes = readScope(scope);
  const credential = readCredential(jti, scopes);
  if (sub === "" || credential === null) return null;
  return { identity_id: sub, credential, client_id, scopes, act: act as Actor | null };
}

function readCredential(jti: string, scopes: readonly string[]): Credential | null {
  const [kind, id = "", third] = jti.split(":");
  const generation = Number(third);
  if (id === "") return null;
  if (kind === "allowance") return { kind, allowance_id: id };
  if (kind !== "family" || !Number.isSafeInteger(generation)) return null;
  return { kind, family_id: id, generation, scopes };
}
