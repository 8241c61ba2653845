/** Operators' actions: credits, refunds, plan, suspension. The holder sees the first three as ledger entries. */
import { refundCost } from "../../domain/job.ts";
import { fitsBalance, OF_ACCOUNT } from "../../domain/ledger.ts";
import {
  baseTerms,
  bringIn,
  isLotTooMany,
  refund as refundTo,
  spendableIn,
  take,
} from "../../domain/lots.ts";
import { joinPlan, withRules } from "../../domain/plans.ts";
import { partsOf } from "../../domain/wire.ts";
import { accepted, assertInvariant, refused } from "../../domain/result.ts";
import { chargePath } from "../allowances/spending.ts";
import type {
  AdjustCreditsRequest,
  AdjustedCredits,
  Answer,
  ChangedPlan,
  ChangePlanRequest,
  RefundedJob,
  RefundJobRequest,
  SuspendRequest,
  UpdatePlanRequest,
} from "../contract.ts";
import { claimOf, saveClaim } from "../jobs/claims.ts";
import { readInTime } from "../jobs/expiry.ts";
import { clockOf, readCredits } from "../ledger/credits.ts";
import { ensureOpen, post, readBalance } from "../ledger/posting.ts";
import { readPlan, savePlan } from "../ledger/turns.ts";
import { switchOff } from "../top_up/top_up.ts";
import type { Transaction } from "../transaction.ts";

/**
 * Gives credits with terms, or takes credits for all apps in the order of use. To take more than there is needs
 * `allow_negative`, else it is refused as `balance_below_zero`. Refused as `balance_limit` if the balance, with or without the
 * held credits, could not be counted exactly any more, as `too_many_lots`, and as `invalid_request` if the credits would have
 * expired.
 */
export function adjustCredits(
  transaction: Transaction,
  { amount, note, allow_negative = false, terms = baseTerms(false), price }: AdjustCreditsRequest,
): Answer<AdjustedCredits> {
  const before = readCredits(transaction);
  if (!fitsBalance(readBalance(transaction), { amount, held: 0 })) {
    return refused({ code: "balance_limit" });
  }
  const credits = spendableIn(before, null);
  if (amount < 0 && credits + amount < 0 && !allow_negative) {
    return refused({ code: "balance_below_zero", credits, required: 0 - amount });
  }
  if ((terms.expires_at_ms ?? Infinity) <= transaction.now_ms) {
    return refused({ code: "invalid_request", detail: "expires_at must be in the future." });
  }
  if (amount > 0 && isLotTooMany(before, terms)) return refused({ code: "too_many_lots" });
  ensureOpen(transaction);
  const id = clockOf(transaction).newId();
  const lot = { id, origin: "adjustment", note } as const;
  const posting = { ...OF_ACCOUNT, kind: "adjustment", amount, note } as const;
  const paid =
    price === undefined ? undefined : { id, credits: amount, ...price, paid_credits: amount };
  const change =
    amount > 0
      ? { ...bringIn(before, lot, terms, amount, paid), price }
      : { credits: take(before, null, 0 - amount).credits };
  const entry = post(transaction, posting, change);
  return accepted({ entry, credits: entry.balance_after });
}

/**
 * Gives back cost of an ended job, in all at most its cost. A token's cap gets the room back as it does when a job
 * fails: only if the job was created in the current period.
 */
export function refundJob(
  transaction: Transaction,
  { job_id, ...refund }: RefundJobRequest,
): Answer<RefundedJob> {
  const { store } = transaction;
  const job = readInTime(transaction, job_id);
  if (job === null) return refused({ code: "job_not_found" });
  const posting = refundCost(readBalance(transaction), job, refund);
  if (!posting.ok) return posting;
  const { amount } = posting.value;
  // A refunded job cannot be completed late any more, so it claims nothing.
  const credits = 0 - amount - claimOf(job);
  const takings = chargePath(transaction, job, { credits, bytes: 0 });
  const from = partsOf(job);
  const before = readCredits(transaction, from);
  const back = { amount, refunded: job.refunded };
  const after = refundTo(before, from, back, clockOf(transaction));
  const entry = post(transaction, posting.value, { credits: after });
  const refunded_job = {
    ...job,
    ...takings,
    ...saveClaim(transaction, job, 0),
    refunded: job.refunded + amount,
    updated_at_ms: entry.at_ms,
    line: entry.line,
  };
  store.updateJob(refunded_job);
  return accepted({ job: refunded_job, entry, credits: entry.balance_after });
}

/**
 * Sets the plan, and copies its rules; the credits of the period that runs come at once. The same plan changes nothing, but
 * it brings newer rules. The entry of amount 0 makes the read model receive it.
 */
export function changePlan(
  transaction: Transaction,
  { plan, note, rules, anchor_ms = transaction.now_ms }: ChangePlanRequest,
): Answer<ChangedPlan> {
  const { store, now_ms } = transaction;
  ensureOpen(transaction);
  const previous_plan = store.readAccount()?.plan ?? plan;
  const running = readPlan(store);
  const has_rules = (running?.version ?? 0) > 0;
  if (plan === previous_plan && has_rules && rules !== undefined) {
    updatePlan(transaction, { plan, rules });
  } else if (plan !== previous_plan || rules !== undefined) {
    const joining = { plan, rules: rules ?? null, anchor_ms };
    store.changeAccount({ plan });
    savePlan(store, joinPlan({ plan: previous_plan, running }, joining, now_ms));
    post(transaction, { ...OF_ACCOUNT, kind: "plan", amount: 0, note });
  }
  const row = store.readAccount();
  assertInvariant(row !== null, "an open account has its row");
  const { id, identity_id } = row;
  const { balance_after: credits } = readBalance(transaction);
  return accepted({ account: { id, identity_id, plan, credits }, previous_plan });
}

/** Brings newer rules of the plan, which count from the next turn on. Older ones, and those of another plan, change nothing. */
export function updatePlan(
  transaction: Transaction,
  { plan, rules }: UpdatePlanRequest,
): Answer<null> {
  const { store, now_ms } = transaction;
  const running = readPlan(store);
  const version = running?.version ?? 0;
  const is_newer = version > 0 && rules.version > version;
  if (running === null || !is_newer || store.readAccount()?.plan !== plan) return accepted(null);
  savePlan(store, withRules(running, rules, now_ms));
  post(transaction, { ...OF_ACCOUNT, kind: "plan", amount: 0, note: "The plan's credits changed" });
  return accepted(null);
}

/**
 * Keeps the holder out. The holder's jobs still settle or expire. Repeating it changes only the public reason, if one is
 * given. The entry of amount 0 makes the read model receive it.
 */
export function suspend(
  transaction: Transaction,
  { public_reason }: SuspendRequest = {},
): Answer<null> {
  const { store, announce, now_ms } = transaction;
  ensureOpen(transaction);
  announce.streamsEnded({ reason: "suspended" });
  if (store.readAccount()?.suspended_at_ms !== null) {
    if (public_reason !== undefined)
      store.changeAccount({ suspended_public_reason: public_reason });
    return accepted(null);
  }
  const suspended_public_reason = public_reason ?? null;
  store.changeAccount({ suspended_at_ms: now_ms, suspended_public_reason });
  switchOff(transaction, "suspended");
  post(transaction, { ...OF_ACCOUNT, kind: "suspend", amount: 0 });
  return accepted(null);
}

/** Ends a suspension. Repeating it changes nothing. */
export function restore(transaction: Transaction): Answer<null> {
  const { store } = transaction;
  if ((store.readAccount()?.suspended_at_ms ?? null) === null) return accepted(null);
  store.changeAccount({ suspended_at_ms: null, suspended_public_reason: null });
  post(transaction, { ...OF_ACCOUNT, kind: "restore", amount: 0 });
  return accepted(null);
}
