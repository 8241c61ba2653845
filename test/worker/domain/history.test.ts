import { describe, expect, it } from "vitest";
import { sampleBalance, sumSpending } from "../../../src/domain/history.ts";
import { monthOf, readMonth } from "../../../src/domain/calendar.ts";

describe("a sampled balance", () => {
  it("a sampled balance keeps the last balance of each step and leaves out steps without a change", () => {
    const points = [0, 1, 9, 10, 11, 55].map((at_ms) => ({ at_ms, credits: at_ms }));
    expect(sampleBalance(points, 0, 100, 10)).toEqual([
      { at_ms: 9, credits: 9 },
      { at_ms: 11, credits: 11 },
      { at_ms: 55, credits: 55 },
    ]);
    const flat = [0, 20, 40].map((at_ms) => ({ at_ms, credits: 7 }));
    expect(sampleBalance(flat, 0, 100, 10)).toEqual([{ at_ms: 0, credits: 7 }]);
  });

  it("a sampled balance starts with the balance before the period", () => {
    const points = [
      { at_ms: -500, credits: 3 },
      { at_ms: 50, credits: 4 },
    ];
    expect(sampleBalance(points, 0, 100, 10)[0]).toEqual({ at_ms: 0, credits: 3 });
  });

  it("the steps of a sampled balance are counted from the period's begin", () => {
    const points = [1_003, 1_012, 1_013].map((at_ms) => ({ at_ms, credits: at_ms }));
    expect(sampleBalance(points, 1_003, 1_103, 10)).toEqual([points[1], points[2]]);
    const early = [0, 1].map((at_ms) => ({ at_ms, credits: at_ms }));
    expect(sampleBalance(early, 0, 2, 2)).toEqual(early);
  });

  it("a sampled balance never has more steps than requested", () => {
    const points = Array.from({ length: 5_000 }, (_, at) => ({ at_ms: at, credits: at % 7 }));
    expect(sampleBalance(points, 0, 5_000, 120).length).toBeLessThanOrEqual(121);
    expect(sampleBalance([], 0, 100, 10)).toEqual([]);
    expect(sampleBalance([{ at_ms: 5, credits: 1 }], 5, 5, 10)).toHaveLength(1);
    const at_once = [1, 2].map((credits) => ({ at_ms: 5, credits }));
    expect(sampleBalance(at_once, 5, 5, 10)).toEqual([at_once[1]]);
  });
});

describe("spending by app", () => {
  it("spending by app sums job costs, highest first, and leaves out apps that cost nothing", () => {
    const jobs = [
      { app_slug: "a", actual_cost: 1 },
      { app_slug: "b", actual_cost: 5 },
      { app_slug: "a", actual_cost: 2 },
      { app_slug: "c", actual_cost: 0 },
      { app_slug: "d", actual_cost: 1 },
      { app_slug: null, actual_cost: 4 },
    ];
    expect(sumSpending(jobs)).toEqual([
      { app_slug: "b", credits: 5, jobs: 1 },
      { app_slug: null, credits: 4, jobs: 1 },
      { app_slug: "a", credits: 3, jobs: 2 },
      { app_slug: "d", credits: 1, jobs: 1 },
    ]);
  });
});

describe("a month", () => {
  it("a month excludes its end and works across the end of a year", () => {
    expect(readMonth("2026-12")).toEqual({
      name: "2026-12",
      from_ms: Date.UTC(2026, 11, 1),
      to_ms: Date.UTC(2027, 0, 1),
    });
    expect(monthOf(Date.UTC(2028, 1, 29, 23, 59)).name).toBe("2028-02");
  });

  it.each(["", "2026", "2026-13", "2026-00", "1999-01", "2026-1", "2026-01-01", "x"])(
    "%j is not a month",
    (text) => expect(readMonth(text)).toBeNull(),
  );
});
