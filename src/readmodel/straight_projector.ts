/**
 * The projector that writes D1 itself. With the queue's consumer, which is made of it, the only writer of
 * `accounts`, `grants` and `jobs`.
 */
import { drizzle } from "drizzle-orm/d1";
import { eq, getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { PROJECTION_BATCH_LINES, PROJECTION_FORGET_ROWS } from "../domain/limits.ts";
import type { ProjectedRows, ProjectionMessage, Projector } from "./projector.ts";
import { isPresumed, isSame, type PresumedAccount } from "./presumed.ts";
import { accounts, grants, jobs } from "./schema.ts";
import { ADD_LINES } from "./remembered_days.ts";
import { addLateLines, closeAccount } from "./totals.ts";

/** The projector over D1, which also takes the rows of several accounts at once. */
export interface StraightProjector extends Projector {
  /**
   * Writes the deliveries of several accounts, one each, in one transaction.
   * @returns for each what {@link Projector.apply} returns.
   */
  applyAll(deliveries: readonly ProjectionMessage[]): Promise<readonly boolean[]>;
}

/** Columns that an account's or a job's row never changes; leaving them out spares their index. */
const NEVER_CHANGED = ["id", "account_id", "identity_id", "created_at_ms"];

interface InsertRule {
  readonly on_conflict: "replace older" | "replace" | "keep";
  /** Columns that are not simply replaced: by what instead; null: left as they are. */
  readonly instead?: Readonly<Record<string, string | null>>;
  /** Which rows are inserted at all, of accounts that are not barred. */
  readonly where?: string;
}

/**
 * Inserts rows, or does `on_conflict`: one statement whose one parameter is a JSON array of rows, since
 * D1 counts statements and parameters. Written out, as Drizzle has no word for `json_each`.
 */
function insertFromJson(
  table: SQLiteTable,
  // "where true" tells SQLite that "on" begins the conflict clause, not a join.
  { on_conflict, instead = {}, where = "true" }: InsertRule,
): string {
  const name = getTableName(table);
  const columns = Object.values(getTableColumns(table))
    .map((column) => column.name)
    .filter((column) => instead[column] !== null);
  const values = columns.map((column) => `value ->> '$.${column}'`).join(", ");
  const assignments = columns
    .filter((column) => on_conflict === "replace" || !NEVER_CHANGED.includes(column))
    .map((column) => `${column} = ${instead[column] ?? `excluded.${column}`}`)
    .join(", ");
  const is_let_in = isLetIn(table === accounts ? "id" : "account_id");
  const newer = on_conflict === "replace older" ? `where excluded.line > ${name}.line` : "";
  const resolution =
    on_conflict === "keep" ? "do nothing" : `do update set ${assignments} ${newer}`;
  return `insert into ${name} (${columns.join(", ")})
    select ${values} from json_each(?1) where ${is_let_in} and ${where}
    on conflict (${keyColumns(table).join(", ")}) ${resolution}`;
}

/** Of rows in JSON those whose account was not forgotten; `field` names it. */
function isLetIn(field: string): string {
  return `not exists (select 1 from forgotten_accounts where id = value ->> '$.${field}')`;
}

function keyColumns(table: SQLiteTable): string[] {
  const { columns, primaryKeys } = getTableConfig(table);
  const composite = primaryKeys.flatMap((key) => key.columns);
  const key = composite.length > 0 ? composite : columns.filter((column) => column.primary);
  return key.map((column) => column.name);
}

/** Of the deliveries in JSON those whose lines follow on D1's row. */
const FOLLOWS = `(value ->> '$.after_line' = 0 or exists (select 1 from accounts
  where accounts.id = value ->> '$.id' and iif(value ->> '$.presumed' is null,
    accounts.line >= value ->> '$.after_line', ${isPresumed("value")})))`;
const ADD_LATE_LINES = addLateLines(`${isLetIn("id")} and ${FOLLOWS}`);
/** Gives the rows that it wrote. */
const UPSERT_ACCOUNTS = `${insertFromJson(accounts, {
  on_conflict: "replace older",
  instead: { days_json: ADD_LINES },
  where: FOLLOWS,
})} returning id`;
const REPLACE_ACCOUNTS = insertFromJson(accounts, {
  on_conflict: "replace",
  instead: { days_json: null },
});
/**
 * What comes with lines is written where the account's row is as they left it: not of a delivery that did
 * not follow. Of one that came again it was written before.
 */
const IS_THERE = `exists (select 1 from accounts where accounts.id = value ->> '$.account_id'
  and accounts.line = value ->> '$.delivered_line'
  and accounts.updated_at_ms = value ->> '$.delivered_at_ms')`;
const INSERT_GRANTS = insertFromJson(grants, { on_conflict: "keep", where: IS_THERE });
const UPSERT_JOBS = insertFromJson(jobs, { on_conflict: "replace older", where: IS_THERE });
const REPLACE_JOBS = insertFromJson(jobs, { on_conflict: "replace" });
const READ_ROWS = "select * from accounts where id in (select value from json_each(?1))";
/** Jobs that a rebuild's portion does not name; `null` as the last id is the end. */
const DELETE_OTHER_JOBS = `delete from jobs
  where account_id = ?1 and id > ?2 and (?3 is null or id <= ?3)
    and id not in (select value ->> '$.id' from json_each(?4))`;
const DELETE_OTHER_GRANTS = `delete from grants
  where account_id = ?1 and app_slug not in (select value ->> '$.app_slug' from json_each(?2))`;
const HAS_NO_JOBS = "not exists (select 1 from jobs where account_id = ?1)";
const REPLACE_GRANTS = insertFromJson(grants, { on_conflict: "replace" });

/** The projector over a D1 database. */
export function createStraightProjector(binding: D1Database): StraightProjector {
  const database = drizzle(binding);
  const { days_json: _, ...ACCOUNT_COLUMNS } = getTableColumns(accounts);
  const insert = (statement: string, rows: readonly object[]): D1PreparedStatement[] =>
    rows.length === 0 ? [] : [binding.prepare(statement).bind(JSON.stringify(rows))];
  /** Where D1 is, of accounts that a delivery did not move on: it came again, or does not follow. */
  const readRows = async (
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, PresumedAccount>> => {
    if (ids.length === 0) return new Map();
    const { results } = await binding
      .prepare(READ_ROWS)
      .bind(JSON.stringify(ids))
      .all<PresumedAccount>();
    return new Map(results.map((row) => [row.id, row]));
  };
  const applyAll = async (
    deliveries: readonly ProjectionMessage[],
  ): Promise<readonly boolean[]> => {
    if (deliveries.length === 0) return [];
    const account_rows = deliveries.map(({ rows: { account, lines }, after_line, presumed }) => ({
      ...account,
      after_line,
      presumed,
      days_json: lines,
    }));
    const withTheirs = <Row extends object>(rowsOf: (rows: ProjectedRows) => readonly Row[]) =>
      deliveries.flatMap(({ rows }) =>
        rowsOf(rows).map((row) => ({
          ...row,
          delivered_line: rows.account.line,
          delivered_at_ms: rows.account.updated_at_ms,
        })),
      );
    const [, upserted] = await binding.batch<{ id: string }>([
      // Late lines first: the account's row says which were counted, until it moves on.
      ...insert(ADD_LATE_LINES, account_rows),
      ...insert(UPSERT_ACCOUNTS, account_rows),
      ...insert(
        INSERT_GRANTS,
        withTheirs(({ grants }) => grants),
      ),
      ...insert(
        UPSERT_JOBS,
        withTheirs(({ jobs }) => jobs),
      ),
    ]);
    const moved_on = new Set(upserted?.results.map(({ id }) => id));
    const moved = ({ rows }: ProjectionMessage): boolean => moved_on.has(rows.account.id);
    const left = deliveries.filter((one) => !moved(one));
    const known = await readRows(left.map(({ rows: { account } }) => account.id));
    const has = ({ rows: { account }, presumed }: ProjectionMessage): boolean => {
      const row = known.get(account.id);
      if (row === undefined) return false;
      // A later line may be of a history that was undone. Of first lines nothing is presumed.
      return presumed === undefined ? row.line >= account.line : isSame(row, account);
    };
    return deliveries.map((one) => moved(one) || has(one));
  };
  return {
    lines_at_once: PROJECTION_BATCH_LINES,
    read: (identity_id) =>
      database.select(ACCOUNT_COLUMNS).from(accounts).where(eq(accounts.identity_id, identity_id)),
    applyAll,
    async apply(rows, after_line, presumed) {
      const [has_it] = await applyAll([{ rows, after_line, presumed }]);
      return has_it === true;
    },
    async replaceAccount(account) {
      await binding.batch(insert(REPLACE_ACCOUNTS, [account]));
    },
    async replaceGrants(account_id, grants) {
      await binding.batch([
        binding.prepare(DELETE_OTHER_GRANTS).bind(account_id, JSON.stringify(grants)),
        ...insert(REPLACE_GRANTS, grants),
      ]);
    },
    async replaceJobs({ account_id, after_id, to_id, jobs }) {
      await binding.batch([
        binding
          .prepare(DELETE_OTHER_JOBS)
          .bind(account_id, after_id, to_id, JSON.stringify(jobs.map(({ id }) => ({ id })))),
        ...insert(REPLACE_JOBS, jobs),
      ]);
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
            `delete from jobs where account_id = ?1 and id in
              (select id from jobs where account_id = ?1 limit ${PROJECTION_FORGET_ROWS})`,
          )
          .bind(account_id),
        binding.prepare("delete from grants where account_id = ?1").bind(account_id),
        // The row goes last, with what it remembers: it says that there is something to forget.
        closeAccount(binding, account_id, HAS_NO_JOBS),
        binding.prepare(`delete from accounts where id = ?1 and ${HAS_NO_JOBS}`).bind(account_id),
      ]);
      return (deleted?.meta.changes ?? 0) < PROJECTION_FORGET_ROWS;
    },
  };
}
