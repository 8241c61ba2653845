/** `GET /console/accounts[?q=&sort=&order=&cursor=]`: searches and sorts accounts. */
import type { AccountSort, AccountState, SortOrder } from "../../domain/wire.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { findAccounts, findAccountsQuery } from "../../operator/find_accounts.ts";
import { nameFromSlug, number } from "../layout/labels.ts";
import { ConsolePage } from "./console_page.tsx";
import { NewRows, pollSeconds } from "../layout/live.tsx";
import { Time } from "../layout/time.tsx";
import { SELECTION_PROBLEMS } from "./labels.ts";
import { mayAct } from "./permission.tsx";
import { appFilter, readQuery, cursorOf, nullIfUnreadable } from "./queries.ts";
import {
  accountPath,
  AsOf,
  consolePath,
  FilterForm,
  FilterProblem,
  Pager,
  ReadModelUnavailable,
  Table,
  type Column,
} from "./table.tsx";

/** The most people whom the console's search shows in addition to the listed accounts. */
const PEOPLE_FOUND_SHOWN_MAX = 50;

export const showAccounts = factory.createHandlers(async (context) =>
  context.html(<AccountsPage {...await readAccountsPage(context)} />),
);

async function readAccountsPage(context: AppContext) {
  const query = readQuery(context, findAccountsQuery);
  const { q = "", sort, order, state, app, domain } = query;
  // As it was typed, since the query has it in milliseconds.
  const created_from =
    query.created_from === undefined ? undefined : context.req.query("created_from");
  const found = await nullIfUnreadable(findAccounts(context.get("services"), query));
  const listed = found?.accounts ?? [];
  const is_first_page = query.cursor === undefined;
  /** The filters in addition to the search, as they are in the address. */
  const filters = { state, app, domain, created_from };
  const is_unfiltered = Object.values(filters).every((filter) => filter === undefined);
  const unlisted =
    is_first_page && q !== "" && is_unfiltered ? await findPeople(context, q, listed) : [];
  const selection = context.req.query("selection") ?? "";
  return {
    q,
    sort,
    order,
    filters,
    cursor: is_first_page ? null : cursorOf(context),
    app_options: (await appFilter(context, app)).app_options,
    accounts: [...listed, ...unlisted],
    next_cursor: found?.next_cursor,
    /** Null if the read model cannot be read. */
    as_of: found?.as_of ?? null,
    /** Why the selected accounts cannot be suspended. */
    problem: Object.hasOwn(SELECTION_PROBLEMS, selection) ? SELECTION_PROBLEMS[selection] : null,
  };
}

type AccountsPageProps = Awaited<ReturnType<typeof readAccountsPage>>;

/**
 * People who match the search but are not in the read model: it is behind or not responding, or they have
 * signed in but have not used an app yet.
 */
async function findPeople(
  context: AppContext,
  q: string,
  listed: readonly AccountItem[],
): Promise<readonly AccountItem[]> {
  const { identity } = context.get("services");
  const known = new Set(listed.map(({ identity_id }) => identity_id));
  const found = [q, ...(await identity.findByEmail(q, PEOPLE_FOUND_SHOWN_MAX))];
  const people = await identity.readPeople(found.filter((id) => !known.has(id)));
  return [...people].map(([identity_id, { name, email }]) => ({
    identity_id,
    name,
    email,
    plan: null,
    credits: null,
    held: null,
    created_at: null,
  }));
}

/** An account in the list. The values from the read model are null if it does not have the account. */
interface AccountItem {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly plan: string | null;
  readonly credits: number | null;
  readonly held: number | null;
  readonly created_at: string | null;
  readonly state?: AccountState;
}

const STATES = [
  ["", "Any state"],
  ["active", "Active"],
  ["suspended", "Suspended"],
] as const;

/** An account counts as new for a day. */
const NEW_ACCOUNT_MS = 24 * 60 * 60 * 1000;

function AccountsPage(props: AccountsPageProps) {
  const { q, sort, order, cursor, accounts, next_cursor, as_of, filters, problem } = props;
  const may_suspend = mayAct("support");
  const label = q === "" ? "All accounts" : "Matching accounts";
  const query = { q, ...sortQuery(sort, order), ...filters };
  // Only the list by time has an index, and a rare state is at its end.
  const reads_all = sort !== "created" || filters.state !== undefined;
  return (
    <ConsolePage
      title={`${problem ? "Error: " : ""}Accounts${q === "" ? "" : `: ${q}`}`}
      section="accounts"
      scripts={["times.js", "live.js", "select.js"]}
      heading="Accounts"
      aside={<AccountSearch q={q} sort={sort} order={order} />}
    >
      {as_of === null ? <ReadModelUnavailable /> : null}
      <FilterForm
        path="/console/accounts"
        values={{ ...filters, created_from: filters.created_from?.slice(0, 10) }}
        filters={[
          { name: "state", label: "State", options: STATES },
          {
            name: "app",
            label: "Starter credits from",
            options: [["", "Any app"], ...props.app_options],
          },
          { name: "domain", label: "E-mail domain" },
          { name: "created_from", label: "Opened from", type: "date" },
        ]}
      >
        {q === "" ? null : <input type="hidden" name="q" value={q} />}
        <SortFields sort={sort} order={order} />
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
            names={accounts.map(nameOf)}
            rows={accounts.map((account) => accountCells(account, may_suspend))}
            empty={<NoAccounts q={q} />}
          />
          <input type="hidden" name="back" value={consolePath("", { ...query, cursor }).slice(1)} />
          {may_suspend && accounts.length > 0 ? <SelectionBar /> : null}
        </form>
      </section>
      <Pager path="/console/accounts" filters={query} {...{ cursor, next_cursor }} />
      {as_of === null ? null : <AsOf as_of={as_of} by_schedule={isList(props)} />}
    </ConsolePage>
  );
}

/** Whether the schedule writes the order; see `readmodel/account_lists.ts`. */
function isList({ q, sort, filters }: AccountsPageProps): boolean {
  const { state, ...others } = filters;
  const is_narrow = Object.values(others).some((filter) => filter !== undefined);
  return sort === "credits" && q === "" && !is_narrow && state !== "suspended";
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
    { name: "Person", place: "title" },
    { name: "Plan", place: "start" },
    { amount: "Credits", sort: by("credits"), place: "side" },
    { amount: "Held" },
    { name: "Since", sort: by("created"), place: "end" },
  ];
}

/** Suspends the selected accounts. The number of selected ones and "select all" need the script `select.js`. */
function SelectionBar() {
  return (
    <div class="selection">
      <label class="choice">
        <input type="checkbox" data-select-all />
        <span>
          Select all<span class="longer"> on this page</span>
        </span>
      </label>
      <span class="hint" role="status" data-selected="{count} selected"></span>
      <button type="submit" class="quiet small">
        Suspend<span class="longer"> selected</span>
      </button>
    </div>
  );
}

const nameOf = ({ email, name, identity_id }: AccountItem): string => email ?? name ?? identity_id;

function accountCells(account: AccountItem, may_suspend: boolean) {
  const { identity_id, name, email, plan, credits, held, created_at } = account;
  return [
    <>
      {may_suspend && account.state !== "suspended" ? (
        <label class="pick">
          <input
            type="checkbox"
            name="id"
            value={identity_id}
            aria-label={`Select ${nameOf(account)}`}
          />
        </label>
      ) : null}
      <a href={accountPath(identity_id)}>{nameOf(account)}</a>
      {account.state === "suspended" ? <span class="tag">suspended</span> : null}
      {created_at !== null && Date.now() - Date.parse(created_at) < NEW_ACCOUNT_MS ? (
        <span class="tag is-new">new</span>
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
    held === null ? "–" : number(held),
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

/** The search form of the list. */
function AccountSearch(props: {
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
