/**
 * The SQL of lots. The store remembers the living ones: those with something left or held, `LOTS_MAX` at most and a few
 * more. The rows of others stay, because an operator may refund a job that took from them.
 */
import type { PaidCredits } from "../../domain/liability.ts";
import { isLiving, warningsBy, type Lot } from "../../domain/lots.ts";
import type { AccountDatabase, Rows } from "./database.ts";

type LotRow = Rows["lots"];

export class LotStore {
  readonly #database: AccountDatabase;
  /** Undefined: not read yet. */
  #living: readonly Lot[] | undefined;

  constructor(database: AccountDatabase) {
    this.#database = database;
  }

  /** After a roll-back, or after rows were deleted by other SQL. */
  forget(): void {
    this.#living = undefined;
  }

  /** The lots with something left or held. Reads every lot, once after the object wakes or rolls back. */
  listLiving(): readonly Lot[] {
    const living = "where credits_left > 0 or credits_held > 0 order by line, id";
    this.#living ??= this.#database.rows("lots", living).map(lotOf);
    return this.#living;
  }

  saveWarnings(id: string, warnings: number): void {
    this.#living = undefined;
    this.#database.update("lots", { warnings }, { id });
  }

  read(id: string): Lot | null {
    const living = this.listLiving().find((lot) => lot.id === id);
    if (living !== undefined) return living;
    const row = this.#database.row("lots", "where id = ?", id);
    return row === null ? null : lotOf(row);
  }

  /**
   * Writes the lots that changed. `line`: the number of the entry of the change, which new lots get; so that they are warned
   * of only if they live that long, their earlier warnings are over.
   */
  saveChanged(
    before: readonly Lot[],
    after: readonly Lot[],
    { line, now_ms }: { readonly line: number; readonly now_ms: number },
  ): void {
    if (before === after) return;
    this.#living = undefined;
    const saved = after.map((lot) =>
      lot.line === 0 ? { ...lot, line, warnings: warningsBy(lot, now_ms) } : lot,
    );
    for (const lot of saved) {
      if (!before.includes(lot)) this.#database.save("lots", ["id"], rowOf(lot));
    }
    this.#living = saved.filter(isLiving);
  }
}

function lotOf({ app_slugs_json, credits_left, credits_held, paid_json, ...row }: LotRow): Lot {
  const app_slugs = app_slugs_json === null ? null : (JSON.parse(app_slugs_json) as string[]);
  const paid = paid_json === null ? [] : (JSON.parse(paid_json) as PaidCredits[]);
  return { ...row, app_slugs, left: credits_left, held: credits_held, paid };
}

function rowOf({ app_slugs, left, held, paid, ...lot }: Lot): LotRow {
  const app_slugs_json = app_slugs === null ? null : JSON.stringify(app_slugs);
  const paid_json = paid.length === 0 ? null : JSON.stringify(paid);
  return { ...lot, app_slugs_json, credits_left: left, credits_held: held, paid_json };
}
