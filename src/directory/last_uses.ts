/**
 * The days of the last use of app keys and OAuth clients, in D1's `app_keys` and `oauth_clients`. Only the first use of a
 * day in an isolate reaches D1, and only the first use of a day writes a row, so a busy key costs one written row a day.
 */
import { and, eq, isNull, lt, or, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { DAY_MS } from "../domain/calendar.ts";
import { splitClientId } from "../domain/oauth_client.ts";
import { oauthClients } from "./oauth_schema.ts";
import { appKeys } from "./schema.ts";

/** The pause after a failed write, so that not every request tries while D1 is unavailable. */
const USE_RETRY_MS = 60_000;

/**
 * Records that a valid key or client was used. Returns the write, which never rejects and for which no response waits;
 * null if this isolate has nothing to write.
 */
export type NoteUse = (subject: string) => Promise<void> | null;

/** By the key's hash. */
export function createAppKeyUses(binding: D1Database): NoteUse {
  return createUses(
    binding,
    appKeys,
    (key_hash) => eq(appKeys.key_hash, key_hash),
    () => console.warn({ event: "app_key_use_write_failed" }),
  );
}

/** By `client_id`. */
export function createClientUses(binding: D1Database): NoteUse {
  return createUses(
    binding,
    oauthClients,
    (client_id) => {
      const { app_slug, id } = splitClientId(client_id);
      return and(eq(oauthClients.app_slug, app_slug), eq(oauthClients.id, id));
    },
    () => console.warn({ event: "oauth_client_use_write_failed" }),
  );
}

function createUses(
  binding: D1Database,
  table: typeof appKeys | typeof oauthClients,
  isSubject: (subject: string) => SQL | undefined,
  warn: () => void,
): NoteUse {
  const database = drizzle(binding);
  /** When the next use of a subject reaches D1. It has as many entries as valid subjects were used. */
  const next_write_ms = new Map<string, number>();
  const write = async (subject: string, day_ms: number): Promise<void> => {
    const is_older = or(isNull(table.last_used_at_ms), lt(table.last_used_at_ms, day_ms));
    try {
      await database
        .update(table)
        .set({ last_used_at_ms: day_ms })
        .where(and(isSubject(subject), is_older));
    } catch {
      next_write_ms.set(subject, Date.now() + USE_RETRY_MS);
      warn();
    }
  };
  return (subject) => {
    const now_ms = Date.now();
    if (now_ms < (next_write_ms.get(subject) ?? 0)) return null;
    const day_ms = now_ms - (now_ms % DAY_MS);
    next_write_ms.set(subject, day_ms + DAY_MS);
    return write(subject, day_ms);
  };
}
