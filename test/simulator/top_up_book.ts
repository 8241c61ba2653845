/** The rules of automatic top-up that an account's own rows show; `stripe.ts` has those that only Stripe can see. */
import type { ToppedUpRow, TopUpRow } from "../../src/account/sql/top_up_store.ts";
import type { TopUpPlan } from "../../src/domain/top_up.ts";
import type { Sqlite } from "./platform/sqlite.ts";
import type { Payment } from "./stripe.ts";
import { must } from "./violation.ts";

const HOUR_MS = 60 * 60_000;
const SKEW_MS = 70_000;
const PACKAGES_MAX = 100;
const FAILURES_MAX = 3;

export class TopUpBook {
  readonly #rows = new Map<number, ToppedUpRow>();
  #newest = 0;
  #setting: TopUpRow | null = null;

  /** A turn was stored. `balances`: before each of its entries and after the last one. */
  absorb(sqlite: Sqlite, balances: readonly number[], is_suspended: boolean): void {
    const [setting = null] = sqlite.all<TopUpRow>("select * from top_up");
    if (setting === null) return;
    const before = this.#setting;
    this.#setting = setting;
    const open = [...this.#rows.values()].filter(({ outcome }) => outcome === "due");
    const from = Math.min(this.#newest + 1, ...open.map(({ number }) => number));
    const rows = sqlite.all<ToppedUpRow>(
      "select * from top_ups where number >= ? order by number",
      from,
    );
    for (const row of rows) {
      const known = this.#rows.get(row.number);
      this.#rows.set(row.number, row);
      if (known === undefined) this.#decided(row, setting, before, balances);
      if (known?.outcome !== "failed" && row.outcome === "failed") this.#failed(row, setting);
      const waits = is_suspended && row.outcome === "due" && row.asked === 0;
      must(!waits, "a suspended account charges nothing more", row);
    }
    const due = rows.filter(({ outcome }) => outcome === "due");
    must(due.length <= 1, "at most one top-up is due", due);
    const is_over = setting.failures >= FAILURES_MAX;
    must(
      !is_over || setting.off_reason !== null,
      "after three failures in a row it is off",
      setting,
    );
  }

  #decided(
    row: ToppedUpRow,
    setting: TopUpRow,
    before: TopUpRow | null,
    balances: readonly number[],
  ): void {
    const { number, credits, amount_minor, created_at_ms, attempt } = row;
    must(number > this.#newest, "a top-up has a number that never repeats", row);
    this.#newest = number;
    const plan = JSON.parse(setting.plan_json) as TopUpPlan;
    const packages = amount_minor / plan.unit_minor;
    const closes = balances.some((balance) => {
      const gap = plan.threshold - balance;
      const wanted = Math.min(PACKAGES_MAX, Math.ceil(gap / plan.credits));
      const is_bounded = amount_minor + plan.unit_minor > 0 && packages < wanted;
      return gap > 0 && packages <= wanted && (packages === wanted || is_bounded);
    });
    must(closes, "a top-up closes the gap, and not more", { row, plan, balances });
    must(credits === packages * plan.credits, "a top-up buys whole packages", { row, plan });
    must(amount_minor <= plan.month_limit_minor, "a top-up fits into its month's limit", row);
    // The decision may have been made before the same turn switched it off.
    const retry_at_ms = before?.plan_json === setting.plan_json ? before.retry_at_ms : null;
    const is_early = retry_at_ms !== null && created_at_ms < retry_at_ms - SKEW_MS;
    must(!is_early || attempt === 1, "a failed top-up is tried again after an hour", {
      row,
      before,
    });
  }

  #failed(row: ToppedUpRow, { off_reason }: TopUpRow): void {
    if (row.failure !== "authentication_required") return;
    must(off_reason !== null, "a bank that requires the person switches it off", row);
  }

  /** When everything had time: nothing is due for long, and each charge has one purchase. */
  expectRest(sqlite: Sqlite, succeeded: readonly Payment[], now_ms: number): void {
    for (const row of this.#rows.values()) {
      const is_stuck = row.outcome === "due" && row.created_at_ms < now_ms - 3 * HOUR_MS;
      must(!is_stuck, "a top-up has an outcome", row);
    }
    const booked = sqlite.all<{ id: string; credits: number; paid_minor: number }>(
      `select checkout_session_id as id, credits, paid_minor from purchases
       where checkout_session_id = payment_intent_id order by 1`,
    );
    const expected = succeeded
      .map(({ id, charge: { credits, amount_minor: paid_minor } }) => ({ id, credits, paid_minor }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
    must(JSON.stringify(booked) === JSON.stringify(expected), "each charge is booked once", {
      booked,
      expected,
    });
    this.#expectDecided(sqlite, now_ms);
  }

  /** An account below its threshold, which may charge, has charged. */
  #expectDecided(sqlite: Sqlite, now_ms: number): void {
    const setting = this.#setting;
    if (setting === null || setting.off_reason !== null) return;
    const plan = JSON.parse(setting.plan_json) as TopUpPlan;
    const [newest] = sqlite.all<{ balance_after: number }>(
      "select balance_after from entries order by line desc limit 1",
    );
    const waits = (setting.retry_at_ms ?? 0) > now_ms - HOUR_MS;
    const is_due = [...this.#rows.values()].some(({ outcome }) => outcome === "due");
    if ((newest?.balance_after ?? 0) >= plan.threshold || waits || is_due) return;
    const month_ms = Date.UTC(new Date(now_ms).getUTCFullYear(), new Date(now_ms).getUTCMonth(), 1);
    const [spent] = sqlite.all<{ minor: number }>(
      `select coalesce(sum(paid_minor), 0) as minor from purchases
       where checkout_session_id = payment_intent_id and created_at_ms >= ?`,
      month_ms,
    );
    const is_spent = (spent?.minor ?? 0) + plan.unit_minor > plan.month_limit_minor;
    must(is_spent, "an account below its threshold is topped up", { setting, newest, spent });
  }
}
