/** `GET /api/jobs/{id}`: one job of the caller. */
import { callerOf, factory } from "../context.ts";
import { refuse } from "../refusals.ts";
import { jobView } from "../views.ts";

export const readJob = factory.createHandlers(async (context) => {
  const account = context.get("services").accounts(context.get("principal").identity_id);
  const job_id = (context.req.param("id") ?? "").toLowerCase();
  const answer = await account.readJob(callerOf(context), job_id);
  return answer.ok ? context.json(jobView(answer.value)) : refuse(context, answer.refusal);
});
