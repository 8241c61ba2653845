/** Moves the Worker's clock, and waits for the limiter's minute. */
import { vi } from "vitest";

/**
 * Moves the clock that the Worker and its objects read. Alarms use real time, so afterwards they are as late as
 * possible. `test/worker/setup.ts` restores the real clock.
 */
export function passTime(ms: number): void {
  const at_ms = Date.now() + ms;
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(at_ms);
}

const MINUTE_MS = 60_000;

/** Longer than any test of a limit takes. */
const MARGIN_MS = 8_000;

/** Waits if the minute is nearly over. Limits count per minute, and a test of a limit must not span two minutes. */
export async function earlyInAMinute(): Promise<void> {
  // The limiter reads the real clock, also while a test moves the Worker's.
  const left_ms = MINUTE_MS - (vi.getRealSystemTime() % MINUTE_MS);
  if (left_ms < MARGIN_MS) await new Promise((resolve) => setTimeout(resolve, left_ms + 100));
}
