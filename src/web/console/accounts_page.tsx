/** The list of accounts, and the search form. */
import { ACCOUNT_SORTS, type AccountSort, type AccountState } from "../../domain/wire.ts";
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
  Pager,
  ReadModelUnavailable,
  Table,
  TypedFilter,
} from "./table.tsx";

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
}

export interface AccountsPageProps {
  readonly q: string;
  readonly sort: AccountSort;
  readonly cursor: string | null;
  readonly accounts: readonly AccountItem[];
  readonly next_cursor: string | undefined;
  /** Null if the read model cannot be read. */
  readonly as_of: string | null;
  readonly notice: string | null;
  readonly filters: AccountFilters;
  readonly app_options: readonly (readonly [slug: string, name: string])[];
}

/** An account counts as new for a day. */
const NEW_ACCOUNT_MS = 24 * 60 * 60 * 1000;

const SORT_NAMES: Readonly<Record<AccountSort, string>> = {
  created: "Newest first",
  credits: "Most credits first",
};

const COLUMNS = ["Person", "Plan", { amount: "Credits" }, { amount: "Held" }, "Since"] as const;

export function AccountsPage(props: AccountsPageProps) {
  const { q, sort, cursor, accounts, next_cursor, as_of, filters } = props;
  // Only the list by time has an index, and a rare state is at its end.
  const reads_all = sort !== "created" || filters.state !== undefined;
  return (
    <Page
      title={q === "" ? "Accounts" : `Accounts: ${q}`}
      section="accounts"
      scripts={["times.js", "live.js"]}
    >
      <NoticeLine notice={props.notice} />
      <div class="page-head">
        <h1>Accounts</h1>
        <AccountSearch q={q} sort={sort} />
      </div>
      {as_of === null ? <ReadModelUnavailable /> : null}
      <FilterForm path="/console/accounts">
        {q === "" ? null : <input type="hidden" name="q" value={q} />}
        {sort === "created" ? null : <input type="hidden" name="sort" value={sort} />}
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
      </FilterForm>
      <section
        class="panel"
        aria-label={q === "" ? "All accounts" : "Matching accounts"}
        data-live-poll={cursor === null ? pollSeconds({ reads_all }) : undefined}
      >
        <NewRows />
        <p class="sorts">
          {ACCOUNT_SORTS.map((option) => (
            <a
              href={consolePath("/console/accounts", { q, ...filters, sort: option })}
              aria-current={option === sort ? "true" : undefined}
            >
              {SORT_NAMES[option]}
            </a>
          ))}
        </p>
        <Table
          ids={accounts.map(({ identity_id }) => `account-${identity_id}`)}
          label={q === "" ? "All accounts" : "Matching accounts"}
          columns={COLUMNS}
          rows={accounts.map(accountCells)}
          empty={<NoAccounts q={q} />}
        />
      </section>
      <Pager
        path="/console/accounts"
        filters={{ q, sort, ...filters }}
        {...{ cursor, next_cursor }}
      />
      {as_of === null ? null : <AsOf as_of={as_of} />}
    </Page>
  );
}

function accountCells(account: AccountItem) {
  const { identity_id, name, email, plan, credits, reserved, created_at } = account;
  return [
    <>
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
export function AccountSearch({ q, sort }: { q: string; sort?: AccountSort }) {
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
      {sort === undefined || sort === "created" ? null : (
        <input type="hidden" name="sort" value={sort} />
      )}
      <button type="submit" class="small">
        Find
      </button>
    </form>
  );
}
