/** `GET /api/ledger`: the entries of the caller's ledger, newest first. */
import * as z from "zod/mini";
import type { EntryRow, ListEntriesRequest, Page } from "../../../account/contract.ts";
import { ENTRY_KINDS } from "../../../domain/ledger.ts";
import { accountOf, callerOf, factory } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { appSlug, jobId, dateTime, pageLimit, queryText, validQuery } from "../../validation.ts";
import { entryView } from "../../views.ts";

export const listLedgerQuery = z.object({
  app: z.optional(appSlug),
  job_id: z.optional(jobId),
  kind: z.optional(z.enum(ENTRY_KINDS, `must be one of ${ENTRY_KINDS.join(", ")}`)),
  from: z.optional(dateTime),
  to: z.optional(dateTime),
  limit: pageLimit,
  cursor: z.optional(
    z.pipe(
      queryText.check(z.regex(/^[1-9]\d{0,14}$/, "must be a next_cursor of this list")),
      z.transform(Number),
    ),
  ),
});

/** The account's request, from a validated query. */
export function entriesRequest(query: z.output<typeof listLedgerQuery>): ListEntriesRequest {
  const { app, job_id, kind, from, to, limit, cursor } = query;
  const time = { from_ms: from, to_ms: to };
  return { app_slug: app, job_id, kind, ...time, before_line: cursor, limit };
}

export function entriesView({ rows, next }: Page<EntryRow, number>) {
  return { entries: rows.map(entryView), ...(next === null ? {} : { next_cursor: String(next) }) };
}

export const listLedger = factory.createHandlers(validQuery(listLedgerQuery), async (context) => {
  const request = entriesRequest(context.req.valid("query"));
  const listed = await accountOf(context).listEntries(callerOf(context), request);
  if (!listed.ok) return refuse(context, listed.refusal);
  const is_app = context.get("caller").proof.kind === "app";
  return context.json(entriesView(is_app ? withoutNotes(listed.value) : listed.value));
});

/** Operators write their reasons for the account's holder, not for an app. */
function withoutNotes({ rows, next }: Page<EntryRow, number>): Page<EntryRow, number> {
  return { rows: rows.map((row) => ({ ...row, note: null })), next };
}
