/**
 * HMAC keys for values that only this service checks. They are derived from the private signing keys, one for
 * each, so they rotate with them. The published keys can neither make nor check such a MAC.
 */
import type { CryptoKey } from "jose";
import { deriveKey, infoOf } from "./derivation.ts";
import type { SigningKey } from "./signing.ts";

const MAC_KEY_BITS = 256;

interface MacKey {
  /** The id of the signing key it is derived from. */
  readonly kid: string;
  readonly key: CryptoKey;
}

/** The keys of one purpose: the first makes MACs, all check them. */
export type MacKeys = () => Promise<readonly MacKey[]>;

/**
 * Keys for `purpose`, derived at first use. The values are stored and not a promise, so a failure is retried.
 * Another purpose gives other keys.
 */
export function createMacKeys(signing_keys: readonly SigningKey[], purpose: string): MacKeys {
  const derived_for = {
    info: infoOf(purpose),
    algorithm: { name: "HMAC", hash: "SHA-256", length: MAC_KEY_BITS },
    usages: ["sign", "verify"],
  } as const;
  let derived: readonly MacKey[] | undefined;
  return async () => {
    derived ??= await Promise.all(
      signing_keys.map(async ({ kid, d }) => ({ kid, key: await deriveKey(d, derived_for) })),
    );
    return derived;
  };
}

/** The keys that seal a value: one makes its MAC, which is also its nonce, and the other encrypts it. */
interface SealKeys {
  readonly mac: CryptoKey;
  readonly cipher: CryptoKey;
}

/** As {@link createMacKeys}, for values that only this service reads. */
export function createSealKeys(
  signing_keys: readonly SigningKey[],
  purpose: string,
): () => Promise<readonly SealKeys[]> {
  const macKeys = createMacKeys(signing_keys, purpose);
  const derived_for = {
    info: infoOf(`${purpose} cipher`),
    algorithm: { name: "AES-CTR", length: 256 },
    usages: ["encrypt", "decrypt"],
  } as const;
  let ciphers: readonly CryptoKey[] | undefined;
  return async () => {
    ciphers ??= await Promise.all(signing_keys.map(({ d }) => deriveKey(d, derived_for)));
    const known = ciphers;
    return (await macKeys()).flatMap(({ key: mac }, at) => {
      const cipher = known[at];
      return cipher === undefined ? [] : [{ mac, cipher }];
    });
  };
}
