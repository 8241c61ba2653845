import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  newestOf,
  plus,
  readWorth,
  unpriced,
  worthJson,
  worthOf,
  type PaidCredits,
} from "../../../src/domain/liability.ts";

const NANOS = 1_000_000_000n;

const paid: fc.Arbitrary<PaidCredits> = fc.record({
  id: fc.string(),
  credits: fc.integer({ min: -5, max: 40 }),
  currency: fc.constantFrom("eur", "jpy", null),
  paid_minor: fc.integer({ min: 1, max: 99_999_999 }),
  paid_credits: fc.integer({ min: 1, max: 1_000_000 }),
});

/** The newest `credits`, each as a thing of its own. */
function creditsOf(all: readonly PaidCredits[], credits: number): readonly PaidCredits[] {
  const each = all.flatMap((one) => Array.from({ length: Math.max(0, one.credits) }, () => one));
  return each.slice(Math.max(0, each.length - credits));
}

describe("what was paid for bought credits", () => {
  it("a place's newest credits are worth what was paid for each of them, within a thousand-millionth of a unit for each payment", () => {
    fc.assert(
      fc.property(fc.array(paid, { maxLength: 6 }), fc.nat({ max: 150 }), (all, credits) => {
        const worth = worthOf(newestOf(all, credits));
        const newest = creditsOf(all, credits);
        for (const currency of ["eur", "jpy"]) {
          const own = newest.filter((one) => one.currency === currency);
          const [counted, minor, rest] = worth[currency] ?? [0, 0, 0];
          const nanos = BigInt(minor) * NANOS + BigInt(rest);
          expect(counted).toBe(own.length);
          // All over one denominator, so that the expected sum is exact.
          const divisor = all.reduce((product, it) => product * BigInt(it.paid_credits), 1n);
          const exact = own.reduce(
            (sum, it) => sum + (BigInt(it.paid_minor) * NANOS * divisor) / BigInt(it.paid_credits),
            0n,
          );
          const payments = BigInt(new Set(own).size);
          const error = nanos * divisor - exact;
          expect((error < 0n ? 0n - error : error) * 2n <= payments * divisor).toBe(true);
        }
        expect(newestOf(all, credits).reduce((sum, one) => sum + one.credits, 0)).toBe(
          newest.length,
        );
      }),
    );
  });

  it("using the oldest credits takes their worth away, and giving them back restores it", () => {
    fc.assert(
      fc.property(
        fc.array(paid, { maxLength: 6 }),
        fc.nat({ max: 150 }),
        fc.nat({ max: 150 }),
        (all, more, fewer) => {
          const before = worthOf(newestOf(all, more + fewer));
          const after = worthOf(newestOf(all, more));
          const change = plus(after, before, -1);
          expect(plus(before, change)).toEqual(after);
          expect(plus(after, change, -1)).toEqual(before);
          for (const [credits, minor, nanos] of Object.values(change)) {
            expect(credits).toBeLessThanOrEqual(0);
            expect(BigInt(minor) * NANOS + BigInt(nanos) <= 0n).toBe(true);
          }
        },
      ),
    );
  });

  it("the stored text is the same for the same worth, whatever the order of the payments", () => {
    fc.assert(
      fc.property(fc.array(paid, { maxLength: 6 }), (all) => {
        const worth = worthOf(all);
        expect(readWorth(worthJson(worth))).toEqual(worth);
        expect(worthJson(worthOf(all.toReversed()))).toBe(worthJson(worth));
        expect(worthJson(plus(worth, worth, -1))).toBeNull();
      }),
    );
  });

  it("the newest credits are listed oldest first, without payments of which none is left", () => {
    const one = (id: string, credits: number) => ({ ...unpriced(id, credits), currency: "eur" });
    const all = [one("a", 5), one("b", 5), one("gone", -2), one("c", 5)];
    expect(newestOf(all, 8)).toEqual([one("b", 3), one("c", 5)]);
    expect(newestOf(all, 10)).toEqual([one("b", 5), one("c", 5)]);
    expect(newestOf(all, 1)).toEqual([one("c", 1)]);
  });

  it("credits without a known price, and payments of which nothing is left, are worth nothing", () => {
    expect(unpriced("a", 5)).toEqual({
      id: "a",
      credits: 5,
      currency: null,
      paid_minor: 0,
      paid_credits: 1,
    });
    const paid_for = { id: "a", currency: "eur", paid_minor: 5, paid_credits: 5 };
    expect(worthOf([unpriced("a", 5), { ...paid_for, credits: 0 }])).toEqual({});
    expect(worthOf([{ ...paid_for, credits: 1, currency: null }])).toEqual({});
  });

  it("an amount beyond exact numbers of JavaScript is counted exactly", () => {
    const one = {
      id: "",
      credits: 2,
      currency: "idr",
      paid_minor: 9_007_199_254_740_991,
      paid_credits: 3,
    };
    expect(worthJson(worthOf([one]))).toBe('{"idr":[2,6004799503160660,666666667]}');
  });
});
