/** A month's statement: one row for each job and each other change of the credits. */
import { STATEMENT_GROUPS, type StatementGroup } from "../../domain/statement.ts";
import type { StatementRows } from "../../account/contract.ts";
import { t, type PlainText } from "../language/text.tsx";
import { Page } from "../layout/layout.tsx";
import { NewRows } from "../layout/live.tsx";
import { timeText, Zone } from "../layout/time.tsx";
import { number, signed } from "../layout/labels.ts";
import { StatementList, type StatementListProps } from "./statement_list.tsx";

interface StatementFilters {
  readonly app: string | null;
  readonly kind: StatementGroup | null;
  /** An app's slug, or an allowance's id. */
  readonly by: string | null;
}

/** A month's statement; `from_ms`: the begin of the month. */
export interface MonthLink {
  readonly path: string;
  readonly from_ms: number;
}

interface StatementPageProps extends Pick<StatementListProps, "appLook"> {
  readonly statement: StatementRows;
  /** The month as in the query, and its begin. */
  readonly month: string;
  readonly from_ms: number;
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

const GROUP_NAMES: Readonly<Record<StatementGroup, PlainText>> = {
  jobs: "Jobs",
  purchases: "Purchases",
  starter: "Starter credits",
  other: "Everything else",
};

export function StatementPage(props: StatementPageProps) {
  const { statement, month, is_current, first_path, older_path } = props;
  const month_name = monthName(props);
  const is_live = is_current && first_path === null;
  return (
    <Page
      title={t("Statement, {month}", { month: month_name })}
      section="statement"
      scripts={is_live ? ["times.js", "live.js"] : ["times.js"]}
    >
      <div class="page-head">
        <h1>{t("Statement")}</h1>
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
      <nav class="pages" aria-label={t("Pages")}>
        {first_path === null ? (
          <span></span>
        ) : (
          <a href={first_path}>{t("Newest of {month}", { month: month_name })}</a>
        )}
        {older_path === null ? null : (
          <a href={older_path} rel="next">
            {t("Older in {month}", { month: month_name })}
          </a>
        )}
      </nav>
      <p class="panel-foot screen-only">
        <span class="hint">
          {t(
            "The CSV file has every change of {month}: each time credits were held, charged or given back.",
            { month: month_name },
          )}
        </span>
        <a href={`/account/statement.csv?month=${month}`} download>
          {t("Download as CSV")}
        </a>
      </p>
      <Zone note={t("A month begins at midnight UTC.")} />
    </Page>
  );
}

const monthName = ({ from_ms }: Pick<MonthLink, "from_ms">): string => timeText(from_ms, "month");

function Rows({ statement, filters, is_current, appLook }: StatementPageProps) {
  const { rows } = statement;
  if (rows.length > 0) return <StatementList rows={rows} appLook={appLook} />;
  return (
    <p class="empty" id="movements">
      {isFiltered(filters)
        ? t("Nothing here matches the filter.")
        : is_current
          ? t("Your credits have not changed this month.")
          : t("Your credits did not change in this month.")}
    </p>
  );
}

function Months({ earlier, later }: StatementPageProps) {
  if (earlier === null && later === null) return null;
  return (
    <nav class="months" aria-label={t("Months")}>
      {earlier === null ? null : (
        <a href={earlier.path} rel="prev">
          {monthName(earlier)}
        </a>
      )}
      {later === null ? null : (
        <a href={later.path} rel="next">
          {monthName(later)}
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
          [t("Spent"), signed(sums.spent)],
          [t("Added"), signed(sums.added)],
        ] as const);
  const held = closing.held === 0 ? [] : ([[t("Held"), number(closing.held)]] as const);
  const figures: readonly (readonly [string, string])[] = filtered
    ? changes
    : [
        [is_current ? t("Balance") : t("Balance at the end"), number(closing.credits)],
        ...held,
        ...changes,
        [t("At the start"), number(opening.credits + opening.held)],
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
          {t(
            "Held credits are yours until their job ends. The balance and the held credits are {sum} together: those at the start, less what was spent, with what was added.",
            { sum: number(closing.credits + closing.held) },
          )}
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
      <label for="filter-app">{t("App")}</label>
      <select id="filter-app" name="app">
        <option value="">{t("All apps")}</option>
        {statement.apps.map((slug) => (
          <option value={slug} selected={slug === filters.app}>
            {appLook(slug).name}
          </option>
        ))}
      </select>
      <label for="filter-kind">{t("Kind")}</label>
      <select id="filter-kind" name="kind">
        <option value="">{t("Everything")}</option>
        {STATEMENT_GROUPS.map((group) => (
          <option value={group} selected={group === filters.kind}>
            {t(GROUP_NAMES[group])}
          </option>
        ))}
      </select>
      <SpenderFilter spenders={statement.spenders} by={filters.by} appLook={appLook} />
      <button type="submit" class="quiet small">
        {t("Show")}
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
      <label for="filter-by">{t("Started by")}</label>
      <select id="filter-by" name="by">
        <option value="">{t("Anyone")}</option>
        {[...spenders, ...others].map(({ id, name }) => (
          <option value={id} selected={id === by}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}
