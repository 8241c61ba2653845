/** The few statistics that the benchmark prints. */

/** The value that a share of `ascending` lies below. */
export function quantile(ascending: readonly number[], share: number): number {
  const index = Math.min(ascending.length - 1, Math.floor(ascending.length * share));
  return ascending[index] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const ascending = values.toSorted((one, other) => one - other);
  const middle = Math.floor(ascending.length / 2);
  const upper = ascending[middle] ?? Number.NaN;
  return ascending.length % 2 === 1 ? upper : (upper + (ascending[middle - 1] ?? upper)) / 2;
}

/** A median with the least and the greatest value beside it. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), greatest: Math.max(...values) };
}

/** Each of `values` over its counterpart: what the machine did meanwhile falls on both. */
export function ratios(values: readonly number[], others: readonly number[]): Spread {
  return spreadOf(values.map((value, index) => value / (others[index] ?? Number.NaN)));
}
