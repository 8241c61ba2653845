/**
 * Checks the archive of one account: that its segments are all there, in order and unchanged, and that their entries add
 * up. It needs only the files, so that anyone can do it. Pure.
 */
import {
  ArchiveReplay,
  recoveryOf,
  undoneRanges,
  type ProvenBalance,
  type Recovery,
  type UndoneRange,
} from "./archive_proof.ts";
import { parseSegment, rangeOfName, type ArchiveHead, type Segment } from "./archive_segment.ts";

/** A file of an account's folder. */
export interface StoredSegment {
  readonly name: string;
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
  /** Its content; null: the bytes are not gzip. */
  readonly text: string | null;
}

export interface ArchivedAccountProof {
  /** What is wrong, as sentences that name the file or the entry. */
  readonly problems: readonly string[];
  readonly segments: number;
  /** The identity that the segments name; null: no segment can be read. */
  readonly identity_id: string | null;
  /** The account after its newest archived entry. */
  readonly newest: ProvenBalance;
  /** The account at `until_ms`. */
  readonly at_time: ProvenBalance;
  /** Entries that restores of the account undid. */
  readonly undone: readonly UndoneRange[];
}

interface ArchivedFiles {
  readonly account_id: string;
  /** In the order of their names. They are read twice. */
  readonly files: () => AsyncIterable<StoredSegment> | Iterable<StoredSegment>;
  /** The newest segment as the service says; null: unknown, so a missing end is not noticed. */
  readonly head: ArchiveHead | null;
  /** The time of `at_time`, in milliseconds since the epoch. */
  readonly until_ms: number;
}

/** Checks an account's archive. It holds one segment in memory at a time, and a little for each job. */
export async function proveArchive(archived: ArchivedFiles): Promise<ArchivedAccountProof> {
  const { account_id, files, head, until_ms } = archived;
  const chain = new Chain(account_id);
  const undone = undoneRanges(await recoveriesIn(files()));
  const replay = new ArchiveReplay(until_ms, undone);
  for await (const file of files()) {
    const segment = chain.add(file);
    if (segment === null) continue;
    for (const row of segment.rows) replay.add(row);
  }
  replay.finish();
  chain.end(head);
  // Entries after a gap cannot add up; the gap is what a person must know.
  const problems = chain.problems.length > 0 ? chain.problems : replay.problems;
  const { newest, at_time } = replay;
  const { identity_id, segments } = chain;
  return { problems, segments, identity_id, newest, at_time, undone };
}

/** The entries by which the account was restored to an earlier one, in order. */
async function recoveriesIn(files: ReturnType<ArchivedFiles["files"]>): Promise<Recovery[]> {
  const found: Recovery[] = [];
  for await (const { text } of files) {
    // A segment without the word is not parsed twice.
    if (!text?.includes('"kind":"recovery"')) continue;
    const parsed = parseSegment(text);
    if (!parsed.ok) continue;
    for (const { table, row } of parsed.value.rows) {
      if (table === "entries") found.push(...(recoveryOf(row) ?? []));
    }
  }
  return found;
}

class Chain {
  readonly #account_id: string;
  readonly problems: string[] = [];
  segments = 0;
  identity_id: string | null = null;
  /** The segment before, as its file is. */
  #before: { readonly name: string; readonly last: number; readonly sha256: string } | null = null;

  constructor(account_id: string) {
    this.#account_id = account_id;
  }

  /** @returns the segment; null: it cannot be read. */
  add({ name, sha256, text }: StoredSegment): Segment | null {
    this.segments += 1;
    const range = rangeOfName(name);
    if (range === null) return this.#report(`${name} is not the name of a segment`);
    const before = this.#before;
    const next_line = (before?.last ?? 0) + 1;
    if (range.first > next_line) {
      const missing = `entries ${next_line} to ${range.first - 1} are missing`;
      this.#report(`${missing}: a segment before ${name} is not there`);
    }
    if (range.first < next_line) this.#report(`${name} repeats entries of ${before?.name ?? ""}`);
    this.#before = { name, last: range.last, sha256 };
    const parsed = text === null ? null : parseSegment(text);
    if (parsed === null) return this.#report(`${name} is damaged: it is not gzip`);
    if (!parsed.ok) return this.#report(`${name} is damaged: ${parsed.refusal}`);
    const { header } = parsed.value;
    if (header.account_id !== this.#account_id) {
      this.#report(`${name} belongs to the account ${header.account_id}`);
    }
    if (header.first !== range.first || header.last !== range.last) {
      this.#report(`${name} has the entries ${header.first} to ${header.last}, against its name`);
    }
    this.identity_id = header.identity_id;
    this.#checkEntries(name, parsed.value);
    // After a gap, the segment that it names is not there to compare.
    const follows = range.first === next_line;
    if (follows && header.previous_sha256 !== (before?.sha256 ?? null)) {
      const earlier = before === null ? "no segment" : before.name;
      this.#report(
        `${name} names another SHA-256 than that of ${earlier}: one of the two files was changed`,
      );
    }
    return parsed.value;
  }

  /** Compares the end of the chain with what the service says. */
  end(head: ArchiveHead | null): void {
    if (head === null) return;
    const last = this.#before?.last ?? 0;
    if (last < head.line) {
      this.#report(`entries ${last + 1} to ${head.line} are missing at the end`);
    } else if (last > head.line) {
      this.#report(
        `${this.#before?.name ?? ""} is newer than the newest segment, which ends with entry ${head.line}`,
      );
    } else if (this.#before?.sha256 !== head.sha256) {
      this.#report(
        `${this.#before?.name ?? ""} was changed: the service names another SHA-256 for it`,
      );
    }
  }

  #checkEntries(name: string, { header, rows }: Segment): void {
    let line = header.first;
    for (const { table, row } of rows) {
      if (table !== "entries") continue;
      if (row["line"] !== line) {
        this.#report(`${name} has entry ${String(row["line"])} in the place of entry ${line}`);
        return;
      }
      line += 1;
    }
    if (line !== header.last + 1) this.#report(`${name} lacks entry ${line}`);
  }

  #report(problem: string): null {
    this.problems.push(problem);
    return null;
  }
}
