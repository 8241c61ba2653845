/**
 * A retried request gets the first answer again. Where that answer is kept is the keeper's: in a row of
 * its own (`kept_answers.ts`), or in the ledger line that the request wrote anyway (`kept_lines.ts`).
 */
import { IDEMPOTENCY_FINGERPRINT_LENGTH } from "../../domain/limits.ts";
import { accepted, refused } from "../../domain/result.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "../contract.ts";
import { actingToken, visibleApps } from "../caller.ts";
import type { Transaction } from "../transaction.ts";

/** A request under a key: what it is found by again, what it is, and who asks. */
export interface KeyedRequest extends IdempotencyGuard {
  /** Among which keys its own is: the endpoint's, and where an app acts the app's there. */
  readonly place: string;
  /** The personal access token that asks; null: none. */
  readonly personal_token_id: string | null;
}

/** What is known of a request that was answered under a key. */
export interface Kept<Value> {
  readonly fingerprint: string;
  readonly personal_token_id: string | null;
  /** Its first answer. */
  readonly recall: () => Value;
}

/** Where the answers of some endpoints are kept, for `IDEMPOTENCY_KEEP_MS`. */
export interface Keeper<Value> {
  /** The latest request of the place that had the key; null where none is kept. */
  find(asked: KeyedRequest, transaction: Transaction): Kept<Value> | null;
  /** Keeps an answer that was just made, in its transaction. */
  keep(asked: KeyedRequest, answer: Value, transaction: Transaction): void;
}

/**
 * Runs `operation` unless the guard's key was answered before at this endpoint. Only answers that
 * changed something are kept, so a refused request may be tried again with its key. The same key
 * with another request is `idempotency_key_reused`.
 */
export function once<Value>(
  keeper: Keeper<Value>,
  endpoint: string,
  guard: IdempotencyGuard | null,
  transaction: Transaction,
  operation: (transaction: Transaction, asked: KeyedRequest | null) => Answer<Value>,
): OnceAnswer<Value> {
  const asked = guard === null ? null : askedBy(transaction, endpoint, guard);
  const kept = asked === null ? null : keeper.find(asked, transaction);
  if (asked !== null && kept !== null) return again(kept, asked, transaction);
  const answer = operation(transaction, asked);
  if (!answer.ok) return answer;
  if (asked !== null) keeper.keep(asked, answer.value, transaction);
  return accepted({ value: answer.value, replayed: false });
}

function askedBy(
  transaction: Transaction,
  endpoint: string,
  guard: IdempotencyGuard,
): KeyedRequest {
  // An app's keys are its own: the holder, who may guess them, cannot use one up before the app does.
  const { caller } = transaction;
  const place = caller.kind === "app" ? `${endpoint} by ${caller.app_slug}` : endpoint;
  return { ...guard, place, personal_token_id: actingToken(transaction)?.id ?? null };
}

function again<Value>(
  kept: Kept<Value>,
  asked: KeyedRequest,
  transaction: Transaction,
): OnceAnswer<Value> {
  // A token limited to some apps must not be told what others did for other apps.
  const is_limited = transaction.caller.kind !== "app" && visibleApps(transaction) !== undefined;
  const may_see = !is_limited || kept.personal_token_id === asked.personal_token_id;
  const is_same = keptPart(kept.fingerprint) === keptPart(asked.fingerprint);
  return may_see && is_same
    ? accepted({ value: kept.recall(), replayed: true })
    : refused({ code: "idempotency_key_reused" });
}

/** As much of a fingerprint as every keeper keeps. */
export function keptPart(fingerprint: string): string {
  return fingerprint.slice(0, IDEMPOTENCY_FINGERPRINT_LENGTH);
}
