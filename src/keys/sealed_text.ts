/** Text that leaves the service for a while, in a form or an address, and returns unread and unchanged. */
import { CONSENT_PURPOSE, flowKeys, type EncryptionKey, type FlowPurpose } from "./encryption.ts";
import { packSealed, sealFor, unpackSealed, unsealFor } from "./sealing.ts";

/** Opened text. Expired text may say what to start again, and nothing else. */
interface OpenedText {
  readonly text: string;
  readonly is_expired: boolean;
}

export interface SealedTexts {
  /** Seals a text for this service's address, or a longer one of its own that the text belongs to. */
  seal(address: string, text: string, ttl_ms: number): Promise<string>;
  /** Null: not sealed by us, or for another purpose or address. */
  open(address: string, sealed: string): Promise<OpenedText | null>;
}

export function createSealedTexts(
  keys: readonly EncryptionKey[],
  purpose: FlowPurpose,
): SealedTexts {
  const sealing = flowKeys(keys, purpose);
  return {
    async seal(address, text, ttl_ms) {
      const content = JSON.stringify([Date.now() + ttl_ms, text]);
      return packSealed(await sealFor(sealing, [purpose, address], content));
    },
    async open(address, sealed) {
      const unpacked = unpackSealed(sealed);
      const content =
        unpacked === null ? null : await unsealFor(sealing, [purpose, address], unpacked);
      if (content === null) return null;
      const [ends_at_ms, text] = JSON.parse(content) as [number, string];
      return { text, is_expired: Date.now() >= ends_at_ms };
    },
  };
}

/** The requests that consent pages show and their forms return. */
export function createConsentForms(keys: readonly EncryptionKey[]): SealedTexts {
  return createSealedTexts(keys, CONSENT_PURPOSE);
}
