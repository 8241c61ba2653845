/**
 * Accounts deliver late, twice and out of order, are replaced and deleted while maintenance runs. The totals
 * are exact after every step.
 */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { DAY_MS, utcDayOf } from "../../../src/domain/calendar.ts";
import {
  MEASURES,
  sumByDay,
  type DayTotals,
  type LineMoney,
} from "../../../src/readmodel/line_totals.ts";
import { cleanReadModel } from "../../../src/readmodel/retention.ts";
import { createDirectProjector, type Applied } from "../../../src/readmodel/direct_projector.ts";
import { readDailyTotals, readRevenue } from "../../../src/readmodel/totals.ts";
import { before, rowsBetween } from "./contract.ts";
import { seriesOf, type Totals } from "./totals_model.ts";
import { histories } from "../support/histories.ts";

const START_MS = 20_000 * DAY_MS;
const HOUR_MS = DAY_MS / 24;
const APPS = ["one", "two"];
const ACCOUNTS = ["a", "c", "e"];
/** Longer than any history, because an entry that arrives after the window may count its account again. */
const WINDOW_DAYS = 90;

type Step =
  | {
      readonly do: "live";
      readonly account: number;
      readonly app: string;
      readonly credits: number;
      readonly hours_back: number;
    }
  | { readonly do: "wait"; readonly hours: number }
  | {
      readonly do: "deliver";
      readonly accounts: readonly number[];
      readonly lines: number;
      readonly again: number;
    }
  | { readonly do: "upkeep" }
  | { readonly do: "deliver too early" | "replace" | "forget" | "wipe"; readonly account: number };

const account = fc.nat({ max: ACCOUNTS.length - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("live"),
      account,
      app: fc.constantFrom("", ...APPS),
      credits: fc.nat({ max: 9 }),
      hours_back: fc.nat({ max: 23 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("wait"),
      hours: fc.constantFrom(1, 12, 24, 30),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("deliver"),
      accounts: fc.subarray([...ACCOUNTS.keys()], { minLength: 1 }),
      lines: fc.integer({ min: 1, max: 5 }),
      again: fc.nat({ max: 3 }),
    }),
  },
  fc.record({ do: fc.constant("upkeep") }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("deliver too early", "replace", "forget", "wipe"),
      account,
    }),
  },
);

/** A purchase, or a refund of one, of two packages. */
function moneyOf(credits: number): LineMoney {
  const of_package = { package_id: credits % 2 === 0 ? "small" : "large", currency: "eur" };
  return credits === 9
    ? { ...of_package, purchases: 0, amount_minor: 0, refunded_minor: 7 }
    : { ...of_package, purchases: 1, amount_minor: credits * 100, refunded_minor: 0 };
}

/** An entry's amounts. */
interface Line {
  readonly totals: DayTotals;
  readonly money?: LineMoney;
}

/** An account: its entries, and how many of them D1 has received. */
class Book {
  readonly id: string;
  readonly lines: Line[] = [];
  delivered = 0;
  constructor(id: string) {
    this.id = id;
  }
}

class History {
  readonly #projector = createDirectProjector(env.DB);
  readonly #books = ACCOUNTS.map((id) => new Book(id));
  readonly #model: Totals = new Map();
  readonly #money = new Map<string, number[]>();
  #now_ms = START_MS;
  #made = 0;

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "live": {
        const { lines } = this.#book(step.account);
        const day = utcDayOf(this.#now_ms - step.hours_back * HOUR_MS);
        const where = { day, minute: 0, app_slug: step.app };
        const totals = { ...where, reserved: step.credits, jobs: 1, adjusted: 0 - step.credits };
        lines.push(step.credits < 5 ? { totals } : { totals, money: moneyOf(step.credits) });
        return;
      }
      case "wait":
        this.#now_ms += step.hours * HOUR_MS;
        return;
      case "deliver":
        return this.#deliver(step.accounts, step.lines, step.again);
      case "deliver too early": {
        const book = this.#book(step.account);
        const after_line = book.delivered + 1;
        if (book.lines.length <= after_line) return;
        const rows = this.#rows(book, after_line, book.lines.length);
        const after = before(after_line + 1, book.id);
        expect(await this.#projector.apply(rows, after)).toBe(false);
        return;
      }
      case "replace": {
        const book = this.#book(step.account);
        if (book.lines.length === 0) return;
        await this.#projector.replaceAccount(this.#rows(book, 0, book.lines.length).account);
        book.delivered = book.lines.length;
        return;
      }
      case "forget": {
        const book = this.#book(step.account);
        const { id } = book;
        while (!(await this.#projector.forget(id)));
        if (book.delivered > 0) {
          const { credits, reserved } = this.#rows(book, 0, book.delivered).account;
          this.#forfeit(0 - credits - reserved);
        }
        this.#made += 1;
        this.#books[step.account] = new Book(`${ACCOUNTS[step.account]}${this.#made}`);
        return;
      }
      case "wipe":
        await emptyD1();
        this.#model.clear();
        this.#money.clear();
        for (const book of this.#books) book.delivered = 0;
        return;
      case "upkeep":
        await cleanReadModel(env.DB, WINDOW_DAYS, this.#now_ms);
        return;
    }
  }

  #book(account: number): Book {
    return this.#books[account] ?? expect.fail("no such account");
  }

  #rows(book: Book, after_line: number, to_line: number) {
    const rows = rowsBetween(Math.max(1, after_line + 1), to_line, book.id);
    const lines = book.lines.slice(after_line, to_line);
    return {
      ...rows,
      grants: [],
      jobs: [],
      days: sumByDay(lines.map(({ totals }) => totals)),
      money: lines.flatMap(({ totals: { day }, money }) =>
        money === undefined ? [] : [{ ...money, day }],
      ),
    };
  }

  async #deliver(accounts: readonly number[], lines: number, again: number): Promise<void> {
    const owing = accounts.map((at) => this.#book(at)).filter((book) => book.lines.length > 0);
    const deliveries = owing.map((book) => {
      const after_line = Math.max(0, book.delivered - again);
      const to_line = Math.min(book.lines.length, after_line + lines);
      const delivery = {
        rows: this.#rows(book, after_line, to_line),
        after: before(after_line + 1, book.id),
      };
      if (after_line < book.delivered)
        return { delivery, applied: compared(to_line, book.delivered) };
      for (const line of book.lines.slice(after_line, to_line)) this.#count(book.id, line);
      book.delivered = to_line;
      return { delivery, applied: "there" };
    });
    const applied = await this.#projector.applyAll(deliveries.map(({ delivery }) => delivery));
    expect(applied).toEqual(deliveries.map(({ applied: expected }) => expected));
  }

  #count(id: string, { totals: { day, app_slug, ...sums }, money }: Line): void {
    if (money !== undefined) {
      const { package_id, purchases, amount_minor, refunded_minor } = money;
      const known = this.#money.get(package_id) ?? [0, 0, 0];
      const added = [purchases, amount_minor, refunded_minor];
      this.#money.set(
        package_id,
        known.map((sum, at) => sum + (added[at] ?? 0)),
      );
    }
    for (const app of ["*", app_slug]) {
      const key = `${new Date(day * DAY_MS).toISOString().slice(0, 10)} ${app}`;
      const total = this.#model.get(key) ?? { accounts: new Set<string>() };
      this.#model.set(key, total);
      total.accounts.add(id);
      for (const name of MEASURES) total[name] = (total[name] ?? 0) + (sums[name] ?? 0);
    }
  }

  #forfeit(credits: number): void {
    if (credits === 0) return;
    for (const app of ["*", ""]) {
      const key = `${new Date().toISOString().slice(0, 10)} ${app}`;
      const total = this.#model.get(key) ?? { accounts: new Set<string>() };
      this.#model.set(key, { ...total, forfeited: (total.forfeited ?? 0) + credits });
    }
  }

  async expectExact(): Promise<void> {
    const revenue = await readRevenue(env.DB, 0, 100_000);
    const read = revenue.map((it) => [
      it.package_id,
      [it.purchases, it.amount_minor, it.refunded_minor],
    ]);
    expect(Object.fromEntries(read)).toEqual(Object.fromEntries(this.#money));
    for (const app of ["*", "", ...APPS]) {
      const series = await readDailyTotals(env.DB, 0, 100_000, app === "*" ? null : app);
      expect(series).toEqual(seriesOf(this.#model, app));
    }
  }
}

function compared(to_line: number, delivered: number): Applied {
  if (to_line === delivered) return "there";
  return to_line < delivered ? "later" : "lacking";
}

async function emptyD1(): Promise<void> {
  const totals = ["daily_totals", "daily_revenue", "account_days"];
  const tables = ["accounts", "grants", "jobs", "upkeep", ...totals];
  await env.DB.batch(tables.map((table) => env.DB.prepare(`delete from ${table}`)));
}

afterEach(emptyD1);

describe("random histories of deliveries, replacements, deletions and upkeep", () => {
  it(
    "daily totals are exact after every step of a random history",
    { tags: ["history"] },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 10, maxLength: 40, size: "max" }),
          async (steps) => {
            await emptyD1();
            const history = new History();
            for (const one of steps) {
              await history.take(one);
              await history.expectExact();
            }
          },
        ),
        { numRuns: histories(60) },
      );
    },
  );
});
