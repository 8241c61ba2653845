/** Changes of a key set (a JWKS, RFC 7517). Its first key signs or encrypts; all its keys verify or decrypt. */
import * as z from "zod";
import { newEncryptionKeys, newIdTokenKeys, newSigningKeys } from "./development_settings.ts";

/** The settings that are key sets. */
export const KEY_SETTINGS = ["SIGNING_KEYS", "ID_TOKEN_KEYS", "ENCRYPTION_KEYS"] as const;
export type KeySetting = (typeof KEY_SETTINGS)[number];

const key = z.looseObject({ kty: z.string(), kid: z.string().min(1) });
const key_set = z.object({ keys: z.array(key).min(1) });

export type Key = z.infer<typeof key>;

/** The key type of each setting. A key set of the other setting is refused. */
const KEY_TYPES: Readonly<Record<KeySetting, string>> = {
  SIGNING_KEYS: "OKP",
  ID_TOKEN_KEYS: "RSA",
  ENCRYPTION_KEYS: "oct",
};

/**
 * Parses a setting's value.
 * @throws Error if it is not a key set of this setting; the message does not quote the value
 */
export function parseKeys(setting: KeySetting, json: string): readonly Key[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error(
      `The value of ${setting} is not JSON. Pass the whole value, as it was printed.`,
    );
  }
  const parsed = key_set.safeParse(value);
  if (!parsed.success || parsed.data.keys.some(({ kty }) => kty !== KEY_TYPES[setting])) {
    throw new Error(
      `The value of ${setting} is not a key set of this setting. Create one with: npm run -s keys -- create ${setting}`,
    );
  }
  return parsed.data.keys;
}

/** A setting's value, on one line. */
export function writeKeys(keys: readonly Key[]): string {
  return JSON.stringify({ keys });
}

const NEW_KEYS: Readonly<Record<KeySetting, () => Promise<string>>> = {
  SIGNING_KEYS: newSigningKeys,
  ID_TOKEN_KEYS: newIdTokenKeys,
  ENCRYPTION_KEYS: async () => newEncryptionKeys(),
};

async function newKey(setting: KeySetting): Promise<Key> {
  const [created] = parseKeys(setting, await NEW_KEYS[setting]());
  if (created === undefined) throw new Error("A new key set has no key.");
  return created;
}

/** The changes of a key set. Only `retire` removes keys. */
export const KEY_CHANGES = {
  /** A new key set with one key. */
  create: async (setting: KeySetting) => [await newKey(setting)],
  /** A new first key: it signs or encrypts from the next deployment on. */
  rotate: async (setting: KeySetting, keys: readonly Key[]) => [await newKey(setting), ...keys],
  /** A new last key: every copy knows it before it signs or encrypts. */
  add: async (setting: KeySetting, keys: readonly Key[]) => [...keys, await newKey(setting)],
  /** The last key becomes the first. */
  promote: async (_setting: KeySetting, keys: readonly Key[]) => [
    ...keys.slice(-1),
    ...keys.slice(0, -1),
  ],
  /** Only the first key remains. */
  retire: async (_setting: KeySetting, keys: readonly Key[]) => keys.slice(0, 1),
} as const;

export type KeyChange = keyof typeof KEY_CHANGES;
