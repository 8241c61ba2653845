import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import {
  joinPlan,
  nextCredits,
  PERIODS,
  periodAt,
  readRule,
  ruleText,
  runningPlanOf,
  turnAt,
  turnOf,
  wakesAt,
  withRules,
  type PlanRules,
} from "../../../src/domain/plans.ts";

const at = (text: string): number => Date.parse(text);
const day = (at_ms: number): string => new Date(at_ms).toISOString();

const anchor = fc.integer({ min: at("2000-01-01T00:00:00Z"), max: at("2060-01-01T00:00:00Z") });
const every = fc.constantFrom(...PERIODS);
const count = fc.integer({ min: 0, max: 2_000 });

const MONTHLY = { credits: 100, every: "month", rollover_max: 40, app_slugs: null } as const;
const rules = (version: number, ...recurring: PlanRules["recurring"]): PlanRules => ({
  version,
  name: "Studio",
  recurring,
});

const JOINED_MS = at("2026-01-10T12:00:00Z");
function joined(plan_rules = rules(1, MONTHLY), anchor_ms = JOINED_MS) {
  const joining = { plan: "studio", rules: plan_rules, anchor_ms };
  const plan = joinPlan({ plan: "free", running: null }, joining, JOINED_MS);
  if (plan === null) throw new Error("the plan has rules");
  return plan;
}

/** The plan after all turns that are due. */
function turned(plan: ReturnType<typeof joined>, now_ms: number) {
  const made = plan.rules.map((rule) =>
    rule.until_ms <= now_ms ? { ...turnOf(rule, now_ms).rule, lot_id: "lot" } : rule,
  );
  return { ...plan, rules: made };
}

describe("periods of a plan", () => {
  it("a month that lacks the anchor's day ends on its last day, and later months have the day again", () => {
    const turns = [0, 1, 2, 3, 13].map((n) => day(turnAt(at("2027-01-31T08:30:00Z"), "month", n)));
    expect(turns).toEqual([
      "2027-01-31T08:30:00.000Z",
      "2027-02-28T08:30:00.000Z",
      "2027-03-31T08:30:00.000Z",
      "2027-04-30T08:30:00.000Z",
      // 2028 is a leap year.
      "2028-02-29T08:30:00.000Z",
    ]);
  });

  it("periods follow each other without gap or overlap, whatever the anchor", () => {
    fc.assert(
      fc.property(anchor, every, count, (anchor_ms, period, n) => {
        const from_ms = turnAt(anchor_ms, period, n);
        const to_ms = turnAt(anchor_ms, period, n + 1);
        expect(to_ms).toBeGreaterThan(from_ms);
        expect(periodAt(anchor_ms, period, from_ms)).toEqual({ from_ms, to_ms });
        expect(periodAt(anchor_ms, period, to_ms - 1)).toEqual({ from_ms, to_ms });
        expect(periodAt(anchor_ms, period, to_ms).from_ms).toBe(to_ms);
      }),
    );
  });

  it("a month has 28 to 31 days, begins on the anchor's day or the month's last, at the anchor's time of day", () => {
    fc.assert(
      fc.property(anchor, count, (anchor_ms, n) => {
        const [from, to] = [turnAt(anchor_ms, "month", n), turnAt(anchor_ms, "month", n + 1)];
        expect((to - from) / DAY_MS).toBeGreaterThanOrEqual(28);
        expect((to - from) / DAY_MS).toBeLessThanOrEqual(31);
        expect(from % DAY_MS).toBe(anchor_ms % DAY_MS);
        const wanted = new Date(anchor_ms).getUTCDate();
        const is_last = new Date(from + DAY_MS).getUTCDate() === 1;
        const begins = new Date(from).getUTCDate();
        expect(begins === wanted || (is_last && begins < wanted)).toBe(true);
      }),
    );
  });

  it("a time before the anchor is in the first period", () => {
    fc.assert(
      fc.property(anchor, every, count, (anchor_ms, period, earlier) => {
        const { from_ms } = periodAt(anchor_ms, period, anchor_ms - earlier);
        expect(from_ms).toBe(anchor_ms);
      }),
    );
  });
});

describe("turns of a plan", () => {
  it("a plan brings the credits of the period that runs at once, counted from the anchor", () => {
    const [rule] = joined(rules(1, MONTHLY), at("2025-12-31T00:00:00Z")).rules;
    if (rule === undefined) throw new Error("the plan has a rule");
    const turn = turnOf(rule, JOINED_MS);
    expect(day(turn.rule.from_ms)).toBe("2025-12-31T00:00:00.000Z");
    expect(day(turn.rule.until_ms)).toBe("2026-01-31T00:00:00.000Z");
    expect(turn.slept).toBe(0);
  });

  it("one late step ends in the same period as turns in time, and brings what would have been kept", () => {
    fc.assert(
      fc.property(anchor, every, fc.integer({ min: 1, max: 60 }), (anchor_ms, period, n) => {
        const [rule] = joined(rules(1, { ...MONTHLY, every: period }), anchor_ms).rules;
        if (rule === undefined) throw new Error("the plan has a rule");
        const first = turnOf(rule, turnAt(anchor_ms, period, 1)).rule;
        const last_ms = first.until_ms + (turnAt(anchor_ms, period, n + 2) - first.until_ms) - 1;
        let in_time = first;
        while (in_time.until_ms <= last_ms) in_time = turnOf(in_time, in_time.until_ms).rule;
        if (first.until_ms > last_ms) return;
        const late = turnOf(first, last_ms);
        expect(late.rule).toEqual(in_time);
        const missed = late.rule.from_ms > first.until_ms;
        expect(late).toMatchObject(
          missed ? { keeps_max: 0, slept: 40 } : { keeps_max: 40, slept: 0 },
        );
      }),
    );
  });

  it("changed rules leave the period that runs, and count from its end", () => {
    const plan = turned(joined(), JOINED_MS);
    const weekly = { ...MONTHLY, credits: 30, every: "week" } as const;
    const changed = withRules(plan, rules(2, weekly, MONTHLY), JOINED_MS + DAY_MS);
    const turn_ms = at("2026-02-10T12:00:00Z");
    expect(changed.rules.map(({ until_ms }) => until_ms)).toEqual([turn_ms, turn_ms]);
    const [first] = turned(changed, turn_ms).rules;
    expect(first).toMatchObject({ credits: 30, from_ms: turn_ms, until_ms: turn_ms + 7 * DAY_MS });
    expect(withRules(plan, rules(3), JOINED_MS).rules).toEqual([]);
  });

  it("an account that leaves a plan and returns within the period goes on with it, whatever the anchor", () => {
    const plan = turned(joined(), JOINED_MS);
    const left_ms = JOINED_MS + DAY_MS;
    const free = joinPlan(
      { plan: "studio", running: plan },
      { plan: "free", rules: null, anchor_ms: left_ms },
      left_ms,
    );
    expect(free).toMatchObject({ version: 0, rules: [] });
    const join = (now_ms: number) =>
      joinPlan(
        { plan: "free", running: free },
        { plan: "studio", rules: rules(1, MONTHLY), anchor_ms: now_ms },
        now_ms,
      );
    expect(join(left_ms + DAY_MS)).toEqual({ ...plan, left: [] });
    const later_ms = JOINED_MS + 40 * DAY_MS;
    expect(join(later_ms)?.rules).toMatchObject([{ anchor_ms: later_ms, lot_id: null }]);
  });

  it("an account that returns at the end of the period begins a new one, and nothing is remembered", () => {
    const plan = turned(joined(), JOINED_MS);
    const [rule] = plan.rules;
    const end_ms = rule?.until_ms ?? 0;
    const leave = (now_ms: number) =>
      joinPlan(
        { plan: "studio", running: plan },
        { plan: "free", rules: null, anchor_ms: now_ms },
        now_ms,
      );
    expect(leave(end_ms)).toBeNull();
    expect(leave(end_ms - 1)).toEqual({
      version: 0,
      name: null,
      anchor_ms: end_ms - 1,
      rules: [],
      left: [{ plan: "studio", anchor_ms: plan.anchor_ms, rules: plan.rules }],
    });
  });

  it("an account that returns begins only those rules again whose period is over", () => {
    const daily = { ...MONTHLY, credits: 5, every: "day" } as const;
    const plan = turned(joined(rules(1, MONTHLY, daily)), JOINED_MS);
    const [monthly_rule, daily_rule] = plan.rules;
    const back_ms = daily_rule?.until_ms ?? 0;
    const back = joinPlan(
      { plan: "free", running: { ...plan, rules: [], left: [{ ...plan, plan: "studio" }] } },
      { plan: "studio", rules: rules(1, MONTHLY, daily), anchor_ms: back_ms },
      back_ms,
    );
    expect(back?.rules).toEqual([
      monthly_rule,
      { ...daily_rule, from_ms: back_ms, until_ms: back_ms, lot_id: null },
    ]);
  });

  it("an account that sleeps wakes in the last hours of the month in which its period ends, at its own time", () => {
    const [rule] = turned(joined(), JOINED_MS).rules;
    if (rule === undefined) throw new Error("the plan has a rule");
    const month_ms = at("2026-03-01T00:00:00Z");
    const wakes = (id: string, until_ms = rule.until_ms) =>
      month_ms - wakesAt({ ...rule, until_ms }, `${id}-0000-4000-8000-000000000000`);
    const MINUTE_MS = 60_000;
    expect(wakes("00000000")).toBe(10 * MINUTE_MS);
    expect(wakes("80000000")).toBe((10 + 180) * MINUTE_MS);
    expect(wakes("40000000")).toBe((10 + 90) * MINUTE_MS);
    expect(wakes("08000000")).toBe((10 + 11.25) * MINUTE_MS);
    // A period that ends in these hours is not ended before.
    expect(wakes("80000000", month_ms - MINUTE_MS)).toBe(MINUTE_MS);
  });

  it.each([
    ["1000/month", { ...MONTHLY, credits: 1000, rollover_max: 0 }],
    ["1000/week:200", { ...MONTHLY, credits: 1000, every: "week", rollover_max: 200 }],
    ["5/day:0:one+two", { credits: 5, every: "day", rollover_max: 0, app_slugs: ["one", "two"] }],
    ["5/day:3:one", { credits: 5, every: "day", rollover_max: 3, app_slugs: ["one"] }],
  ] as const)("the rule %s is read and written alike", (text, rule) => {
    expect(readRule(text)).toEqual(rule);
    expect(ruleText(rule)).toBe(text);
  });

  it.each([
    "",
    "5",
    "5/year",
    "x/day",
    "5/day:",
    "5/day:1:",
    "5/day:1:a:b",
    "1234567890123456/day",
  ])("%j is not a rule", (text) => expect(readRule(text)).toBeNull());

  it("an account's copy of its plan is read as it was stored, and an account without a plan has none", () => {
    const plan = joined();
    expect(runningPlanOf(JSON.stringify(plan))).toEqual(plan);
    expect(runningPlanOf(null)).toBeNull();
  });

  it("the next credits are those of the rules that turn first, together", () => {
    const daily = { ...MONTHLY, credits: 5, every: "day" } as const;
    const plan = turned(joined(rules(1, MONTHLY, daily, daily)), JOINED_MS);
    expect(nextCredits(plan.rules)).toEqual({ credits: 10, at_ms: JOINED_MS + DAY_MS });
    expect(nextCredits([])).toBeNull();
  });
});
