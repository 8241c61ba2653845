/** Kept answers: a retried request gets the first answer again, written in the same transaction. */
import { and, asc, desc, eq, sql } from "drizzle-orm";
import { DAY_MS, utcDayOf } from "../domain/day.ts";
import { IDEMPOTENCY_CLEANUP_ROWS, IDEMPOTENCY_KEEP_MS } from "../domain/limits.ts";
import { accepted, refused } from "../domain/result.ts";
import { visibleApps } from "./personal_tokens/admission.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "./contract.ts";
import { idempotency } from "./schema.ts";
import { value, type AccountDatabase } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** How an answer is kept, where not as it is, whole and always. */
export interface KeptForm<Value> {
  /** Whether it changed anything: only then is it kept. */
  isKept(answer: Value): boolean;
  /** What is stored of it, as JSON. */
  keep(answer: Value): unknown;
  recall(kept: unknown, transaction: Transaction): Value;
}

const WHOLE: KeptForm<never> = {
  isKept: () => true,
  keep: (answer) => answer,
  recall: (kept) => kept as never,
};

/**
 * Runs `operation` unless the guard's key was answered before at this endpoint. Only answers that
 * changed something are kept, so a refused request may be tried again with its key. The same key
 * with another request is `idempotency_key_reused`.
 */
export function once<Value>(
  kept_answers: KeptAnswers,
  endpoint: string,
  guard: IdempotencyGuard | null,
  transaction: Transaction,
  operation: (transaction: Transaction) => Answer<Value>,
  form: KeptForm<Value> = WHOLE,
): OnceAnswer<Value> {
  const { now_ms, personal_token, acting_app } = transaction;
  // An app's keys are its own: the holder, who may guess them, cannot use one up before the app does.
  const place = acting_app === null ? endpoint : `${endpoint} by ${acting_app}`;
  if (guard !== null) {
    const kept = kept_answers.read(place, guard.key, now_ms);
    if (kept !== null) {
      // A token limited to some apps must not be told what others did for other apps.
      const is_limited = acting_app === null && visibleApps(transaction) !== undefined;
      const may_see = !is_limited || kept.personal_token_id === personal_token?.id;
      return may_see && kept.fingerprint === guard.fingerprint
        ? accepted({
            value: form.recall(JSON.parse(kept.answer_json), transaction),
            replayed: true,
          })
        : refused({ code: "idempotency_key_reused" });
    }
  }
  const answer = operation(transaction);
  if (!answer.ok) return answer;
  if (guard !== null && form.isKept(answer.value)) {
    kept_answers.insert({
      endpoint: place,
      key: guard.key,
      fingerprint: guard.fingerprint,
      personal_token_id: personal_token?.id ?? null,
      answer_json: JSON.stringify(form.keep(answer.value)),
      created_at_ms: now_ms,
    });
  }
  return accepted({ value: answer.value, replayed: false });
}

/** The statements that every guarded request runs, over a migrated database. */
export function openKeptAnswers(database: AccountDatabase) {
  const by_key = database
    .select()
    .from(idempotency)
    .where(
      and(
        sql`${idempotency.day} in (${value("tomorrow")}, ${value("today")}, ${value("yesterday")})`,
        eq(idempotency.endpoint, value("endpoint")),
        eq(idempotency.key, value("key")),
      ),
    )
    .orderBy(desc(idempotency.day))
    .limit(1)
    .prepare();
  const insert = database
    .insert(idempotency)
    .values({
      day: value("day"),
      endpoint: value("endpoint"),
      key: value("key"),
      fingerprint: value("fingerprint"),
      personal_token_id: value("personal_token_id"),
      answer_json: value("answer_json"),
      created_at_ms: value("created_at_ms"),
    })
    .prepare();
  return {
    /** Three look-ups by key: kept for a day at most, and a clock may have gone back over midnight. */
    read(endpoint: string, key: string, now_ms: number): KeptRow | null {
      const today = utcDayOf(now_ms);
      const around = { yesterday: today - 1, today, tomorrow: today + 1 };
      const kept = by_key.get({ ...around, endpoint, key });
      return kept !== undefined && kept.created_at_ms > now_ms - IDEMPOTENCY_KEEP_MS ? kept : null;
    },
    insert: (row: Omit<KeptRow, "day">): void =>
      void insert.run({ ...row, day: utcDayOf(row.created_at_ms) }),
  };
}

type KeptRow = typeof idempotency.$inferSelect;

export type KeptAnswers = ReturnType<typeof openKeptAnswers>;

/**
 * Deletes the answers of days that are over and out of reach, {@link IDEMPOTENCY_CLEANUP_ROWS} at most:
 * one account may have kept very many. Reads what it deletes, and one row more.
 * @returns when to call again, in milliseconds since the epoch; null where nothing is kept.
 */
export function deleteKeptAnswers(database: AccountDatabase, now_ms: number): number | null {
  const last_day = utcDayOf(now_ms - IDEMPOTENCY_KEEP_MS) - 1;
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
