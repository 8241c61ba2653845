/** The list of accounts, and the search form. */
import type { AccountSort, AccountState, SortOrder } from "../../domain/wire.ts";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { NewRows, pollSeconds } from "../layout/live.tsx";
import { Time } from "../layout/time.tsx";
import { nameFromSlug, number } from "../layout/labels.ts";
import {
  accountPath,
  AsOf,
  ChosenFilter,
  consolePath,
  FilterForm,
  FilterProblem,
  Pager,
  ReadModelUnavailable,
  Table,
  TypedFilter,
  type Column,
} from "./table.tsx";
import { mayAct } from "./permission.tsx";

/** An account in the list. The values from the read model are null if it does not have the account. */
export interface AccountItem {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly plan: string | null;
  readonly credits: number | null;
  readonly reserved: number | null;
  readonly created_at: string | null;
  readonly state?: AccountState;
}

/** The filters in addition to the search, as they are in the address. */
export interface AccountFilters {
  readonly state?: string | undefined;
  readonly app?: string | undefined;
  readonly domain?: string | undefined;
  readonly created_from?: string | undefined;
}

export interface AccountsPageProps {
  readonly q: string;
  readonly sort: AccountSort;
  readonly order: SortOrder;
  readonly cursor: string | null;
  readonly accounts: readonly AccountItem[];
  readonly next_cursor: string | undefined;
  /** Null if the read model cannot be read. */
  readonly as_of: string | null;
  readonly notice: string | null;
  /** Why the selected accounts cannot be suspended. */
  readonly problem: string | null | undefined;
  readonly filters: AccountFilters;
  readonly app_options: readonly (readonly [slug: string, name: string])[];
}

/** An account counts as new for a day. */
const NEW_ACCOUNT_MS = 24 * 60 * 60 * 1000;

export function AccountsPage(props: AccountsPageProps) {
  const { q, sort, order, cursor, accounts, next_cursor, as_of, filters, problem } = props;
  const may_suspend = mayAct("support");
  const label = q === "" ? "All accounts" : "Matching accounts";
  const query = { q, ...sortQuery(sort, order), ...filters };
  // Only the list by time has an index, and a rare state is at its end.
  const reads_all = sort !== "created" || filters.state !== undefined;
  return (
    <Page
      title={`${problem ? "Error: " : ""}Accounts${q === "" ? "" : `: ${q}`}`}
      section="accounts"
      scripts={["times.js", "live.js", "select.js"]}
    >
      <NoticeLine notice={props.notice} />
      <div class="page-head">
        <h1>Accounts</h1>
        <AccountSearch q={q} sort={sort} order={order} />
      </div>
      {as_of === null ? <ReadModelUnavailable /> : null}
      <FilterForm path="/console/accounts">
        {q === "" ? null : <input type="hidden" name="q" value={q} />}
        <SortFields sort={sort} order={order} />
        <ChosenFilter
          name="state"
          label="State"
          value={filters.state}
          options={[
            ["", "Any state"],
            ["active", "Active"],
            ["suspended", "Suspended"],
          ]}
        />
        <ChosenFilter
          name="app"
          label="Starter credits from"
          value={filters.app}
          options={[["", "Any app"], ...props.app_options]}
        />
        <TypedFilter name="domain" label="E-mail domain" value={filters.domain} />
        <TypedFilter
          name="created_from"
          label="Opened from"
          type="date"
          value={filters.created_from?.slice(0, 10)}
        />
      </FilterForm>
      {problem ? <FilterProblem problem={problem} /> : null}
      <section
        class="panel"
        aria-label={label}
        data-live-poll={cursor === null ? pollSeconds({ reads_all }) : undefined}
      >
        <NewRows />
        <form method="get" action="/console/accounts/suspend" class={may_suspend ? "can-pick" : ""}>
          <Table
            ids={accounts.map(({ identity_id }) => `account-${identity_id}`)}
            label={label}
            columns={columnsOf(props)}
            rows={accounts.map((account) => accountCells(account, may_suspend))}
            empty={<NoAccounts q={q} />}
          />
          <input type="hidden" name="back" value={consolePath("", { ...query, cursor }).slice(1)} />
          {may_suspend && accounts.length > 0 ? <SelectionBar /> : null}
        </form>
      </section>
      <Pager path="/console/accounts" filters={query} {...{ cursor, next_cursor }} />
      {as_of === null ? null : <AsOf as_of={as_of} />}
    </Page>
  );
}

/** The sorting as query parameters; the default, the newest first, has none. */
function sortQuery(sort: AccountSort, order: SortOrder) {
  return {
    sort: sort === "created" ? undefined : sort,
    order: order === "desc" ? undefined : order,
  };
}

function SortFields({ sort, order }: { sort: AccountSort; order: SortOrder }) {
  const given = Object.entries(sortQuery(sort, order)).filter(([, value]) => value !== undefined);
  return (
    <>
      {given.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

/** A link of a column sorts the highest first, or the other way round if the list already is so. */
function columnsOf({ q, sort, order, filters }: AccountsPageProps): readonly Column[] {
  const by = (option: AccountSort) => {
    const own = option === sort ? order : null;
    const next = sortQuery(option, own === "desc" ? "asc" : "desc");
    return { href: consolePath("/console/accounts", { q, ...next, ...filters }), order: own };
  };
  return [
    "Person",
    "Plan",
    { amount: "Credits", sort: by("credits") },
    { amount: "Held" },
    { name: "Since", sort: by("created") },
  ];
}

/** Suspends the selected accounts. The number of selected ones and "select all" need the script `select.js`. */
function SelectionBar() {
  return (
    <div class="selection">
      <label class="choice">
        <input type="checkbox" data-select-all />
        <span>Select all on this page</span>
      </label>
      <span class="hint" role="status" data-selected></span>
      <button type="submit" class="quiet small">
        Suspend selected
      </button>
    </div>
  );
}

function accountCells(account: AccountItem, may_suspend: boolean) {
  const { identity_id, name, email, plan, credits, reserved, created_at } = account;
  return [
    <>
      {may_suspend && account.state !== "suspended" ? (
        <label class="pick">
          <input
            type="checkbox"
            name="id"
            value={identity_id}
            aria-label={`Select ${email ?? name ?? identity_id}`}
          />
        </label>
      ) : null}
      <a href={accountPath(identity_id)}>{email ?? name ?? identity_id}</a>
      {account.state === "suspended" ? <span class="tag">suspended</span> : null}
      {created_at !== null && Date.now() - Date.parse(created_at) < NEW_ACCOUNT_MS ? (
        <span class="tag">new</span>
      ) : null}
      <span class="hint below">
        {email === null || name === null ? null : `${name} · `}
        <code>{identity_id}</code>
      </span>
    </>,
    plan === null ? "–" : nameFromSlug(plan),
    credits === null ? (
      "–"
    ) : (
      <a
        class={credits < 0 ? "is-negative" : undefined}
        href={`${accountPath(identity_id)}#ledger`}
        aria-label={`${number(credits)}, show the ledger`}
      >
        {number(credits)}
      </a>
    ),
    reserved === null ? "–" : number(reserved),
    created_at === null ? (
      <span class="hint">not listed yet</span>
    ) : (
      <Time at_ms={Date.parse(created_at)} style="day" />
    ),
  ];
}

function NoAccounts({ q }: { q: string }) {
  if (q === "")
    return "There are no accounts yet. An account is opened when a person first uses an app.";
  return (
    <>
      No account matches “{q}”. Enter the start of an e-mail address, or a complete identity or
      account id. <a href="/console/accounts">Show all accounts</a>
    </>
  );
}

/** The search form, also on the console's first page. */
export function AccountSearch(props: {
  readonly q: string;
  readonly sort?: AccountSort;
  readonly order?: SortOrder;
}) {
  const { q, sort = "created", order = "desc" } = props;
  return (
    <form method="get" action="/console/accounts" class="filters" role="search">
      <label for="q">Find an account</label>
      <input
        id="q"
        name="q"
        type="search"
        value={q}
        maxlength={254}
        placeholder="E-mail address, identity or id"
        autocomplete="off"
        spellcheck={false}
      />
      <SortFields sort={sort} order={order} />
      <button type="submit" class="small">
        Find
      </button>
    </form>
  );
}
