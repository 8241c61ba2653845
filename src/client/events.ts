/**
 * The account's changes as they happen. After a lost connection the next stream resumes at the last entry, so that the
 * caller gets each entry once and in order.
 */
import { keepFresh, type Credentials } from "./credentials.ts";
import { isRefusal, PassbookError } from "./errors.ts";
import { openStream, type Part } from "./event_stream.ts";
import { delayBefore, isFinal, isTooLong, type Transport } from "./transport.ts";
import type { AccountEvent } from "./responses.ts";

/** Where the events begin, and what the caller learns about the connection. */
export interface FollowEvents {
  /** The number of the last entry that the caller knows. If omitted, the events begin with a snapshot. */
  readonly after?: number | undefined;
  /** Ends the events without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called each time a stream opens: the first one, and each one after a lost connection. */
  readonly onOpen?: (() => void) | undefined;
}

/** Follows the events of one account. See `PassbookClient.events`. */
export async function* followEvents(
  transport: Transport,
  credentials: Credentials,
  { after, signal, onOpen }: FollowEvents,
): AsyncGenerator<AccountEvent, void, undefined> {
  if (after !== undefined && !isEntryNumber(after)) {
    throw new PassbookError(
      "invalid_argument",
      "after must be the number of a ledger entry: a whole number from 0.",
    );
  }
  const stopKeepingFresh = keepFresh(credentials);
  const reconnection = createReconnection(transport, credentials);
  const isOver = (): boolean => signal?.aborted === true;
  let last_line = after;
  try {
    while (!isOver()) {
      const call = { path: "/api/events", query: { after: last_line }, credentials, signal };
      try {
        for await (const part of openStream(transport, call)) {
          const event = part.kind === "message" ? readEvent(part) : null;
          reconnection.note(part);
          if (part.kind === "opened") onOpen?.();
          if (event === null || isKnown(event, last_line)) continue;
          if ("line" in event) last_line = event.line;
          yield event;
        }
        await reconnection.pauseAfter(
          new PassbookError("no_response", "The stream ended."),
          signal,
        );
      } catch (error) {
        if (isOver() || !(error instanceof PassbookError)) throw error;
        await reconnection.pauseAfter(error, signal);
      }
    }
  } catch (error) {
    if (!isOver()) throw error;
  } finally {
    stopKeepingFresh();
  }
}

interface Reconnection {
  /** Records a part of a stream. */
  note(part: Part): void;
  /** Waits before the next stream. @throws the error if the caller should not reconnect. */
  pauseAfter(error: PassbookError, signal: AbortSignal | undefined): Promise<void>;
}

/**
 * How long to reconnect. Before the first stream, as often as other calls retry. After it without limit, unless the
 * service refuses or responses repeatedly come from something else.
 */
function createReconnection(transport: Transport, credentials: Credentials): Reconnection {
  let [failures, opened, reauthorised] = [0, false, false];
  return {
    note({ kind }) {
      opened = true;
      reauthorised = false;
      // A stream that opens and sends nothing does not count as a success: the pauses keep growing.
      if (kind !== "opened") failures = 0;
    },
    async pauseAfter(error, signal) {
      if (error.status === 401 && !reauthorised && (await credentials.replace())) {
        reauthorised = true;
        return;
      }
      failures += 1;
      const delay_ms = delayBefore(failures, error);
      const bounded = !opened || error.code === "invalid_response";
      const spent = failures > transport.retries || isTooLong(delay_ms) || isFinal(error);
      if (isRefusal(error) || isCallerError(error) || (bounded && spent)) throw error;
      await transport.wait(delay_ms, signal);
    },
  };
}

/** An error before anything was sent; a retry would fail in the same way. */
function isCallerError({ code }: PassbookError): boolean {
  return code === "no_credentials" || code === "invalid_argument";
}

/** Older entries were yielded before. A snapshot of an older entry is new: the account was restored to it. */
function isKnown(event: AccountEvent, last_line: number | undefined): boolean {
  // An event without an entry is sent once.
  if (last_line === undefined || !("line" in event)) return false;
  const { line, kind } = event;
  return kind === "snapshot" ? line === last_line : line <= last_line;
}

/** @throws PassbookError `invalid_response` if the message is not an event of the service */
function readEvent({ id, data }: Part & { readonly kind: "message" }): AccountEvent {
  const event = parse(data);
  // Without an entry, the stream stays at the last one.
  if (event !== null && (!("line" in event) || id === String(event.line))) return event;
  throw new PassbookError("invalid_response", "The stream is not one of the service's.");
}

function parse(data: string): AccountEvent | null {
  try {
    const event = JSON.parse(data) as AccountEvent | null;
    if (typeof event?.kind !== "string") return null;
    if (!("line" in event)) return typeof event.id === "string" ? event : null;
    if (!isEntryNumber(event.line)) return null;
    const numbers = [event.credits, event.held, event.kind === "snapshot" ? 0 : event.amount];
    return numbers.every((number) => Number.isSafeInteger(number)) ? event : null;
  } catch {
    return null;
  }
}

function isEntryNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
