/** `GET /account/statement[?month=&before=]` and `.csv`: the passbook by months. */
import type { StatementAnswer } from "../../account/contract.ts";
import { monthOf, readMonth, type Month } from "../../domain/calendar.ts";
import { StatementPage, type MonthLink } from "./statement_page.tsx";
import { timeText } from "../layout/time.tsx";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appNames } from "./app_names.ts";
import { csvRow } from "./csv.ts";
import { statementLines } from "./statement_lines.ts";

/** Ledger entries on one page. */
const STATEMENT_PAGE_ROWS = 100;

/** The most entries of one month in one CSV file: 10,000 rows take two megabytes of memory. */
const STATEMENT_CSV_LINES_MAX = 10_000;

export const showStatement = factory.createHandlers(async (context) => {
  const now = monthOf(Date.now());
  const month = readMonth(context.req.query("month") ?? "") ?? now;
  const before_line = readLine(context.req.query("before"));
  const [answer, appName] = await Promise.all([
    readPage(context, month, before_line),
    appNames(context),
  ]);
  if (!answer.ok) return refuseWithPage(context, answer.refusal);
  const { opened_at_ms, opening, closing, rows, more } = answer.value;
  const older = `/account/statement?month=${month.name}&before=${rows.at(-1)?.line ?? 0}`;
  return context.html(
    <StatementPage
      month_name={timeText(month.from_ms, "month")}
      month={month.name}
      earlier={month.from_ms > opened_at_ms ? monthLink(month.from_ms - 1) : null}
      later={month.to_ms <= now.from_ms ? monthLink(month.to_ms) : null}
      opening={opening}
      closing={closing}
      is_now={month.name === now.name}
      lines={statementLines(answer.value, appName)}
      older={more ? older : null}
    />,
  );
});

function monthLink(at_ms: number): MonthLink {
  const { name: month, from_ms } = monthOf(at_ms);
  return { month, month_name: timeText(from_ms, "month") };
}

/** Newest first, as on the page; the newest lines of a month that has more than one file takes. */
export const downloadStatement = factory.createHandlers(async (context) => {
  const month = readMonth(context.req.query("month") ?? "") ?? monthOf(Date.now());
  const appName = await appNames(context);
  const parts = [csvRow(["line", "at", "what", "about", "app", "job_id", "credits", "balance"])];
  let before_line: number | null = null;
  for (let count = 0; count < STATEMENT_CSV_LINES_MAX; count += STATEMENT_PAGE_ROWS) {
    const answer = await readPage(context, month, before_line);
    if (!answer.ok) return refuseWithPage(context, answer.refusal);
    parts.push(...csvLines(answer.value, appName));
    before_line = answer.value.rows.at(-1)?.line ?? null;
    if (!answer.value.more) break;
  }
  const name = `statement-${month.name}.csv`;
  context.header("Content-Type", "text/csv; charset=utf-8");
  context.header("Content-Disposition", `attachment; filename="${name}"`);
  return context.body(parts.join(""));
});

function csvLines(
  statement: StatementAnswer,
  appName: (slug: string | null) => string,
): readonly string[] {
  return statementLines(statement, appName).map((shown, index) => {
    const entry = statement.rows[index];
    const { line, at_ms, name, about, amount, balance_after } = shown;
    const at = new Date(at_ms).toISOString();
    const app = entry?.app_slug ?? null;
    return csvRow([line, at, name, about, app, entry?.job_id ?? null, amount, balance_after]);
  });
}

function readPage(context: AppContext, { from_ms, to_ms }: Month, before_line: number | null) {
  const account = context.get("services").accounts(context.get("session").identity_id);
  const limit = STATEMENT_PAGE_ROWS;
  return account.readStatement(callerOf(context), { from_ms, to_ms, before_line, limit });
}

function readLine(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
