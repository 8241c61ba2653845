/**
 * The only writer of `accounts`, `grants` and `jobs` in D1, and the only thing an account reads there:
 * its own row, which says what D1 has of it.
 */
import { drizzle } from "drizzle-orm/d1";
import { eq, getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { PROJECTION_FORGET_ROWS } from "../domain/limits.ts";
import { accounts, grants, jobs } from "./schema.ts";

/** D1's row of an account: the account as of `line` of its passbook. */
export type ProjectedAccount = typeof accounts.$inferSelect;

/** Rows of one account as its object has them. A later line always replaces an earlier one. */
export interface ProjectedRows {
  readonly account: ProjectedAccount;
  readonly grants: readonly (typeof grants.$inferInsert)[];
  readonly jobs: readonly (typeof jobs.$inferInsert)[];
}

/** The jobs after one id and up to another, whole: what D1 has there besides is not the account's. */
export interface JobRange {
  readonly account_id: string;
  readonly after_id: string;
  /** Null: to the end. */
  readonly to_id: string | null;
  readonly jobs: ProjectedRows["jobs"];
}

/** Each is one transaction in D1. @throws where D1 cannot be reached; it may have been done all the same. */
export interface Projector {
  /** What D1 has of an identity: one row; more where its object was once made anew. */
  read(identity_id: string): Promise<readonly ProjectedAccount[]>;
  /**
   * Writes rows. Writing the same rows again, or older ones, changes nothing. The account's row moves on
   * only from one that has the lines up to `after_line`, so that it never claims more than is there.
   * @returns whether D1 now has the account as of its line; false: ask it what it has.
   */
  apply(rows: ProjectedRows, after_line: number): Promise<boolean>;
  /** Puts the account's row and grants in place of whatever is there. */
  replaceAccount(rows: Omit<ProjectedRows, "jobs">): Promise<void>;
  /** Puts jobs in place of whatever is there. */
  replaceJobs(range: JobRange): Promise<void>;
  /**
   * Deletes a portion of an account that its object does not know any more.
   * @returns whether nothing of it remains.
   */
  forget(account_id: string): Promise<boolean>;
}

/** Columns that an account's or a job's row never changes; leaving them out spares their index. */
const NEVER_CHANGED = ["id", "account_id", "identity_id", "created_at_ms"];

/**
 * Inserts rows, or does `on_conflict`: one statement whose one parameter is a JSON array of rows, since
 * D1 counts statements and parameters. Written out, as Drizzle has no word for `json_each`.
 */
function insertFromJson(
  table: SQLiteTable,
  on_conflict: "replace older" | "replace" | "keep",
): string {
  const name = getTableName(table);
  const columns = Object.values(getTableColumns(table)).map((column) => column.name);
  const values = columns.map((column) => `value ->> '$.${column}'`).join(", ");
  const assignments = columns
    .filter((column) => on_conflict === "replace" || !NEVER_CHANGED.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(", ");
  const newer = on_conflict === "replace older" ? `where excluded.line > ${name}.line` : "";
  const resolution =
    on_conflict === "keep" ? "do nothing" : `do update set ${assignments} ${newer}`;
  // "where true" tells SQLite that "on" begins the conflict clause, not a join.
  return `insert into ${name} (${columns.join(", ")})
    select ${values} from json_each(?) where true
    on conflict (${keyColumns(table).join(", ")}) ${resolution}`;
}

function keyColumns(table: SQLiteTable): string[] {
  const { columns, primaryKeys } = getTableConfig(table);
  const composite = primaryKeys.flatMap((key) => key.columns);
  const key = composite.length > 0 ? composite : columns.filter((column) => column.primary);
  return key.map((column) => column.name);
}

const UPSERT_ACCOUNTS = insertFromJson(accounts, "replace older").replace(
  "where true",
  "where ?2 = 0 or exists (select 1 from accounts where id = value ->> '$.id' and line >= ?2)",
);
const REPLACE_ACCOUNTS = insertFromJson(accounts, "replace");
const INSERT_GRANTS = insertFromJson(grants, "keep");
const UPSERT_JOBS = insertFromJson(jobs, "replace older");
const REPLACE_JOBS = insertFromJson(jobs, "replace");
/** Jobs that a rebuild's portion does not name; `null` as the last id is the end. */
const DELETE_OTHER_JOBS = `delete from jobs
  where account_id = ?1 and id > ?2 and (?3 is null or id <= ?3)
    and id not in (select value ->> '$.id' from json_each(?4))`;
const DELETE_OTHER_GRANTS = `delete from grants
  where account_id = ?1 and app_slug not in (select value ->> '$.app_slug' from json_each(?2))`;
const REPLACE_GRANTS = insertFromJson(grants, "replace");

/** The projector over a D1 database. */
export function createProjector(binding: D1Database): Projector {
  const database = drizzle(binding);
  const insert = (statement: string, rows: readonly object[]): D1PreparedStatement[] =>
    rows.length === 0 ? [] : [binding.prepare(statement).bind(JSON.stringify(rows))];
  return {
    read: (identity_id) =>
      database.select().from(accounts).where(eq(accounts.identity_id, identity_id)),
    async apply({ account, grants, jobs }, after_line) {
      const results = await binding.batch<{ line: number }>([
        binding.prepare(UPSERT_ACCOUNTS).bind(JSON.stringify([account]), after_line),
        ...insert(INSERT_GRANTS, grants),
        ...insert(UPSERT_JOBS, jobs),
        binding.prepare("select line from accounts where id = ?").bind(account.id),
      ]);
      const line = results.at(-1)?.results[0]?.line;
      return line !== undefined && line >= account.line;
    },
    async replaceAccount({ account, grants }) {
      await binding.batch([
        ...insert(REPLACE_ACCOUNTS, [account]),
        binding.prepare(DELETE_OTHER_GRANTS).bind(account.id, JSON.stringify(grants)),
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
    async forget(account_id) {
      const [deleted] = await binding.batch([
        binding
          .prepare(
            `delete from jobs where account_id = ?1 and id in
              (select id from jobs where account_id = ?1 limit ${PROJECTION_FORGET_ROWS})`,
          )
          .bind(account_id),
        binding.prepare("delete from grants where account_id = ?1").bind(account_id),
        // The row goes last: it is what says that there is something to forget.
        binding
          .prepare(
            `delete from accounts where id = ?1
              and not exists (select 1 from jobs where account_id = ?1)`,
          )
          .bind(account_id),
      ]);
      return (deleted?.meta.changes ?? 0) < PROJECTION_FORGET_ROWS;
    },
  };
}
