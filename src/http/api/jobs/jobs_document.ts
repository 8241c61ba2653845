/** Jobs in the OpenAPI document. */
import * as z from "zod";
import { ACCOUNT, INSUFFICIENT_CREDITS, JOB, JOB_ID } from "../../openapi/examples.ts";
import { describe } from "../../openapi/operation.ts";
import * as batch from "./batch.ts";
import * as cancel from "./cancel.ts";
import * as complete from "./complete.ts";
import * as create from "./create.ts";
import * as fail from "./fail.ts";
import * as list from "./list.ts";
import * as progress from "./progress.ts";
import * as read from "./read.ts";
import { found_jobs } from "../admin/admin_schemas.ts";
import * as schemas from "../../openapi/schemas.ts";

const settled = {
  description: "The settled job, and the balance.",
  schema: schemas.settled_job,
  example: { job: JOB, credits: 75 },
};

const BATCH_DESCRIPTION =
  "All items run in one transaction, in order. Each item has the result that it would have in a request of its own; a refused or malformed item does not stop the others. The idempotency key covers the whole batch; its response is stored if any item took effect. Every ten items count as one write.";

export const jobs = describe(
  "Jobs",
  { ...batch, ...cancel, ...complete, ...create, ...fail, ...list, ...progress, ...read },
  {
    listJobs: {
      summary: "The caller's jobs, newest first",
      description:
        "With an app's key and without `Passbook-Identity`: the app's jobs of all accounts, without metadata, some seconds late (`FoundJobPage`). `by` is an app's slug, or the id of a connection or token: then what was exchanged from it counts too. Filters can be combined. A filtered page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`.",
      success: {
        description: "A page of jobs.",
        schema: z.union([schemas.job_page, found_jobs]),
        example: { jobs: [JOB], next_cursor: JOB_ID },
      },
    },
    createJob: {
      summary: "Create a job and reserve its estimate",
      description:
        "Requires `credits >= cost_estimate`. A job that is still started after `ttl_seconds` expires, and its reserve is refunded unless the app's `on_expiry` says otherwise. A token that exceeds a cap gets 402 `token_budget_exceeded` with an `approval_url`: if the account's holder approves the job there, the same request with `approval` creates it once, within 15 minutes.",
      example: { app: "sketch", action: "render", cost_estimate: 60 },
      success: {
        description: "The job was started.",
        schema: schemas.created_job,
        example: { job_id: JOB_ID, credits: ACCOUNT.credits },
      },
    },
    createJobs: {
      body: batch.batchOf(create.createJobBody),
      summary: "Create up to 100 jobs in one transaction",
      description: BATCH_DESCRIPTION,
      example: {
        jobs: [
          { app: "sketch", action: "render", cost_estimate: 10 },
          { app: "sketch", action: "render", cost_estimate: 1_000 },
        ],
      },
      success: {
        description: "The result of each item.",
        schema: schemas.created_jobs,
        example: {
          results: [{ job_id: JOB_ID, credits: ACCOUNT.credits }, INSUFFICIENT_CREDITS],
          credits: ACCOUNT.credits,
        },
      },
    },
    completeJobs: {
      body: batch.batchOf(complete.completeJobBody),
      summary: "Settle up to 100 jobs in one transaction",
      description: BATCH_DESCRIPTION,
      example: { jobs: [{ job_id: JOB_ID, actual_cost: 25 }] },
      success: {
        description: "The result of each item.",
        schema: schemas.settled_jobs,
        example: { results: [{ job: JOB, credits: 75 }], credits: 75 },
      },
    },
    readJob: {
      summary: "One job",
      description:
        "A job of another account has the same response as one that does not exist. An app's key reads its app's jobs wherever it may complete them.",
      path: { id: z.string().meta({ examples: [JOB_ID] }) },
      success: { description: "The job.", schema: schemas.job, example: JOB },
    },
    completeJob: {
      summary: "Settle a job at its real cost",
      description:
        "The part of the reserve that exceeds the cost is refunded. If the cost exceeds the reserve, the difference is charged in full, even if the balance falls below zero. An expired job can still be completed, once. `step` is the last step that the caller took, 0 for none: if another process has taken a later one, the request is refused.",
      example: { job_id: JOB_ID, actual_cost: 25 },
      success: settled,
    },
    failJob: {
      summary: "Fail a job",
      description:
        "The reserve is refunded. `cost` says what the failed job costs, at most its reserve, and the rest is refunded; `refund: false` charges the whole reserve. `step` is as in a completion. `reason` (up to 500 characters) is returned as `failure_reason`. `metadata` is merged as in a completion.",
      example: { job_id: JOB_ID, reason: "The model ran out of memory." },
      success: settled,
    },
    reportProgress: {
      summary: "Report a step of a long job",
      description:
        "`reserve` sets what the job holds from now on: the difference is reserved or returned. It cannot be raised beyond what the app's `max_overage_percent` allows for the job's estimate, nor by an app's key in an account that is not open for the app. `spent` is what the job costs if it expires, at most what it holds. `ttl_seconds` moves the expiry to so many seconds from now. `done` (from 0 to 1) and `message` (up to 200 characters, empty for none) are shown to people; both may go back. A report that changes no credits and no expiry adds no ledger entry; streams get it as `job.progressed`. Fields that are missing stay as they are. `step` grows with each report: a repeated step gets its first response with `Idempotency-Replayed: true`, and an older step is refused, so a process that lost the job to another one notices. `run` names the caller's run of the work: a step that another run took is refused too.",
      example: {
        job_id: JOB_ID,
        step: 1,
        done: 0.4,
        message: "Frame 40 of 100",
        spent: 40,
        ttl_seconds: 600,
      },
      success: {
        description: "The started job, and the balance.",
        schema: schemas.progressed_job,
        example: {
          job: {
            ...JOB,
            status: "started",
            actual_cost: 0,
            step: 1,
            spent: 40,
            done: 0.4,
            message: "Frame 40 of 100",
          },
          credits: 75,
        },
      },
    },
    cancelJob: {
      summary: "Cancel a started job of any app",
      description:
        "Ends the job now, with `failure` `cancelled`. Its reserve is refunded, or charged if the app's `on_expiry` says so. Only the account holder's own session can cancel a job. A cancelled job can still be completed late, so finished work is still paid for. Repeating the request changes nothing.",
      example: { job_id: JOB_ID },
      success: settled,
    },
  },
);
