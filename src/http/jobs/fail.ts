/** `POST /api/jobs/fail`: fails a job, refunding its reserve unless told otherwise. */
import * as z from "zod/mini";
import { accountOf, callerOf, factory } from "../context.ts";
import { refuse } from "../refusals.ts";
import { idempotencyGuard, jobId, validBody } from "../validation.ts";
import { answerOnce, settledView } from "../views.ts";

export const failJobBody = z.object({
  job_id: jobId,
  refund: z._default(z.boolean("must be true or false"), true),
});

export const failJob = factory.createHandlers(validBody(failJobBody), async (context) => {
  const request = context.req.valid("json");
  const guard = await idempotencyGuard(context, request);
  if (!guard.ok) return refuse(context, guard.refusal);
  const account = accountOf(context);
  const answer = await account.failJob(callerOf(context), request, guard.value);
  return answerOnce(context, answer, settledView);
});
