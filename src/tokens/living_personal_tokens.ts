/** Personal access tokens that were let in lately, in this isolate's memory. A hint for rate limits. */
import { LIVE_PERSONAL_TOKENS_MAX, LIVE_PERSONAL_TOKEN_MS } from "../domain/rate_limits.ts";

export interface LivingPersonalTokens {
  /** Whether the token was let in within the last minute, and not refused since. */
  has(personal_token_id: string, now_ms: number): boolean;
  add(personal_token_id: string, now_ms: number): void;
  forget(personal_token_id: string): void;
}

/** A memory of its own. */
export function createLivingPersonalTokens(): LivingPersonalTokens {
  const let_in_at_ms = new Map<string, number>();
  return {
    has: (personal_token_id, now_ms) =>
      now_ms - (let_in_at_ms.get(personal_token_id) ?? 0) < LIVE_PERSONAL_TOKEN_MS,
    add(personal_token_id, now_ms) {
      if (let_in_at_ms.size >= LIVE_PERSONAL_TOKENS_MAX) let_in_at_ms.clear();
      let_in_at_ms.set(personal_token_id, now_ms);
    },
    forget: (personal_token_id) => void let_in_at_ms.delete(personal_token_id),
  };
}
