/** `GET /account/statement.csv[?month=]`: a month's ledger entries as comma-separated values (RFC 4180). */
import type { Answer, EntryRow, Statement } from "../../account/contract.ts";
import { monthOf, readMonth, type Month } from "../../domain/calendar.ts";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { csvRow } from "../../domain/csv.ts";
import { startedBy } from "../../domain/started_by.ts";
import { termsView } from "../../domain/wire.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appNames } from "./apps.ts";
import { statementEntries } from "./statement_entries.ts";

/** Entries that are read at a time, with their jobs: less than a tenth of what one call may return. */
const STATEMENT_CSV_PAGE_LINES = 500;

/**
 * Newest first, sent while it is read. If the account cannot be read meanwhile, the connection breaks, so that a part is not
 * taken for the whole.
 */
export const downloadStatement = factory.createHandlers(async (context) => {
  const month = readMonth(context.req.query("month") ?? "") ?? monthOf(Date.now());
  const appName = await appNames(context);
  // Read first, so that a refusal is a page.
  let page = await readEntries(context, month, null);
  if (!page.ok) return refuseWithPage(context, page.refusal);
  const encoder = new TextEncoder();
  const of_entry = ["line", "at", "what", "about", "app", "job_id"];
  const of_starter = ["by", "by_id", "by_name"];
  const header = [...of_entry, ...of_starter, "lot_id", "expires_at", "credits", "balance"];
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(csvRow(header))),
    async pull(controller) {
      if (!page.ok) throw new Error(`the account refused the next entries: ${page.refusal.code}`);
      const { next } = page.value;
      controller.enqueue(encoder.encode(csvRows(page.value, appName).join("")));
      if (next === null) return controller.close();
      page = await readEntries(context, month, next);
    },
  });
  context.header("Content-Type", "text/csv; charset=utf-8");
  context.header("Content-Disposition", `attachment; filename="statement-${month.name}.csv"`);
  return context.body(body);
});

function readEntries(
  context: AppContext,
  { from_ms, to_ms }: Month,
  before_line: number | null,
): Promise<Answer<Statement>> {
  const account = context.get("services").accounts(context.get("session").identity_id);
  const limit = STATEMENT_CSV_PAGE_LINES;
  return account.readStatement(callerOf(context), { from_ms, to_ms, before_line, limit });
}

function csvRows(
  statement: Statement,
  appName: (slug: string | null) => string,
): readonly string[] {
  const jobs = new Map(statement.jobs.map((job) => [job.id, job]));
  return statementEntries(statement, appName).map((entry, index) => {
    const { app_slug = null, job_id = null } = statement.rows[index] ?? {};
    const { line, at_ms, name, about, amount, balance_after } = entry;
    const at = new Date(at_ms).toISOString();
    const job = jobs.get(job_id ?? "");
    const by = job === undefined ? null : startedBy(job);
    const starter = [by?.kind ?? null, by?.id ?? null, by?.name ?? null];
    const { lot_id, expires_at } = lotCells(statement.rows[index]);
    const known = [line, at, name, about, app_slug, job_id, ...starter, lot_id, expires_at];
    return csvRow([...known, amount, balance_after]);
  });
}

/** The lot of an entry, and when credits expire that it brought. */
function lotCells(entry: EntryRow | undefined) {
  const { lot_id = null, terms = null } = entry === undefined ? {} : termsView(entry);
  return { lot_id, expires_at: terms?.expires_at ?? null };
}
