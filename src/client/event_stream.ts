/** Server-sent events (WHATWG HTML, section 9.2), read from the bytes of one answer as they come. */
import type { Credentials } from "./credentials.ts";
import { PassbookError } from "./errors.ts";
import { readRefusal, type Transport } from "./transport.ts";

/** `opened`: the answer is a stream. `pulse`: a comment, which says that it lives. */
export type Part =
  | { readonly kind: "opened" | "pulse" }
  | { readonly kind: "message"; readonly id: string; readonly data: string };

/** The service says every 25 seconds that it lives; a stream that is silent for longer is dead. */
const SILENCE_MAX_MS = 60_000;

/** Characters of a message that is not complete. The service's longest are some 20,000. */
const MESSAGE_MAX_LENGTH = 1_000_000;

/**
 * Opens a stream and gives its parts until it ends; one that is broken off in the midst of a message ends
 * before that message.
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
  const heard = async <Value>(asked: Promise<Value>, within_ms: number): Promise<Value> => {
    const timer = setTimeout(() => silence.abort(), within_ms);
    try {
      return await orAborted(asked, signal);
    } catch (error) {
      call.signal?.throwIfAborted();
      if (error instanceof PassbookError) throw error;
      throw new PassbookError("no_answer", "The service went silent.", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    const init = { ...call, accept: "text/event-stream", signal };
    const response = await heard(transport.open(init), transport.timeoutMs);
    const type = response.headers.get("Content-Type") ?? "";
    if (response.status !== 200 || !/^text\/event-stream\b/i.test(type) || !response.body) {
      throw readRefusal(response, await heard(response.text(), transport.timeoutMs));
    }
    yield { kind: "opened" };
    const reader = response.body.getReader();
    const parse = createParser();
    for (;;) {
      const { done, value } = await heard(reader.read(), SILENCE_MAX_MS);
      if (done || value === undefined) return;
      yield* parse(value);
    }
  } finally {
    // Lets go of the connection, however this ended.
    silence.abort();
  }
}

/** Settles as `asked` does, but no later than the signal, which not every `fetch` obeys. */
function orAborted<Value>(asked: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    void asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** A carriage return at the very end may be half of a line's end. */
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
      throw new PassbookError("bad_answer", "The stream is not one of the service's.");
    }
    return parts;
  };
}
