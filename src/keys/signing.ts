/** The signing keys: the first signs, all verify, their public halves are published. */
import { createLocalJWKSet, importJWK, type CryptoKey, type JWK } from "jose";

/** The one algorithm of our tokens (RFC 8037); a token that names another is refused. */
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
  /** Picks the public key for a token's header by `kid`; a `jwk` or `jku` in the header counts for nothing. */
  readonly resolve: ReturnType<typeof createLocalJWKSet>;
  /** What `/.well-known/jwks.json` serves. */
  readonly public_jwks: { readonly keys: readonly JWK[] };
}

/** Opens a ring. Keys are imported on first use and kept as values: a failed import is tried again. */
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
