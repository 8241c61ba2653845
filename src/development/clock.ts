/**
 * The clock of the development build. Production's build does not have this file: there `Date` is the platform's own.
 *
 * The Worker and its objects run in one isolate on a developer's machine, so one offset moves all of them. After a
 * restart the time is the real one again.
 */
const RealDate = Date;

let offset_ms = 0;

/** The real time plus the offset, wherever the program reads the time. */
class MovedDate extends RealDate {
  constructor(...given: readonly unknown[]) {
    // The constructor has several forms, and only the one without arguments reads the clock.
    super(...((given.length === 0 ? [MovedDate.now()] : given) as [number]));
  }

  static override now(): number {
    return RealDate.now() + offset_ms;
  }
}

globalThis.Date = MovedDate as DateConstructor;

/** Moves the clock to a time in the future; to an earlier one it stays where it is. */
export function moveTo(at_ms: number): void {
  offset_ms = Math.max(offset_ms, at_ms - RealDate.now());
}

/** Back to the real time. */
export function resetClock(): void {
  offset_ms = 0;
}

/** The real time at which the moved clock shows `at_ms`. */
export const realTimeOf = (at_ms: number): number => at_ms - offset_ms;

/** What the moved clock shows at a real time. */
export const movedTimeOf = (real_ms: number): number => real_ms + offset_ms;
