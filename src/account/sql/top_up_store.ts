/**
 * The SQL of automatic top-up. The store remembers its row and the top-up that is due, so that an account without one, or
 * with credits enough, reads and writes nothing for it.
 */
import type { AccountDatabase, Rows } from "./database.ts";

export type TopUpRow = Rows["top_up"];
export type ToppedUpRow = Rows["top_ups"];

export class TopUpStore {
  readonly #database: AccountDatabase;
  // Undefined: unknown. Null: no such row.
  #setting: TopUpRow | null | undefined;
  #due: ToppedUpRow | null | undefined;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** After a roll-back, or after rows were deleted by other SQL. */
  forget(): void {
    this.#setting = undefined;
    this.#due = undefined;
  }

  readSetting(): TopUpRow | null {
    if (this.#setting === undefined) this.#setting = this.#database.row("top_up", "");
    return this.#setting;
  }

  saveSetting(row: Omit<TopUpRow, "singleton">): void {
    this.#setting = undefined;
    this.#database.save("top_up", ["singleton"], { singleton: 1, ...row });
  }

  changeSetting(changes: Partial<TopUpRow>): void {
    this.#setting = undefined;
    this.#database.update("top_up", changes, { singleton: 1 });
  }

  readSetup(): Rows["top_up_setup"] | null {
    return this.#database.row("top_up_setup", "");
  }

  saveSetup(row: Omit<Rows["top_up_setup"], "singleton">): void {
    this.#database.save("top_up_setup", ["singleton"], { singleton: 1, ...row });
  }

  deleteSetup(): void {
    this.#database.run("delete from top_up_setup");
  }

  /** The only top-up that is due; null: none is. */
  readDue(): ToppedUpRow | null {
    // An account that never had it has no such row, so it is not searched.
    if (this.readSetting() === null) return null;
    if (this.#due === undefined) {
      this.#due = this.#database.row("top_ups", "where outcome = 'due' limit 1");
    }
    return this.#due;
  }

  readTopUp(number: number): ToppedUpRow | null {
    return this.#database.row("top_ups", "where number = ?", number);
  }

  /** Newest first. */
  listTopUps(limit: number): ToppedUpRow[] {
    const clauses = "where amount_minor > 0 order by number desc limit ? + 0";
    return this.#database.rows("top_ups", clauses, limit);
  }

  /** @returns the row with its number. */
  insertDue(row: Omit<ToppedUpRow, "number">): ToppedUpRow {
    this.#due = undefined;
    const newest = this.#database.row("top_ups", "order by number desc limit 1")?.number ?? 0;
    const due = { number: newest + 1, ...row };
    this.#database.insert("top_ups", due);
    this.#due = due;
    return due;
  }

  change(number: number, changes: Partial<ToppedUpRow>): void {
    this.#due = undefined;
    this.#database.update("top_ups", changes, { number });
  }

  /**
   * The sum of the charges that were booked from a time on, with those that are due. In the currency's smallest unit. It
   * counts purchases, which an account keeps when it is restored from the archive.
   */
  sumCharged(from_ms: number, currency: string): number {
    const sum = this.#database.first<{ readonly minor: number }>(
      `select coalesce(sum(minor), 0) as minor from (
         select amount_minor as minor, currency from top_ups where outcome = 'due'
         union all select paid_minor, currency from purchases
           where created_at_ms >= ? and checkout_session_id = payment_intent_id)
       where currency = ?`,
      from_ms,
      currency,
    );
    return sum?.minor ?? 0;
  }

  /** Begins numbers that no charge before had: what they were is lost. */
  beginNumbers(now_ms: number): void {
    const number = Math.floor(now_ms / 1_000);
    const nothing = {
      attempt: 1,
      outcome: "dropped",
      failure: null,
      credits: 0,
      amount_minor: 0,
    } as const;
    const of_nobody = { currency: "", package_json: "{}", customer_id: "", payment_method_id: "" };
    const times = { created_at_ms: now_ms, asked: 0, next_at_ms: now_ms };
    this.#database.insertMissing("top_ups", { number, ...nothing, ...of_nobody, ...times });
  }
}
