/** The signing keys: the first one signs, all verify, and their public halves are published. */
import { createLocalJWKSet, importJWK, type CryptoKey, type JWK } from "jose";

/** The algorithm of our tokens (RFC 8037). A token with another one is refused. */
export const SIGNING_ALGORITHM = "EdDSA";

/** A private Ed25519 key as a JWK (RFC 7517, RFC 8037). */
export interface SigningKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly kid: string;
  readonly x: string;
  readonly d: string;
}

export interface KeyRing {
  /** The signing key and its id. */
  signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** Finds the public key of a token's header by `kid`. A `jwk` or `jku` in the header is ignored. */
  readonly resolve: ReturnType<typeof createLocalJWKSet>;
  /** The content of `/.well-known/jwks.json`. */
  readonly public_jwks: { readonly keys: readonly JWK[] };
}

/**
 * Creates a key ring. Keys are imported at first use. The value is stored and not a promise, so a failed import
 * is retried.
 */
export function createKeyRing(signing_keys: readonly SigningKey[]): KeyRing {
  const [first] = signing_keys;
  if (first === undefined) throw new Error("a key ring needs at least one key");
  const keys = signing_keys.map(({ kty, crv, kid, x }): JWK => ({
    kty,
    crv,
    kid,
    x,
    alg: SIGNING_ALGORITHM,
    use: "sig",
  }));
  let imported: CryptoKey | undefined;
  return {
    async signer() {
      imported ??= await importJWK({ ...first }, SIGNING_ALGORITHM);
      return { kid: first.kid, key: imported };
    },
    resolve: createLocalJWKSet({ keys }),
    public_jwks: { keys },
  };
}
