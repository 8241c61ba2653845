/**
 * Lists of accounts. Each looks at a bounded number of accounts, so a page may be short, and still have a next page. The order
 * by credits of all accounts changes with each delivery: it is a list that the schedule writes.
 */
import { ACCOUNTS_CONSIDERED_MAX } from "../domain/limits.ts";
import type { AccountSort, AccountState, SortOrder } from "../domain/wire.ts";
import { ACCOUNTS_LOOKED_AT, creditsListOf } from "./account_walk.ts";
import type { accounts } from "./schema.ts";

export type FoundAccount = typeof accounts.$inferSelect;

/** The last row of the previous page: the value that it was sorted by, and its id. */
interface AccountCursor {
  readonly value: number;
  readonly id: string;
}

export interface AccountSearch {
  /** Undefined: all accounts. Otherwise the account with this id, or those of these identities. */
  readonly only?: { readonly id: string; readonly identity_ids: readonly string[] } | undefined;
  readonly state?: AccountState | undefined;
  /** Only the last {@link ACCOUNTS_CONSIDERED_MAX} accounts that got starter credits of this app. */
  readonly app_slug?: string | undefined;
  /** Only accounts of these identities, at most {@link ACCOUNTS_CONSIDERED_MAX}. */
  readonly identity_ids?: readonly string[] | undefined;
  readonly created_from_ms?: number | undefined;
  readonly sort: AccountSort;
  readonly order: SortOrder;
  readonly after?: AccountCursor | undefined;
  readonly limit: number;
}

export interface AccountPage {
  readonly accounts: readonly FoundAccount[];
  /** The `after` of the next page; null: there is none. */
  readonly next: AccountCursor | null;
  /** When the schedule wrote the list, in milliseconds since the epoch; null: it was read now. */
  readonly as_of_ms: number | null;
}

/** SQL with its parameters. */
interface Sql {
  readonly text: string;
  readonly parameters: readonly (string | number)[];
}

const sql = (text: string, ...parameters: readonly (string | number)[]): Sql => ({
  text,
  parameters,
});

function join(parts: readonly Sql[], separator: string): Sql {
  const text = parts.map((part) => part.text).join(separator);
  return { text, parameters: parts.flatMap(({ parameters }) => parameters) };
}

/** Accounts that are found without looking at others. Null: the search does not say which. */
function namedAccounts({ only, identity_ids, app_slug }: AccountSearch): Sql | null {
  if (only !== undefined) {
    const ids = JSON.stringify(only.identity_ids);
    const by_identity = "identity_id in (select value from json_each(?))";
    return sql(`select * from accounts where id = ? or ${by_identity}`, only.id, ids);
  }
  if (identity_ids !== undefined) {
    return sql(
      `select accounts.* from json_each(?) as wanted
        cross join accounts on accounts.identity_id = wanted.value`,
      JSON.stringify(identity_ids.slice(0, ACCOUNTS_CONSIDERED_MAX)),
    );
  }
  if (app_slug === undefined) return null;
  return sql(
    `select accounts.* from (select account_id from grants where app_slug = ?
        order by granted_at_ms desc limit ${ACCOUNTS_CONSIDERED_MAX}) as granted
      cross join accounts on accounts.id = granted.account_id`,
    app_slug,
  );
}

/** What is left to check for each account of {@link namedAccounts}. */
function conditionsOf(search: AccountSearch): readonly Sql[] {
  const { only, identity_ids, app_slug, state, created_from_ms } = search;
  const of_app = "exists (select 1 from grants where account_id = id and grants.app_slug = ?)";
  const of_identities = "identity_id in (select value from json_each(?))";
  const is_suspended = `suspended_at_ms is ${state === "active" ? "" : "not "}null`;
  return [
    ...(state === undefined ? [] : [sql(is_suspended)]),
    ...(created_from_ms === undefined ? [] : [sql("created_at_ms >= ?", created_from_ms)]),
    ...(only === undefined || identity_ids === undefined
      ? []
      : [sql(of_identities, JSON.stringify(identity_ids))]),
    ...(app_slug === undefined || (only ?? identity_ids) === undefined
      ? []
      : [sql(of_app, app_slug)]),
  ];
}

const COLUMNS = { created: "created_at_ms", credits: "credits" } as const;

/** The order by id is that of the index, forwards and backwards. */
const orderOf = (column: string, order: SortOrder): string =>
  order === "desc" ? `${column} desc, id` : `${column}, id desc`;

/** The first condition is for the index, which "or" cannot use. */
function afterOf(column: string, order: SortOrder, after: AccountCursor | undefined): Sql[] {
  if (after === undefined) return [];
  const { value, id } = after;
  const text =
    order === "desc"
      ? `${column} <= ? and (${column} < ? or id > ?)`
      : `${column} >= ? and (${column} > ? or id < ?)`;
  return [sql(text, value, value, id)];
}

const where = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql("") : join([sql("where"), join(conditions, " and ")], " ");

/** The query of a page that finds all accounts of the search. Accounts with equal values are sorted by id. */
export function namedQuery(named: Sql, search: AccountSearch): Sql {
  const { sort, order, after, limit } = search;
  const column = COLUMNS[sort];
  const conditions = [...conditionsOf(search), ...afterOf(column, order, after)];
  const rest = sql(`order by ${orderOf(column, order)} limit ?`, limit + 1);
  return join([sql("select * from ("), named, sql(")"), where(conditions), rest], " ");
}

/** The accounts that a page looks at, in the order of their creation: those that are suspended, or all. */
function lookedAt({ state, created_from_ms, sort, order, after }: AccountSearch): Sql {
  const by = sort === "created" ? order : "desc";
  const conditions = [
    ...(state === "suspended" ? [sql("suspended_at_ms is not null")] : []),
    ...(created_from_ms === undefined ? [] : [sql("created_at_ms >= ?", created_from_ms)]),
    ...(sort === "created" ? afterOf("created_at_ms", order, after) : []),
  ];
  const ordered = sql(`order by ${orderOf("created_at_ms", by)}`);
  return join([sql("from accounts"), where(conditions), ordered], " ");
}

/** The query of a page of {@link lookedAt}, and that of the last account there. */
export function lookingQueries(search: AccountSearch): { readonly page: Sql; readonly last: Sql } {
  const { state, sort, order, after, limit } = search;
  const all = sort === "created" && state !== "active";
  const count = all ? limit + 1 : ACCOUNTS_CONSIDERED_MAX;
  const accounts = lookedAt(search);
  const conditions = [
    ...(state === "active" ? [sql("suspended_at_ms is null")] : []),
    ...(sort === "credits" ? afterOf("credits", order, after) : []),
  ];
  const page = join(
    [
      sql("select * from (select *"),
      accounts,
      sql(`limit ${count})`),
      where(conditions),
      sql(`order by ${orderOf(COLUMNS[sort], order)} limit ?`, limit + 1),
    ],
    " ",
  );
  const last = join(
    [sql("select created_at_ms as value, id"), accounts, sql(`limit 1 offset ${count - 1}`)],
    " ",
  );
  return { page, last };
}

const LISTED = `select accounts.*, listed.value ->> '$[1]' as listed_credits
  from lists cross join json_each(rows_json) as listed
    cross join accounts on accounts.id = listed.value ->> '$[0]'
  where name = ?`;

/** Before the schedule has written a list: the first accounts. */
const NOT_LISTED = `select *, credits as listed_credits from (
  select * from accounts order by id limit ${ACCOUNTS_LOOKED_AT})`;

/** The credits are those of the list. */
async function readList(database: D1Database, search: AccountSearch): Promise<AccountPage> {
  const { state, order, after, limit } = search;
  const name = creditsListOf(order);
  const as_of_ms = await database
    .prepare("select as_of_ms from lists where name = ?1")
    .bind(name)
    .first<number>("as_of_ms");
  const conditions = [
    ...(state === "active" ? [sql("suspended_at_ms is null")] : []),
    ...afterOf("listed_credits", order, after),
  ];
  const listed = as_of_ms === null ? sql(NOT_LISTED) : sql(LISTED, name);
  const rest = sql(`order by ${orderOf("listed_credits", order)} limit ?`, limit + 1);
  const query = join([sql("select * from ("), listed, sql(")"), where(conditions), rest], " ");
  const rows = await all<FoundAccount & { readonly listed_credits: number }>(database, query);
  const accounts = rows.map(({ listed_credits, ...row }) => ({ ...row, credits: listed_credits }));
  return { ...pageOf(accounts, search), as_of_ms };
}

async function all<Row>(database: D1Database, { text, parameters }: Sql): Promise<readonly Row[]> {
  return (
    await database
      .prepare(text)
      .bind(...parameters)
      .all<Row>()
  ).results;
}

/** `rows`: one more than the limit, if there are more. */
function pageOf(
  rows: readonly FoundAccount[],
  { sort, limit }: AccountSearch,
): Pick<AccountPage, "accounts" | "next"> {
  const accounts = rows.slice(0, limit);
  const last = rows.length > limit ? accounts.at(-1) : undefined;
  return {
    accounts,
    next: last === undefined ? null : { value: last[COLUMNS[sort]], id: last.id },
  };
}

export async function findAccounts(
  database: D1Database,
  search: AccountSearch,
): Promise<AccountPage> {
  const named = namedAccounts(search);
  if (named !== null) {
    const rows = await all<FoundAccount>(database, namedQuery(named, search));
    return { ...pageOf(rows, search), as_of_ms: null };
  }
  const { sort, state, created_from_ms } = search;
  const is_list = sort === "credits" && state !== "suspended" && created_from_ms === undefined;
  if (is_list) return readList(database, search);
  const { page, last } = lookingQueries(search);
  const found = pageOf(await all<FoundAccount>(database, page), search);
  if (found.next !== null || sort === "credits") return { ...found, as_of_ms: null };
  // Accounts of the page that do not match are not there; the next page continues after the last one looked at.
  const [next = null] = await all<AccountCursor>(database, last);
  return { ...found, next, as_of_ms: null };
}
