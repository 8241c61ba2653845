/** What the OpenAPI document says of jobs. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { completeJobsBody, createJobsBody } from "./batch.ts";
import { completeJobBody } from "./complete.ts";
import { cancelJobBody } from "./cancel.ts";
import { createJobBody } from "./create.ts";
import { failJobBody } from "./fail.ts";
import { listJobsQuery } from "./list.ts";
import { ACCOUNT, INSUFFICIENT_CREDITS, JOB, JOB_ID } from "../../openapi/examples.ts";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

const settled = {
  description: "The job as it ended, and the balance.",
  schema: schemas.settled_job,
  example: { job: JOB, credits: 75 },
};

const BATCH_WORDS =
  "One transaction. Each item is answered as it would be alone, in order; one that is refused or malformed stops no other. The key covers the batch, and keeps its answer where any item was done. Every ten items count as one write.";

export const jobs_paths: ZodOpenApiPathsObject = {
  "/api/jobs": {
    get: operation({
      id: "listJobs",
      tag: "Jobs",
      summary: "The caller's jobs, newest first",
      description:
        "Filters may be combined. A filtered page may have fewer jobs than `limit`, even none, and still a `next_cursor`.",
      security: "party",
      query: listJobsQuery,
      success: {
        description: "A page of jobs.",
        schema: schemas.job_page,
        example: { jobs: [JOB], next_cursor: JOB_ID },
      },
      refusals: [],
    }),
    post: operation({
      id: "createJob",
      tag: "Jobs",
      summary: "Create a job and reserve its estimate",
      description:
        "Needs `credits >= cost_estimate`. A job still started after `ttl_seconds` fails by itself with a full refund.",
      security: "party",
      body: {
        schema: createJobBody,
        example: { app: "sketch", action: "render", cost_estimate: 60 },
      },
      idempotent: true,
      success: {
        description: "The job is started.",
        schema: schemas.created_job,
        example: { job_id: JOB_ID, credits: ACCOUNT.credits },
      },
      refusals: [
        "insufficient_credits",
        "token_budget_exceeded",
        "too_many_open_jobs",
        "account_full",
        "token_storage_full",
        "metadata_too_large",
        "balance_limit",
        "origin_not_allowed",
      ],
    }),
  },
  "/api/jobs/batch": {
    post: operation({
      id: "createJobs",
      tag: "Jobs",
      summary: "Create up to 100 jobs in one transaction",
      description: BATCH_WORDS,
      security: "party",
      body: {
        schema: createJobsBody,
        example: {
          jobs: [
            { app: "sketch", action: "render", cost_estimate: 10 },
            { app: "sketch", action: "render", cost_estimate: 1_000 },
          ],
        },
      },
      idempotent: true,
      success: {
        description: "What became of each item.",
        schema: schemas.created_jobs,
        example: {
          results: [{ job_id: JOB_ID, credits: ACCOUNT.credits }, INSUFFICIENT_CREDITS],
          credits: ACCOUNT.credits,
        },
      },
      refusals: ["origin_not_allowed"],
    }),
  },
  "/api/jobs/complete/batch": {
    post: operation({
      id: "completeJobs",
      tag: "Jobs",
      summary: "Settle up to 100 jobs in one transaction",
      description: BATCH_WORDS,
      security: "party",
      body: {
        schema: completeJobsBody,
        example: { jobs: [{ job_id: JOB_ID, actual_cost: 25 }] },
      },
      idempotent: true,
      success: {
        description: "What became of each item.",
        schema: schemas.settled_jobs,
        example: { results: [{ job: JOB, credits: 75 }], credits: 75 },
      },
      refusals: ["origin_not_allowed"],
    }),
  },
  "/api/jobs/{id}": {
    get: operation({
      id: "readJob",
      tag: "Jobs",
      summary: "One job",
      description: "A job of another account has the same response as one that does not exist.",
      security: "party",
      path: z.object({ id: z.string().meta({ examples: [JOB_ID] }) }),
      success: { description: "The job.", schema: schemas.job, example: JOB },
      refusals: ["job_not_found"],
    }),
  },
  "/api/jobs/complete": {
    post: operation({
      id: "completeJob",
      tag: "Jobs",
      summary: "Settle a job at its real cost",
      description:
        "What was reserved beyond the cost comes back; what the cost has beyond the reserve is charged in full, below zero if need be. A job that timed out may still be completed, once.",
      security: "party",
      body: { schema: completeJobBody, example: { job_id: JOB_ID, actual_cost: 25 } },
      idempotent: true,
      success: settled,
      refusals: [
        "job_unknown",
        "app_settles",
        "job_not_started",
        "metadata_too_large",
        "balance_limit",
        "overage_limit",
        "token_budget_exceeded",
        "origin_not_allowed",
      ],
    }),
  },
  "/api/jobs/fail": {
    post: operation({
      id: "failJob",
      tag: "Jobs",
      summary: "Fail a job",
      description:
        "The reserve comes back, or with `refund: false` stays as the job's cost. `reason` (up to 500 characters) is shown as `failure_reason`; `metadata` is merged as when completing.",
      security: "party",
      body: {
        schema: failJobBody,
        example: { job_id: JOB_ID, reason: "The model ran out of memory." },
      },
      idempotent: true,
      success: settled,
      refusals: [
        "job_unknown",
        "app_settles",
        "job_not_started",
        "metadata_too_large",
        "origin_not_allowed",
      ],
    }),
  },
  "/api/jobs/cancel": {
    post: operation({
      id: "cancelJob",
      tag: "Jobs",
      summary: "Cancel a started job of any app",
      description:
        "Expires the job now: its reserve comes back, or stays as its cost if the app's `on_expiry` says so. Only the account holder's own session may do this. The job may still be completed late, so cancelling makes no work free. Repeating it changes nothing.",
      security: "caller",
      body: { schema: cancelJobBody, example: { job_id: JOB_ID } },
      success: settled,
      refusals: ["job_unknown", "job_not_started", "scope", "origin_not_allowed"],
    }),
  },
};
