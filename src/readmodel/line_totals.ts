/** The amounts that a ledger entry adds to the totals of its UTC day. */
import type { dailyTotals } from "./schema.ts";

/**
 * The sums, in credits, except `jobs` (created) and `failed`, which are counts. `refunded`: all credits that jobs gave
 * back, namely the reserves of failed jobs and `job_refunded`, the cost of ended jobs that operators gave back. `taken_back`,
 * `expired` and `forfeited` have the sign of the change of what people own: credits that left with a purchase's money, or came back with
 * it; what expired; and what deleted accounts had, or owed until their holder returned.
 */
export const MEASURES = [
  "granted",
  "reserved",
  "settled",
  "refunded",
  "job_refunded",
  "purchased",
  "adjusted",
  "taken_back",
  "forfeited",
  "expired",
  "jobs",
  "failed",
] as const satisfies readonly (keyof typeof dailyTotals.$inferSelect)[];
export type Measure = (typeof MEASURES)[number];

/**
 * The bought part of those measures, with the same sign. The rest of a measure was given. `purchased` and `taken_back` are
 * bought as a whole, `granted` is given as a whole. While an account is below zero, bought credits that come in or come back
 * pay what it owes: `settled_bought` has them, and so as many given credits were not spent.
 */
export const BOUGHT_PARTS = [
  "adjusted_bought",
  "settled_bought",
  "job_refunded_bought",
  "expired_bought",
  "forfeited_bought",
] as const satisfies readonly (keyof typeof dailyTotals.$inferSelect)[];

/** Changes of what accounts have, not of what people own: credits that jobs hold, and accounts with any credits or debts. */
export const STATES = [
  "held",
  "holders",
] as const satisfies readonly (keyof typeof dailyTotals.$inferSelect)[];

/** The money of a purchase's entry, in the currency's smallest unit. */
export interface LineMoney {
  /** "": an operator gave the credits, and said what was paid. */
  readonly package_id: string;
  readonly currency: string;
  /** 1 for a purchase, 0 for a refund or dispute. */
  readonly purchases: 0 | 1;
  readonly amount_minor: number;
  /** Negative if a dispute was won, or a refund failed. */
  readonly refunded_minor: number;
}

/** The sums of entries. A missing one is 0. */
export type Sums = {
  readonly [name in Measure | (typeof BOUGHT_PARTS)[number] | (typeof STATES)[number]]?: number;
};

/** The sums of an account's entries of one day in one app, or of one entry. `app_slug` is "" if they have no app. */
export type DayTotals = {
  /** Whole UTC days since the epoch. */
  readonly day: number;
  /** Of that day: the minute of the first entry. */
  readonly minute: number;
  readonly app_slug: string;
} & Sums;

/** The money of an entry, and its day. */
export type DayMoney = LineMoney & { readonly day: number };

/** The change of what was paid for the bought credits, on a day: JSON of a `Worth`, as an object. */
export interface DayOwed {
  readonly day: number;
  readonly worth: object;
}

/** Adds up what belongs to the same day and app. `totals`: in the order of their entries. */
export function sumByDay(totals: readonly DayTotals[]): readonly DayTotals[] {
  const days = new Map<string, DayTotals>();
  for (const { day, minute, app_slug, ...sums } of totals) {
    const key = `${day} ${app_slug}`;
    const before = days.get(key);
    const sum = { ...(before ?? { day, minute, app_slug }) } as Record<string, unknown>;
    for (const [name, amount] of Object.entries(sums)) sum[name] = Number(sum[name] ?? 0) + amount;
    days.set(key, sum as DayTotals);
  }
  return [...days.values()];
}
