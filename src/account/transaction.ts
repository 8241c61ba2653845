/** One synchronous transaction of the account's object: all of an operation's reads and writes, or nothing. */
import type { AccessEvent } from "../domain/access_event.ts";
import type { Lot } from "../domain/lots.ts";
import type { ChargeFailure, TopUpOffReason } from "../domain/top_up.ts";
import { SERVICE } from "./contract.ts";
import type { AdmittedCaller } from "./caller.ts";
import type { ApprovalStore } from "./sql/approval_store.ts";
import type { AllowanceStore } from "./sql/allowance_store.ts";
import type { AccountDatabase } from "./sql/database.ts";
import type { FamilyStore } from "./sql/family_store.ts";
import type { JobRow } from "./sql/schema.ts";
import type { PurchaseStore } from "./sql/purchase_store.ts";
import type { Store } from "./sql/store.ts";
import type { Alarm } from "./sync/alarm.ts";

/** An operation announces here what others follow after the commit; `after_commit.ts` says who and in which order. */
export interface Announcements {
  /** An entry was added. */
  entryAdded(now_ms: number): void;
  /** A job took a step; `has_entry`: it added one. */
  jobProgressed(job: JobRow, has_entry: boolean, now_ms: number): void;
  /** A request for this app gets 402. */
  requestRefused(app_slug: string, now_ms: number): void;
  /** What is left of a lot expires in a week or in a day. */
  creditsExpiring(lot: Lot, now_ms: number): void;
  /** A charge of automatic top-up failed, or it was switched off. */
  topUpChanged(event: TopUpEvent, now_ms: number): void;
  /** Something changed about what may act on the account. */
  accessChanged(event: AccessEvent, now_ms: number): void;
  /** An allowance or a token family ended. */
  credentialsEnded(): void;
  /** Streams end that their credentials do not end. */
  streamsEnded(which: StreamsToClose): void;
}

/** News of automatic top-up, for the webhooks of apps. */
export type TopUpEvent =
  | {
      readonly type: "topup.failed";
      readonly reason: ChargeFailure;
      readonly attempt: number;
    }
  | { readonly type: "topup.disabled"; readonly reason: TopUpOffReason };

/** Streams to close: those of some sessions, or all, because the holder may not use the account any more. */
export type StreamsToClose =
  | { readonly reason: "session_ended"; readonly session_ids: readonly string[] | "all" }
  | { readonly reason: "suspended" | "account_deleted" };

/** The parts that all transactions of one object share. */
export interface TransactionParts {
  readonly storage: Pick<DurableObjectStorage, "transactionSync">;
  /** How many bytes the object's storage holds, or held within the last second. */
  readonly size_bytes: () => number;
  /** From this size on, the account is full. */
  readonly storage_bytes: number;
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly allowances: AllowanceStore;
  readonly families: FamilyStore;
  readonly approvals: ApprovalStore;
  readonly purchases: PurchaseStore;
  readonly alarm: Alarm;
  readonly announce: Announcements;
  readonly identity_id: string;
}

/** The parts that an operation works with. */
export interface Transaction extends Omit<TransactionParts, "storage"> {
  readonly caller: AdmittedCaller;
  readonly now_ms: number;
  /** Runs a part of the transaction; if it throws, only this part is rolled back. @throws what `work` throws. */
  readonly part: <Value>(work: () => Value) => Value;
}

/** How long a size is used again: each reading costs as much as a statement, and no second fills the storage's margin. */
const SIZE_USED_MS = 1_000;

/** Reads the size of an object's storage, at most once a second. */
export function sizeReader(sql: Pick<SqlStorage, "databaseSize">): () => number {
  let bytes = 0;
  let read_at_ms = Number.NEGATIVE_INFINITY;
  return () => {
    const now_ms = Date.now();
    // The clock may go back.
    if (Math.abs(now_ms - read_at_ms) >= SIZE_USED_MS) {
      bytes = sql.databaseSize;
      read_at_ms = now_ms;
    }
    return bytes;
  };
}

/** Whether the account may store no new job. The rest of the storage is for the started jobs: they can always end. */
export function isFull({ size_bytes, storage_bytes }: Transaction): boolean {
  return size_bytes() >= storage_bytes;
}

/**
 * Runs `work` for Passbook itself, without an admitted caller: see `admission.ts` for callers.
 * @throws what `work` throws; then everything is rolled back, including the alarm and the store's memory.
 */
export function transact<Value>(
  { storage, ...parts }: TransactionParts,
  work: (transaction: Transaction) => Value,
): Value {
  const { alarm, store } = parts;
  const part = <Part>(inner: () => Part): Part =>
    store.within(() => alarm.within(() => storage.transactionSync(inner)));
  const now_ms = Date.now();
  return part(() => work({ ...parts, caller: SERVICE, now_ms, part }));
}
