/**
 * ID tokens (OpenID Connect Core 1.0, section 2): they tell a client who signed in, and when. Names and addresses are only
 * at `/oauth/userinfo`.
 */
import { SignJWT } from "jose";
import type { IdTokenAlgorithm } from "../domain/oauth_client.ts";
import type { IdTokenKeys } from "../keys/id_token_keys.ts";
import type { KeyRing } from "../keys/signing.ts";
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
  algorithm: IdTokenAlgorithm,
  claims: IdTokenClaims,
  lifetime: Lifetime,
) => Promise<string>;

export function createIdTokens(rsa_keys: IdTokenKeys, keys: KeyRing): SignIdToken {
  return async (issuer, alg, { identity_id, client_id, auth_time_seconds, nonce }, lifetime) => {
    const { kid, key } = await (alg === "RS256" ? rsa_keys : keys).signer();
    return new SignJWT({ auth_time: auth_time_seconds, ...(nonce === null ? {} : { nonce }) })
      .setProtectedHeader({ alg, kid, typ: "JWT" })
      .setIssuer(issuer)
      .setSubject(identity_id)
      .setAudience(client_id)
      .setIssuedAt(lifetime.issued_at_seconds)
      .setExpirationTime(lifetime.expires_at_seconds)
      .sign(key);
  };
}
