/** `GET /api/jobs`: the caller's jobs, newest first. */
import * as z from "zod/mini";
import type { JobRow, ListJobsRequest, Page } from "../../../account/contract.ts";
import { JOB_STATUSES } from "../../../domain/job.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { appSlug, dateTime, pageLimit, validQuery } from "../../validation.ts";
import { jobsJson, jobView } from "../../views.ts";

export const listJobsQuery = z.object({
  app: z.optional(appSlug),
  status: z.optional(z.enum(JOB_STATUSES, "must be started, completed or failed")),
  from: z.optional(dateTime),
  to: z.optional(dateTime),
  limit: pageLimit,
  cursor: z.optional(z.uuid("must be a next_cursor of this list")),
});

/** The account's request, from a validated query. */
export function jobsRequest(query: z.output<typeof listJobsQuery>): ListJobsRequest {
  const { app: app_slug, status, from, to, limit, cursor } = query;
  return { app_slug, status, from_ms: from, to_ms: to, before_id: cursor?.toLowerCase(), limit };
}

export function jobsView({ rows, next }: Page<JobRow, string>) {
  return { jobs: rows.map(jobView), ...(next === null ? {} : { next_cursor: next }) };
}

export const listJobs = factory.createHandlers(validQuery(listJobsQuery), async (context) => {
  const request = jobsRequest(context.req.valid("query"));
  const listed = await accountOf(context).listJobs(callerOf(context), request);
  if (!listed.ok) return refuse(context, listed.refusal);
  const { rows, next } = listed.value;
  const cursor_json = next === null ? "" : `,"next_cursor":${JSON.stringify(next)}`;
  const json = `{"jobs":${jobsJson(rows)}${cursor_json}}`;
  return context.body(json, 200, { "Content-Type": "application/json" });
});
