import { createExecutionContext, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  EVENTS_REPLAY_MAX_LINES,
  EVENTS_WATCHERS_MAX,
  EVENTS_WATCHERS_SHARE,
} from "../../../../../src/domain/limits.ts";
import { EVENTS_PULSE_MS } from "../../../../../src/http/api/events/server_sent_events.ts";
import worker from "../../../../../src/worker.ts";
import { change } from "../../../support/account_object.ts";
import { passTime } from "../../../support/clock.ts";
import { registerApp } from "../../../support/directory_outage.ts";
import { evict } from "../../../support/evict.ts";
import { getToken, holderOf } from "../../../support/device_logins.ts";
import { narrow } from "../../../support/exchanges.ts";
import { connect } from "../../../support/oauth_clients.ts";
import { registerClient } from "../../../support/registrations.ts";
import {
  BASE_URL,
  forgetEnvironments,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../../support/passbook.ts";

interface ReceivedEvent {
  line: number;
  kind: string;
  amount?: number;
  credits: number;
  held: number;
  job?: { id: string; status: string } | null;
  app?: string | null;
  at?: string;
}

interface Watching {
  readonly received: ReceivedEvent[];
  readonly protocol: string | null;
  /** The close code, or null while the stream is open. */
  closed: number | null;
  /** Waits until `count` messages have arrived. */
  readonly until: (count: number) => Promise<ReceivedEvent[]>;
  readonly untilClosed: () => Promise<number>;
  readonly socket: WebSocket;
}

async function ask(
  path: string,
  headers: Record<string, string>,
  environment: Env = env,
): Promise<Response> {
  const request = new Request(new URL(path, BASE_URL), { headers });
  return worker.fetch(request, environment, createExecutionContext());
}

function signOut({ cookies }: SignedIn): Promise<unknown> {
  return send("POST", "/signout", { headers: { Cookie: cookies, Origin: BASE_URL } });
}

/** Session tokens live for 15 minutes. */
const NEARLY_TOKEN_LIFETIME_MS = 14 * 60_000 + 50_000;

/** Opens a WebSocket; by default as the bearer of `person`'s token. */
async function watch(
  person: SignedIn,
  query = "",
  headers: Record<string, string> = { Authorization: `Bearer ${person.token}` },
): Promise<Watching> {
  const response = await ask(`/api/events${query}`, { Upgrade: "websocket", ...headers });
  expect(response.status).toBe(101);
  const socket = response.webSocket;
  if (socket === null) throw new Error("no socket");
  const protocol = response.headers.get("Sec-WebSocket-Protocol");
  const received: ReceivedEvent[] = [];
  const watching: Watching = {
    received,
    protocol,
    closed: null,
    socket,
    until: (count) =>
      vi.waitFor(() => {
        expect(received.length).toBeGreaterThanOrEqual(count);
        return received;
      }),
    untilClosed: () =>
      vi.waitFor(() => {
        expect(watching.closed).not.toBeNull();
        return watching.closed ?? 0;
      }),
  };
  socket.addEventListener("message", ({ data }) => {
    if (data !== "pong") received.push(JSON.parse(String(data)));
  });
  socket.addEventListener("close", ({ code }) => {
    watching.closed = code;
  });
  socket.accept();
  onTestFinished(() => socket.close());
  return watching;
}

async function runJob(person: SignedIn, cost_estimate = 10, actual_cost = 7): Promise<void> {
  const created = await person.post("/api/jobs", { app: "demo", action: "draw", cost_estimate });
  const { job_id } = created.body;
  await person.post("/api/jobs/complete", { job_id, actual_cost });
}

/** Adds entries of amount 0, as a history of many jobs without cost. */
async function addLines(person: SignedIn, count: number): Promise<void> {
  await change(
    person.identity_id,
    `with recursive more (number) as (select 1 union all select number + 1 from more where number < ${count})
      insert into entries (line, kind, amount, balance_after, at_ms, open_jobs)
      select newest.line + number, 'grant', 0, newest.balance_after, newest.at_ms, 0
      from more, (select * from entries order by line desc limit 1) as newest`,
  );
}

describe("GET /api/events as a WebSocket", () => {
  it("a stream begins with a snapshot and sends each entry once, in order, with the held credits", async () => {
    const ada = await signInWithCredits();
    const { received, until } = await watch(ada);
    await until(1);
    await runJob(ada);
    await until(3);
    expect(received).toEqual([
      { line: 2, kind: "snapshot", credits: 100, held: 0 },
      {
        line: 3,
        kind: "reserve",
        amount: -10,
        credits: 90,
        held: 10,
        job: expect.objectContaining({ status: "started", reserved: 10 }),
        app: "demo",
        lot_id: null,
        terms: null,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      {
        line: 4,
        kind: "settle",
        amount: 3,
        credits: 93,
        held: 0,
        job: expect.objectContaining({ status: "completed", actual_cost: 7 }),
        app: "demo",
        lot_id: null,
        terms: null,
        at: expect.any(String),
      },
    ]);
    const { body } = await ada.get("/api/jobs");
    const { from: _, ...job } = body.jobs[0];
    expect(received[2]?.job).toEqual(job);
  });

  it("a stream opens an account that was never used", async () => {
    const { until } = await watch(await signIn());
    expect(await until(1)).toEqual([{ line: 1, kind: "snapshot", credits: 0, held: 0 }]);
  });

  it("a stream resumes after an entry without a gap, with the held credits of each entry", async () => {
    const ada = await signInWithCredits();
    await runJob(ada);
    await runJob(ada, 20, 25);
    const { received, until } = await watch(ada, "?after=1");
    await until(5);
    await runJob(ada);
    await until(7);
    expect(received.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(received.map(({ held }) => held)).toEqual([0, 10, 0, 20, 0, 10, 0]);
    expect(received.map(({ credits }) => credits)).toEqual([100, 90, 93, 73, 68, 58, 61]);
  });

  it("the held credits of a stream are right through an expiry and a late settlement", async () => {
    const ada = await signInWithCredits();
    const { body } = await ada.post("/api/jobs", {
      app: "demo",
      action: "draw",
      cost_estimate: 10,
      ttl_seconds: 60,
    });
    passTime(61_000);
    await ada.post("/api/jobs/complete", { job_id: body.job_id, actual_cost: 4 });
    const { received, until } = await watch(ada, "?after=2");
    await until(3);
    expect(received.map(({ kind, held, credits }) => [kind, held, credits])).toEqual([
      ["reserve", 10, 90],
      ["refund", 0, 100],
      ["settle", 0, 96],
    ]);
  });

  it("a stream that resumes repeats nothing to other streams", async () => {
    const ada = await signInWithCredits();
    const steady = await watch(ada);
    await runJob(ada);
    await steady.until(3);
    const resumed = await watch(ada, "?after=1");
    await resumed.until(3);
    await runJob(ada);
    await steady.until(5);
    expect(steady.received.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
  });

  it("a stream begins with a snapshot if the client names an entry that does not exist yet", async () => {
    const { until } = await watch(await signInWithCredits(), "?after=900");
    expect(await until(1)).toMatchObject([{ line: 2, kind: "snapshot" }]);
  });

  it("a stream replays more entries than one batch, in order, while new entries arrive", async () => {
    const ada = await signInWithCredits();
    for (let job = 0; job < 110; job += 1) await runJob(ada, 0, 0);
    const { received, until } = await watch(ada, "?after=0");
    await runJob(ada, 0, 0);
    await until(224);
    expect(received.map(({ line }) => line)).toEqual(
      Array.from({ length: 224 }, (_, at) => at + 1),
    );
  });

  it("a stream replays all entries without further events", async () => {
    const ada = await signInWithCredits();
    await addLines(ada, 450);
    const { received, until } = await watch(ada, "?after=0");
    await until(452);
    expect(received.map(({ line }) => line)).toEqual(
      Array.from({ length: 452 }, (_, at) => at + 1),
    );
  });

  it("a stream begins with a snapshot if the client is too far behind", async () => {
    const ada = await signInWithCredits();
    await addLines(ada, EVENTS_REPLAY_MAX_LINES);
    const { until } = await watch(ada, "?after=1");
    expect(await until(1)).toMatchObject([{ kind: "snapshot", credits: 100 }]);
  });

  it("all streams of an account get the same messages", async () => {
    const ada = await signInWithCredits();
    const watching = await Promise.all(Array.from({ length: 20 }, () => watch(ada)));
    await Promise.all([runJob(ada), runJob(ada), runJob(ada)]);
    const all = await Promise.all(watching.map(({ until }) => until(7)));
    for (const received of all) expect(received).toEqual(all[0]);
    expect(all[0]?.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });

  it("a report of progress without an entry reaches the streams that see the job, and the entries after it stay in order", async () => {
    const ada = await signInWithCredits("demo");
    const other = holderOf((await getToken(ada, { apps: ["sketch"] })).token);
    const own = await watch(ada);
    const foreign = await watch(ada, "", { Authorization: `Bearer ${other.token}` });
    const job = { app: "demo", action: "film", cost_estimate: 5 };
    const { job_id } = (await ada.post("/api/jobs", job)).body;
    const progress = { job_id, step: 1, done: 0.5, message: "Half" };
    await ada.post("/api/jobs/progress", progress);
    await ada.post("/api/jobs/progress", progress);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 3 });
    await own.until(4);
    const [snapshot, reserve, progressed, settle] = own.received;
    expect(progressed).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: "job.progressed",
      job: { id: job_id, step: 1, done: 0.5, message: "Half" },
    });
    expect(progressed).not.toHaveProperty("line");
    const lines = [snapshot, reserve, settle].map((event) => event?.line);
    expect(lines).toEqual([1, 2, 3].map((step) => (snapshot?.line ?? 0) + step - 1));
    expect(foreign.received.map(({ kind }) => kind)).toEqual(["snapshot"]);
  });

  it(
    "a thousand streams get each entry once, even through an eviction",
    { tags: "slow" },
    async () => {
      const ada = await signInWithCredits();
      const watching: Watching[] = [];
      while (watching.length < 1_000) {
        const more = Array.from({ length: 50 }, () => watch(ada));
        watching.push(...(await Promise.all(more)));
      }
      await runJob(ada);
      await Promise.all(watching.map(({ until }) => until(3)));
      await evict(env.ACCOUNT.getByName(ada.identity_id));
      await runJob(ada);
      await Promise.all(watching.map(({ until }) => until(5)));
      for (const { received } of watching) {
        expect(received.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
      }
    },
  );

  it("a ping gets a response without waking the object, even after an eviction", async () => {
    const ada = await signInWithCredits();
    const watching = await watch(ada);
    await watching.until(1);
    let pongs = 0;
    watching.socket.addEventListener("message", ({ data }) => {
      if (data === "pong") pongs += 1;
    });
    const stub = env.ACCOUNT.getByName(ada.identity_id);
    for (const sent of [1, 2]) {
      watching.socket.send("ping");
      await vi.waitFor(() => expect(pongs).toBe(sent));
      await evict(stub);
    }
    // A message that reaches the object closes the stream.
    expect(watching.closed).toBeNull();
    watching.socket.send("hello");
    expect(await watching.untilClosed()).toBe(1_008);
  });

  it("a stream continues after its object is evicted", async () => {
    const ada = await signInWithCredits();
    const { received, until } = await watch(ada);
    await until(1);
    await evict(env.ACCOUNT.getByName(ada.identity_id));
    await runJob(ada);
    await until(3);
    expect(received.map(({ line }) => line)).toEqual([2, 3, 4]);
  });

  it("a stream sends nothing for a refused request", async () => {
    const ada = await signInWithCredits();
    const { received, until } = await watch(ada);
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 1_000 });
    await runJob(ada);
    await until(3);
    expect(received.map(({ kind }) => kind)).toEqual(["snapshot", "reserve", "settle"]);
  });

  it("a stream is closed if the client sends messages, so that no client keeps the object awake", async () => {
    const { socket, untilClosed } = await watch(await signInWithCredits());
    socket.send("hello");
    expect(await untilClosed()).toBe(1008);
  });
});

describe("access to the event stream", () => {
  it("a WebSocket accepts a token as subprotocol, which the response does not repeat", async () => {
    const ada = await signInWithCredits();
    const offered = { "Sec-WebSocket-Protocol": `passbook, bearer.${ada.token}` };
    const { protocol, until } = await watch(ada, "", offered);
    expect(protocol).toBe("passbook");
    expect(await until(1)).toHaveLength(1);
  });

  it("a stream accepts cookies only from allowed origins", async () => {
    const ada = await signInWithCredits();
    const cookie = { Cookie: ada.cookies };
    for (const Origin of ["http://localhost:3000", BASE_URL]) {
      const { until } = await watch(ada, "", { ...cookie, Origin });
      await until(1);
    }
    for (const upgrade of [{ Upgrade: "websocket" }, {}]) {
      const response = await ask("/api/events", {
        ...cookie,
        ...upgrade,
        Origin: "https://evil.test",
        "Sec-Fetch-Site": "cross-site",
      });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ code: "origin_not_allowed" });
    }
  });

  it("a stream without a valid caller is refused before the account is called", async () => {
    for (const headers of [
      {},
      { Authorization: "Bearer nonsense" },
      { "Sec-WebSocket-Protocol": "passbook, bearer.nonsense" },
      { "Sec-WebSocket-Protocol": "passbook" },
    ]) {
      const response = await ask("/api/events", { Upgrade: "websocket", ...headers });
      expect(response.status).toBe(401);
    }
  });

  it("a stream refuses an entry number that is not a number", async () => {
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    for (const after of ["-1", "x", "1.5", "1e3", ""]) {
      const response = await send("GET", `/api/events?after=${after}`, { headers });
      expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    }
    const response = await ask("/api/events", { ...headers, "Last-Event-ID": "x" });
    expect(response.status).toBe(400);
  });

  it("a stream of a token limited to an app sends only that app's entries", async () => {
    const ada = await signInWithCredits("demo");
    const token = (await getToken(ada, { apps: ["other"] })).token;
    const { received, until } = await watch(ada, "", { Authorization: `Bearer ${token}` });
    await until(1);
    await runJob(ada);
    await ada.get("/api/wallet?app=other");
    await until(2);
    expect(received.map(({ kind, app }) => [kind, app])).toEqual([
      ["snapshot", undefined],
      ["grant", "other"],
    ]);
  });

  it("revoking a token closes only its streams, at once", async () => {
    const ada = await signInWithCredits();
    const token = (await getToken(ada)).token;
    const headers = { Authorization: `Bearer ${token}` };
    const own = await watch(ada);
    const { until, untilClosed } = await watch(ada, "", headers);
    await until(1);
    const listed = await ada.getOwn("/api/tokens");
    // The alarm would also close the stream, a little later.
    await runInDurableObject(env.ACCOUNT.getByName(ada.identity_id), (_, state) =>
      state.storage.deleteAlarm(),
    );
    await send("DELETE", `/api/tokens/${listed.body.tokens[0].id}`, {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    expect(await untilClosed()).toBe(4401);
    expect(own.closed).toBeNull();
    expect((await ask("/api/events", { Upgrade: "websocket", ...headers })).status).toBe(401);
  });

  it("the end of a session closes the streams of all sessions, and live ones can reconnect", async () => {
    const ada = await signInWithCredits();
    const token = (await getToken(ada)).token;
    const by_token = await watch(ada, "", { Authorization: `Bearer ${token}` });
    const { until, untilClosed } = await watch(ada);
    await until(1);
    await send("POST", "/signout", { headers: { Cookie: ada.cookies, Origin: BASE_URL } });
    expect(await untilClosed()).toBe(4401);
    expect(by_token.closed).toBeNull();
  });

  it.each(["websocket", ""])(
    "an ended session cannot open a stream (Upgrade: %s)",
    async (Upgrade) => {
      const ada = await signInWithCredits();
      await signOut(ada);
      for (const proof of [
        { Authorization: `Bearer ${ada.token}` },
        { Cookie: ada.cookies, Origin: BASE_URL },
      ]) {
        const response = await ask("/api/events", {
          ...(Upgrade === "" ? {} : { Upgrade }),
          ...proof,
        });
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({ code: "unauthorized" });
      }
    },
  );

  it("a session that ends while its stream opens leaves no stream behind", async () => {
    const ada = await signInWithCredits();
    const own = env.ACCOUNT.getByName(ada.identity_id);
    const slow = new Proxy(env.ACCOUNT, {
      get: () => () => ({
        fetch: async (address: string, init: RequestInit) => {
          await signOut(ada);
          return own.fetch(address, init);
        },
      }),
    });
    const headers = { Upgrade: "websocket", Authorization: `Bearer ${ada.token}` };
    const response = await ask("/api/events", headers, { ...env, ACCOUNT: slow });
    expect(response.status).toBe(401);
    await vi.waitFor(async () => {
      const open = await runInDurableObject(own, (_, state) => state.getWebSockets().length);
      expect(open).toBe(0);
    });
  });

  it("a stream ends when the token that opened it expires", async () => {
    const ada = await signInWithCredits();
    passTime(NEARLY_TOKEN_LIFETIME_MS);
    const { until, untilClosed } = await watch(ada);
    await until(1);
    passTime(11_000);
    await runDurableObjectAlarm(env.ACCOUNT.getByName(ada.identity_id));
    expect(await untilClosed()).toBe(4401);
  });

  it("a stream ends with the session if the session expires before the token", async () => {
    const ada = await signInWithCredits();
    const ends_at_ms = Date.now() + 60_000;
    const query = "update sessions set expires_at_ms = ? where user_id = ?";
    await env.DIRECTORY.prepare(query).bind(ends_at_ms, ada.identity_id).run();
    const { until, untilClosed } = await watch(ada);
    await until(1);
    passTime(61_000);
    await runDurableObjectAlarm(env.ACCOUNT.getByName(ada.identity_id));
    expect(await untilClosed()).toBe(4401);
  });

  it("a stream ends with the session token that a personal token was exchanged for", async () => {
    const ada = await signInWithCredits();
    const pat = { Authorization: `Bearer ${(await getToken(ada)).token}` };
    const { token } = (await send("GET", "/api/sessionToken", { headers: pat })).body;
    passTime(NEARLY_TOKEN_LIFETIME_MS);
    const exchanged = await watch(ada, "", { Authorization: `Bearer ${token}` });
    const by_pat = await watch(ada, "", pat);
    await exchanged.until(1);
    passTime(11_000);
    await runDurableObjectAlarm(env.ACCOUNT.getByName(ada.identity_id));
    expect(await exchanged.untilClosed()).toBe(4401);
    expect(by_pat.closed).toBeNull();
  });

  it("a stream opened by cookie renews the JWT cookie and ends when the new one expires", async () => {
    const ada = await signInWithCredits();
    passTime(NEARLY_TOKEN_LIFETIME_MS);
    const cookie = { Cookie: ada.cookies, Origin: BASE_URL };
    const response = await ask("/api/events", cookie);
    expect(response.headers.getSetCookie().join()).toContain("passbook_token=");
    const reading = readEvents(response, 99);
    passTime(11_000);
    const { until, untilClosed } = await watch(ada, "", cookie);
    await until(1);
    passTime(15 * 60_000 - 10_000);
    await runDurableObjectAlarm(env.ACCOUNT.getByName(ada.identity_id));
    expect(await reading).toHaveLength(1);
    passTime(11_000);
    await runDurableObjectAlarm(env.ACCOUNT.getByName(ada.identity_id));
    expect(await untilClosed()).toBe(4401);
  });

  it.each(["suspend", "deleteAccount"] as const)(
    "%s closes every stream of the account",
    async (act) => {
      const ada = await signInWithCredits();
      const token = (await getToken(ada)).token;
      const all = [await watch(ada), await watch(ada, "", { Authorization: `Bearer ${token}` })];
      const account = env.ACCOUNT.getByName(ada.identity_id);
      if (act === "suspend") await account.suspend();
      else await account.deleteAccount({ kind: "holder" });
      for (const { untilClosed } of all) expect(await untilClosed()).toBe(4401);
      const headers = { Upgrade: "websocket", Authorization: `Bearer ${ada.token}` };
      expect((await ask("/api/events", headers)).status).toBe(act === "suspend" ? 403 : 401);
    },
  );

  it("a stream whose token has expired is closed before it gets another message", async () => {
    const ada = await signInWithCredits();
    const { received, until, untilClosed } = await watch(ada);
    await until(1);
    passTime(16 * 60_000);
    const again = await signIn();
    await runJob(again);
    expect(await untilClosed()).toBe(4401);
    expect(received).toHaveLength(1);
  });

  it("the alarm closes an expired stream without any event", async () => {
    const ada = await signInWithCredits();
    const { until, untilClosed } = await watch(ada);
    await until(1);
    passTime(16 * 60_000);
    await runDurableObjectAlarm(env.ACCOUNT.getByName(ada.identity_id));
    expect(await untilClosed()).toBe(4401);
  });

  it("a token and those exchanged from it share 100 streams, and keep nobody else out", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const child = await narrow(token.token, { apps: ["demo"] }, { client_id: "" });
    const open = async (bearer: string) => {
      const headers = { Upgrade: "websocket", Authorization: `Bearer ${bearer}` };
      const response = await ask("/api/events", headers);
      const { webSocket } = response;
      webSocket?.accept();
      onTestFinished(() => webSocket?.close());
      return response;
    };
    for (let streams = 0; streams < EVENTS_WATCHERS_SHARE; streams += 1) {
      const bearer = streams % 2 === 0 ? token.token : child.access_token;
      expect((await open(bearer)).status).toBe(101);
    }
    await evict(env.ACCOUNT.getByName(ada.identity_id));
    for (const bearer of [token.token, child.access_token]) {
      const refused = await open(bearer);
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({
        code: "limit_reached",
        of: "streams_of_token",
        limit: 100,
        error: expect.stringContaining("100"),
      });
    }
    expect((await open(ada.token)).status).toBe(101);
    expect((await open((await getToken(ada)).token)).status).toBe(101);
  });

  it("an account has a limited number of open streams", async () => {
    const ada = await signInWithCredits();
    await watch(ada);
    const stub = env.ACCOUNT.getByName(ada.identity_id);
    await runInDurableObject(stub, (_, state) => {
      const sockets = state.getWebSockets.bind(state);
      vi.spyOn(state, "getWebSockets").mockImplementation(() =>
        Array.from({ length: EVENTS_WATCHERS_MAX }, () => sockets()[0] as WebSocket),
      );
    });
    const headers = { Upgrade: "websocket", Authorization: `Bearer ${ada.token}` };
    const response = await ask("/api/events", headers);
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ code: "limit_reached", of: "streams" });
  });
});

describe("GET /api/events as server-sent events", () => {
  it("server-sent events have the same messages, with the entry numbers as ids for resuming", async () => {
    const ada = await signInWithCredits();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const first = await readEvents(await ask("/api/events", headers), 1);
    expect(first).toMatchObject([{ id: "2", data: { kind: "snapshot", credits: 100 } }]);
    await runJob(ada);
    // The header is newer than the URL, because a browser repeats the URL when it reconnects.
    const resumed = await ask("/api/events?after=0", { ...headers, "Last-Event-ID": "2" });
    expect(resumed.headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
    expect(resumed.headers.get("Cache-Control")).toBe("no-store");
    const rest = await readEvents(resumed, 2);
    expect(rest.map(({ id, data }) => [id, data.kind, data.held])).toEqual([
      ["3", "reserve", 10],
      ["4", "settle", 0],
    ]);
  });

  it("a stream of server-sent events ends when its token ends", async () => {
    const ada = await signInWithCredits();
    const response = await ask("/api/events", { Authorization: `Bearer ${ada.token}` });
    const reading = readEvents(response, 99);
    await send("POST", "/signout", { headers: { Cookie: ada.cookies, Origin: BASE_URL } });
    expect(await reading).toHaveLength(1);
  });
});

describe("GET /api/events with a token of a registered client", () => {
  const open = async () => {
    await registerApp("sketch", {});
    await registerClient("sketch", "web", { public: 1 });
    forgetEnvironments();
    const ada = await signInWithCredits();
    const { access_token } = await connect(ada, { client_id: "sketch~web", client_host: null });
    const headers = { Authorization: `Bearer ${access_token}` };
    const { token } = (await send("GET", "/api/sessionToken", { headers })).body;
    return { ada, headers, bound: { Authorization: `Bearer ${token}` } };
  };
  const deleteClient = () => env.DIRECTORY.exec("delete from oauth_clients");

  it("a stream of server-sent events ends after the client was deleted, and other streams go on", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const { ada, headers, bound } = await open();
    const own = { Authorization: `Bearer ${ada.token}` };
    const streams = await Promise.all([headers, bound, own].map(follow));
    vi.advanceTimersByTime(EVENTS_PULSE_MS);
    await runJob(ada);
    const settled = /"kind":"settle"/;
    await vi.waitFor(() => streams.forEach(({ text }) => expect(text).toMatch(settled)));
    await deleteClient();
    vi.advanceTimersByTime(60_000);
    const hasEnded = () => streams.map(({ has_ended }) => has_ended);
    await vi.waitFor(() => expect(hasEnded()).toEqual([true, true, false]));
    expect((await ask("/api/events", headers)).status).toBe(401);
  });

  it("a WebSocket ends after a minute, and a deleted client cannot open another one", async () => {
    const { ada, headers, bound } = await open();
    const streams = await Promise.all([headers, bound].map((it) => watch(ada, "", it)));
    const own = await watch(ada);
    for (const { until } of [...streams, own]) await until(1);
    await deleteClient();
    passTime(60_000);
    await runDurableObjectAlarm(env.ACCOUNT.getByName(ada.identity_id));
    for (const { untilClosed } of streams) expect(await untilClosed()).toBe(4401);
    expect(own.closed).toBeNull();
    expect((await ask("/api/events", { Upgrade: "websocket", ...headers })).status).toBe(401);
  });
});

/** Reads a stream of server-sent events as it arrives. */
async function follow(headers: Record<string, string>) {
  const { body } = await ask("/api/events", headers);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader.cancel());
  const followed = { text: "", has_ended: false };
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      followed.has_ended = done;
      if (done) return;
      followed.text += value;
    }
  };
  void read();
  return followed;
}

/** Reads `count` events, or all until the stream ends. */
async function readEvents(
  response: Response,
  count: number,
): Promise<{ id: string; data: ReceivedEvent }[]> {
  expect(response.status).toBe(200);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const events = () =>
    [...text.matchAll(/id: (\d+)\ndata: (.+)\n\n/g)].map(([, id = "", data = ""]) => ({
      id,
      data: JSON.parse(data) as ReceivedEvent,
    }));
  while (events().length < count) {
    const { done, value } = await reader.read();
    if (done) return events();
    text += value;
  }
  await reader.cancel();
  return events();
}
