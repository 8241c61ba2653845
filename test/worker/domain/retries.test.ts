import { describe, expect, it } from "vitest";
import {
  backOff,
  longestOutagePause,
  outageBackOff,
  OUTAGE_RETRY_MAX_MS,
  PROJECTION_RETRY_MAX_MS,
  PROJECTION_RETRY_MIN_MS,
} from "../../../src/domain/back_off.ts";
import { pauseAfter, WEBHOOK_ATTEMPTS_MAX } from "../../../src/domain/webhook_retries.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

describe("the pause before a retry", () => {
  it("a delivery to the read model pauses for as long as the failure lasts, within bounds", () => {
    expect(backOff(0, 0)).toBe(PROJECTION_RETRY_MIN_MS);
    expect(backOff(60_000, 0)).toBe(60_000);
    expect(backOff(10 * HOUR_MS, 0)).toBe(PROJECTION_RETRY_MAX_MS);
  });

  it("a delivery to a read model that is gone for hours pauses for a quarter of the time, and at most half a day", () => {
    expect(outageBackOff(0, 0)).toBe(PROJECTION_RETRY_MIN_MS);
    expect(outageBackOff(60_000, 0.5)).toBe(45_000);
    expect(outageBackOff(HOUR_MS, 0)).toBe(PROJECTION_RETRY_MAX_MS);
    expect(outageBackOff(HOUR_MS + 4, 0)).toBe(PROJECTION_RETRY_MAX_MS + 1);
    expect(outageBackOff(24 * HOUR_MS, 0.5)).toBe(4.5 * HOUR_MS);
    expect(OUTAGE_RETRY_MAX_MS).toBe(12 * HOUR_MS);
    expect(outageBackOff(1_000 * HOUR_MS, 0)).toBe(OUTAGE_RETRY_MAX_MS);
    expect(longestOutagePause(0)).toBe(PROJECTION_RETRY_MAX_MS);
  });

  it("chance shortens the pause by up to half, in whole milliseconds", () => {
    expect(backOff(60_000, 0.5)).toBe(45_000);
    expect(backOff(60_000, 0.999_999)).toBe(30_001);
    expect(backOff(60_001, 0.5)).toBe(45_001);
  });

  it("a webhook's delivery is tried for three days, at first often, then four times a day", () => {
    const pauses = Array.from({ length: WEBHOOK_ATTEMPTS_MAX }, (_, at) => pauseAfter(at + 1));
    const later = Array.from({ length: 12 }, () => 6 * HOUR_MS);
    const first = [5, 30, 120, 600, 3_600].map((seconds) => seconds * SECOND_MS);
    expect(pauses).toEqual([...first, ...later, null]);
    expect(pauseAfter(WEBHOOK_ATTEMPTS_MAX + 1)).toBeNull();
  });
});
