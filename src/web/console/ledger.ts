/** Reads a page of an account's ledger for the console, as its filters request. */
import * as z from "zod/mini";
import { OPERATOR } from "../../account/contract.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { ENTRY_KINDS } from "../../domain/ledger.ts";
import { holderAccount } from "../../http/api/admin/accounts/holder.ts";
import type { AppContext } from "../../http/context.ts";
import { appSlug, jobId } from "../../http/validation.ts";
import { readEntryNumber } from "../account/statement.tsx";
import { readQuery } from "./queries.ts";

/** Ledger entries on one page of an account in the console. */
const ENTRIES_SHOWN_MAX = 25;

const ledgerQuery = z.object({
  kind: z.optional(z.enum(ENTRY_KINDS)),
  app: z.optional(appSlug),
  job: z.optional(jobId),
  first: z.optional(z.iso.date()),
  last: z.optional(z.iso.date()),
});

/** Without filters, entries come with their jobs, which give them better names. */
export async function readLedgerPage(context: AppContext) {
  const account = holderAccount(context);
  const filters = readQuery(context, ledgerQuery);
  const before_line = readEntryNumber(context.req.query("before"));
  const { kind, app: app_slug, job: job_id, first, last } = filters;
  const is_first_page = before_line === null;
  const limit = ENTRIES_SHOWN_MAX;
  if (Object.keys(filters).length === 0) {
    const period = { from_ms: 0, to_ms: Date.now() + DAY_MS };
    const read = await account.readStatement(OPERATOR, { ...period, before_line, limit });
    if (!read.ok) return read;
    const { rows, jobs, next: next_line } = read.value;
    return { ok: true, value: { rows, jobs, next_line, filters, is_first_page } } as const;
  }
  const read = await account.listEntries(OPERATOR, {
    kind,
    app_slug,
    job_id,
    limit,
    from_ms: first === undefined ? undefined : Date.parse(first),
    to_ms: last === undefined ? undefined : Date.parse(last) + DAY_MS,
    before_line: before_line ?? undefined,
  });
  if (!read.ok) return read;
  const { rows, next: next_line } = read.value;
  return { ok: true, value: { rows, jobs: [], next_line, filters, is_first_page } } as const;
}
