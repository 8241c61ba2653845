/** Exact results of the rules for credits with terms, which random histories do not compare. */
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import { worthOf } from "../../../src/domain/liability.ts";
import {
  baseTerms,
  boughtInBase,
  boughtOf,
  bringIn,
  hold,
  inOrderOfUse,
  isLiving,
  isLotTooMany,
  lotsDue,
  lower,
  LOTS_MAX,
  nextDueAt,
  nextExpiry,
  putBack,
  refund,
  resizePaid,
  rollOver,
  scopedOf,
  settle,
  spendableIn,
  takeBack,
  warningsBy,
  withoutLeft,
  worthInLots,
  type Clock,
  type Credits,
  type Lot,
  type Part,
} from "../../../src/domain/lots.ts";

const EMPTY: Credits = { base: { given: 0, bought: 0 }, held_bought: 0, lots: [] };
const NOW_MS = 100 * DAY_MS;

const lot = (id: string, more: Partial<Lot> = {}): Lot => ({
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
const withLots = (...lots: readonly Lot[]): Credits => ({ ...EMPTY, lots });
const part = (lot_id: string | null, credits: number, bought = false): Part => ({
  lot_id,
  bought,
  credits,
});
const idsOf = (lots: readonly Lot[]): readonly string[] => lots.map(({ id }) => id);

function clock(): Clock {
  let ids = 0;
  return { now_ms: NOW_MS, newId: () => `new-${(ids += 1)}` };
}

const paid = (id: string, credits: number) => ({
  id,
  credits,
  currency: "eur",
  paid_minor: 300,
  paid_credits: 100,
});

describe("bought credits", () => {
  it("the bought part counts what is left of bought lots, and nothing of given ones", () => {
    const lots = [lot("bought", { bought: true, left: 4 }), lot("given", { left: 8 })];
    expect(boughtOf({ ...EMPTY, base: { given: 1, bought: 2 }, lots })).toBe(6);
  });

  it("the bought credits of the base include what started jobs hold, without what they hold of bought lots", () => {
    const lots = [lot("bought", { bought: true, held: 3 }), lot("given", { held: 4 })];
    expect(boughtInBase({ base: { given: 1, bought: 5 }, held_bought: 7, lots })).toBe(9);
  });

  it("a lot is worth the newest of what was paid for it, as much as is left and held", () => {
    const lots = [lot("one", { left: 4, held: 2, paid: [paid("old", 5), paid("new", 5)] })];
    expect(worthInLots(lots)).toEqual(worthOf([paid("old", 1), paid("new", 5)]));
  });

  it("a payment that was returned in part stands for fewer credits of its lot, and other payments for as many", () => {
    const lots = [lot("one", { paid: [paid("a", 5), paid("b", 5)] }), lot("two")];
    const resized = resizePaid(withLots(...lots), "one", "b", -2);
    expect(resized.lots).toEqual([{ ...lots[0], paid: [paid("a", 5), paid("b", 3)] }, lots[1]]);
  });
});

describe("the order of lots", () => {
  it.each([
    ["in order", ["a", "b"]],
    ["in reverse", ["b", "a"]],
  ])("lots that are equal but for their names are used by name, if they come %s", (_, ids) => {
    expect(idsOf(inOrderOfUse(ids.map((id) => lot(id))))).toEqual(["a", "b"]);
  });

  it("credits that are wanted for all apps are not taken from those for some", () => {
    const credits = withLots(lot("own", { app_slugs: ["one"] }), lot("all", { left: 3 }));
    expect(spendableIn(credits, null)).toBe(3);
    expect(spendableIn(credits, "one")).toBe(13);
  });

  it("a lot is living while something of it is left or held", () => {
    expect(isLiving({ left: 0, held: 0 })).toBe(false);
    expect(isLiving({ left: 1, held: 0 })).toBe(true);
    expect(isLiving({ left: 0, held: 1 })).toBe(true);
  });

  it("only lots whose time is over and that have something left are due", () => {
    const over = { expires_at_ms: NOW_MS };
    const lots = [
      lot("over", over),
      lot("not yet", { expires_at_ms: NOW_MS + 1 }),
      lot("empty", { ...over, left: 0 }),
      lot("never"),
    ];
    expect(idsOf(lotsDue({ lots }, NOW_MS))).toEqual(["over"]);
  });

  it("only lots for some apps that have something left reduce what other apps can use", () => {
    const lots = [
      lot("one", { app_slugs: ["one"], left: 4 }),
      lot("also one", { app_slugs: ["one"], left: 2 }),
      lot("empty", { app_slugs: ["two"], left: 0 }),
      lot("all"),
    ];
    expect(scopedOf({ lots })).toEqual([{ app_slugs: ["one"], left: 6 }]);
  });
});

describe("warnings and expiry", () => {
  it.each([
    [10 * DAY_MS, 3 * DAY_MS - 1, 0],
    [10 * DAY_MS, 3 * DAY_MS, 1],
    [10 * DAY_MS, 9 * DAY_MS - 1, 1],
    [10 * DAY_MS, 9 * DAY_MS, 2],
    [null, 9 * DAY_MS, 0],
  ])(
    "of a lot that expires at %s, at %s so many warnings are over: %s",
    (expires_at_ms, now, n) => {
      expect(warningsBy({ expires_at_ms }, now)).toBe(n);
    },
  );

  it.each([
    [0, 3 * DAY_MS],
    [1, 9 * DAY_MS],
    [2, 10 * DAY_MS],
  ])(
    "after %s warnings of a lot, the next is due a week or a day before its expiry, or at it",
    (warnings, due) => {
      const others = [
        lot("empty", { left: 0, expires_at_ms: 1 }),
        lot("never"),
        lot("late", { expires_at_ms: 90 * DAY_MS }),
      ];
      expect(nextDueAt([...others, lot("due", { expires_at_ms: 10 * DAY_MS, warnings })])).toBe(
        due,
      );
    },
  );

  it("nothing is due if nothing that is left expires", () => {
    const lots = [lot("never"), lot("empty", { left: 0, expires_at_ms: 5 })];
    expect(nextDueAt(lots)).toBeNull();
    expect(nextExpiry(lots)).toBeNull();
  });

  it("the lots that expire next are counted together", () => {
    const lots = [
      lot("empty", { left: 0, expires_at_ms: 1 }),
      lot("one", { left: 1, expires_at_ms: 5 }),
      lot("two", { left: 3, expires_at_ms: 5 }),
      lot("later", { left: 20, expires_at_ms: 6 }),
      lot("never"),
    ];
    expect(nextExpiry(lots)).toEqual({ credits: 4, at_ms: 5 });
  });

  it("a lot without what is left keeps what jobs hold of it", () => {
    const credits = withLots(lot("one", { held: 3 }), lot("two"));
    expect(withoutLeft(credits, "one").lots).toMatchObject([
      { id: "one", left: 0, held: 3, credits: 10 },
      { id: "two", left: 10 },
    ]);
  });
});

describe("what a job holds", () => {
  const credits: Credits = {
    base: { given: 20, bought: 5 },
    held_bought: 0,
    lots: [lot("own", { app_slugs: ["one"], expires_at_ms: NOW_MS + 9 })],
  };

  it("a job that reserves more takes on, and has one part of each place", () => {
    const first = hold(credits, "one", [], 4);
    expect(first.from).toEqual([part("own", 4)]);
    const second = hold(first.credits, "one", first.from, 8);
    expect(second.from).toEqual([part("own", 10), part(null, 2)]);
    const third = hold(second.credits, "one", second.from, 20);
    expect(third.from).toEqual([part("own", 10), part(null, 20), part(null, 2, true)]);
    expect(third.credits.held_bought).toBe(2);
    expect(third.credits.lots).toMatchObject([{ left: 0, held: 10 }]);
  });

  it("a job that reserves less gives back what it took last, and keeps no empty part", () => {
    const held = hold(credits, "one", [], 12);
    const lowered = lower(held.credits, held.from, 10, clock());
    expect(lowered.from).toEqual([part("own", 10)]);
    expect(lowered.credits.base).toEqual({ given: 20, bought: 5 });
  });

  it("a second refund goes on where the first one ended", () => {
    const held = hold(credits, "one", [], 15);
    const job = { app_slug: "one", from: held.from, is_held: true };
    const ended = settle(held.credits, job, 15, clock());
    const first = refund(ended.credits, ended.from, { amount: 5, refunded: 0 }, clock());
    expect(first).toMatchObject({ base: { given: 20 }, lots: [{ left: 0 }] });
    const second = refund(first, ended.from, { amount: 3, refunded: 5 }, clock());
    expect(second).toMatchObject({ base: { given: 20 }, lots: [{ left: 3 }] });
  });
});

describe("credits that come back", () => {
  const owing: Credits = { ...EMPTY, base: { given: -3, bought: 0 } };
  const over = { expires_at_ms: NOW_MS };

  it("they pay what the account owes, the ones that were taken last first", () => {
    const credits = { ...owing, lots: [lot("all", { expires_at_ms: NOW_MS + 1, left: 0 })] };
    expect(putBack(credits, [part("all", 5), part(null, 5, true)], clock())).toMatchObject({
      base: { given: 0, bought: 2 },
      lots: [{ id: "all", left: 5 }],
    });
  });

  it("those of a lot for some apps pay nothing", () => {
    const credits = { ...owing, lots: [lot("own", { app_slugs: ["one"], left: 0 })] };
    expect(putBack(credits, [part("own", 5)], clock())).toMatchObject({
      base: { given: -3, bought: 0 },
      lots: [{ id: "own", left: 5, origin: "adjustment" }],
    });
  });

  it("those of an expired lot that pay a debt in full become no lot", () => {
    const credits = { ...owing, lots: [lot("over", { ...over, left: 0 })] };
    const back = putBack(credits, [part("over", 3)], clock());
    expect(back).toMatchObject({ base: { given: 0 }, lots: [{ id: "over", left: 0 }] });
    expect(back.lots).toHaveLength(1);
  });

  it("those of expired lots of one scope become one lot, and those of other scopes another", () => {
    const bought = { ...over, bought: true, left: 0 };
    const lots = [
      lot("one", { ...over, left: 0 }),
      lot("two", { ...over, left: 0 }),
      lot("bought", { ...bought, paid: [paid("old", 5), paid("new", 5)] }),
      lot("more", { ...bought, paid: [paid("other", 9)] }),
    ];
    const parts = [part("one", 1), part("two", 2), part("bought", 6, true), part("more", 8, true)];
    const back = putBack(withLots(...lots), parts, clock());
    const returned = {
      origin: "returned",
      expires_at_ms: NOW_MS + 7 * DAY_MS,
      app_slugs: null,
      held: 0,
      line: 0,
      note: null,
      warnings: 0,
    };
    expect(back.lots.slice(4)).toEqual([
      {
        ...returned,
        id: "new-1",
        bought: true,
        credits: 14,
        left: 14,
        paid: [paid("other", 8), paid("old", 1), paid("new", 5)],
      },
      { ...returned, id: "new-2", bought: false, credits: 3, left: 3, paid: [] },
    ]);
  });

  it("those of expired lots go to the base if there are too many lots", () => {
    const others = Array.from({ length: LOTS_MAX }, (_, at) =>
      lot(`lot-${at}`, { app_slugs: ["other"] }),
    );
    const lots = [lot("one", { ...over, left: 0 }), lot("two", { ...over, left: 0 }), ...others];
    const back = putBack(withLots(...lots), [part("one", 1), part("two", 2)], clock());
    expect(back.base).toEqual({ given: 3, bought: 0 });
    expect(back.lots).toEqual(lots);
  });
});

describe("credits that come in", () => {
  const arriving = { id: "new", origin: "purchase", note: null } as const;
  const soon = { ...baseTerms(true), expires_at_ms: NOW_MS + 5 };
  const added = { ...arriving, ...soon, held: 0, line: 0, warnings: 0 };
  const unpriced = { currency: null, paid_minor: 0, paid_credits: 1 };

  it("they become a lot with what was paid for them", () => {
    const price = paid("checkout", 10);
    const { credits } = bringIn(EMPTY, arriving, soon, 10, price);
    expect(credits.lots).toEqual([{ ...added, credits: 10, left: 10, paid: [price] }]);
    expect(credits.to_base).toBeUndefined();
  });

  it("bought ones without a known price are noted as such, and given ones have no payment", () => {
    const bought = bringIn(EMPTY, arriving, soon, 10).credits.lots;
    expect(bought).toMatchObject([{ paid: [{ ...unpriced, id: "new", credits: 10 }] }]);
    const given = bringIn(EMPTY, arriving, { ...soon, bought: false }, 10).credits.lots;
    expect(given).toMatchObject([{ bought: false, paid: [] }]);
  });

  it("what pays a debt is not in the lot, and the payment stands for what is", () => {
    const owing = { ...EMPTY, base: { given: -4, bought: 0 } };
    const { credits } = bringIn(owing, arriving, soon, 10, paid("checkout", 10));
    expect(credits.lots).toEqual([{ ...added, credits: 6, left: 6, paid: [paid("checkout", 6)] }]);
    const all = bringIn(owing, arriving, soon, 4, paid("checkout", 4));
    expect(all).toEqual({
      credits: { ...EMPTY, base: { given: 0, bought: 0 } },
      lot_id: null,
      terms: soon,
    });
  });

  it("bought credits without terms go to the base with their payments, given ones without", () => {
    const first = bringIn(EMPTY, arriving, baseTerms(true), 10, paid("a", 10));
    const second = bringIn(first.credits, arriving, baseTerms(true), 5, paid("b", 5));
    expect(second.credits).toEqual({
      ...EMPTY,
      base: { given: 0, bought: 15 },
      to_base: [paid("a", 10), paid("b", 5)],
    });
    const given = bringIn(second.credits, arriving, baseTerms(false), 5).credits;
    expect(given.to_base).toEqual(second.credits.to_base);
    expect(bringIn(EMPTY, arriving, baseTerms(false), 5).credits).toEqual({
      ...EMPTY,
      base: { given: 5, bought: 0 },
    });
  });

  it("an account has at most a hundred living lots, and credits without terms need none", () => {
    const lots = Array.from({ length: LOTS_MAX }, (_, at) => lot(`lot-${at}`));
    const [first, ...others] = lots;
    expect(isLotTooMany({ ...EMPTY, lots }, soon)).toBe(true);
    expect(isLotTooMany({ ...EMPTY, lots }, baseTerms(true))).toBe(false);
    const ended = { ...(first as Lot), left: 0 };
    expect(isLotTooMany({ ...EMPTY, lots: [ended, ...others] }, soon)).toBe(false);
  });

  it("one lot too many joins only a living lot of the same apps that expires no earlier", () => {
    const others = Array.from({ length: LOTS_MAX - 2 }, (_, at) => lot(`lot-${at}`));
    const bought = { ...soon, paid: [] };
    const lots = [
      ...others,
      lot("ended", { ...bought, left: 0 }),
      lot("own", { ...bought, app_slugs: ["one"] }),
      lot("same", bought),
    ];
    const joined = bringIn(withLots(...lots), arriving, soon, 7, paid("checkout", 7));
    expect(joined).toMatchObject({ lot_id: "same", terms: soon });
    expect(joined.credits.lots.at(-1)).toEqual({
      ...lot("same", bought),
      credits: 17,
      left: 17,
      paid: [paid("checkout", 7)],
    });
  });

  it("taking a purchase back takes from its lot, then from the bought base, then below zero", () => {
    const credits: Credits = {
      base: { given: 1, bought: 10 },
      held_bought: 0,
      lots: [lot("own", { bought: true, left: 4 }), lot("other", { bought: true })],
    };
    expect(takeBack(credits, { id: "own", lot_id: "own" }, 6)).toMatchObject({
      credits: { base: { given: 1, bought: 8 }, lots: [{ left: 0 }, { left: 10 }] },
      of_home: 6,
    });
    expect(takeBack(credits, { id: "base", lot_id: null }, 12)).toMatchObject({
      credits: { base: { given: -1, bought: 0 }, lots: [{ left: 4 }, { left: 10 }] },
      of_home: 12,
    });
  });

  it("a refund takes from the lot first that expires first, also if its purchase came to another one", () => {
    const bought = { bought: true, left: 5, paid: [paid("it", 5)] };
    const early = lot("early", { ...bought, origin: "returned", expires_at_ms: NOW_MS + 1 });
    const home = lot("home", { ...bought, expires_at_ms: NOW_MS + 9 });
    for (const lots of [
      [early, home],
      [home, early],
    ]) {
      const { credits, of_home } = takeBack(withLots(...lots), { id: "it", lot_id: "home" }, 4);
      const leftIn = (id: string) => credits.lots.find((it) => it.id === id)?.left;
      expect([leftIn("home"), leftIn("early"), of_home]).toEqual([5, 1, 0]);
    }
  });

  it("a refund leaves what other payments brought to its lot, also while jobs hold some", () => {
    const home = { bought: true, left: 4, held: 3, paid: [paid("it", 2), paid("joined", 5)] };
    const back = takeBack(withLots(lot("home", home)), { id: "it", lot_id: "home" }, 6);
    expect(back).toMatchObject({
      credits: {
        base: { given: -4, bought: 0 },
        lots: [{ left: 2, held: 3, paid: [{ credits: -4 }, { credits: 5 }] }],
      },
      of_home: 6,
    });
  });
});

describe("credits of a purchase that come back", () => {
  const giveBack = (credits: Credits, { id, lot_id }: typeof it_at_home, amount: number) =>
    putBack(resizePaid(credits, lot_id, id, amount), [part(lot_id, amount, true)], clock());
  const it_at_home = { id: "it", lot_id: "home" };
  const home = lot("home", { bought: true, left: 5, paid: [paid("it", 10), paid("joined", 1)] });
  const before: Credits = { ...withLots(home), base: { given: 3, bought: 2 } };

  it("the base gets what it paid for them, in its parts, and the lot gets the rest", () => {
    const { credits } = takeBack(before, it_at_home, 9);
    expect(credits.base).toEqual({ given: 0, bought: 0 });
    expect(giveBack(credits, it_at_home, 9)).toMatchObject(before);
  });

  it("what the base lacked comes back as bought credits, and pays what it still owes", () => {
    const { credits } = takeBack(before, it_at_home, 12);
    expect(credits.base).toEqual({ given: -3, bought: 0 });
    expect(giveBack(credits, it_at_home, 12)).toMatchObject(before);
    const paid_off = { ...credits, base: { given: 0, bought: 6 } };
    const back = giveBack(paid_off, it_at_home, 12);
    expect(back.base).toEqual({ given: 3, bought: 11 });
  });

  it("two refunds that come back one after the other give the base no more than it paid", () => {
    const twice = takeBack(takeBack(before, it_at_home, 6).credits, it_at_home, 4).credits;
    expect(twice.base).toEqual({ given: -1, bought: 0 });
    const one = giveBack(twice, it_at_home, 5);
    expect(one.base).toEqual({ given: 2, bought: 2 });
    expect(giveBack(one, it_at_home, 5)).toMatchObject(before);
  });

  it("what a job gives back goes to the base first, as much as it paid, and the rest to the lot", () => {
    const { credits } = takeBack(before, it_at_home, 6);
    expect(credits.base).toEqual({ given: 3, bought: 0 });
    const back = putBack(credits, [part("home", 3, true)], clock());
    expect(back).toMatchObject({ base: { given: 3, bought: 2 }, lots: [{ left: 2 }] });
  });

  it.each([
    { given: 1, bought: 0 },
    { given: 0, bought: 1 },
  ])("a single credit of the base, %o, comes back", (base) => {
    const spent = lot("home", { bought: true, left: 0, paid: [paid("other", 1), paid("it", 9)] });
    const { credits } = takeBack({ ...withLots(spent), base }, it_at_home, 1);
    expect(credits.base).toEqual({ given: 0, bought: 0 });
    expect(putBack(credits, [part("home", 1, true)], clock()).base).toEqual(base);
  });

  it("what a base of nothing owed comes back as bought credits", () => {
    const { credits } = takeBack({ ...before, base: { given: 0, bought: 0 } }, it_at_home, 8);
    expect(credits.base).toEqual({ given: -4, bought: 0 });
    const paid_off = { ...credits, base: { given: 0, bought: 0 } };
    const back = putBack(paid_off, [part("home", 4, true)], clock());
    expect(back.base).toEqual({ given: 0, bought: 4 });
  });

  it("after the base got what it paid, everything else comes back to the lot", () => {
    const back = giveBack(takeBack(before, it_at_home, 9).credits, it_at_home, 9);
    const more = putBack(back, [part("home", 2, true)], clock());
    expect(more).toMatchObject({ base: before.base, lots: [{ left: 7 }] });
  });

  it("what the base paid is noted for each payment by itself", () => {
    const spent = { ...before, lots: [{ ...home, left: 0 }] };
    const one = takeBack(spent, it_at_home, 5).credits;
    const both = takeBack(one, { id: "joined", lot_id: "home" }, 1).credits;
    expect(both.base).toEqual({ given: -1, bought: 0 });
    const { base } = putBack(both, [part("home", 6, true)], clock());
    expect(base.given + base.bought).toBe(4);
  });

  it("what comes back after its time does not repeat what the base paid", () => {
    const { credits } = takeBack(before, it_at_home, 7);
    const expired = { ...credits, lots: credits.lots.map((it) => ({ ...it, expires_at_ms: 1 })) };
    const back = putBack(expired, [part("home", 5, true)], clock());
    expect(back).toMatchObject({ base: { given: 3, bought: 2 }, lots: [{}, { left: 2 }] });
    expect(back.lots[1]?.paid.some((one) => "from_base" in one)).toBe(false);
    expect(putBack(back, [part("new-1", 1, true)], clock()).base).toEqual(back.base);
  });
});

describe("the end of a plan's period", () => {
  const next = { id: "next", keeps_max: 4, expires_at_ms: NOW_MS + 9 };
  const ended = { lot_id: "period", rollover_lot_id: "earlier" };
  const period = lot("period", { app_slugs: ["one"], note: "Studio", held: 2 });
  const other = lot("other", { left: 50 });

  it("at most what the plan allows goes on, and the rest is gone with what had rolled over before", () => {
    const earlier = lot("earlier", { left: 3 });
    const over = rollOver(withLots(period, earlier, other), ended, next);
    expect(over).toMatchObject({ kept: 4, gone: 9, gone_lot_id: "period", lot_id: "next" });
    expect(over.credits.lots).toEqual([
      { ...period, left: 0 },
      { ...earlier, left: 0 },
      other,
      {
        ...lot("next", { app_slugs: ["one"], note: "Studio", line: 0 }),
        origin: "rollover",
        credits: 4,
        left: 4,
        expires_at_ms: NOW_MS + 9,
      },
    ]);
  });

  it("if all of it goes on, what had rolled over before is gone", () => {
    const earlier = lot("earlier", { left: 3 });
    const little = { ...period, left: 2 };
    const over = rollOver(withLots(little, earlier, other), ended, next);
    expect(over).toMatchObject({ kept: 2, gone: 3, gone_lot_id: "earlier", lot_id: "next" });
  });

  it("if the plan keeps nothing, no lot is made", () => {
    const over = rollOver(withLots(period, other), ended, { ...next, keeps_max: 0 });
    const lots = [{ ...period, left: 0 }, other];
    expect(over).toEqual({
      credits: withLots(...lots),
      kept: 0,
      gone: 10,
      gone_lot_id: "period",
      lot_id: null,
    });
  });

  it("if all of it goes on and nothing had rolled over, nothing is gone", () => {
    const earlier = lot("earlier", { left: 0 });
    const over = rollOver(withLots({ ...period, left: 4 }, earlier, other), ended, next);
    expect(over).toMatchObject({ kept: 4, gone: 0, gone_lot_id: null, lot_id: "next" });
  });

  it("one credit is enough to go on, and to be gone", () => {
    const little = withLots({ ...period, left: 1 }, other);
    expect(rollOver(little, ended, next)).toMatchObject({ kept: 1, lot_id: "next" });
    const over = rollOver(withLots({ ...period, left: 5 }, lot("earlier")), ended, next);
    expect(over).toMatchObject({ kept: 4, gone: 11, gone_lot_id: "period" });
  });

  it("if nothing is left, nothing goes on, and nothing is gone", () => {
    const credits = withLots({ ...period, left: 0 }, other);
    const none = { kept: 0, gone: 0, gone_lot_id: null, lot_id: null };
    expect(rollOver(credits, ended, next)).toEqual({ credits, ...none });
    const first = { lot_id: null, rollover_lot_id: null };
    expect(rollOver(credits, first, next)).toEqual({ credits, ...none });
  });
});
