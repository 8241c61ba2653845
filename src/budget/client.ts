/** Reserves starter credits in an app's budget of the day. */
import { errorName } from "../domain/result.ts";
import { utcDayOf } from "../domain/calendar.ts";
import { toHexadecimal } from "../domain/text.ts";
import type { StarterBudget } from "./object.ts";

/** Credits reserved in a day's budget for one account's grant. */
interface Reservation {
  /** Whole days since the epoch. */
  readonly day: number;
  readonly credits: number;
}

/** A grant to be made if its app's budget of today has enough credits. */
interface WantedGrant {
  readonly app_slug: string;
  readonly identity_id: string;
  /** In credits. */
  readonly credits: number;
  readonly daily_budget: number;
}

/**
 * Reserves a grant's credits, in one hop. Null: today's budget has too few, or cannot be reached. No grant is
 * made then; it may be made later.
 */
export type ReserveStarter = (grant: WantedGrant) => Promise<Reservation | null>;

export function createStarterBudgets(
  binding: DurableObjectNamespace<StarterBudget>,
): ReserveStarter {
  return async ({ app_slug, identity_id, credits: wanted, daily_budget }) => {
    const day = utcDayOf(Date.now());
    const claimant = await digest(identity_id);
    try {
      const credits = await binding.getByName(`${app_slug} ${day}`).reserve({
        day,
        claimant,
        credits: wanted,
        budget: daily_budget,
      });
      return credits === null ? null : { day, credits };
    } catch (error) {
      const reason = errorName(error);
      console.warn({ event: "starter_budget_reservation_failed", app_slug, reason });
      return null;
    }
  };
}

async function digest(text: string): Promise<string> {
  return toHexadecimal(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
