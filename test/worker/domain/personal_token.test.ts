import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { whyCapExceeded } from "../../../src/domain/personal_token.ts";
import {
  type CapSpending,
  type CapPeriod,
  CAP_PERIOD_MS,
  charge,
  roomNow,
  spentNow,
} from "../../../src/domain/spending_cap.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const newBudget = (credits: number, period: CapPeriod): CapSpending => ({
  cap: { credits, period },
  created_at_ms: 0,
  spent: 0,
  spent_window: 0,
});

/** Jobs over some months: reserved if the cap allows, then ended with or without a cost. */
const steps = fc.array(
  fc.record({
    wait_days: fc.integer({ min: 0, max: 20 }),
    action: fc.constantFrom("reserve", "end"),
    credits: fc.integer({ min: 0, max: 60 }),
  }),
  { maxLength: 60 },
);

/** A simple model: every movement with the period that it counts in. */
function spentByHistory(history: readonly { window: number; credits: number }[], window: number) {
  return history
    .filter((movement) => movement.window === window)
    .reduce((sum, { credits }) => sum + credits, 0);
}

describe("a spending cap", () => {
  for (const period of ["total", "30_days"] as const) {
    it(`a spending cap is never exceeded and counts all spending of its period (${period})`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 100 }), steps, (cap, steps) => {
          let budget = newBudget(cap, period);
          let now_ms = 0;
          const history: { window: number; credits: number }[] = [];
          const open: { reserved_at_ms: number; window: number; credits: number }[] = [];
          for (const { wait_days, action, credits } of steps) {
            now_ms += wait_days * DAY_MS;
            const window = period === "total" ? 0 : Math.floor(now_ms / CAP_PERIOD_MS);
            if (action === "reserve" && whyCapExceeded(budget, credits, now_ms) === null) {
              budget = { ...budget, ...charge(budget, credits, now_ms, now_ms) };
              history.push({ window, credits });
              open.push({ reserved_at_ms: now_ms, window, credits });
            }
            const job = action === "end" ? open.shift() : undefined;
            if (job !== undefined) {
              const back = Math.min(credits, job.credits);
              budget = { ...budget, ...charge(budget, 0 - back, job.reserved_at_ms, now_ms) };
              history.push({ window: job.window, credits: 0 - back });
            }
            const spent = spentByHistory(history, window);
            expect(spentNow(budget, now_ms)).toBe(spent);
            expect(spent).toBeLessThanOrEqual(cap);
            expect(roomNow(budget, now_ms)).toBe(cap - spent);
          }
        }),
      );
    });
  }

  it("a spending cap allows no more if the clock goes back", () => {
    const spent = { ...newBudget(10, "30_days"), spent: 10, spent_window: 3 };
    expect(roomNow(spent, 0)).toBe(0);
    expect(charge(spent, 5, 0, 0)).toEqual({ spent: 15, spent_window: 3 });
    expect(charge(spent, -5, 0, 0)).toEqual({ spent: 10, spent_window: 3 });
  });
});
