/**
 * Copies of login requests in KV, near their readers. A copy is written once, never changed, and expires.
 * Another location may see a new entry, or still see its absence, for up to a minute, and KV has no
 * compare-and-set. The DeviceLogin object therefore makes every decision, and also serves the request if KV has
 * no copy or is unavailable.
 */
import { errorName } from "../domain/result.ts";
import { DEVICE_CODE_KEEP_MS } from "../domain/device_login.ts";
import type { LoginRequest } from "./device_contract.ts";

/** The shortest TTL that KV accepts, in seconds. */
const KV_TTL_MIN_SECONDS = 60;

export interface RequestCopies {
  /** Stores a code's request until the login is deleted. Never throws. */
  remember(user_code: string, request: LoginRequest): Promise<void>;
  /** A code's request; null: KV has no copy. Never throws. */
  recall(user_code: string): Promise<LoginRequest | null>;
}

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
