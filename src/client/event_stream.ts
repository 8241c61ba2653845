/** Server-sent events (WHATWG HTML, section 9.2), parsed from the bytes of one response as they arrive. */
import type { Credentials } from "./credentials.ts";
import { PassbookError } from "./errors.ts";
import { readRefusal, type Transport } from "./transport.ts";

/** `opened`: the response is an event stream. `pulse`: a comment that keeps the connection alive. */
export type Part =
  | { readonly kind: "opened" | "pulse" }
  | { readonly kind: "message"; readonly id: string; readonly data: string };

/** The service sends a pulse every 25 seconds. A stream without one for this long has lost its connection. */
const SILENCE_MAX_MS = 60_000;

/** Most characters of an incomplete message. The longest messages of the service have about 20,000. */
const MESSAGE_MAX_LENGTH = 1_000_000;

/**
 * Opens a stream and yields its parts until it ends. An incomplete message at the end is dropped.
 * @throws PassbookError, or the reason of an aborted signal.
 */
export async function* openStream(
  transport: Transport,
  call: {
    readonly path: string;
    readonly query: Readonly<Record<string, number | undefined>>;
    readonly credentials: Credentials;
    readonly signal: AbortSignal | undefined;
  },
): AsyncGenerator<Part, void, undefined> {
  const silence = new AbortController();
  const signal =
    call.signal === undefined ? silence.signal : AbortSignal.any([call.signal, silence.signal]);
  const within = async <Value>(promise: Promise<Value>, limit_ms: number): Promise<Value> => {
    const timer = setTimeout(() => silence.abort(), limit_ms);
    try {
      return await orAborted(promise, signal);
    } catch (error) {
      call.signal?.throwIfAborted();
      if (error instanceof PassbookError) throw error;
      throw new PassbookError("no_response", "The event stream sent nothing for too long.", {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    const init = { ...call, accept: "text/event-stream", signal };
    const response = await within(transport.open(init), transport.timeoutMs);
    const type = response.headers.get("Content-Type") ?? "";
    if (response.status !== 200 || !/^text\/event-stream\b/i.test(type) || !response.body) {
      throw readRefusal(response, await within(response.text(), transport.timeoutMs));
    }
    yield { kind: "opened" };
    const reader = response.body.getReader();
    const parse = createParser();
    for (;;) {
      const { done, value } = await within(reader.read(), SILENCE_MAX_MS);
      if (done || value === undefined) return;
      yield* parse(value);
    }
  } finally {
    // Closes the connection in every case.
    silence.abort();
  }
}

/** Settles like `promise`, but rejects when the signal is aborted: not every `fetch` does. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** A carriage return at the end of a chunk may be the first half of a line end. */
const LINE_END = /\r\n|\n|\r(?!$)/;

function createParser(): (bytes: Uint8Array) => Part[] {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  let data: string[] = [];
  const takeLine = (line: string): Part | null => {
    if (line.startsWith(":")) return { kind: "pulse" };
    if (line === "") {
      const message = { kind: "message", id, data: data.join("\n") } as const;
      data = [];
      return message.data === "" ? null : message;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "id") id = value;
    if (name === "data") data.push(value);
    return null;
  };
  return (bytes) => {
    rest += decoder.decode(bytes, { stream: true });
    const parts: Part[] = [];
    for (let end = LINE_END.exec(rest); end !== null; end = LINE_END.exec(rest)) {
      const part = takeLine(rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length);
      if (part !== null) parts.push(part);
    }
    if (rest.length + data.join("").length > MESSAGE_MAX_LENGTH) {
      throw new PassbookError(
        "invalid_response",
        "The event stream does not come from the service. Check baseUrl.",
      );
    }
    return parts;
  };
}
