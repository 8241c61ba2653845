/**
 * Personal access tokens that an account accepted recently: in this isolate's memory. Only rate limits use it.
 */
import { LIVE_CREDENTIALS_MAX, LIVE_CREDENTIAL_MS } from "../domain/rate_limits.ts";

export interface LivingCredentials {
  /** Whether the token was accepted within the last minute and not refused since. */
  has(credential_id: string, now_ms: number): boolean;
  add(credential_id: string, now_ms: number): void;
  forget(credential_id: string): void;
}

export function createLivingCredentials(): LivingCredentials {
  const accepted_at_ms = new Map<string, number>();
  return {
    has: (credential_id, now_ms) =>
      now_ms - (accepted_at_ms.get(credential_id) ?? 0) < LIVE_CREDENTIAL_MS,
    add(credential_id, now_ms) {
      if (accepted_at_ms.size >= LIVE_CREDENTIALS_MAX) accepted_at_ms.clear();
      accepted_at_ms.set(credential_id, now_ms);
    },
    forget: (credential_id) => void accepted_at_ms.delete(credential_id),
  };
}
