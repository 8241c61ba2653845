/** `GET /api/admin/audit`: operators' actions, newest first, as JSON or, with `Accept: text/csv`, as CSV. */
import * as z from "zod/mini";
import type { AuditEntry } from "../../../domain/audit.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, type Result } from "../../../domain/result.ts";
import { factory, type AppContext } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { dateTime, pageLimit, queryText, validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";
import { resolveFilter } from "./accounts/identity.ts";
import { auditCsv } from "./audit_csv.ts";

const name = queryText.check(z.maxLength(254, "must have at most 254 characters"));

export const listAuditQuery = z.object({
  actor: z.optional(name),
  act: z.optional(queryText.check(z.maxLength(100, "must have at most 100 characters"))),
  subject: z.optional(name),
  from: z.optional(dateTime),
  to: z.optional(dateTime),
  limit: pageLimit,
  cursor: z.optional(z.uuid("must be a next_cursor of this list")),
});

type AuditQuery = z.output<typeof listAuditQuery>;

/** Each record has its outcome among its details. */
function recordView({ at_ms, details, outcome, ...record }: AuditEntry) {
  return { ...record, at: timestamp(at_ms), details: { ...details, outcome } };
}

/** The filter of a query. E-mail addresses are replaced by the identities of their people. */
async function filterOf(context: AppContext, { from, to, act, ...query }: AuditQuery) {
  const [actor, subject] = await Promise.all([
    resolveFilter(context, query.actor),
    resolveFilter(context, query.subject),
  ]);
  if (!actor.ok) return actor;
  if (!subject.ok) return subject;
  const before_id = query.cursor?.toLowerCase();
  const people = { actor: actor.value, subject: subject.value };
  return accepted({ ...people, act, from_ms: from, to_ms: to, before_id });
}

export interface AuditPage {
  readonly entries: readonly ReturnType<typeof recordView>[];
  readonly next_cursor?: string;
}

/** A page of the audit log. Refused if an e-mail address in a filter is nobody's, or several people's. */
export async function readAudit(
  context: AppContext,
  query: AuditQuery,
): Promise<Result<AuditPage, Refusal>> {
  const filter = await filterOf(context, query);
  if (!filter.ok) return filter;
  const { limit } = query;
  const found = await context.get("services").audit.list({ ...filter.value, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return accepted({
    entries: page.map(recordView),
    ...(last === undefined ? {} : { next_cursor: last.id }),
  });
}

/** All records of a query as a CSV download. */
export async function respondWithAuditCsv(
  context: AppContext,
  query: AuditQuery,
): Promise<Result<Response, Refusal>> {
  const filter = await filterOf(context, query);
  if (!filter.ok) return filter;
  const csv = await auditCsv(context.get("services"), filter.value);
  context.header("Content-Type", "text/csv; charset=utf-8");
  context.header("Content-Disposition", `attachment; filename="audit.csv"`);
  return accepted(context.body(csv));
}

export const listAudit = factory.createHandlers(validQuery(listAuditQuery), async (context) => {
  const query = context.req.valid("query");
  if ((context.req.header("Accept") ?? "").includes("text/csv")) {
    const csv = await respondWithAuditCsv(context, query);
    return csv.ok ? csv.value : refuse(context, csv.refusal);
  }
  const page = await readAudit(context, query);
  return page.ok ? context.json(page.value) : refuse(context, page.refusal);
});
