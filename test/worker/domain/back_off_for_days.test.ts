import { expect, it } from "vitest";
import {
  backOff,
  backOffForDays,
  LONG_FAILURE_MS,
  PROJECTION_RETRY_MAX_MS,
} from "../../../src/domain/back_off.ts";

it("a delivery is retried every quarter of an hour for a day, and then once a day at a random time", () => {
  for (const lasting_ms of [0, 5_000, LONG_FAILURE_MS - 1]) {
    expect(backOffForDays(lasting_ms, 0.5)).toBe(backOff(lasting_ms, 0.5));
  }
  expect(backOffForDays(LONG_FAILURE_MS - 1, 0)).toBe(PROJECTION_RETRY_MAX_MS);
  expect(backOffForDays(LONG_FAILURE_MS, 0)).toBe(LONG_FAILURE_MS);
  expect(backOffForDays(LONG_FAILURE_MS, 0.5)).toBe(0.75 * LONG_FAILURE_MS);
  expect(backOffForDays(30 * LONG_FAILURE_MS, 0.999)).toBeGreaterThan(LONG_FAILURE_MS / 2);
});
