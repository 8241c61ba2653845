/** The only place that adds a ledger entry. */
import { nextEntry, OF_ACCOUNT, type LedgerEntry, type Posting } from "../../domain/ledger.ts";
import type { Price } from "../../domain/liability.ts";
import {
  balanceOf,
  boughtOf,
  lotsDue,
  nextDueAt,
  warningsBy,
  withoutLeft,
  type Credits,
  type Terms,
} from "../../domain/lots.ts";
import { FIRST_PLAN } from "../../domain/plans.ts";
import { assertInvariant } from "../../domain/result.ts";
import type { Moment } from "../../domain/spending_cap.ts";
import { paidJson, readCredits, scopedJson, termsJson } from "./credits.ts";
import { makeDueTurns, planTimes, readPlan } from "./turns.ts";
import { startedJobsOf, type StartedJobs } from "./started_jobs.ts";
import type { EntryRow } from "../sql/schema.ts";
import type { Transaction } from "../transaction.ts";

/** The balance and the held credits; both 0 if the account is not open yet. */
export function readBalance({
  store,
}: Transaction): Pick<EntryRow, "balance_after" | "reserved_after"> {
  return store.readNewestEntry() ?? { balance_after: 0, reserved_after: 0 };
}

/** The time, and the newest entry. */
export function momentOf({ store, now_ms }: Transaction): Moment {
  return { at_ms: now_ms, line: store.readNewestEntry()?.line ?? 0 };
}

/** What an entry changes in addition to its posting. */
interface PostedWith {
  /** The started jobs after it, if it starts or ends a job. */
  readonly started?: StartedJobs;
  /** The credits after it; left out: it moves none. */
  readonly credits?: Credits;
  /** The only lot that it concerns. */
  readonly lot_id?: string | null;
  /** Of an entry that brought credits. */
  readonly terms?: Terms;
  /** What an operator says was paid for these credits. */
  readonly price?: Price | undefined;
}

/**
 * Adds an entry. `after_commit.ts` says who gets it. Credits that came back to a lot whose time is over expire at once, by an
 * entry of their own.
 */
export function post(
  transaction: Transaction,
  posting: Posting,
  { started, credits, lot_id = null, terms, price }: PostedWith = {},
): EntryRow {
  const { store, now_ms, announce } = transaction;
  const newest = store.readNewestEntry();
  const line = nextEntry(newest, posting);
  const after = credits ?? readCredits(transaction);
  assertInvariant(balanceOf(after) === line.balance_after, "base and lots add up to the balance");
  const { open_jobs, recent_after_job_id, recent_jobs } = started ?? startedJobsOf(newest);
  // A clock that goes back must not move entries to an earlier month: reads find a time by bisection.
  const at_ms = Math.max(now_ms, newest?.at_ms ?? now_ms);
  const entry = {
    ...line,
    bought_after: boughtOf(after),
    reserved_bought_after: after.held_bought,
    scoped_json: scopedJson(after),
    lot_id,
    terms_json: terms === undefined ? null : termsJson(terms, price),
    paid_json: paidJson(transaction, after, posting.job_id !== null),
    at_ms,
    open_jobs,
    recent_after_job_id,
    recent_jobs,
  };
  const lots_before = store.lots.listLiving();
  assertWritten(store.insertEntry(entry), line);
  store.lots.saveChanged(lots_before, after.lots, { line: entry.line, now_ms });
  announce.entryAdded(now_ms);
  expireDueLots(transaction);
  return entry;
}

/**
 * Makes the turns of the plan that are due, expires what is left of the lots whose time is over, each by an entry,
 * announces the lots that soon expire, and arms the alarm for the next of these times.
 */
export function expireDueLots(transaction: Transaction): void {
  const { store, alarm, now_ms, announce } = transaction;
  // First, because what goes on into a new period does not expire.
  makeDueTurns(transaction, post);
  const living = store.lots.listLiving();
  const plan = readPlan(store);
  if (living.length === 0 && plan === null) return;
  const [due] = lotsDue({ lots: living }, now_ms);
  if (due !== undefined) {
    const credits = withoutLeft(readCredits(transaction), due.id);
    const posting = {
      ...OF_ACCOUNT,
      kind: "expire",
      amount: 0 - due.left,
      note: due.note,
    } as const;
    // This posting expires the next lot, as each does.
    post(transaction, posting, { credits, lot_id: due.id });
    return;
  }
  for (const lot of store.lots.listLiving()) {
    const warnings = warningsBy(lot, now_ms);
    if (lot.left === 0 || warnings <= lot.warnings) continue;
    store.lots.saveWarnings(lot.id, warnings);
    announce.creditsExpiring(lot, now_ms);
  }
  const { turns_at_ms, sleeping_lots } = planTimes(transaction);
  const awake = store.lots.listLiving().filter(({ id }) => !sleeping_lots.includes(id));
  for (const at_ms of [nextDueAt(awake), ...turns_at_ms]) if (at_ms !== null) alarm.by(at_ms);
}

/** Checks that storage has the entry as it was computed. */
function assertWritten(
  written: Pick<LedgerEntry, "line" | "balance_after" | "reserved_after"> | null,
  meant: LedgerEntry,
): void {
  assertInvariant(
    written?.line === meant.line &&
      written.balance_after === meant.balance_after &&
      written.reserved_after === meant.reserved_after,
    "the stored entry is the posted one",
  );
}

/** Opens the account if it is not open yet: writes its row, and entry 1 of its ledger. */
export function ensureOpen(transaction: Transaction): void {
  const { store, identity_id, now_ms } = transaction;
  if (store.readNewestEntry() !== null) return;
  const created = { plan: FIRST_PLAN, created_at_ms: now_ms };
  store.insertAccount({ id: crypto.randomUUID(), identity_id, ...created });
  post(transaction, { ...OF_ACCOUNT, kind: "open", amount: 0 });
}
