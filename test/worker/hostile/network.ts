/** Other servers whose responses an attacker has changed. */
import * as fc from "fast-check";
import { vi } from "vitest";
import { hostileChange, hostileHeader, hostileText, MARK, type Change } from "./values.ts";

type Serve = (request: Request) => Response | Promise<Response>;

/** The changed parts of one response. */
export interface HostileResponse {
  /** Of the calls of one request, which is answered so. */
  readonly call: number;
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly many_headers: boolean;
  readonly body: Body;
}

type Body =
  | { readonly kind: "changed"; readonly change: Change }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "endless" | "broken" | "unchanged" };

const STATUSES = [200, 201, 204, 301, 302, 304, 307, 400, 401, 403, 404, 409, 410, 429, 500, 503];
const CHUNK_BYTES = 16 * 1024;
/** As many as a server may send before a client gives up. */
const MANY_HEADERS = 100;

/** `header_names`: those that the code reads of responses. */
export function hostileResponses(header_names: readonly string[]): fc.Arbitrary<HostileResponse> {
  const header = fc.tuple(fc.constantFrom(...header_names), hostileHeader);
  const body: fc.Arbitrary<Body> = fc.oneof(
    { weight: 8, arbitrary: hostileChange.map((change) => ({ kind: "changed" as const, change })) },
    { weight: 2, arbitrary: hostileText().map((text) => ({ kind: "text" as const, text })) },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ maxLength: 2_000 })
        .map((bytes) => ({ kind: "bytes" as const, bytes: new Uint8Array(bytes) })),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom("endless" as const, "broken" as const, "unchanged" as const)
        .map((kind) => ({ kind })),
    },
  );
  return fc.record({
    call: fc.integer({ min: 0, max: 2 }),
    status: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, fc.constantFrom(...STATUSES)),
    headers: fc.array(header, { maxLength: 2 }).map((pairs) => Object.fromEntries(pairs)),
    many_headers: fc.integer({ min: 0, max: 5 }).map((it) => it === 0),
    body,
  });
}

/** The network of a test: servers that answer rightly, until one response is changed. */
export class Network {
  serve: Serve = () => new Response("nothing is here", { status: 404 });
  /** The requests since the last {@link begin}. */
  calls = 0;
  /** The bytes of endless bodies that were read. */
  bytes = 0;
  #hostile: HostileResponse | null = null;

  constructor() {
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const response = await this.serve(new Request(input, init));
      this.calls += 1;
      const hostile = this.#hostile;
      return hostile === null || hostile.call !== this.calls - 1
        ? response
        : this.#change(response, hostile);
    });
  }

  /** Changes a response to the next request to the Worker; null: none. */
  begin(hostile: HostileResponse | null): void {
    this.#hostile = hostile;
    this.calls = 0;
    this.bytes = 0;
  }

  async #change(response: Response, hostile: HostileResponse): Promise<Response> {
    const headers = new Headers(response.headers);
    headers.delete("Content-Length");
    for (const [name, value] of Object.entries(hostile.headers)) headers.set(name, value);
    for (let at = 0; hostile.many_headers && at < MANY_HEADERS; at += 1) {
      headers.set(`X-${MARK}-${at}`, "x".repeat(500));
    }
    const status = hostile.status ?? response.status;
    const has_body = ![204, 304].includes(status);
    const body = has_body ? await this.#bodyOf(response, hostile.body) : null;
    return new Response(body, { status, headers });
  }

  async #bodyOf(response: Response, body: Body): Promise<BodyInit | null> {
    switch (body.kind) {
      case "unchanged":
        return response.body;
      case "text":
        return body.text;
      case "bytes":
        return body.bytes;
      case "changed": {
        const text = await response.text();
        return JSON.stringify(body.change(parse(text))) ?? "";
      }
      case "broken":
      case "endless":
        return this.#endless(body.kind === "broken");
    }
  }

  #endless(breaks: boolean): ReadableStream<Uint8Array> {
    const chunk = new TextEncoder().encode(`{"a":"${MARK}`.padEnd(CHUNK_BYTES, "x"));
    return new ReadableStream(
      {
        pull: (controller) => {
          this.bytes += chunk.byteLength;
          if (breaks && this.bytes > chunk.byteLength) controller.error(new Error("reset"));
          else controller.enqueue(chunk.slice());
        },
      },
      { highWaterMark: 0 },
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
