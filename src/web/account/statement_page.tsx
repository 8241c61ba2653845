/** A month's statement: one row for each job and each other change of the credits. */
import { STATEMENT_GROUPS, type StatementGroup } from "../../domain/statement.ts";
import type { StatementRows } from "../../account/contract.ts";
import { Page } from "../layout/layout.tsx";
import { NewRows } from "../layout/live.tsx";
import { Zone } from "../layout/time.tsx";
import { number, signed } from "../layout/labels.ts";
import { StatementList, type StatementListProps } from "./statement_list.tsx";

interface StatementFilters {
  readonly app: string | null;
  readonly kind: StatementGroup | null;
  /** An app's slug, or an allowance's id. */
  readonly by: string | null;
}

export interface MonthLink {
  readonly path: string;
  readonly month_name: string;
}

interface StatementPageProps extends Pick<StatementListProps, "appLook"> {
  readonly statement: StatementRows;
  /** The month as text, and as in the query. */
  readonly month_name: string;
  readonly month: string;
  readonly filters: StatementFilters;
  readonly earlier: MonthLink | null;
  readonly later: MonthLink | null;
  /** Whether the month is not over yet. */
  readonly is_current: boolean;
  /** The path of the first page; null if this is it. */
  readonly first_path: string | null;
  /** The path of the month's older rows; null on the last page. */
  readonly older_path: string | null;
}

const GROUP_NAMES: Readonly<Record<StatementGroup, string>> = {
  jobs: "Jobs",
  purchases: "Purchases",
  starter: "Starter credits",
  other: "Everything else",
};

export function StatementPage(props: StatementPageProps) {
  const { statement, month_name, month, is_current, first_path, older_path } = props;
  const is_live = is_current && first_path === null;
  return (
    <Page
      title={`Statement, ${month_name}`}
      section="statement"
      scripts={is_live ? ["times.js", "live.js"] : ["times.js"]}
    >
      <div class="page-head">
        <h1>Statement</h1>
        <Filters {...props} />
      </div>
      <section
        class="panel"
        aria-labelledby="month"
        data-live-after={is_live ? statement.line : undefined}
      >
        <div class="panel-head month-head">
          <h2 id="month">{month_name}</h2>
          <Months {...props} />
        </div>
        <Sums {...props} />
        <NewRows />
        <Rows {...props} />
      </section>
      <nav class="pages" aria-label="Pages">
        {first_path === null ? <span></span> : <a href={first_path}>Newest of {month_name}</a>}
        {older_path === null ? null : (
          <a href={older_path} rel="next">
            Older in {month_name}
          </a>
        )}
      </nav>
      <p class="panel-foot screen-only">
        <span class="hint">
          The CSV file has every change of {month_name}: each time credits were held, charged or
          given back.
        </span>
        <a href={`/account/statement.csv?month=${month}`} download>
          Download as CSV
        </a>
      </p>
      <Zone note="A month begins at midnight UTC." />
    </Page>
  );
}

function Rows({ statement, filters, is_current, appLook }: StatementPageProps) {
  const { rows } = statement;
  if (rows.length > 0) return <StatementList rows={rows} appLook={appLook} />;
  return (
    <p class="empty" id="movements">
      {isFiltered(filters)
        ? "Nothing here matches the filter."
        : is_current
          ? "Your credits have not changed this month."
          : "Your credits did not change in this month."}
    </p>
  );
}

function Months({ earlier, later }: StatementPageProps) {
  if (earlier === null && later === null) return null;
  return (
    <nav class="months" aria-label="Months">
      {earlier === null ? null : (
        <a href={earlier.path} rel="prev">
          {earlier.month_name}
        </a>
      )}
      {later === null ? null : (
        <a href={later.path} rel="next">
          {later.month_name}
        </a>
      )}
    </nav>
  );
}

/** Held credits belong to the holder until their job ends, so they are part of the sums, and rows add up to them. */
function Sums({ statement, filters, is_current }: StatementPageProps) {
  const { opening, closing, sums } = statement;
  const filtered = isFiltered(filters);
  // Nobody adds up a long time that is in the archive, but its rows are all here.
  const changes =
    sums === null
      ? []
      : ([
          ["Spent", signed(sums.spent)],
          ["Added", signed(sums.added)],
        ] as const);
  const held = closing.held === 0 ? [] : ([["Held", number(closing.held)]] as const);
  const figures: readonly (readonly [string, string])[] = filtered
    ? changes
    : [
        [is_current ? "Balance" : "Balance at the end", number(closing.credits)],
        ...held,
        ...changes,
        ["At the start", number(opening.credits + opening.held)],
      ];
  return (
    <div id="sums" data-live>
      <dl class="sums">
        {figures.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {closing.held === 0 || filtered ? null : (
        <p class="hint">
          Held credits are yours until their job ends. The balance and the held credits are{" "}
          {number(closing.credits + closing.held)} together: those at the start, less what was
          spent, with what was added.
        </p>
      )}
    </div>
  );
}

const isFiltered = (filters: StatementFilters): boolean =>
  Object.values(filters).some((value) => value !== null);

function Filters({ statement, filters, month, appLook }: StatementPageProps) {
  return (
    <form method="get" action="/account/statement" class="filters">
      <input type="hidden" name="month" value={month} />
      <label for="filter-app">App</label>
      <select id="filter-app" name="app">
        <option value="">All apps</option>
        {statement.apps.map((slug) => (
          <option value={slug} selected={slug === filters.app}>
            {appLook(slug).name}
          </option>
        ))}
      </select>
      <label for="filter-kind">Kind</label>
      <select id="filter-kind" name="kind">
        <option value="">Everything</option>
        {STATEMENT_GROUPS.map((group) => (
          <option value={group} selected={group === filters.kind}>
            {GROUP_NAMES[group]}
          </option>
        ))}
      </select>
      <SpenderFilter spenders={statement.spenders} by={filters.by} appLook={appLook} />
      <button type="submit" class="quiet small">
        Show
      </button>
    </form>
  );
}

/** Only if there is a choice: most people have no connection that started a job. */
function SpenderFilter({
  spenders,
  by,
  appLook,
}: Pick<StatementRows, "spenders"> &
  Pick<StatementFilters, "by"> &
  Pick<StatementListProps, "appLook">) {
  if (spenders.length === 0 && by === null) return null;
  const is_other = by !== null && !spenders.some(({ id }) => id === by);
  // An app, a connection that has ended, or one that was exchanged from another.
  const others = is_other ? [{ id: by, name: appLook(by).name }] : [];
  return (
    <>
      <label for="filter-by">Started by</label>
      <select id="filter-by" name="by">
        <option value="">Anyone</option>
        {[...spenders, ...others].map(({ id, name }) => (
          <option value={id} selected={id === by}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}
