/** `POST /api/jobs/cancel`: the account's holder expires a started job of any app. */
import * as z from "zod/mini";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { jobId } from "../../validation.ts";
import { settledView } from "../../views.ts";

const cancelJobBody = z.object({ job_id: jobId });

export const cancelJob = endpoint(
  {
    at: "POST /api/jobs/cancel",
    caller: "user",
    body: cancelJobBody,
    refusals: ["job_unknown", "job_ended"],
  },
  async (context, { body }) => {
    const settled = await accountOf(context).cancelJob(callerOf(context), body);
    return settled.ok ? context.json(settledView(settled.value)) : refuse(context, settled.refusal);
  },
);
