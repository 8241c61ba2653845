/** The holder's view of the past: entries, the overview, and monthly statements. */
import type { AppSpending, BalancePoint } from "../../domain/history.ts";
import type { EntryKind } from "../../domain/ledger.ts";
import type { Lot } from "../../domain/lots.ts";
import type { StatementGroup } from "../../domain/statement.ts";
import type { StartedBy } from "../../domain/started_by.ts";
import type { AppRow, EntryRow, JobRow } from "../sql/schema.ts";
import type { Wallet } from "./wallet.ts";

export interface ListEntriesRequest {
  /** Only entries before this number. */
  readonly before_line?: number | undefined;
  readonly app_slug?: string | undefined;
  readonly job_id?: string | undefined;
  readonly kind?: EntryKind | undefined;
  /** As for jobs: only entries of jobs that it started. */
  readonly by?: string | undefined;
  /** Entries from this moment on, and before `to_ms`. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly limit: number;
}

/** `by`: what started the job of the entry; null: the entry has no job. */
export type ListedEntry = EntryRow & { readonly by: StartedBy | null };

export interface OverviewRequest {
  /** Charts begin here, in milliseconds since the epoch. */
  readonly from_ms: number;
}

/** The summary at the top of the account page. */
export interface Overview {
  readonly account: Wallet["account"] & { readonly created_at_ms: number };
  /** The number of the newest entry, after which a stream of events continues. */
  readonly line: number;
  /** Credits held for started jobs, and the number of these jobs. */
  readonly held: number;
  readonly open_jobs: number;
  /** Credits with terms, in the order of use. */
  readonly lots: readonly Lot[];
  /** The name of the plan; null: nobody saved it. And its next credits; null: it brings none. */
  readonly plan_name: string | null;
  readonly next_credits: { readonly credits: number; readonly at_ms: number } | null;
  readonly apps: readonly AppRow[];
  /** As in {@link Wallet}. */
  readonly takes_starters: boolean;
  /** The entry that took the balance below zero; null if the balance is not below zero. */
  readonly debt_cause: Pick<EntryRow, "kind" | "note"> | null;
  readonly recent_jobs: readonly JobRow[];
  /** Where the charts begin: as requested, or later for a new account. */
  readonly from_ms: number;
  /** Oldest first. */
  readonly balance: readonly BalancePoint[];
  /** False if there are too many entries to show the whole time. */
  readonly balance_is_complete: boolean;
  readonly spending: readonly AppSpending[];
}

/** A page of the listed entries from `from_ms` on, before `to_ms`. */
export interface StatementRequest {
  readonly from_ms: number;
  readonly to_ms: number;
  /** Where the page before ended; null for the first page. */
  readonly before_line: number | null;
  readonly limit: number;
}

export interface Statement {
  /** Newest first. */
  readonly rows: readonly EntryRow[];
  /** The jobs of these entries, as they are now. */
  readonly jobs: readonly JobRow[];
  /** The `before_line` of the next page; null on the last one. A page may be short and still have a next one. */
  readonly next: number | null;
}

/** A page of the rows from `from_ms` on, before `to_ms`; see `domain/statement.ts`. */
export interface StatementRowsRequest {
  readonly from_ms: number;
  readonly to_ms: number;
  /** Only rows of this app and of this group; null: all. */
  readonly app_slug: string | null;
  readonly group: StatementGroup | null;
  /** Only rows of jobs that this app started, or this allowance or one that was exchanged from it; null: all. */
  readonly by: string | null;
  /** Where the page before ended; null for the first page. */
  readonly before_line: number | null;
  readonly limit: number;
}

/**
 * `change`: of the balance and the held credits together. It is a job's cost, or any other entry's amount. `ends_job`:
 * whether the entry ended a started job.
 */
export type CountedEntry = EntryRow & { readonly change: number; readonly ends_job: boolean };

export interface StatementRow {
  /** The sum of its entries' changes. */
  readonly change: number;
  /** The job as it is now; null for an entry without one. */
  readonly job: JobRow | null;
  /** The row's entries in the period, newest first; only a job has several. */
  readonly entries: readonly CountedEntry[];
}

/** A job and its listed entries, newest first. */
export interface JobHistory {
  readonly job: JobRow;
  readonly entries: readonly CountedEntry[];
  /** The number of the account's newest entry. */
  readonly line: number;
}

export interface StatementRows {
  readonly opened_at_ms: number;
  /** The number of the newest entry. */
  readonly line: number;
  /** The balance and the held credits before the period and at its end. */
  readonly opening: { readonly credits: number; readonly held: number };
  readonly closing: { readonly credits: number; readonly held: number };
  /** The sums of the period's matching rows below and above zero; null: too much of it is only in the archive. */
  readonly sums: { readonly spent: number; readonly added: number } | null;
  /** The account's apps, to choose from. */
  readonly apps: readonly string[];
  /** The allowances of the account that started jobs, to choose from: those that the holder approved, newest first. */
  readonly spenders: readonly { readonly id: string; readonly name: string }[];
  /** Newest first. */
  readonly rows: readonly StatementRow[];
  /** The `before_line` of the next page; null on the last one. */
  readonly next: number | null;
}
