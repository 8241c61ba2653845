/**
 * When the read model hears of a new line. In an account that was quiet, at once, beside the answer:
 * the alarm, armed with the line, is then only the guarantee, a quarter of an hour away, and most jobs
 * end before it and need no other. In a busy account the alarm delivers, once a second.
 */
import { errorName } from "../domain/error_name.ts";
import {
  PROJECTION_DELAY_MS,
  PROJECTION_LOOK_SHARE,
  PROJECTION_RETRY_MAX_MS,
} from "../domain/limits.ts";
import type { Alarm } from "./alarm.ts";
import type { Outbox } from "./outbox.ts";

export class Delivery {
  readonly #alarm: Alarm;
  readonly #outbox: Outbox;
  readonly #hasStartedJobs: () => boolean;
  /** Where jobs are started an alarm is armed; an instance that finds none knows that it was lost. */
  #found_alarm: boolean;
  /** When the last one began, in this instance. */
  #began_at_ms = Number.NEGATIVE_INFINITY;
  #is_owed = false;
  /** Before this, nobody need ask whether D1 is behind. */
  #ask_at_ms = 0;

  constructor(alarm: Alarm, outbox: Outbox, hasStartedJobs: () => boolean) {
    this.#alarm = alarm;
    this.#outbox = outbox;
    this.#hasStartedJobs = hasStartedJobs;
    this.#found_alarm = alarm.armed_at_ms !== null;
  }

  /**
   * Says that a line is written after another, 0 the first; inside its transaction, so that it never goes
   * without an alarm.
   */
  owe(now_ms: number, after_line: number): void {
    this.#outbox.presume(after_line);
    if (now_ms - this.#began_at_ms < PROJECTION_DELAY_MS) {
      return this.#alarm.by(now_ms + PROJECTION_DELAY_MS);
    }
    this.#alarm.by(now_ms + PROJECTION_RETRY_MAX_MS);
    this.#is_owed = true;
  }

  /** Says that the alarm rings: it delivers, so nobody need ask whether D1 is behind. */
  ring(): void {
    this.#ask_at_ms = Date.now() + PROJECTION_RETRY_MAX_MS;
  }

  /** After a transaction: sends what is to go at once, and sees to what was owed before. */
  start(): void {
    if (this.#is_owed) this.#sendNow();
    this.#seeThatDebtIsPaid();
  }

  #sendNow(): void {
    void this.flush().then(
      (at_ms) => at_ms !== null && this.#alarm.by(at_ms),
      // The alarm takes it up. What failed, never what was being written.
      (error: unknown) => console.warn({ event: "delivery_failed", reason: errorName(error) }),
    );
  }

  /** Sends everything owed; as {@link Outbox.flush}. */
  async flush(): Promise<number | null> {
    this.#is_owed = false;
    this.#began_at_ms = Date.now();
    return this.#outbox.flush();
  }

  /**
   * Once in a quarter of an hour: arms the alarm where something is owed and no alarm is to come. What D1
   * has is asked beside the request, never before its answer, and costs no written row: where an alarm was
   * lost, and else one time in some.
   */
  #seeThatDebtIsPaid(): void {
    const now_ms = Date.now();
    if (now_ms < this.#ask_at_ms) return;
    this.#ask_at_ms = now_ms + PROJECTION_RETRY_MAX_MS;
    const has_lost_alarm = !this.#found_alarm && this.#hasStartedJobs();
    // Later on, started jobs are those that this instance has armed it for.
    this.#found_alarm = true;
    const { due_at_ms } = this.#outbox;
    if (due_at_ms !== null) return this.#alarm.by(due_at_ms);
    const { armed_at_ms } = this.#alarm;
    // An alarm that comes soon sees to it.
    if (armed_at_ms !== null && armed_at_ms <= now_ms + PROJECTION_RETRY_MAX_MS) return;
    if (has_lost_alarm || Math.random() < PROJECTION_LOOK_SHARE) void this.#askWhetherBehind();
  }

  async #askWhetherBehind(): Promise<void> {
    if ((await this.#outbox.isBehind()) === true) this.#alarm.by(Date.now() + PROJECTION_DELAY_MS);
  }
}
