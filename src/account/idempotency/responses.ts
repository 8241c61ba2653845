/**
 * The stored responses of creations, batches and operators' actions: one row for each key, kept for
 * `IDEMPOTENCY_KEEP_MS`. The row's key begins with the UTC day, so that the alarm finds old rows without an index,
 * which would cost one more written row for each key.
 */
import { and, asc, desc, sql } from "drizzle-orm";
import { DAY_MS, utcDayOf } from "../../domain/calendar.ts";
import {
  IDEMPOTENCY_CLEANUP_ROWS,
  IDEMPOTENCY_KEEP_MS,
  CLOCK_SKEW_MS,
} from "../../domain/limits.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "../contract.ts";
import { atMost, matches, value, values } from "../sql/parameters.ts";
import { idempotencyKeys } from "../sql/schema.ts";
import { query, type AccountDatabase } from "../sql/query.ts";
import type { Transaction } from "../transaction.ts";
import { keyedRequest, once, type FirstRequest, type KeyedRequest } from "./once.ts";

/** How a response is stored. */
export interface ResponseForm<Value> {
  /** Whether the request changed anything. Only then its response is stored. */
  changed(response: Value): boolean;
  /** What is stored, as JSON. */
  store(response: Value): unknown;
  restore(stored: unknown, transaction: Transaction): Value;
}

/** Always stored, unchanged. */
export const WHOLE: ResponseForm<never> = {
  changed: () => true,
  store: (response) => response,
  restore: (stored) => stored as never,
};

const { day, caller, endpoint, key } = idempotencyKeys;

// A key that was used again after 24 hours may have two rows; the caller knows the response of the newest one.
const rows_of_key = query((database) =>
  database
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        sql`${day} in (${value("day")} - 1, ${value("day")})`,
        matches(caller),
        matches(endpoint),
        matches(key),
      ),
    )
    .orderBy(desc(day)),
);
const insert = query((database) =>
  database
    .insert(idempotencyKeys)
    .values(
      values("day", "caller", "endpoint", "key", "fingerprint", "response_json", "created_at_ms"),
    ),
);
const oldest_day = query((database) =>
  database.select({ day }).from(idempotencyKeys).orderBy(asc(day)).limit(atMost(1)),
);

export class Responses {
  readonly #database: AccountDatabase;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** Runs `operation` once for each caller, endpoint and key. */
  once<Value>(
    transaction: Transaction,
    guard: IdempotencyGuard | null,
    { endpoint, form }: { readonly endpoint: string; readonly form: ResponseForm<Value> },
    operation: () => Answer<Value>,
  ): OnceAnswer<Value> {
    const keyed = keyedRequest(transaction, guard);
    const first = keyed === null ? null : this.#find(transaction, keyed, endpoint, form);
    return once(keyed, first, () => {
      const answer = operation();
      if (keyed !== null && answer.ok && form.changed(answer.value)) {
        const response_json = JSON.stringify(form.store(answer.value));
        this.#insert(transaction, keyed, endpoint, response_json);
      }
      return answer;
    });
  }

  #find<Value>(
    transaction: Transaction,
    { caller, key }: KeyedRequest,
    endpoint: string,
    form: ResponseForm<Value>,
  ): FirstRequest<Value> | null {
    const at_ms = entryTime(transaction);
    const row = rows_of_key(this.#database)
      .all({ day: utcDayOf(at_ms), caller, endpoint, key })
      .find((it) => it.created_at_ms > at_ms - IDEMPOTENCY_KEEP_MS);
    if (row === undefined) return null;
    const { fingerprint, response_json } = row;
    return {
      fingerprint,
      response: () => form.restore(JSON.parse(response_json), transaction),
    };
  }

  #insert(
    transaction: Transaction,
    { caller, key, fingerprint }: KeyedRequest,
    endpoint: string,
    response_json: string,
  ): void {
    const created_at_ms = entryTime(transaction);
    const day = utcDayOf(created_at_ms);
    const row = { day, caller, endpoint, key, fingerprint, response_json };
    insert(this.#database).run({ ...row, created_at_ms });
  }

  /**
   * Deletes a portion of the rows that no retry can use any more. It sets no alarm for the other rows, because that
   * would cost a written row: an alarm of the account's next activity deletes them.
   * @returns `now_ms` if more can be deleted; null if not.
   */
  deleteOld(now_ms: number): number | null {
    const oldest = this.#oldestDay();
    if (oldest === null || now_ms < deletableAt(oldest)) return null;
    this.#database.run(sql`delete from idempotency_keys where (day, caller, endpoint, key) in (
      select day, caller, endpoint, key from idempotency_keys where day = ${oldest}
      limit ${IDEMPOTENCY_CLEANUP_ROWS})`);
    const next = this.#oldestDay();
    return next === null || now_ms < deletableAt(next) ? null : now_ms;
  }

  #oldestDay(): number | null {
    return oldest_day(this.#database).get()?.day ?? null;
  }
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
