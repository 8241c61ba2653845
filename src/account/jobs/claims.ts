/**
 * Claims on caps. A job that only its app may settle, and that expired, keeps for some days what it held of the caps of
 * its token: otherwise the token could give the same room to one job after another, and the app's late completions would
 * not fit. The balance has the credits back at once. A claim is the job's reserve, less what it cost at its expiry.
 */
import { CAP_CLAIM_MS } from "../../domain/limits.ts";
import { endedEarly, type JobStep } from "../../domain/job.ts";
import { chargePath } from "../allowances/spending.ts";
import type { JobRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";

/** Claims that end in one transaction. If more are due, the next ones end them. */
const CLAIMS_PORTION_JOBS = 200;

/** The credits that an expired job still claims of the caps of its token. */
export function claimOf({ claimed_until_ms, reserved, actual_cost }: JobRow): number {
  return claimed_until_ms === null ? 0 : reserved - actual_cost;
}

/** The credits that a job claims after this end. */
export function claimAfter(job: JobRow, step: JobStep): number {
  const may_be_late = endedEarly(step) && job.settle === "app" && job.takings_json !== null;
  return may_be_late ? job.reserved - step.actual_cost : 0;
}

/** Replaces a job's claim by one of so many credits. @returns the job's column after that. */
export function saveClaim(
  { store, now_ms }: Transaction,
  job: JobRow,
  credits: number,
): Pick<JobRow, "claimed_until_ms"> {
  if (job.claimed_until_ms !== null) store.deadlines.deleteClaim(job.id, job.claimed_until_ms);
  if (credits === 0) return { claimed_until_ms: null };
  // The job may have expired a while ago, or ended before its expiry.
  const claimed_until_ms = Math.min(now_ms, job.expires_at_ms) + CAP_CLAIM_MS;
  store.deadlines.insertClaim(job.id, claimed_until_ms);
  return { claimed_until_ms };
}

/**
 * Ends claims whose time is over, a portion at most: their credits make room in the caps again. Reads nothing if the
 * store knows that none is due. No alarm does this, because nobody sees a cap without a call.
 */
export function endDueClaims(transaction: Transaction): void {
  const { store, now_ms } = transaction;
  const { deadlines } = store;
  const { next_claim_end } = deadlines;
  if (next_claim_end.isKnownAfter(now_ms)) return;
  next_claim_end.learn(deadlines.readFirstClaimEnd() ?? Number.POSITIVE_INFINITY);
  if (next_claim_end.isKnownAfter(now_ms)) return;
  for (const job_id of deadlines.listClaimsDue(now_ms, CLAIMS_PORTION_JOBS)) {
    const job = store.readJob(job_id);
    if (job === null) continue;
    const takings = chargePath(transaction, job, { credits: 0 - claimOf(job), bytes: 0 });
    store.updateJob({ ...job, ...takings, ...saveClaim(transaction, job, 0) });
  }
}
