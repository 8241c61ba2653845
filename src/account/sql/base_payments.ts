/**
 * The SQL of the payments for the bought credits of the base, oldest first. Each row says how many credits came before it, so
 * the payments of some credits are found without reading the others, however many there are.
 */
import {
  countOf,
  newestOf,
  plus,
  worthOf,
  type PaidCredits,
  type Worth,
} from "../../domain/liability.ts";
import type { AccountDatabase, Rows } from "./database.ts";

export class BasePayments {
  readonly #database: AccountDatabase;
  /** The number of the next one, and how many credits came before it. Undefined: not read yet. */
  #next: Pick<Rows["base_payments"], "number" | "before_credits"> | undefined;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** After a roll-back, or after rows were deleted by other SQL. */
  forget(): void {
    this.#next = undefined;
  }

  add(paid: readonly PaidCredits[]): void {
    for (const { id, credits, currency, paid_minor, paid_credits } of paid) {
      const row = { id, credits, currency, paid_minor, paid_credits };
      this.#database.insert("base_payments", { ...row, ...this.#readNext() });
      this.forget();
    }
  }

  /**
   * By how much the newest `now` credits of the base are worth more than the newest `then`. Those beyond what ever came have no
   * price.
   */
  change(then: number, now: number): Worth {
    if (then === now) return {};
    const { before_credits: end } = this.#readNext();
    const [start, until] = [then, now].map((credits) => Math.max(0, end - credits)) as [
      number,
      number,
    ];
    const rows = this.#database.rows(
      "base_payments",
      `where before_credits < ?2 and before_credits >=
        (select max(before_credits) from base_payments where before_credits <= ?1) order by before_credits, number`,
      Math.min(start, until),
      Math.max(start, until),
    );
    const last = rows.at(-1);
    if (last === undefined) return {};
    const worthFrom = (from: number): Worth =>
      worthOf(newestOf(rows, last.before_credits + countOf(last) - from));
    return plus(worthFrom(until), worthFrom(start), -1);
  }

  /**
   * Changes how many credits a payment stands for, because it was returned in part or came back. Writes all later rows. Does
   * nothing if no credits of the payment came to the base.
   */
  resize(id: string, change: number): void {
    const row = this.#database.row("base_payments", "where id = ?", id);
    if (row === null) return;
    this.forget();
    const resized = { credits: row.credits + change };
    this.#database.update("base_payments", resized, { number: row.number });
    this.#database.run(
      "update base_payments set before_credits = before_credits + ? where number > ?",
      countOf(resized) - countOf(row),
      row.number,
    );
  }

  #readNext() {
    if (this.#next === undefined) {
      const last = this.#database.row(
        "base_payments",
        "order by before_credits desc, number desc limit 1",
      );
      this.#next =
        last === null
          ? { number: 1, before_credits: 0 }
          : { number: last.number + 1, before_credits: last.before_credits + countOf(last) };
    }
    return this.#next;
  }
}
