import { describe, expect, it } from "vitest";
import {
  CHARGE_MISSING_AFTER_MS,
  continuedAt,
  mayAskAgain,
  offAfter,
  packagesToBuy,
  type TopUpPlan,
} from "../../../src/domain/top_up.ts";

const PLAN: TopUpPlan = {
  package_id: "small",
  package_name: "Small",
  credits: 100,
  price: "price_1",
  unit_minor: 500,
  currency: "eur",
  threshold: 1_000,
  month_limit_minor: 5_000,
};
const MINUTE_MS = 60_000;

describe("automatic top-up", () => {
  it.each([
    [1_000, 0, 0],
    [1_001, 0, 0],
    [999, 0, 1],
    [900, 0, 1],
    [899, 0, 2],
    [0, 0, 10],
    [-1, 0, 10],
    [0, 2_501, 4],
    [0, 2_500, 5],
    [0, 4_501, 0],
    [0, 9_000, 0],
  ])(
    "with %i credits, and %i of the month's limit spent, a charge buys %i packages",
    (credits, month_spent_minor, packages) => {
      expect(packagesToBuy(PLAN, { credits, month_spent_minor })).toBe(packages);
    },
  );

  it("one charge buys at most a hundred packages", () => {
    const large = { ...PLAN, threshold: 1_000_000, month_limit_minor: 99_999_999 };
    expect(packagesToBuy(large, { credits: 0, month_spent_minor: 0 })).toBe(100);
  });

  it("nothing more is bought when the month's limit is spent, however cheap a package is", () => {
    const cheap = { ...PLAN, unit_minor: 1 };
    expect(packagesToBuy(cheap, { credits: 0, month_spent_minor: 5_000 })).toBe(0);
    expect(packagesToBuy(cheap, { credits: 0, month_spent_minor: 6_000 })).toBe(0);
    expect(packagesToBuy(cheap, { credits: 0, month_spent_minor: 4_999 })).toBe(1);
  });

  it("a bank that requires the person ends it at once, and other failures do after the third in a row", () => {
    expect(offAfter("authentication_required", 1)).toBe("authentication_required");
    expect(offAfter("declined", 2)).toBeNull();
    expect(offAfter("declined", 3)).toBe("declined");
    expect(offAfter("refused", 4)).toBe("refused");
  });

  it.each([
    [1, 1],
    [2, 5],
    [3, 15],
    [4, 30],
    [9, 30],
  ])(
    "a charge that was requested %i times goes on %i minutes after its first request",
    (asked, minutes) => {
      expect(continuedAt(asked, 0, 0)).toBe(minutes * MINUTE_MS);
    },
  );

  it("a charge does not go on at once, however late it is", () => {
    const now_ms = 100 * MINUTE_MS;
    expect(continuedAt(3, 0, now_ms)).toBe(now_ms + MINUTE_MS);
    expect(continuedAt(4, 0, now_ms)).toBe(now_ms + CHARGE_MISSING_AFTER_MS);
    expect(CHARGE_MISSING_AFTER_MS).toBe(10 * MINUTE_MS);
  });

  it("a charge is requested four times at most, within half an hour, and then only looked up", () => {
    expect(mayAskAgain(3, 0, 30 * MINUTE_MS - 1)).toBe(true);
    expect(mayAskAgain(4, 0, 1)).toBe(false);
    expect(mayAskAgain(1, 0, 30 * MINUTE_MS)).toBe(false);
    expect(mayAskAgain(1, 10, 30 * MINUTE_MS)).toBe(true);
  });
});
