/**
 * Which events an account's ledger has for the webhooks of apps. An event depends only on its entry and on its job, so a
 * replay gives the same events. Pure; see docs/webhooks.md.
 */
import type { EntryKind } from "./ledger.ts";
import { endedEarly, type JobFailure, type JobStatus } from "./job.ts";
import type { SubscribableEvent } from "./webhook.ts";

/** An entry, as far as its events depend on it. */
interface EventEntry {
  readonly kind: EntryKind;
  readonly amount: number;
}

/** The job of an entry, as it is now. */
interface EventJob {
  readonly status: JobStatus;
  readonly failure: JobFailure | null;
}

/**
 * The role of an entry in the life of its job. `earlier_end`: the job ended with it, and a later entry completed the job
 * late; only an expired job can be completed late.
 */
export type JobStage = "created" | "end" | "earlier_end" | "between";

/**
 * The event of an entry about the account's credits, which every app with the account open receives; null: none. Only an app
 * that could use a lot learns that it expired.
 */
export function creditEvent({ kind, amount }: EventEntry): SubscribableEvent | null {
  switch (kind) {
    case "grant":
    case "job_refund":
    case "recurring":
      return "credits.granted";
    case "adjustment":
      return amount > 0 ? "credits.granted" : null;
    case "purchase":
      return "purchase.completed";
    case "purchase_refund":
      return "purchase.refunded";
    case "expire":
      return "credits.expired";
    case "open":
    case "reserve":
    case "settle":
    case "refund":
    case "plan":
    case "suspend":
    case "restore":
    case "debt":
    case "rollover":
    case "recovery":
      return null;
  }
}

/** The event of a job's entry, which the job's own app receives; null: none. */
export function jobEvent(stage: JobStage, { status, failure }: EventJob): SubscribableEvent | null {
  switch (stage) {
    case "created":
      return "job.created";
    case "between":
      return null;
    case "earlier_end":
      return "job.expired";
    case "end":
      if (status === "completed") return "job.completed";
      return endedEarly({ failure }) ? "job.expired" : "job.failed";
  }
}

/** The credits that an app could spend before and after an entry. */
interface Spendable {
  readonly before: number;
  readonly after: number;
}

/**
 * The lowest threshold that an entry crossed downwards; null: none. A threshold is crossed again only from
 * above it, so no state has to be stored between entries.
 */
export function crossedThreshold(
  { before, after }: Spendable,
  thresholds: readonly number[],
): number | null {
  const crossed = thresholds.filter((it) => before > it && after <= it);
  return crossed.length === 0 ? null : Math.min(...crossed);
}
