/** `POST /api/jobs/cancel`: the account's holder expires a started job of any app. */
import * as z from "zod/mini";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { jobId, validBody } from "../../validation.ts";
import { settledView } from "../../views.ts";

export const cancelJobBody = z.object({ job_id: jobId });

export const cancelJob = factory.createHandlers(validBody(cancelJobBody), async (context) => {
  const settled = await accountOf(context).cancelJob(callerOf(context), context.req.valid("json"));
  return settled.ok ? context.json(settledView(settled.value)) : refuse(context, settled.refusal);
});
