/**
 * Statements that are built once an isolate and run in any account's storage. Building one takes some
 * 80 µs of JavaScript, and every object that wakes needs a handful.
 *
 * What is built knows no storage, so it can neither read nor write. To run, it is bound to the storage of
 * the database at hand, and what comes of that is Drizzle's own prepared query, which knows no other: no
 * account's rows come to lie in another's. (The platform, too, lets no object reach another's storage.)
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
import { assertInvariant } from "../domain/result.ts";

/** A database of one account, with the storage that it is. */
export type AccountDatabase = DrizzleSqliteDODatabase & { readonly $client: DurableObjectStorage };

/** Binds the statement to a database: what it returns runs there, and nowhere else. */
export type Statement<Prepared> = (database: Pick<AccountDatabase, "$client">) => Prepared;

/** What statements are built with. It has no storage, so nothing can run on it. */
export type Builder = DrizzleSqliteDODatabase;

type SyncConfig = PreparedQueryConfig & { readonly type: "sync" };

type Bind = (storage: DurableObjectStorage) => SQLiteDOPreparedQuery;

/** Builds a statement with Drizzle, when it is first asked for, so that starting costs nothing. */
export function statement<Prepared extends SQLitePreparedQuery<SyncConfig>>(
  build: (database: Builder) => { prepare(): Prepared },
): Statement<Prepared> {
  let bind: Bind | null = null;
  return ({ $client }) => {
    // Drizzle's types do not know what the session below prepares; what it binds has the type they say.
    bind ??= build(BUILDER).prepare() as unknown as Bind;
    return bind($client) as unknown as Prepared;
  };
}

type NoSchema = Record<string, never>;

/** Prepares not for one storage but for whichever: Drizzle's builders hand out what their session gives. */
class BindingSession extends SQLiteDOSession<NoSchema, NoSchema> {
  override prepareQuery(
    ...[query, fields, method, in_arrays, mapper]: Parameters<
      SQLiteDOSession<NoSchema, NoSchema>["prepareQuery"]
    >
  ): never {
    // How to map joined rows a builder tells what it is given here, and the bound query would not know.
    const is_flat = fields?.every(({ path }) => path.length === 1) ?? true;
    assertInvariant(is_flat, "a statement's rows have no parts");
    const bind: Bind = (storage) =>
      new SQLiteDOPreparedQuery(storage, query, NO_LOG, fields, method, in_arrays, mapper);
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
