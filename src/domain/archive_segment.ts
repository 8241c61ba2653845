/**
 * The format of the archive: segments, each with consecutive ledger entries of one account and the rows that belong to
 * them. A segment is text, stored with gzip: the first line is its header, and each other line is one row. `docs/keep.md`
 * describes the format for others. Pure.
 */
import { accepted, refused, type Result } from "./result.ts";

/** The version of the format, which every header states. */
export const SEGMENT_FORMAT = 1;

/** The most entries of a segment. An account writes one as soon as it has this many new entries. */
export const SEGMENT_ENTRIES_MAX = 1_000;

/** The bytes of text after which a segment takes no further entry, since an object has 128 MB of memory. */
export const SEGMENT_TEXT_BYTES = 4 * 1024 * 1024;

/** The folder of all segments. */
export const ARCHIVE_FOLDER = "ledger/v1";

/** The folder of jobs that left their objects. */
const JOBS_FOLDER = "jobs/v1";

/** Entries after the segment's own that its other rows belong to. They come again in the next segment. */
export const LATER_ENTRIES_TABLE = "later_entries";

/** One row: the entry that all rows of the segment, but its entries, belong to. A restore begins from such a segment. */
export const STATE_TABLE = "state";

/** Digits of an entry number in a name, so that names sort in the order of entries. */
const NUMBER_DIGITS = 12;

const NAME = /^(\d{12})-(\d{12})\.jsonl\.gz$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** The numbers of a segment's first and last entry. */
export interface SegmentRange {
  readonly first: number;
  readonly last: number;
}

export interface SegmentHeader extends SegmentRange {
  readonly format: typeof SEGMENT_FORMAT;
  readonly account_id: string;
  readonly identity_id: string;
  /** The SHA-256 of the stored bytes of the segment before, in hexadecimal; null: it is the account's first one. */
  readonly previous_sha256: string | null;
}

/** A row of the account's object, with all its columns. */
export interface SegmentRow {
  readonly table: string;
  readonly row: Readonly<Record<string, unknown>>;
}

export interface Segment {
  readonly header: SegmentHeader;
  /** Entries in their order, each followed by the rows that it names and that are not in the segment yet. */
  readonly rows: readonly SegmentRow[];
}

/** The newest segment of an account: its last entry, and the SHA-256 of its stored bytes. */
export interface ArchiveHead {
  readonly line: number;
  readonly sha256: string;
}

/** The folder of an account's segments, with a slash at its end. */
export function accountFolder(account_id: string): string {
  return `${ARCHIVE_FOLDER}/${account_id}/`;
}

/** The folder of a restore of the account that is not finished, with a slash at its end. */
export function restoreFolder(account_id: string): string {
  return `restores/v1/${account_id}/`;
}

/** The file of a restore that has begun, with what stays of the time after: JSON of `Undone`, with gzip. */
export function undoneKey(account_id: string): string {
  return `${restoreFolder(account_id)}undone.json.gz`;
}

/** The folder of the jobs that left an account's object, with a slash at its end; see `account/sync/old_rows.ts`. */
export function jobsFolder(account_id: string): string {
  return `${JOBS_FOLDER}/${account_id}/`;
}

/** The name of a file in it. An attempt whose response was lost, with other rows, has another name. */
export function jobsFileName(file: { readonly last_id: string; readonly sha256: string }): string {
  return `${file.last_id}-${file.sha256.slice(0, 16)}.jsonl.gz`;
}

/** The name of a segment in its account's folder. */
export function segmentName({ first, last }: SegmentRange): string {
  const padded = [first, last].map((line) => String(line).padStart(NUMBER_DIGITS, "0"));
  return `${padded.join("-")}.jsonl.gz`;
}

/** The entries that a segment of this name has; null: it is not the name of a segment. */
export function rangeOfName(name: string): SegmentRange | null {
  const [, first, last] = NAME.exec(name) ?? [];
  if (first === undefined || last === undefined) return null;
  const range = { first: Number(first), last: Number(last) };
  return range.first >= 1 && range.last >= range.first ? range : null;
}

/** One line of a segment, without the line break. */
export function rowLine({ table, row }: SegmentRow): string {
  return JSON.stringify({ table, row });
}

/** A segment's text. `lines`: of {@link rowLine}. */
export function segmentText(header: SegmentHeader, lines: readonly string[]): string {
  return [JSON.stringify(header), ...lines, ""].join("\n");
}

/** Reads a segment's text. The refusal is a sentence that names the line that is wrong. */
export function parseSegment(text: string): Result<Segment, string> {
  const lines = text.split("\n");
  if (lines.pop() !== "") return refused("its last line has no end");
  const header = objectOf(lines[0] ?? "");
  const problem = header === null ? "is not a JSON object" : problemOfHeader(header);
  if (problem !== null) return refused(`its header ${problem}`);
  const rows: SegmentRow[] = [];
  for (const [index, line] of lines.slice(1).entries()) {
    const { table, row } = objectOf(line) ?? {};
    if (typeof table !== "string" || !isObject(row)) {
      return refused(`its line ${index + 2} is not a row of a table`);
    }
    rows.push({ table, row });
  }
  return accepted({ header: header as unknown as SegmentHeader, rows });
}

function problemOfHeader(header: Readonly<Record<string, unknown>>): string | null {
  const { format, account_id, identity_id, first, last, previous_sha256 } = header;
  if (format !== SEGMENT_FORMAT) {
    return `has the format ${String(format)}, but this program reads format ${SEGMENT_FORMAT}`;
  }
  const are_texts = typeof account_id === "string" && typeof identity_id === "string";
  if (!are_texts) return "names no account";
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) return "names no entries";
  const is_hash = typeof previous_sha256 === "string" && SHA256.test(previous_sha256);
  return is_hash || previous_sha256 === null ? null : "names no earlier segment";
}

function objectOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
