/**
 * ID tokens (OpenID Connect Core 1.0, section 2): they tell a client who signed in, and when. Names and addresses are only
 * at `/oauth/userinfo`.
 */
import { SignJWT } from "jose";
import { RSA_ALGORITHM, type RsaKeys } from "../keys/rsa_keys.ts";
import type { Lifetime } from "./access_token.ts";

export interface IdTokenClaims {
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
