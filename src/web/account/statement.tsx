/** `GET /account/statement[?month=&app=&kind=&by=&before=]`: a month's jobs, purchases and other changes of the credits. */
import * as z from "zod/mini";
import { APP_SLUG_PATTERN } from "../../domain/app_policy.ts";
import { monthOf, readMonth, type Month } from "../../domain/calendar.ts";
import { STATEMENT_GROUPS } from "../../domain/statement.ts";
import { callerOf, factory } from "../../http/context.ts";
import { starterId } from "../../fields.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validOr } from "../../http/validation.ts";
import { appLooks } from "../layout/app_icon.tsx";
import { StatementPage, type MonthLink } from "./statement_page.tsx";

/** Rows on one page: with the entries of each job, less than 60 KiB of HTML. */
const STATEMENT_PAGE_ROWS = 50;

/** An invalid filter is ignored: for a person, an unfiltered list is more useful than an error. */
const query = z.object({
  app: validOr(null, z.string().check(z.regex(APP_SLUG_PATTERN))),
  kind: validOr(null, z.enum(STATEMENT_GROUPS)),
  by: validOr(null, starterId),
});

export const showStatement = factory.createHandlers(async (context) => {
  const now = monthOf(Date.now());
  const month = readMonth(context.req.query("month") ?? "") ?? now;
  const filters = query.parse({ ...context.req.query() });
  const before_line = readEntryNumber(context.req.query("before"));
  const account = context.get("services").accounts(context.get("session").identity_id);
  const { from_ms, to_ms } = month;
  const [read, appLook] = await Promise.all([
    account.readStatementRows(callerOf(context), {
      from_ms,
      to_ms,
      before_line,
      app_slug: filters.app,
      group: filters.kind,
      by: filters.by,
      limit: STATEMENT_PAGE_ROWS,
    }),
    appLooks(context),
  ]);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const { opened_at_ms, next } = read.value;
  const pathOf = ({ name }: Month, before: number | null = null): string => {
    const given = Object.entries({ month: name, ...filters, before });
    const set = given.flatMap(([key, value]) => (value === null ? [] : [[key, String(value)]]));
    return `/account/statement?${new URLSearchParams(set).toString()}`;
  };
  const linkTo = (at_ms: number): MonthLink => {
    const linked = monthOf(at_ms);
    return { path: pathOf(linked), from_ms: linked.from_ms };
  };
  return context.html(
    <StatementPage
      statement={read.value}
      appLook={appLook}
      month={month.name}
      from_ms={from_ms}
      filters={filters}
      earlier={from_ms > opened_at_ms ? linkTo(from_ms - 1) : null}
      later={to_ms <= now.from_ms ? linkTo(to_ms) : null}
      is_current={month.name === now.name}
      first_path={before_line === null ? null : pathOf(month)}
      older_path={next === null ? null : pathOf(month, next)}
    />,
  );
});

/** An entry number from a query; null if it is not one. */
export function readEntryNumber(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
