import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { whyCapExceeded } from "../../../src/domain/allowance.ts";
import {
  afterRefusal,
  afterReturn,
  afterTaking,
  approvedNow,
  CAP_PERIODS,
  changedCaps,
  newCap,
  resetsAt,
  roomNow,
  spentNow,
  tightestCap,
  windowAt,
  withoutReturned,
  withTaking,
  type CapPeriod,
  type Taking,
} from "../../../src/domain/spending_cap.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** A Wednesday. */
const BEGIN_MS = Date.UTC(2026, 1, 25, 13);
const BEGIN = { at_ms: BEGIN_MS, line: 0 };

/** Jobs over some months: reserved if the cap allows, then ended with or without a cost. */
const steps = fc.array(
  fc.record({
    wait_hours: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 480 })),
    action: fc.constantFrom("reserve", "end"),
    credits: fc.integer({ min: 0, max: 60 }),
  }),
  { maxLength: 60 },
);

/** The name of the period at a time, computed with the calendar's own functions. */
function periodName(period: CapPeriod, at_ms: number): string {
  const at = new Date(at_ms);
  switch (period) {
    case "day":
      return at.toISOString().slice(0, 10);
    case "week": {
      const monday = new Date(at_ms);
      while (monday.getUTCDay() !== 1) monday.setUTCDate(monday.getUTCDate() - 1);
      return monday.toISOString().slice(0, 10);
    }
    case "month":
      return at.toISOString().slice(0, 7);
    case "total":
      return "always";
  }
}

/** A simple model: every movement with the period that it counts in. */
function spentByHistory(history: readonly { name: string; credits: number }[], name: string) {
  return history
    .filter((movement) => movement.name === name)
    .reduce((sum, { credits }) => sum + credits, 0);
}

describe("a spending cap", () => {
  it.each(CAP_PERIODS)(
    "a spending cap is never exceeded and counts all spending of its period (%s)",
    (period) => {
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 100 }), steps, (credits_max, steps) => {
          let cap = newCap({ credits: credits_max, period }, BEGIN);
          let now_ms = BEGIN_MS;
          const history: { name: string; credits: number }[] = [];
          const open: (Taking & { readonly name: string })[] = [];
          for (const { wait_hours, action, credits } of steps) {
            now_ms += wait_hours * HOUR_MS;
            const name = periodName(period, now_ms);
            if (action === "reserve" && whyCapExceeded([cap], credits, now_ms) === null) {
              cap = afterTaking(cap, credits, now_ms);
              history.push({ name, credits });
              open.push({ at_ms: now_ms, line: 1, name, credits });
            }
            const job = action === "end" ? open.shift() : undefined;
            if (job !== undefined) {
              const back = Math.min(credits, job.credits);
              cap = afterReturn(cap, [{ ...job, credits: back }], now_ms);
              history.push({ name: job.name, credits: 0 - back });
            }
            const spent = spentByHistory(history, name);
            expect(spentNow(cap, now_ms)).toBe(spent);
            expect(spent).toBeLessThanOrEqual(credits_max);
            expect(roomNow(cap, now_ms)).toBe(credits_max - spent);
          }
        }),
      );
    },
  );

  it.each([
    ["day", "2026-02-25T13:00:00.000Z", "2026-02-26T00:00:00.000Z"],
    ["day", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"],
    ["week", "2026-02-25T13:00:00.000Z", "2026-03-02T00:00:00.000Z"],
    ["week", "2026-03-01T23:59:59.999Z", "2026-03-02T00:00:00.000Z"],
    ["week", "2026-03-02T00:00:00.000Z", "2026-03-09T00:00:00.000Z"],
    ["month", "2026-02-25T13:00:00.000Z", "2026-03-01T00:00:00.000Z"],
    ["month", "2028-02-28T13:00:00.000Z", "2028-03-01T00:00:00.000Z"],
    ["month", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"],
  ] as const)(
    "a cap per %s at %s starts again at %s, and not a millisecond earlier",
    (period, at, next) => {
      const at_ms = Date.parse(at);
      const spent = afterTaking(newCap({ credits: 10, period }, BEGIN), 10, at_ms);
      const next_ms = Date.parse(next);
      expect(resetsAt(spent, at_ms)).toBe(next_ms);
      expect(roomNow(spent, next_ms - 1)).toBe(0);
      expect(roomNow(spent, next_ms)).toBe(10);
      expect(windowAt(spent, next_ms)).toBe(windowAt(spent, next_ms - 1) + 1);
    },
  );

  it("a total cap never starts again", () => {
    const spent = afterTaking(newCap({ credits: 10, period: "total" }, BEGIN), 10, BEGIN_MS);
    expect(resetsAt(spent, BEGIN_MS)).toBeNull();
    expect(roomNow(spent, BEGIN_MS + 10_000 * DAY_MS)).toBe(0);
  });

  it("a spending cap allows no more if the clock goes back", () => {
    const cap = newCap({ credits: 10, period: "day" }, { line: 0 });
    const spent = { ...cap, spent: 10, window: 3 };
    const before_ms = 3 * DAY_MS - 1;
    expect(roomNow(spent, before_ms)).toBe(0);
    expect(afterTaking(spent, 5, before_ms)).toEqual({ ...spent, spent: 15 });
    const taken = [{ at_ms: before_ms, line: 0, credits: 5 }];
    expect(afterReturn(spent, taken, before_ms)).toEqual(spent);
  });

  it("a clock that was far ahead uses up no period before its own", () => {
    const ahead_ms = BEGIN_MS + 40 * DAY_MS;
    const spent = afterTaking(newCap({ credits: 10, period: "day" }, BEGIN), 10, ahead_ms);
    expect(roomNow(spent, BEGIN_MS)).toBe(10);
    expect(resetsAt(spent, BEGIN_MS)).toBe(Date.UTC(2026, 1, 26));
    const today = afterTaking(spent, 4, BEGIN_MS);
    expect([roomNow(today, BEGIN_MS), roomNow(today, BEGIN_MS + DAY_MS)]).toEqual([6, 10]);
    const taken = [{ at_ms: ahead_ms, line: 0, credits: 10 }];
    expect(afterReturn(today, taken, BEGIN_MS)).toEqual(today);
  });
});

describe("several spending caps", () => {
  const day = newCap({ credits: 10, period: "day" }, BEGIN);
  const month = { ...newCap({ credits: 50, period: "month" }, BEGIN), spent: 45 };
  const window = windowAt(month, BEGIN_MS);

  it("credits must fit every cap, and the refusal names the cap with the least room", () => {
    const caps = [day, { ...month, window }];
    expect(whyCapExceeded(caps, 5, BEGIN_MS)).toBeNull();
    expect(whyCapExceeded(caps, 6, BEGIN_MS)).toEqual({
      code: "token_budget_exceeded",
      cap: { credits: 50, period: "month" },
      spent: 45,
      room: 5,
      required: 6,
      resets_at_ms: Date.UTC(2026, 2, 1),
    });
    expect(whyCapExceeded(caps, 11, Date.UTC(2026, 2, 1))).toMatchObject({
      cap: { period: "day" },
    });
  });

  it("of caps with the same room, the first one is named, and without caps nothing is", () => {
    const caps = [day, { ...day, period: "total" as const }];
    expect(tightestCap(caps, BEGIN_MS)).toBe(caps[0]);
    expect(tightestCap(caps.toReversed(), BEGIN_MS)).toBe(caps[1]);
    expect(tightestCap([], BEGIN_MS)).toBeNull();
  });

  it("what the holder approved beyond a cap is counted in its period, and given back in it", () => {
    const first = afterTaking(day, 30, BEGIN_MS, true);
    const second = afterTaking(afterTaking(first, 4, BEGIN_MS, true), 3, BEGIN_MS);
    expect(second).toMatchObject({ spent: 37, approved: 34 });
    expect(approvedNow(second, BEGIN_MS)).toBe(34);
    expect(approvedNow(second, BEGIN_MS + DAY_MS)).toBe(0);
    const taken = (credits: number) => [{ at_ms: BEGIN_MS, line: 0, credits }];
    const back = afterReturn(second, taken(10), BEGIN_MS, true);
    expect(back).toMatchObject({ spent: 27, approved: 24 });
    expect(afterReturn(back, taken(2), BEGIN_MS)).toMatchObject({ spent: 25, approved: 24 });
    expect(afterReturn(back, taken(26), BEGIN_MS, true)).toMatchObject({ spent: 1, approved: 0 });
  });

  it("a cap notes once in a period that it refused a request", () => {
    const refused = afterRefusal(day, BEGIN_MS);
    expect(refused).toEqual({ ...day, refused_window: windowAt(day, BEGIN_MS) });
    if (refused === null) return;
    expect(afterRefusal(refused, BEGIN_MS)).toBeNull();
    expect(afterRefusal(refused, BEGIN_MS + DAY_MS)).toMatchObject({
      refused_window: windowAt(day, BEGIN_MS) + 1,
    });
  });

  it("a changed cap keeps what its period has spent, and a new one counts from now", () => {
    const [changed, added] = changedCaps(
      [{ ...month, window }],
      [
        { credits: 46, period: "month" },
        { credits: 7, period: "total" },
      ],
      { line: 8 },
    );
    expect(changed).toEqual({ ...month, window, credits: 46 });
    const fresh = { spent: 0, approved: 0, window: 0, since_line: 8 };
    expect(added).toEqual({ credits: 7, period: "total", ...fresh });
  });

  it("a cap gets nothing back of what was taken before the cap was set, in the same millisecond too", () => {
    const cap = newCap({ credits: 10, period: "total" }, { line: 5 });
    const used = afterTaking(cap, 4, BEGIN_MS);
    const taken = (line: number) => [{ at_ms: BEGIN_MS, line, credits: 3 }];
    expect(afterReturn(used, taken(4), BEGIN_MS)).toEqual(used);
    expect(afterReturn(used, taken(5), BEGIN_MS)).toEqual({ ...used, spent: 1 });
    expect(afterReturn(cap, taken(5), BEGIN_MS)).toEqual(cap);
  });
});

describe("what a job has taken", () => {
  const at = (hours: number, credits: number): Taking => ({
    at_ms: BEGIN_MS + hours * HOUR_MS,
    line: hours,
    credits,
  });

  it("a job gives back first what it took last, and takings in the same periods are one", () => {
    const day = newCap({ credits: 10, period: "day" }, BEGIN);
    const later = newCap({ credits: 10, period: "total" }, { line: 2 });
    const one = withTaking([at(0, 5)], at(1, 3), [day]);
    expect(one).toEqual([at(0, 8)]);
    expect(withTaking(one, at(2, 3), [day, later])).toEqual([at(0, 8), at(2, 3)]);
    const two = withTaking(one, at(24, 90), [day]);
    expect(two).toEqual([at(0, 8), at(24, 90)]);
    expect(withoutReturned(two, 90)).toEqual({ left: [at(0, 8)], returned: [at(24, 90)] });
    expect(withoutReturned(two, 93)).toEqual({
      left: [at(0, 5)],
      returned: [at(24, 90), at(0, 3)],
    });
    expect(withoutReturned(two, 0)).toEqual({ left: two, returned: [] });
    expect(withoutReturned(two, 1)).toEqual({
      left: [at(0, 8), at(24, 89)],
      returned: [at(24, 1)],
    });
  });

  it("a taking joins the newest one only, and the earlier ones stay", () => {
    const day = newCap({ credits: 10, period: "day" }, BEGIN);
    const three = [at(0, 1), at(24, 2), at(48, 3)];
    expect(withTaking(three, at(49, 4), [day])).toEqual([at(0, 1), at(24, 2), at(48, 7)]);
    expect(withTaking([], at(1, 3), [])).toEqual([at(1, 3)]);
  });
});
