/** Changing a set of keys (a JWKS, RFC 7517). Its first key signs or encrypts, all verify or decrypt. */
import * as z from "zod";
import { newEncryptionKeys, newSigningKeys } from "./development_settings.ts";

/** The settings that hold keys. */
export const KEY_SETTINGS = ["SIGNING_KEYS", "ENCRYPTION_KEYS"] as const;
export type KeySetting = (typeof KEY_SETTINGS)[number];

const key = z.looseObject({ kty: z.string(), kid: z.string().min(1) });
const key_set = z.object({ keys: z.array(key).min(1) });

export type Key = z.infer<typeof key>;

/** What each setting's keys are: a set of the other setting is refused. */
const KEY_TYPES: Readonly<Record<KeySetting, string>> = {
  SIGNING_KEYS: "OKP",
  ENCRYPTION_KEYS: "oct",
};

/**
 * Reads a setting's value.
 * @throws Error where it is no key set of this setting; the message quotes nothing of the value.
 */
export function parseKeys(setting: KeySetting, json: string): readonly Key[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error(`the value of ${setting} is not JSON`);
  }
  const parsed = key_set.safeParse(value);
  if (!parsed.success || parsed.data.keys.some(({ kty }) => kty !== KEY_TYPES[setting])) {
    throw new Error(`the value of ${setting} is not a set of its keys`);
  }
  return parsed.data.keys;
}

/** Writes a setting's value, on one line. */
export function writeKeys(keys: readonly Key[]): string {
  return JSON.stringify({ keys });
}

async function newKey(setting: KeySetting): Promise<Key> {
  const json = setting === "SIGNING_KEYS" ? await newSigningKeys() : newEncryptionKeys();
  const [fresh] = parseKeys(setting, json);
  if (fresh === undefined) throw new Error("a new set has a key");
  return fresh;
}

/** What can be done to a set. None loses a key but `retire`. */
export const KEY_CHANGES = {
  /** A new set of one fresh key. */
  create: async (setting: KeySetting) => [await newKey(setting)],
  /** A fresh key in first place: it signs or encrypts from the deployment on. */
  rotate: async (setting: KeySetting, keys: readonly Key[]) => [await newKey(setting), ...keys],
  /** A fresh key in last place: known everywhere before anything is signed or sealed with it. */
  add: async (setting: KeySetting, keys: readonly Key[]) => [...keys, await newKey(setting)],
  /** The last key moved to first place. */
  promote: async (_setting: KeySetting, keys: readonly Key[]) => [
    ...keys.slice(-1),
    ...keys.slice(0, -1),
  ],
  /** Only the first key kept. */
  retire: async (_setting: KeySetting, keys: readonly Key[]) => keys.slice(0, 1),
} as const;

export type KeyChange = keyof typeof KEY_CHANGES;
