/**
 * A copy of each login's request near its reader, in KV: written once, never changed, gone by itself.
 * KV may take a minute to show an entry elsewhere, or to stop saying that there is none, and it cannot
 * compare and set: every decision is the DeviceLogin object's, which also answers where KV has nothing
 * or cannot be reached.
 */
import { errorName } from "../domain/result.ts";
import { DEVICE_CODE_KEEP_MS } from "../domain/device_login.ts";
import type { LoginRequest } from "./contract.ts";

/** The shortest TTL that KV accepts, in seconds. */
const KV_TTL_MIN_SECONDS = 60;

export interface RequestCopies {
  /** Keeps what a code asks for, until the login itself is forgotten. Never throws. */
  remember(user_code: string, request: LoginRequest): Promise<void>;
  /** What a code asks for; null where that is not known here. Never throws. */
  recall(user_code: string): Promise<LoginRequest | null>;
}

/** The codes in a KV namespace. */
export function createRequestCopies(namespace: KVNamespace): RequestCopies {
  return {
    async remember(user_code, request) {
      const lifetime_ms = request.expires_at_ms - request.started_at_ms + DEVICE_CODE_KEEP_MS;
      const expirationTtl = Math.max(KV_TTL_MIN_SECONDS, Math.ceil(lifetime_ms / 1000));
      try {
        await namespace.put(user_code, JSON.stringify(request), { expirationTtl });
      } catch (error) {
        console.warn({ event: "login_request_write_failed", reason: errorName(error) });
      }
    },
    async recall(user_code) {
      try {
        return await namespace.get<LoginRequest>(user_code, "json");
      } catch (error) {
        console.warn({ event: "login_request_read_failed", reason: errorName(error) });
        return null;
      }
    },
  };
}
