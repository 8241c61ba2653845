/**
 * An outage of D1 and ten thousand accounts with undelivered entries: when each retries by the rule of the
 * outbox. A simulation with its own clock.
 */
import { describe, expect, it } from "vitest";
import {
  PROJECTION_RETRY_MAX_MS,
  PROJECTION_RETRY_MIN_MS,
  longestOutagePause,
  outageBackOff,
} from "../../../src/domain/back_off.ts";
import { DELIVERY_DELAY_MS } from "../../../src/account/sync/repair.ts";

const ACCOUNTS = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Pseudo-random numbers, the same in each run. */
function drawer(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Outage {
  /** Tries by minute since the start of the outage. */
  readonly tries: readonly number[];
  readonly delivered: number;
  /** The time from D1's return to the last delivery, in milliseconds. */
  readonly last_after_ms: number;
  readonly most_of_one: number;
}

/** The outage is from 0 to `lasts_ms`; accounts get their first entries over `spread_ms` from 0 on. */
function simulate(lasts_ms: number, spread_ms: number): Outage {
  const draw = drawer(7);
  const tries: number[] = [];
  let [delivered, last_ms, most_of_one] = [0, 0, 0];
  for (let account = 0; account < ACCOUNTS; account += 1) {
    const since_ms = Math.floor((account / ACCOUNTS) * spread_ms);
    let at_ms = since_ms + DELIVERY_DELAY_MS;
    for (let its = 1; ; its += 1) {
      const minute = Math.floor(at_ms / MINUTE_MS);
      tries[minute] = (tries[minute] ?? 0) + 1;
      most_of_one = Math.max(most_of_one, its);
      if (at_ms >= lasts_ms) break;
      // Like the outbox, measures the outage from the oldest undelivered entry, even if a new instance retries.
      at_ms += outageBackOff(at_ms - since_ms, draw());
    }
    delivered += 1;
    last_ms = Math.max(last_ms, at_ms);
  }
  return {
    tries: Array.from(tries, (count) => count ?? 0),
    delivered,
    last_after_ms: last_ms - lasts_ms,
    most_of_one,
  };
}

describe("ten thousand accounts with undelivered entries", () => {
  it.each([
    { spread: "at once", spread_ms: 0 },
    { spread: "over an hour", spread_ms: HOUR_MS },
  ])("ten thousand accounts that fail $spread retry evenly and all deliver", ({ spread_ms }) => {
    const outage = simulate(6 * HOUR_MS, spread_ms);
    expect(outage.delivered).toBe(ACCOUNTS);
    expect(outage.last_after_ms).toBeLessThanOrEqual(longestOutagePause(6 * HOUR_MS));
    // In the first hour with the longest pause, a quarter of an hour less a random part of up to half, an account tries 4 to
    // 8 times an hour. All together stay within a quarter of their even share, and later make fewer tries.
    const even_share = (ACCOUNTS * MINUTE_MS) / (PROJECTION_RETRY_MAX_MS * 0.75);
    expect(Math.max(...outage.tries.slice(90))).toBeLessThan(even_share * 1.25);
    const doublings = Math.log2(PROJECTION_RETRY_MAX_MS / PROJECTION_RETRY_MIN_MS);
    expect(outage.most_of_one).toBeLessThan(
      2 * doublings + (6 * HOUR_MS) / (PROJECTION_RETRY_MAX_MS / 2),
    );
  });

  it("an outage of days is some tens of attempts of an account on the first day, and fewer than three a day later", () => {
    const { tries } = simulate(5 * 24 * HOUR_MS, 0);
    const ofDay = (day: number) => {
      const minutes = tries.slice(day * 24 * 60, (day + 1) * 24 * 60);
      return minutes.reduce((sum, count) => sum + count, 0) / ACCOUNTS;
    };
    expect(ofDay(0)).toBeLessThan(40);
    expect(ofDay(1)).toBeLessThan(5);
    expect(ofDay(2)).toBeLessThan(3);
    expect(ofDay(4)).toBeLessThan(3);
  });

  it("an account retries a few times in the first minute and then less and less often", () => {
    const { tries } = simulate(HOUR_MS, 0);
    expect(tries[0]).toBeLessThanOrEqual(8 * ACCOUNTS);
    expect(tries[2]).toBeLessThan(ACCOUNTS);
    expect(tries[10]).toBeLessThan(ACCOUNTS / 4);
  });
});
