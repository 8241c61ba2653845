/**
 * The RSA keys of `ID_TOKEN_KEYS`: the first one signs what servers of other people verify, ID tokens and access tokens for
 * resources, and all public halves are published. Every OpenID Connect client, and every resource server (RFC 9068, section
 * 2.1), verifies RS256. Nothing is derived from these keys.
 */
import { createLocalJWKSet, importJWK, type CryptoKey, type JWK } from "jose";

export const RSA_ALGORITHM = "RS256";

/** A private RSA key as a JWK (RFC 7518, section 6.3). */
export interface RsaKey {
  readonly kty: "RSA";
  readonly kid: string;
  readonly n: string;
  readonly e: string;
  readonly d: string;
  readonly p: string;
  readonly q: string;
  readonly dp: string;
  readonly dq: string;
  readonly qi: string;
}

export interface RsaKeys {
  /** The signing key and its id. Imported at first use. */
  signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** Finds the public key of a token's header by `kid`. */
  readonly resolve: ReturnType<typeof createLocalJWKSet>;
  /** For `/.well-known/jwks.json`. */
  readonly public_keys: readonly JWK[];
}

export function createRsaKeys(rsa_keys: readonly RsaKey[]): RsaKeys {
  const [first] = rsa_keys;
  if (first === undefined) throw new Error("ID tokens need at least one key");
  const public_keys = rsa_keys.map(({ kty, kid, n, e }): JWK => {
    const alg = RSA_ALGORITHM;
    return { kty, kid, n, e, alg, use: "sig" };
  });
  let imported: CryptoKey | undefined;
  return {
    async signer() {
      // The value is stored and not a promise, so a failed import is retried.
      imported ??= await importJWK({ ...first }, RSA_ALGORITHM);
      return { kid: first.kid, key: imported };
    },
    resolve: createLocalJWKSet({ keys: public_keys }),
    public_keys,
  };
}
