/** A month's statement: its entries, each with the balance after it. */
import { Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { number, signed } from "../layout/labels.ts";
import type { StatementEntry } from "./statement_entries.ts";

export interface MonthLink {
  readonly month: string;
  readonly month_name: string;
}

export interface StatementPageProps {
  /** The month as text, and as in the query. */
  readonly month_name: string;
  readonly month: string;
  readonly earlier: MonthLink | null;
  readonly later: MonthLink | null;
  readonly opening: number;
  readonly closing: number;
  /** Whether the month is not over yet. */
  readonly is_current: boolean;
  readonly entries: readonly StatementEntry[];
  /** The path of the month's older entries; null on the last page. */
  readonly older_path: string | null;
}

export function StatementPage(props: StatementPageProps) {
  const { month_name, month, entries, older_path, is_current } = props;
  return (
    <Page title={`Statement, ${month_name}`} section="statement" scripts={["times.js"]}>
      <div class="page-head">
        <h1>Statement</h1>
        <Months {...props} />
      </div>
      <section class="panel" aria-labelledby="month">
        <div class="panel-head">
          <h2 id="month">{month_name}</h2>
          <a class="screen-only" href={`/account/statement.csv?month=${month}`} download>
            Download as CSV
          </a>
        </div>
        <Sums {...props} />
        {entries.length === 0 ? (
          <p class="empty">
            {is_current
              ? "Your balance has not changed this month."
              : "Your balance did not change in this month."}
          </p>
        ) : (
          <EntryTable entries={entries} />
        )}
      </section>
      {older_path === null ? null : (
        <nav class="pages" aria-label="Pages">
          <span></span>
          <a href={older_path} rel="next">
            Older entries of {month_name}
          </a>
        </nav>
      )}
      <Zone />
    </Page>
  );
}

function Months({ earlier, later }: StatementPageProps) {
  if (earlier === null && later === null) return null;
  return (
    <nav class="months" aria-label="Months">
      {earlier === null ? null : (
        <a href={`/account/statement?month=${earlier.month}`} rel="prev">
          {earlier.month_name}
        </a>
      )}
      {later === null ? null : (
        <a href={`/account/statement?month=${later.month}`} rel="next">
          {later.month_name}
        </a>
      )}
    </nav>
  );
}

function Sums({ opening, closing, is_current }: StatementPageProps) {
  return (
    <dl class="sums">
      <div>
        <dt>At the start</dt>
        <dd>{number(opening)}</dd>
      </div>
      <div>
        <dt>Change</dt>
        <dd>{signed(closing - opening)}</dd>
      </div>
      <div>
        <dt>{is_current ? "Now" : "At the end"}</dt>
        <dd class="sum-last">{number(closing)}</dd>
      </div>
    </dl>
  );
}

/** Ledger entries, each with the balance after it. */
export function EntryTable({ entries }: { entries: readonly StatementEntry[] }) {
  return (
    <table class="statement">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col" class="amount">
            Credits
          </th>
          <th scope="col" class="amount">
            Balance
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ at_ms, name, about, amount, movement, balance_after, is_hold }) => (
          <tr class={is_hold ? "is-hold" : undefined}>
            <td class="when">
              <Time at_ms={at_ms} style="clock" />
            </td>
            <td>
              <span class="what">{name}</span>
              {about === null ? null : <span class="hint below">{about}</span>}
            </td>
            <td class={amount > 0 && movement === null ? "amount is-in" : "amount"}>
              {signed(amount)}
              {movement === null ? null : <span class="hint below">{movement}</span>}
            </td>
            <td class="amount">{number(balance_after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
