/**
 * Charges the card for the top-up that is due: part of the alarm. It stores a request before it sends it, so that the instance
 * that continues knows that money may have moved. That instance repeats the same request, whose key makes
 * Stripe charge once, or looks the charge up.
 */
import { monthOf } from "../domain/calendar.ts";
import { accepted } from "../domain/result.ts";
import {
  CHARGE_MISSING_AFTER_MS,
  continuedAt,
  mayAskAgain,
  type CardCharges,
  type Charge,
  type ChargeResult,
} from "../domain/top_up.ts";
import type { Answer } from "./contract.ts";
import { ensureOpen, readBalance } from "./ledger/posting.ts";
import { recordPurchase } from "./purchases/purchases.ts";
import type { Store } from "./sql/store.ts";
import type { ToppedUpRow } from "./sql/top_up_store.ts";
import { failTopUp, nextDecisionAt, packageOf, planOf, switchOff } from "./top_up/top_up.ts";
import type { Transaction } from "./transaction.ts";

/** The pause while the settings sell nothing. */
const NOT_SELLING_MS = 60 * 60_000;

/** The pause while a restore of the account is not finished. */
const RESTORING_MS = 60_000;

interface Charging {
  readonly store: Store;
  /** Whether the storage may be that of an earlier time. @throws if the archive cannot be reached */
  readonly isRestoring: () => Promise<boolean>;
  /** Null: nothing is for sale. */
  readonly openCharges: () => CardCharges | null;
  readonly transact: <Value>(operation: (it: Transaction) => Answer<Value>) => Answer<Value>;
  /** Counts a failure for operators. */
  readonly countFailure: (reason: string) => void;
}

/**
 * Continues the top-up that is due, if its time has come.
 * @returns when to call again, in milliseconds since the epoch; null: nothing is due, and no time changes that.
 */
export async function chargeDueTopUp(parts: Charging): Promise<number | null> {
  const { store, isRestoring, openCharges, transact, countFailure } = parts;
  const due = store.top_ups.readDue();
  if (due !== null && due.next_at_ms <= Date.now()) {
    const charges = openCharges();
    if (charges === null) return Date.now() + NOT_SELLING_MS;
    // The charge may have been made after that time.
    if (await isRestoring()) return Date.now() + RESTORING_MS;
    const prepared = transact((it) => prepare(it, charges));
    const next = prepared.ok ? prepared.value : null;
    if (next !== null) {
      const { step, charge } = next;
      const result = await charges[step](charge);
      const booked = transact((it) => book(it, charge, result));
      if (result.kind === "failed") countFailure(result.reason);
      if (result.kind === "unknown") countFailure("unknown");
      if (!booked.ok) console.error({ event: "top_up_not_booked", code: booked.refusal.code });
    }
  }
  return store.top_ups.readDue()?.next_at_ms ?? nextDecisionAt({ store }, Date.now());
}

interface Step {
  readonly step: "charge" | "find";
  readonly charge: Charge;
}

/** Decides the next step, and stores that it is going to be made; null: the top-up was dropped, or waits. */
function prepare(transaction: Transaction, charges: CardCharges): Answer<Step | null> {
  const { store, now_ms } = transaction;
  const { top_ups } = store;
  const due = top_ups.readDue();
  if (due === null || due.next_at_ms > now_ms) return accepted(null);
  const { number, asked } = due;
  const first_asked_at_ms = due.first_asked_at_ms ?? now_ms;
  const is_on = top_ups.readSetting()?.off_reason === null;
  // A month's limit counts the charges that were made in it.
  const is_of_month = monthOf(now_ms).from_ms <= due.created_at_ms;
  if (asked === 0 && !(is_of_month && isWanted(transaction))) {
    top_ups.change(number, { outcome: "dropped" });
    return accepted(null);
  }
  if (asked === 0 && !charges.isForSale(packageOf(due))) {
    switchOff(transaction, "package_changed");
    return accepted(null);
  }
  const asks =
    asked === 0 || (is_on && is_of_month && mayAskAgain(asked, first_asked_at_ms, now_ms));
  const asked_now = asks ? asked + 1 : asked;
  top_ups.change(number, {
    asked: asked_now,
    first_asked_at_ms,
    asked_at_ms: asks ? now_ms : due.asked_at_ms,
    next_at_ms: asks ? continuedAt(asked_now, first_asked_at_ms, now_ms) : now_ms + NOT_FOUND_MS,
  });
  return accepted({ step: asks ? "charge" : "find", charge: chargeOf(transaction, due) });
}

/** The pause between two look-ups. */
const NOT_FOUND_MS = 60 * 60_000;

/** Whether the balance is still under the threshold. */
function isWanted(transaction: Transaction): boolean {
  const setting = transaction.store.top_ups.readSetting();
  if (setting === null) return false;
  return readBalance(transaction).balance_after < planOf(setting).threshold;
}

function chargeOf(transaction: Transaction, due: ToppedUpRow): Charge {
  ensureOpen(transaction);
  const { number, attempt, credits, amount_minor, currency, created_at_ms } = due;
  const { customer_id, payment_method_id } = due;
  return {
    identity_id: transaction.identity_id,
    account_id: transaction.store.readAccount()?.id ?? "",
    package_id: packageOf(due).package_id,
    number,
    attempt,
    credits,
    amount_minor,
    currency,
    created_at_ms,
    customer_id,
    payment_method_id,
  };
}

function book(transaction: Transaction, charge: Charge, result: ChargeResult): Answer<null> {
  const { number } = charge;
  switch (result.kind) {
    case "succeeded": {
      const { payment_intent_id, paid_minor, currency } = result;
      const { package_id, credits } = charge;
      const ids = { checkout_session_id: payment_intent_id, payment_intent_id, package_id };
      const paid = { credits, paid_minor, currency, top_up: number };
      // The account's own row says what was bought.
      return recordPurchase(transaction, { ...ids, ...paid, package_name: package_id });
    }
    case "failed":
      return failTopUp(transaction, { ...result, number });
    case "unknown":
      return accepted(null);
    case "missing":
      return dropMissing(transaction, number);
  }
}

/** Stripe does not list the charge: it was never made, unless its request is still under way. */
function dropMissing({ store, now_ms }: Transaction, number: number): Answer<null> {
  const due = store.top_ups.readTopUp(number);
  const is_over = now_ms - (due?.asked_at_ms ?? now_ms) >= CHARGE_MISSING_AFTER_MS;
  if (due?.outcome === "due" && is_over) store.top_ups.change(number, { outcome: "dropped" });
  return accepted(null);
}
