/**
 * A paid checkout gives credits once; refunds and disputes take their share back. The amount taken back is computed
 * from all known refunds and disputes, so that events may arrive in any order.
 */
import { DAY_MS } from "../../domain/calendar.ts";
import type { PaidCredits } from "../../domain/liability.ts";
import { fitsBalance, OF_ACCOUNT } from "../../domain/ledger.ts";
import { baseTerms, bringIn, type Terms } from "../../domain/lots.ts";
import {
  creditsTakenBack,
  isReversalKnown,
  mergeReversals,
  moneyReturned,
  type Purchase,
  type Reversal,
} from "../../domain/purchases.ts";
import { accepted, refused } from "../../domain/result.ts";
import type {
  Answer,
  ListedPurchase,
  ListPurchasesRequest,
  Page,
  PurchaseKey,
  PurchaseRecord,
} from "../contract.ts";
import { changePurchased, clockOf, readCredits } from "../ledger/credits.ts";
import { ensureOpen, post, readBalance } from "../ledger/posting.ts";
import { completeTopUp, endAfterReturn, packageOf } from "../top_up/top_up.ts";
import type { Transaction } from "../transaction.ts";
import type { PurchaseRow, PurchaseStore } from "../sql/purchase_store.ts";

/**
 * Credits a paid checkout the first time, less what is known to be refunded already. Refused as `balance_limit`, with
 * nothing changed, if the balance could not be counted exactly any more.
 */
export function recordPurchase(transaction: Transaction, paid: Purchase): Answer<null> {
  const { purchases: bought } = transaction;
  const purchase = asBought(transaction, paid);
  const { checkout_session_id, payment_intent_id, package_id, package_name } = purchase;
  const { credits, paid_minor, currency } = purchase;
  if (bought.readPurchase(checkout_session_id) !== null) return accepted(null);
  const nothing = { taken_back: 0, refunded_minor: 0 };
  const ids = { checkout_session_id, payment_intent_id, package_id, package_name };
  const created_at_ms = transaction.now_ms;
  const row = { ...ids, credits, paid_minor, currency, ...nothing, created_at_ms };
  const due = returnedBy(row, bought.listReversals(payment_intent_id));
  // Then it also fits less what is taken back, which is never more.
  if (!fits(transaction, credits)) return refused({ code: "balance_limit" });
  ensureOpen(transaction);
  const posting = { kind: "purchase", amount: credits, note: package_name } as const;
  const lot = { id: clockOf(transaction).newId(), origin: "purchase", note: package_name } as const;
  const arrived = bringIn(
    readCredits(transaction),
    lot,
    termsOfPackage(purchase, created_at_ms),
    credits,
    paymentOf(row),
  );
  const { line } = post(transaction, { ...OF_ACCOUNT, ...posting }, arrived);
  bought.insertPurchase(row);
  bought.insertMoney({ line, checkout_session_id, amount_minor: paid_minor });
  if (purchase.top_up !== undefined) {
    completeTopUp(transaction, { number: purchase.top_up, payment_intent_id });
  }
  takeBack(transaction, row, due);
  return accepted(null);
}

/** Of a top-up, the account knows what was bought, also if the package is no longer for sale. */
function asBought({ store }: Transaction, paid: Purchase): Purchase {
  const row = paid.top_up === undefined ? null : store.top_ups.readTopUp(paid.top_up);
  if (row === null) return paid;
  const { package_id, package_name, expires_after_days, app_slugs } = packageOf(row);
  const { credits } = row;
  return { ...paid, package_id, package_name, credits, expires_after_days, app_slugs };
}

/** Stores a refund or dispute, and takes or gives back credits. Before its purchase is known, it is only stored. */
export function recordReversal(transaction: Transaction, reversal: Reversal): Answer<null> {
  const { purchases: bought } = transaction;
  const { payment_intent_id, source_id } = reversal;
  const known = bought.readReversal(payment_intent_id, source_id);
  const merged = known === null ? reversal : mergeReversals(known, reversal);
  const purchase = bought.readPurchaseOf(payment_intent_id);
  const others = bought.listReversals(payment_intent_id).filter((it) => it.source_id !== source_id);
  const due = purchase === null ? null : returnedBy(purchase, [...others, merged]);
  if (due !== null && !fits(transaction, (purchase?.taken_back ?? 0) - due.taken_back)) {
    return refused({ code: "balance_limit" });
  }
  bought.saveReversal(merged, transaction.now_ms);
  if (purchase !== null && due !== null) takeBack(transaction, purchase, due);
  return accepted(null);
}

/** The credits and the money that refunds and disputes take back. */
type Returned = Pick<PurchaseRow, "taken_back" | "refunded_minor">;

function returnedBy(purchase: PurchaseRow, reversals: readonly Reversal[]): Returned {
  return {
    taken_back: creditsTakenBack(purchase, reversals),
    refunded_minor: moneyReturned(purchase, reversals),
  };
}

/**
 * One entry for the difference between what is due back now and what was taken back. Its amount is 0 if the money
 * differs by less than a credit is worth, because the read model receives money only with an entry.
 */
function takeBack(
  transaction: Transaction,
  { checkout_session_id, taken_back, refunded_minor, package_name: note }: PurchaseRow,
  due: Returned,
): void {
  if (due.refunded_minor === refunded_minor) return;
  const { purchases } = transaction;
  const amount = taken_back - due.taken_back;
  const posting = { kind: "purchase_refund", amount, note } as const;
  const lot_id = purchases.readLotOf(checkout_session_id);
  const credits = changePurchased(transaction, checkout_session_id, lot_id, amount);
  const { line } = post(transaction, { ...OF_ACCOUNT, ...posting }, { credits, lot_id });
  const amount_minor = refunded_minor - due.refunded_minor;
  purchases.insertMoney({ line, checkout_session_id, amount_minor });
  purchases.saveReturned(checkout_session_id, due);
  if (amount < 0) endAfterReturn(transaction);
}

/** The payment for a purchase's credits. */
export function paymentOf(row: PurchaseRow): PaidCredits {
  const { checkout_session_id: id, credits, currency, paid_minor } = row;
  return { id, credits, currency, paid_minor, paid_credits: credits };
}

/** The terms of a purchase's credits, which count from now. */
function termsOfPackage({ expires_after_days, app_slugs }: Purchase, now_ms: number): Terms {
  const expires_at_ms =
    expires_after_days === undefined ? null : now_ms + expires_after_days * DAY_MS;
  return { ...baseTerms(true), expires_at_ms, app_slugs: app_slugs ?? null };
}

function fits(transaction: Transaction, amount: number): boolean {
  return fitsBalance(readBalance(transaction), { amount, held: 0 });
}

/** Whether a purchase is recorded, or a refund or dispute in this state. */
export function isRecorded(
  bought: PurchaseStore,
  payment: Pick<Purchase, "checkout_session_id"> | Reversal,
): boolean {
  if ("checkout_session_id" in payment) {
    return bought.readPurchase(payment.checkout_session_id) !== null;
  }
  const known = bought.readReversal(payment.payment_intent_id, payment.source_id);
  return known !== null && isReversalKnown(known, payment);
}

/** A purchase as its buyer sees it, by its checkout. */
export function readPurchase(
  transaction: Transaction,
  checkout_session_id: string,
): Answer<ListedPurchase> {
  ensureOpen(transaction);
  const { line, balance_after } = transaction.store.readNewestEntry() ?? {
    line: 0,
    balance_after: 0,
  };
  const row = transaction.purchases.readPurchase(checkout_session_id);
  const purchase = row === null ? null : { package_name: row.package_name, credits: row.credits };
  return accepted({ purchase, taken_back: row?.taken_back ?? 0, credits: balance_after, line });
}

/** A page of paid checkouts, newest first. Each has few refunds and disputes. */
export function listPurchases(
  { purchases }: Transaction,
  { before, limit }: ListPurchasesRequest,
): Answer<Page<PurchaseRecord, PurchaseKey>> {
  const found = purchases.listPurchases(before, limit + 1);
  const rows = found.slice(0, limit).map((row) => ({
    ...row,
    reversals: purchases.listReversals(row.payment_intent_id),
  }));
  const last = found.length > limit ? rows.at(-1) : undefined;
  return accepted({ rows, next: last === undefined ? null : keyOf(last) });
}

function keyOf({ created_at_ms, checkout_session_id }: PurchaseRecord): PurchaseKey {
  return { created_at_ms, checkout_session_id };
}
