/** How long to wait before something that failed is tried again. Pure. */

/** The bounds of the pause after a failed delivery to the read model. */
export const PROJECTION_RETRY_MIN_MS = 2_000;
export const PROJECTION_RETRY_MAX_MS = 15 * 60_000;

/**
 * Waits as long as the failure has lasted already, within bounds, so that the pause doubles with each
 * try and an object that forgot how often it tried still knows.
 *
 * @param lasting_ms how long it has failed.
 * @param jitter from 0 to below 1, drawn anew each time: takes off up to half, so that ten thousand
 * accounts that failed in one moment do not come back in one.
 * @returns the pause in milliseconds.
 */
export function backOff(lasting_ms: number, jitter: number): number {
  const pause_ms = Math.min(Math.max(lasting_ms, PROJECTION_RETRY_MIN_MS), PROJECTION_RETRY_MAX_MS);
  return Math.ceil(pause_ms * (1 - jitter / 2));
}
