/**
 * The object's only alarm. Storage has one alarm time, so each part of the object requests a time and the earliest one
 * is set. When the alarm fires, each part does its work and requests its next time.
 */
import { backOff } from "../../domain/back_off.ts";
import { reportError } from "../../domain/error_report.ts";
import { isPlatformFailure } from "../../domain/result.ts";

type AlarmStorage = Pick<DurableObjectStorage, "setAlarm" | "sync">;

export class Alarm {
  readonly #storage: AlarmStorage;
  #armed_at_ms: number | null;
  #is_held = false;

  /** `armed_at_ms`: the alarm in storage when the object woke; null: none. */
  constructor(storage: AlarmStorage, armed_at_ms: number | null) {
    this.#storage = storage;
    this.#armed_at_ms = armed_at_ms;
  }

  /** When the alarm fires, in milliseconds since the epoch; null: no alarm is set. */
  get armed_at_ms(): number | null {
    return this.#armed_at_ms;
  }

  /**
   * Makes the alarm fire at `at_ms` or earlier. An earlier alarm is left as it is, because setting one costs a written
   * row. Inside a transaction, the alarm is set when the transaction commits.
   */
  by(at_ms: number): void {
    if (this.#armed_at_ms !== null && this.#armed_at_ms <= at_ms) return;
    this.#armed_at_ms = at_ms;
    if (!this.#is_held) void this.#storage.setAlarm(at_ms);
  }

  /** Waits until storage has the alarm. @throws if storage failed, as in an instance that the platform has replaced. */
  async confirm(): Promise<void> {
    await this.#storage.sync();
  }

  /**
   * The alarm fires now. Until {@link release}, no other alarm is set. So if the instance ends before its work is done, the
   * platform repeats this alarm: a later one in its place would leave the rest of the work until then.
   */
  hold(): void {
    this.#armed_at_ms = null;
    this.#is_held = true;
  }

  /** The work of the alarm is done: sets the earliest alarm that was requested meanwhile. */
  release(): void {
    this.#is_held = false;
    if (this.#armed_at_ms !== null) void this.#storage.setAlarm(this.#armed_at_ms);
  }

  /** Runs `work`, which is part of a transaction. If it throws, the alarm is as it was before. */
  within<Value>(work: () => Value): Value {
    const armed_before_ms = this.#armed_at_ms;
    try {
      return work();
    } catch (error) {
      this.#armed_at_ms = armed_before_ms;
      throw error;
    }
  }
}

/** A name for the log, and work that returns when it is next due, in milliseconds since the epoch, or null. */
export type AlarmPart = readonly [name: string, work: () => Promise<number | null> | number | null];

/**
 * Runs the alarm's work. After a failure of its own it sets the next alarm itself, because the platform drops an alarm
 * whose handler rejects too often, and the expiry of every job with it. It rejects only if the platform failed: then this
 * instance may be replaced, and only the platform's retry reaches the next one.
 */
export class AlarmRound {
  readonly #alarm: Alarm;
  /** Since when rounds of this instance fail; null: the last one succeeded. */
  #failing_since_ms: number | null = null;

  constructor(alarm: Alarm) {
    this.#alarm = alarm;
  }

  /**
   * Runs each part in order, even if an earlier one failed. After a failure the round is repeated, with growing pauses.
   * @throws if the platform reset the object, or storage does not take the next alarm.
   */
  async run(parts: readonly AlarmPart[]): Promise<void> {
    this.#alarm.hold();
    let failed = false;
    for (const [part, work] of parts) {
      try {
        const at_ms = await work();
        if (at_ms !== null) this.#alarm.by(at_ms);
      } catch (error) {
        if (isPlatformFailure(error)) {
          // This instance may go on, and the platform's retries may end.
          this.#rearm(true, Date.now());
          this.#alarm.release();
          throw error;
        }
        failed = true;
        console.error({ event: "alarm_failed", part, ...reportError(error) });
      }
    }
    this.#rearm(failed, Date.now());
    this.#alarm.release();
    if (failed) await this.#alarm.confirm();
  }

  #rearm(failed: boolean, now_ms: number): void {
    this.#failing_since_ms = failed ? (this.#failing_since_ms ?? now_ms) : null;
    if (this.#failing_since_ms === null) return;
    this.#alarm.by(now_ms + backOff(now_ms - this.#failing_since_ms, Math.random()));
  }
}
