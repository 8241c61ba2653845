/** The list of all plans: D1's `plans`, copied to memory for a minute. One copy for each isolate. */
import { drizzle } from "drizzle-orm/d1";
import { reportError } from "../domain/error_report.ts";
import type { PlanRules } from "../domain/plans.ts";
import { plans } from "./schema.ts";
import { COPY_FRESH_MS, SharedCopy } from "./shared_copy.ts";

type ListedPlan = PlanRules & { readonly id: string };

function createPlanList(binding: D1Database) {
  const database = drizzle(binding);
  const { id, version, name, recurring } = plans;
  const copy = new SharedCopy({
    read: async (): Promise<readonly ListedPlan[]> =>
      database.select({ id, version, name, recurring }).from(plans),
    stale_max_ms: COPY_FRESH_MS,
    logFailure: (error) => console.warn({ event: "plans_read_failed", ...reportError(error) }),
  });
  return {
    /** All plans, as of at most a minute ago; null: D1 cannot be reached. It never throws. */
    read: async (): Promise<readonly ListedPlan[] | null> =>
      (await copy.recallFresh())?.value ?? null,
    /** Clears the copy after a change in this isolate. */
    forget: (): void => copy.forget(),
  };
}

export type PlanList = ReturnType<typeof createPlanList>;

/** One list for each database and isolate, so that all objects of the isolate share its copy. */
export function planListOf(database: D1Database): PlanList {
  const list = lists.get(database) ?? createPlanList(database);
  lists.set(database, list);
  return list;
}

const lists = new WeakMap<D1Database, PlanList>();
