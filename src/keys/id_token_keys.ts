/**
 * The RSA keys of `ID_TOKEN_KEYS`: the first one signs ID tokens, and all public halves are published. Every OpenID Connect
 * client verifies RS256. Nothing else is signed with them or derived from them.
 */
import { importJWK, type CryptoKey, type JWK } from "jose";

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

export interface IdTokenKeys {
  /** The signing key and its id. Imported at first use. */
  signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** For `/.well-known/jwks.json`. */
  readonly public_keys: readonly JWK[];
}

export function createIdTokenKeys(rsa_keys: readonly RsaKey[]): IdTokenKeys {
  const [first] = rsa_keys;
  if (first === undefined) throw new Error("ID tokens need at least one key");
  let imported: CryptoKey | undefined;
  return {
    async signer() {
      // The value is stored and not a promise, so a failed import is retried.
      imported ??= await importJWK({ ...first }, RSA_ALGORITHM);
      return { kid: first.kid, key: imported };
    },
    public_keys: rsa_keys.map(({ kty, kid, n, e }) => ({
      kty,
      kid,
      n,
      e,
      alg: RSA_ALGORITHM,
      use: "sig",
    })),
  };
}
