/** `POST /api/jobs/complete`: settles a job at its real cost. */
import * as z from "zod/mini";
import type { CompleteJobRequest } from "../../../account/contract.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, type Result } from "../../../domain/result.ts";
import { guardOf } from "../../../domain/idempotency_guard.ts";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { cost, jobId, jobStep, metadata, metadataJson } from "../../validation.ts";
import { respondOnce, settledView } from "../../views.ts";

export const completeJobBody = z.object({
  job_id: jobId,
  actual_cost: cost,
  step: z.optional(jobStep(0)),
  metadata: z.optional(metadata),
});

/** The account's request, from a validated body. */
export function completeJobRequest(
  body: z.output<typeof completeJobBody>,
): Result<CompleteJobRequest, Refusal> {
  const { job_id, actual_cost, step } = body;
  const metadata_json = metadataJson(body.metadata);
  if (!metadata_json.ok) return metadata_json;
  return accepted({ job_id, actual_cost, step, metadata_json: metadata_json.value });
}

export const completeJob = endpoint(
  {
    at: "POST /api/jobs/complete",
    caller: "user_or_app",
    key: "accepted",
    body: completeJobBody,
    refusals: [
      "job_unknown",
      "app_settles",
      "job_ended",
      "step_too_old",
      "metadata_too_large",
      "balance_limit",
      "overage_limit",
      "token_budget_exceeded",
    ],
  },
  async (context, { body, key }) => {
    const request = completeJobRequest(body);
    if (!request.ok) return refuse(context, request.refusal);
    const guard = await guardOf(key, body);
    if (!guard.ok) return refuse(context, guard.refusal);
    const account = accountOf(context);
    const settled = await account.completeJob(callerOf(context), request.value, guard.value);
    return respondOnce(context, settled, settledView);
  },
);
