/**
 * The book of one account: it says exactly what each response must be. Credits also come and go by themselves: a plan's turn or
 * the end of a lot at a known time, and a charge of the card at any time. If one of these may have been just before a request
 * or just after it, the book keeps both, until a response shows which one it was.
 */
import { BrokenRule, type Answer } from "./caller.ts";
import { Holdings } from "./holdings.ts";

/** When a request was under way. */
export interface Underway extends Pick<Answer, "from_ms" | "to_ms"> {
  /** When what it asks for has another effect; left out: never. */
  readonly turns_at_ms?: number;
}

/** The Worker's clock is that of the last message that it received, and so may be late by so much. */
const LATE_MS = 50;

export class Book {
  readonly #identity_id: string;
  #possible: readonly Holdings[] = [new Holdings()];

  constructor(identity_id: string) {
    this.#identity_id = identity_id;
  }

  /**
   * Notes a request with what it changed. `shows`: what its response must show.
   * @throws BrokenRule if `shown` is impossible
   */
  note(
    what: string,
    { from_ms, to_ms, turns_at_ms = Infinity }: Underway,
    change: (it: Holdings, now_ms: number) => void,
    shows: (it: Holdings) => unknown,
    shown: unknown,
  ): void {
    const text = JSON.stringify(shown);
    const next: Holdings[] = [];
    const expected = new Set<string>();
    for (const before of this.#possible) {
      for (const start of chargesOf(before)) {
        const times = [...start.timesBetween(from_ms - LATE_MS, to_ms)];
        if (turns_at_ms <= to_ms) times.push(turns_at_ms);
        const before_ms = Math.min(from_ms, ...times.map((at_ms) => at_ms - 1));
        for (const now_ms of [before_ms, ...times]) {
          const after = start.copy();
          after.passTime(now_ms);
          change(after, now_ms);
          after.decideTopUp();
          const shows_after = JSON.stringify(shows(after));
          expected.add(shows_after);
          if (shows_after === text) next.push(after);
        }
      }
    }
    if (next.length === 0) {
      const wanted = [...expected].join(" or ");
      throw new BrokenRule(`${what} of ${this.#identity_id} shows ${text}, and not ${wanted}`);
    }
    this.#possible = next.length === 1 ? next : withoutEqual(next);
  }

  /** The book knows an ended job only as long as something about it may be asked. */
  forgetJob(id: string): void {
    for (const it of this.#possible) it.forgetJob(id);
  }

  /** Nothing happens to a purchase any more. */
  forgetPurchase(id: string): void {
    for (const it of this.#possible) it.forgetPurchase(id);
  }

  /** Whether a value is so in everything that is possible. */
  isSure(holds: (it: Holdings) => boolean): boolean {
    return this.#possible.every(holds);
  }

  /** Any of what is possible: exact, while nothing comes by itself. */
  get holdings(): Holdings {
    const [first = new Holdings()] = this.#possible;
    return first;
  }
}

/** What charges may have done before the next request. Each one may have caused another one. */
function chargesOf(before: Holdings): readonly Holdings[] {
  return [before, ...before.afterCharge().flatMap(chargesOf)];
}

function withoutEqual(all: readonly Holdings[]): readonly Holdings[] {
  return [...new Map(all.map((it) => [JSON.stringify(it), it])).values()];
}
