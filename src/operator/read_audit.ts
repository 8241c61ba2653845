/** Operators' actions, newest first: a page of them, or all as CSV. */
import * as z from "zod/mini";
import type { AuditEntry } from "../domain/audit.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, type Result } from "../domain/result.ts";
import { timestamp } from "../domain/wire.ts";
import { dateTime, pageLimit, queryText } from "../fields.ts";
import type { OperatorServices } from "./acting.ts";
import { auditCsv } from "./audit_csv.ts";
import { resolveFilter } from "./find_person.ts";

const name = queryText.check(z.maxLength(254, "must have at most 254 characters"));

export const listAuditQuery = z.object({
  actor: z.optional(name),
  act: z.optional(queryText.check(z.maxLength(100, "must have at most 100 characters"))),
  subject: z.optional(name),
  request_id: z.optional(name),
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
async function filterOf(
  { identity }: OperatorServices,
  { from, to, act, request_id, ...query }: AuditQuery,
) {
  const [actor, subject] = await Promise.all([
    resolveFilter(identity, query.actor),
    resolveFilter(identity, query.subject),
  ]);
  if (!actor.ok) return actor;
  if (!subject.ok) return subject;
  const before_id = query.cursor?.toLowerCase();
  const people = { actor: actor.value, subject: subject.value };
  return accepted({ ...people, act, request_id, from_ms: from, to_ms: to, before_id });
}

export interface AuditPage {
  readonly entries: readonly ReturnType<typeof recordView>[];
  readonly next_cursor?: string;
}

/** A page of the audit log. Refused if nobody, or more than one person, has an e-mail address of a filter. */
export async function readAudit(
  services: OperatorServices,
  query: AuditQuery,
): Promise<Result<AuditPage, Refusal>> {
  const filter = await filterOf(services, query);
  if (!filter.ok) return filter;
  const { limit } = query;
  const { entries, next_id } = await services.audit.list({ ...filter.value, limit });
  return accepted({
    entries: entries.map(recordView),
    ...(next_id === null ? {} : { next_cursor: next_id }),
  });
}

/** All records of a query as CSV. */
export async function readAuditCsv(
  services: OperatorServices,
  query: AuditQuery,
): Promise<Result<string, Refusal>> {
  const filter = await filterOf(services, query);
  return filter.ok ? accepted(await auditCsv(services, filter.value)) : filter;
}
