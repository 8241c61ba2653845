/** `GET /api/jobs`: the caller's jobs, newest first. */
import * as z from "zod/mini";
import type { JobRow, ListJobsRequest, Page } from "../../../account/contract.ts";
import type { AppProof } from "../../../domain/proof.ts";
import { job_filters } from "../../../fields.ts";
import { findJobs } from "../../../operator/find_jobs.ts";
import { accountOf, callerOf, type AppContext } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { countRequest } from "../../middleware/rate_limits.ts";
import { refuse } from "../../refusals.ts";
import { jobsJson, jobView } from "../../views.ts";

export const listJobsQuery = z.object(job_filters);

/** The account's request, from a validated query. */
export function jobsRequest(query: z.output<typeof listJobsQuery>): ListJobsRequest {
  const { app: app_slug, status, by, from, to, limit, cursor } = query;
  const time = { from_ms: from, to_ms: to };
  return { app_slug, status, by, ...time, before_id: cursor?.toLowerCase(), limit };
}

export function jobsView({ rows, next }: Page<JobRow, string>) {
  return { jobs: rows.map(jobView), ...(next === null ? {} : { next_cursor: next }) };
}

export const listJobs = endpoint(
  { at: "GET /api/jobs", caller: "user_or_whole_app", query: listJobsQuery },
  async (context, { query }) => {
    const own_app = context.get("own_app");
    if (own_app !== undefined) return listJobsOfApp(context, own_app, query);
    const request = jobsRequest(query);
    const listed = await accountOf(context).listJobs(callerOf(context), request);
    if (!listed.ok) return refuse(context, listed.refusal);
    const { rows, next } = listed.value;
    const cursor_json = next === null ? "" : `,"next_cursor":${JSON.stringify(next)}`;
    const json = `{"jobs":${jobsJson(rows)}${cursor_json}}`;
    return context.body(json, 200, { "Content-Type": "application/json" });
  },
);

/** The app's jobs of all accounts, from the read model: for its key without `Passbook-Identity`. */
async function listJobsOfApp(
  context: AppContext,
  { app_slug }: AppProof,
  query: z.output<typeof listJobsQuery>,
): Promise<Response> {
  if (query.app !== undefined && query.app !== app_slug) {
    return refuse(context, { code: "scope", reason: "app_key" });
  }
  const limited = await countRequest(context, "app_jobs", app_slug);
  if (limited !== null) return refuse(context, limited);
  const own = { ...query, app: app_slug, names_tokens: false };
  const found = await findJobs(context.get("services"), own);
  return found.ok ? context.json(found.value) : refuse(context, found.refusal);
}
