/** `POST /api/jobs/fail`: fails a job, and returns the part of its reserve that it does not cost. */
import * as z from "zod/mini";
import { REASON_MAX_LENGTH } from "../../../domain/limits.ts";
import { guardOf } from "../../../domain/idempotency_guard.ts";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { cost, jobId, jobStep, metadata, metadataJson, wellFormed } from "../../validation.ts";
import { respondOnce, settledView } from "../../views.ts";

const failJobBody = z
  .object({
    job_id: jobId,
    cost: z.optional(cost),
    refund: z.optional(z.boolean("must be true or false")),
    step: z.optional(jobStep(0)),
    reason: z.optional(
      z
        .string("must be a string")
        .check(
          z.minLength(1, "must not be empty"),
          z.maxLength(REASON_MAX_LENGTH, `must have at most ${REASON_MAX_LENGTH} characters`),
          wellFormed,
        ),
    ),
    metadata: z.optional(metadata),
  })
  .check(
    z.refine((body) => body.cost === undefined || body.refund === undefined, {
      path: ["refund"],
      error: "must be left out if cost says what the job costs",
    }),
  );

export const failJob = endpoint(
  {
    at: "POST /api/jobs/fail",
    caller: "user_or_app",
    key: "accepted",
    body: failJobBody,
    refusals: [
      "job_unknown",
      "app_settles",
      "job_ended",
      "step_too_old",
      "spent_limit",
      "metadata_too_large",
    ],
  },
  async (context, { body, key }) => {
    const { job_id, step, refund = true, reason = null } = body;
    const metadata_json = metadataJson(body.metadata);
    if (!metadata_json.ok) return refuse(context, metadata_json.refusal);
    const guard = await guardOf(key, body);
    if (!guard.ok) return refuse(context, guard.refusal);
    const terms = { job_id, step, cost: body.cost, refund, reason };
    const request = { ...terms, metadata_json: metadata_json.value };
    const settled = await accountOf(context).failJob(callerOf(context), request, guard.value);
    return respondOnce(context, settled, settledView);
  },
);
