/** The walk of a replay over all accounts that were active since its time, by day, app and account. Pure. */
import { utcDayOf } from "../domain/calendar.ts";
import type { ActiveAccount, ActiveSince } from "../domain/webhook_delivery.ts";

export interface Replay extends ActiveSince {
  readonly id: string;
  readonly since_ms: number;
}

export function beginReplay(since_ms: number): Replay {
  const first_day = utcDayOf(since_ms);
  const start = { first_day, day: first_day, app_slug: "", account_id: "" };
  return { id: crypto.randomUUID(), since_ms, ...start };
}

/** Goes on after an account. */
export function replayAfter(
  replay: Replay,
  { day, app_slug, account_id }: Pick<ActiveAccount, "day" | "app_slug" | "account_id">,
): Replay {
  return { ...replay, day, app_slug, account_id };
}
