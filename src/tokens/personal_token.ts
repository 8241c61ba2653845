/**
 * Personal access tokens: `pb_pat_` and a JWT (RFC 7519, with a `typ` as in RFC 8725). The JWT names the
 * holder. Whether the token is valid and what it may do is a row in the account, under its `jti`.
 */
import { jwtVerify, SignJWT, type JWTHeaderParameters } from "jose";
import { PERSONAL_TOKEN_PREFIX } from "../domain/proof.ts";
import type { MacKeys } from "../keys/mac.ts";
import {
  cacheVerified,
  TOKEN_CLOCK_TOLERANCE_SECONDS,
  type VerifyToken,
} from "./verified_tokens.ts";

/**
 * Not the algorithm of the published keys: an app that verifies session tokens with our JWKS and does not check
 * `typ` must not accept one of these.
 */
const ALGORITHM = "HS256";

/** The header's `typ`, so that no token of another use is accepted as one of these, nor the reverse. */
const PERSONAL_TOKEN_TYPE = "pat+jwt";

/** The holder of the token, and the id of its row in their account. */
interface PersonalTokenClaims {
  readonly identity_id: string;
  readonly personal_token_id: string;
  /** The registered OAuth client that collected it: when that client is deleted, the token ends. Left out: none. */
  readonly client_id?: string;
}

export interface PersonalTokens {
  /** Signs a token of `issuer` (the service's base URL) that expires at `expires_at_ms`. */
  sign(issuer: string, claims: PersonalTokenClaims, expires_at_ms: number): Promise<string>;
  readonly verify: VerifyToken<PersonalTokenClaims>;
}

/** Signs and verifies personal access tokens with secret keys, in memory. */
export function createPersonalTokens(macKeys: MacKeys): PersonalTokens {
  const keyOf = async ({ kid }: JWTHeaderParameters) => {
    const known = (await macKeys()).find((candidate) => candidate.kid === kid);
    if (known === undefined) throw new Error("no such key");
    return known.key;
  };
  return {
    async sign(issuer, { identity_id, personal_token_id, ...client }, expires_at_ms) {
      const [first] = await macKeys();
      if (first === undefined) throw new Error("personal access tokens need at least one key");
      const { kid, key } = first;
      const jwt = await new SignJWT(client)
        .setProtectedHeader({ alg: ALGORITHM, kid, typ: PERSONAL_TOKEN_TYPE })
        .setIssuer(issuer)
        .setSubject(identity_id)
        .setJti(personal_token_id)
        .setIssuedAt()
        .setExpirationTime(Math.floor(expires_at_ms / 1000))
        .sign(key);
      return `${PERSONAL_TOKEN_PREFIX}${jwt}`;
    },
    verify: cacheVerified(async (issuer, token) => {
      if (!token.startsWith(PERSONAL_TOKEN_PREFIX)) return null;
      const jwt = token.slice(PERSONAL_TOKEN_PREFIX.length);
      const { payload } = await jwtVerify(jwt, keyOf, {
        issuer,
        typ: PERSONAL_TOKEN_TYPE,
        algorithms: [ALGORITHM],
        requiredClaims: ["sub", "jti", "iat", "exp"],
        clockTolerance: TOKEN_CLOCK_TOLERANCE_SECONDS,
      });
      const { sub = "", jti = "", exp: expires_at_seconds, client_id } = payload;
      if (sub === "" || jti === "" || expires_at_seconds === undefined) return null;
      const client = typeof client_id === "string" ? { client_id } : {};
      return {
        claims: { identity_id: sub, personal_token_id: jti, ...client },
        expires_at_seconds,
      };
    }),
  };
}
