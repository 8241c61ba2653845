/** `GET /api/admin/jobs`: jobs of all accounts from the read model, newest first. */
import * as z from "zod/mini";
import { listJobsQuery } from "../jobs/list.ts";
import { factory, type AppContext } from "../../context.ts";
import { accepted } from "../../../domain/result.ts";
import { refuse } from "../../refusals.ts";
import { resolveFilter } from "./accounts/identity.ts";
import { queryText, validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";

export const findJobsQuery = z.extend(listJobsQuery, {
  identity_id: z.optional(queryText.check(z.maxLength(254, "must have at most 254 characters"))),
});

/** A page of jobs. The read model holds no metadata: only the account stores it. */
export async function findJobs(context: AppContext, query: z.output<typeof findJobsQuery>) {
  const { app: app_slug, status, from, to, limit, cursor } = query;
  const resolved = await resolveFilter(context, query.identity_id);
  if (!resolved.ok) return resolved;
  const identity_id = resolved.value;
  const as_of = timestamp(Date.now());
  const found = await context.get("services").read_model.findJobs({
    app_slug,
    status,
    from_ms: from,
    to_ms: to,
    identity_id,
    before_id: cursor?.toLowerCase(),
    limit: limit + 1,
  });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return accepted({
    jobs: page.map((job) => ({
      id: job.id,
      identity_id: job.identity_id,
      app_slug: job.app_slug,
      action: job.action,
      status: job.status,
      reserved: job.reserved,
      actual_cost: job.actual_cost,
      refunded: job.refunded,
      step: job.step,
      spent: job.spent,
      failure: job.failure,
      failure_reason: job.failure_reason,
      created_at: timestamp(job.created_at_ms),
      updated_at: timestamp(job.updated_at_ms),
      expires_at: timestamp(job.expires_at_ms),
    })),
    ...(last === undefined ? {} : { next_cursor: last.id }),
    as_of,
  });
}

export type FoundJobs = Extract<Awaited<ReturnType<typeof findJobs>>, { ok: true }>["value"];

export const listAllJobs = factory.createHandlers(validQuery(findJobsQuery), async (context) => {
  const found = await findJobs(context, context.req.valid("query"));
  return found.ok ? context.json(found.value) : refuse(context, found.refusal);
});
