/** The statistics that the benchmark prints. */

/** The quantile: the value below which this share of `ascending` lies. */
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

/** A median with the smallest and largest value. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), greatest: Math.max(...values) };
}

/** The ratio of each value to its counterpart of the same round, so that other load affects both. */
export function ratios(values: readonly number[], others: readonly number[]): Spread {
  return spreadOf(values.map((value, index) => value / (others[index] ?? Number.NaN)));
}
