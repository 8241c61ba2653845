/**
 * The day of each app key's last use, in D1's `app_keys`. Only the first use of a day in an isolate reaches D1, and
 * only the first use of a day writes a row, so a busy key costs one written row a day.
 */
import { and, eq, isNull, lt, or } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { DAY_MS } from "../domain/calendar.ts";
import { appKeys } from "./schema.ts";

/** The pause after a failed write, so that not every request tries while D1 is unavailable. */
const APP_KEY_USE_RETRY_MS = 60_000;

/**
 * Records that a valid key was used. Returns the write, which never rejects and for which no response waits; null if
 * this isolate has nothing to write.
 */
export type NoteAppKeyUse = (key_hash: string) => Promise<void> | null;

export function createAppKeyUses(binding: D1Database): NoteAppKeyUse {
  const database = drizzle(binding);
  /** When the next use of a key reaches D1, by the key's hash. It has as many entries as valid keys were used. */
  const next_write_ms = new Map<string, number>();
  const write = async (key_hash: string, day_ms: number): Promise<void> => {
    const is_older = or(isNull(appKeys.last_used_at_ms), lt(appKeys.last_used_at_ms, day_ms));
    try {
      await database
        .update(appKeys)
        .set({ last_used_at_ms: day_ms })
        .where(and(eq(appKeys.key_hash, key_hash), is_older));
    } catch {
      next_write_ms.set(key_hash, Date.now() + APP_KEY_USE_RETRY_MS);
      console.warn({ event: "app_key_use_write_failed" });
    }
  };
  return (key_hash) => {
    const now_ms = Date.now();
    if (now_ms < (next_write_ms.get(key_hash) ?? 0)) return null;
    const day_ms = now_ms - (now_ms % DAY_MS);
    next_write_ms.set(key_hash, day_ms + DAY_MS);
    return write(key_hash, day_ms);
  };
}
