/** Days as the service counts them: of UTC, without leap seconds, whole ones since the epoch. */

export const DAY_MS = 86_400_000;

/** The day of a moment in milliseconds since the epoch. */
export function utcDayOf(at_ms: number): number {
  return Math.floor(at_ms / DAY_MS);
}
