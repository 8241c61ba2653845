/** Days and calendar months in UTC, without leap seconds. Pure. */

export const DAY_MS = 86_400_000;

/** The number of whole days from the epoch to a time in milliseconds since the epoch. */
export function utcDayOf(at_ms: number): number {
  return Math.floor(at_ms / DAY_MS);
}

/** The minute of its UTC day that a time is in, from 0 to 1439. */
export function minuteOf(at_ms: number): number {
  return Math.floor((at_ms % DAY_MS) / 60_000);
}

/** The lowest id of a time. Ids are UUIDv7 and sort by time (RFC 9562, section 5.7). */
export function firstIdOf(at_ms: number): string {
  const hex = Math.max(0, at_ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** The time of a UUIDv7, in milliseconds since the epoch; null for another UUID. */
export function timeOfId(id: string): number | null {
  return id[14] === "7" ? beginningOf(id) : null;
}

/** The time with which a UUIDv7, or an id of {@link firstIdOf}, begins, in milliseconds since the epoch; null without one. */
export function beginningOf(id: string): number | null {
  const at_ms = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  return Number.isNaN(at_ms) ? null : at_ms;
}

/** After every id. */
export const END_OF_IDS = "~";

/** How far the id of a job may be from the time of its creation, because a clock went back. */
export const ID_MARGIN_MS = 10 * 60_000;

/** A calendar month. `name` has the form `YYYY-MM`. */
export interface Month {
  readonly name: string;
  /** Milliseconds since the epoch; `to_ms` is excluded. */
  readonly from_ms: number;
  readonly to_ms: number;
}

/** Reads `YYYY-MM`, for the years 2000 to 9999; null for any other text. */
export function readMonth(text: string): Month | null {
  const [, year, month] = /^([2-9]\d{3})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return null;
  return monthFrom(Date.UTC(Number(year), Number(month) - 1));
}

/** The month that contains a time in milliseconds since the epoch. */
export function monthOf(at_ms: number): Month {
  const at = new Date(at_ms);
  return monthFrom(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()));
}

function monthFrom(from_ms: number): Month {
  const from = new Date(from_ms);
  const to_ms = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1);
  return { name: from.toISOString().slice(0, 7), from_ms, to_ms };
}
