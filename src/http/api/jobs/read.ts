/** `GET /api/jobs/{id}`: one job of the caller. */
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { jobView } from "../../views.ts";

export const readJob = factory.createHandlers(async (context) => {
  const account = accountOf(context);
  const job_id = (context.req.param("id") ?? "").toLowerCase();
  const read = await account.readJob(callerOf(context), job_id);
  return read.ok ? context.json(jobView(read.value)) : refuse(context, read.refusal);
});
