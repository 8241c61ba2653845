/**
 * ID tokens (OpenID Connect Core 1.0, section 2): they tell a client who signed in, and when. Names and addresses are only
 * at `/oauth/userinfo`.
 */
import { compactVerify, errors, SignJWT, type JWTPayload } from "jose";
import { RSA_ALGORITHM, type RsaKeys } from "../keys/rsa_keys.ts";
import type { Lifetime } from "./access_token.ts";

interface IdTokenClaims {
  readonly identity_id: string;
  readonly client_id: string;
  readonly auth_time_seconds: number;
  /** The `nonce` of the authorization request; null: it had none. */
  readonly nonce: string | null;
}

export type SignIdToken = (
  issuer: string,
  claims: IdTokenClaims,
  lifetime: Lifetime,
) => Promise<string>;

/** The facts of a sign-in in an ID token. */
interface HintedSignIn {
  readonly identity_id: string;
  readonly client_id: string;
}

/** Reads an ID token that a client sends back, even if it has expired; null: this issuer did not sign it. */
export type ReadIdToken = (issuer: string, token: string) => Promise<HintedSignIn | null>;

export function createIdTokenReader(keys: RsaKeys): ReadIdToken {
  return async (issuer, token) => {
    try {
      const { payload, protectedHeader } = await compactVerify(token, keys.resolve, {
        algorithms: [RSA_ALGORITHM],
      });
      const { iss, sub, aud } = JSON.parse(new TextDecoder().decode(payload)) as JWTPayload;
      // The same keys sign access tokens for resources, which have another type.
      if (protectedHeader.typ !== "JWT" || iss !== issuer) return null;
      if (sub === undefined || typeof aud !== "string") return null;
      return { identity_id: sub, client_id: aud };
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  };
}

export function createIdTokens(keys: RsaKeys): SignIdToken {
  return async (issuer, { identity_id, client_id, auth_time_seconds, nonce }, lifetime) => {
    const { kid, key } = await keys.signer();
    return new SignJWT({ auth_time: auth_time_seconds, ...(nonce === null ? {} : { nonce }) })
      .setProtectedHeader({ alg: RSA_ALGORITHM, kid, typ: "JWT" })
      .setIssuer(issuer)
      .setSubject(identity_id)
      .setAudience(client_id)
      .setIssuedAt(lifetime.issued_at_seconds)
      .setExpirationTime(lifetime.expires_at_seconds)
      .sign(key);
  };
}
