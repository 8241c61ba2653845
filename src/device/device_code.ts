/**
 * Device codes: `<user code>.<256 random bits>.<MAC>`. The user code names the object, so no lookup table is
 * needed. The random bits are the secret. The MAC lets the Worker refuse a forged code itself: guesses and
 * invented codes reach no object.
 */
import { base64url } from "jose";
import { readUserCode } from "../domain/device_login.ts";

const SECRET_BYTES = 32;
const DEVICE_CODE = /^([A-Z]{8})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;

export interface DeviceCodes {
  /** A new device code for a user code. */
  issue(user_code: string): Promise<string>;
  /** The user code in a device code that this service issued; null for any other. */
  read(device_code: string): Promise<string | null>;
  /** SHA-256 of a device code in base64url, which may be stored. */
  digest(device_code: string): Promise<string>;
}

/** A key that makes and checks MACs (HMAC with SHA-256). */
interface DeviceCodeKey {
  readonly key: CryptoKey;
}

/**
 * Device codes under their own keys: the first one makes MACs, all check them, so a key rotation interrupts no
 * login.
 */
export function createDeviceCodes(macKeys: () => Promise<readonly DeviceCodeKey[]>): DeviceCodes {
  return {
    async issue(user_code) {
      const [first] = await macKeys();
      if (first === undefined) throw new Error("device codes need at least one key");
      const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
      const message = `${user_code}.${secret}`;
      const mac = await crypto.subtle.sign("HMAC", first.key, new TextEncoder().encode(message));
      return `${message}.${base64url.encode(new Uint8Array(mac))}`;
    },
    async read(device_code) {
      const [, user_code = "", secret = "", mac = ""] = DEVICE_CODE.exec(device_code) ?? [];
      if (readUserCode(user_code) !== user_code) return null;
      const message = new TextEncoder().encode(`${user_code}.${secret}`);
      const signature = base64url.decode(mac);
      for (const { key } of await macKeys()) {
        if (await crypto.subtle.verify("HMAC", key, signature, message)) return user_code;
      }
      return null;
    },
    async digest(device_code) {
      const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(device_code));
      return base64url.encode(new Uint8Array(bytes));
    },
  };
}
