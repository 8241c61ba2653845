/** The passbook as a statement: a month's lines, each with the balance after it. */
import { Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { number, signed } from "../layout/account_words.ts";

/** A line in words. */
export interface StatementLine {
  readonly line: number;
  readonly at_ms: number;
  readonly name: string;
  /** What it was for; null where the name says it all. */
  readonly about: string | null;
  readonly amount: number;
  /** What kind of movement the amount is, where it is neither income nor charge; null otherwise. */
  readonly movement: string | null;
  readonly balance_after: number;
  /** A hold and its release move what can be spent, and cost nothing. */
  readonly is_hold: boolean;
}

export interface MonthLink {
  readonly month: string;
  readonly month_name: string;
}

export interface StatementPageProps {
  /** As people write it, and as the address has it. */
  readonly month_name: string;
  readonly month: string;
  readonly earlier: MonthLink | null;
  readonly later: MonthLink | null;
  readonly opening: number;
  readonly closing: number;
  readonly is_now: boolean;
  readonly lines: readonly StatementLine[];
  /** The address of the month's older lines; null where all are shown. */
  readonly older: string | null;
}

export function StatementPage(props: StatementPageProps) {
  const { month_name, month, lines, older, is_now } = props;
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
        {lines.length === 0 ? (
          <p class="empty">
            {is_now
              ? "Nothing has moved your balance this month."
              : "Nothing moved your balance in this month."}
          </p>
        ) : (
          <StatementLines lines={lines} />
        )}
      </section>
      {older === null ? null : (
        <nav class="pages" aria-label="Pages">
          <span></span>
          <a href={older} rel="next">
            Older lines of {month_name}
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

function Sums({ opening, closing, is_now }: StatementPageProps) {
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
        <dt>{is_now ? "Now" : "At the end"}</dt>
        <dd class="sum-last">{number(closing)}</dd>
      </div>
    </dl>
  );
}

/** Lines of the passbook, each with the balance after it. */
export function StatementLines({ lines }: { lines: readonly StatementLine[] }) {
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
        {lines.map(({ at_ms, name, about, amount, movement, balance_after, is_hold }) => (
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
