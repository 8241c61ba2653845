/** What a holder reads of the past: entries, the overview, and monthly statements. */
import type { AppSpending, BalancePoint } from "../../domain/history.ts";
import type { EntryKind } from "../../domain/ledger.ts";
import type { AppRow, EntryRow, JobRow } from "../sql/schema.ts";
import type { Wallet } from "./wallet.ts";

export interface ListEntriesRequest {
  /** Only entries before this number. */
  readonly before_line?: number | undefined;
  readonly app_slug?: string | undefined;
  readonly job_id?: string | undefined;
  readonly kind?: EntryKind | undefined;
  /** Entries from this moment on, and before `to_ms`. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly limit: number;
}

export interface OverviewRequest {
  /** Charts begin here, in milliseconds since the epoch. */
  readonly from_ms: number;
}

/** What the account page shows first. */
export interface Overview {
  readonly account: Wallet["account"] & { readonly created_at_ms: number };
  /** The number of the newest entry, after which a stream of events continues. */
  readonly line: number;
  /** Credits held for started jobs, and the number of these jobs. */
  readonly reserved: number;
  readonly open_jobs: number;
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

/** A page of the entries from `from_ms` on, before `to_ms`. */
export interface StatementRequest {
  readonly from_ms: number;
  readonly to_ms: number;
  /** Where the page before ended; null for the first page. */
  readonly before_line: number | null;
  readonly limit: number;
}

export interface Statement {
  readonly opened_at_ms: number;
  /** The balance before the time and at its end, in credits. */
  readonly opening: number;
  readonly closing: number;
  /** Newest first. */
  readonly rows: readonly EntryRow[];
  /** The jobs of these entries, as they are now. */
  readonly jobs: readonly JobRow[];
  readonly more: boolean;
}
