/** The secrets of webhooks: made by us, and stored only sealed. A sealed secret opens only for its own webhook. */
import { WEBHOOK_PURPOSE, webhookKeys, type EncryptionKey } from "../keys/encryption.ts";
import { sealFor, unsealFor, type Sealed, type SealingContext } from "../keys/sealing.ts";

/** Standard Webhooks, section "Symmetric": the prefix of a secret, before its base64. */
const SECRET_PREFIX = "whsec_";

/** Standard Webhooks asks for 24 to 64 bytes; 32 are a whole HMAC-SHA256 key. */
const SECRET_BYTES = 32;

export function createWebhookSecrets(encryption_keys: readonly EncryptionKey[]) {
  const keys = webhookKeys(encryption_keys);
  const contextOf = (uid: string): SealingContext => [WEBHOOK_PURPOSE, uid];
  return {
    /** A new secret, and the same sealed for this webhook. */
    async create(uid: string): Promise<{ readonly secret: string; readonly sealed: Sealed }> {
      const random = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
      const secret = SECRET_PREFIX + btoa(String.fromCharCode(...random));
      return { secret, sealed: await sealFor(keys, contextOf(uid), secret) };
    },
    /** Opens a sealed secret; null if its key was retired, or if it is of another webhook. */
    open: (uid: string, sealed: Sealed): Promise<string | null> =>
      unsealFor(keys, contextOf(uid), sealed),
    /** Seals an opened secret again with the first key; null if it already is. */
    renew: async (uid: string, secret: string, { key_id }: Sealed): Promise<Sealed | null> =>
      key_id === encryption_keys[0]?.kid ? null : sealFor(keys, contextOf(uid), secret),
  };
}

export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;
