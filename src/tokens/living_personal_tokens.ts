/** Personal access tokens accepted recently, in this isolate's memory. Only rate limits use it. */
import { LIVE_PERSONAL_TOKENS_MAX, LIVE_PERSONAL_TOKEN_MS } from "../domain/rate_limits.ts";

export interface LivingPersonalTokens {
  /** Whether the token was accepted within the last minute and not refused since. */
  has(personal_token_id: string, now_ms: number): boolean;
  add(personal_token_id: string, now_ms: number): void;
  forget(personal_token_id: string): void;
}

export function createLivingPersonalTokens(): LivingPersonalTokens {
  const accepted_at_ms = new Map<string, number>();
  return {
    has: (personal_token_id, now_ms) =>
      now_ms - (accepted_at_ms.get(personal_token_id) ?? 0) < LIVE_PERSONAL_TOKEN_MS,
    add(personal_token_id, now_ms) {
      if (accepted_at_ms.size >= LIVE_PERSONAL_TOKENS_MAX) accepted_at_ms.clear();
      accepted_at_ms.set(personal_token_id, now_ms);
    },
    forget: (personal_token_id) => void accepted_at_ms.delete(personal_token_id),
  };
}
