/** `GET /account/statement.csv[?month=]`: a month's ledger entries as comma-separated values (RFC 4180). */
import type { Answer, Statement } from "../../account/contract.ts";
import { monthOf, readMonth, type Month } from "../../domain/calendar.ts";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { csvRow } from "../../http/csv.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appNames } from "./apps.ts";
import { statementEntries } from "./statement_entries.ts";

/** The most entries of one month in one CSV file: 10,000 rows take two megabytes of memory. */
const STATEMENT_CSV_LINES_MAX = 10_000;

/** Entries that are read at a time. */
const STATEMENT_CSV_PAGE_LINES = 200;

/** Newest first. A month with more entries than the maximum loses its oldest ones. */
export const downloadStatement = factory.createHandlers(async (context) => {
  const month = readMonth(context.req.query("month") ?? "") ?? monthOf(Date.now());
  const appName = await appNames(context);
  const parts = [csvRow(["line", "at", "what", "about", "app", "job_id", "credits", "balance"])];
  let before_line: number | null = null;
  for (let count = 0; count < STATEMENT_CSV_LINES_MAX; count += STATEMENT_CSV_PAGE_LINES) {
    const read: Answer<Statement> = await readEntries(context, month, before_line);
    if (!read.ok) return refuseWithPage(context, read.refusal);
    parts.push(...csvRows(read.value, appName));
    before_line = read.value.rows.at(-1)?.line ?? null;
    if (!read.value.more) break;
  }
  context.header("Content-Type", "text/csv; charset=utf-8");
  context.header("Content-Disposition", `attachment; filename="statement-${month.name}.csv"`);
  return context.body(parts.join(""));
});

function readEntries(context: AppContext, { from_ms, to_ms }: Month, before_line: number | null) {
  const account = context.get("services").accounts(context.get("session").identity_id);
  const limit = STATEMENT_CSV_PAGE_LINES;
  return account.readStatement(callerOf(context), { from_ms, to_ms, before_line, limit });
}

function csvRows(
  statement: Statement,
  appName: (slug: string | null) => string,
): readonly string[] {
  return statementEntries(statement, appName).map((entry, index) => {
    const { app_slug = null, job_id = null } = statement.rows[index] ?? {};
    const { line, at_ms, name, about, amount, balance_after } = entry;
    const at = new Date(at_ms).toISOString();
    return csvRow([line, at, name, about, app_slug, job_id, amount, balance_after]);
  });
}
