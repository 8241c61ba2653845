/** The progress reports of one run of a job: one after another, each with the next step. */
import { isPassbookError, type PassbookError } from "./errors.ts";
import type { Jobs, ReportProgress } from "./jobs.ts";
import type { Job, ProgressedJob } from "./responses.ts";

/** What a report changes; what it leaves out stays as it is. */
export type ProgressReport = Omit<ReportProgress, "jobId" | "step">;

/**
 * The steps of one run. A later run of the same job begins at the next multiple, so that the service refuses the steps
 * of the earlier run as too old, however many it still reports.
 */
const STEPS_OF_A_RUN = 1_000_000;

export class JobProgress {
  readonly #jobs: Pick<Jobs, "progress">;
  readonly #job_id: string;
  readonly #signal: AbortSignal | undefined;
  #step: number;
  #reserved: number;
  #last: Promise<unknown> = Promise.resolve();
  #taken_over: PassbookError | null = null;

  /** `job`: the job before this run. */
  constructor(
    jobs: Pick<Jobs, "progress">,
    job: Pick<Job, "id" | "step" | "reserved">,
    signal: AbortSignal | undefined,
  ) {
    this.#jobs = jobs;
    this.#job_id = job.id;
    this.#signal = signal;
    this.#reserved = job.reserved;
    const run = job.step === 0 ? 0 : Math.floor(job.step / STEPS_OF_A_RUN) + 1;
    this.#step = run * STEPS_OF_A_RUN;
  }

  /** Credits that the job holds, as far as this run knows. */
  get reserved(): number {
    return this.#reserved;
  }

  /** The refusal of a step because another process runs the job now; null: this run still has the job. */
  get takenOver(): PassbookError | null {
    return this.#taken_over;
  }

  report(report: ProgressReport): Promise<ProgressedJob> {
    const reported = this.#last.then(() => this.#send(report));
    this.#last = reported.catch(() => {});
    return reported;
  }

  /** Resolves when the service has responded to every report. */
  async whenReported(): Promise<void> {
    await this.#last;
  }

  async #send(report: ProgressReport): Promise<ProgressedJob> {
    this.#step += 1;
    try {
      const step = { ...report, jobId: this.#job_id, step: this.#step };
      const progressed = await this.#jobs.progress(step, { signal: this.#signal });
      this.#reserved = progressed.job.reserved;
      return progressed;
    } catch (error) {
      if (isPassbookError(error, "step_too_old")) this.#taken_over = error;
      throw error;
    }
  }
}
