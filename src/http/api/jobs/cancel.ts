/** `POST /api/jobs/cancel`: expires a started job of any app now, for the account's holder. */
import * as z from "zod/mini";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { jobId, validBody } from "../../validation.ts";
import { settledView } from "../../views.ts";

export const cancelJobBody = z.object({ job_id: jobId });

export const cancelJob = factory.createHandlers(validBody(cancelJobBody), async (context) => {
  const answer = await accountOf(context).cancelJob(callerOf(context), context.req.valid("json"));
  return answer.ok ? context.json(settledView(answer.value)) : refuse(context, answer.refusal);
});
