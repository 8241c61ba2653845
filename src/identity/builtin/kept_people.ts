/**
 * The second copy of people, in the archive: with it, a lost `DIRECTORY` gives everybody their old account back.
 *
 *     people/v1/users/{user_id}               a user with their sign-in methods, sealed
 *     people/v1/names/{pseudonym}/{user_id}   empty: finds the user of a sign-in method
 *     people/v1/tombstones/{pseudonym}        rows of tombstones
 *     people/v1/debts/{person_id}             rows of debts
 *
 * Triggers note each change in the table `unkept`, in the transaction of the change. The request that made the change copies
 * it in the background, and the schedule copies what remains. The copy is replaced only if it is the version that was read
 * before the rows, so a slow writer never puts an older state in place of a newer one.
 */
import { waitUntil } from "cloudflare:workers";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { getTableName } from "drizzle-orm";
import type { ArchiveStore, TaggedFile } from "../../archive/store.ts";
import {
  insertionOf,
  insertRows,
  selectedColumns,
  type TableRow,
} from "../../archive/table_rows.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { reportError } from "../../domain/error_report.ts";
import { PERSON_PURPOSE, personKeys, type EncryptionKey } from "../../keys/encryption.ts";
import { sealFor, unsealFor, type Sealed } from "../../keys/sealing.ts";
import type { PeopleCopy } from "./identity_queries.ts";
import { debts, identities, tombstones, users } from "./schema.ts";
import { nameOf, type PseudonymsOf } from "./tombstones.ts";

const FOLDER = "people/v1/";
const USERS = `${FOLDER}users/`;

/** How often a copy is tried again because another writer was faster. */
const ROUNDS_MAX = 5;

/** Copies that are under way at once. Each takes up to four calls of R2. */
const AT_ONCE = 10;

/** After a change of the key, people may wait so long for their new copy, and one query notes so many of them. */
const SEALED_AGAIN_WITHIN_MS = 30 * DAY_MS;
const SEALED_AGAIN_PAGE = 10_000;

/** People of one sign-in method: one, unless they deleted an account and signed up again. */
const NAMED_MAX = 100;

/** Kinds of copies that are lists of rows. */
const ROWS = {
  tombstone: { table: tombstones, key: "pseudonym", folder: `${FOLDER}tombstones/` },
  debts: { table: debts, key: "person_id", folder: `${FOLDER}debts/` },
} as const satisfies Record<string, { table: SQLiteTable; key: string; folder: string }>;

type RowsKind = keyof typeof ROWS;
type Kind = "user" | RowsKind;

interface Unkept {
  readonly kind: Kind;
  readonly id: string;
}

/** The stored copy of a user. */
interface KeptUser extends Sealed {
  /** The pseudonyms of the user's sign-in methods, for deleting their files. */
  readonly names: readonly string[];
}

interface UserRows {
  readonly user: TableRow;
  /** With the pseudonyms of each, so that its tombstone is found. */
  readonly identities: readonly TableRow[];
}

/**
 * What became of a user: `back`; `known`: the directory has them; `left`: they left by every sign-in method since; `taken`:
 * another user has one of the methods; `unreadable`: the key was retired, or the file was changed.
 */
type Restored = "back" | "known" | "left" | "taken" | "unreadable";

/** Folders of people in the order in which they are restored. */
type PeopleFolder = RowsKind | "user";

interface RestoredPage {
  /** Users, or rows. */
  readonly restored: number;
  /** Users that the directory has. */
  readonly known: number;
  /** Users that a person must look at. */
  readonly decide: readonly {
    readonly identity_id: string;
    readonly why: "taken" | "unreadable";
  }[];
  /** The last file, to continue after it; null: there is no further page. */
  readonly next: string | null;
}

interface KeptPeopleParts {
  readonly database: D1Database;
  /** Null: the service has no archive. People then wait for one. */
  readonly archive: ArchiveStore | null;
  /** The first one seals; all open. */
  readonly encryption_keys: readonly EncryptionKey[];
  readonly pseudonymsOf: PseudonymsOf;
}

export class KeptPeople implements PeopleCopy {
  readonly #parts: KeptPeopleParts;
  constructor(parts: KeptPeopleParts) {
    this.#parts = parts;
  }

  /** Copies a user in the background, after a change. Never throws. */
  changed(user_id: string): void {
    const { archive } = this.#parts;
    if (archive !== null) background(this.#keepUser(archive, user_id));
  }

  /** The same for whatever waits: of a user who left, tombstones and debts remain. */
  left(): void {
    background(this.keepSome(2 * AT_ONCE));
  }

  /** Copies changes that wait, the most urgent first. @throws if one could not be copied; the others were */
  async keepSome(limit: number): Promise<{ readonly kept: number }> {
    const { archive, database } = this.#parts;
    if (archive === null) return { kept: 0 };
    const { results } = await database
      .prepare("select kind, id from unkept order by due_at_ms limit ?1")
      .bind(limit)
      .run<Unkept>();
    const failures: unknown[] = [];
    for (let at = 0; at < results.length; at += AT_ONCE) {
      const outcomes = await Promise.allSettled(
        results
          .slice(at, at + AT_ONCE)
          .map(({ kind, id }) =>
            kind === "user" ? this.#keepUser(archive, id) : this.#keepRows(archive, kind, id),
          ),
      );
      for (const it of outcomes) if (it.status === "rejected") failures.push(it.reason);
    }
    if (failures.length > 0) throw failures[0];
    return { kept: results.length };
  }

  /** Since when the oldest change waits, in milliseconds since the epoch; null: none waits, or there is no archive. */
  async waitingSince(): Promise<number | null> {
    if (this.#parts.archive === null) return null;
    return this.#parts.database
      .prepare("select due_at_ms from unkept order by due_at_ms limit 1")
      .first<number>("due_at_ms");
  }

  /**
   * Looks for an unknown sign-in method in the archive, while the directory is not rebuilt after a loss, and restores what it
   * finds: its users, or its tombstone and debts. @returns whether it restored anything. @throws if the archive cannot be read
   */
  async bringBack(identity: {
    readonly issuer: string;
    readonly subject: string;
  }): Promise<boolean> {
    const { archive, pseudonymsOf } = this.#parts;
    if (archive === null || (await this.#isWhole())) return false;
    let is_changed = false;
    for (const pseudonym of await pseudonymsOf(nameOf(identity))) {
      if ((await this.#restoreRows(archive, "tombstone", pseudonym)) > 0) is_changed = true;
      const { names } = await archive.list(namesFolder(pseudonym), null, NAMED_MAX);
      for (const user_id of names) {
        const restored = await this.#restoreUser(archive, user_id);
        // Else the person would get a second, empty account.
        if (restored === "unreadable") throw new Error("the copy of a person cannot be opened");
        if (restored === "back") is_changed = true;
      }
    }
    return is_changed;
  }

  /** Restores a page of a folder; may be repeated. */
  async restorePage(
    kind: PeopleFolder,
    after: string | null,
    limit: number,
  ): Promise<RestoredPage> {
    const { archive } = this.#parts;
    if (archive === null) return { restored: 0, known: 0, decide: [], next: null };
    const folder = kind === "user" ? USERS : ROWS[kind].folder;
    const { names, next } = await archive.list(folder, after, limit);
    let [restored, known] = [0, 0];
    const decide: RestoredPage["decide"][number][] = [];
    const restoreOne = async (id: string): Promise<void> => {
      if (kind !== "user") {
        const rows = await this.#restoreRows(archive, kind, id);
        restored += rows;
        return;
      }
      const why = await this.#restoreUser(archive, id);
      if (why === "back") restored += 1;
      if (why === "known") known += 1;
      if (why === "taken" || why === "unreadable") decide.push({ identity_id: id, why });
    };
    for (let at = 0; at < names.length; at += AT_ONCE) {
      await Promise.all(names.slice(at, at + AT_ONCE).map(restoreOne));
    }
    return { restored, known, decide, next };
  }

  /** Has the copies of all people written again, with the present key, after the changes that wait. */
  async sealAgain(): Promise<void> {
    const { archive, database } = this.#parts;
    let after: string | null = archive === null ? null : "";
    while (after !== null) {
      const [, last] = await database.batch<{ readonly id: string | null }>([
        database
          .prepare(
            `insert into unkept (kind, id, version, due_at_ms)
              select 'user', id, hex(randomblob(8)), ?2 from users where id > ?1 order by id limit ?3
              on conflict do nothing`,
          )
          .bind(after, Date.now() + SEALED_AGAIN_WITHIN_MS, SEALED_AGAIN_PAGE),
        database
          .prepare(
            "select max(id) as id from (select id from users where id > ?1 order by id limit ?2)",
          )
          .bind(after, SEALED_AGAIN_PAGE),
      ]);
      after = last?.results[0]?.id ?? null;
    }
  }

  /** Whether the archive has a copy of this user. */
  async has(user_id: string): Promise<boolean> {
    return ((await this.#parts.archive?.read(USERS + user_id)) ?? null) !== null;
  }

  /** Ends the looks into the archive: the directory is rebuilt, and accepted in place of the lost one. */
  async markWhole(): Promise<void> {
    await this.#parts.database
      .prepare(
        `insert into directory_marker (one, id, is_whole) values (1, 'accepted', 1)
          on conflict do update set id = 'accepted', is_whole = 1`,
      )
      .run();
  }

  async #isWhole(): Promise<boolean> {
    // Not remembered: it is read only for an unknown sign-in method, and the rows may have been deleted by mistake.
    const query = this.#parts.database.prepare("select is_whole from directory_marker");
    return (await query.first<number>("is_whole")) === 1;
  }

  async #keepUser(archive: ArchiveStore, id: string): Promise<void> {
    const { database } = this.#parts;
    const key = USERS + id;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const stored = await archive.readTagged(key);
      const [queued, user, linked] = await database.batch<TableRow>([
        this.#queued("user", id),
        database.prepare(`select ${selectedColumns(users)} from users where id = ?1`).bind(id),
        database
          .prepare(`select ${selectedColumns(identities)} from identities where user_id = ?1`)
          .bind(id),
      ]);
      const version = queued?.results[0]?.["version"] ?? null;
      // Another writer copied it. In a later round, that may have been before ours.
      if (version === null && round === 0) return;
      const [row] = user?.results ?? [];
      const rows = row === undefined ? null : { user: row, identities: linked?.results ?? [] };
      if (!(await this.#storeUser(archive, { id, stored, rows }))) continue;
      if (version === null || (await this.#drop("user", id, version))) return;
    }
  }

  /** @returns false: another writer was faster */
  async #storeUser(
    archive: ArchiveStore,
    {
      id,
      stored,
      rows,
    }: {
      readonly id: string;
      readonly stored: TaggedFile | null;
      readonly rows: UserRows | null;
    },
  ): Promise<boolean> {
    const { encryption_keys, pseudonymsOf } = this.#parts;
    const before = stored === null ? [] : (readFile(stored.bytes) as KeptUser).names;
    const names = await Promise.all(
      (rows?.identities ?? []).map(async (identity) => (await pseudonymsOf(namesIn(identity)))[0]),
    );
    const added = names.filter((name) => !before.includes(name));
    await Promise.all(added.map((name) => archive.create(namesFolder(name) + id, NOTHING)));
    if (rows !== null) {
      const sealed = await sealFor(
        personKeys(encryption_keys, id),
        [PERSON_PURPOSE, id],
        JSON.stringify(rows),
      );
      const file = writeFile({ ...sealed, names } satisfies KeptUser);
      if (!(await archive.replace(USERS + id, file, stored?.tag ?? null))) return false;
    }
    const gone = before
      .filter((name) => !names.includes(name))
      .map((name) => namesFolder(name) + id);
    if (rows === null && stored !== null) gone.push(USERS + id);
    if (gone.length > 0) await archive.delete(gone);
    return true;
  }

  async #keepRows(archive: ArchiveStore, kind: RowsKind, id: string): Promise<void> {
    const { database } = this.#parts;
    const { table, key: column, folder } = ROWS[kind];
    const columns = selectedColumns(table);
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const stored = await archive.readTagged(folder + id);
      const [queued, found] = await database.batch<TableRow>([
        this.#queued(kind, id),
        database
          .prepare(`select ${columns} from ${getTableName(table)} where ${column} = ?1`)
          .bind(id),
      ]);
      const version = queued?.results[0]?.["version"] ?? null;
      if (version === null && round === 0) return;
      const rows = found?.results ?? [];
      if (rows.length === 0) await archive.delete([folder + id]);
      else if (!(await archive.replace(folder + id, writeFile(rows), stored?.tag ?? null)))
        continue;
      if (version === null || (await this.#drop(kind, id, version))) return;
    }
  }

  #queued(kind: Kind, id: string): D1PreparedStatement {
    return this.#parts.database
      .prepare("select version from unkept where kind = ?1 and id = ?2")
      .bind(kind, id);
  }

  /** @returns false: it changed meanwhile */
  async #drop(kind: Kind, id: string, version: string | number): Promise<boolean> {
    const { meta } = await this.#parts.database
      .prepare("delete from unkept where kind = ?1 and id = ?2 and version = ?3")
      .bind(kind, id, version)
      .run();
    return meta.changes > 0;
  }

  /** A tombstone comes with the debts of its person. @returns how many rows the directory lacked */
  async #restoreRows(archive: ArchiveStore, kind: RowsKind, id: string): Promise<number> {
    const { database } = this.#parts;
    const { table, key, folder } = ROWS[kind];
    const bytes = await archive.read(folder + id);
    if (bytes === null) return 0;
    // A tombstone never goes. Debts do, and the archive has them until it is written again.
    const newer =
      kind === "tombstone"
        ? database.prepare(`select 1 from tombstones where ${key} = ?1`).bind(id)
        : this.#queued(kind, id);
    if ((await newer.first()) !== null) return 0;
    const rows = readFile(bytes) as readonly TableRow[];
    for (const { person_id } of kind === "tombstone" ? rows : []) {
      await this.#restoreRows(archive, "debts", String(person_id));
    }
    return insertRows(database, table, rows);
  }

  async #restoreUser(archive: ArchiveStore, id: string): Promise<Restored> {
    const { database, encryption_keys, pseudonymsOf } = this.#parts;
    const bytes = await archive.read(USERS + id);
    if (bytes === null) return "left";
    const keys = personKeys(encryption_keys, id);
    const text = await unsealFor(keys, [PERSON_PURPOSE, id], readFile(bytes) as KeptUser);
    if (text === null) return "unreadable";
    const { user, identities: kept } = JSON.parse(text) as UserRows;
    await this.#restoreRows(archive, "debts", String(user["person_id"]));
    const named = await Promise.all(
      kept.map(async (row) => ({ ...row, names: await pseudonymsOf(namesIn(row)) })),
    );
    // Of all methods, not only of the one that somebody signs in with.
    for (const pseudonym of named.flatMap(({ names }) => names)) {
      await this.#restoreRows(archive, "tombstone", pseudonym);
    }
    const columns = new Set(Object.keys(kept[0] ?? {}));
    const of_user = new Set(Object.keys(user));
    const oldest = kept.toSorted(byAge)[0];
    const has_user = "exists (select 1 from users where id = ?2)";
    // A method that was left after it was linked does not come back. One transaction.
    const linking = insertionOf(
      identities,
      columns,
      `not ${has_user} and not exists (
        select 1 from tombstones
        where pseudonym in (select value from json_each(given.value, '$.names'))
          and left_at_ms >= given.value ->> '$.created_at_ms')`,
    );
    const [known, linked, taken] = await database.batch([
      database.prepare(`select ${has_user} as it`).bind(null, id),
      database.prepare(linking).bind(JSON.stringify(named), id),
      database
        .prepare(
          `select 1 from json_each(?1) join identities on provider = value ->> '$.provider'
            and subject = value ->> '$.subject' where user_id <> ?2`,
        )
        .bind(JSON.stringify(named), id),
      // The oldest method vouches for the address. The second query adds the user only if the first did not.
      database
        .prepare(insertionOf(users, of_user, hasMethod("and provider = ?3 and subject = ?4")))
        .bind(JSON.stringify([user]), id, oldest?.["provider"] ?? "", oldest?.["subject"] ?? ""),
      database
        .prepare(insertionOf(users, of_user, hasMethod("")))
        .bind(JSON.stringify([{ ...user, email_verified: 0 }]), id),
      // The archive has this state already, unless a method was left out.
      database
        .prepare(
          `delete from unkept where kind = 'user' and id = ?1
            and ?2 = (select count(*) from identities where user_id = ?1)`,
        )
        .bind(id, kept.length),
    ]);
    const [{ it: was_known } = { it: 0 }] = (known?.results ?? []) as { readonly it: number }[];
    if (taken !== undefined && taken.results.length > 0) return "taken";
    if (was_known === 1) return "known";
    return linked !== undefined && linked.results.length > 0 ? "back" : "left";
  }
}

const NOTHING = new Uint8Array();

/** SQL: whether the user `?2` has a sign-in method. `which`: a further condition. */
const hasMethod = (which: string): string =>
  `exists (select 1 from identities where user_id = ?2 ${which})`;

/** The order of `linkedTo`, of a user's sign-in methods. */
const byAge = (a: TableRow, b: TableRow): number =>
  Number(a["created_at_ms"]) - Number(b["created_at_ms"]) ||
  (String(a["provider"]) < String(b["provider"]) ? -1 : 1);

const namesFolder = (pseudonym: string): string => `${FOLDER}names/${pseudonym}/`;

const namesIn = ({ issuer, subject }: TableRow): string[] =>
  nameOf({ issuer: String(issuer), subject: String(subject) });

const writeFile = (content: object): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(content));

function readFile(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}

function background(work: Promise<unknown>): void {
  waitUntil(
    work.catch((error: unknown) =>
      console.warn({ event: "person_copy_failed", ...reportError(error) }),
    ),
  );
}
