/** The SQL of purchases and their reversals. Synchronous, like all SQL of an account's money. */
import type { Reversal } from "../../domain/purchases.ts";
import type { AccountDatabase, Rows } from "./database.ts";

export type PurchaseRow = Rows["purchases"];
type KeptPaymentRow = Rows["kept_payments"];

/** The position of a purchase in lists, which are newest first. */
type Position = Pick<PurchaseRow, "created_at_ms" | "checkout_session_id">;

export class PurchaseStore {
  readonly #database: AccountDatabase;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  readPurchase(checkout_session_id: string): PurchaseRow | null {
    return this.#database.row("purchases", "where checkout_session_id = ?", checkout_session_id);
  }

  readPurchaseOf(payment_intent_id: string): PurchaseRow | null {
    return this.#database.row("purchases", "where payment_intent_id = ?", payment_intent_id);
  }

  /** Newest first; `before`: only those after this one in the list. */
  listPurchases(before: Position | undefined, limit: number): PurchaseRow[] {
    const where = before === undefined ? "" : "where (created_at_ms, checkout_session_id) < (?, ?)";
    const position = before === undefined ? [] : [before.created_at_ms, before.checkout_session_id];
    const order = "order by created_at_ms desc, checkout_session_id desc limit ? + 0";
    return this.#database.rows("purchases", `${where} ${order}`, ...position, limit);
  }

  /** The lot that a purchase's credits came to, its own or one that they joined; null: they came to the base. */
  readLotOf(checkout_session_id: string): string | null {
    const lot = this.#database.first<Pick<Rows["lots"], "id">>(
      `select id from lots where origin = 'purchase' and line =
         (select min(line) from purchase_entries where checkout_session_id = ?1)
       union all
       select lots.id from lots, json_each(lots.paid_json) as paid
         where lots.origin <> 'returned' and paid.value ->> '$.id' = ?1
       limit 1`,
      checkout_session_id,
    );
    return lot?.id ?? null;
  }

  insertPurchase(row: PurchaseRow): void {
    this.#database.insert("purchases", row);
  }

  saveReturned(
    checkout_session_id: string,
    returned: Pick<PurchaseRow, "taken_back" | "refunded_minor">,
  ): void {
    this.#database.update("purchases", returned, { checkout_session_id });
  }

  /** Whether there are payments that may still lose their money, also after the account was deleted. */
  hasPayments(): boolean {
    const query = "select 1 from purchases union all select 1 from kept_payments limit 1";
    return this.#database.first(query) !== null;
  }

  listAllPurchases(): PurchaseRow[] {
    return this.#database.rows("purchases", "");
  }

  listAllReversals(): Reversal[] {
    return this.#database.rows("purchase_reversals", "");
  }

  readKept(payment_hash: string): KeptPaymentRow | null {
    return this.#database.row("kept_payments", "where payment_hash = ?", payment_hash);
  }

  saveKept(row: KeptPaymentRow): void {
    this.#database.save("kept_payments", ["payment_hash"], row);
  }

  /** Stores the money that a ledger entry moved for a purchase. */
  insertMoney(row: Rows["purchase_entries"]): void {
    this.#database.insert("purchase_entries", row);
  }

  listReversals(payment_intent_id: string): Reversal[] {
    return this.#database.rows(
      "purchase_reversals",
      "where payment_intent_id = ?",
      payment_intent_id,
    );
  }

  readReversal(payment_intent_id: string, source_id: string): Reversal | null {
    const clauses = "where payment_intent_id = ? and source_id = ?";
    return this.#database.row("purchase_reversals", clauses, payment_intent_id, source_id);
  }

  saveReversal(
    { payment_intent_id, source_id, amount_minor, state }: Reversal,
    updated_at_ms: number,
  ): void {
    const row = { payment_intent_id, source_id, amount_minor, state, updated_at_ms };
    this.#database.save("purchase_reversals", ["payment_intent_id", "source_id"], row);
  }
}
