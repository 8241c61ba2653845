/**
 * The account's changes as they happen: one stream after another, each from the last line that came. A line
 * is given once, in order, whatever is broken off, repeated or renewed on the way.
 */
import { keepFresh, type Credentials } from "./credentials.ts";
import { isRefusal, PassbookError } from "./errors.ts";
import { openStream, type Part } from "./event_stream.ts";
import { delayBefore, isFinal, isTooLong, type Transport } from "./transport.ts";
import type { AccountEvent } from "./responses.ts";

export interface FollowEvents {
  /** The last line that is known: begins with the one after it. Without, with a snapshot. */
  readonly after?: number | undefined;
  /** Ends it, without an error. */
  readonly signal?: AbortSignal | undefined;
}

/** Follows the events of one account. See `PassbookClient.events`. */
export async function* followEvents(
  transport: Transport,
  credentials: Credentials,
  { after, signal }: FollowEvents,
): AsyncGenerator<AccountEvent, void, undefined> {
  if (after !== undefined && !isLine(after)) {
    throw new PassbookError("invalid_argument", "after must be the number of a line.");
  }
  const stopKeepingFresh = keepFresh(credentials);
  const insistence = createInsistence(transport, credentials);
  const isOver = (): boolean => signal?.aborted === true;
  let last_line = after;
  try {
    while (!isOver()) {
      const call = { path: "/api/events", query: { after: last_line }, credentials, signal };
      try {
        for await (const part of openStream(transport, call)) {
          const event = part.kind === "message" ? readEvent(part) : null;
          insistence.note(part);
          if (event === null || isKnown(event, last_line)) continue;
          last_line = event.line;
          yield event;
        }
        await insistence.pauseAfter(new PassbookError("no_answer", "The stream ended."), signal);
      } catch (error) {
        if (isOver() || !(error instanceof PassbookError)) throw error;
        await insistence.pauseAfter(error, signal);
      }
    }
  } catch (error) {
    if (!isOver()) throw error;
  } finally {
    stopKeepingFresh();
  }
}

interface Insistence {
  /** Takes note of what came. */
  note(part: Part): void;
  /** Waits before the next stream. @throws the error, where there is to be none. */
  pauseAfter(error: PassbookError, signal: AbortSignal | undefined): Promise<void>;
}

/**
 * How long to go on. Until there was a stream, as long as other calls do; then for as long as it takes,
 * unless the service says no, or what answers in its place is not the service, time after time.
 */
function createInsistence(transport: Transport, credentials: Credentials): Insistence {
  let [failures, opened, reauthorised] = [0, false, false];
  return {
    note({ kind }) {
      opened = true;
      reauthorised = false;
      // A stream that opens and brings nothing is no success: pauses go on growing.
      if (kind !== "opened") failures = 0;
    },
    async pauseAfter(error, signal) {
      if (error.status === 401 && !reauthorised && (await credentials.replace())) {
        reauthorised = true;
        return;
      }
      failures += 1;
      const delay_ms = delayBefore(failures, error);
      const bounded = !opened || error.code === "bad_answer";
      const spent = failures > transport.retries || isTooLong(delay_ms) || isFinal(error);
      if (isRefusal(error) || isOwnMistake(error) || (bounded && spent)) throw error;
      await transport.wait(delay_ms, signal);
    },
  };
}

/** Nothing was sent, nor would be the next time. */
function isOwnMistake({ code }: PassbookError): boolean {
  return code === "no_credentials" || code === "invalid_argument";
}

/** What is not newer was told already; a snapshot of an older line is the service's word that it is so. */
function isKnown({ line, kind }: AccountEvent, last_line: number | undefined): boolean {
  if (last_line === undefined) return false;
  return kind === "snapshot" ? line === last_line : line <= last_line;
}

/** @throws PassbookError `bad_answer` for what the service does not say. */
function readEvent({ id, data }: Part & { readonly kind: "message" }): AccountEvent {
  const event = parse(data);
  if (event !== null && id === String(event.line)) return event;
  throw new PassbookError("bad_answer", "The stream is not one of the service's.");
}

function parse(data: string): AccountEvent | null {
  try {
    const event = JSON.parse(data) as AccountEvent | null;
    if (!isLine(event?.line) || typeof event?.kind !== "string") return null;
    const numbers = [event.credits, event.reserved, event.kind === "snapshot" ? 0 : event.amount];
    return numbers.every((number) => Number.isSafeInteger(number)) ? event : null;
  } catch {
    return null;
  }
}

function isLine(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
