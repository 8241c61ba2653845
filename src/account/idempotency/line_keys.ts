/**
 * Keys that lie in ledger lines, and so cost no row of their own. Which line has a key is known by memory
 * alone, read from storage by the first request with a key after a waking; one without a key reads and
 * pays nothing for them.
 *
 * What that first one reads is bounded, whatever the history. The newest line says which line before it
 * has a key, and that line the next; that chain is followed for `keyed_lines` lines, whatever lies between
 * them. Where it would grow beyond `lines_max`, its oldest keys move to a page, one row for many of them.
 * Pages are a ring: the oldest is written over once its keys are out of reach. An account of more keys in a
 * day than the ring holds pays a row for each beyond, in the tables of kept answers.
 */
import { IDEMPOTENCY_KEEP_MS, IDEMPOTENCY_REACH_MS, LINE_KEYS } from "../../domain/limits.ts";
import { assertInvariant } from "../../domain/result.ts";
import type { EntryRow } from "../store.ts";
import type { Transaction } from "../transaction.ts";
import type { PlacedLine } from "../schema.ts";
import type { KeyPage, KeyStore } from "./key_store.ts";
import { keyText, placedKey, readKeyText } from "./key_text.ts";
import type { KeptAnswers } from "./kept_answers.ts";
import type { KeyedRequest } from "./once.ts";

/** What each line says of keys: see the columns of the same names, `schema.entries`. */
export type KeyedLines = Pick<EntryRow, "kept_key" | "keyed_before_line" | "keyed_lines">;

/** A line's place in the books of keys, where its request had none. */
export function withoutKey(newest: EntryRow | null): KeyedLines {
  const keyed_lines = newest?.keyed_lines ?? 0;
  return { kept_key: null, keyed_before_line: newestKeyed(newest), keyed_lines };
}

function newestKeyed(newest: EntryRow | null): number | null {
  if (newest === null) return null;
  return newest.kept_key === null ? newest.keyed_before_line : newest.line;
}

interface LooseKey {
  readonly placed_key: string;
  readonly line: number;
  readonly at_ms: number;
}

interface Memory {
  /** The newest line of each key, as far as it is in reach. */
  readonly lines: Map<string, number>;
  /** Keys that only their lines tell of, oldest first. */
  readonly loose: LooseKey[];
  /** Oldest first. */
  readonly pages: KeyPage[];
}

export class LineKeys {
  readonly #store: KeyStore;
  readonly #kept_answers: KeptAnswers;
  #memory: Memory | null = null;

  constructor(store: KeyStore, kept_answers: KeptAnswers) {
    this.#store = store;
    this.#kept_answers = kept_answers;
  }

  /**
   * The newest line of a key, at most a day old; null where there is none. Reads that line; the first
   * time after a waking `lines_max` keyed lines and `pages_max` pages at most beside it.
   */
  find(asked: KeyedRequest, transaction: Transaction): EntryRow | null {
    const placed_key = placedKey(asked);
    const line = this.#remember(transaction).lines.get(placed_key);
    if (line === undefined) return null;
    const entry = transaction.store.readEntry(line);
    assertInvariant(
      entry !== null && readKeyText(entry.kept_key).placed_key === placed_key,
      "the line of a key has it",
    );
    return entry.at_ms > transaction.now_ms - IDEMPOTENCY_KEEP_MS ? entry : null;
  }

  /** Takes a key into the books of the line that its request is about to write. */
  add(transaction: Transaction, asked: KeyedRequest, line: number): KeyedLines {
    const memory = this.#remember(transaction);
    forgetOld(memory, transaction.now_ms);
    if (memory.loose.length >= LINE_KEYS.lines_max) this.#pack(memory, transaction);
    const loose = { placed_key: placedKey(asked), line, at_ms: transaction.now_ms };
    memory.loose.push(loose);
    memory.lines.set(loose.placed_key, line);
    return {
      kept_key: keyText(asked),
      keyed_before_line: newestKeyed(transaction.store.readNewestEntry()),
      keyed_lines: memory.loose.length,
    };
  }

  /** Runs `work` as part of a transaction; where it throws, what it remembered is not there. */
  within<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      this.#memory = null;
      throw error;
    }
  }

  #remember({ store }: Transaction): Memory {
    this.#memory ??= read(this.#store, store.readNewestEntry());
    return this.#memory;
  }

  /** Moves the oldest loose keys to a page, or each to a row where the ring of pages is full. */
  #pack(memory: Memory, transaction: Transaction): void {
    const oldest = memory.loose.splice(0, LINE_KEYS.page_lines);
    const { pages } = memory;
    const before = pages.length < LINE_KEYS.pages_max ? undefined : pages[0];
    if (before !== undefined && isInReach(before.newest_ms, transaction.now_ms)) {
      return this.#keepInRows(memory, oldest, transaction);
    }
    for (const placed of before?.keys_json ?? []) forget(memory, placed);
    if (before !== undefined) pages.shift();
    const page = {
      slot: before?.slot ?? pages.length,
      last_line: oldest.at(-1)?.line ?? 0,
      newest_ms: Math.max(...oldest.map(({ at_ms }) => at_ms)),
      keys_json: oldest.map(({ placed_key, line }): PlacedLine => [placed_key, line]),
    };
    this.#store.savePage(page);
    pages.push(page);
  }

  #keepInRows(memory: Memory, keys: readonly LooseKey[], transaction: Transaction): void {
    for (const { placed_key, line, at_ms } of keys) {
      const at = placed_key.lastIndexOf(" ");
      const [endpoint, key] = [placed_key.slice(0, at), placed_key.slice(at + 1)];
      const answer_json = JSON.stringify({ line });
      // What its line says as well stays empty; a build that knows no such rows then refuses the key.
      const said_by_line = { fingerprint: "", personal_token_id: null };
      const row = { endpoint, key, ...said_by_line, answer_json, created_at_ms: at_ms };
      this.#kept_answers.insert(row, transaction);
      forget(memory, [placed_key, line]);
    }
  }
}

function read(store: KeyStore, newest: EntryRow | null): Memory {
  const pages = store.readPages();
  const keyed_lines = newest?.keyed_lines ?? 0;
  const loose = store
    .readKeyedEntries(newestKeyed(newest), keyed_lines)
    .map(({ line, kept_key, at_ms }) => {
      return { placed_key: readKeyText(kept_key).placed_key, line, at_ms };
    });
  assertInvariant(loose.length === keyed_lines, "the chain of keyed lines is whole");
  const placed = [
    ...pages.flatMap(({ keys_json }) => keys_json),
    ...loose.map(({ placed_key, line }): PlacedLine => [placed_key, line]),
  ];
  return { lines: new Map(placed), loose, pages };
}

/** Forgets the oldest loose keys, as far as nobody can ask for them any more. */
function forgetOld(memory: Memory, now_ms: number): void {
  const first = memory.loose.findIndex(({ at_ms }) => isInReach(at_ms, now_ms));
  const old = memory.loose.splice(0, first === -1 ? memory.loose.length : first);
  for (const { placed_key, line } of old) forget(memory, [placed_key, line]);
}

function forget({ lines }: Memory, [placed_key, line]: PlacedLine): void {
  if (lines.get(placed_key) === line) lines.delete(placed_key);
}

/** Whether a key may be asked for yet, also by a clock somewhat behind the one of now. */
function isInReach(at_ms: number, now_ms: number): boolean {
  return at_ms > now_ms - IDEMPOTENCY_REACH_MS;
}
