/**
 * The stored responses of creations, batches and operators' actions: one row for each key, kept for
 * `IDEMPOTENCY_KEEP_MS`. The row's key begins with the UTC day, so that the alarm finds old rows without an index,
 * which would cost one more written row for each key.
 */
import { DAY_MS, utcDayOf } from "../../domain/calendar.ts";
import {
  IDEMPOTENCY_CLEANUP_ROWS,
  IDEMPOTENCY_KEEP_MS,
  CLOCK_SKEW_MS,
} from "../../domain/limits.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "../contract.ts";
import type { AccountDatabase } from "../sql/database.ts";
import type { Transaction } from "../transaction.ts";
import { keyedRequest, once, type FirstRequest, type KeyedRequest } from "./once.ts";

/** How a response is stored. */
export interface ResponseForm<Value> {
  /** Whether the request changed anything. Only then its response is stored. */
  changed(response: Value): boolean;
  /** The stored response, as JSON. */
  store(response: Value): unknown;
  restore(stored: unknown, transaction: Transaction): Value;
}

/** Always stored, unchanged. */
export const WHOLE: ResponseForm<never> = {
  changed: () => true,
  store: (response) => response,
  restore: (stored) => stored as never,
};

/** Runs `operation` once for each caller, endpoint and key. */
export function onceStored<Value>(
  transaction: Transaction,
  guard: IdempotencyGuard | null,
  { endpoint, form }: { readonly endpoint: string; readonly form: ResponseForm<Value> },
  operation: () => Answer<Value>,
): OnceAnswer<Value> {
  const keyed = keyedRequest(transaction, guard);
  const first = keyed === null ? null : find(transaction, keyed, endpoint, form);
  return once(keyed, first, () => {
    const answer = operation();
    if (keyed !== null && answer.ok && form.changed(answer.value)) {
      const { caller, key, fingerprint } = keyed;
      const created_at_ms = entryTime(transaction);
      const day = utcDayOf(created_at_ms);
      const response_json = JSON.stringify(form.store(answer.value));
      const row = { day, caller, endpoint, key, fingerprint, response_json, created_at_ms };
      transaction.database.insert("idempotency_keys", row);
    }
    return answer;
  });
}

function find<Value>(
  transaction: Transaction,
  { caller, key }: KeyedRequest,
  endpoint: string,
  form: ResponseForm<Value>,
): FirstRequest<Value> | null {
  const at_ms = entryTime(transaction);
  // A key that was used again after 24 hours may have two rows; the caller knows the response of the newest one.
  const clauses = `where day in (?1 - 1, ?1) and caller = ?2 and endpoint = ?3 and key = ?4
    order by day desc`;
  const row = transaction.database
    .rows("idempotency_keys", clauses, utcDayOf(at_ms), caller, endpoint, key)
    .find((it) => it.created_at_ms > at_ms - IDEMPOTENCY_KEEP_MS);
  if (row === undefined) return null;
  const { fingerprint, response_json } = row;
  return { fingerprint, response: () => form.restore(JSON.parse(response_json), transaction) };
}

/**
 * Deletes a portion of the rows that no retry can use any more. It sets no alarm for the other rows, because that
 * would cost a written row: an alarm of the account's next activity deletes them.
 * @returns `now_ms` if more can be deleted; null if not.
 */
export function deleteOldResponses(database: AccountDatabase, now_ms: number): number | null {
  const oldest = oldestDay(database);
  if (oldest === null || now_ms < deletableAt(oldest)) return null;
  database.run(
    `delete from idempotency_keys where (day, caller, endpoint, key) in (
       select day, caller, endpoint, key from idempotency_keys where day = ?
       limit ${IDEMPOTENCY_CLEANUP_ROWS})`,
    oldest,
  );
  const next = oldestDay(database);
  return next === null || now_ms < deletableAt(next) ? null : now_ms;
}

function oldestDay(database: AccountDatabase): number | null {
  const query = "select day from idempotency_keys order by day limit 1";
  return database.first<{ readonly day: number }>(query)?.day ?? null;
}

/**
 * The time of an entry that is added now. It never goes back, so a key that was used while the clock was ahead is found
 * when the clock is right again.
 */
function entryTime({ store, now_ms }: Transaction): number {
  return Math.max(now_ms, store.readNewestEntry()?.at_ms ?? now_ms);
}

/** When all rows of a day are too old, even if the clock is somewhat behind. In milliseconds. */
function deletableAt(of_day: number): number {
  return (of_day + 1) * DAY_MS + IDEMPOTENCY_KEEP_MS + CLOCK_SKEW_MS;
}
