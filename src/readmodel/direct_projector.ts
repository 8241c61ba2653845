/**
 * The adapter that writes to D1 directly. The queue's consumer uses it too, so nothing else writes `accounts`,
 * `grants` and `jobs`.
 */
import { drizzle } from "drizzle-orm/d1";
import { eq, getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { PROJECTION_BATCH_LINES, isSameState, STATE_COLUMNS, stateOf } from "./projector.ts";
import type {
  AccountState,
  JobRange,
  ProjectedRows,
  ProjectionMessage,
  Projector,
} from "./projector.ts";
import { dropCarried } from "./carried.ts";
import { accounts, grants, jobs } from "./schema.ts";
import {
  beginningOf,
  DAY_MS,
  END_OF_IDS,
  firstIdOf,
  ID_MARGIN_MS,
  utcDayOf,
} from "../domain/calendar.ts";
import { countForfeit, countForfeitOwed, countLines } from "./totals.ts";

/** Days of a deleted account that one query removes from D1. */
const PROJECTION_FORGET_DAYS = 1_000;

/** Jobs of all accounts that one call of a rebuild looks at. */
const PROJECTION_RANGE_JOBS = 4_000;

/** `later`: as after a repeated delivery. `lacking`: D1 lacks earlier entries too, or has another account or history. */
export type Applied = "there" | "later" | "lacking";

/** The direct adapter, which also takes the rows of several accounts at once. */
export interface DirectProjector extends Projector {
  /**
   * Writes one delivery for each of several accounts, in one transaction.
   * @returns for each delivery what D1's row is now: that of the account, a later one of it, or neither
   */
  applyAll(deliveries: readonly ProjectionMessage[]): Promise<readonly Applied[]>;
}

/** Columns that never change in a row. Leaving them out avoids writes to their indexes. */
const NEVER_CHANGED = ["id", "account_id", "identity_id", "created_at_ms"];

interface InsertRule {
  readonly on_conflict: "replace older" | "replace" | "keep";
  /** A further condition for the inserted rows. */
  readonly where?: string;
}

/**
 * Inserts rows with a conflict rule: one query with one parameter, a JSON array of rows, because D1 counts
 * queries and parameters. It is written as SQL, because Drizzle does not support `json_each`.
 */
function insertFromJson(
  table: SQLiteTable,
  // "where true" tells SQLite that "on" starts the conflict clause and not a join.
  { on_conflict, where = "true" }: InsertRule,
): string {
  const name = getTableName(table);
  const columns = Object.values(getTableColumns(table)).map((column) => column.name);
  const values = columns.map((column) => `value ->> '$.${column}'`).join(", ");
  const assignments = columns
    .filter((column) => on_conflict === "replace" || !NEVER_CHANGED.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(", ");
  const is_accepted = isNotDeleted(table === accounts ? "id" : "account_id");
  const newer = on_conflict === "replace older" ? `where excluded.line > ${name}.line` : "";
  const resolution =
    on_conflict === "keep" ? "do nothing" : `do update set ${assignments} ${newer}`;
  return `insert into ${name} (${columns.join(", ")})
    select ${values} from json_each(?1) where ${is_accepted} and ${where}
    on conflict (${keyColumns(table).join(", ")}) ${resolution}`;
}

/** SQL: whether the account of a JSON row was not deleted; `field` is the field with its id. */
function isNotDeleted(field: string): string {
  return `not exists (select 1 from forgotten_accounts where id = value ->> '$.${field}')`;
}

function keyColumns(table: SQLiteTable): string[] {
  const { columns, primaryKeys } = getTableConfig(table);
  const composite = primaryKeys.flatMap((key) => key.columns);
  const key = composite.length > 0 ? composite : columns.filter((column) => column.primary);
  return key.map((column) => column.name);
}

/** SQL: whether D1's row is the account's at this place of a JSON row. */
const isRowOf = (place: string): string =>
  STATE_COLUMNS.map((column) => `accounts.${column} = value ->> '${place}.${column}'`).join(
    " and ",
  );

/** SQL: whether a delivery continues from D1's row. */
const FOLLOWS = `iif(value ->> '$.after' is null,
  not exists (select 1 from accounts where identity_id = value ->> '$.identity_id'),
  exists (select 1 from accounts where ${isRowOf("$.after")}))`;
const COUNT_LINES = countLines(`${isNotDeleted("id")} and ${FOLLOWS}`);
/** Returns the ids of the accounts that it wrote. */
const UPSERT_ACCOUNTS = `${insertFromJson(accounts, {
  on_conflict: "replace older",
  where: FOLLOWS,
})} returning id`;
const REPLACE_ACCOUNTS = insertFromJson(accounts, { on_conflict: "replace" });
/** Grants and jobs are written only if D1's row is their account's. */
const IS_THERE = `exists (select 1 from accounts where ${isRowOf("$.account")})`;
const INSERT_GRANTS = insertFromJson(grants, { on_conflict: "keep", where: IS_THERE });
const UPSERT_JOBS = insertFromJson(jobs, { on_conflict: "replace older", where: IS_THERE });
const REPLACE_JOBS = insertFromJson(jobs, { on_conflict: "replace" });
const READ_STATES = `select ${STATE_COLUMNS.join(", ")} from accounts
  where id in (select value from json_each(?1))`;
/** The ids of a rebuild's range that one call looks at; `null` as the last id: to the end. */
const RANGE = `from jobs where id > ?1 and (?2 is null or id <= ?2) order by id`;
const END_OF_RANGE = `select id ${RANGE} limit 1 offset ${PROJECTION_RANGE_JOBS} - 1`;
/** Deletes the jobs of an account there that it does not have. */
const DELETE_OTHER_JOBS = `delete from jobs where id in (
    select id from (select id, account_id ${RANGE} limit ${PROJECTION_RANGE_JOBS})
    where account_id = ?3 and id not in (select value ->> '$.id' from json_each(?4)))`;
/**
 * The first day from ?2 on, on which an account was active: only then were jobs of it created. Before the oldest day of all
 * accounts it is unknown, and only started jobs are older.
 */
const ACTIVE_DAY = `select iif(?2 < coalesce((select min(day) from account_days), ?2 + 1), ?2,
  (select min(day) from account_days where account_id = ?1 and day >= ?2)) as day`;
const DELETE_OTHER_GRANTS = `delete from grants
  where account_id = ?1 and app_slug not in (select value ->> '$.app_slug' from json_each(?2))`;
const HAS_NO_DAYS = "not exists (select 1 from account_days where account_id = ?1)";
const COUNT_FORFEIT = [countForfeit(HAS_NO_DAYS), countForfeitOwed(HAS_NO_DAYS)];
const REPLACE_GRANTS = insertFromJson(grants, { on_conflict: "replace" });

const NOTE_ARCHIVE = `insert into archive_heads
    (account_id, line, sha256, written_at_ms, storage_percent)
  select ?1, ?2, ?3, ?4, ?5 where not exists (select 1 from forgotten_accounts where id = ?1)
  on conflict (account_id) do update set line = excluded.line, sha256 = excluded.sha256,
    written_at_ms = excluded.written_at_ms, storage_percent = excluded.storage_percent where excluded.line > archive_heads.line`;

export function createDirectProjector(binding: D1Database): DirectProjector {
  const database = drizzle(binding);
  const insert = (query: string, rows: readonly object[]) => insertRows(binding, query, rows);
  const apply: Projector["apply"] = async (rows, after) => {
    const [applied] = await applyAll(binding, [{ rows, after }]);
    return applied === "there";
  };
  return {
    lines_at_once: PROJECTION_BATCH_LINES,
    read: (identity_id) =>
      database.select().from(accounts).where(eq(accounts.identity_id, identity_id)),
    applyAll: (deliveries) => applyAll(binding, deliveries),
    apply,
    applyNow: apply,
    async replaceAccount(account) {
      await binding.batch(insert(REPLACE_ACCOUNTS, [account]));
    },
    async replaceGrants(account_id, grants) {
      await binding.batch([
        binding.prepare(DELETE_OTHER_GRANTS).bind(account_id, JSON.stringify(grants)),
        ...insert(REPLACE_GRANTS, grants),
      ]);
    },
    replaceJobs: (range) => replaceJobs(binding, range),
    async isArchived(account_id) {
      const head = "select 1 from archive_heads where account_id = ?1";
      return (await binding.prepare(head).bind(account_id).first()) !== null;
    },
    async noteArchive({ account_id, line, sha256, written_at_ms, storage_percent }) {
      await binding
        .prepare(NOTE_ARCHIVE)
        .bind(account_id, line, sha256, written_at_ms, storage_percent)
        .run();
    },
    async bar(account_id) {
      await binding
        .prepare("insert into forgotten_accounts (id) values (?1) on conflict do nothing")
        .bind(account_id)
        .run();
    },
    async forget(account_id) {
      const [deleted] = await binding.batch([
        binding
          .prepare(
            `delete from account_days where account_id = ?1 and (day, app_slug) in (select day, app_slug
              from account_days where account_id = ?1 limit ${PROJECTION_FORGET_DAYS})`,
          )
          .bind(account_id),
        binding.prepare("delete from grants where account_id = ?1").bind(account_id),
        binding.prepare("delete from archive_heads where account_id = ?1").bind(account_id),
        binding.prepare("delete from differences where account_id = ?1").bind(account_id),
        ...COUNT_FORFEIT.map((query) =>
          binding.prepare(query).bind(account_id, utcDayOf(Date.now())),
        ),
        // The row is deleted last, because it shows that there is still something to delete. No list shows jobs without it, and
        // the schedule deletes them.
        binding.prepare(`delete from accounts where id = ?1 and ${HAS_NO_DAYS}`).bind(account_id),
      ]);
      return (deleted?.meta.changes ?? 0) < PROJECTION_FORGET_DAYS;
    },
  };
}

function insertRows(
  binding: D1Database,
  query: string,
  rows: readonly object[],
): D1PreparedStatement[] {
  return rows.length === 0 ? [] : [binding.prepare(query).bind(JSON.stringify(rows))];
}

/** @returns up to which id the range was replaced, as {@link Projector.replaceJobs}. */
async function replaceJobs(
  binding: D1Database,
  { account_id, after_id, to_id, jobs }: JobRange,
): Promise<string | null> {
  const day = utcDayOf((beginningOf(after_id) ?? 0) - ID_MARGIN_MS);
  const active = await binding.prepare(ACTIVE_DAY).bind(account_id, day).first<number>("day");
  const active_id = active === null ? END_OF_IDS : firstIdOf(active * DAY_MS - ID_MARGIN_MS);
  const from_id = active_id > after_id ? active_id : after_id;
  const end = await binding.prepare(END_OF_RANGE).bind(from_id, to_id).first<string>("id");
  const end_id = end ?? to_id;
  const own = jobs.filter(({ id }) => end_id === null || id <= end_id);
  const ids = JSON.stringify(own.map(({ id }) => ({ id })));
  await binding.batch([
    binding.prepare(DELETE_OTHER_JOBS).bind(from_id, end_id, account_id, ids),
    ...insertRows(binding, REPLACE_JOBS, own),
  ]);
  return end_id;
}

async function applyAll(
  binding: D1Database,
  deliveries: readonly ProjectionMessage[],
): Promise<readonly Applied[]> {
  const insert = (query: string, rows: readonly object[]) => insertRows(binding, query, rows);
  if (deliveries.length === 0) return [];
  const account_rows = deliveries.map(({ rows: { account, days, money, owed }, after }) => ({
    ...account,
    after,
    days,
    money,
    owed,
  }));
  const rowsOfAll = <Row extends object>(rowsOf: (rows: ProjectedRows) => readonly Row[]) =>
    deliveries.flatMap(({ rows }) => {
      const account = stateOf(rows.account);
      return rowsOf(rows).map((row) => ({ ...row, account }));
    });
  const days = account_rows.flatMap(({ days: its }) => its.map(({ day }) => day));
  // The totals first: until the account's row moves, it says which deliveries were not counted.
  const counting = [
    ...dropCarried(binding, Math.min(...days), Date.now()),
    ...COUNT_LINES.totals.flatMap((query) => insert(query, account_rows)),
    ...insert(
      COUNT_LINES.money,
      account_rows.filter(({ money }) => money.length > 0),
    ),
    ...insert(
      COUNT_LINES.owed,
      account_rows.filter(({ owed }) => owed.length > 0),
    ),
  ];
  const written = await binding.batch<{ id: string }>([
    ...counting,
    ...insert(UPSERT_ACCOUNTS, account_rows),
    ...insert(
      INSERT_GRANTS,
      rowsOfAll(({ grants: its }) => its),
    ),
    ...insert(
      UPSERT_JOBS,
      rowsOfAll(({ jobs: its }) => its),
    ),
  ]);
  const moved = new Set(written[counting.length]?.results.map(({ id }) => id));
  const others = account_rows.filter(({ id }) => !moved.has(id));
  const known = await readStates(binding, others);
  return account_rows.map((row) =>
    moved.has(row.id) ? "there" : compared(row, known.get(row.id) ?? null),
  );
}

async function readStates(
  binding: D1Database,
  account_rows: readonly AccountState[],
): Promise<ReadonlyMap<string, AccountState>> {
  if (account_rows.length === 0) return new Map();
  const ids = JSON.stringify(account_rows.map(({ id }) => id));
  const { results } = await binding.prepare(READ_STATES).bind(ids).all<AccountState>();
  return new Map(results.map((row) => [row.id, row]));
}

function compared(sent: AccountState, known: AccountState | null): Applied {
  if (known === null || known.created_at_ms !== sent.created_at_ms) return "lacking";
  if (known.line > sent.line) return "later";
  return isSameState(known, sent) ? "there" : "lacking";
}
