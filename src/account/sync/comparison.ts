/**
 * Compares an account with itself and with its copies: the sums of its own rows, the newest segment of the archive, and the
 * read model. It changes nothing: an operator decides what a difference means.
 */
import { sha256, gunzip } from "../../archive/bytes.ts";
import type { ArchiveStore } from "../../archive/store.ts";
import {
  accountFolder,
  parseSegment,
  rangeOfName,
  SEGMENT_ENTRIES_MAX,
  segmentName,
  type ArchiveHead,
} from "../../domain/archive_segment.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import type { Projector } from "../../readmodel/projector.ts";
import type { Comparison } from "../contract.ts";
import type { AccountDatabase } from "../sql/database.ts";
import type { AccountRow, EntryRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import { isOwn } from "./read_model_rows.ts";

/** Entries whose sum one comparison adds up. A larger account is proven by its archive: `passbook archive verify`. */
const SUMMED_ENTRIES_MAX = 200_000;

/** Names that one listing of the archive returns: more than a thousand entries can have. */
const NAMES_LISTED = SEGMENT_ENTRIES_MAX;

interface ComparedParts {
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly archive: ArchiveStore | null;
  readonly projector: Pick<Projector, "read">;
  readonly head: ArchiveHead | null;
}

type Difference = Comparison["differences"][number];

/** The comparison of a person without an account. */
export const NO_ACCOUNT: Comparison = { account_id: null, line: 0, payments: [], differences: [] };

/** Purchases of an account that one comparison checks, and their age: each is checked twice. */
const PAYMENTS_MAX = 5;
const PAYMENTS_MS = 14 * DAY_MS;

function recentPayments(database: AccountDatabase): Comparison["payments"] {
  return database.all(
    `select payment_intent_id, credits from purchases where created_at_ms >= ?
     order by created_at_ms desc limit ${PAYMENTS_MAX}`,
    Date.now() - PAYMENTS_MS,
  );
}

/** @throws if the archive or the read model cannot be reached */
export async function compareCopies(parts: ComparedParts): Promise<Comparison> {
  const { store } = parts;
  const account = store.readAccount();
  const newest = store.readNewestEntry();
  if (account === null || newest === null) return NO_ACCOUNT;
  const payments = recentPayments(parts.database);
  // Before anything is awaited: entries may be added meanwhile.
  const own = ownDifferences(parts, newest);
  const archived = await archiveDifferences(parts, account);
  const delivered = await readModelDifferences(parts, account);
  const differences = [...own, ...archived, ...delivered];
  return { account_id: account.id, line: newest.line, payments, differences };
}

const HELD = "select coalesce(sum(reserved), 0) as credits from jobs where status = 'started'";
// After the balance-forward record; reads may have brought older entries back.
const BALANCE = "select coalesce(sum(amount), 0) as credits from entries where line > ?";
const BOUGHT = "select coalesce(sum(credits - taken_back), 0) as credits from purchases";
const BOOKED = `select coalesce(sum(amount), 0) as credits from entries
  where line > ? and kind in ('purchase', 'purchase_refund')`;

/** The newest entry, against what left and all later entries, the started jobs, and the purchases. */
function ownDifferences({ database, store }: ComparedParts, newest: EntryRow): Difference[] {
  const { line, balance, purchased } = store.left.forward ?? { line: 0, balance: 0, purchased: 0 };
  if (newest.line - line > SUMMED_ENTRIES_MAX) return [];
  const sumOf = (query: string, ...parameters: readonly number[]): number =>
    database.first<{ readonly credits: number }>(query, ...parameters)?.credits ?? 0;
  const compared: readonly [Difference["what"], number, number][] = [
    ["held", sumOf(HELD), newest.reserved_after],
    ["balance", balance + sumOf(BALANCE, line), newest.balance_after],
    ["purchases", sumOf(BOUGHT), purchased + sumOf(BOOKED, line)],
  ];
  return compared
    .filter(([, expected, found]) => expected !== found)
    .map(([what, expected, found]) => ({ where: "account", what, expected, found }));
}

async function archiveDifferences(
  { store, archive, head }: ComparedParts,
  { id }: AccountRow,
): Promise<Difference[]> {
  if (archive === null || head === null) return [];
  const differs = (what: Difference["what"]): Difference[] => [
    { where: "archive", what, expected: head.line, found: null },
  ];
  const earliest = Math.max(0, head.line - SEGMENT_ENTRIES_MAX);
  const after = segmentName({ first: earliest, last: earliest });
  const { names } = await archive.list(accountFolder(id), after, NAMES_LISTED);
  const name = names.find((one) => rangeOfName(one)?.last === head.line);
  const bytes = name === undefined ? null : await archive.read(accountFolder(id) + name);
  if (bytes === null) return differs("segment_missing");
  if ((await sha256(bytes)) !== head.sha256) return differs("segment_changed");
  const segment = parseSegment(await gunzip(bytes).catch(() => ""));
  if (!segment.ok) return differs("segment_changed");
  const { header, rows } = segment.value;
  const archived = rows.filter(({ table }) => table === "entries");
  const own = store.readEntriesBetween(header.first - 1, header.last);
  const wrong = own.find((entry, at) =>
    Object.entries(archived[at]?.row ?? {}).some(
      ([column, value]) => Reflect.get(entry, column) !== value,
    ),
  );
  if (own.length === archived.length && wrong === undefined) return [];
  return [{ where: "archive", what: "entry", expected: wrong?.line ?? header.last, found: null }];
}

async function readModelDifferences(
  { store, projector }: ComparedParts,
  { identity_id, id }: AccountRow,
): Promise<Difference[]> {
  const rows = await projector.read(identity_id);
  const row = rows.find((one) => one.id === id);
  // What is missing or late is sent by the alarm and the schedule, and has figures of its own.
  if (row === undefined || row.line === 0 || isOwn(store, row)) return [];
  const entry = store.readEntry(row.line);
  const expected = entry?.balance_after ?? null;
  return [{ where: "read_model", what: "balance", expected, found: row.credits }];
}
