/** A `fetch` that reaches the Worker over a network which may lose, duplicate and delay requests. */
import type { Fetch, FetchedResponse, FetchInit } from "../../../src/client/index.ts";
import { send } from "../support/passbook.ts";

/**
 * What happens to one request.
 * - `request_lost`: it never arrives.
 * - `response_lost`: the service carries it out, and its response is lost.
 * - `doubled`: it arrives twice.
 * - `late`: it seems lost, and arrives after later requests.
 * - `failing`: the service responds with 503.
 * - `limited`: the service responds with 429.
 * - `garbled`, `mistaken`: the service carries it out, and a proxy responds with a page or with JSON.
 * - `blocked`: a firewall refuses it, and it never arrives.
 */
export const FAULTS = [
  "request_lost",
  "response_lost",
  "doubled",
  "late",
  "failing",
  "limited",
  "garbled",
  "mistaken",
  "blocked",
] as const;
export type Fault = (typeof FAULTS)[number] | "none";

/** A `fetch` that reaches the Worker. */
export const workerFetch: Fetch = async (url, init) => {
  const { method, headers, body = null } = init;
  const { status, headers: received, text } = await send(method, url, { headers, body });
  return responseOf(status, received, text);
};

function responseOf(status: number, headers: Headers, text: string): FetchedResponse {
  return { status, headers, text: async () => text };
}

export interface FaultyNetwork {
  readonly fetch: Fetch;
  /** All requests so far, including lost ones. */
  readonly sent: readonly FetchInit[];
  /** Delivers the late requests. */
  deliver(): Promise<void>;
}

/** A network that applies `faults` to its requests in turn, and delivers the rest. */
export function openNetwork(
  faults: readonly Fault[],
  onRequest: (count: number) => void = () => {},
): FaultyNetwork {
  const sent: FetchInit[] = [];
  const late: (() => Promise<unknown>)[] = [];
  const deliver = async (): Promise<void> => {
    for (const request of late.splice(0)) await request();
  };
  const fetch: Fetch = async (url, init) => {
    const fault = faults[sent.length] ?? "none";
    sent.push(init);
    onRequest(sent.length);
    init.signal.throwIfAborted();
    switch (fault) {
      case "none":
        return workerFetch(url, init);
      case "request_lost":
        throw new TypeError("fetch failed");
      case "response_lost":
        await workerFetch(url, init);
        throw new TypeError("fetch failed");
      case "doubled":
        await workerFetch(url, init);
        return workerFetch(url, init);
      case "late":
        late.push(() => workerFetch(url, init));
        throw new TypeError("fetch failed");
      case "failing":
        await deliver();
        return responseOf(
          503,
          new Headers({ "Retry-After": "5" }),
          `{"error":"","code":"unavailable"}`,
        );
      case "garbled":
        await workerFetch(url, init);
        return responseOf(200, new Headers(), "<p>Welcome to the airport</p>");
      case "limited":
        return responseOf(429, new Headers(), `{"error":"","code":"rate_limited"}`);
      case "mistaken":
        await workerFetch(url, init);
        return responseOf(200, new Headers(), `{"status":"up"}`);
      case "blocked":
        return responseOf(403, new Headers(), "<p>Attention required</p>");
    }
  };
  return { fetch, sent, deliver };
}
