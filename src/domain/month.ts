/** Calendar months in UTC, written `YYYY-MM`. Pure. */

export interface Month {
  readonly name: string;
  /** Half-open, in milliseconds since the epoch. */
  readonly from_ms: number;
  readonly to_ms: number;
}

/** The month written so; null for any other text. Years 2000 to 9999. */
export function readMonth(text: string): Month | null {
  const [, year, month] = /^([2-9]\d{3})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return null;
  return monthFrom(Date.UTC(Number(year), Number(month) - 1));
}

/** The month of a moment. */
export function monthOf(at_ms: number): Month {
  const at = new Date(at_ms);
  return monthFrom(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()));
}

function monthFrom(from_ms: number): Month {
  const from = new Date(from_ms);
  const to_ms = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1);
  return { name: from.toISOString().slice(0, 7), from_ms, to_ms };
}
