/** `POST /api/jobs/progress`: a step of a long job says how far it is, and changes its reserve, spent credits and expiry. */
import * as z from "zod/mini";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { MESSAGE_MAX_LENGTH } from "../../../domain/limits.ts";
import { fingerprintOf } from "../../../domain/idempotency_guard.ts";
import { cost, jobId, jobStep, wellFormed } from "../../validation.ts";
import { respondOnce, settledView } from "../../views.ts";
import { ttlSeconds } from "./create.ts";

const progressBody = z.object({
  job_id: jobId,
  step: jobStep(1),
  run: z.optional(
    z
      .string("must be a string")
      .check(z.regex(/^[\x21-\x7e]{1,64}$/, "must be 1 to 64 printable ASCII characters")),
  ),
  spent: z.optional(cost),
  reserve: z.optional(cost),
  ttl_seconds: z.optional(ttlSeconds),
  done: z.optional(
    z
      .number("must be a number from 0 to 1")
      .check(z.gte(0, "must be from 0"), z.lte(1, "must be at most 1")),
  ),
  message: z.optional(
    z
      .string("must be a string")
      .check(
        z.maxLength(MESSAGE_MAX_LENGTH, `must have at most ${MESSAGE_MAX_LENGTH} characters`),
        wellFormed,
      ),
  ),
});

/** The step is the idempotency key of the report, so no other is read. */
export const reportProgress = endpoint(
  {
    at: "POST /api/jobs/progress",
    caller: "user_or_app",
    key: "step",
    body: progressBody,
    refusals: [
      "job_unknown",
      "app_settles",
      "job_ended",
      "step_too_old",
      "spent_limit",
      "overage_limit",
      "limit_reached:job_steps",
      "insufficient_credits",
      "token_budget_exceeded",
      "account_full",
      "token_storage_full",
    ],
  },
  async (context, { body }) => {
    const { job_id, step, run, spent = null, reserve = null, ttl_seconds = null } = body;
    const { done, message } = body;
    const fingerprint = await fingerprintOf(body);
    const terms = { spent, reserve, ttl_seconds, done, message };
    const request = { job_id, step, run, ...terms, fingerprint };
    const reported = await accountOf(context).reportProgress(callerOf(context), request);
    return respondOnce(context, reported, settledView);
  },
);
