/**
 * Settling work that is done. The work is never lost: whatever its cost or metadata, the job is settled as closely
 * to them as the service allows, and the caller is told of the difference.
 */
import { isRefusal, PassbookError, type PassbookErrorCode } from "./errors.ts";
import type { Jobs } from "./jobs.ts";
import { persistently } from "./run_keys.ts";
import type { Metadata, SettledJob } from "./responses.ts";

/** What your work came to. */
export interface Work<Result> {
  readonly result: Result;
  /**
   * What it cost in credits, a whole number from 0. A fraction is rounded up; what is no number of credits is
   * replaced by the estimate. Either is reported to `onWarning`.
   */
  readonly actualCost: number;
  /** Merged into the job's metadata, new keys win. */
  readonly metadata?: Metadata;
}

/** A settled job, and what of its cost was not charged. */
export interface Settled extends SettledJob {
  /**
   * Credits of `actualCost` that were not charged, because a token's cap or the app's `max_overage_percent` does
   * not allow them. 0 where all was.
   */
  readonly unsettled: number;
}

/** The most a job may cost, in credits. */
export const COST_MAX_CREDITS = 1_000_000_000_000;

function isCost(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= COST_MAX_CREDITS;
}

/** An estimate that the service would refuse is refused before anything is sent. @throws PassbookError */
export function checkEstimate(costEstimate: unknown): void {
  if (isCost(costEstimate)) return;
  const message = `costEstimate must be a whole number of credits from 0, not ${String(costEstimate)}.`;
  throw new PassbookError("invalid_argument", `${message} Round it up: Math.ceil(cost).`);
}

/** What is settled: the parts that the service may refuse. */
interface Terms {
  readonly cost: number;
  readonly metadata: Metadata | undefined;
}

interface Settling<Result> {
  readonly jobs: Pick<Jobs, "complete">;
  readonly job_id: string;
  /** What the job holds. */
  readonly reserved: number;
  readonly idempotencyKey: string;
  readonly warn: (message: string) => void;
  readonly done: Work<Result>;
}

/**
 * Completes the job of work that is done; where that is refused for its cost or metadata, on the next lesser terms.
 * @throws PassbookError with the work's result as `result`, where the job cannot be settled at all. The job is left
 * as it is, so that it may be completed later.
 */
export async function settle<Result>(
  settling: Settling<Result>,
): Promise<Settled & { readonly result: Result }> {
  const { jobs, job_id, reserved, idempotencyKey, warn } = settling;
  const { result, actualCost, metadata } = workOf(settling.done);
  const wanted = readCost(actualCost, reserved, warn);
  let terms: Terms = { cost: wanted, metadata: readMetadata(metadata, warn) };
  for (;;) {
    const { cost, metadata: added } = terms;
    const completion = { jobId: job_id, actualCost: cost, ...(added && { metadata: added }) };
    try {
      const settled = await jobs.complete(completion, persistently(idempotencyKey));
      return { result, ...settled, unsettled: wanted - cost };
    } catch (error) {
      const lesser = isRefusal(error) ? lesserTerms(error as PassbookError, terms, reserved) : null;
      if (lesser === null) throw error instanceof PassbookError ? error.withResult(result) : error;
      const what =
        lesser.cost < cost
          ? `settled at ${lesser.cost} of ${wanted} credits`
          : "settled without metadata";
      warn(`Job ${job_id} is ${what}: ${(error as PassbookError).message}`);
      terms = lesser;
    }
  }
}

/** Work of another shape is a slip of the caller's: what it returned is its result. */
function workOf<Result>(done: Work<Result>): Work<Result> {
  const fits =
    typeof done === "object" && done !== null && ("result" in done || "actualCost" in done);
  return fits ? done : { result: done, actualCost: Number.NaN };
}

function readCost(cost: unknown, estimate: number, warn: (message: string) => void): number {
  if (isCost(cost)) return cost;
  const fraction = typeof cost === "number" && cost > 0 && cost < COST_MAX_CREDITS;
  const nearest = fraction ? Math.ceil(cost) : estimate;
  const why = fraction ? "it is rounded up" : "the job is settled at its estimate";
  warn(
    `actualCost must be a whole number of credits from 0, not ${String(cost)}: ${why}, ${nearest}.`,
  );
  return nearest;
}

function readMetadata(
  metadata: Metadata | undefined,
  warn: (message: string) => void,
): Metadata | undefined {
  try {
    JSON.stringify(metadata);
    return metadata;
  } catch (error) {
    warn(`The job is settled without metadata, which is not JSON: ${String(error)}`);
    return undefined;
  }
}

/** Codes that may be about the metadata, and about the cost. */
const OF_METADATA: ReadonlySet<PassbookErrorCode> = new Set([
  "metadata_too_large",
  "body_too_large",
  "invalid_request",
]);
const OF_COST: ReadonlySet<PassbookErrorCode> = new Set([
  "token_budget_exceeded",
  "overage_limit",
  "balance_limit",
]);

/** What may be settled where these terms were refused; null where nothing less would help. */
function lesserTerms(
  { code, body }: PassbookError,
  { cost, metadata }: Terms,
  reserved: number,
): Terms | null {
  if (metadata !== undefined && OF_METADATA.has(code)) return { cost, metadata: undefined };
  if (!OF_COST.has(code)) return null;
  const allowed = allowedCost(cost, body) ?? reserved;
  return allowed < cost ? { cost: allowed, metadata } : null;
}

/** The most that the service says it would settle at instead of `cost`; null where it does not say. */
function allowedCost(cost: number, body: Readonly<Record<string, unknown>>): number | null {
  const { limit, room, required } = body;
  if (isCost(limit)) return limit;
  if (!isCost(room) || !isCost(required)) return null;
  // `required` is what the settlement would take beyond what the job holds.
  return Math.max(0, cost - required + room);
}
