/**
 * Restores an account whose storage the platform lost, from its segments in the archive into the empty object.
 *
 * Each call takes a portion of the segments, in order, and a note in storage refuses every other request until the last call
 * has finished. A call that was lost is repeated. Segments are checked as they are taken: if one is not the next of the chain,
 * the object is emptied again. What the account had is that of the newest segment whose rows are all of one moment
 * (`STATE_TABLE`). Entries that came after it stay, as far as they are known, and one more entry takes the balance back.
 */
import { gunzip, sha256 } from "../../archive/bytes.ts";
import type { ArchiveStore } from "../../archive/store.ts";
import {
  accountFolder,
  LATER_ENTRIES_TABLE,
  parseSegment,
  rangeOfName,
  segmentName,
  STATE_TABLE,
  type ArchiveHead,
  type Segment,
  type SegmentRange,
} from "../../domain/archive_segment.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { TIMED_KINDS } from "../../domain/ledger.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, assertInvariant, refused } from "../../domain/result.ts";
import type { Answer, LostAccount, RestoredAccount } from "../contract.ts";
import { RESTORING_FROM, type Instance } from "../instance.ts";
import type { AccountParts } from "../parts.ts";
import type { TableName } from "../sql/database.ts";
import { accountThen } from "./plan.ts";
import { appendLost, postponeExpiries, takeBackTo, UNDONE_ENTRIES_MAX } from "./undone.ts";

/** Segments that one call takes: about two seconds of work. */
const SEGMENTS_AT_ONCE = 20;

/** When the alarm fires at the latest after a restore. */
const ALARM_MS = 10_000;

/** Names of segments that one listing returns. */
const NAMES_LISTED = 1_000;

/** The tables that a restore fills. What somebody got since the storage was lost, such as a token, is in the others. */
const FILLED = [
  "account",
  "apps",
  "archive",
  "balance_forward",
  "base_payments",
  "cap_claims",
  "debts",
  "entries",
  "jobs",
  "left_jobs",
  "left_segments",
  "long_jobs",
  "lots",
  "purchase_entries",
  "purchase_reversals",
  "purchases",
  "read_model_behind",
  "stuck_jobs",
] as const satisfies readonly TableName[];

/** The rows that a segment brings with its entries, with their keys. A later one replaces an earlier one. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  jobs: ["id"],
  purchases: ["checkout_session_id"],
  purchase_entries: ["line"],
  purchase_reversals: ["payment_intent_id", "source_id"],
};

/** Whole tables of the newest segment. */
const WHOLE = ["account", "apps", "base_payments", "debts", "lots"];

/** Kinds of entries that come without anybody's use of the account, but its opening. */
const UNUSED_KINDS: readonly string[] = ["open", "grant", ...TIMED_KINDS];

/** The note of a restore that has begun. */
interface Begun {
  readonly account_id: string;
  /** The segment whose rows are of one moment. */
  readonly of: SegmentRange;
  /** Whether the account was opened again after its storage was lost. */
  readonly was_opened: boolean;
}

interface Restoring extends Begun {
  readonly parts: AccountParts;
  readonly archive: ArchiveStore;
  readonly lost: LostAccount;
}

const declined = (detail: string) =>
  refused({ code: "recovery_refused", detail } satisfies Refusal);

/** A segment is not what the chain says. */
class Damaged extends Error {}

/** Why the account cannot be restored; null: it can. Changes nothing. */
export function whyNotRestored(account: Instance, { account: known }: LostAccount): string | null {
  if (account.isRestoring || account.parts === null) return null;
  const { store, database } = account.parts;
  const own = store.readAccount();
  if (own === null) return null;
  if (own.deleted_at_ms !== null) return "The account is deleted.";
  if (own.id === known.id) {
    return "The account has its storage. To restore it to an earlier time, use --to.";
  }
  const used = database
    .rows("entries", "order by line limit 1000")
    .find(({ kind }) => !UNUSED_KINDS.includes(kind));
  if (used === undefined) return null;
  return `The account has been used since its storage was lost: entry ${used.line} is of the kind ${used.kind}. Give what "passbook archive verify" says with "passbook admin credits", then run "passbook admin rebuild" for it.`;
}

/**
 * Restores a portion. `is_done`: an earlier request has restored the account, and is repeated.
 * @returns null: call again. @throws if the archive cannot be reached; then call again
 */
export async function restoreFromArchive(
  account: Instance,
  lost: LostAccount,
  is_done: boolean,
): Promise<Answer<RestoredAccount | null>> {
  const newest = is_done ? account.readModelParts?.store.readNewestEntry() : null;
  if (newest !== null && newest !== undefined) {
    return accepted({ now: accountThen(newest), lost_entries: 0 });
  }
  try {
    return await restorePortion(account, lost);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    if (account.isRestoring) reopenEmpty(account);
    return declined(`${error.message}. Check the archive with: passbook archive verify`);
  }
}

function reopenEmpty(account: Instance): void {
  const { storage } = account.context;
  storage.transactionSync(() => {
    empty(account.close());
    storage.kv.delete(RESTORING_FROM);
  });
  account.reopen(null);
}

async function restorePortion(
  account: Instance,
  lost: LostAccount,
): Promise<Answer<RestoredAccount | null>> {
  if (!account.isRestoring) {
    const began = await begin(account, lost);
    if (!began.ok) return began;
  }
  const begun = account.context.storage.kv.get<Begun>(RESTORING_FROM);
  // Another call has finished it.
  if (begun === undefined) return declined("No restore of this account is under way.");
  const parts = account.close();
  const { archive } = parts.copies;
  if (archive === null) return refused({ code: "not_found", missing: "archive" });
  const { account_id, identity_id } = { ...begun, identity_id: account.identity_id };
  await parts.old_rows.makeRoom({ id: account_id, identity_id });
  const restoring = { ...begun, parts, archive, lost };
  for (let left = SEGMENTS_AT_ONCE; left > 0; left -= 1) {
    if (!(await takeNext(account, restoring))) return finish(account, restoring);
  }
  return accepted(null);
}

async function begin(account: Instance, lost: LostAccount): Promise<Answer<null>> {
  const { storage } = account.context;
  const account_id = lost.account.id;
  const { archive } = account.openParts().copies;
  if (archive === null) return refused({ code: "not_found", missing: "archive" });
  const ranges = await listRanges(archive, account_id);
  let of: SegmentRange | undefined;
  for (const range of ranges.toReversed()) {
    const { segment } = await readSegment(archive, account_id, range);
    if (!segment.rows.some(({ table }) => table === STATE_TABLE)) continue;
    of = range;
    break;
  }
  if (of === undefined) return declined("The archive has no segment to restore the account from.");
  if (lost.account.line - (ranges.at(-1)?.last ?? 0) > UNDONE_ENTRIES_MAX) {
    return declined("Too many entries came after the archive's newest segment.");
  }
  // Nothing is awaited from here on, so nobody uses the account between the check and the note.
  const refusal = whyNotRestored(account, lost);
  if (refusal !== null) return declined(refusal);
  if (account.isRestoring) return accepted(null);
  const parts = account.openParts();
  const was_opened = parts.store.readAccount() !== null;
  storage.transactionSync(() => {
    empty(parts);
    storage.kv.put(RESTORING_FROM, { account_id, of, was_opened } satisfies Begun);
  });
  account.close();
  return accepted(null);
}

async function listRanges(archive: ArchiveStore, account_id: string): Promise<SegmentRange[]> {
  const ranges: SegmentRange[] = [];
  let after: string | null = null;
  do {
    const { names, next } = await archive.list(accountFolder(account_id), after, NAMES_LISTED);
    ranges.push(...names.flatMap((name) => rangeOfName(name) ?? []));
    after = next;
  } while (after !== null);
  return ranges;
}

async function readSegment(archive: ArchiveStore, account_id: string, range: SegmentRange) {
  const name = segmentName(range);
  const bytes = await archive.read(accountFolder(account_id) + name);
  const text = bytes === null ? null : await gunzip(bytes).catch(() => null);
  const parsed = text === null ? null : parseSegment(text);
  if (bytes === null || parsed === null || !parsed.ok) throw new Damaged(`${name} cannot be read`);
  return { segment: parsed.value, hash: await sha256(bytes) };
}

/** Deletes what a restore fills. */
function empty({ database, store }: AccountParts): void {
  for (const table of FILLED) database.run(`delete from ${table}`);
  store.forget();
}

/** Takes the next segment. @returns false: the chain has ended. @throws Damaged */
async function takeNext({ context }: Instance, restoring: Restoring): Promise<boolean> {
  const { parts, archive, lost, account_id } = restoring;
  const { database, store } = parts;
  const before = database.row("archive", "");
  const line = before?.line ?? 0;
  const after = segmentName({ first: line, last: line });
  const { names } = await archive.list(accountFolder(account_id), after, 1);
  const range = rangeOfName(names[0] ?? "");
  if (range === null) {
    if (line < lost.head.line) throw new Damaged(`The segment after entry ${line} is missing`);
    return false;
  }
  const { segment, hash } = await readSegment(archive, account_id, range);
  checkNext(segment, range, before, { account_id, identity_id: lost.account.identity_id });
  if (range.last === lost.head.line && hash !== lost.head.sha256) {
    throw new Damaged(`${segmentName(range)} is not the newest segment that the read model names`);
  }
  context.storage.transactionSync(() => {
    // The same restore was requested twice at the same time.
    if ((database.row("archive", "")?.line ?? 0) !== line) return;
    takeRows(restoring, segment);
    const head = { line: range.last, sha256: hash };
    const nothing = { pending_line: null, requested_line: 0, failing_since_ms: null };
    database.save("archive", ["singleton"], { singleton: 1, ...head, ...nothing });
  });
  store.forget();
  return true;
}

/** @throws Damaged if a segment is not the next one */
function checkNext(
  { header, rows }: Segment,
  range: SegmentRange,
  before: { readonly [Name in keyof ArchiveHead]: ArchiveHead[Name] | null } | null,
  owner: Pick<Segment["header"], "account_id" | "identity_id">,
): void {
  const lines = rows.filter(({ table }) => table === "entries").map(({ row }) => row["line"]);
  const is_next =
    header.account_id === owner.account_id &&
    header.identity_id === owner.identity_id &&
    header.previous_sha256 === (before?.sha256 ?? null) &&
    range.first === (before?.line ?? 0) + 1 &&
    lines.length === range.last - range.first + 1 &&
    lines.every((line, at) => line === range.first + at);
  if (!is_next) throw new Damaged(`${segmentName(range)} is not the next segment of the chain`);
}

function takeRows({ parts: { database }, of }: Restoring, { header, rows }: Segment): void {
  // Later rows are not of one moment. Their entries stay in the ledger, and are taken back.
  const is_entry_only = header.first > of.first;
  for (const { table, row } of rows) {
    if (table === "entries") {
      database.insert("entries", row);
      // The jobs that an earlier restore undid. Those that it left follow in this segment.
      const { kind, line, previous_line } = row;
      if (kind === "recovery" && previous_line !== null) {
        const undone = "delete from jobs where line > ? and line < ?";
        database.run(undone, Number(previous_line), Number(line));
      }
    }
    const key = KEYS[table];
    if (key === undefined || is_entry_only) continue;
    // A claim is on the caps of tokens, which the archive does not have.
    const own = table === "jobs" ? { ...row, claimed_until_ms: null } : row;
    database.save(table as "jobs", key as ["id"], own);
  }
}

/** All segments are here: adds what is of the newest moment, and opens the account. */
async function finish(
  account: Instance,
  restoring: Restoring,
): Promise<Answer<RestoredAccount | null>> {
  const { storage } = account.context;
  const { archive, account_id, of } = restoring;
  const { segment } = await readSegment(archive, account_id, of);
  // With an alarm, the instance notifies the senders of all webhooks, which may know of lost entries.
  await storage.setAlarm(Date.now() + ALARM_MS);
  // The same restore was requested twice at the same time.
  if (storage.kv.get(RESTORING_FROM) === undefined) return accepted(null);
  const lost_entries = storage.transactionSync(() => {
    storage.kv.delete(RESTORING_FROM);
    return complete(restoring, segment);
  });
  account.reopen(await storage.getAlarm());
  const opened = account.openParts();
  const newest = opened.store.readNewestEntry();
  assertInvariant(newest !== null, "a restored account has entries");
  opened.outbox.startRebuild();
  opened.archiver.request();
  opened.alarm.by(Date.now());
  return accepted({ now: accountThen(newest), lost_entries });
}

/** @returns how many entries are lost */
function complete({ parts, lost, was_opened }: Restoring, { rows }: Segment): number {
  const { database } = parts;
  const now_ms = Date.now();
  for (const { table, row } of rows) {
    if (WHOLE.includes(table)) database.insert(table as TableName, row);
    if (table === LATER_ENTRIES_TABLE) database.insertMissing("entries", row);
  }
  const line = rows.find(({ table }) => table === STATE_TABLE)?.row["line"];
  const then = database.row("entries", "where line = ?", Number(line));
  assertInvariant(then !== null, "the archive has the newest entry of its rows");
  const lost_entries = appendLost(database, lost.account);
  takeBackTo(database, then, "Restored from the archive", now_ms);
  parts.store.forget();
  const { suspended_at_ms } = lost.account;
  // The reason in the archive is that of another suspension, unless it is the same one.
  database.run(
    "update account set suspended_public_reason = null where suspended_at_ms is not ?",
    suspended_at_ms,
  );
  const newest_line = parts.store.readNewestEntry()?.line ?? 0;
  const events_after_line = was_opened ? newest_line - 1 : 0;
  database.update("account", { suspended_at_ms, events_after_line }, { singleton: 1 });
  database.run(
    `insert into long_jobs (expires_at_ms, job_id)
     select expires_at_ms, id from jobs where id <= ? and status = 'started'`,
    then.recent_after_job_id ?? "",
  );
  postponeExpiries(database, now_ms + DAY_MS);
  parts.store.top_ups.beginNumbers(now_ms);
  return lost_entries;
}
