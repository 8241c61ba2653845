/**
 * A keep-alive HTTP/1.1 connection that sends one request at a time, written for the benchmark: a general client would use
 * more of the machine than the servers do.
 */
import { connect, type Socket } from "node:net";

export interface HttpResponse {
  readonly status: number;
  /** The status line and the headers. */
  readonly head: string;
  readonly body: string;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");
const SILENCE_MS = 30_000;

/** The bytes of a request. `headers` are lines without line ends. */
export function requestBytes(
  method: "GET" | "POST",
  path: string,
  headers: readonly string[],
  body: string | null,
): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", ...headers];
  if (body !== null) {
    lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve(response: HttpResponse): void; reject(error: Error): void } | null = null;

  private constructor(socket: Socket, silence_ms: number) {
    this.#socket = socket;
    socket.setNoDelay(true);
    const silence = `no response within ${silence_ms / 1000} seconds`;
    socket.setTimeout(silence_ms, () => socket.destroy(new Error(silence)));
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  /** Opens a connection to a port of this machine. It closes if it receives nothing for `silence_ms`. */
  static open(port: number, silence_ms = SILENCE_MS): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      const connection = new Connection(socket, silence_ms);
      socket.once("error", reject);
      socket.once("connect", () => resolve(connection));
    });
  }

  get is_open(): boolean {
    return !this.#socket.destroyed;
  }

  /** Sends one request and waits for the whole response. One at a time. */
  ask(request: Buffer): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const response = readResponse(this.#received);
    if (response === null) return;
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(response);
  }
}

/** The response once it is complete; null until then. */
function readResponse(received: Buffer): HttpResponse | null {
  const head_length = received.indexOf(HEAD_END);
  if (head_length === -1) return null;
  const head = received.toString("latin1", 0, head_length);
  const start = head_length + HEAD_END.length;
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const end = start + Number(length);
    if (received.length < end) return null;
    return { status, head, body: received.toString("utf8", start, end) };
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, head, body: "" };
  const ended = received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  return ended ? { status, head, body: readChunks(received.subarray(start)) } : null;
}

function readChunks(chunked: Buffer): string {
  const chunks: Buffer[] = [];
  for (let at = 0; at < chunked.length;) {
    const line_end = chunked.indexOf("\r\n", at);
    const size = Number.parseInt(chunked.toString("latin1", at, line_end), 16);
    if (!(size > 0)) break;
    chunks.push(chunked.subarray(line_end + 2, line_end + 2 + size));
    at = line_end + 2 + size + 2;
  }
  return Buffer.concat(chunks).toString("utf8");
}
