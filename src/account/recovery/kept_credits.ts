/** Books again, in a restored account, the credits of payments and debts that came after the time. */
import { OF_ACCOUNT } from "../../domain/ledger.ts";
import { baseTerms, bringIn, type Terms } from "../../domain/lots.ts";
import { oweDebt } from "../deletion/deletion.ts";
import { changePurchased, clockOf, readCredits } from "../ledger/credits.ts";
import { paymentOf } from "../purchases/purchases.ts";
import { post } from "../ledger/posting.ts";
import type { Rows } from "../sql/database.ts";
import type { Transaction } from "../transaction.ts";
import type { Undone } from "./undone.ts";

type PurchaseRow = Rows["purchases"];

/** What a purchase gave that was not taken back, by its checkout. */
type Given = ReadonlyMap<string, number>;

export function givenBy(purchases: readonly PurchaseRow[]): Given {
  return new Map(
    purchases.map(({ checkout_session_id, credits, taken_back }) => [
      checkout_session_id,
      credits - taken_back,
    ]),
  );
}

/**
 * One entry for each purchase whose credits differ. `then`: what the purchases of the restored account had given. The rows
 * of all purchases are those of now.
 */
export function bookKept(transaction: Transaction, undone: Undone, then: Given): void {
  for (const purchase of undone.tables.purchases) {
    const { checkout_session_id, credits, taken_back } = purchase;
    const before = then.get(checkout_session_id);
    const amount = credits - taken_back - (before ?? 0);
    if (amount === 0) continue;
    if (before === undefined && amount > 0) bookPurchase(transaction, undone, purchase, amount);
    else bookChange(transaction, purchase, amount);
  }
  keepLots(transaction, undone);
  for (const debt of undone.tables.debts) oweDebt(transaction, debt);
}

/** With the terms of the undone entry. */
function bookPurchase(
  transaction: Transaction,
  { entries, tables }: Undone,
  purchase: PurchaseRow,
  amount: number,
): void {
  const { checkout_session_id, package_name: note } = purchase;
  const lines = tables.purchase_entries
    .filter((one) => one.checkout_session_id === checkout_session_id)
    .map(({ line }) => line);
  const entry = entries.find(({ line }) => line === Math.min(...lines));
  const json = entry?.terms_json ?? null;
  const terms = json === null ? baseTerms(true) : (JSON.parse(json) as Terms);
  // If it joined the lot of another purchase, that lot may be back already.
  const lost_id = entry?.lot_id ?? null;
  const is_free = lost_id !== null && transaction.store.lots.read(lost_id) === null;
  const id = is_free ? lost_id : clockOf(transaction).newId();
  const lot = { id, origin: "purchase", note } as const;
  const paid = paymentOf(purchase);
  const arrived = bringIn(readCredits(transaction), lot, terms, amount, paid);
  post(transaction, { ...OF_ACCOUNT, kind: "recovery", amount, note }, arrived);
  // By this entry, a later refund finds the lot.
  if (arrived.lot_id === lot.id) {
    transaction.database.update("lots", { line: Math.min(...lines) }, { id: lot.id });
  }
}

/** A refund, a dispute, or a dispute that was won. */
function bookChange(
  transaction: Transaction,
  { checkout_session_id, package_name: note }: PurchaseRow,
  amount: number,
): void {
  const lot_id = transaction.purchases.readLotOf(checkout_session_id);
  const known = lot_id !== null && transaction.store.lots.read(lot_id) !== null ? lot_id : null;
  const credits = changePurchased(transaction, checkout_session_id, known, amount);
  post(transaction, { ...OF_ACCOUNT, kind: "recovery", amount, note }, { credits, lot_id: known });
}

/** The entries of a purchase name its lot, which a later refund or dispute looks for, even if nothing is left of it. */
function keepLots({ database, store }: Transaction, { tables }: Undone): void {
  for (const lot of tables.lots) {
    if (lot.origin !== "purchase" || store.lots.read(lot.id) !== null) continue;
    database.insert("lots", { ...lot, credits_left: 0, credits_held: 0 });
  }
}
