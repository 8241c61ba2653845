import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import {
  balanceOf,
  baseTerms,
  boughtOf,
  bringIn,
  hold,
  isLiving,
  LOTS_MAX,
  lotsDue,
  lower,
  refund,
  scopedOf,
  settle,
  spendableIn,
  spendableThen,
  sumOf,
  take,
  takeBack,
  withoutLeft,
  type Clock,
  type Credits,
  type Lot,
  type Part,
  type Terms,
} from "../../../src/domain/lots.ts";
import { histories } from "../support/histories.ts";

const EMPTY: Credits = { base: { given: 0, bought: 0 }, held_bought: 0, lots: [] };
const APPS = ["one", "two"] as const;

interface Job {
  readonly app: (typeof APPS)[number];
  from: readonly Part[];
  state: "started" | "ended";
  refunded: number;
}

type Step =
  | { readonly do: "bring"; readonly terms: Terms; readonly amount: number }
  | { readonly do: "reserve"; readonly app: (typeof APPS)[number]; readonly amount: number }
  | { readonly do: "change"; readonly job: number; readonly reserved: number }
  | { readonly do: "settle"; readonly job: number; readonly cost: number }
  | { readonly do: "refund"; readonly job: number; readonly amount: number }
  | { readonly do: "take"; readonly amount: number }
  | { readonly do: "take back"; readonly lot: number; readonly amount: number }
  | { readonly do: "wait"; readonly days: number };

const amount = fc.integer({ min: 1, max: 30 });
const job = fc.nat({ max: 4 });
const terms = fc.record({
  // Days from now; the history adds the time.
  expires_at_ms: fc.constantFrom(null, 1 * DAY_MS, 3 * DAY_MS, 9 * DAY_MS),
  app_slugs: fc.constantFrom<readonly string[] | null>(
    null,
    null,
    ["one"],
    ["two"],
    ["one", "two"],
  ),
  bought: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("bring"), terms, amount }),
  fc.record({ do: fc.constant("bring"), terms, amount }),
  fc.record({ do: fc.constant("reserve"), app: fc.constantFrom(...APPS), amount }),
  fc.record({ do: fc.constant("change"), job, reserved: fc.nat({ max: 40 }) }),
  fc.record({ do: fc.constant("settle"), job, cost: fc.nat({ max: 50 }) }),
  fc.record({ do: fc.constant("refund"), job, amount }),
  fc.record({ do: fc.constant("take"), amount: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ do: fc.constant("take back"), lot: job, amount }),
  fc.record({ do: fc.constant("wait"), days: fc.integer({ min: 1, max: 8 }) }),
);

/** Whether one lot is used before another, as docs/credits.md says. */
function isBefore(one: Lot, other: Lot): boolean {
  const never = Number.POSITIVE_INFINITY;
  const [first, second] = [one.expires_at_ms ?? never, other.expires_at_ms ?? never];
  if (first !== second) return first < second;
  if ((one.app_slugs === null) !== (other.app_slugs === null)) return one.app_slugs !== null;
  return one.bought !== other.bought ? other.bought : false;
}

/** An account that only has credits and jobs. Every total is counted apart from the rules. */
class Account {
  credits = EMPTY;
  now_ms = 1_000 * DAY_MS;
  #ids = 0;
  readonly jobs: Job[] = [];
  /** Credits that left: costs of ended jobs less refunds, expired, and taken. */
  #balance = 0;
  #gone = { came_in: 0, expired: 0, taken: 0 };

  get #clock(): Clock {
    return { now_ms: this.now_ms, newId: () => `lot-${String((this.#ids += 1)).padStart(5, "0")}` };
  }

  take(one: Step): void {
    switch (one.do) {
      case "bring": {
        const { expires_at_ms } = one.terms;
        const expiry = expires_at_ms === null ? null : expires_at_ms + this.now_ms;
        const lot = { id: this.#clock.newId(), origin: "adjustment", note: null } as const;
        const wanted = { ...one.terms, expires_at_ms: expiry };
        const owed = Math.max(0, 0 - this.credits.base.given);
        const before = this.credits;
        this.credits = bringIn(before, lot, wanted, one.amount).credits;
        const paid = wanted.app_slugs === null ? Math.min(owed, one.amount) : 0;
        expect(this.credits.base.given - before.base.given).toBe(
          paid + (this.#goesToGiven(wanted) ? one.amount - paid : 0),
        );
        this.#balance += one.amount;
        this.#gone.came_in += one.amount;
        break;
      }
      case "reserve": {
        if (spendableIn(this.credits, one.app) < one.amount) break;
        const before = this.credits;
        const { credits, from } = hold(before, one.app, [], one.amount);
        this.#expectOrder(before, credits, one.app, from);
        this.credits = credits;
        this.#balance -= one.amount;
        this.jobs.push({ app: one.app, from, state: "started", refunded: 0 });
        break;
      }
      case "change":
        this.#change(this.jobs.at(-1 - one.job), one.reserved);
        break;
      case "settle": {
        const found = this.jobs.at(-1 - one.job);
        if (found === undefined || found.refunded > 0) break;
        const had = sumOf(found.from);
        const held = { app_slug: found.app, from: found.from, is_held: found.state === "started" };
        const settled = settle(this.credits, held, one.cost, this.#clock);
        expect(sumOf(settled.from)).toBe(one.cost);
        this.credits = settled.credits;
        Object.assign(found, { from: settled.from, state: "ended" });
        this.#balance += had - one.cost;
        break;
      }
      case "refund": {
        const found = this.jobs.at(-1 - one.job);
        if (found === undefined || found.state === "started") break;
        const back = Math.min(one.amount, sumOf(found.from) - found.refunded);
        if (back === 0) break;
        const { refunded } = found;
        this.credits = refund(this.credits, found.from, { amount: back, refunded }, this.#clock);
        found.refunded += back;
        this.#balance += back;
        break;
      }
      case "take":
        this.credits = take(this.credits, null, one.amount).credits;
        this.#balance -= one.amount;
        this.#gone.taken += one.amount;
        break;
      case "take back": {
        const lot = this.credits.lots.filter((it) => it.bought).at(-1 - one.lot);
        this.credits = takeBack(
          this.credits,
          { id: lot?.paid[0]?.id ?? "none", lot_id: lot?.id ?? null },
          one.amount,
        ).credits;
        this.#balance -= one.amount;
        this.#gone.taken += one.amount;
        break;
      }
      case "wait":
        this.now_ms += one.days * DAY_MS;
    }
    this.#expire();
    this.#check();
  }

  #goesToGiven({ expires_at_ms, app_slugs, bought }: Terms): boolean {
    return expires_at_ms === null && app_slugs === null && !bought;
  }

  #change(found: Job | undefined, reserved: number): void {
    if (found === undefined || found.state !== "started") return;
    const had = sumOf(found.from);
    if (reserved > had) {
      if (spendableIn(this.credits, found.app) < reserved - had) return;
      const raised = hold(this.credits, found.app, found.from, reserved - had);
      this.credits = raised.credits;
      found.from = raised.from;
    } else {
      const lowered = lower(this.credits, found.from, reserved, this.#clock);
      this.credits = lowered.credits;
      found.from = lowered.from;
    }
    expect(sumOf(found.from)).toBe(reserved);
    this.#balance += had - reserved;
  }

  /** No usable lot that comes before a used one has something left, and the base is used last. */
  #expectOrder(before: Credits, after: Credits, app: string, from: readonly Part[]): void {
    const usable = before.lots.filter((it) => it.app_slugs?.includes(app) ?? true);
    const leftOf = (id: string): number => after.lots.find((it) => it.id === id)?.left ?? 0;
    for (const { lot_id, bought } of from) {
      const used = usable.find(({ id }) => id === lot_id);
      const earlier = usable.filter((it) => used === undefined || isBefore(it, used));
      expect(earlier.filter(({ id }) => leftOf(id) > 0)).toEqual([]);
      if (lot_id === null && bought) expect(after.base.given).toBeLessThanOrEqual(0);
    }
  }

  #expire(): void {
    for (const { id, left } of lotsDue(this.credits, this.now_ms)) {
      this.credits = withoutLeft(this.credits, id);
      this.#balance -= left;
      this.#gone.expired += left;
    }
  }

  #check(): void {
    const { base, lots, held_bought } = this.credits;
    expect(balanceOf(this.credits)).toBe(this.#balance);
    expect(base.bought).toBeGreaterThanOrEqual(0);
    if (base.given < 0) expect(base.bought).toBe(0);
    const started = this.jobs.filter(({ state }) => state === "started");
    const held = started.flatMap(({ from }) => from);
    expect(held_bought).toBe(sumOf(held.filter(({ bought }) => bought)));
    for (const lot of lots) {
      expect(lot.left).toBeGreaterThanOrEqual(0);
      expect(lot.held).toBe(sumOf(held.filter(({ lot_id }) => lot_id === lot.id)));
      if (lot.expires_at_ms !== null && lot.expires_at_ms <= this.now_ms) expect(lot.left).toBe(0);
    }
    expect(lots.filter(isLiving).length).toBeLessThanOrEqual(LOTS_MAX);
    expect(boughtOf(this.credits)).toBeLessThanOrEqual(
      base.bought + lots.reduce((sum, { left, bought }) => sum + (bought ? left : 0), 0),
    );
    // Every credit that came in is left, held, spent, expired or taken.
    const spent = this.jobs
      .filter(({ state }) => state === "ended")
      .reduce((sum, it) => sum + sumOf(it.from) - it.refunded, 0);
    const { came_in, expired, taken } = this.#gone;
    expect(came_in).toBe(balanceOf(this.credits) + sumOf(held) + spent + expired + taken);
    for (const app of APPS) {
      const then = spendableThen(balanceOf(this.credits), scopedOf(this.credits), app);
      expect(then).toBe(spendableIn(this.credits, app));
    }
  }
}

const clock = (now_ms: number): Clock => ({ now_ms, newId: () => "returned" });
const lot = (id: string, more: Partial<Lot>): Lot => ({
  id,
  origin: "adjustment",
  ...baseTerms(false),
  credits: 10,
  left: 10,
  held: 0,
  line: 1,
  note: null,
  warnings: 0,
  paid: [],
  ...more,
});

const PRICE = { currency: "eur", paid_minor: 100, paid_credits: 10 };

describe("credits with terms", () => {
  it(
    "any history of credits with terms keeps every credit in one place",
    { tags: ["history"], timeout: 600_000 },
    () => {
      fc.assert(
        fc.property(fc.array(step, { minLength: 5, maxLength: 60, size: "max" }), (steps) => {
          const account = new Account();
          for (const one of steps) account.take(one);
        }),
        { numRuns: histories(10_000), verbose: 1 },
      );
    },
  );

  it("a job uses what expires first, then its app's credits, then given before bought, then the oldest", () => {
    const credits: Credits = {
      base: { given: 5, bought: 5 },
      held_bought: 0,
      lots: [
        lot("late", { expires_at_ms: 9 }),
        lot("bought", { expires_at_ms: 5, bought: true }),
        lot("newer", { expires_at_ms: 5, line: 2 }),
        lot("older", { expires_at_ms: 5 }),
        lot("own", { expires_at_ms: 5, app_slugs: ["one"], bought: true }),
        lot("other", { expires_at_ms: 1, app_slugs: ["two"] }),
        lot("never", { app_slugs: ["one"] }),
      ],
    };
    const { from } = hold(credits, "one", [], 70);
    expect(from.map(({ lot_id, bought }) => lot_id ?? (bought ? "base bought" : "base"))).toEqual([
      "own",
      "older",
      "newer",
      "bought",
      "late",
      "never",
      "base",
      "base bought",
    ]);
  });

  it("credits that come back to an expired lot are usable for seven days, and then expire", () => {
    const first = { ...EMPTY, lots: [lot("first", { expires_at_ms: DAY_MS })] };
    const held = hold(first, "one", [], 10);
    const settled = settle(
      held.credits,
      { app_slug: "one", from: held.from, is_held: true },
      4,
      clock(2 * DAY_MS),
    );
    const [, back] = settled.credits.lots;
    expect(back).toMatchObject({ origin: "returned", left: 6, expires_at_ms: 9 * DAY_MS });
    const again = hold(settled.credits, "one", [], 6);
    const late = { app_slug: "one", from: again.from, is_held: true };
    const end = settle(again.credits, late, 0, clock(9 * DAY_MS));
    // They went back to the lot that has expired, and not to another one.
    expect(lotsDue(end.credits, 9 * DAY_MS)).toMatchObject([{ id: "returned", left: 6 }]);
    expect(end.credits.lots).toHaveLength(2);
  });

  it("credits for all apps pay a base below zero first, and credits for one app do not", () => {
    const owing = { ...EMPTY, base: { given: -8, bought: 0 } };
    const arriving = { id: "new", origin: "purchase", note: null } as const;
    const all = bringIn(owing, arriving, { ...baseTerms(true), expires_at_ms: 5 }, 10);
    expect(all.credits).toMatchObject({ base: { given: 0, bought: 0 }, lots: [{ left: 2 }] });
    const own = bringIn(owing, arriving, { ...baseTerms(true), app_slugs: ["one"] }, 10);
    expect(own.credits).toMatchObject({ base: { given: -8 }, lots: [{ left: 10 }] });
    expect(spendableIn(own.credits, "one")).toBe(2);
  });

  it("one lot too many joins the one of its scope and part that expires next after it", () => {
    const lots = Array.from({ length: LOTS_MAX }, (_, at) =>
      lot(`lot-${at}`, { expires_at_ms: 10 + at, bought: at % 2 === 1 }),
    );
    const full = { ...EMPTY, lots };
    const arriving = { id: "new", origin: "purchase", note: null } as const;
    const joined = bringIn(full, arriving, { ...baseTerms(true), expires_at_ms: 12 }, 7);
    expect(joined).toMatchObject({ lot_id: "lot-3", terms: { expires_at_ms: 13 } });
    expect(joined.credits.lots[3]).toMatchObject({ left: 17, credits: 17 });
    const late = bringIn(full, arriving, { ...baseTerms(true), expires_at_ms: 1_000 }, 7);
    expect(late).toMatchObject({ lot_id: null, credits: { base: { bought: 7 } } });
  });

  it("a refund of a purchase takes its own credits first, then the base, below zero", () => {
    const credits = {
      ...EMPTY,
      base: { given: 3, bought: 2 },
      lots: [lot("bought", { bought: true, expires_at_ms: 5, left: 4 }), lot("other", {})],
    };
    expect(takeBack(credits, { id: "payment", lot_id: "bought" }, 12)).toMatchObject({
      credits: { base: { given: -3, bought: 0 }, lots: [{ left: 0 }, { left: 10 }] },
      of_home: 12,
    });
  });

  it("a refund of a purchase finds what a job gave back after its time, and nothing of other payments", () => {
    const paid = (id: string, credits: number) => ({ ...PRICE, id, credits });
    const bought = { bought: true, app_slugs: ["one"] };
    const credits = {
      ...EMPTY,
      base: { given: 5, bought: 0 },
      lots: [
        lot("home", { ...bought, left: 2, paid: [paid("it", 6), paid("joined", 1)] }),
        lot("back", {
          ...bought,
          origin: "returned",
          left: 6,
          paid: [paid("it", 1), paid("other", 3), paid("it", 2)],
        }),
      ],
    };
    const refunded = takeBack(credits, { id: "it", lot_id: "home" }, 8);
    expect(refunded).toMatchObject({
      credits: {
        base: { given: 1, bought: 0 },
        lots: [
          { left: 1, paid: [{ credits: -2 }, { credits: 1 }] },
          { left: 3, paid: [{ credits: 0 }, { credits: 3 }, { credits: 0 }] },
        ],
      },
      of_home: 5,
    });
  });

  it("a refund of a purchase counts what jobs hold, and leaves lots without its credits as they are", () => {
    const paid = (id: string, credits: number) => ({ ...PRICE, id, credits });
    const bought = { bought: true, app_slugs: ["one"] };
    const [home, back, other] = [
      lot("home", { ...bought, left: 2, held: 3, paid: [paid("it", 2), paid("joined", 3)] }),
      lot("back", { ...bought, line: 2, left: 1, held: 2, paid: [paid("it", 2), paid("new", 1)] }),
      lot("other", { ...bought, line: 3, paid: [paid("other", 10)] }),
    ];
    const credits = { ...EMPTY, base: { given: 9, bought: 0 }, lots: [home, back, other] };
    const refunded = takeBack(credits, { id: "it", lot_id: "home" }, 9);
    expect(refunded).toMatchObject({
      credits: {
        base: { given: 3, bought: 0 },
        lots: [
          // More than came to this lot: what jobs give back later has no price.
          { left: 0, paid: [{ id: "it", credits: -7 }, { credits: 3 }] },
          // Nor has what a job holds here.
          { left: 0, paid: [{ id: "it", credits: 0 }, { credits: 1 }] },
          {},
        ],
      },
      of_home: 8,
    });
    expect(refunded.credits.lots[2]).toBe(other);
    const nothing = takeBack({ ...credits, lots: [other] }, { id: "it", lot_id: null }, 9);
    expect(nothing).toMatchObject({ credits: { base: { given: 0 } }, of_home: 9 });
    expect(nothing.credits.lots[0]).toBe(other);
    const held = { ...bought, left: 0, held: 2, paid: [paid("it", 2)] };
    const lots = [lot("one", held), lot("two", { ...held, line: 2 })];
    const some = takeBack({ ...credits, lots }, { id: "it", lot_id: null }, 3);
    expect(some.credits.lots).toMatchObject([
      { paid: [{ credits: 0 }] },
      { paid: [{ credits: 1 }] },
    ]);
  });
});
