/** `POST /api/jobs/complete`: settles a job against its real cost. */
import * as z from "zod";
import { accountOf, callerOf, factory } from "../context.ts";
import { refuse } from "../refusals.ts";
import { cost, idempotencyGuard, jobId, metadata, metadataJson, validBody } from "../validation.ts";
import { answerOnce, settledView } from "../views.ts";

export const completeJobBody = z.object({
  job_id: jobId,
  actual_cost: cost,
  metadata: metadata.optional(),
});

export const completeJob = factory.createHandlers(validBody(completeJobBody), async (context) => {
  const request = context.req.valid("json");
  const metadata_json = metadataJson(request.metadata);
  if (!metadata_json.ok) return refuse(context, metadata_json.refusal);
  const guard = await idempotencyGuard(context, request);
  if (!guard.ok) return refuse(context, guard.refusal);
  const account = accountOf(context);
  const { job_id, actual_cost } = request;
  const answer = await account.completeJob(
    callerOf(context),
    { job_id, actual_cost, metadata_json: metadata_json.value },
    guard.value,
  );
  return answerOnce(context, answer, settledView);
});
