/** Waits until the account's holder has approved one job that exceeds a cap. */
import { isPassbookError, type PassbookError } from "./errors.ts";
import type { CreateJob, Jobs, SettleOptions } from "./jobs.ts";
import type { CreatedJob } from "./responses.ts";
import type { Wait } from "./transport.ts";

/** Shows a person the page on which they approve or deny one job. */
export type OnApprovalNeeded = (approvalUrl: string, refusal: PassbookError) => void;

const WAIT_MIN_MS = 2_000;
const WAIT_MAX_MS = 10_000;

export interface Approvable {
  readonly jobs: Pick<Jobs, "create">;
  readonly wait: Wait;
  readonly onApprovalNeeded: OnApprovalNeeded | undefined;
}

/**
 * Creates a job. If a cap does not allow it, repeats the request with its approval until the holder has decided, which the
 * service bounds to 15 minutes. @throws PassbookError `approval_denied`, or `approval_ended` after that time
 */
export async function createApproved(
  { jobs, wait, onApprovalNeeded }: Approvable,
  request: CreateJob,
  options: SettleOptions,
): Promise<CreatedJob> {
  let approval: string | null = null;
  for (let wait_ms = WAIT_MIN_MS; ; wait_ms = Math.min(WAIT_MAX_MS, wait_ms * 1.5)) {
    try {
      return await jobs.create(approval === null ? request : { ...request, approval }, options);
    } catch (error) {
      if (onApprovalNeeded === undefined || !isPassbookError(error, "token_budget_exceeded")) {
        throw error;
      }
      const { approval: offered, approval_url } = error.body;
      if (typeof offered !== "string" || typeof approval_url !== "string") throw error;
      if (approval === null) onApprovalNeeded(approval_url, error);
      approval = offered;
    }
    await wait(wait_ms, options.signal);
  }
}
