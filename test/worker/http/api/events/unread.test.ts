/** Streams of clients that read slowly, or not at all. */
import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { EVENTS_QUEUE_MAX_BYTES, EVENTS_WINDOW_BYTES } from "../../../../../src/domain/limits.ts";
import { EVENTS_PULSE_MS } from "../../../../../src/http/api/events/server_sent_events.ts";
import { createClient } from "../../../../../src/client/index.ts";
import worker from "../../../../../src/worker.ts";
import { change } from "../../../support/account_object.ts";
import { BASE_URL, signInWithCredits, type SignedIn } from "../../../support/passbook.ts";

/** The approximate size of an entry's message if its job has the largest metadata. */
const MESSAGE_BYTES = 17 * 1024;
/** The entries of an account with starter credits and one job. */
const FIRST_LINES = 3;

async function ask(
  path: string,
  headers: Record<string, string>,
  environment: Env = env,
): Promise<Response> {
  const request = new Request(new URL(path, BASE_URL), { headers });
  return worker.fetch(request, environment, createExecutionContext());
}

const bearer = ({ token }: SignedIn) => ({ Authorization: `Bearer ${token}` });

/** Signs in a person and adds `count` entries of a job with 16 KiB of metadata. */
async function withLongLines(count: number): Promise<SignedIn> {
  const ada = await signInWithCredits();
  const metadata = { text: "x".repeat(16 * 1024 - 20) };
  const job = { app: "demo", action: "draw", cost_estimate: 0, metadata };
  const { job_id } = (await ada.post("/api/jobs", job)).body;
  await change(
    ada.identity_id,
    `with recursive more (number) as (select 1 union all select number + 1 from more where number < ${count})
      insert into entries (line, kind, amount, balance_after, at_ms, open_jobs, job_id, app_slug)
      select newest.line + number, 'grant', 0, newest.balance_after, newest.at_ms, 1, '${job_id}', 'demo'
      from more, (select * from entries order by line desc limit 1) as newest`,
  );
  return ada;
}

/** The sent bytes that the client of each open stream has not read. */
function unreadBytes({ identity_id }: SignedIn): Promise<number[]> {
  return runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, state) =>
    state
      .getWebSockets()
      .map((socket) => (socket.deserializeAttachment() as { unread_bytes: number }).unread_bytes),
  );
}

/** Waits until messages in transit have arrived. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 300));

const linesUpTo = (newest: number) => Array.from({ length: newest }, (_, at) => at + 1);

/** Reads `count` entries of a stream, or all until it ends. */
async function readLines(body: ReadableStream<Uint8Array>, count: number): Promise<number[]> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const lines: number[] = [];
  let rest = "";
  while (lines.length < count) {
    const { done, value } = await reader.read();
    if (done) return lines;
    const messages = (rest + value).split("\n\n");
    rest = messages.pop() ?? "";
    lines.push(...messages.flatMap((it) => /^id: (\d+)$/m.exec(it)?.[1] ?? []).map(Number));
  }
  await reader.cancel();
  return lines;
}

describe("server-sent events to a client that does not read", () => {
  it("unread server-sent events wait at the account and arrive in order once they are read", async () => {
    const ada = await withLongLines(150);
    const responses = await Promise.all(
      Array.from({ length: 3 }, () => ask("/api/events?after=0", bearer(ada))),
    );
    await settle();
    for (const bytes of await unreadBytes(ada)) {
      expect(bytes).toBeGreaterThanOrEqual(EVENTS_WINDOW_BYTES);
      expect(bytes).toBeLessThan(EVENTS_WINDOW_BYTES + MESSAGE_BYTES);
    }
    const newest = 150 + FIRST_LINES;
    for (const { body } of responses) {
      expect(await readLines(body!, newest)).toEqual(linesUpTo(newest));
    }
  });

  it("a client that does not read does not delay other clients", async () => {
    const ada = await withLongLines(30);
    const unread = await ask("/api/events?after=0", bearer(ada));
    await settle();
    const live = await ask("/api/events", bearer(ada));
    const job = { app: "demo", action: "draw", cost_estimate: 1 };
    await ada.post("/api/jobs", job);
    expect(await readLines(live.body!, 2)).toEqual([33, 34]);
    expect(await readLines(unread.body!, 34)).toEqual(linesUpTo(34));
  });

  it("a client that does not read for 25 seconds is disconnected and can resume", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const ada = await withLongLines(30);
    const { body } = await ask("/api/events?after=0", bearer(ada));
    await settle();
    vi.advanceTimersByTime(EVENTS_PULSE_MS);
    await expect(readLines(body!, 1)).rejects.toThrow("does not read");
    await vi.waitFor(async () => expect(await unreadBytes(ada)).toEqual([]));
  });

  it("a slow client stays connected as long as it reads", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const ada = await withLongLines(30);
    const { body } = await ask("/api/events?after=0", bearer(ada));
    const reader = body!.getReader();
    await settle();
    for (let pulse = 0; pulse < 4; pulse += 1) {
      await reader.read();
      vi.advanceTimersByTime(EVENTS_PULSE_MS);
    }
    expect((await reader.read()).done).toBe(false);
    await reader.cancel();
  });

  it("a stream is aborted at 1 MiB of unread data if the account does not wait", async () => {
    const ada = await signInWithCredits();
    const { 0: client, 1: server } = new WebSocketPair();
    const hasty = new Proxy(env.ACCOUNT, {
      get: () => () => ({
        fetch: async () => new Response(null, { status: 101, webSocket: client }),
      }),
    });
    const { body } = await ask("/api/events", bearer(ada), { ...env, ACCOUNT: hasty });
    server.accept();
    const closed = new Promise((resolve) => server.addEventListener("close", resolve));
    const text = "x".repeat(MESSAGE_BYTES);
    for (let line = 1; line * MESSAGE_BYTES <= EVENTS_QUEUE_MAX_BYTES + MESSAGE_BYTES; line += 1) {
      server.send(JSON.stringify({ line, text }));
    }
    await closed;
    await expect(readLines(body!, 99)).rejects.toThrow("does not read");
  });

  it("a client gets more events than any queue holds, in order", async () => {
    const ada = await withLongLines(150);
    const client = createClient({
      baseUrl: "http://localhost",
      token: ada.token,
      fetch: (url, { headers }) => ask(url.replace("http://localhost", BASE_URL), headers),
    });
    const lines: number[] = [];
    for await (const event of client.events({ after: 0 })) {
      if ("line" in event) lines.push(event.line);
      if (lines.length === 150) break;
    }
    expect(lines).toEqual(linesUpTo(150));
  });
});

interface Socket {
  readonly lines: number[];
  bytes: number;
  closed: { readonly code: number; readonly reason: string } | null;
  readonly socket: WebSocket;
}

async function watch(ada: SignedIn, after: number): Promise<Socket> {
  const headers = { Upgrade: "websocket", ...bearer(ada) };
  const { webSocket: socket } = await ask(`/api/events?after=${after}`, headers);
  if (socket === null) throw new Error("no socket");
  const watching: Socket = { lines: [], bytes: 0, closed: null, socket };
  socket.addEventListener("message", ({ data }) => {
    watching.bytes += String(data).length;
    watching.lines.push((JSON.parse(String(data)) as { line: number }).line);
  });
  socket.addEventListener("close", ({ code, reason }) => (watching.closed = { code, reason }));
  socket.accept();
  onTestFinished(() => socket.close());
  return watching;
}

describe("a WebSocket client that does not read", () => {
  it("a WebSocket is closed after 1 MiB and resumes without a gap when it is opened again", async () => {
    const ada = await withLongLines(150);
    const lines: number[] = [];
    const newest = 150 + FIRST_LINES;
    let closings = 0;
    while (lines.length < newest) {
      const watching = await watch(ada, lines.at(-1) ?? 0);
      await vi.waitFor(() => {
        const is_whole = lines.length + watching.lines.length === newest;
        expect(is_whole || watching.closed !== null).toBe(true);
      });
      if (watching.closed !== null) {
        expect(watching.closed).toEqual({ code: 4408, reason: "resume" });
        expect(watching.bytes).toBeGreaterThanOrEqual(EVENTS_QUEUE_MAX_BYTES);
        expect(watching.bytes).toBeLessThan(EVENTS_QUEUE_MAX_BYTES + MESSAGE_BYTES);
        closings += 1;
      }
      lines.push(...watching.lines);
    }
    expect(lines).toEqual(linesUpTo(newest));
    expect(closings).toBe(2);
  });

  it("a WebSocket client cannot report bytes as read", async () => {
    const ada = await withLongLines(1);
    const watching = await watch(ada, 0);
    watching.socket.send("1000000");
    await vi.waitFor(() => expect(watching.closed).toMatchObject({ code: 1008 }));
  });
});
