/**
 * Plans with monthly, weekly or daily credits. An account has a copy of its plan's rules, with the period that runs for each.
 * Pure; docs/credits.md explains it to people.
 */
import { DAY_MS, monthOf } from "./calendar.ts";

export const PERIODS = ["day", "week", "month"] as const;
export type Period = (typeof PERIODS)[number];

/** Rules of one plan. */
export const PLAN_RULES_MAX = 4;

/** Plans of the service. */
export const PLANS_MAX = 100;

/** The plan of a new account. Nobody can give it credits, because no account has ever received its rules. */
export const FIRST_PLAN = "free";

/** Credits that come again with each period, and expire with it. */
export interface PlanRule {
  readonly credits: number;
  readonly every: Period;
  /** The most that is left of a period's credits for one more period. */
  readonly rollover_max: number;
  /** The only apps that may use the credits; null: all apps. */
  readonly app_slugs: readonly string[] | null;
}

/** A rule of an account. */
export interface RunningRule extends PlanRule {
  /** Where its periods are counted from. */
  readonly anchor_ms: number;
  /** The period whose credits came last; they expire at `until_ms`, and the next ones come then. */
  readonly from_ms: number;
  readonly until_ms: number;
  /** The lots of that period; null: its credits have not come, so that nothing is left of an earlier one. */
  readonly lot_id: string | null;
  readonly rollover_lot_id: string | null;
}

/** The part of a plan that an account copies. `version`: of the plan's record, from 1. */
export interface PlanRules {
  readonly version: number;
  readonly name: string;
  readonly recurring: readonly PlanRule[];
}

/** An account's copy. */
export interface RunningPlan {
  /** 0: the plan has no rules. */
  readonly version: number;
  /** The plan's name; null: nobody saved the plan. */
  readonly name: string | null;
  readonly anchor_ms: number;
  readonly rules: readonly RunningRule[];
  /** Plans that the account left within a period that still runs. An account that comes back goes on with that period. */
  readonly left: readonly LeftPlan[];
}

interface LeftPlan extends Pick<RunningPlan, "anchor_ms" | "rules"> {
  readonly plan: string;
}

/** Part of the time, with the excluded end. */
interface TimeRange {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** When period number `count` after the anchor begins. A month ends on its last day if it does not have the anchor's day. */
export function turnAt(anchor_ms: number, every: Period, count: number): number {
  if (every !== "month") return anchor_ms + count * (every === "day" ? DAY_MS : 7 * DAY_MS);
  const anchor = new Date(anchor_ms);
  const year = anchor.getUTCFullYear();
  const month = anchor.getUTCMonth() + count;
  const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(anchor.getUTCDate(), days);
  const time_of_day_ms = anchor_ms - Date.UTC(year, anchor.getUTCMonth(), anchor.getUTCDate());
  return Date.UTC(year, month, day) + time_of_day_ms;
}

/** The period that a time is in. Before the anchor, this is the first period. */
export function periodAt(anchor_ms: number, every: Period, at_ms: number): TimeRange {
  const count = Math.max(0, countAt(anchor_ms, every, at_ms));
  return {
    from_ms: turnAt(anchor_ms, every, count),
    to_ms: turnAt(anchor_ms, every, count + 1),
  };
}

function countAt(anchor_ms: number, every: Period, at_ms: number): number {
  if (every !== "month") {
    return Math.floor((at_ms - anchor_ms) / (every === "day" ? DAY_MS : 7 * DAY_MS));
  }
  const anchor = new Date(anchor_ms);
  const at = new Date(at_ms);
  const months =
    (at.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + at.getUTCMonth() - anchor.getUTCMonth();
  return turnAt(anchor_ms, every, months) <= at_ms ? months : months - 1;
}

/** A rule whose first credits are due now: those of the period that runs. */
function begin(rule: PlanRule, anchor_ms: number, now_ms: number): RunningRule {
  const { from_ms } = periodAt(anchor_ms, rule.every, now_ms);
  const no_lots = { lot_id: null, rollover_lot_id: null };
  return { ...rule, anchor_ms, from_ms, until_ms: from_ms, ...no_lots };
}

/** A new rule of a plan that the account has: its first credits come with the next period. */
function beginNext(rule: PlanRule, anchor_ms: number, now_ms: number): RunningRule {
  const { from_ms, to_ms: until_ms } = periodAt(anchor_ms, rule.every, now_ms);
  return { ...begin(rule, anchor_ms, now_ms), from_ms, until_ms };
}

/** The rules after a change of the plan. The period that runs stays as it is, and another length counts from its end. */
export function withRules(
  running: RunningPlan,
  { version, name, recurring }: PlanRules,
  now_ms: number,
): RunningPlan {
  const rules = recurring.map((rule, position) => {
    const known = running.rules[position];
    if (known === undefined) return beginNext(rule, running.anchor_ms, now_ms);
    const anchor_ms = known.every === rule.every ? known.anchor_ms : known.until_ms;
    return { ...known, ...rule, anchor_ms };
  });
  return { ...running, version, name, rules };
}

/** What an account leaves. */
interface Leaving {
  readonly plan: string;
  readonly running: RunningPlan | null;
}

interface Joining {
  readonly plan: string;
  /** Null: nobody saved this plan, so that it is only a name. */
  readonly rules: PlanRules | null;
  readonly anchor_ms: number;
}

/**
 * The copy of an account that gets another plan. If it left the plan within a period that still runs, it goes on with that
 * period, whatever the anchor, and gets no second credits for it. Null: there is nothing to remember.
 */
export function joinPlan(leaving: Leaving, joining: Joining, now_ms: number): RunningPlan | null {
  const { plan, rules, anchor_ms } = joining;
  const { running } = leaving;
  const all_left = [
    ...(running?.left ?? []),
    ...(running === null ? [] : [{ ...running, plan: leaving.plan }]),
  ].map((it) => ({ plan: it.plan, anchor_ms: it.anchor_ms, rules: it.rules }));
  const left = all_left.filter((it) => it.rules.some(({ until_ms }) => until_ms > now_ms));
  const own = left.find((it) => it.plan === plan);
  const others = left.filter((it) => it !== own);
  if (rules === null) {
    return left.length === 0 ? null : { version: 0, name: null, anchor_ms, rules: [], left };
  }
  if (own === undefined) {
    const begun = rules.recurring.map((rule) => begin(rule, anchor_ms, now_ms));
    const { version, name } = rules;
    return { version, name, anchor_ms, rules: begun, left: others };
  }
  const back = own.rules.map((rule) =>
    rule.until_ms > now_ms ? rule : begin(rule, rule.anchor_ms, now_ms),
  );
  const returned = { version: 0, name: null, anchor_ms: own.anchor_ms, rules: back, left: others };
  return withRules(returned, rules, now_ms);
}

/** The credits that a turn brings, when it is made in time or later. */
export interface Turn {
  /** The rule in the period that runs now. Its lots are still to be named. */
  readonly rule: RunningRule;
  /** The most that is left of the credits of the period before, and goes on into this one. */
  readonly keeps_max: number;
  /**
   * Credits of the last period that the account slept through, which would have been left and gone on. Nobody could have
   * used them, so what an account has does not depend on when it wakes.
   */
  readonly slept: number;
}

/** The turn of a rule whose time is over. Later turns that are over too are made in the same step. */
export function turnOf(rule: RunningRule, now_ms: number): Turn {
  const { from_ms, to_ms: until_ms } = periodAt(rule.anchor_ms, rule.every, now_ms);
  const is_in_time = from_ms <= rule.until_ms;
  const keeps = Math.min(rule.credits, rule.rollover_max);
  return {
    rule: { ...rule, from_ms, until_ms },
    keeps_max: is_in_time ? rule.rollover_max : 0,
    slept: is_in_time ? 0 : keeps,
  };
}

/** Sleeping accounts wake in the last hours of a month, not all at once, and early enough to be done before it ends. */
const WAKING_MS = 6 * 60 * 60 * 1000;
const WAKING_MARGIN_MS = 10 * 60 * 1000;

/**
 * When an account that sleeps makes its next turn although nobody calls it: before the month ends in which the period's credits
 * expire, so that what the service owes at the end of the month does not contain them. `account_id`: a random UUID.
 */
export function wakesAt({ until_ms }: RunningRule, account_id: string): number {
  const share = Number.parseInt(account_id.slice(0, 8), 16) / 2 ** 32;
  const { to_ms } = monthOf(until_ms);
  return Math.max(until_ms, to_ms - WAKING_MARGIN_MS - Math.floor(share * WAKING_MS));
}

/** A rule in one word, such as `1000/month:200`: credits/period, then what it keeps, then its apps with `+` between them. */
export function ruleText({ credits, every, rollover_max, app_slugs }: PlanRule): string {
  const apps = app_slugs === null ? "" : `:${app_slugs.join("+")}`;
  const kept = rollover_max === 0 && apps === "" ? "" : `:${rollover_max}`;
  return `${credits}/${every}${kept}${apps}`;
}

/** Reads {@link ruleText}; null for any other text. */
export function readRule(text: string): PlanRule | null {
  const [, credits = "", every = "", kept = "0", apps] =
    /^(\d{1,15})\/(day|week|month)(?::(\d{1,15})(?::([^:]+))?)?$/.exec(text) ?? [];
  if (credits === "") return null;
  return {
    credits: Number(credits),
    every: every as Period,
    rollover_max: Number(kept),
    app_slugs: apps === undefined ? null : apps.split("+"),
  };
}

/** The copy that an account stores as JSON; null: it has none. */
export function runningPlanOf(plan_json: string | null): RunningPlan | null {
  return plan_json === null ? null : (JSON.parse(plan_json) as RunningPlan);
}

/** The next credits of a plan, and when they come; null: it brings none. */
export function nextCredits(
  rules: readonly RunningRule[],
): { readonly credits: number; readonly at_ms: number } | null {
  if (rules.length === 0) return null;
  const at_ms = Math.min(...rules.map(({ until_ms }) => until_ms));
  const due = rules.filter(({ until_ms }) => until_ms === at_ms);
  return { credits: due.reduce((sum, { credits }) => sum + credits, 0), at_ms };
}
