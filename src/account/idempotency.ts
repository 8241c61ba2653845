/** Kept answers: a retried request gets the first answer again, written in the same transaction. */
import { and, eq, min, sql } from "drizzle-orm";
import {
  IDEMPOTENCY_CLEANUP_INTERVAL_MS,
  IDEMPOTENCY_CLEANUP_ROWS,
  IDEMPOTENCY_KEEP_MS,
} from "../domain/limits.ts";
import { accepted, refused } from "../domain/result.ts";
import { visibleApps } from "./personal_tokens/admission.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "./contract.ts";
import type { Transaction } from "./ledger.ts";
import { idempotency } from "./schema.ts";
import type { AccountDatabase } from "./store.ts";

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
  const { now_ms, token } = transaction;
  if (guard !== null) {
    const kept = readKept(database, endpoint, guard.key, now_ms);
    if (kept !== null) {
      // A token limited to some apps must not be told what others did for other apps.
      const may_see = visibleApps(transaction) === undefined || kept.token_id === token?.id;
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
      .values({ endpoint, key: guard.key, ...row })
      .onConflictDoUpdate({ target: [idempotency.endpoint, idempotency.key], set: row })
      .run();
  }
  return accepted({ value: answer.value, replayed: false });
}

function readKept(database: AccountDatabase, endpoint: string, key: string, now_ms: number) {
  const kept = database
    .select()
    .from(idempotency)
    .where(and(eq(idempotency.endpoint, endpoint), eq(idempotency.key, key)))
    .get();
  return kept !== undefined && kept.created_at_ms > now_ms - IDEMPOTENCY_KEEP_MS ? kept : null;
}

/**
 * Deletes answers kept long enough, a bounded number at a time: one account may have kept very many.
 * @returns when to call again, in milliseconds since the epoch; null where nothing is kept.
 */
export function deleteKeptAnswers(database: AccountDatabase, now_ms: number): number | null {
  database.run(sql`
    delete from idempotency where (endpoint, key) in (
      select endpoint, key from idempotency
      where created_at_ms <= ${now_ms - IDEMPOTENCY_KEEP_MS} limit ${IDEMPOTENCY_CLEANUP_ROWS})`);
  const oldest = database
    .select({ at_ms: min(idempotency.created_at_ms) })
    .from(idempotency)
    .get();
  if (oldest === undefined || oldest.at_ms === null) return null;
  const due_at_ms = oldest.at_ms + IDEMPOTENCY_KEEP_MS;
  // More are due already: the rest of them follows at once.
  if (due_at_ms <= now_ms) return now_ms;
  return Math.max(due_at_ms, now_ms + IDEMPOTENCY_CLEANUP_INTERVAL_MS);
}
