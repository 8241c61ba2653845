import { describe, expect, it } from "vitest";
import {
  TRAFFIC_WINDOWS_MS,
  trafficShares,
  type Traffic,
} from "../../../src/domain/error_budget.ts";

const FINE = { value: 0, reason: null };

/** Requests in five minutes, half an hour, an hour and six hours, none of which failed. */
function traffic(changes: Partial<Traffic>): Traffic {
  return {
    service: "other",
    release: "r1",
    app: "demo",
    requests: [1_000, 10_000, 20_000, 100_000],
    failed: [0, 0, 0, 0],
    limited: 0,
    ...changes,
  };
}

it("requests are counted in 5 minutes, half an hour, an hour and six hours", () => {
  expect(TRAFFIC_WINDOWS_MS).toEqual([300_000, 1_800_000, 3_600_000, 21_600_000]);
});

it("without failures, or without requests, all figures are 0 and have no reason", () => {
  const fine = { fast_burn: FINE, slow_burn: FINE, limited_requests: FINE };
  expect(trafficShares([])).toEqual(fine);
  expect(trafficShares([traffic({})])).toEqual(fine);
});

describe("a burn rate", () => {
  it("a burn rate is the lower one of its two windows", () => {
    const of = (failed: readonly number[]) => {
      const { fast_burn, slow_burn } = trafficShares([traffic({ failed })]);
      return [fast_burn.value, slow_burn.value];
    };
    // Of an objective of 99.9%, 1% is ten times.
    expect(of([10, 0, 400, 0])).toEqual([10, 0]);
    expect(of([30, 0, 400, 0])).toEqual([20, 0]);
    expect(of([0, 100, 0, 2_000])).toEqual([0, 10]);
    expect(of([0, 300, 0, 2_000])).toEqual([0, 20]);
    expect(of([0, 0, 400, 2_000])).toEqual([0, 0]);
  });

  it("a burn rate is rounded to tenths, and may be below 1", () => {
    const failed = [500, 500, 26, 26];
    const { fast_burn, slow_burn } = trafficShares([traffic({ failed })]);
    expect([fast_burn.value, slow_burn.value]).toEqual([1.3, 0.3]);
  });

  it("a burn rate needs more than 20 failures in its longer window", () => {
    const requests = [100, 100, 1_000, 1_000];
    const of = (count: number) =>
      trafficShares([traffic({ requests, failed: [100, 100, count, count] })]);
    expect(of(20)).toMatchObject({ fast_burn: FINE, slow_burn: FINE });
    expect(of(21)).toMatchObject({ fast_burn: { value: 21 }, slow_burn: { value: 21 } });
  });

  it("a burn rate is a number even if failures were counted and requests were not", () => {
    const failed = [21, 21, 21, 21];
    const of = (requests: readonly number[]) =>
      trafficShares([traffic({ requests, failed })]).fast_burn.value;
    expect([of([0, 0, 0, 0]), of([])]).toEqual([21_000, 21_000]);
  });

  it("a window that is missing counts as no requests", () => {
    const of = (count: number) => Array.from({ length: 4 }, () => count);
    const known = traffic({ requests: of(200), failed: of(21), limited: 101 });
    const missing = traffic({ requests: [], failed: [], release: "r2", app: "other" });
    const share = { value: 105, reason: "other 105 times: release r1 (100%), app demo (100%)" };
    expect(trafficShares([known, missing])).toEqual({
      fast_burn: share,
      slow_burn: share,
      limited_requests: { value: 50.5, reason: "release r1 (100%), app demo (100%)" },
    });
  });

  it("a burn rate is that of the service with the highest one, and the reason names the worst first", () => {
    const failing = (service: Traffic["service"], count: number): Traffic =>
      traffic({ service, requests: Array(4).fill(1_000), failed: Array(4).fill(count) });
    const most = "release r1 (100%), app demo (100%)";
    const own = [failing("wallet_and_jobs", 25), failing("signin", 500), failing("other", 100)];
    expect(trafficShares(own).fast_burn).toEqual({
      value: 500,
      reason: `signin 500 times: ${most}; other 100 times: ${most}; wallet_and_jobs 50 times: ${most}`,
    });
    expect(trafficShares([traffic({ service: "signin" }), ...own.slice(2)]).slow_burn).toEqual({
      value: 100,
      reason: `other 100 times: ${most}`,
    });
  });

  it("the reason names the release and the app that failed most, with their parts", () => {
    const failing = (release: string | null, app: string | null, count: number): Traffic =>
      traffic({ release, app, failed: Array(4).fill(count) });
    const known = [failing("r1", "a", 200), failing("r2", "b", 500), failing("r3", null, 300)];
    const few = failing("r2", null, 400);
    expect(trafficShares(known).slow_burn.reason).toBe(
      "other 3.3 times: release r2 (50%), app b (50%)",
    );
    expect(trafficShares([...known, few]).slow_burn.reason).toBe(
      "other 3.5 times: release r2 (64%), app unknown (50%)",
    );
  });
});

describe("the share of limited requests", () => {
  it("the share of 429 is a percentage of the last hour's requests of all services, to tenths", () => {
    const own = [
      traffic({ limited: 2_000, requests: [0, 0, 9_000, 0] }),
      traffic({ limited: 1_000, requests: [0, 0, 9_000, 0], service: "signin", app: "other" }),
      traffic({ requests: [] }),
    ];
    expect(trafficShares(own).limited_requests).toEqual({
      value: 16.7,
      reason: "release r1 (100%), app demo (67%)",
    });
  });

  it("the share of 429 needs more than 100 of them", () => {
    const of = (limited: number) =>
      trafficShares([traffic({ limited, requests: [0, 0, 1_000, 0] })]).limited_requests;
    expect(of(100)).toEqual(FINE);
    expect(of(101).value).toBe(10.1);
  });

  it("the share of 429 is a number even if they were counted and requests were not", () => {
    expect(trafficShares([traffic({ limited: 101, requests: [] })]).limited_requests.value).toBe(
      10_100,
    );
  });
});
