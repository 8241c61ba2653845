/** The pause before a failed delivery is retried. Pure. */

/** The bounds of the pause after a failed delivery to the read model. */
export const PROJECTION_RETRY_MIN_MS = 2_000;
export const PROJECTION_RETRY_MAX_MS = 15 * 60_000;

/**
 * Pauses for as long as the failure has lasted, within bounds. The pause so doubles with each retry, and an
 * object that lost its memory needs no counter.
 * @param lasting_ms how long the failure has lasted.
 * @param jitter a new random number from 0 to below 1. It shortens the pause by up to half, so that ten
 * thousand accounts that failed together do not retry together.
 * @returns the pause in milliseconds.
 */
export function backOff(lasting_ms: number, jitter: number): number {
  const pause_ms = Math.min(Math.max(lasting_ms, PROJECTION_RETRY_MIN_MS), PROJECTION_RETRY_MAX_MS);
  return Math.ceil(pause_ms * (1 - jitter / 2));
}
