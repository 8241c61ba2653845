/**
 * When the read model hears of a new line. In an account that was quiet, at once, beside the answer:
 * the alarm, armed with the line, is then only the guarantee, a quarter of an hour away, and most jobs
 * end before it and need no other. In a busy account the alarm delivers, once a second.
 */
import { PROJECTION_DELAY_MS, PROJECTION_RETRY_MAX_MS } from "../domain/limits.ts";
import type { Alarm } from "./alarm.ts";
import type { Outbox } from "./outbox.ts";

export class Delivery {
  readonly #alarm: Alarm;
  readonly #outbox: Pick<Outbox, "flush">;
  /** When the last one began, in this instance. */
  #began_at_ms = Number.NEGATIVE_INFINITY;
  #is_owed = false;

  constructor(alarm: Alarm, outbox: Pick<Outbox, "flush">) {
    this.#alarm = alarm;
    this.#outbox = outbox;
  }

  /** Says that a line is written; inside its transaction, so that it never goes without an alarm. */
  owe(now_ms: number): void {
    if (now_ms - this.#began_at_ms < PROJECTION_DELAY_MS) {
      return this.#alarm.by(now_ms + PROJECTION_DELAY_MS);
    }
    this.#alarm.by(now_ms + PROJECTION_RETRY_MAX_MS);
    this.#is_owed = true;
  }

  /** After a transaction: sends what is to go at once. */
  start(): void {
    if (!this.#is_owed) return;
    void this.flush().then(
      (at_ms) => at_ms !== null && this.#alarm.by(at_ms),
      // The alarm takes it up. What failed, never what was being written.
      (error: unknown) => console.warn({ event: "delivery_failed", reason: nameOf(error) }),
    );
  }

  /** Sends everything owed; as {@link Outbox.flush}. */
  async flush(): Promise<number | null> {
    this.#is_owed = false;
    this.#began_at_ms = Date.now();
    return this.#outbox.flush();
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
