/** `GET /account/statement[?month=&before=]`: a month's ledger entries. */
import { monthOf, readMonth, type Month } from "../../domain/calendar.ts";
import { StatementPage, type MonthLink } from "./statement_page.tsx";
import { timeText } from "../layout/time.tsx";
import { callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appNames } from "./apps.ts";
import { statementEntries } from "./statement_entries.ts";

/** Ledger entries on one page. */
export const STATEMENT_PAGE_ROWS = 100;

export const showStatement = factory.createHandlers(async (context) => {
  const now = monthOf(Date.now());
  const month = readMonth(context.req.query("month") ?? "") ?? now;
  const before_line = readEntryNumber(context.req.query("before"));
  const [read, appName] = await Promise.all([
    readStatementPage(context, month, before_line),
    appNames(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const { opened_at_ms, opening, closing, rows, more } = read.value;
  const older_path = `/account/statement?month=${month.name}&before=${rows.at(-1)?.line ?? 0}`;
  return context.html(
    <StatementPage
      month_name={timeText(month.from_ms, "month")}
      month={month.name}
      earlier={month.from_ms > opened_at_ms ? monthLink(month.from_ms - 1) : null}
      later={month.to_ms <= now.from_ms ? monthLink(month.to_ms) : null}
      opening={opening}
      closing={closing}
      is_current={month.name === now.name}
      entries={statementEntries(read.value, appName)}
      older_path={more ? older_path : null}
    />,
  );
});

function monthLink(at_ms: number): MonthLink {
  const { name: month, from_ms } = monthOf(at_ms);
  return { month, month_name: timeText(from_ms, "month") };
}

export function readStatementPage(
  context: AppContext,
  { from_ms, to_ms }: Month,
  before_line: number | null,
) {
  const account = context.get("services").accounts(context.get("session").identity_id);
  const limit = STATEMENT_PAGE_ROWS;
  return account.readStatement(callerOf(context), { from_ms, to_ms, before_line, limit });
}

/** An entry number from a query; null if it is not one. */
export function readEntryNumber(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
