/**
 * Settles the job of finished work. If the service refuses the cost or the metadata, the job is settled with values as
 * close to them as the service allows, and the caller gets a warning: finished work is never lost.
 */
import { isRefusal, PassbookError, type PassbookErrorCode } from "./errors.ts";
import type { Jobs } from "./jobs.ts";
import { persistently } from "./run_keys.ts";
import type { Metadata, SettledJob } from "./responses.ts";

/** The result of your work function. */
export interface Work<Result> {
  readonly result: Result;
  /**
   * The real cost in credits, a whole number from 0. A fraction is rounded up; an invalid number is replaced by the
   * estimate. Both are reported to `onWarning`.
   */
  readonly actualCost: number;
  /** Merged into the job's metadata; new keys replace old ones. */
  readonly metadata?: Metadata;
}

/** A settled job, and the part of its cost that was not charged. */
export interface Settled extends SettledJob {
  /**
   * Credits of `actualCost` that were not charged, because a token's cap or the app's `max_overage_percent` does not
   * allow them; 0 if the whole cost was charged.
   */
  readonly unsettled: number;
}

/** The most a job may cost, in credits. */
export const COST_MAX_CREDITS = 1_000_000_000_000;

function isCost(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= COST_MAX_CREDITS;
}

/** Refuses an invalid estimate before a request is sent. @throws PassbookError */
export function checkEstimate(costEstimate: unknown): void {
  if (isCost(costEstimate)) return;
  const message = `costEstimate must be a whole number of credits from 0, not ${String(costEstimate)}.`;
  throw new PassbookError("invalid_argument", `${message} Round it up: Math.ceil(cost).`);
}

/** The parts of a settlement that the service may refuse. */
interface Terms {
  readonly cost: number;
  readonly metadata: Metadata | undefined;
}

interface Settling<Result> {
  readonly jobs: Pick<Jobs, "complete">;
  readonly job_id: string;
  /** Credits that the job holds. */
  readonly reserved: number;
  /** The last step of this run. */
  readonly step: number;
  readonly idempotencyKey: string;
  readonly warn: (message: string) => void;
  readonly done: Work<Result>;
}

/**
 * Completes the job of finished work. If its cost or metadata is refused, retries with less.
 * @throws PassbookError with the work's result as `result` if the job cannot be settled at all. The job stays started, so
 * that it can be completed later.
 */
export async function settle<Result>(
  settling: Settling<Result>,
): Promise<Settled & { readonly result: Result }> {
  const { jobs, job_id, reserved, step, idempotencyKey, warn } = settling;
  const { result, actualCost, metadata } = workOf(settling.done);
  const wanted = readCost(actualCost, reserved, warn);
  let terms: Terms = { cost: wanted, metadata: readMetadata(metadata, warn) };
  for (;;) {
    const { cost, metadata: added } = terms;
    const terms_now = { actualCost: cost, ...(added && { metadata: added }) };
    const completion = { jobId: job_id, step, ...terms_now };
    try {
      const settled = await jobs.complete(completion, persistently(idempotencyKey));
      return { result, ...settled, unsettled: wanted - cost };
    } catch (error) {
      const lesser = isRefusal(error) ? lesserTerms(error as PassbookError, terms, reserved) : null;
      if (lesser === null) throw error instanceof PassbookError ? error.withResult(result) : error;
      const outcome =
        lesser.cost < cost
          ? `settled at ${lesser.cost} of ${wanted} credits`
          : "settled without its metadata";
      warn(`Job ${job_id} is ${outcome}: ${(error as PassbookError).message}`);
      terms = lesser;
    }
  }
}

/** If the work returned a value of another shape, that value is its result, and its cost is missing. */
export function workOf<Result>(done: Work<Result>): Work<Result> {
  const is_work =
    typeof done === "object" && done !== null && ("result" in done || "actualCost" in done);
  return is_work ? done : { result: done, actualCost: Number.NaN };
}

/** A whole number of credits: a fraction is rounded up; null for what is no number of credits. */
export function nearestCost(cost: unknown): number | null {
  if (isCost(cost)) return cost;
  return typeof cost === "number" && cost > 0 && cost < COST_MAX_CREDITS ? Math.ceil(cost) : null;
}

function readCost(cost: unknown, estimate: number, warn: (message: string) => void): number {
  if (isCost(cost)) return cost;
  const rounded = nearestCost(cost);
  const nearest = rounded ?? estimate;
  const why = rounded === null ? "the job is settled at its reserve" : "it is rounded up";
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
    warn(
      `The job is settled without its metadata, which cannot be written as JSON: ${String(error)}`,
    );
    return undefined;
  }
}

/** Codes with which the service may refuse the metadata. */
const METADATA_REFUSALS: ReadonlySet<PassbookErrorCode> = new Set([
  "metadata_too_large",
  "body_too_large",
  "invalid_request",
]);

/** Codes with which the service may refuse the cost. */
const COST_REFUSALS: ReadonlySet<PassbookErrorCode> = new Set([
  "token_budget_exceeded",
  "overage_limit",
  "balance_limit",
]);

/** Terms that the service may accept after it refused `terms`; null if lesser terms would not help. */
function lesserTerms(
  { code, body }: PassbookError,
  { cost, metadata }: Terms,
  reserved: number,
): Terms | null {
  if (metadata !== undefined && METADATA_REFUSALS.has(code)) return { cost, metadata: undefined };
  if (!COST_REFUSALS.has(code)) return null;
  const allowed = allowedCost(cost, body) ?? reserved;
  return allowed < cost ? { cost: allowed, metadata } : null;
}

/** The highest cost that the service would accept instead of `cost`; null if its response does not say. */
function allowedCost(cost: number, body: Readonly<Record<string, unknown>>): number | null {
  const { limit, room, required } = body;
  if (isCost(limit)) return limit;
  if (!isCost(room) || !isCost(required)) return null;
  // `required` is the part of the cost that exceeds the reserve.
  return Math.max(0, cost - required + room);
}
