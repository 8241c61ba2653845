/**
 * The copy of this database in the archive: everything that is not about people, whose copy is in
 * `identity/builtin/kept_people.ts`.
 *
 *     directory/v1/pages/{copy_id}/{table}/{page}-{sha256}.jsonl.gz   rows in the order of their keys, one a line
 *     directory/v1/complete/{copy_id}.json                            written last; only then does the copy count
 *
 * It is made in portions, while the database is in use. So each table is as it was at some moments of the copy: a row that
 * changed meanwhile is of before or after.
 */
import { getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { gunzip, gzip, sha256 } from "../archive/bytes.ts";
import type { ArchiveStore } from "../archive/store.ts";
import { insertRows, selectedColumns, type TableRow } from "../archive/table_rows.ts";
import { DAY_MS } from "../domain/calendar.ts";
import { oauthClients, resources } from "./oauth_schema.ts";
import {
  appEvents,
  appIcons,
  appKeys,
  apps,
  audit,
  auditOutcomes,
  deletions,
  plans,
  supportCredits,
  webhooks,
} from "./schema.ts";

const PAGES = "directory/v1/pages/";
const COMPLETE = "directory/v1/complete/";

/** Rows of one file. Saved records and icons are larger than the others. */
const PAGE_ROWS = 500;
const SAVED_PAGE_ROWS = 100;
const ICONS_PAGE_ROWS = 20;

/** Files that one call writes or reads. */
const PAGES_AT_ONCE = 20;

const COPY_EVERY_MS = DAY_MS;
/** How long the schedule leaves the copies of a lost database the newest ones, unless an operator makes a copy. */
const REBUILT_WITHIN_MS = 7 * DAY_MS;
const COPIES_KEPT_MS = 30 * DAY_MS;

/** Old copies that one run deletes a portion of. */
const DELETED_AT_ONCE = 5;

interface CopiedTable {
  readonly table: SQLiteTable;
  readonly key: readonly string[];
  /** Whether its rows are records that operators save, with `last_audit_id`. */
  readonly is_saved?: true;
  /** The act that deletes a row: of the row's `id`, or, with `detail`, of the `id` of the app that is the act's subject. */
  readonly deleted_by?: { readonly act: string; readonly detail?: string };
}

/** The tables in the order in which they are copied and restored. The audit log is the longest. */
const TABLES: readonly CopiedTable[] = [
  { table: plans, key: ["id"], is_saved: true, deleted_by: { act: "plan.delete" } },
  { table: apps, key: ["slug"], is_saved: true },
  { table: appIcons, key: ["hash"] },
  { table: appKeys, key: ["id"] },
  // A deleted client keeps its row.
  { table: oauthClients, key: ["app_slug", "id"], is_saved: true },
  {
    table: resources,
    key: ["app_slug", "id"],
    is_saved: true,
    deleted_by: { act: "resource.delete", detail: "resource" },
  },
  {
    table: webhooks,
    key: ["uid"],
    is_saved: true,
    deleted_by: { act: "app_webhook.delete", detail: "webhook_id" },
  },
  { table: appEvents, key: ["id"] },
  { table: deletions, key: ["identity_id"] },
  { table: supportCredits, key: ["operator", "day", "id"] },
  { table: audit, key: ["id"] },
  { table: auditOutcomes, key: ["audit_id", "outcome"] },
];

const COPIED_TABLES: readonly string[] = TABLES.map(({ table }) => getTableName(table));

interface UnderWay {
  readonly copy_id: string;
  readonly began_at_ms: number;
  /** The table that is copied, by its place; the key of its last copied row; the number of its next page. */
  readonly at: number;
  readonly after: readonly (string | number | null)[] | null;
  readonly page: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly pages: Readonly<Record<string, number>>;
}

interface StateRow {
  readonly under_way_json: string | null;
  readonly completed_id: string | null;
  readonly completed_at_ms: number | null;
  readonly key_id: string | null;
}

/** What `complete/{copy_id}.json` says. */
interface Manifest {
  readonly format: 1;
  readonly copy_id: string;
  readonly began_at_ms: number;
  readonly completed_at_ms: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly pages: Readonly<Record<string, number>>;
}

/** A portion of a copy. */
interface Copied {
  readonly copy_id: string;
  readonly is_complete: boolean;
  /** Rows that the copy has so far. */
  readonly rows: number;
}

/** A portion of a table that was restored. */
interface RestoredTable {
  readonly inserted: number;
  /** Rows that the database had. */
  readonly known: number;
  /** What a person must look at: `newer_record`: the directory has another version of a saved record, which stays. */
  readonly decide: readonly {
    readonly why: "newer_record" | "page_missing" | "page_damaged";
    readonly subject: string;
  }[];
  /** The last file, to continue after it; null: there is no further one. */
  readonly next: string | null;
}

interface DirectoryCopyParts {
  readonly database: D1Database;
  /** Null: the service has no archive. */
  readonly archive: ArchiveStore | null;
  /** The id of the key that seals people. */
  readonly key_id: string | null;
  /** Has all people sealed again, because the key changed. */
  readonly sealAgain: () => Promise<void>;
  /** Forgets what the isolate remembers of the tables. */
  readonly changed: () => void;
  /** Replaces people who left since by pseudonyms, in the audit log that was restored. */
  readonly forgetLeft: (identity_ids: readonly string[]) => Promise<void>;
}

export class DirectoryCopy {
  /** The names of the copied tables, in their order. */
  readonly copied_tables = COPIED_TABLES;
  readonly #parts: DirectoryCopyParts;

  constructor(parts: DirectoryCopyParts) {
    this.#parts = parts;
  }

  /** A portion of the daily copy, if one is due, and of the deletion of old copies. For the schedule. */
  async copyDue(now_ms: number): Promise<Partial<Copied>> {
    const { archive } = this.#parts;
    if (archive === null) return {};
    await this.#deleteOld(archive, now_ms);
    const { under_way_json, completed_at_ms } = await this.#read();
    if (under_way_json !== null) return this.#continue(archive, under_way_json);
    if (completed_at_ms !== null && now_ms - completed_at_ms < COPY_EVERY_MS) return {};
    if (completed_at_ms === null && (await this.#waitsForRebuild(now_ms))) return {};
    return this.start(now_ms);
  }

  /** A database that has no copy, although there are recent ones, replaces a lost one. A rebuild would take its copy. */
  async #waitsForRebuild(now_ms: number): Promise<boolean> {
    const newest = await this.find(undefined);
    return newest !== null && now_ms - newest.completed_at_ms < REBUILT_WITHIN_MS;
  }

  /** Starts a copy, in place of one that is under way, and writes its first portion. */
  async start(now_ms: number): Promise<Copied> {
    const { archive, database, key_id, sealAgain } = this.#parts;
    const { key_id: sealed_with } = await this.#read();
    if (sealed_with !== null && sealed_with !== key_id) await sealAgain();
    const copy_id = `${timeInId(now_ms)}-${crypto.randomUUID().slice(0, 8)}`;
    const at_start = { at: 0, after: null, page: 1, rows: {}, pages: {} };
    const json = JSON.stringify({ copy_id, began_at_ms: now_ms, ...at_start } satisfies UnderWay);
    await database
      .prepare(
        `insert into directory_copy (singleton, under_way_json, key_id) values (1, ?1, ?2)
          on conflict do update set under_way_json = ?1, key_id = ?2`,
      )
      .bind(json, key_id)
      .run();
    if (archive === null) throw new Error("the service has no archive");
    return this.#continue(archive, json);
  }

  /** The next portion of this copy. A copy that is not under way has ended. */
  async continue(copy_id: string): Promise<Copied> {
    const { under_way_json } = await this.#read();
    const { archive } = this.#parts;
    const is_under_way = under_way_json !== null && parse(under_way_json).copy_id === copy_id;
    if (archive === null || !is_under_way) return { copy_id, is_complete: true, rows: 0 };
    return this.#continue(archive, under_way_json);
  }

  /** When the newest complete copy ended; null: no copy was completed. Without an archive, now. */
  async copiedAt(now_ms: number): Promise<number | null> {
    return this.#parts.archive === null ? now_ms : (await this.#read()).completed_at_ms;
  }

  /** A complete copy, or the newest one; null: the archive does not have it. */
  async find(copy_id: string | undefined): Promise<Manifest | null> {
    const { archive } = this.#parts;
    if (archive === null) return null;
    let id = copy_id;
    // At most some dozens, because old ones are deleted.
    if (id === undefined) {
      const { names } = await archive.list(COMPLETE, null, 1_000);
      id = names.at(-1)?.replace(/\.json$/, "");
    }
    const bytes = id === undefined ? null : await archive.read(`${COMPLETE}${id}.json`);
    return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Manifest);
  }

  /** Restores a portion of a table; may be repeated. Rows that exist stay as they are. */
  async restorePage(
    { copy_id, pages, began_at_ms }: Manifest,
    table_name: string,
    after: string | null,
  ): Promise<RestoredTable> {
    const { archive, changed } = this.#parts;
    const copied = TABLES.find(({ table }) => getTableName(table) === table_name);
    if (archive === null || copied === undefined) throw new Error("no such table in the copy");
    const folder = `${PAGES}${copy_id}/${table_name}/`;
    const { names, next } = await archive.list(folder, after, PAGES_AT_ONCE);
    const decide: RestoredTable["decide"][number][] = [];
    let [inserted, known] = [0, 0];
    let expected = numberOf(after) + 1;
    const missingUntil = (number: number): void => {
      for (; expected < number; expected += 1) {
        decide.push({ why: "page_missing", subject: `${table_name} ${expected}` });
      }
    };
    for (const name of names) {
      missingUntil(numberOf(name));
      expected = numberOf(name) + 1;
      const rows = await readPage(archive, folder + name);
      if (rows === null) {
        decide.push({ why: "page_damaged", subject: folder + name });
        continue;
      }
      const added = await this.#restoreRows(copied, await this.#living(copied, rows, began_at_ms));
      inserted += added.inserted;
      known += rows.length - added.inserted;
      decide.push(...added.newer.map((subject) => ({ why: "newer_record" as const, subject })));
    }
    if (next === null) missingUntil((pages[table_name] ?? 0) + 1);
    changed();
    return { inserted, known, decide, next };
  }

  /** The rows without those that an operator deleted after the copy had begun, as far as the audit log knows. */
  async #living(
    { deleted_by }: CopiedTable,
    rows: readonly TableRow[],
    began_at_ms: number,
  ): Promise<readonly TableRow[]> {
    if (deleted_by === undefined) return rows;
    const { act, detail } = deleted_by;
    const { results } = await this.#parts.database
      .prepare(
        `select distinct subject, details_json ->> ?3 as id from audit
          where audit.id >= ?1 and act = ?2 and (
            exists (select 1 from audit_outcomes where audit_id = audit.id and outcome = 'done')
            or not exists (select 1 from audit_outcomes where audit_id = audit.id and outcome = 'refused'))`,
      )
      .bind(firstUuidAt(began_at_ms), act, `$.${detail ?? "none"}`)
      .run<{ readonly subject: string; readonly id: string | null }>();
    const deleted = new Set(results.map(({ subject, id }) => `${subject}/${id ?? ""}`));
    return rows.filter(({ app_slug, id }) => {
      const named = detail === undefined ? `${id}/` : `${app_slug}/${id}`;
      return !deleted.has(named);
    });
  }

  async #restoreRows(
    { table, key, is_saved }: CopiedTable,
    rows: readonly TableRow[],
  ): Promise<{ readonly inserted: number; readonly newer: readonly string[] }> {
    const { database, forgetLeft } = this.#parts;
    const inserted = await insertRows(database, table, rows);
    if (table === audit) {
      const ids = rows.flatMap(({ actor, subject }) => [String(actor), String(subject)]);
      await forgetLeft([...new Set(ids.filter((id) => id.startsWith("user_")))]);
    }
    if (is_saved !== true || inserted === rows.length) return { inserted, newer: [] };
    const name = getTableName(table);
    const same = [...key, "last_audit_id"].map(
      (column) => `stored.${column} is given.value ->> '$.${column}'`,
    );
    const { results } = await database
      .prepare(
        `select ${key.map((column) => `given.value ->> '$.${column}'`).join(" || '/' || ")} as subject
          from json_each(?1) as given
          where not exists (select 1 from ${name} as stored where ${same.join(" and ")})`,
      )
      .bind(JSON.stringify(rows))
      .run<{ readonly subject: string }>();
    return { inserted, newer: results.map(({ subject }) => `${name} ${subject}`) };
  }

  async #continue(archive: ArchiveStore, json: string): Promise<Copied> {
    let stored = json;
    let state = parse(json);
    for (let left = PAGES_AT_ONCE; left > 0 && state.at < TABLES.length; left -= 1) {
      state = await this.#copyPage(archive, state);
      const next = JSON.stringify(state);
      // Another run continued the copy meanwhile. It wrote the same pages.
      if (!(await this.#save(stored, next))) break;
      stored = next;
    }
    const { copy_id, began_at_ms, rows, pages } = state;
    const is_complete = state.at >= TABLES.length;
    if (is_complete) {
      const completed_at_ms = Date.now();
      const manifest = { format: 1, copy_id, began_at_ms, completed_at_ms, rows, pages } as const;
      const bytes = new TextEncoder().encode(JSON.stringify(manifest satisfies Manifest));
      await archive.create(`${COMPLETE}${copy_id}.json`, bytes);
      await this.#parts.database
        .prepare(
          `update directory_copy set under_way_json = null, completed_id = ?1, completed_at_ms = ?2
            where under_way_json = ?3`,
        )
        .bind(copy_id, completed_at_ms, stored)
        .run();
    }
    const sum = Object.values(rows).reduce((total, one) => total + one, 0);
    return { copy_id, is_complete, rows: sum };
  }

  async #copyPage(archive: ArchiveStore, state: UnderWay): Promise<UnderWay> {
    const copied = TABLES[state.at];
    if (copied === undefined) return state;
    const { table, key, is_saved } = copied;
    const { after, page, copy_id } = state;
    const usual = is_saved === true ? SAVED_PAGE_ROWS : PAGE_ROWS;
    const limit = table === appIcons ? ICONS_PAGE_ROWS : usual;
    const name = getTableName(table);
    const keys = key.join(", ");
    const from = `(${keys}) > (${key.map((_, at) => `?${at + 1}`).join(", ")})`;
    const { results } = await this.#parts.database
      .prepare(
        `select ${selectedColumns(table)} from ${name}
          ${after === null ? "" : `where ${from}`} order by ${keys} limit ${limit}`,
      )
      .bind(...(after ?? []))
      .run<TableRow>();
    const is_last = results.length < limit;
    const last = results.at(-1);
    if (last !== undefined) {
      const bytes = await gzip(results.map((row) => `${JSON.stringify(row)}\n`).join(""));
      const file = `${String(page).padStart(8, "0")}-${await sha256(bytes)}.jsonl.gz`;
      await archive.create(`${PAGES}${copy_id}/${name}/${file}`, bytes);
    }
    const written = last === undefined ? page - 1 : page;
    return {
      ...state,
      ...(is_last
        ? { at: state.at + 1, after: null, page: 1 }
        : { after: key.map((column) => last?.[column] ?? null), page: page + 1 }),
      rows: { ...state.rows, [name]: (state.rows[name] ?? 0) + results.length },
      pages: { ...state.pages, [name]: written },
    };
  }

  async #deleteOld(archive: ArchiveStore, now_ms: number): Promise<void> {
    const { completed_id } = await this.#read();
    const oldest = timeInId(now_ms - COPIES_KEPT_MS);
    for (let left = DELETED_AT_ONCE; left > 0; left -= 1) {
      // A copy without its last file does not count, so that one goes first.
      const { names: complete } = await archive.list(COMPLETE, null, 1);
      const { names: pages } = await archive.list(PAGES, null, 1);
      const [manifest] = complete;
      const copy_id = (manifest ?? "").replace(/\.json$/, "");
      const [folder = ""] = (pages[0] ?? "").split("/");
      // The newest one stays, although it is old: there is no other.
      const is_old = (id: string): boolean => id !== "" && id < oldest && id !== completed_id;
      if (is_old(copy_id)) await archive.delete([`${COMPLETE}${copy_id}.json`]);
      if (is_old(folder)) await archive.deleteSome(`${PAGES}${folder}/`);
      if (!is_old(copy_id) && !is_old(folder)) return;
    }
  }

  async #read(): Promise<StateRow> {
    const row = await this.#parts.database
      .prepare("select * from directory_copy")
      .first<StateRow>();
    return row ?? { under_way_json: null, completed_id: null, completed_at_ms: null, key_id: null };
  }

  async #save(before: string, json: string): Promise<boolean> {
    const { meta } = await this.#parts.database
      .prepare("update directory_copy set under_way_json = ?1 where under_way_json = ?2")
      .bind(json, before)
      .run();
    return meta.changes > 0;
  }
}

const parse = (json: string): UnderWay => JSON.parse(json) as UnderWay;

/** A time as ids begin with it, in their order. */
const timeInId = (at_ms: number): string => new Date(at_ms).toISOString().replaceAll(/[-:.]/g, "");

/** What every UUIDv7 of a time and later is at least. */
const firstUuidAt = (at_ms: number): string =>
  at_ms.toString(16).padStart(12, "0").replace(/^.{8}/, "$&-");

/** The number of a page by its file's name; 0: before the first one. */
const numberOf = (name: string | null): number => Number((name ?? "0").slice(0, 8));

/** The rows of a page; null: the file is not the one that was written. */
async function readPage(archive: ArchiveStore, key: string): Promise<readonly TableRow[] | null> {
  const bytes = await archive.read(key);
  if (bytes === null || !key.endsWith(`-${await sha256(bytes)}.jsonl.gz`)) return null;
  const lines = (await gunzip(bytes)).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as TableRow);
}
