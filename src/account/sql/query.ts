/**
 * Prepared queries that are built once per isolate and run in any account's storage. Building one takes about 80 µs,
 * and every object that wakes needs several.
 *
 * A built query has no storage, so it cannot read or write anything. To run, it is bound to the storage of the
 * database at hand. The result is Drizzle's own prepared query, which knows no other storage, so it cannot read
 * another account's rows. (The platform also lets no object reach another object's storage.)
 */
import { NoopLogger } from "drizzle-orm";
import {
  DrizzleSqliteDODatabase,
  SQLiteDOPreparedQuery,
  SQLiteDOSession,
} from "drizzle-orm/durable-sqlite";
import {
  type SQLitePreparedQuery,
  SQLiteSyncDialect,
  type PreparedQueryConfig,
} from "drizzle-orm/sqlite-core";
import { assertInvariant } from "../../domain/result.ts";

/** The database of one account, and its storage. */
export type AccountDatabase = DrizzleSqliteDODatabase & { readonly $client: DurableObjectStorage };

/** Binds the query to a database: the result runs only there. */
export type Query<Prepared> = (database: Pick<AccountDatabase, "$client">) => Prepared;

/** What queries are built with. It has no storage, so nothing can run on it. */
export type Builder = DrizzleSqliteDODatabase;

type SyncConfig = PreparedQueryConfig & { readonly type: "sync" };

type Bind = (storage: DurableObjectStorage) => SQLiteDOPreparedQuery;

/** Builds a query with Drizzle when it is first used, so that it costs nothing when the Worker starts. */
export function query<Prepared extends SQLitePreparedQuery<SyncConfig>>(
  build: (database: Builder) => { prepare(): Prepared },
): Query<Prepared> {
  let bind: Bind | null = null;
  return ({ $client }) => {
    // The session below prepares a `Bind`, which Drizzle's types do not know. The bound query has their type.
    bind ??= build(BUILDER).prepare() as unknown as Bind;
    return bind($client) as unknown as Prepared;
  };
}

type NoSchema = Record<string, never>;

/** Prepares queries without a storage. Drizzle's builders return what their session prepares. */
class BindingSession extends SQLiteDOSession<NoSchema, NoSchema> {
  override prepareQuery(
    ...[sql, fields, method, in_arrays, mapper]: Parameters<
      SQLiteDOSession<NoSchema, NoSchema>["prepareQuery"]
    >
  ): never {
    // A builder tells only its own session how to map joined rows; the bound query would not know.
    const is_flat = fields?.every(({ path }) => path.length === 1) ?? true;
    assertInvariant(is_flat, "a query's rows have no parts");
    const bind: Bind = (storage) =>
      new SQLiteDOPreparedQuery(storage, sql, NO_LOG, fields, method, in_arrays, mapper);
    return bind as never;
  }
}

const NO_LOG = new NoopLogger();
const NO_STORAGE = {} as DurableObjectStorage;
const DIALECT = new SQLiteSyncDialect();
const BUILDER: Builder = new DrizzleSqliteDODatabase(
  "sync",
  DIALECT,
  new BindingSession(NO_STORAGE, DIALECT, undefined),
  undefined,
);
