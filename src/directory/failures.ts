/**
 * Counts failures that an operator must know of, in periods of ten minutes. One row for each kind and period, so a
 * flood of failures stores no more than a few.
 */
import {
  FAILURE_WINDOW_MAX_MS,
  failureWindow,
  type CountedFailures,
  type FailureKind,
} from "../domain/health.ts";
import { errorName } from "../domain/result.ts";

const PERIOD_MS = 10 * 60_000;

/** How long counts are kept. Twice the longest window is enough; a week helps to look back. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/**
 * The pause between two writes of one isolate for a kind that may occur with every request. Failures in the pause are
 * added to the next write, so an outage does not add a write to each failing request.
 */
const WRITE_PAUSE_MS: Readonly<Record<FailureKind, number>> = {
  failed_request: 60_000,
  failed_delivery: 60_000,
  failed_archive: 60_000,
  difference: 0,
  overdue_job: 0,
  failed_payment_event: 0,
  payment_not_booked: 0,
  failed_top_up: 0,
  dropped_payment_event: 0,
};

export interface Failure {
  /** A word that says why: a refusal's code, or the name of an error. Never the data of a person. */
  readonly reason: string;
  /** How many there were; 1 by default. */
  readonly count?: number;
  /** Since when something waits because of it; now by default. */
  readonly oldest_at_ms?: number;
}

const ADD = `insert into failures (kind, period, count, newest_at_ms, oldest_at_ms, reason)
  values (?1, ?2, ?3, ?4, ?5, ?6)
  on conflict (kind, period) do update set count = count + excluded.count,
    newest_at_ms = max(newest_at_ms, excluded.newest_at_ms),
    oldest_at_ms = min(oldest_at_ms, excluded.oldest_at_ms), reason = excluded.reason`;

const READ = `select kind, count, newest_at_ms, oldest_at_ms, reason from failures
  where newest_at_ms > ?1 order by newest_at_ms`;

/** The counts that this isolate has not written yet. */
interface Unwritten {
  count: number;
  oldest_at_ms: number;
  written_at_ms: number;
}

function createFailureCounter(database: D1Database) {
  const unwritten = new Map<FailureKind, Unwritten>();
  return {
    /** Counts a failure. Never throws: a count that cannot be written is added to the next one. */
    async count(kind: FailureKind, { reason, count = 1, oldest_at_ms }: Failure): Promise<void> {
      const now_ms = Date.now();
      const own = unwritten.get(kind) ?? {
        count: 0,
        oldest_at_ms: now_ms,
        written_at_ms: Number.NEGATIVE_INFINITY,
      };
      unwritten.set(kind, own);
      own.count += count;
      own.oldest_at_ms = Math.min(own.oldest_at_ms, oldest_at_ms ?? now_ms);
      const pause_ms = now_ms - own.written_at_ms;
      if (pause_ms >= 0 && pause_ms < WRITE_PAUSE_MS[kind]) return;
      const written = { ...own };
      unwritten.set(kind, { count: 0, oldest_at_ms: now_ms, written_at_ms: now_ms });
      const period = Math.floor(now_ms / PERIOD_MS);
      try {
        await database
          .prepare(ADD)
          .bind(kind, period, written.count, now_ms, written.oldest_at_ms, reason)
          .run();
      } catch (error) {
        const left = unwritten.get(kind) ?? written;
        left.count += written.count;
        left.oldest_at_ms = Math.min(left.oldest_at_ms, written.oldest_at_ms);
        console.warn({ event: "failure_count_write_failed", kind, reason: errorName(error) });
      }
    },
    /** The failures in the window of each kind. @throws if D1 cannot be reached. */
    async read(now_ms: number): Promise<Readonly<Partial<Record<FailureKind, CountedFailures>>>> {
      const { results } = await database
        .prepare(READ)
        .bind(now_ms - FAILURE_WINDOW_MAX_MS)
        .all<CountedFailures & { kind: FailureKind }>();
      const counted: Partial<Record<FailureKind, CountedFailures>> = {};
      for (const { kind, ...period } of results) {
        const window_ms = failureWindow(kind, period.newest_at_ms - period.oldest_at_ms);
        if (period.newest_at_ms <= now_ms - window_ms) continue;
        const before = counted[kind] ?? { count: 0, oldest_at_ms: period.oldest_at_ms };
        counted[kind] = {
          ...period,
          count: before.count + period.count,
          oldest_at_ms: Math.min(before.oldest_at_ms, period.oldest_at_ms),
        };
      }
      return counted;
    },
    /** Deletes old counts. @throws if D1 cannot be reached. */
    async deleteOld(now_ms: number): Promise<{ readonly deleted: number }> {
      const before = Math.floor((now_ms - KEPT_MS) / PERIOD_MS);
      const { meta } = await database
        .prepare("delete from failures where period < ?1")
        .bind(before)
        .run();
      return { deleted: meta.changes };
    },
  };
}

export type FailureCounter = ReturnType<typeof createFailureCounter>;

/** One counter for each database and isolate, so that the pauses between writes hold for all of the isolate's objects. */
export function failureCounterOf(database: D1Database): FailureCounter {
  const known = counters.get(database) ?? createFailureCounter(database);
  counters.set(database, known);
  return known;
}

// A binding lives as long as the isolate.
const counters = new Map<D1Database, FailureCounter>();
