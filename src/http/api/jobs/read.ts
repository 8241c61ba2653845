/** `GET /api/jobs/{id}`: one job of the caller. */
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { jobView } from "../../views.ts";

export const readJob = endpoint(
  {
    at: "GET /api/jobs/{id}",
    caller: "user_or_app",
    refusals: ["job_not_found"],
  },
  async (context, { params }) => {
    const read = await accountOf(context).readJob(callerOf(context), params.id.toLowerCase());
    return read.ok ? context.json(jobView(read.value)) : refuse(context, read.refusal);
  },
);
