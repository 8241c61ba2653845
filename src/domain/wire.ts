/** Values and views that several rooms share with the API. Pure. */
import type { JobFailure, JobStatus } from "./job.ts";
import { startedBy, type StarterColumns } from "./started_by.ts";

/** A job as stored, for {@link jobView}. */
interface StoredJobFields extends StarterColumns {
  readonly id: string;
  readonly app_slug: string | null;
  readonly action: string;
  readonly status: JobStatus;
  readonly reserved: number;
  readonly actual_cost: number;
  readonly refunded: number;
  readonly step: number;
  readonly spent: number | null;
  readonly done: number | null;
  readonly message: string | null;
  readonly failure: JobFailure | null;
  readonly failure_reason: string | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly expires_at_ms: number;
  readonly metadata_json: string | null;
}

/** A time as RFC 3339 text in UTC with milliseconds. */
export function timestamp(at_ms: number): string {
  return new Date(at_ms).toISOString();
}

/** The `Job` of the API: the spec's fields, its deadline, the reason of a failure, and what started it. */
export function jobView(row: StoredJobFields) {
  return {
    id: row.id,
    app_slug: row.app_slug,
    action: row.action,
    status: row.status,
    reserved: row.reserved,
    actual_cost: row.actual_cost,
    refunded: row.refunded,
    step: row.step,
    spent: row.spent,
    done: row.done,
    message: row.message,
    failure: row.failure,
    failure_reason: row.failure_reason,
    created_at: timestamp(row.created_at_ms),
    updated_at: timestamp(row.updated_at_ms),
    expires_at: timestamp(row.expires_at_ms),
    by: startedBy(row),
    metadata: row.metadata_json === null ? null : (JSON.parse(row.metadata_json) as object),
  };
}

/** The columns by which operators' lists of accounts are sorted, and the directions: newest or most first is `desc`. */
export const ACCOUNT_SORTS = ["created", "credits"] as const;
export type AccountSort = (typeof ACCOUNT_SORTS)[number];
export const SORT_ORDERS = ["desc", "asc"] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/** How jobs of all accounts can be sorted: the newest first, or those with the highest cost first. */
export const JOB_SORTS = ["created", "cost"] as const;
export type JobSort = (typeof JOB_SORTS)[number];

/** An account is suspended until an operator restores it. */
export const ACCOUNT_STATES = ["active", "suspended"] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** The checks of `/readyz`, by the names in its response. */
export const READINESS_CHECKS = [
  "directory",
  "read_model",
  "archive",
  "codes",
  "keys",
  "account",
] as const;
export type ReadinessCheck = (typeof READINESS_CHECKS)[number];

/** True: the check succeeded. */
export type Readiness = Readonly<Record<ReadinessCheck, boolean>>;

/**
 * The checks whose failure is only a warning, because sign-in, wallets and jobs do not need those stores. KV holds a copy
 * of what a device login shows, the read model is for operators, and the archive is a second copy of the ledger.
 */
const WARNINGS: readonly ReadinessCheck[] = ["codes", "read_model", "archive"];

/** Whether the service can do its work. */
export function isReady(readiness: Readiness): boolean {
  return READINESS_CHECKS.every((check) => readiness[check] || WARNINGS.includes(check));
}

/** The header of `/readyz` that names the platform's id of the release that responds. */
export const RELEASE_HEADER = "Passbook-Release";
