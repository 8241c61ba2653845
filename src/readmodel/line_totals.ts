/** What an entry of a ledger adds to the totals of its UTC day. */
import type { dailyTotals } from "./schema.ts";

/** What is added up, in credits but for `jobs` (created) and `failed`, which are counts. */
export const MEASURES = [
  "granted",
  "reserved",
  "settled",
  "refunded",
  "purchased",
  "adjusted",
  "jobs",
  "failed",
] as const satisfies readonly (keyof typeof dailyTotals.$inferSelect)[];
export type Measure = (typeof MEASURES)[number];

/** What one entry adds to its day; a measure left out is 0. `app_slug`: "" where it is of no app. */
export type LineTotals = {
  readonly line: number;
  /** Whole UTC days since the epoch. */
  readonly day: number;
  readonly app_slug: string;
} & { readonly [name in Measure]?: number };
