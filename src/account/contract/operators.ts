/** Operators' actions, and the debts of deleted accounts. */
import type { ArchiveHead } from "../../domain/archive_segment.ts";
import type { Price } from "../../domain/liability.ts";
import type { Lot, Terms } from "../../domain/lots.ts";
import type { PlanRules } from "../../domain/plans.ts";
import type { AppRow, EntryRow, JobRow } from "../sql/schema.ts";
import type { ListedAllowance } from "./allowances.ts";
import type { TopUpRecord, TopUpView, Wallet } from "./wallet.ts";

export interface AdjustCreditsRequest {
  /** Credits to give, or to take if negative; not 0. */
  readonly amount: number;
  /** Of given credits; left out: they never expire, and all apps may use them. */
  readonly terms?: Terms | undefined;
  /** What was paid for bought ones; left out: unknown. */
  readonly price?: Price | undefined;
  /** Whether the balance may go below zero. */
  readonly allow_negative?: boolean | undefined;
  /** The reason, for the holder. */
  readonly note: string;
}

export interface AdjustedCredits {
  readonly entry: EntryRow;
  readonly credits: number;
}

export interface RefundJobRequest {
  readonly job_id: string;
  /** Credits to give back. 0, which the caller asks for where nothing was left, is refused. */
  readonly amount: number;
  /** The reason, for the holder. */
  readonly note: string;
}

export interface RefundedJob extends AdjustedCredits {
  readonly job: JobRow;
}

export interface ChangePlanRequest {
  /** The plan's slug. */
  readonly plan: string;
  /** The reason, for the holder. */
  readonly note: string;
  /** The rules of the plan; left out: nobody saved it, and it is only a name. */
  readonly rules?: PlanRules | undefined;
  /** Where its periods are counted from; left out: now. */
  readonly anchor_ms?: number | undefined;
}

export interface SuspendRequest {
  /** Why, as the holder reads it. */
  readonly public_reason?: string | undefined;
}

/** The newest rules of a plan, for the accounts that have it. */
export interface UpdatePlanRequest {
  readonly plan: string;
  readonly rules: PlanRules;
}

export interface ChangedPlan {
  readonly account: Wallet["account"];
  readonly previous_plan?: string;
}

/** An account in full, as operators see it. */
export interface InspectedAccount {
  readonly account: Wallet["account"] & {
    readonly created_at_ms: number;
    /** Null: the account is not suspended. */
    readonly suspended_at_ms: number | null;
    /** Why, as its holder reads it; null: the operator gave no reason. */
    readonly suspended_public_reason: string | null;
  };
  readonly held: number;
  /** The number of the newest entry. */
  readonly line: number;
  readonly apps: readonly AppRow[];
  readonly allowances: readonly ListedAllowance[];
  /** Credits with terms, in the order of use. */
  readonly lots: readonly Lot[];
  /** Automatic top-up; null: it was never set. */
  readonly topup: TopUpView | null;
  /** The newest automatic top-ups. */
  readonly top_ups: readonly TopUpRecord[];
  /** The newest ones, at most a page. */
  readonly started_jobs: readonly JobRow[];
  /** The apps in which its newest jobs of the last 24 hours cost or hold most. An object of an earlier release leaves it out. */
  readonly spending?: readonly SpendingApp[];
}

/** What jobs of an app cost so far, without what was given back, and what started ones hold. */
export interface SpendingApp {
  readonly app_slug: string;
  readonly spent: number;
  readonly held: number;
  readonly jobs: number;
}

/** What the archive has of an account. */
export interface ArchivedAccount {
  readonly account_id: string;
  /** The number of the newest entry. */
  readonly line: number;
  /** The newest segment; null before the first one. */
  readonly head: ArchiveHead | null;
}

/** An account compared with its own sums and with its copies. */
export interface Comparison {
  /** Null: there is no such account. */
  readonly account_id: string | null;
  /** The newest entry. */
  readonly line: number;
  /** Its newest purchases of the last two weeks, to be compared with the payment service. */
  readonly payments: readonly { readonly payment_intent_id: string; readonly credits: number }[];
  readonly differences: readonly {
    readonly where: "account" | "archive" | "read_model";
    readonly what:
      | "balance"
      | "held"
      | "purchases"
      | "entry"
      | "segment_missing"
      | "segment_changed";
    /** The number that the account's rows give: credits, or the number of an entry. */
    readonly expected: number | null;
    readonly found: number | null;
  }[];
}

/** A debt of a deleted account. Each debt keeps its id. */
export interface Debt {
  readonly id: string;
  readonly credits: number;
}

/**
 * The credits that an account owes, and the ids of the debts that it took over. `may_change`: refunds and disputes may still
 * change it.
 */
export interface Owed {
  readonly credits: number;
  readonly debt_ids: readonly string[];
  readonly may_change: boolean;
}

/** The debt of a deleted account after a change; null: the account is not deleted, so its own entry has the change. */
export type OwedNow = { readonly credits: number } | null;

/**
 * The result of a repair of the read model. After `sent`, a large account may still have entries that its alarm
 * sends.
 */
export type Repair = "sent" | "nothing_missing" | "unreachable";
