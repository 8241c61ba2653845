/** Finds fewer actions that still break the same rule: the fewer, the easier to read. */
import { wallClock } from "./platform/globals.ts";
import { simulate, type RunOptions, type RunResult } from "./run.ts";

const SHORTENING_MAX_MS = 60_000;

/** Leaves out parts of the actions, in halves, quarters and so on, as long as the run fails in the same way. */
export async function shorten(options: RunOptions, failed: RunResult): Promise<RunResult> {
  const ends_at_ms = wallClock() + SHORTENING_MAX_MS;
  let best = failed;
  for (let parts = 2; wallClock() < ends_at_ms;) {
    const actions = best.actions_taken;
    const size = Math.ceil(actions.length / parts);
    let found: RunResult | null = null;
    for (let from = 0; from < actions.length && found === null; from += size) {
      if (wallClock() >= ends_at_ms) break;
      const left = [...actions.slice(0, from), ...actions.slice(from + size)];
      if (left.length === 0) continue;
      const result = await simulate({ ...options, only: new Set(left) });
      if (ruleOf(result) === ruleOf(failed)) found = result;
    }
    if (found !== null) {
      best = found;
      parts = Math.max(2, parts - 1);
    } else if (size <= 1) break;
    else parts = Math.min(actions.length, parts * 2);
  }
  return best;
}

/** The rule without the details of this run. */
export function ruleOf({ failure }: RunResult): string | null {
  return failure?.rule.split("\n", 1)[0] ?? null;
}
