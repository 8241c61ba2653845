/** `GET /api/jobs`: the caller's jobs, newest first. */
import * as z from "zod";
import { JOB_STATUSES } from "../../domain/job.ts";
import { accountOf, callerOf, factory } from "../context.ts";
import { refuse } from "../refusals.ts";
import { appSlug, pageLimit, validQuery } from "../validation.ts";
import { jobsJson } from "../views.ts";

export const listJobsQuery = z.object({
  app: appSlug.optional(),
  status: z.enum(JOB_STATUSES, "must be started, completed or failed").optional(),
  limit: pageLimit,
  cursor: z.uuid("must be a next_cursor of this list").optional(),
});

export const listJobs = factory.createHandlers(validQuery(listJobsQuery), async (context) => {
  const { app: app_slug, status, limit, cursor } = context.req.valid("query");
  const account = accountOf(context);
  const before_id = cursor?.toLowerCase();
  const answer = await account.listJobs(callerOf(context), { app_slug, status, before_id, limit });
  if (!answer.ok) return refuse(context, answer.refusal);
  const { rows, next } = answer.value;
  const cursor_json = next === null ? "" : `,"next_cursor":${JSON.stringify(next)}`;
  const json = `{"jobs":${jobsJson(rows)}${cursor_json}}`;
  return context.body(json, 200, { "Content-Type": "application/json" });
});
