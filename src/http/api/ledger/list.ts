/** `GET /api/ledger`: the entries of the caller's ledger, newest first. */
import * as z from "zod/mini";
import type { ListedEntry, ListEntriesRequest, Page } from "../../../account/contract.ts";
import { ENTRY_KINDS } from "../../../domain/ledger.ts";
import { accountOf, callerOf } from "../../context.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { appSlug, jobId, dateTime, pageLimit, queryText, starterId } from "../../validation.ts";
import { entryView } from "../../views.ts";

export const listLedgerQuery = z.object({
  app: z.optional(appSlug),
  job_id: z.optional(jobId),
  by: z.optional(starterId),
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
  const { app, job_id, by, kind, from, to, limit, cursor } = query;
  const time = { from_ms: from, to_ms: to };
  return { app_slug: app, job_id, by, kind, ...time, before_line: cursor, limit };
}

export function entriesView({ rows, next }: Page<ListedEntry, number>) {
  return { entries: rows.map(entryView), ...(next === null ? {} : { next_cursor: String(next) }) };
}

export const listLedger = endpoint(
  { at: "GET /api/ledger", caller: "user_or_app", query: listLedgerQuery },
  async (context, { query }) => {
    const listed = await accountOf(context).listEntries(callerOf(context), entriesRequest(query));
    if (!listed.ok) return refuse(context, listed.refusal);
    const is_app = context.get("caller").proof.kind === "app";
    return context.json(entriesView(is_app ? withoutNotes(listed.value) : listed.value));
  },
);

/** Operators write their reasons for the account's holder, not for an app. */
function withoutNotes({ rows, next }: Page<ListedEntry, number>): Page<ListedEntry, number> {
  return { rows: rows.map((row) => ({ ...row, note: null })), next };
}
