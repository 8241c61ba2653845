/** `GET /api/admin/audit`: operators' actions, newest first. */
import * as z from "zod/mini";
import { factory, type AppContext } from "../../context.ts";
import { pageLimit, queryText, validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";

export const listAuditQuery = z.object({
  actor: z.optional(queryText.check(z.maxLength(254, "must have at most 254 characters"))),
  act: z.optional(queryText.check(z.maxLength(100, "must have at most 100 characters"))),
  subject: z.optional(queryText.check(z.maxLength(254, "must have at most 254 characters"))),
  limit: pageLimit,
  cursor: z.optional(z.uuid("must be a next_cursor of this list")),
});

/** A page of the audit log. Each record has its outcome among its details. */
export async function readAudit(context: AppContext, query: z.output<typeof listAuditQuery>) {
  const { limit, cursor, ...filter } = query;
  const { audit } = context.get("services");
  const before_id = cursor?.toLowerCase();
  const found = await audit.list({ ...filter, before_id, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    entries: page.map(({ at_ms, details, outcome, ...record }) => ({
      ...record,
      at: timestamp(at_ms),
      details: { ...details, outcome },
    })),
    ...(last === undefined ? {} : { next_cursor: last.id }),
  };
}

export const listAudit = factory.createHandlers(validQuery(listAuditQuery), async (context) =>
  context.json(await readAudit(context, context.req.valid("query"))),
);
