/** The rules of a run. */
import { quantile } from "../bench/statistics.ts";
import type { Arrival } from "./arrivals.ts";
import { LOST, NO_RESPONSE, NOT_SENT, type Outcome } from "./requests.ts";
import type { Measured } from "./phases.ts";
import type { Phase } from "./service.ts";

/** Times after the overload may be this many times those before it. */
const TIME_BOUND = 2;
/** Shorter phases say nothing about times. */
const TIMES_MIN_SECONDS = 30;
/** If other programs use more than this, times say more about them. */
const OTHER_CORES_MAX = 0.3;
/** If more than this share of the requests were not answered, the machine does not sustain the rate. */
const UNANSWERED_MAX_SHARE = 0.001;

/** What became of requests. */
export interface Counts {
  readonly succeeded: number;
  /** 429 and 503 with `Retry-After`. */
  readonly refused: number;
  /** Without a response when the client gave up, or not sent because every connection was busy. */
  readonly given_up: number;
  /** Every other response, and connections that were lost. */
  readonly failed: number;
}

type Wanted = (arrival: Arrival) => boolean;

/** Whether a request was refused in order. */
function isRefusal({ statuses, has_retry_after }: Outcome, index: number): boolean {
  const status = statuses[index];
  return (status === 429 || status === 503) && (has_retry_after[index] ?? false);
}

export function countsOf(phase: Phase, isWanted: Wanted = () => true): Counts {
  const counts = { succeeded: 0, refused: 0, given_up: 0, failed: 0 };
  for (const [index, status] of phase.statuses.entries()) {
    const arrival = phase.arrivals[index];
    if (arrival === undefined || !isWanted(arrival)) continue;
    if (status === 200) counts.succeeded += 1;
    else if (isRefusal(phase, index)) counts.refused += 1;
    else if (status === NOT_SENT || status === NO_RESPONSE) counts.given_up += 1;
    else counts.failed += 1;
  }
  return counts;
}

/** Failures by status, for people who read them. */
export function failuresOf(phase: Outcome): string {
  const counts = new Map<string, number>();
  for (const [index, status] of phase.statuses.entries()) {
    if (status === 200 || status === NOT_SENT || status === NO_RESPONSE) continue;
    if (isRefusal(phase, index)) continue;
    const name = status === LOST ? "a lost connection" : String(status);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(", ");
}

/** The times of the arrivals that were answered and are wanted, ascending. Those that were given up count too. */
export function timesOf(phase: Phase, isWanted: Wanted = () => true): readonly number[] {
  return phase.times_ms
    .filter((_, index) => {
      const arrival = phase.arrivals[index];
      return arrival !== undefined && isWanted(arrival) && !isRefusal(phase, index);
    })
    .toSorted((one, other) => one - other);
}

/** Whether the machine kept up with a phase. */
function isSustained(phase: Phase): boolean {
  return countsOf(phase).succeeded >= phase.statuses.length * (1 - UNANSWERED_MAX_SHARE);
}

/** Times after the overload divided by those before it. */
export function trendsOf({ before, after }: Measured) {
  const [was, is] = [timesOf(before), timesOf(after)];
  const ratio = (share: number): number => quantile(is, share) / quantile(was, share);
  return [
    { name: "p50", ratio: ratio(0.5), bound: TIME_BOUND },
    { name: "p99", ratio: ratio(0.99), bound: TIME_BOUND },
  ];
}

/** Why the times after the overload are not compared with those before it; null: they are. */
export function whyNoTrends({ rate, seconds, before, after }: Measured): string | null {
  if (seconds < TIMES_MIN_SECONDS) return `a phase takes less than ${TIMES_MIN_SECONDS} seconds`;
  if (!isSustained(before)) return `this machine does not sustain ${rate} requests a second`;
  const other_cores = Math.max(before.other_cores, after.other_cores);
  if (other_cores <= OTHER_CORES_MAX) return null;
  return `other programs used ${other_cores.toFixed(1)} cores meanwhile`;
}

/** The rules that do not hold. */
export function rulesBroken(measured: Measured): readonly string[] {
  const { before, overload, flood, after, books } = measured;
  const phases = { before, "in the overload": overload, "in the flood": flood, after };
  const failed = Object.entries(phases).flatMap(([name, phase]) => {
    const { failed } = countsOf(phase);
    if (failed === 0) return [];
    return [`${name}: ${failuresOf(phase)}, such as ${phase.samples.join(" | ")}`];
  });
  const slower =
    whyNoTrends(measured) !== null
      ? []
      : trendsOf(measured)
          .filter(({ ratio, bound }) => ratio > bound)
          .map(
            ({ name, ratio }) => `${name} after the overload is ${ratio.toFixed(2)} times as high`,
          );
  return [...failed, ...books.broken, ...slower];
}
