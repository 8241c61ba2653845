/** Brings changed plans to the accounts that have them. An account that is called meanwhile fetches them itself. */
import type { PlanRules } from "../domain/plans.ts";

/** Accounts that one run brings up to date. */
const ACCOUNTS_BROUGHT = 200;

/** Accounts that are brought up to date at once. */
const AT_ONCE = 20;

interface Stores {
  readonly plan_records: { list(): Promise<readonly (PlanRules & { readonly id: string })[]> };
  readonly read_model: {
    listBehindPlan(plan: string, version: number, limit: number): Promise<readonly string[]>;
  };
  readonly accounts: (identity_id: string) => {
    updatePlan(request: { readonly plan: string; readonly rules: PlanRules }): Promise<unknown>;
  };
}

/**
 * Brings the newest rules to a bounded number of accounts that have older ones.
 * @throws if an account could not be reached; the others were.
 */
export async function bringPlans({
  plan_records,
  read_model,
  accounts,
}: Stores): Promise<{ readonly brought: number }> {
  let [brought, tried] = [0, 0];
  let failure: PromiseRejectedResult | undefined;
  for (const { id: plan, version, name, recurring } of await plan_records.list()) {
    if (tried >= ACCOUNTS_BROUGHT) break;
    const rules = { version, name, recurring };
    const behind = await read_model.listBehindPlan(plan, version, ACCOUNTS_BROUGHT - tried);
    for (let from = 0; from < behind.length; from += AT_ONCE) {
      const some = behind.slice(from, from + AT_ONCE);
      const outcomes = await Promise.allSettled(
        some.map((identity_id) => accounts(identity_id).updatePlan({ plan, rules })),
      );
      failure ??= outcomes.find((outcome) => outcome.status === "rejected");
      brought += outcomes.filter((outcome) => outcome.status === "fulfilled").length;
      tried += some.length;
    }
  }
  if (failure !== undefined) throw failure.reason;
  return { brought };
}
