/** The holder's approval of one job that exceeds the caps of an allowance. Pure. */
import type { Refusal } from "./refusals.ts";
import type { SpendingCap } from "./spending_cap.ts";

/** How long a holder may decide, and the caller may then create the job. */
export const APPROVAL_TTL_MS = 15 * 60_000;

/** What a caller wants its holder to approve. It is sealed into the address of the page, and stored nowhere. */
export interface ApprovalRequest {
  readonly id: string;
  readonly identity_id: string;
  readonly allowance_id: string;
  readonly app_slug: string;
  readonly action: string;
  /** The most that the job may reserve. */
  readonly credits: number;
  /** The cap that did not allow it. */
  readonly cap: SpendingCap;
  readonly expires_at_ms: number;
}

/** What became of a request. `open`: the holder has not decided. `used`: a job was created with it. */
export type ApprovalState = "open" | "approved" | "denied" | "used";

/** A job that is created with an approval. */
export interface ApprovedJob {
  readonly identity_id: string;
  readonly allowance_id: string | null;
  readonly app_slug: string;
  readonly action: string;
  readonly credits: number;
}

/** Why a job may not be created with an approval; null: it may, or the holder has not decided yet. */
export function whyNotApproved(
  request: ApprovalRequest,
  state: ApprovalState,
  job: ApprovedJob,
  now_ms: number,
): Refusal | null {
  const is_for_job =
    request.identity_id === job.identity_id &&
    request.allowance_id === job.allowance_id &&
    request.app_slug === job.app_slug &&
    request.action === job.action &&
    request.credits >= job.credits;
  if (!is_for_job) return { code: "approval_invalid" };
  if (state === "denied") return { code: "approval_denied" };
  const has_ended = state === "used" || now_ms >= request.expires_at_ms;
  return has_ended ? { code: "approval_ended" } : null;
}
