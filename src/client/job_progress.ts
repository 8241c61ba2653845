/**
 * The progress reports of one run of a job: one after another, each with the next step. A report without a response is
 * repeated in the background, so that an outage does not stop the work.
 */
import { isPassbookError, type PassbookError, type PassbookErrorCode } from "./errors.ts";
import type { Jobs, ReportProgress } from "./jobs.ts";
import type { Job, ProgressedJob } from "./responses.ts";
import { nearestCost } from "./settlement.ts";

/** The changes of a report; omitted fields stay as they are. */
export type ProgressReport = Omit<ReportProgress, "jobId" | "step" | "run">;

/** The job before this run, and what the run may do with it. */
export interface HeldJob extends Pick<Job, "id" | "step" | "reserved" | "spent"> {
  /** When it expires by this machine's clock, in milliseconds since 1970. */
  readonly expires_ms: number;
}

export interface ProgressOptions {
  readonly jobs: Pick<Jobs, "progress">;
  readonly job: HeldJob;
  /** The id of this run. */
  readonly run: string;
  readonly signal: AbortSignal | undefined;
  readonly warn: (message: string) => void;
}

/**
 * The steps of one run. A later run of the same job begins at the next multiple, so that the service refuses the steps
 * of the earlier run as too old, however many it still reports.
 */
export const STEPS_OF_A_RUN = 1_000_000;

/** Attempts that a report waits for, as other calls do. */
const AWAITED_ATTEMPTS = 5;

/** Refusals that say that this run has lost its job. */
const LOST: ReadonlySet<PassbookErrorCode> = new Set(["step_too_old", "job_ended"]);

/** Refusals of what a report says. The work must know them. */
const TERMS_REFUSED: ReadonlySet<PassbookErrorCode> = new Set([
  "insufficient_credits",
  "token_budget_exceeded",
  "spent_limit",
  "overage_limit",
]);

export class JobProgress {
  readonly #options: ProgressOptions;
  /** Aborted when the run has lost its job. */
  readonly #over = new AbortController();
  /** Aborted when no report is needed any more. */
  readonly #stopped = new AbortController();
  /** Aborted together with the caller's signal, or when the run has lost its job. */
  readonly signal: AbortSignal;
  #step: number;
  #reserved: number;
  #spent: number;
  #expires_ms: number;
  #last: Promise<void> = Promise.resolve();
  /** Resolve the reports that the work waits for. */
  readonly #awaited = new Set<() => void>();
  #is_unanswered = false;
  #is_finishing = false;
  /** The reports of the work since the service stopped responding. */
  #unsent: ProgressReport | null = null;
  #lost: PassbookError | null = null;
  /** The refusal of a report that the work did not wait for. */
  #refused: PassbookError | null = null;

  constructor(options: ProgressOptions) {
    const { job, signal } = options;
    this.#options = options;
    this.#step = job.step;
    this.#reserved = job.reserved;
    this.#spent = job.spent ?? 0;
    this.#expires_ms = job.expires_ms;
    this.signal =
      signal === undefined ? this.#over.signal : AbortSignal.any([signal, this.#over.signal]);
  }

  /** The last step of this run; 0 before the first step of a job. */
  get step(): number {
    return this.#step;
  }

  /** Credits that the job holds, as far as this run knows. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Credits that the work has spent, by its last report. */
  get spent(): number {
    return this.#spent;
  }

  /** The refusal that said that the job has ended or another run has it; null: this run still has the job. */
  get lost(): PassbookError | null {
    return this.#lost;
  }

  /**
   * Sends a report. Null: no response came, or the report was refused for a reason that the work need not know.
   * @throws PassbookError if the run has lost the job, or the terms of this report or an earlier one were refused
   */
  async report(report: ProgressReport): Promise<ProgressedJob | null> {
    if (this.#lost !== null) throw this.#lost;
    const refused = this.#refused;
    this.#refused = null;
    const terms = this.#read(report);
    if (this.#is_unanswered) this.#unsent = { ...this.#unsent, ...terms };
    const sent = this.#is_unanswered ? null : this.#enqueue(terms);
    if (refused === null) return sent;
    sent?.catch(() => {});
    throw refused;
  }

  /** Waits for the service's response to every report; while it does not respond, gives up the reports. */
  async finish(): Promise<void> {
    this.#is_finishing = true;
    if (this.#is_unanswered) this.stop();
    for (let last: unknown = null; last !== this.#last;) {
      last = this.#last;
      await last;
    }
    const { warn, job } = this.#options;
    if (this.#refused !== null) warn(`A report of job ${job.id}: ${this.#refused.message}`);
  }

  /** Sends no more reports. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Rounds credits up, as a cost. */
  #read({ spent, reserve, ttlSeconds }: ProgressReport): ProgressReport {
    const credits = this.#credits("spent", spent);
    if (credits !== undefined) this.#spent = credits;
    const held = this.#credits("reserve", reserve);
    return {
      ...(credits !== undefined && { spent: credits }),
      ...(held !== undefined && { reserve: held }),
      ...(ttlSeconds !== undefined && { ttlSeconds }),
    };
  }

  #credits(name: string, value: number | undefined): number | undefined {
    if (value === undefined) return undefined;
    const nearest = nearestCost(value);
    if (nearest === null) {
      const message = `${name} must be a whole number of credits from 0, not ${String(value)}`;
      this.#options.warn(`${message}: the report leaves it out.`);
    }
    return nearest ?? undefined;
  }

  #enqueue(terms: ProgressReport): Promise<ProgressedJob | null> {
    return new Promise((resolve, reject) => {
      const release = (): void => resolve(null);
      this.#awaited.add(release);
      const send = async (): Promise<void> => {
        try {
          resolve(await this.#send(terms));
        } catch (error) {
          if (this.#awaited.has(release)) reject(error);
          else this.#note(error as PassbookError);
        }
        this.#awaited.delete(release);
        this.#is_unanswered = false;
        const unsent = this.#unsent;
        this.#unsent = null;
        if (unsent !== null) this.#enqueue(unsent).catch((it: PassbookError) => this.#note(it));
      };
      this.#last = this.#last.then(send);
    });
  }

  #note(refused: PassbookError): void {
    if (this.#lost === null) this.#refused = refused;
  }

  async #send(terms: ProgressReport): Promise<ProgressedJob | null> {
    const { jobs, job, run, warn } = this.#options;
    if (this.#stopped.signal.aborted || this.#lost !== null) return null;
    this.#step += 1;
    let attempts = 0;
    try {
      const report = { ...terms, jobId: job.id, step: this.#step, run };
      const progressed = await jobs.progress(report, {
        signal: this.#stopped.signal,
        untilMs: this.#expires_ms,
        onWait: () => {
          attempts += 1;
          if (attempts === AWAITED_ATTEMPTS) this.#goOn();
        },
      });
      this.#reserved = progressed.job.reserved;
      this.#expires_ms = expiryOf(progressed.job);
      return progressed;
    } catch (error) {
      if (this.#stopped.signal.aborted) return null;
      const { code, message } = error as PassbookError;
      if (isPassbookError(error) && LOST.has(code)) {
        this.#lost ??= error;
        this.#over.abort(error);
        throw error;
      }
      if (TERMS_REFUSED.has(code)) throw error;
      warn(`A report of job ${job.id} was not taken: ${message}`);
      return null;
    }
  }

  /** The service does not respond: the work goes on, and the report is repeated. */
  #goOn(): void {
    this.#is_unanswered = true;
    for (const release of this.#awaited) release();
    this.#awaited.clear();
    if (this.#is_finishing) this.stop();
  }
}

/** When a job that the service just changed expires, by this machine's clock. */
export function expiryOf({
  expires_at,
  updated_at,
}: Pick<Job, "expires_at" | "updated_at">): number {
  return Date.now() + Date.parse(expires_at) - Date.parse(updated_at);
}
