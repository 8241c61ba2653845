/**
 * A retried request gets the first response again. The key of a request that completes or fails a job is in
 * the job's row (`job_keys.ts`); every other key has a row of its own, with its response (`responses.ts`).
 */
import { accepted, refused } from "../../domain/result.ts";
import type { Answer, IdempotencyGuard, OnceAnswer } from "../contract.ts";
import type { AdmittedCaller } from "../caller.ts";
import type { Transaction } from "../transaction.ts";

/** A request with an idempotency key. */
export interface KeyedRequest extends IdempotencyGuard {
  /** The owner of the key: the holder, each allowance and each app have their own keys. */
  readonly caller: string;
}

/** The first request under the same key. */
export interface FirstRequest<Value> {
  readonly fingerprint: string;
  readonly response: () => Value;
}

/** Null if the request has no key. */
export function keyedRequest(
  { caller }: Transaction,
  guard: IdempotencyGuard | null,
): KeyedRequest | null {
  return guard === null ? null : { ...guard, caller: ownerOfKeys(caller) };
}

function ownerOfKeys(caller: AdmittedCaller): string {
  switch (caller.kind) {
    case "operator":
    case "service":
      return caller.kind;
    // A retry may come through another page.
    case "holder":
    case "page":
      return "holder";
    case "allowance":
      return caller.allowance.id;
    case "app":
      return `app ${caller.app_slug}`;
  }
}

/** Runs `operation`, or gives the response of the first request. Another body is `idempotency_key_reused`. */
export function once<Value>(
  keyed: KeyedRequest | null,
  first: FirstRequest<Value> | null,
  operation: () => Answer<Value>,
): OnceAnswer<Value> {
  if (first === null) {
    const answer = operation();
    return answer.ok ? accepted({ value: answer.value, replayed: false }) : answer;
  }
  return first.fingerprint === keyed?.fingerprint
    ? accepted({ value: first.response(), replayed: true })
    : refused({ code: "idempotency_key_reused" });
}
