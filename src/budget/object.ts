/**
 * The starter budget of one app and UTC day: a Durable Object with both in its name. There is only one such
 * object, so its sum is exact under concurrent requests. It stores digests instead of identities, and deletes
 * them a day later.
 */
import { DurableObject } from "cloudflare:workers";
import { DAY_MS } from "../domain/calendar.ts";
import { assertInvariant } from "../domain/result.ts";
import type { ReserveRequest, StarterBudgetOperations } from "./budget_contract.ts";

/** A day's starter budget is kept this long after the day, then deleted. */
const STARTER_BUDGET_KEEP_MS = 24 * 60 * 60 * 1000;

const TOTAL_KEY = "total";
/** The budget that was last reported as used up. */
const REPORTED_KEY = "reported";
const CLAIM_PREFIX = "claim ";

export class StarterBudget extends DurableObject<Env> implements StarterBudgetOperations {
  reserve({ day, claimant, credits, budget }: ReserveRequest): number | null {
    assertInvariant(Number.isSafeInteger(credits) && credits > 0, "a grant is worth something");
    return this.ctx.storage.transactionSync(() => {
      const { kv } = this.ctx.storage;
      const known = kv.get<number>(CLAIM_PREFIX + claimant);
      if (known !== undefined) return known;
      const total = kv.get<number>(TOTAL_KEY) ?? 0;
      if (total + credits > budget) {
        if (total === 0) this.#deleteAfter(day);
        this.#reportUsedUp(budget, total);
        return null;
      }
      kv.put(CLAIM_PREFIX + claimant, credits);
      kv.put(TOTAL_KEY, total + credits);
      if (total === 0) this.#deleteAfter(day);
      return credits;
    });
  }

  /** Once for each budget, so that a wave of refused people writes one line. An operator may raise it meanwhile. */
  #reportUsedUp(budget: number, used: number): void {
    const { kv } = this.ctx.storage;
    if (kv.get<number>(REPORTED_KEY) === budget) return;
    kv.put(REPORTED_KEY, budget);
    const [app_slug] = this.ctx.id.name?.split(" ") ?? [];
    console.warn({ event: "starter_budget_used_up", app_slug, used, budget });
  }

  /** No request for a past day arrives: the account would refuse its grant. */
  #deleteAfter(day: number): void {
    void this.ctx.storage.setAlarm((day + 1) * DAY_MS + STARTER_BUDGET_KEEP_MS);
  }

  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }
}
