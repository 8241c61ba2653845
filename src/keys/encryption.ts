/**
 * The keys of `ENCRYPTION_KEYS`: the first one encrypts, all decrypt, found by id. None is used directly:
 * sign-in flows and the vault derive their own.
 */
import { deriveKey, infoOf } from "./derivation.ts";

/** A 256-bit key of `ENCRYPTION_KEYS`, as a JWK (RFC 7518, section 6.4). */
export interface EncryptionKey {
  readonly kid: string;
  readonly k: string;
}

/** A key for one use, and the id of the key that it is derived from. */
interface NamedKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

export interface EncryptionKeys {
  /** The key that encrypts. */
  first(): Promise<NamedKey>;
  /** The key that decrypts what was encrypted under this id; null: it was retired. */
  named(kid: string): Promise<NamedKey | null>;
}

const AES_256_GCM = { name: "AES-GCM", length: 256 };

/** Name these uses of a key, and what is sealed with it. */
export const FLOW_PURPOSE = "passbook sign-in flow v2";
export const CEREMONY_PURPOSE = "passbook passkey ceremony v1";
export const CONSENT_PURPOSE = "passbook consent v1";
export type FlowPurpose = typeof FLOW_PURPOSE | typeof CEREMONY_PURPOSE | typeof CONSENT_PURPOSE;

/** Keys for sign-ins and consents in progress. */
export function flowKeys(
  keys: readonly EncryptionKey[],
  purpose: FlowPurpose = FLOW_PURPOSE,
): EncryptionKeys {
  return keysFor(keys, infoOf(purpose));
}

/** Names this use of a key, and what is sealed with it. */
export const VAULT_PURPOSE = "passbook vault v1";

/**
 * Keys for the vault of one account. Each account has its own, because random nonces are safe for 2^32 messages
 * under one key (NIST SP 800-38D, section 8.3), and all accounts together could exceed that.
 */
export function vaultKeys(keys: readonly EncryptionKey[], identity_id: string): EncryptionKeys {
  // JSON, so that two different lists never have the same bytes.
  return keysFor(keys, infoOf(JSON.stringify([VAULT_PURPOSE, identity_id])));
}

/** Names this use of a key, and what is sealed with it. */
export const WEBHOOK_PURPOSE = "passbook webhook v1";

/** Keys for the secrets of webhooks. */
export function webhookKeys(keys: readonly EncryptionKey[]): EncryptionKeys {
  return keysFor(keys, infoOf(WEBHOOK_PURPOSE));
}

/** Names this use of a key, and what is sealed with it. */
export const PERSON_PURPOSE = "passbook person v1";

/** Keys for the copy of one person. Each person has their own, as the vault of an account. */
export function personKeys(keys: readonly EncryptionKey[], user_id: string): EncryptionKeys {
  return keysFor(keys, infoOf(JSON.stringify([PERSON_PURPOSE, user_id])));
}

function keysFor(keys: readonly EncryptionKey[], info: Uint8Array): EncryptionKeys {
  const derive = async ({ kid, k }: EncryptionKey): Promise<NamedKey> => {
    const usages = ["encrypt", "decrypt"] as const;
    return { kid, key: await deriveKey(k, { info, algorithm: AES_256_GCM, usages }) };
  };
  const [first] = keys;
  if (first === undefined) throw new Error("encrypting needs at least one key");
  return {
    first: () => derive(first),
    async named(kid) {
      const key = keys.find((candidate) => candidate.kid === kid);
      return key === undefined ? null : derive(key);
    },
  };
}
