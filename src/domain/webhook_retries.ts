/** When a delivery to a webhook's receiver that failed is tried again. Pure. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses after the first attempts: most receivers are back after a restart or a deployment. */
const FIRST_PAUSES_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
] as const;

/** The pause between the attempts after those, and for how long they go on. */
const LATER_PAUSE_MS = 6 * HOUR_MS;
const LATER_FOR_MS = 3 * 24 * HOUR_MS;

/** Attempts after which a delivery has failed, and its webhook is paused. */
export const WEBHOOK_ATTEMPTS_MAX = 1 + FIRST_PAUSES_MS.length + LATER_FOR_MS / LATER_PAUSE_MS;

/** The pause after this many failed attempts, in milliseconds; null: there is no further attempt. */
export function pauseAfter(failed_attempts: number): number | null {
  if (failed_attempts >= WEBHOOK_ATTEMPTS_MAX) return null;
  return FIRST_PAUSES_MS[failed_attempts - 1] ?? LATER_PAUSE_MS;
}
