/** Jobs of all accounts from the read model, newest first or by their cost. */
import * as z from "zod/mini";
import { accepted } from "../domain/result.ts";
import { startedBy, withoutTokenName } from "../domain/started_by.ts";
import { JOB_SORTS, timestamp } from "../domain/wire.ts";
import { job_filters, queryText } from "../fields.ts";
import type { OperatorServices } from "./acting.ts";
import { resolveFilter } from "./find_person.ts";

export const findJobsQuery = z.object({
  ...job_filters,
  sort: z.optional(z.enum(JOB_SORTS, "must be created or cost")),
  identity_id: z.optional(queryText.check(z.maxLength(254, "must have at most 254 characters"))),
});

/**
 * A page of jobs. The read model holds no metadata: only the account stores it. `names_tokens`: whether the caller may
 * learn the names of people's tokens; left out: it is an operator, who may.
 */
export async function findJobs(
  { identity, read_model }: OperatorServices,
  query: z.output<typeof findJobsQuery> & { readonly names_tokens?: boolean },
) {
  const { app: app_slug, status, by, from, to, sort, limit, cursor, names_tokens = true } = query;
  const resolved = await resolveFilter(identity, query.identity_id);
  if (!resolved.ok) return resolved;
  const identity_id = resolved.value;
  const as_of = timestamp(Date.now());
  const found = await read_model.findJobs({
    app_slug,
    status,
    by,
    from_ms: from,
    to_ms: to,
    identity_id,
    sort,
    // The most expensive ones have no further page.
    before_id: sort === "cost" ? undefined : cursor?.toLowerCase(),
    limit,
  });
  return accepted({
    jobs: found.jobs.map((job) => ({
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
      by: startedBy(names_tokens ? job : withoutTokenName(job)),
    })),
    ...(found.next_id === null ? {} : { next_cursor: found.next_id }),
    as_of,
  });
}
