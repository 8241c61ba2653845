/**
 * Automatic top-up: the holder's choice, and the top-ups that follow from it. A top-up is written in the transaction that
 * brings the balance under the threshold; the alarm charges the card (`../charging.ts`), and the result is booked like any
 * purchase (`../purchases/purchases.ts`).
 */
import { monthOf } from "../../domain/calendar.ts";
import { accepted, refused } from "../../domain/result.ts";
import {
  ASKED_MAX,
  CHARGE_MISSING_AFTER_MS,
  offAfter,
  packagesToBuy,
  TOP_UP_RETRY_MS,
  type FailedCharge,
  type SavedCard,
  type ToppedUpPackage,
  type TopUpOffReason,
  type TopUpPlan,
  type TopUpState,
} from "../../domain/top_up.ts";
import type { Answer, TopUp, TopUpRecord, TopUpView } from "../contract.ts";
import { ensureOpen, readBalance } from "../ledger/posting.ts";
import type { ToppedUpRow, TopUpRow } from "../sql/top_up_store.ts";
import type { Transaction } from "../transaction.ts";

/** Top-ups that the holder and operators see, the newest. */
const SHOWN_TOP_UPS = 20;

/**
 * Writes a top-up if one is needed and nothing is due: after every transaction. `now` and not later, so the alarm is armed
 * with it. An account without automatic top-up writes nothing.
 */
export function decideTopUp(transaction: Transaction): void {
  const { store, alarm, now_ms } = transaction;
  const { top_ups } = store;
  const setting = top_ups.readSetting();
  if (setting === null || setting.off_reason !== null || top_ups.readDue() !== null) return;
  if ((store.readAccount()?.deleted_at_ms ?? null) !== null) return;
  const plan = planOf(setting);
  const credits = readBalance(transaction).balance_after;
  if (credits >= plan.threshold) return;
  if (setting.retry_at_ms !== null && setting.retry_at_ms > now_ms) {
    return alarm.by(setting.retry_at_ms);
  }
  const month_spent_minor = monthSpent(transaction, plan);
  const packages = packagesToBuy(plan, { credits, month_spent_minor });
  // The limit of the next month is untouched.
  if (packages === 0) return alarm.by(monthOf(now_ms).to_ms);
  const { threshold: _, month_limit_minor: _limit, ...of_package } = plan;
  top_ups.insertDue({
    attempt: setting.failures + 1,
    outcome: "due",
    failure: null,
    credits: packages * plan.credits,
    amount_minor: packages * plan.unit_minor,
    currency: plan.currency,
    package_json: JSON.stringify(of_package satisfies ToppedUpPackage),
    customer_id: setting.customer_id,
    payment_method_id: setting.payment_method_id,
    created_at_ms: now_ms,
    asked: 0,
    first_asked_at_ms: null,
    asked_at_ms: null,
    next_at_ms: now_ms,
    payment_intent_id: null,
  });
  alarm.by(now_ms);
}

/** When a decision may be due without a transaction: after a failure, or when a month begins; null: never. */
export function nextDecisionAt({ store }: Pick<Transaction, "store">, now_ms: number) {
  const setting = store.top_ups.readSetting();
  if (setting === null || setting.off_reason !== null) return null;
  const { balance_after } = store.readNewestEntry() ?? { balance_after: 0 };
  if (balance_after >= planOf(setting).threshold) return null;
  return setting.retry_at_ms !== null && setting.retry_at_ms > now_ms
    ? setting.retry_at_ms
    : monthOf(now_ms).to_ms;
}

export function planOf({ plan_json }: Pick<TopUpRow, "plan_json">): TopUpPlan {
  return JSON.parse(plan_json) as TopUpPlan;
}

export function packageOf({ package_json }: Pick<ToppedUpRow, "package_json">): ToppedUpPackage {
  return JSON.parse(package_json) as ToppedUpPackage;
}

function monthSpent({ store, now_ms }: Transaction, { currency }: TopUpPlan): number {
  return store.top_ups.sumCharged(monthOf(now_ms).from_ms, currency);
}

/** Whether a charge is due or on its way, for a caller that lacks credits. */
export function isTopUpDue(transaction: Transaction): boolean {
  const { top_ups } = transaction.store;
  // A charge whose outcome is unknown may still bring credits, also if it is switched off.
  return top_ups.readDue() !== null || viewTopUp(transaction)?.state === "pending";
}

/** The holder's choice and its state; null: automatic top-up was never set. */
export function viewTopUp(transaction: Transaction): TopUpView | null {
  const setting = transaction.store.top_ups.readSetting();
  if (setting === null) return null;
  const plan = planOf(setting);
  const month_spent_minor = monthSpent(transaction, plan);
  return {
    on: setting.off_reason === null,
    plan,
    card: setting.card,
    month_spent_minor,
    state: stateOf(transaction, setting, { plan, month_spent_minor }),
    retry_at_ms: setting.retry_at_ms,
  };
}

function stateOf(
  transaction: Transaction,
  setting: TopUpRow,
  { plan, month_spent_minor }: { readonly plan: TopUpPlan; readonly month_spent_minor: number },
): TopUpState {
  const { store, now_ms } = transaction;
  if (setting.off_reason !== null) return setting.off_reason;
  if (store.top_ups.readDue() !== null) return "pending";
  const credits = readBalance(transaction).balance_after;
  if (credits >= plan.threshold) return "ready";
  if (setting.retry_at_ms !== null && setting.retry_at_ms > now_ms) return "retrying";
  // A pause or a month is over, and the end of this transaction decides.
  return packagesToBuy(plan, { credits, month_spent_minor }) > 0 ? "pending" : "limit_reached";
}

/** The holder's page. */
export function readTopUp(transaction: Transaction): Answer<TopUp> {
  ensureOpen(transaction);
  return accepted({
    setting: viewTopUp(transaction),
    top_ups: listTopUps(transaction),
    credits: readBalance(transaction).balance_after,
  });
}

/** The newest top-ups. */
export function listTopUps({ store }: Transaction): readonly TopUpRecord[] {
  return store.top_ups.listTopUps(SHOWN_TOP_UPS).map((row) => ({
    number: row.number,
    attempt: row.attempt,
    outcome: row.outcome,
    failure: row.failure,
    package_name: packageOf(row).package_name,
    credits: row.credits,
    amount_minor: row.amount_minor,
    currency: row.currency,
    payment_intent_id: row.payment_intent_id,
    created_at_ms: row.created_at_ms,
  }));
}

/** The holder saves a card at Stripe for this choice. The choice begins when the card is saved. */
export function beginTopUpSetup(
  transaction: Transaction,
  { nonce, plan }: { readonly nonce: string; readonly plan: TopUpPlan },
): Answer<null> {
  ensureOpen(transaction);
  transaction.store.top_ups.saveSetup({ nonce, plan_json: JSON.stringify(plan) });
  return accepted(null);
}

/** Stripe has the card: switches automatic top-up on. @returns whether it did: a repetition changes nothing. */
export function finishTopUpSetup(
  transaction: Transaction,
  { nonce, card }: { readonly nonce: string; readonly card: SavedCard },
): Answer<boolean> {
  const { top_ups } = transaction.store;
  const setup = top_ups.readSetup();
  const is_suspended = (transaction.store.readAccount()?.suspended_at_ms ?? null) !== null;
  if (setup === null || setup.nonce !== nonce || is_suspended) return accepted(false);
  const { customer_id, payment_method_id, card: name } = card;
  const saved = { customer_id, payment_method_id, card: name };
  top_ups.deleteSetup();
  leaveEarlierChoice(transaction);
  top_ups.saveSetting({ ...saved, plan_json: setup.plan_json, ...SWITCHED_ON });
  return accepted(true);
}

const SWITCHED_ON = { off_reason: null, failures: 0, retry_at_ms: null } as const;

/** Changes the choice, and switches it on, with the card that Stripe has. Refused if Stripe has no card yet. */
export function changeTopUp(transaction: Transaction, plan: TopUpPlan): Answer<null> {
  const { top_ups } = transaction.store;
  if (top_ups.readSetting() === null) {
    return refused({ code: "invalid_request", detail: "Automatic top-up has no card yet." });
  }
  top_ups.deleteSetup();
  leaveEarlierChoice(transaction);
  top_ups.changeSetting({ plan_json: JSON.stringify(plan), ...SWITCHED_ON });
  return accepted(null);
}

/** The holder switches it off. A charge that may have been made is still booked. */
export function endTopUp(transaction: Transaction): Answer<null> {
  switchOff(transaction, "holder");
  const { top_ups } = transaction.store;
  // The holder has seen why it was off.
  if (top_ups.readSetting() !== null) top_ups.changeSetting({ off_reason: "holder" });
  return accepted(null);
}

/** The state of automatic top-up, for a notice on every page of the holder; null: it was never set. */
export function readTopUpState(transaction: Transaction): Answer<TopUpState | null> {
  return accepted(viewTopUp(transaction)?.state ?? null);
}

/** Ends automatic top-up. A top-up whose charge was never requested is dropped; others are looked up until they are known. */
export function switchOff(transaction: Transaction, off_reason: TopUpOffReason): void {
  const { store, announce, now_ms } = transaction;
  const { top_ups } = store;
  top_ups.deleteSetup();
  leaveEarlierChoice(transaction);
  // Undefined: it was never set.
  if (top_ups.readSetting()?.off_reason !== null) return;
  top_ups.changeSetting({ off_reason });
  announce.topUpChanged({ type: "topup.disabled", reason: off_reason }, now_ms);
}

/**
 * A refund or dispute took credits. If they are too few now, automatic top-up ends: the card would pay again for what was just
 * returned.
 */
export function endAfterReturn(transaction: Transaction): void {
  const setting = transaction.store.top_ups.readSetting();
  // While it is off, its holder may be saving a card.
  if (setting === null || setting.off_reason !== null) return;
  const { threshold } = planOf(setting);
  if (readBalance(transaction).balance_after < threshold) switchOff(transaction, "refused");
}

/**
 * The top-up that is due was decided under an earlier choice: it is dropped if its charge was never requested. Else the charge
 * is not requested again, but looked up: at the earliest when it is known to be missing if Stripe does not list it.
 */
function leaveEarlierChoice({ store: { top_ups }, now_ms }: Transaction): void {
  const due = top_ups.readDue();
  if (due === null) return;
  const next_at_ms = (due.asked_at_ms ?? now_ms) + CHARGE_MISSING_AFTER_MS;
  const left =
    due.asked === 0 ? ({ outcome: "dropped" } as const) : { asked: ASKED_MAX, next_at_ms };
  top_ups.change(due.number, left);
}

/** A charge failed for good. It counts once, from whichever of response and event comes first. */
export function failTopUp(
  transaction: Transaction,
  { number, reason, payment_intent_id }: FailedCharge,
): Answer<null> {
  const { store, announce, now_ms } = transaction;
  const { top_ups } = store;
  const row = top_ups.readTopUp(number);
  const setting = top_ups.readSetting();
  if (row?.outcome !== "due" || setting === null) return accepted(null);
  top_ups.change(number, { outcome: "failed", failure: reason, payment_intent_id });
  const failures = setting.failures + 1;
  top_ups.changeSetting({ failures, retry_at_ms: now_ms + TOP_UP_RETRY_MS });
  announce.topUpChanged({ type: "topup.failed", reason, attempt: row.attempt }, now_ms);
  const off_reason = offAfter(reason, failures);
  if (off_reason !== null) switchOff(transaction, off_reason);
  return accepted(null);
}

/** A charge is paid, and its purchase is booked in the same transaction. */
export function completeTopUp(
  { store }: Transaction,
  { number, payment_intent_id }: { readonly number: number; readonly payment_intent_id: string },
): void {
  const { top_ups } = store;
  top_ups.change(number, { outcome: "done", failure: null, payment_intent_id });
  top_ups.changeSetting({ failures: 0, retry_at_ms: null });
}
