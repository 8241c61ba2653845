/**
 * What is done when the object's one alarm rings. It never rejects: the platform gives up a handler
 * that fails too often, and with it every job's time-out.
 */
import { errorName } from "../domain/error_name.ts";
import { backOff } from "../domain/back_off.ts";
import type { Alarm } from "./alarm.ts";

/** A name for the log, and the work; it says when it is next due, in milliseconds since the epoch, or null. */
export type AlarmPart = readonly [name: string, work: () => Promise<number | null> | number | null];

export class AlarmRound {
  readonly #alarm: Alarm;
  /** Since when rounds of this instance fail; null: the last went well. */
  #failing_since_ms: number | null = null;

  constructor(alarm: Alarm) {
    this.#alarm = alarm;
  }

  /** Tries each part in order, whatever became of the others, and comes back for what failed, ever later. */
  async run(parts: readonly AlarmPart[]): Promise<void> {
    this.#alarm.forget();
    let failed = false;
    for (const [part, work] of parts) {
      try {
        const at_ms = await work();
        if (at_ms !== null) this.#alarm.by(at_ms);
      } catch (error) {
        failed = true;
        const reason = errorName(error);
        console.error({ event: "alarm_failed", part, reason });
      }
    }
    this.#rearm(failed, Date.now());
  }

  #rearm(failed: boolean, now_ms: number): void {
    this.#failing_since_ms = failed ? (this.#failing_since_ms ?? now_ms) : null;
    if (this.#failing_since_ms === null) return;
    this.#alarm.by(now_ms + backOff(now_ms - this.#failing_since_ms, Math.random()));
  }
}
