/** An unexpected error in the log: its kind, and the place in the code that threw it. */
import { errorName } from "./result.ts";

/** Frames that are logged; the innermost ones come first. */
const FRAMES_MAX = 12;

/** A place in the code, as V8 writes it. A line of an error message that looks different is no frame. */
const FRAME = /^\s+at (?:[\w$.#<>[\] ]+ \()?(?:async )?[^\s()]+:\d+:\d+\)?$/;

interface ErrorReport {
  readonly reason: string;
  /** Places in the bundle. `npm run trace` names the places in the source. */
  readonly stack: readonly string[];
}

/** The error without its message, since messages of stores can quote the values of a query. */
export function reportError(error: unknown): ErrorReport {
  return { reason: errorName(error), stack: error instanceof Error ? framesOf(error) : [] };
}

function framesOf({ message, stack = "" }: Error): string[] {
  const message_at = stack.indexOf(message);
  const after_message = message_at < 0 ? stack : stack.slice(message_at + message.length);
  return after_message
    .split("\n")
    .filter((line) => FRAME.test(line))
    .slice(0, FRAMES_MAX)
    .map((line) => line.trim());
}
