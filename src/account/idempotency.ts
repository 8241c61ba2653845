/** Kept answers: a retried request gets the first answer again, written in the same transaction. */
import { and, asc, desc, eq, inArray, sql } from "drizzle-orm";
import { IDEMPOTENCY_CLEANUP_ROWS, IDEMPOTENCY_KEEP_MS } from "../domain/limits.ts";
import { accepted, refused } from "../domain/result.ts";
import { visibleApps } from "./personal_tokens/admission.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "./contract.ts";
import { idempotency } from "./schema.ts";
import type { AccountDatabase } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** A UTC day: the unit in which kept answers are cleaned away. Not shorter than they are kept. */
const DAY_MS = 24 * 60 * 60 * 1000;

const dayOf = (at_ms: number): number => Math.floor(at_ms / DAY_MS);

/**
 * Runs `operation` unless the guard's key was answered before at this endpoint. Only answers that
 * changed something are kept, so a refused request may be tried again with its key. The same key
 * with another request is `idempotency_key_reused`.
 */
export function once<Value>(
  database: AccountDatabase,
  endpoint: string,
  guard: IdempotencyGuard | null,
  transaction: Transaction,
  operation: (transaction: Transaction) => Answer<Value>,
): OnceAnswer<Value> {
  const { now_ms, token, acting_app } = transaction;
  // An app's keys are its own: the holder, who may guess them, cannot use one up before the app does.
  const place = acting_app === null ? endpoint : `${endpoint} by ${acting_app}`;
  if (guard !== null) {
    const kept = readKept(database, place, guard.key, now_ms);
    if (kept !== null) {
      // A token limited to some apps must not be told what others did for other apps.
      const is_limited = acting_app === null && visibleApps(transaction) !== undefined;
      const may_see = !is_limited || kept.token_id === token?.id;
      return may_see && kept.fingerprint === guard.fingerprint
        ? accepted({ value: JSON.parse(kept.answer_json) as Value, replayed: true })
        : refused({ code: "idempotency_key_reused" });
    }
  }
  const answer = operation(transaction);
  if (!answer.ok) return answer;
  if (guard !== null) {
    const row = {
      fingerprint: guard.fingerprint,
      token_id: token?.id ?? null,
      answer_json: JSON.stringify(answer.value),
      created_at_ms: now_ms,
    };
    database
      .insert(idempotency)
      .values({ day: dayOf(now_ms), endpoint: place, key: guard.key, ...row })
      .run();
  }
  return accepted({ value: answer.value, replayed: false });
}

/** Three look-ups by key, the newest first: a clock may have gone back over midnight. */
function readKept(database: AccountDatabase, endpoint: string, key: string, now_ms: number) {
  const today = dayOf(now_ms);
  const kept = database
    .select()
    .from(idempotency)
    .where(
      and(
        inArray(idempotency.day, [today + 1, today, today - 1]),
        eq(idempotency.endpoint, endpoint),
        eq(idempotency.key, key),
      ),
    )
    .orderBy(desc(idempotency.day))
    .limit(1)
    .get();
  return kept !== undefined && kept.created_at_ms > now_ms - IDEMPOTENCY_KEEP_MS ? kept : null;
}

/**
 * Deletes the answers of days that are over and out of reach, {@link IDEMPOTENCY_CLEANUP_ROWS} at most:
 * one account may have kept very many. Reads what it deletes, and one row more.
 * @returns when to call again, in milliseconds since the epoch; null where nothing is kept.
 */
export function deleteKeptAnswers(database: AccountDatabase, now_ms: number): number | null {
  const last_day = dayOf(now_ms - IDEMPOTENCY_KEEP_MS) - 1;
  database.run(sql`
    delete from idempotency where (day, endpoint, key) in (
      select day, endpoint, key from idempotency
      where day <= ${last_day} order by day limit ${IDEMPOTENCY_CLEANUP_ROWS})`);
  const oldest = database
    .select({ day: idempotency.day })
    .from(idempotency)
    .orderBy(asc(idempotency.day))
    .limit(1)
    .get();
  if (oldest === undefined) return null;
  // More may be due already: the rest of them follows at once.
  return Math.max((oldest.day + 1) * DAY_MS + IDEMPOTENCY_KEEP_MS, now_ms);
}
