/**
 * The clock and the order of everything. A simulation is a queue of events, each at a time of the virtual clock. Between
 * two events all promises that can continue do so, so each event is one turn of one object, as on the platform.
 */
import { Random } from "./random.ts";

/** Who runs during an event: a running object, or the clients. */
export interface Turn {
  /** A turn that was ended gets no more events: what it waited for never arrives. */
  readonly alive: boolean;
  /** How far its machine's clock is ahead, in milliseconds. */
  readonly skew_ms: number;
  /** Sends a message, at the end of the event if what it wrote could be stored. */
  send(message: () => void): void;
  /** The event is over: stores what it wrote, and lets its messages go. */
  end(): void;
}

export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: Error };

interface Scheduled {
  readonly at_ms: number;
  readonly number: number;
  readonly turn: Turn | null;
  readonly run: () => void;
}

/** The first day of a month, a Monday, so that a run crosses days, and sometimes weeks and months. */
const BEGIN_MS = Date.UTC(2026, 5, 1);

export class Kernel {
  now_ms = BEGIN_MS;
  /** Of the events of the present part of the run. */
  random = new Random(0);
  current: Turn | null = null;
  steps = 0;
  readonly #queue: Scheduled[] = [];
  #scheduled = 0;

  /** The clock of the machine that runs now. */
  get machine_ms(): number {
    return this.now_ms + (this.current?.skew_ms ?? 0);
  }

  /** `turn`: null for what happens in the network, which wakes nobody by itself. */
  schedule(delay_ms: number, turn: Turn | null, run: () => void): void {
    const at_ms = this.now_ms + Math.max(0, delay_ms);
    this.#push({ at_ms, number: (this.#scheduled += 1), turn, run });
  }

  /** A promise of the turn that runs now, for something outside of it. `start` is called when its message leaves. */
  wait<Value>(
    start: (answer: (outcome: Outcome<Value>, delay_ms: number) => void) => void,
  ): Promise<Value> {
    const turn = this.current;
    if (turn === null) throw new Error("a promise needs a turn to continue in");
    return new Promise((resolve, reject) => {
      turn.send(() =>
        start((outcome, delay_ms) =>
          this.schedule(delay_ms, turn, () =>
            outcome.ok ? resolve(outcome.value) : reject(outcome.error),
          ),
        ),
      );
    });
  }

  /** The time of the next event; null: there is none. */
  get next_ms(): number | null {
    return this.#queue[0]?.at_ms ?? null;
  }

  /** Runs the next event. */
  async step(): Promise<void> {
    const event = this.#pop();
    if (event === null) return;
    this.now_ms = Math.max(this.now_ms, event.at_ms);
    const { turn } = event;
    if (turn !== null && !turn.alive) return;
    this.steps += 1;
    this.current = turn;
    event.run();
    if (turn !== null) {
      await promisesAtRest();
      turn.end();
    }
    this.current = null;
  }

  #push(event: Scheduled): void {
    const queue = this.#queue;
    let at = queue.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = queue[parent];
      if (above === undefined || isBefore(above, event)) break;
      queue[at] = above;
      at = parent;
    }
    queue[at] = event;
  }

  #pop(): Scheduled | null {
    const queue = this.#queue;
    const first = queue[0];
    const last = queue.pop();
    if (first === undefined || last === undefined) return null;
    if (queue.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const one = queue[left];
      const other = queue[left + 1];
      if (one === undefined) break;
      const [child, below] =
        other !== undefined && isBefore(other, one) ? [left + 1, other] : [left, one];
      if (isBefore(last, below)) break;
      queue[at] = below;
      at = child;
    }
    queue[at] = last;
    return first;
  }
}

function isBefore(one: Scheduled, other: Scheduled): boolean {
  return one.at_ms === other.at_ms ? one.number < other.number : one.at_ms < other.at_ms;
}

/** Node runs an immediate after all promises that can continue have continued. */
function promisesAtRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** An error of the platform itself: the caller may try again. */
export class PlatformError extends Error {
  readonly retryable = true;
  readonly durableObjectReset: boolean;

  constructor(message: string, is_reset = false) {
    super(message);
    this.durableObjectReset = is_reset;
  }
}
