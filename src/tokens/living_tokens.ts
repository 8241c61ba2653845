/** Personal access tokens that were let in lately, in this isolate's memory. A hint for rate limits. */
import { LIVING_TOKENS_MAX, TOKEN_LIVES_MS } from "../domain/rate_limits.ts";

export interface LivingTokens {
  /** Whether the token was let in within the last minute, and not refused since. */
  has(token_id: string, now_ms: number): boolean;
  add(token_id: string, now_ms: number): void;
  forget(token_id: string): void;
}

/** A memory of its own. */
export function createLivingTokens(): LivingTokens {
  const let_in_at_ms = new Map<string, number>();
  return {
    has: (token_id, now_ms) => now_ms - (let_in_at_ms.get(token_id) ?? 0) < TOKEN_LIVES_MS,
    add(token_id, now_ms) {
      if (let_in_at_ms.size >= LIVING_TOKENS_MAX) let_in_at_ms.clear();
      let_in_at_ms.set(token_id, now_ms);
    },
    forget: (token_id) => void let_in_at_ms.delete(token_id),
  };
}
