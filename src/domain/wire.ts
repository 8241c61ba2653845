/** Values and views that several rooms share with the API. Pure. */
import type { TopUpPlan, TopUpState } from "./top_up.ts";
import type { EntryKind } from "./ledger.ts";
import type { JobFailure, JobStatus } from "./job.ts";
import { baseTerms, type Lot, type Part, type Terms } from "./lots.ts";
import { FROM_NOT_SHOWN, startedBy, type StarterColumns } from "./started_by.ts";

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
  readonly from_json: string | null;
}

/** A time as RFC 3339 text in UTC with milliseconds. */
export function timestamp(at_ms: number): string {
  return new Date(at_ms).toISOString();
}

/** The `Job` of the API: the spec's fields, its deadline, the reason of a failure, what started it, and `from` if it is shown. */
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
    ...(row.from_json === FROM_NOT_SHOWN ? {} : { from: partsOf(row) }),
    metadata: row.metadata_json === null ? null : (JSON.parse(row.metadata_json) as object),
  };
}

type PartColumns = Pick<StoredJobFields, "status" | "reserved" | "actual_cost" | "from_json">;

/** What a job holds, or what it cost, before refunds of its cost. Most jobs take given credits of the base only: null. */
export function partsOf({
  status,
  reserved,
  actual_cost,
  from_json,
}: PartColumns): readonly Part[] {
  if (from_json !== null) return JSON.parse(from_json) as readonly Part[];
  const credits = status === "started" ? reserved : actual_cost;
  return credits === 0 ? [] : [{ lot_id: null, bought: false, credits }];
}

/** A lot of the API. Without its note for apps. */
export function lotView({ id, origin, bought, app_slugs, left, held, expires_at_ms, note }: Lot) {
  const expires_at = expires_at_ms === null ? null : timestamp(expires_at_ms);
  return { id, origin, bought, app_slugs, left, held, expires_at, note };
}

/** Kinds of entries that may bring credits with terms. */
const BRINGING: readonly EntryKind[] = ["grant", "adjustment", "purchase"];

interface BringingEntry {
  readonly kind: EntryKind;
  readonly amount: number;
  readonly lot_id: string | null;
  readonly terms_json: string | null;
}

/** The terms of an entry that brought credits; null for another entry. */
export function termsOf({ kind, amount, terms_json }: Omit<BringingEntry, "lot_id">): Terms | null {
  if (terms_json !== null) return JSON.parse(terms_json) as Terms;
  return amount > 0 && BRINGING.includes(kind) ? baseTerms(false) : null;
}

/** The lot and the terms of an entry of the API. */
export function termsView(entry: BringingEntry) {
  const terms = termsOf(entry);
  if (terms === null) return { lot_id: entry.lot_id, terms };
  const { expires_at_ms, app_slugs, bought } = terms;
  const expires_at = expires_at_ms === null ? null : timestamp(expires_at_ms);
  return { lot_id: entry.lot_id, terms: { expires_at, app_slugs, bought } };
}

/** Automatic top-up in wallets. `TopUpView` of the account's contract has more than this needs. */
export function topUpView(view: {
  readonly on: boolean;
  readonly plan: TopUpPlan;
  readonly month_spent_minor: number;
  readonly state: TopUpState;
}) {
  const { on, plan, month_spent_minor, state } = view;
  const { threshold, package_id, currency, month_limit_minor } = plan;
  const limits = { month_limit_minor, month_spent_minor };
  return { on, threshold, package: package_id, currency, ...limits, state };
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
