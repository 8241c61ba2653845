import { Webhook as Verifier } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { attempt } from "../../../../src/webhooks/attempt.ts";
import { NOW_MS, Receiver, SECRET } from "./sending.ts";

const EVENT = {
  url: "https://hooks.example.com/passbook",
  id: "event 1",
  body: '{"type":"job.completed"}',
  secrets: [SECRET],
};
const OTHER_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/** Sends an event once to a receiver that responds so. */
async function send(respond: Receiver["respond"], changed: object = {}) {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
  const receiver = new Receiver();
  receiver.respond = respond;
  const event = { ...EVENT, ...changed };
  const attempted = await receiver.during(() => attempt(event, { is_development: false }));
  return { attempted, requests: receiver.requests };
}

const refusing =
  (body: BodyInit | null): Receiver["respond"] =>
  () =>
    new Response(body, { status: 500 });

/** A body of these chunks, which says how many of them were read and whether it was cancelled. */
function bodyOf(...chunks: readonly Uint8Array[]) {
  const state = { read: 0, is_cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[state.read];
        if (chunk === undefined) return controller.close();
        state.read += 1;
        return controller.enqueue(chunk);
      },
      cancel() {
        state.is_cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, state };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("an attempt to deliver an event", () => {
  it("the request has the event, its id, the time, and a signature for each valid secret", async () => {
    const { attempted, requests } = await send(() => new Response("ok"), {
      secrets: [SECRET, OTHER_SECRET],
    });
    expect(attempted).toEqual({ status: 200, duration_ms: 0, reason: null, response: null });
    const [request] = requests;
    expect(request?.method).toBe("POST");
    expect(request?.redirect).toBe("manual");
    const headers = Object.fromEntries(request?.headers ?? []);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": "event 1",
      "webhook-timestamp": String(NOW_MS / 1000),
    });
    const signatures = headers["webhook-signature"]?.split(" ") ?? [];
    expect(headers).not.toHaveProperty("webhook-test");
    const expected = [SECRET, OTHER_SECRET].map((secret) =>
      new Verifier(secret).sign("event 1", new Date(NOW_MS), EVENT.body),
    );
    expect(signatures).toEqual(expected);
  });

  it("a sample says in a header that it is a test", async () => {
    const { requests } = await send(() => new Response("ok"), { is_test: true });
    expect(requests[0]?.headers.get("webhook-test")).toBe("true");
  });

  it("nothing is sent to an address that is not allowed, or without a secret", async () => {
    for (const [changed, reason] of [
      [{ url: "http://hooks.example.com" }, "address_refused"],
      [{ secrets: [] }, "secret_lost"],
    ] as const) {
      const { attempted, requests } = await send(() => new Response("ok"), changed);
      expect(attempted).toEqual({ status: null, duration_ms: 0, reason, response: null });
      expect(requests).toEqual([]);
    }
  });

  it("an attempt says how long the receiver took", async () => {
    const { attempted } = await send(() => {
      vi.advanceTimersByTime(7);
      return new Response("ok");
    });
    expect(attempted.duration_ms).toBe(7);
  });

  it("a receiver that cannot be reached has no status", async () => {
    const { attempted } = await send(() => Promise.reject(new TypeError("connection refused")));
    expect(attempted).toMatchObject({ status: null, reason: "unreachable", response: null });
  });

  it("a receiver that takes too long is given up, and the time limit of a fast one is removed", async () => {
    const { setTimeout, clearTimeout } = globalThis;
    const removed: unknown[] = [];
    globalThis.clearTimeout = (id: unknown) => void removed.push(id);
    globalThis.setTimeout = () => 41;
    try {
      await send(() => new Response("ok"));
      expect(removed).toEqual([41]);
      globalThis.setTimeout = (work: () => void) => {
        work();
        return 42;
      };
      const { attempted } = await send(({ signal }) =>
        signal.aborted ? Promise.reject(signal.reason as Error) : new Response("ok"),
      );
      expect(attempted).toMatchObject({ status: null, reason: "timeout" });
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout });
    }
  });
});

describe("the response of a receiver", () => {
  it("the beginning of a response that does not accept the event is kept, as text without control characters", async () => {
    const { attempted } = await send(refusing("\n  no\u0000\u200bt\u0007 now \n"));
    expect(attempted).toMatchObject({ status: 500, reason: "status_500", response: "not now" });
  });

  it.each([
    ["empty", ""],
    ["only of spaces", " \n "],
    ["missing", null],
  ])("a response that is %s is not kept", async (_, body) => {
    expect((await send(refusing(body))).attempted.response).toBeNull();
  });

  it("the response of a receiver that accepts the event is not read, and its connection is closed", async () => {
    const { body, state } = bodyOf(bytes("thank you"), bytes("again"));
    const { attempted } = await send(() => new Response(body));
    expect(attempted.response).toBeNull();
    expect(state).toEqual({ read: 0, is_cancelled: true });
  });

  it("1024 bytes of a response without an end are kept, and no more are read", async () => {
    const chunk = bytes("a".repeat(512));
    const { body, state } = bodyOf(chunk, chunk, chunk, chunk);
    const { attempted } = await send(refusing(body));
    expect(attempted.response).toBe("a".repeat(1024));
    expect(state).toEqual({ read: 2, is_cancelled: true });
  });

  it("a chunk is kept up to the limit, and a letter that two chunks share is one letter", async () => {
    const [first = 0, second = 0] = bytes("ä");
    const { body } = bodyOf(
      Uint8Array.of(...bytes("a".repeat(1020)), first),
      Uint8Array.of(second, ...bytes("b")),
      bytes("cdefg"),
    );
    expect((await send(refusing(body))).attempted.response).toBe(`${"a".repeat(1020)}äbc`);
  });
});
