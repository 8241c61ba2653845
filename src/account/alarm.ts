/**
 * The object's one alarm. Storage keeps a single time, so whoever is due asks for a moment, and the
 * soonest wins; when it comes, everyone says anew when they are next due.
 */

type AlarmStorage = Pick<DurableObjectStorage, "setAlarm">;

export class Alarm {
  readonly #storage: AlarmStorage;
  #armed_at_ms: number | null;

  /** `armed_at_ms`: the alarm as the object found it when it woke; null: none. */
  constructor(storage: AlarmStorage, armed_at_ms: number | null) {
    this.#storage = storage;
    this.#armed_at_ms = armed_at_ms;
  }

  /** When it will come, in milliseconds since the epoch, as far as this instance knows; null: never. */
  get armed_at_ms(): number | null {
    return this.#armed_at_ms;
  }

  /**
   * Makes the alarm come at `at_ms` or sooner. Armed for sooner it is left alone: setting it is a
   * written row. Inside a transaction it is armed with the commit, or not at all.
   */
  by(at_ms: number): void {
    if (this.#armed_at_ms !== null && this.#armed_at_ms <= at_ms) return;
    this.#armed_at_ms = at_ms;
    void this.#storage.setAlarm(at_ms);
  }

  /** Says that storage has no alarm any more: it is ringing. */
  forget(): void {
    this.#armed_at_ms = null;
  }

  /** Runs `work` as part of a transaction; where it throws, storage has the alarm it had before. */
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
