/** Restoring an account. */
import type { ArchiveHead } from "../../domain/archive_segment.ts";

/** An account after an entry. */
export interface AccountThen {
  /** The number of the entry. */
  readonly line: number;
  readonly at_ms: number;
  readonly credits: number;
  readonly held: number;
  readonly started_jobs: number;
}

/**
 * What a restore undoes and does not settle by itself. `job_gone`: the job was created after the time. `job_open_again`: the
 * job ended after the time, and is started again. `credits_undone`: an operator gave or took credits, also of a job.
 * `plan_undone`: an operator changed the plan.
 */
export interface RecoveryDecision {
  readonly what: "job_gone" | "job_open_again" | "credits_undone" | "plan_undone";
  /** The number of the undone entry. */
  readonly line: number;
  readonly job_id: string | null;
  /** What the entry changed of the balance. */
  readonly amount: number;
  readonly note: string | null;
}

/** The difference that a restore makes. */
export interface RecoveryPlan {
  readonly now: AccountThen;
  /** The account at the time. */
  readonly target: AccountThen;
  readonly undone_entries: number;
  /** The credits of purchases, refunds and debts after the time. They are real, so they are booked again. */
  readonly kept_credits: number;
  /** The oldest ones, at most {@link DECISIONS_LISTED}. */
  readonly decisions: readonly RecoveryDecision[];
  readonly decisions_total: number;
}

/** A restored account. */
export interface Recovered {
  /** The account after the restore. */
  readonly now: AccountThen;
  /** Requests that arrived while the object restarted, and were undone too: their entries. */
  readonly lost: readonly Pick<RecoveryDecision, "line" | "job_id" | "amount">[];
}

/** What the read model has of an account. */
export interface KnownAccount {
  readonly id: string;
  readonly identity_id: string;
  /** The entry that the following belongs to. */
  readonly line: number;
  readonly credits: number;
  readonly reserved: number;
  /** The bought part of both. */
  readonly bought: number;
  /** JSON of the `Worth` of that part. */
  readonly paid_json: string | null;
  readonly updated_at_ms: number;
  readonly suspended_at_ms: number | null;
}

/** An account whose storage was lost, and its newest segment, as the read model knows them. */
export interface LostAccount {
  readonly account: KnownAccount;
  readonly head: ArchiveHead;
}

/** An account that was restored from the archive. */
export interface RestoredAccount {
  readonly now: AccountThen;
  /** Entries that the read model had, and the archive has not. Their numbers are not used again. */
  readonly lost_entries: number;
}
