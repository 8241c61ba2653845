/** The last attempts to deliver events, which the sender of an account and the deliveries of a webhook keep. Pure. */
import { DAY_MS } from "../domain/calendar.ts";
import type { SubscribableEvent } from "../domain/webhook.ts";
import type { Attempted } from "./attempt.ts";

/** Attempts that are kept, of one account to one webhook, and of one webhook. */
const ATTEMPTS_KEPT = 20;

/** How long an attempt is shown. */
const ATTEMPT_SHOWN_MS = 7 * DAY_MS;

/** What became of an event. `attempts`: how often it was tried by then. */
export interface RecordedAttempt extends Attempted {
  readonly identity_id: string;
  readonly event_id: string;
  readonly type: SubscribableEvent;
  readonly line: number;
  readonly attempts: number;
  readonly at_ms: number;
}

/** The newest first. */
export function withAttempt(
  known: readonly RecordedAttempt[],
  attempt: RecordedAttempt,
): readonly RecordedAttempt[] {
  return shownAt([attempt, ...known], attempt.at_ms).slice(0, ATTEMPTS_KEPT);
}

export function shownAt(
  known: readonly RecordedAttempt[],
  now_ms: number,
): readonly RecordedAttempt[] {
  return known.filter(({ at_ms }) => at_ms > now_ms - ATTEMPT_SHOWN_MS);
}
