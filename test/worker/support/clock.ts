/** Time in tests: the Worker's clock moved, and the limiter's minute waited for. */
import { vi } from "vitest";

/**
 * Moves the clock that the Worker and its objects read. Alarms stay in real time, so from then on they
 * are as late as can be. `test/worker/setup.ts` brings the real clock back.
 */
export function passTime(ms: number): void {
  const at_ms = Date.now() + ms;
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(at_ms);
}

const MINUTE_MS = 60_000;

/** Longer than any test of a limit takes. */
const MARGIN_MS = 8_000;

/** Waits where the minute is nearly over: limits count by it, and a test of one must not straddle two. */
export async function earlyInAMinute(): Promise<void> {
  const left_ms = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (left_ms < MARGIN_MS) await new Promise((resolve) => setTimeout(resolve, left_ms + 100));
}
