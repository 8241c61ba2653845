/** The pause before a failed delivery is retried. Pure. */

/** The bounds of the pause after a failed delivery to the read model, in the first hour. */
export const PROJECTION_RETRY_MIN_MS = 2_000;
export const PROJECTION_RETRY_MAX_MS = 15 * 60_000;

/** After the first hour, the longest pause is this part of the time that D1 has been behind, and at most so long. */
const OUTAGE_PART = 4;
export const OUTAGE_RETRY_MAX_MS = 12 * 60 * 60_000;

/**
 * Pauses for as long as the failure has lasted, within bounds. The pause so doubles with each retry, and an
 * object that lost its memory needs no counter.
 * @param lasting_ms how long the failure has lasted.
 * @param jitter a new random number from 0 to below 1. It shortens the pause by up to half, so that ten
 * thousand accounts that failed together do not retry together.
 * @returns the pause in milliseconds.
 */
export function backOff(lasting_ms: number, jitter: number): number {
  return pause(Math.min(lasting_ms, PROJECTION_RETRY_MAX_MS), jitter);
}

/**
 * The pause of an account that D1 lacks entries of: as {@link backOff} in the first hour, and then longer and longer. A full or
 * lost database stays so until an operator acts, and each retry costs an alarm: a million accounts that retry each quarter of an
 * hour cost $130 a day. An account that is used retries at once.
 */
export function outageBackOff(lasting_ms: number, jitter: number): number {
  return pause(Math.min(lasting_ms, longestOutagePause(lasting_ms)), jitter);
}

/** The longest pause before the next retry if D1 has been behind for so long, in milliseconds. */
export function longestOutagePause(lasting_ms: number): number {
  const part_ms = Math.min(lasting_ms / OUTAGE_PART, OUTAGE_RETRY_MAX_MS);
  return Math.max(part_ms, PROJECTION_RETRY_MAX_MS);
}

function pause(longest_ms: number, jitter: number): number {
  return Math.ceil(Math.max(longest_ms, PROJECTION_RETRY_MIN_MS) * (1 - jitter / 2));
}
