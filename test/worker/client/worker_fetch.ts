/** `fetch` for the client that ends in the Worker, over a network that may lose, double and delay. */
import type { Fetch, FetchedResponse, FetchInit } from "../../../src/client/index.ts";
import { send } from "../support/passbook.ts";

/**
 * What happens to one request. `request_lost`: it never arrives. `answer_lost`: it is done, and nobody
 * hears. `doubled`: it arrives twice. `late`: it seems lost, and arrives after later ones. `failing`: the
 * service says it cannot now. `limited`: it says that this is too often. `garbled`, `mistaken`: it is done,
 * and something on the way answers in its place, with a page or with JSON. `blocked`: something on the way
 * refuses it, and it never arrives.
 */
export const FAULTS = [
  "request_lost",
  "answer_lost",
  "doubled",
  "late",
  "failing",
  "limited",
  "garbled",
  "mistaken",
  "blocked",
] as const;
export type Fault = (typeof FAULTS)[number] | "none";

/** The Worker as `fetch` reaches it. */
export const workerFetch: Fetch = async (url, init) => {
  const { method, headers, body = null } = init;
  const answer = await send(method, url, { headers, body });
  return responseOf(answer.status, answer.headers, answer.text);
};

function responseOf(status: number, headers: Headers, text: string): FetchedResponse {
  return { status, headers, text: async () => text };
}

export interface FaultyNetwork {
  readonly fetch: Fetch;
  /** Requests so far, those that were lost among them. */
  readonly sent: readonly FetchInit[];
  /** Delivers what is still on its way. */
  deliver(): Promise<void>;
}

/** A network that treats its requests by `faults`, in turn, and the rest well. */
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
      case "answer_lost":
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
