import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import {
  createClient,
  type AccountEvent,
  type ClientOptions,
  type Fetch,
} from "../../../src/client/index.ts";
import document from "../../../docs/openapi.json";
import worker from "../../../src/worker.ts";
import { passTime } from "../support/clock.ts";
import { check } from "../support/conformance.ts";
import { BASE_URL, send, signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";

const ORIGIN = "http://localhost";
const encoder = new TextEncoder();

/** A `fetch` that reaches the Worker and its streams. */
const here: Fetch = async (url, init) => {
  const request = new Request(url.replace(ORIGIN, BASE_URL), init);
  return worker.fetch(request, env, createExecutionContext());
};

type Options = Pick<ClientOptions, "fetch" | "wait" | "token">;

function clientWith(options: Options) {
  return createClient({ baseUrl: ORIGIN, wait: async () => {}, token: "t", ...options });
}

interface Shown {
  readonly after: string | null;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** The number of an event's entry. */
const lineOf = (event: AccountEvent): number =>
  "line" in event ? event.line : expect.fail("an event without an entry");

/** One response: chunks and then its end, a lost connection (`breaks`), or nothing more (`hangs`). */
interface Stream {
  readonly chunks: readonly (string | Uint8Array)[];
  readonly ending?: "ends" | "breaks" | "hangs";
  readonly status?: number;
  readonly type?: string;
}

/** A `fetch` that responds with streams, chosen by `after` and by the number of the request. */
function streaming(respond: (after: number | null, attempt: number) => Stream) {
  const requests: Shown[] = [];
  const fetch: Fetch = async (url, { headers }) => {
    const after = new URL(url).searchParams.get("after");
    requests.push({ after, url, headers });
    const {
      chunks,
      ending = "ends",
      ...more
    } = respond(after === null ? null : Number(after), requests.length);
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          for (const chunk of chunks) {
            controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
          }
          if (ending === "ends") controller.close();
        },
        pull(controller) {
          if (ending === "breaks") controller.error(new TypeError("terminated"));
        },
      },
      { highWaterMark: 0 },
    );
    const type = more.type ?? "text/event-stream; charset=utf-8";
    return new Response(body, { status: more.status ?? 200, headers: { "Content-Type": type } });
  };
  return { fetch, requests };
}

function lineText(line: number, note = "zwölf €"): string {
  const event = { line, kind: "grant", amount: 1, credits: line, held: 0, job: null, note };
  return `id: ${line}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The service's events after an entry, up to `newest`. */
function linesAfter(after: number | null, newest: number): string {
  const first = (after ?? 0) + 1;
  const lines = Array.from({ length: Math.max(0, newest - first + 1) }, (_, at) => first + at);
  return `retry: 1000\n\n${lines.map((line) => lineText(line)).join("")}: alive\n\n`;
}

/** The first events of a client, which is then stopped. */
async function take(
  count: number,
  options: Options,
  follow: { readonly after?: number } = {},
): Promise<AccountEvent[]> {
  const taken: AccountEvent[] = [];
  for await (const event of clientWith(options).events(follow)) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

async function runJob(person: SignedIn, cost = 7): Promise<void> {
  const job = { app: "demo", action: "draw", cost_estimate: 10 };
  const { job_id } = (await person.post("/api/jobs", job)).body;
  await person.post("/api/jobs/complete", { job_id, actual_cost: cost });
}

describe("the client's events", () => {
  it("the events are a snapshot and then each entry as it is written", async () => {
    const ada = await signInWithCredits();
    const taken: AccountEvent[] = [];
    for await (const event of clientWith({ token: ada.token, fetch: here }).events()) {
      taken.push(event);
      if (taken.length === 1) await runJob(ada);
      if (taken.length === 3) break;
    }
    expect(taken).toMatchObject([
      { line: 2, kind: "snapshot", credits: 100, held: 0 },
      { line: 3, kind: "reserve", amount: -10, credits: 90, held: 10 },
      { line: 4, kind: "settle", amount: 3, job: { status: "completed" }, app: "demo" },
    ]);
  });

  it("each event of a stream has the fields that the document describes", async () => {
    const ada = await signInWithCredits();
    const events = clientWith({ fetch: here, token: ada.token }).events();
    const snapshot = await events.next();
    await runJob(ada);
    const received = [snapshot, await events.next(), await events.next()];
    await events.return();
    const { AccountEvent } = document.components.schemas;
    for (const { value } of received) check(AccountEvent, value, "an event");
    expect(received.map(({ value }) => value?.kind)).toEqual(["snapshot", "reserve", "settle"]);
  });

  it("the events begin after the entry that the caller knows", async () => {
    const ada = await signInWithCredits();
    await runJob(ada);
    const taken = await take(2, { token: ada.token, fetch: here }, { after: 2 });
    expect(taken.map(lineOf)).toEqual([3, 4]);
  });

  it("the events end without an error when they are stopped at any point", async () => {
    const ada = await signInWithCredits();
    const never: Fetch = () => new Promise(() => {});
    const dead: Fetch = () => Promise.reject(new TypeError("fetch failed"));
    for (const fetch of [here, never, dead]) {
      const stop = new AbortController();
      const wait = (_: number, signal?: AbortSignal): Promise<void> =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason as Error));
        });
      const client = clientWith({ token: ada.token, fetch, wait });
      const events = client.events({ after: 2, signal: stop.signal });
      const next = events.next();
      stop.abort(new Error("enough"));
      expect(await next).toEqual({ done: true, value: undefined });
      expect(await client.events({ signal: stop.signal }).next()).toMatchObject({ done: true });
    }
  });

  it("the events have each entry once and in order, wherever a stream is broken off", async () => {
    const whole = encoder.encode(linesAfter(3, 5));
    for (let at = 0; at <= whole.length; at += 1) {
      for (const ending of ["breaks", "ends"] as const) {
        const { fetch, requests } = streaming((after, attempt) =>
          attempt === 1
            ? { chunks: [whole.slice(0, at)], ending }
            : { chunks: [linesAfter(after, 7)], ending: "hangs" },
        );
        const taken = await take(4, { fetch }, { after: 3 });
        expect(taken.map(lineOf)).toEqual([4, 5, 6, 7]);
        expect(taken).toMatchObject(taken.map(() => ({ note: "zwölf €" })));
        expect(requests).toHaveLength(2);
      }
    }
  });

  it("an event stream is read correctly in chunks of any size and with any line ends", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const text = `${linesAfter(0, 3).replaceAll("\n", end)}:${end}`;
      const bytes = encoder.encode(text);
      const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
      for (const chunks of [pieces, [bytes]]) {
        const { fetch } = streaming(() => ({ chunks, ending: "hangs" }));
        expect((await take(3, { fetch }, { after: 0 })).map(lineOf)).toEqual([1, 2, 3]);
      }
    }
  });

  it("an event that arrives twice is yielded once", async () => {
    const { fetch, requests } = streaming((_, attempt) =>
      attempt === 1
        ? { chunks: [lineText(1) + lineText(2) + lineText(1) + lineText(3)] }
        : { chunks: [lineText(2) + lineText(3) + lineText(4)] },
    );
    const taken = await take(4, { fetch }, { after: 0 });
    expect(taken.map(lineOf)).toEqual([1, 2, 3, 4]);
    expect(requests.map(({ after }) => after)).toEqual(["0", "3"]);
  });

  it("the events continue from a snapshot if too many entries were missed or the account was restored", async () => {
    const snapshot = (line: number) =>
      `id: ${line}\ndata: {"line":${line},"kind":"snapshot","credits":1,"held":0}\n\n`;
    const { fetch, requests } = streaming((_, attempt) => ({
      chunks: [
        [snapshot(5), snapshot(5) + snapshot(20_000), snapshot(3) + lineText(4)][attempt - 1] ?? "",
      ],
    }));
    const taken = await take(4, { fetch });
    expect(taken.map(lineOf)).toEqual([5, 20_000, 3, 4]);
    expect(requests.map(({ after }) => after)).toEqual([null, "5", "20000"]);
  });

  it("after a first stream the client reconnects without limit, with growing pauses", async () => {
    const pauses: number[] = [];
    const { fetch: streams } = streaming((after) => ({
      chunks: [linesAfter(after, (after ?? 0) + 1)],
    }));
    let count = 0;
    const fetch: Fetch = async (url, init) => {
      count += 1;
      if (count === 1 || count > 40) return streams(url, init);
      if (count % 2 === 0) throw new TypeError("fetch failed");
      return new Response("Bad gateway", { status: 502 });
    };
    const wait = async (ms: number): Promise<void> => void pauses.push(ms);
    expect(await take(2, { fetch, wait }, { after: 0 })).toMatchObject([{ line: 1 }, { line: 2 }]);
    expect(pauses).toHaveLength(40);
    expect(Math.max(...pauses.slice(0, 2))).toBeLessThan(Math.min(...pauses.slice(10)));
  });

  it("without a first stream the client gives up after its retries", async () => {
    let count = 0;
    const fetch: Fetch = async () => {
      count += 1;
      throw new TypeError("fetch failed");
    };
    await expect(take(1, { fetch })).rejects.toMatchObject({ code: "no_response" });
    expect(count).toBe(5);
  });

  it("a stream without a pulse for too long counts as lost", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { fetch, requests } = streaming((after, attempt) => ({
      chunks: [attempt === 1 ? lineText(1) : linesAfter(after, 2)],
      ending: "hangs",
    }));
    const taking = take(2, { fetch }, { after: 0 });
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(10_000);
      expect(requests).toHaveLength(2);
    });
    expect(await taking).toHaveLength(2);
  });
});

describe("the client's events behind a firewall or proxy", () => {
  const event = { line: 1, kind: "grant", amount: 1, credits: 1, held: 0 };
  it.each([
    ["a page", { chunks: ["<p>Welcome to the airport</p>"], type: "text/html" }],
    ["JSON", { chunks: ['{"status":"up"}'], type: "application/json" }],
    ["a stream of another type", { chunks: [lineText(1)], type: "text/plain" }],
    ["a redirect", { chunks: [], status: 302 }],
    ["no JSON", { chunks: ["id: 1\ndata: hello\n\n"] }],
    ["null", { chunks: ["id: 1\ndata: null\n\n"] }],
    ["another id", { chunks: [`id: 2\ndata: ${JSON.stringify(event)}\n\n`] }],
    ["no id", { chunks: [`data: ${JSON.stringify(event)}\n\n`] }],
    ["no kind", { chunks: [`id: 1\ndata: ${JSON.stringify({ ...event, kind: 1 })}\n\n`] }],
    ["no amount", { chunks: [`id: 1\ndata: ${JSON.stringify({ ...event, amount: "1" })}\n\n`] }],
    [
      "half a credit",
      { chunks: [`id: 1\ndata: ${JSON.stringify({ ...event, credits: 0.5 })}\n\n`] },
    ],
    ["no held", { chunks: [`id: 1\ndata: ${JSON.stringify({ ...event, held: null })}\n\n`] }],
    ["a line without an end", { chunks: ["data: ".padEnd(1_000_100, "x")], ending: "hangs" }],
  ] as const)("give nothing of %s, and say so in the end", async (_, stream) => {
    const { fetch, requests } = streaming(() => stream);
    const given: AccountEvent[] = [];
    const reading = (async () => {
      for await (const each of clientWith({ fetch }).events({ after: 0 })) given.push(each);
    })();
    await expect(reading).rejects.toMatchObject({ code: "invalid_response" });
    expect(given).toEqual([]);
    expect(requests).toHaveLength(5);
  });

  it("the events continue once the service itself responds again", async () => {
    const { fetch } = streaming((after, attempt) =>
      attempt % 3 === 0
        ? { chunks: [lineText((after ?? 0) + 1)] }
        : { chunks: ["<p>Welcome</p>"], type: "text/html" },
    );
    expect(await take(5, { fetch }, { after: 0 })).toHaveLength(5);
  });

  it("an after that is not an entry number is refused before a request is sent", async () => {
    for (const after of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const { fetch, requests } = streaming(() => ({ chunks: [] }));
      await expect(take(1, { fetch }, { after })).rejects.toMatchObject({
        code: "invalid_argument",
      });
      expect(requests).toEqual([]);
    }
  });
});

describe("the credentials of an event stream", () => {
  it("a refusal of the service ends the events", async () => {
    const forged = take(1, { fetch: here, token: "nonsense" });
    await expect(forged).rejects.toMatchObject({ code: "unauthorized", status: 401 });
    const none = createClient({ baseUrl: ORIGIN, fetch: here }).events();
    await expect(none.next()).rejects.toMatchObject({ code: "no_credentials" });
  });

  it("the client sends its token to the event stream, or the browser's cookies without a token", async () => {
    const { fetch, requests } = streaming(() => ({ chunks: [lineText(1)] }));
    await take(1, { fetch });
    expect(requests).toMatchObject([
      { url: `${ORIGIN}/api/events`, headers: { Authorization: "Bearer t" } },
    ]);
    let credentials: string | undefined;
    const noting: Fetch = (url, init) => {
      credentials = init.credentials;
      return fetch(url, init);
    };
    const family = createClient({ baseUrl: ORIGIN, fetch: noting, cookies: true });
    await family.events().next();
    expect(credentials).toBe("include");
    expect(requests[1]?.headers).not.toHaveProperty("Authorization");
  });

  it("the client reconnects with a renewed token when the session token has expired", async () => {
    const ada = await signInWithCredits();
    const tokens: string[] = [];
    const events = clientWith({
      fetch: here,
      token: async () => {
        const fresh = await signIn("ada@example.com");
        tokens.push(fresh.token);
        return fresh.token;
      },
    }).events();
    expect(await events.next()).toMatchObject({ value: { line: 2, kind: "snapshot" } });
    passTime(16 * 60_000);
    const again = await signIn("ada@example.com");
    await runJob(again);
    expect(await events.next()).toMatchObject({ value: { line: 3, kind: "reserve" } });
    expect(await events.next()).toMatchObject({ value: { line: 4, kind: "settle" } });
    expect(tokens).toHaveLength(2);
    await events.return();
    expect(ada.identity_id).toBe(again.identity_id);
  });

  it("the client renews a token that was given as text, and the events resume without a gap", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    const ada = await signInWithCredits();
    const sent: (string | undefined)[] = [];
    const renewals = vi.fn<() => void>();
    const events = clientWith({
      token: ada.token,
      fetch: async (url, init) => {
        if (url.includes("/api/events")) sent.push(init.headers["Authorization"]);
        const response = await here(url, init);
        if (url.includes("/api/sessionToken")) renewals();
        return response;
      },
    }).events();
    expect(await events.next()).toMatchObject({ value: { line: 2, kind: "snapshot" } });
    const next = events.next();
    vi.setSystemTime(Date.now() + 14 * 60_000 + 30_000);
    const renewed = vi.waitFor(() => expect(renewals).toHaveBeenCalled());
    vi.advanceTimersByTime(20_000);
    await renewed;
    vi.setSystemTime(Date.now() + 60_000);
    await runJob(await signIn("ada@example.com"));
    expect(await next).toMatchObject({ value: { line: 3, kind: "reserve" } });
    expect(await events.next()).toMatchObject({ value: { line: 4, kind: "settle" } });
    expect(new Set(sent).size).toBe(2);
    await events.return();
  });

  it("the events end with the session", async () => {
    const ada = await signInWithCredits();
    const events = clientWith({ fetch: here, token: ada.token }).events();
    await events.next();
    const next = events.next();
    await send("POST", "/signout", { headers: { Cookie: ada.cookies, Origin: BASE_URL } });
    await expect(next).rejects.toMatchObject({ status: 401 });
  });
});
