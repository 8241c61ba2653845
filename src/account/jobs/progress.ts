/** Progress of a long job: how far it is, what it holds from now on, what it has spent, and when it expires. */
import { limitReached } from "../../domain/limit_reached.ts";
import * as rules from "../../domain/job.ts";
import { JOB_STEPS_MAX } from "../../domain/limits.ts";
import { hold, lower, spendableIn } from "../../domain/lots.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { partsOf } from "../../domain/wire.ts";
import { accepted, refused } from "../../domain/result.ts";
import { whyNotRaise } from "../caller.ts";
import { chargePath, whyNoStorage, whyOverCap } from "../allowances/spending.ts";
import type { Answer, JobRow, OnceAnswer, ProgressedJob, ProgressRequest } from "../contract.ts";
import { onceInStep, stepColumns, stepsTaken } from "../idempotency/job_steps.ts";
import { clockOf, fromJson, readCredits } from "../ledger/credits.ts";
import { momentOf, post, readBalance } from "../ledger/posting.ts";
import { isFull, type Transaction } from "../transaction.ts";
import { seesCredits } from "../wallet/app_access.ts";
import { moveExpiry } from "./expiry.ts";
import { announcing402 } from "./refused.ts";
import { readEndable } from "./settle.ts";

/** The bytes that a step stores: its entry or its message, with a margin. */
export const JOB_STEP_BYTES = 200;

/**
 * Takes a step of a started job. Callers that may end a job may report its progress; to raise its reserve, an app's key
 * also needs an open account. A step that changes credits or the expiry adds an entry, so that the read model and streams
 * follow; its amount is 0 if the reserve stays the same. Of any other step only streams and webhooks learn.
 */
export function reportProgress(
  transaction: Transaction,
  request: ProgressRequest,
): OnceAnswer<ProgressedJob> {
  const endable = readEndable(transaction, request.job_id);
  if (!endable.ok) return endable;
  const job = endable.value;
  return onceInStep(job, request, () =>
    announcing402(transaction, job, takeStep(transaction, job, request)),
  );
}

function takeStep(
  transaction: Transaction,
  job: JobRow,
  request: ProgressRequest,
): Answer<ProgressedJob> {
  const { store, now_ms } = transaction;
  const { ttl_seconds } = request;
  // Before the balance is compared, which a caller without access must not learn.
  const is_raised = job.status === "started" && (request.reserve ?? 0) > job.reserved;
  const not_raising = is_raised ? whyNotRaise(transaction) : null;
  if (not_raising !== null) return refused(not_raising);
  const parts = partsOf(job);
  const before = readCredits(transaction, parts);
  const { app_slug } = job;
  const books = { ...readBalance(transaction), spendable: spendableIn(before, app_slug) };
  const step = rules.progress(books, job, request);
  if (!step.ok) return step;
  // A job that is still overdue is one whose expiry failed. It is only tried again.
  if (job.expires_at_ms <= now_ms) return refused({ code: "job_ended" });
  const { reserved, spent, posting } = step.value;
  const added = posting.held;
  const not_allowed =
    (added > 0 ? whyOverCap(transaction, job, reserved, added) : null) ??
    whyNoRoom(transaction, job);
  if (not_allowed !== null) return refused(not_allowed);
  const takings = chargePath(transaction, job, { credits: added, bytes: JOB_STEP_BYTES });
  const after =
    added > 0
      ? hold(before, app_slug, parts, added)
      : lower(before, parts, reserved, clockOf(transaction));
  const has_entry = added !== 0 || spent !== job.spent || ttl_seconds !== null;
  const app = app_slug === null ? null : store.readApp(app_slug);
  const before_line = momentOf(transaction).line;
  const seen_after_line = seesCredits(app, before_line) ? before_line : null;
  const entry = has_entry ? post(transaction, posting, { credits: after.credits }) : null;
  const credits = (entry ?? books).balance_after;
  const { line, at_ms: updated_at_ms } = entry ?? { line: job.line, at_ms: now_ms };
  const progressed = {
    ...job,
    ...takings,
    reserved,
    from_json: fromJson(after.from),
    spent,
    done: request.done ?? job.done,
    message: request.message === undefined ? job.message : request.message || null,
    updated_at_ms,
    expires_at_ms: ttl_seconds === null ? job.expires_at_ms : now_ms + ttl_seconds * 1000,
    line,
    ...stepColumns(job, request, { credits, updated_at_ms, line, seen_after_line }),
  };
  store.updateJob(progressed);
  if (ttl_seconds !== null) moveExpiry(transaction, job, progressed);
  transaction.announce.jobProgressed(progressed, has_entry, now_ms);
  return accepted({ job: progressed, credits, seen_after_line });
}

/** Why no step can be stored; null if it can. */
function whyNoRoom(transaction: Transaction, job: JobRow): Refusal | null {
  if (stepsTaken(job) >= JOB_STEPS_MAX) return limitReached("job_steps");
  if (isFull(transaction)) return { code: "account_full" };
  return whyNoStorage(transaction, JOB_STEP_BYTES);
}
