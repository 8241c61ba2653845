/** `POST /api/jobs/complete`: settles a job at its real cost. */
import * as z from "zod/mini";
import type { CompleteJobRequest } from "../../../account/contract.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, type Result } from "../../../domain/result.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import {
  cost,
  idempotencyGuard,
  jobId,
  jobStep,
  metadata,
  metadataJson,
  validBody,
} from "../../validation.ts";
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

export const completeJob = factory.createHandlers(validBody(completeJobBody), async (context) => {
  const body = context.req.valid("json");
  const request = completeJobRequest(body);
  if (!request.ok) return refuse(context, request.refusal);
  const guard = await idempotencyGuard(context, body);
  if (!guard.ok) return refuse(context, guard.refusal);
  const account = accountOf(context);
  const settled = await account.completeJob(callerOf(context), request.value, guard.value);
  return respondOnce(context, settled, settledView);
});
