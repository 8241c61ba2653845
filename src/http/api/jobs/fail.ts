/** `POST /api/jobs/fail`: fails a job, and refunds its reserve unless `refund` is false. */
import * as z from "zod/mini";
import { REASON_MAX_LENGTH } from "../../../domain/limits.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import {
  idempotencyGuard,
  jobId,
  metadata,
  metadataJson,
  validBody,
  wellFormed,
} from "../../validation.ts";
import { respondOnce, settledView } from "../../views.ts";

export const failJobBody = z.object({
  job_id: jobId,
  refund: z._default(z.boolean("must be true or false"), true),
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
});

export const failJob = factory.createHandlers(validBody(failJobBody), async (context) => {
  const body = context.req.valid("json");
  const { job_id, refund, reason = null } = body;
  const metadata_json = metadataJson(body.metadata);
  if (!metadata_json.ok) return refuse(context, metadata_json.refusal);
  const guard = await idempotencyGuard(context, body);
  if (!guard.ok) return refuse(context, guard.refusal);
  const request = { job_id, refund, reason, metadata_json: metadata_json.value };
  const settled = await accountOf(context).failJob(callerOf(context), request, guard.value);
  return respondOnce(context, settled, settledView);
});
