/** Jobs: requests and results. */
import type { JobPolicy } from "../../domain/app_policy.ts";
import type { ApprovalRequest } from "../../domain/job_approval.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import type { JobStatus } from "../../domain/job.ts";
import type { JobRow } from "../sql/schema.ts";
import type { ListedAllowance } from "./allowances.ts";
import type { Answer } from "./call.ts";

export interface CreateJobRequest {
  readonly app_slug: string;
  /** Whether the app is registered; left out: it is not. */
  readonly is_registered?: boolean;
  /** The name of the registered app that `startingApp` gives. Undefined: the caller acts for no registered app. */
  readonly caller_app_name?: string | undefined;
  /** The app's policy now; the job keeps it. */
  readonly policy: JobPolicy;
  /** What an operator says about the pause of the app; left out: it is not paused. */
  readonly pause_message?: string | undefined;
  readonly action: string;
  readonly cost_estimate: number;
  readonly ttl_seconds: number;
  /** JSON text, because RPC may lose an object's `__proto__` key. */
  readonly metadata_json: string | null;
  /** The id of a request for its holder's approval, if the caller sends one; it may be for another job, or too old. */
  readonly approval?: string | undefined;
}

/** A request to approve one job, as the holder sees it. */
export interface ShownApproval extends Pick<
  ListedAllowance,
  "label" | "kind" | "client_id" | "client_host"
> {
  readonly request: ApprovalRequest;
  /** The cap with the least room now; null: there is no cap any more. */
  readonly budget: {
    readonly cap: SpendingCap;
    readonly spent: number;
    /** Credits of `spent` that the holder approved beyond the cap. */
    readonly approved: number;
    readonly room: number;
  } | null;
  readonly credits: number;
  readonly held: number;
}

export interface CompleteJobRequest {
  readonly job_id: string;
  /** The last step of the caller's run; absent: the caller takes no steps. */
  readonly step?: number | undefined;
  readonly actual_cost: number;
  readonly metadata_json: string | null;
}

export interface FailJobRequest {
  readonly job_id: string;
  /** As in {@link CompleteJobRequest}. */
  readonly step?: number | undefined;
  /** The cost of the failed job, at most its reserve; absent: `refund` decides. */
  readonly cost?: number | undefined;
  readonly refund: boolean;
  /** The client's reason; null: none given. */
  readonly reason: string | null;
  readonly metadata_json: string | null;
}

export interface ProgressRequest {
  readonly job_id: string;
  /** Grows with each report. A repeated step gets the first response. */
  readonly step: number;
  /** The caller's run of the job; absent: the caller names none. Two runs do not share a step. */
  readonly run?: string | undefined;
  /** Credits that the job holds from now on; null: as before. */
  readonly reserve: number | null;
  /** Credits that the job costs if it expires; null: as before. */
  readonly spent: number | null;
  /** The job expires so many seconds from now; null: as before. */
  readonly ttl_seconds: number | null;
  /** How much of the work is done, from 0 to 1; absent: as before. */
  readonly done?: number | undefined;
  /** What people read about it; absent: as before. Empty: nothing any more. */
  readonly message?: string | undefined;
  /** A digest of the request. */
  readonly fingerprint: string;
}

export interface CancelJobRequest {
  readonly job_id: string;
}

export interface ListJobsRequest {
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** Jobs created from this moment on, and before `to_ms`. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  /** Only jobs that this app started, or this allowance or one that was exchanged from it. */
  readonly by?: string | undefined;
  /** Only jobs before this id. */
  readonly before_id?: string | undefined;
  readonly limit: number;
}

/** `credits`: the balance; null for an app that charges for a connection. */
export interface CreatedJob {
  readonly job_id: string;
  readonly credits: number | null;
}

/** `credits`: the balance; null for an app that may not read it. */
export interface SettledJob {
  readonly job: JobRow;
  readonly credits: number | null;
}

/** A started job after a step. `seen_after_line`: the newest entry before it; null if the job's app could not read the balance. */
export interface ProgressedJob extends SettledJob {
  readonly seen_after_line: number | null;
}

/** The result of each item of a batch, in its order, and the balance after all of them as in {@link SettledJob}. */
export interface Batch<Value> {
  readonly results: readonly Answer<Value>[];
  readonly credits: number | null;
}
