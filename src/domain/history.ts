/** Summaries of an account's ledger and jobs for its charts. Pure. */

/** The balance at a time, in credits. */
export interface BalancePoint {
  readonly at_ms: number;
  readonly credits: number;
}

/** The cost of one app's jobs, in credits, and the number of them. */
export interface AppSpending {
  readonly app_slug: string | null;
  readonly credits: number;
  readonly jobs: number;
}

/**
 * Samples the balance in at most `count` steps of equal length: the last balance of each step, if it differs
 * from the one before. `points` are sorted from oldest to newest. The first one is at or before `from_ms`, if
 * there is one.
 */
export function sampleBalance(
  points: readonly BalancePoint[],
  from_ms: number,
  to_ms: number,
  count: number,
): readonly BalancePoint[] {
  const step_ms = Math.max(1, (to_ms - from_ms) / count);
  const sampled: BalancePoint[] = [];
  let last_step = -1;
  for (const point of points) {
    const at_ms = Math.min(Math.max(point.at_ms, from_ms), to_ms);
    const step = Math.floor((at_ms - from_ms) / step_ms);
    if (step === last_step) sampled.pop();
    last_step = step;
    sampled.push({ at_ms, credits: point.credits });
  }
  return sampled.filter(
    ({ credits }, index) => index === 0 || credits !== sampled[index - 1]?.credits,
  );
}

/** Spending by app, highest first. A started job has cost nothing yet. */
export function sumSpending(
  jobs: readonly { readonly app_slug: string | null; readonly actual_cost: number }[],
): readonly AppSpending[] {
  const by_app = new Map<string | null, { credits: number; jobs: number }>();
  for (const { app_slug, actual_cost } of jobs) {
    const known = by_app.get(app_slug) ?? { credits: 0, jobs: 0 };
    by_app.set(app_slug, { credits: known.credits + actual_cost, jobs: known.jobs + 1 });
  }
  return [...by_app]
    .map(([app_slug, spent]) => ({ app_slug, ...spent }))
    .filter(({ credits }) => credits > 0)
    .toSorted((one, other) => other.credits - one.credits);
}
