/** Everything that the OAuth server signs, under keys of its own for each use. */
import { createRsaKeys, type RsaKey } from "../keys/rsa_keys.ts";
import { createMacKeys, createSealKeys } from "../keys/mac.ts";
import type { KeyRing, SigningKey } from "../keys/signing.ts";
import {
  createAccessTokens,
  createResourceTokens,
  type AccessTokens,
  type ResourceTokens,
} from "./access_token.ts";
import {
  createIdTokenReader,
  createIdTokens,
  type ReadIdToken,
  type SignIdToken,
} from "./id_token.ts";
import {
  createAuthorizationCodes,
  createRefreshTokens,
  type AuthorizationCodes,
  type RefreshTokens,
} from "./sealed_token.ts";

export interface OAuthTokens {
  readonly authorization_codes: AuthorizationCodes;
  readonly refresh_tokens: RefreshTokens;
  readonly access_tokens: AccessTokens;
  readonly resource_tokens: ResourceTokens;
  readonly sign_id_token: SignIdToken;
  readonly read_id_token: ReadIdToken;
  /** All our public keys: those of the key ring, and the RSA keys. */
  readonly public_jwks: KeyRing["public_jwks"];
}

export function createOAuthTokens(
  signing_keys: readonly SigningKey[],
  rsa_keys: readonly RsaKey[],
  keys: KeyRing,
): OAuthTokens {
  const rsa = createRsaKeys(rsa_keys);
  const sealKeysFor = (purpose: string) => createSealKeys(signing_keys, purpose);
  return {
    authorization_codes: createAuthorizationCodes(sealKeysFor("passbook authorization code 2")),
    refresh_tokens: createRefreshTokens(sealKeysFor("passbook refresh token 2")),
    access_tokens: createAccessTokens(createMacKeys(signing_keys, "passbook access token 1")),
    resource_tokens: createResourceTokens(rsa),
    sign_id_token: createIdTokens(rsa),
    read_id_token: createIdTokenReader(rsa),
    public_jwks: { keys: [...keys.public_jwks.keys, ...rsa.public_keys] },
  };
}
