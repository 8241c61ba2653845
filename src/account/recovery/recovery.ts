/**
 * Restores an account to an earlier time by the platform's point-in-time recovery, which replaces the object's whole storage.
 *
 * {@link beginRecovery} stores what stays in the archive, has the platform restore the storage, and ends the instance.
 * {@link finishRecovery} runs in the next one. If that call is lost, the file in the archive remains, and an operator repeats
 * the command.
 */
import { gunzip, gzip } from "../../archive/bytes.ts";
import type { ArchiveStore } from "../../archive/store.ts";
import { restoreFolder, undoneKey } from "../../domain/archive_segment.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { RECOVERY_MAX_DAYS } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, assertInvariant, errorName, refused } from "../../domain/result.ts";
import { timestamp } from "../../domain/wire.ts";
import { RECOVERY_RESTART, type Answer, type Recovered, type RecoveryPlan } from "../contract.ts";
import type { Instance } from "../instance.ts";
import { numberAt } from "../ledger/entry_times.ts";
import type { AccountParts } from "../parts.ts";
import type { EntryRow } from "../sql/schema.ts";
import { transact } from "../transaction.ts";
import { bookKept, givenBy } from "./kept_credits.ts";
import { accountThen, planOf } from "./plan.ts";
import {
  appendUndone,
  postponeExpiries,
  putBackKept,
  readUndone,
  UNDONE_ENTRIES_MAX,
  type Undone,
} from "./undone.ts";

/** The key of a note in storage that a restore has begun. The restored storage does not have it. */
const BEGUN_AT = "recovery_begun_at_ms";

/** The key of a note that what stays is back, so that only the files in the archive are left to delete. */
const PUT_BACK_AT = "recovery_put_back_at_ms";

/** Files that say which requests arrived while the object restarted. */
const LOST_FILES_MAX = 100;

type Lost = Recovered["lost"];

/** What a restore would undo. */
export function planRecovery(account: Instance, to_ms: number): Answer<RecoveryPlan> {
  const found = findThen(account, to_ms);
  if (!found.ok) return found;
  const { parts, newest, target } = found.value;
  return accepted(planOf(parts.database, newest, target));
}

interface Found {
  readonly parts: AccountParts;
  readonly archive: ArchiveStore;
  readonly account_id: string;
  readonly newest: EntryRow;
  readonly target: EntryRow;
}

const declined = (detail: string) =>
  refused({ code: "recovery_refused", detail } satisfies Refusal);

function findThen({ readModelParts: parts }: Instance, to_ms: number): Answer<Found> {
  const account = parts?.store.readAccount() ?? null;
  const newest = parts?.store.readNewestEntry() ?? null;
  if (parts === null || account === null || newest === null) {
    return refused({ code: "account_unknown" });
  }
  const { archive } = parts.copies;
  if (archive === null) return refused({ code: "not_found", missing: "archive" });
  const now_ms = Date.now();
  if (to_ms >= now_ms) return declined("The time is in the future.");
  if (to_ms < now_ms - RECOVERY_MAX_DAYS * DAY_MS) {
    return declined(
      `The platform keeps ${RECOVERY_MAX_DAYS} days. Use the archive for what is older.`,
    );
  }
  const { forward } = parts.store.left;
  if (forward !== null && to_ms < forward.at_ms) return declined(whyTooOld(forward.at_ms));
  const target = parts.store.readEntry(numberAt(parts, newest.line, to_ms + 1) - 1);
  if (target === null) return declined("The account was opened after this time.");
  if (newest.line - target.line > UNDONE_ENTRIES_MAX) {
    const most = UNDONE_ENTRIES_MAX.toLocaleString("en-GB");
    return declined(`More than ${most} entries came after this time. Choose a later one.`);
  }
  return accepted({ parts, archive, account_id: account.id, newest, target });
}

/** The entries after the time must be here, because the restored account keeps them. */
function whyTooOld(forward_at_ms: number): string {
  const at = timestamp(forward_at_ms);
  return `Entries after this time have left for the archive. Choose ${at} or later, or make an adjustment: "passbook archive verify --at" says what the balance was.`;
}

/**
 * Has the platform restore the storage, and ends the instance: the call then fails with `RECOVERY_RESTART`. A restore that was
 * begun before and is not finished is accepted, and nothing happens.
 */
export async function beginRecovery(account: Instance, to_ms: number): Promise<Answer<null>> {
  const { context } = account;
  // The read model then has the undone entries, so it is not taken for one that lacks those of the earlier storage.
  await account.readModelParts?.outbox.flush();
  // No request may add entries after those that are kept.
  return context.blockConcurrencyWhile(async () => {
    const pending = await readPending(account);
    if (pending !== null) return accepted(null);
    const found = findThen(account, to_ms);
    if (!found.ok) return found;
    const { parts, archive, account_id, newest, target } = found.value;
    let bookmark: string;
    try {
      bookmark = await context.storage.getBookmarkForTime(to_ms);
    } catch (error) {
      console.warn({ event: "recovery_refused", reason: errorName(error) });
      return declined("The platform cannot restore this object to this time.");
    }
    const at = { account_id, begun_at_ms: Date.now(), bookmark, newest_line: newest.line };
    const undone = readUndone(parts.database, at, target.line);
    const folder = restoreFolder(account_id);
    // Of an attempt that ended before the storage was restored.
    await archive.deleteSome(folder);
    await archive.create(undoneKey(account_id), await gzip(JSON.stringify(undone)));
    context.storage.kv.put(BEGUN_AT, at.begun_at_ms);
    return restart(context, bookmark);
  });
}

async function restart(context: DurableObjectState, bookmark: string): Promise<never> {
  await context.storage.onNextSessionRestoreBookmark(bookmark);
  await context.storage.sync();
  context.abort(RECOVERY_RESTART);
  throw new Error(RECOVERY_RESTART);
}

interface Pending {
  readonly archive: ArchiveStore;
  readonly folder: string;
  readonly undone: Undone;
}

/** The restore whose part at the platform is done; null: no restore is under way. */
async function readPending({
  readModelParts: parts,
  context: { storage },
}: Instance): Promise<Pending | null> {
  const account = parts?.store.readAccount() ?? null;
  const archive = parts?.copies.archive ?? null;
  if (parts === null || account === null || archive === null) return null;
  const folder = restoreFolder(account.id);
  const undone = await readJson<Undone>(archive, undoneKey(account.id));
  if (undone === null) return null;
  const is_restored = storage.kv.get(BEGUN_AT) !== undone.begun_at_ms;
  return is_restored ? { archive, folder, undone } : null;
}

async function readJson<Value>(archive: ArchiveStore, key: string): Promise<Value | null> {
  const bytes = await archive.read(key);
  return bytes === null ? null : (JSON.parse(await gunzip(bytes)) as Value);
}

/**
 * Puts back what stays. If requests arrived before it, which is a matter of milliseconds, the storage is restored once more:
 * the call fails with `RECOVERY_RESTART`, and is repeated.
 */
export async function finishRecovery(account: Instance): Promise<Answer<Recovered>> {
  const { context } = account;
  const finished = await context.blockConcurrencyWhile(() => putBackOnce(account));
  if (!finished.ok) return finished;
  const { archive, folder, recovered } = finished.value;
  // Not in there, because a failure in there resets the object.
  await archive.deleteSome(folder);
  context.storage.kv.delete(PUT_BACK_AT);
  return accepted(recovered);
}

type Finished = Pick<Pending, "archive" | "folder"> & { readonly recovered: Recovered };

async function putBackOnce(account: Instance): Promise<Answer<Finished>> {
  const { context } = account;
  const pending = await readPending(account);
  if (pending === null) return declined("No restore of this account is under way.");
  const { archive, folder, undone } = pending;
  const { names } = await archive.list(folder, null, LOST_FILES_MAX);
  const { kv } = context.storage;
  // What came after an attempt that failed at its end stays.
  const is_back = kv.get(PUT_BACK_AT) === undone.begun_at_ms;
  const arrived = is_back ? [] : entriesSince(account.openParts(), undone.begun_at_ms);
  if (arrived.length > 0) {
    await archive.create(`${folder}lost-${names.length}`, await gzip(JSON.stringify(arrived)));
    return restart(context, undone.bookmark);
  }
  const lost: Lost[number][] = [];
  for (const key of names.map((name) => folder + name)) {
    if (key === undoneKey(undone.account_id)) continue;
    lost.push(...((await readJson<Lost>(archive, key)) ?? []));
  }
  if (!is_back) putBack(account, undone);
  account.reopen(await context.storage.getAlarm());
  const parts = account.openParts();
  parts.outbox.startRebuild();
  parts.archiver.request();
  parts.alarm.by(Date.now());
  const newest = parts.store.readNewestEntry();
  assertInvariant(newest !== null, "a restored account has entries");
  const recovered = { now: accountThen(newest), lost };
  return accepted({ archive, folder, recovered });
}

function entriesSince(parts: AccountParts, begun_at_ms: number): Lost {
  const { store } = parts;
  const newest_line = store.readNewestEntry()?.line ?? 0;
  const first = numberAt(parts, newest_line, begun_at_ms);
  return store
    .readEntriesBetween(first - 1, newest_line)
    .map(({ line, job_id, amount }) => ({ line, job_id, amount }));
}

function putBack(account: Instance, undone: Undone): void {
  const parts = account.openParts();
  const { database, store, transaction } = parts;
  account.context.storage.transactionSync(() => {
    const given = givenBy(database.rows("purchases", ""));
    const now_ms = Date.now();
    appendUndone(database, undone, now_ms);
    putBackKept(database, undone);
    postponeExpiries(database, now_ms + DAY_MS);
    store.forget();
    transact(transaction, (it) => bookKept(it, undone, given));
    account.context.storage.kv.put(PUT_BACK_AT, undone.begun_at_ms);
  });
}
