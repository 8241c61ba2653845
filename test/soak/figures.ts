/** What a run counts: requests, errors, and by minute times and memory. */
import { median, quantile } from "../bench/statistics.ts";

interface Minute {
  readonly times_ms: number[];
  readonly memory_mib: number[];
}

/** The figures of a minute. */
export interface Row {
  readonly minute: number;
  readonly requests: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly memory_mib: number;
}

/** The ratio of a figure at the end of a run to the same figure before, each a median of a third of the minutes. */
export interface Trend {
  readonly name: string;
  readonly ratio: number;
  readonly bound: number;
}

/** Memory: the last third to the one before, because caches fill first. */
const MEMORY_BOUND = 1.3;
/** Times: the last third to the first. */
const TIME_BOUND = 1.5;
/** A shorter run has no thirds that say anything. */
export const TREND_MIN_MINUTES = 6;

export class Figures {
  requests = 0;
  /** Failures by status, or without a response. */
  readonly errors = new Map<string, number>();
  readonly #minutes = new Map<number, Minute>();
  #started_ms: number | null = null;

  countError(name: string): void {
    this.errors.set(name, (this.errors.get(name) ?? 0) + 1);
  }

  noteTime(time_ms: number): void {
    this.requests += 1;
    this.#minute().times_ms.push(time_ms);
  }

  noteMemory(memory_mib: number): void {
    this.#minute().memory_mib.push(memory_mib);
  }

  rows(): readonly Row[] {
    return [...this.#minutes].map(([minute, { times_ms, memory_mib }]) => {
      const ascending = times_ms.toSorted((one, other) => one - other);
      return {
        minute: minute + 1,
        requests: times_ms.length,
        p50_ms: quantile(ascending, 0.5),
        p99_ms: quantile(ascending, 0.99),
        memory_mib: median(memory_mib),
      };
    });
  }

  /** Empty for a short run. */
  trends(): readonly Trend[] {
    // The last minute may have a few requests only.
    const rows = this.rows().slice(0, -1);
    if (rows.length < TREND_MIN_MINUTES) return [];
    const third = Math.floor(rows.length / 3);
    const [first, second, last] = [
      rows.slice(0, third),
      rows.slice(third, 2 * third),
      rows.slice(2 * third),
    ] as const;
    const ratio = (figure: keyof Row, before: readonly Row[]): number =>
      median(last.map((row) => row[figure])) / median(before.map((row) => row[figure]));
    return [
      { name: "memory", ratio: ratio("memory_mib", second), bound: MEMORY_BOUND },
      { name: "p50", ratio: ratio("p50_ms", first), bound: TIME_BOUND },
      { name: "p99", ratio: ratio("p99_ms", first), bound: TIME_BOUND },
    ];
  }

  #minute(): Minute {
    this.#started_ms ??= performance.now();
    const number = Math.floor((performance.now() - this.#started_ms) / 60_000);
    const minute = this.#minutes.get(number) ?? { times_ms: [], memory_mib: [] };
    this.#minutes.set(number, minute);
    return minute;
  }
}
