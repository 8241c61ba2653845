/** The holder's approval of one job that exceeds the caps of an allowance. Pure. */
import type { Refusal } from "./refusals.ts";

/** How long a holder may decide, and the caller may then create the job. */
export const APPROVAL_TTL_MS = 15 * 60_000;

/** How long a request that has ended is kept, so that its page can say what became of it. */
export const APPROVAL_KEEP_MS = 24 * 60 * 60_000;

/** The state of a request. `open`: the holder has not decided. `used`: a job was created with it. */
export const APPROVAL_STATES = ["open", "approved", "denied", "used"] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** The job that a caller wants its holder to approve. */
export interface ApprovalRequest {
  readonly id: string;
  readonly allowance_id: string;
  readonly app_slug: string;
  readonly action: string;
  /** The most that the job may reserve. */
  readonly credits: number;
  readonly state: ApprovalState;
  readonly expires_at_ms: number;
}

/** A job that is created with an approval. */
interface ApprovedJob {
  readonly allowance_id: string | null;
  readonly app_slug: string;
  readonly action: string;
  readonly credits: number;
}

/** Why a job may not be created with an approval; null: it may, or the holder has not decided yet. */
export function whyNotApproved(
  request: ApprovalRequest,
  job: ApprovedJob,
  now_ms: number,
): Refusal | null {
  const is_for_job =
    request.allowance_id === job.allowance_id &&
    request.app_slug === job.app_slug &&
    request.action === job.action &&
    request.credits >= job.credits;
  if (!is_for_job) return { code: "approval_invalid" };
  if (request.state === "denied") return { code: "approval_denied" };
  const has_ended = request.state === "used" || now_ms >= request.expires_at_ms;
  return has_ended ? { code: "approval_ended" } : null;
}
