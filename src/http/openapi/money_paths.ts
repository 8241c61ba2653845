/** The document's wallet, jobs and ledger. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { completeJobBody } from "../jobs/complete.ts";
import { createJobBody } from "../jobs/create.ts";
import { failJobBody } from "../jobs/fail.ts";
import { listJobsQuery } from "../jobs/list.ts";
import { listLedgerQuery } from "../ledger.ts";
import { readWalletQuery } from "../wallet.ts";
import { ACCOUNT, ENTRY, JOB, JOB_ID, WALLET } from "./examples.ts";
import { operation } from "./operation.ts";
import * as schemas from "./schemas.ts";

const settled = {
  description: "The job as it ended, and the balance.",
  schema: schemas.settled_job,
  example: { job: JOB, credits: 75 },
};

export const money_paths: ZodOpenApiPathsObject = {
  "/api/wallet": {
    get: operation({
      id: "readWallet",
      tag: "Wallet",
      summary: "The account and its apps",
      description:
        "Opens the account where there is none. With `app`, the app is added and its starter credits are granted, once per account and app; by cookie that needs an allowed origin.",
      security: "caller",
      query: readWalletQuery,
      success: { description: "The wallet.", schema: schemas.wallet, example: WALLET },
      refusals: ["origin_not_allowed", "too_many_apps"],
    }),
  },
  "/api/jobs": {
    get: operation({
      id: "listJobs",
      tag: "Jobs",
      summary: "The caller's jobs, newest first",
      security: "caller",
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
      security: "caller",
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
        "metadata_too_large",
        "balance_limit",
        "origin_not_allowed",
      ],
    }),
  },
  "/api/jobs/{id}": {
    get: operation({
      id: "readJob",
      tag: "Jobs",
      summary: "One job",
      security: "caller",
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
      security: "caller",
      body: { schema: completeJobBody, example: { job_id: JOB_ID, actual_cost: 25 } },
      idempotent: true,
      success: settled,
      refusals: [
        "job_unknown",
        "job_not_started",
        "metadata_too_large",
        "balance_limit",
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
      description: "The reserve comes back, or with `refund: false` stays as the job's cost.",
      security: "caller",
      body: { schema: failJobBody, example: { job_id: JOB_ID } },
      idempotent: true,
      success: settled,
      refusals: ["job_unknown", "job_not_started", "origin_not_allowed"],
    }),
  },
  "/api/ledger": {
    get: operation({
      id: "listLedger",
      tag: "Wallet",
      summary: "The passbook: every change of the balance, newest first",
      description:
        "`from` is included, `to` is not. A filtered page may have fewer lines than asked for, even none, and still a `next_cursor`.",
      security: "caller",
      query: listLedgerQuery,
      success: {
        description: "A page of lines.",
        schema: schemas.entry_page,
        example: { entries: [ENTRY], next_cursor: "4" },
      },
      refusals: [],
    }),
  },
};
