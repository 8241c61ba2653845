/** Events about what may act on an account, on streams and for webhooks: docs/events.md and docs/webhooks.md. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ACCESS_EVENTS_KEPT } from "../../../../../src/domain/limits.ts";
import { webhookListOf } from "../../../../../src/directory/webhook_list.ts";
import worker from "../../../../../src/worker.ts";
import { evict, query } from "../../../support/account_object.ts";
import { passTime } from "../../../support/clock.ts";
import { registerApp } from "../../../support/directory_outage.ts";
import { getToken, ownSessionToken, tokenId } from "../../../support/device_logins.ts";
import { exchange, narrow, total } from "../../../support/exchanges.ts";
import {
  CLIENT_ID,
  connect,
  oauthServices,
  post,
  refresh,
  withToken,
} from "../../../support/oauth_clients.ts";
import {
  BASE_URL,
  forgetEnvironments,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../../support/passbook.ts";
import { registerClient } from "../../../support/registrations.ts";
import { openAppServer } from "../../caller/app_server.ts";
import { deliver, openAccount, openReceiver, saveWebhook } from "../../../webhooks/receiver.ts";

const OPERATOR = { kind: "operator" } as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DAY_MS = 86_400_000;
/** Of the app `demo`. */
const DEMO_CLIENT = { client_id: "demo~web", client_host: null };

interface Message {
  readonly id?: string;
  readonly line?: number;
  readonly kind: string;
  readonly [member: string]: unknown;
}

let ada: SignedIn;
beforeEach(async () => {
  ada = await signInWithCredits();
});

const accountOf = () => env.ACCOUNT.getByName(ada.identity_id);

/** Connects a client that may spend this much. */
function connectWith(cap: object | readonly object[] | null, client: object = {}) {
  const caps = cap === null ? [] : [cap].flat();
  const limits = { app_slugs: null, caps, expires_at_ms: Date.now() + 90 * DAY_MS };
  return connect(ada, { limits, ...client } as Parameters<typeof connect>[1]);
}

async function connectionId(access_token: string): Promise<string> {
  const { body } = await withToken(access_token, "GET", "/api/tokens");
  return body.tokens.find(({ current }: { current: boolean }) => current).id;
}

/** Registers the app `demo` with its client. */
async function registerDemoClient(): Promise<void> {
  await registerClient("demo", "web", { public: 1 });
  forgetEnvironments();
}

/** Opens a WebSocket, and gives what it received except for entries. */
async function watch(token: string, headers: Record<string, string> = {}) {
  const all = { Upgrade: "websocket", Authorization: `Bearer ${token}`, ...headers };
  const request = new Request(new URL("/api/events", BASE_URL), { headers: all });
  const { webSocket } = await worker.fetch(request, env, createExecutionContext());
  if (webSocket === null || webSocket === undefined) return expect.fail("no socket");
  const received: Message[] = [];
  webSocket.addEventListener("message", ({ data }) => void received.push(JSON.parse(String(data))));
  webSocket.accept();
  onTestFinished(() => webSocket.close());
  return {
    received,
    /** The events without an entry. An entry that is made now comes after them. */
    accessEvents: async (): Promise<Message[]> => {
      await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 0 });
      await vi.waitFor(() => expect(received.at(-1)).toMatchObject({ kind: "reserve" }));
      return received.filter(({ line }) => line === undefined);
    },
  };
}

const spend = (access_token: string, cost_estimate: number) =>
  withToken(access_token, "POST", "/api/jobs", { app: "demo", action: "draw", cost_estimate });

describe("connection.revoked", () => {
  it("the holder's stream gets it at once, with an id, a time and no entry number, and no later stream does", async () => {
    const { access_token } = await connectWith(null);
    const id = await connectionId(access_token);
    const stream = await watch(await ownSessionToken(ada));
    await accountOf().revokeAllowance({ kind: "holder" }, { id });
    expect(await stream.accessEvents()).toEqual([
      {
        id: expect.stringMatching(UUID),
        kind: "connection.revoked",
        connection: { id, client_id: CLIENT_ID },
        by: "holder",
        at: expect.stringMatching(/Z$/),
      },
    ]);
    const request = new Request(new URL("/api/events?after=0", BASE_URL), {
      headers: { Authorization: `Bearer ${ada.token}` },
    });
    const response = await worker.fetch(request, env, createExecutionContext());
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes('"kind":"reserve"')) text += (await reader.read()).value ?? "";
    await reader.cancel();
    expect(text).not.toContain("connection.revoked");
  });

  it("as a server-sent event it has no position", async () => {
    const { access_token } = await connectWith(null);
    const id = await connectionId(access_token);
    const request = new Request(new URL("/api/events", BASE_URL), {
      headers: { Authorization: `Bearer ${await ownSessionToken(ada)}` },
    });
    const response = await worker.fetch(request, env, createExecutionContext());
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("snapshot")) text += (await reader.read()).value ?? "";
    await accountOf().revokeAllowance({ kind: "holder" }, { id });
    text = "";
    while (!text.includes("\n\n")) text += (await reader.read()).value ?? "";
    await reader.cancel();
    expect(text).toMatch(/^data: \{"id":"[^"]+","kind":"connection.revoked"/);
  });

  it.each<[string, string, (id: string, access_token: string) => Promise<unknown>]>([
    ["the holder", "holder", (id) => accountOf().revokeAllowance({ kind: "holder" }, { id })],
    ["its own client", "client", (id, token) => withToken(token, "DELETE", `/api/tokens/${id}`)],
    ["an operator", "operator", (id) => accountOf().revokeAllowance(OPERATOR, { id })],
    [
      "the end of its sign-in method",
      "service",
      () => accountOf().revokeApprovedBy({ kind: "signin_method", signin_method: "dev" }),
    ],
  ])("it says that %s did it", async (_, by, revoke) => {
    const { access_token } = await connectWith(null);
    const stream = await watch(await ownSessionToken(ada));
    await revoke(await connectionId(access_token), access_token);
    expect(await stream.accessEvents()).toMatchObject([{ kind: "connection.revoked", by }]);
  });

  it("tokens exchanged from a connection are revoked with it, each once", async () => {
    const { access_token } = await connectWith(null);
    const child = await narrow(access_token, total(5));
    const ids = [await connectionId(access_token), await connectionId(child.access_token)];
    const stream = await watch(await ownSessionToken(ada));
    await accountOf().revokeAllowance({ kind: "holder" }, { id: ids[0]! });
    const events = await stream.accessEvents();
    expect(events.map(({ connection }) => (connection as { id: string }).id).toSorted()).toEqual(
      ids.toSorted(),
    );
  });

  it("an exchanged token that its client revokes at /oauth/revoke is revoked by the client", async () => {
    const { access_token } = await connectWith(null);
    const child = await narrow(access_token, total(5));
    const stream = await watch(await ownSessionToken(ada));
    await post("/oauth/revoke", { token: child.access_token, client_id: CLIENT_ID });
    expect(await stream.accessEvents()).toMatchObject([{ by: "client" }]);
  });

  it("a device's token is no connection, also if a client collected it: neither its end nor its limit is an event", async () => {
    const stream = await watch(await ownSessionToken(ada));
    for (const client_id of ["demo~web", CLIENT_ID]) {
      const id = crypto.randomUUID();
      const caps = [{ credits: 5, period: "total" as const }];
      await accountOf().issueAllowance(
        { kind: "holder" },
        {
          id,
          label: "TV",
          app_slug: "demo",
          client_id,
          limits: { access: "write", upstream: false, admin: false, app_slugs: null, caps },
          session_id: "session",
          signin_method: "dev",
          ends_with_session: false,
          expires_at_ms: Date.now() + DAY_MS,
        },
      );
      const job = { app: "demo", action: "draw", cost_estimate: 6 };
      const token = await oauthServices().personal_tokens.sign(
        BASE_URL,
        { identity_id: ada.identity_id, personal_token_id: id },
        Date.now() + DAY_MS,
      );
      expect((await withToken(token, "POST", "/api/jobs", job)).status).toBe(402);
      await accountOf().revokeAllowance({ kind: "holder" }, { id });
    }
    expect(await stream.accessEvents()).toEqual([]);
  });

  it("a personal token that ends, a connection that expires, and a refused revocation are no events", async () => {
    const token = await getToken(ada);
    const { access_token } = await connectWith(null);
    const stream = await watch(await ownSessionToken(ada));
    await token.revoke(await tokenId(token));
    const other = await getToken(ada, { apps: ["other"] });
    await other.revoke(await connectionId(access_token));
    expect(await stream.accessEvents()).toEqual([]);
  });
});

describe("who gets an event about access", () => {
  it("a token with limits gets what concerns itself and its descendants, and a token without limits gets all", async () => {
    const connected = await connectWith({ credits: 20, period: "total" });
    await registerApp("demo", {});
    await registerDemoClient();
    const other = await connectWith({ credits: 20, period: "total" }, DEMO_CLIENT);
    const child = await narrow(connected.access_token, total(5));
    const limited = await getToken(ada, { apps: ["demo"] });
    const whole = await getToken(ada);
    const streams = {
      connected: await watch(connected.access_token),
      other: await watch(other.access_token),
      limited: await watch(limited.token),
      whole: await watch(whole.token),
    };
    const id = await connectionId(child.access_token);
    await accountOf().revokeAllowance({ kind: "holder" }, { id });
    const seen = Object.fromEntries(
      await Promise.all(
        Object.entries(streams).map(async ([name, stream]) => [name, await stream.accessEvents()]),
      ),
    );
    expect(seen).toMatchObject({
      connected: [{ connection: { id } }],
      other: [],
      limited: [],
      whole: [{ connection: { id } }],
    });
  });

  it("an app's key and its page get what concerns the app's own clients, and nothing of others", async () => {
    const server = await openAppServer("demo", { origins: ["http://localhost:3000"] as never[] });
    await registerDemoClient();
    const page = await watch(ada.token);
    const own = await connectWith(null, DEMO_CLIENT);
    const foreign = await connectWith(null);
    const stream = await watch(server.key, { "Passbook-Identity": ada.identity_id });
    for (const { access_token } of [foreign, own]) {
      const id = await connectionId(access_token);
      await accountOf().revokeAllowance({ kind: "holder" }, { id });
    }
    const of_demo = [{ connection: { client_id: "demo~web" } }];
    expect(await stream.accessEvents()).toMatchObject(of_demo);
    expect(await page.accessEvents()).toMatchObject(of_demo);
  });
});

describe("connection.limit_reached", () => {
  it("the first refusal of a cap in its period is an event, and the next ones are not", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-02-10T12:00:00Z") });
    const holder = await signInWithCredits();
    ada = holder;
    const { access_token } = await connectWith({ credits: 20, period: "day" });
    const stream = await watch(await ownSessionToken(ada));
    await spend(access_token, 21);
    await evict(ada.identity_id);
    await spend(access_token, 22);
    const events = await stream.accessEvents();
    expect(events).toEqual([
      {
        id: expect.stringMatching(UUID),
        kind: "connection.limit_reached",
        connection: { id: await connectionId(access_token), client_id: CLIENT_ID },
        cap: { credits: 20, period: "day" },
        resets_at: "2027-02-11T00:00:00.000Z",
        at: "2027-02-10T12:00:00.000Z",
      },
    ]);
  });

  it("another cap of the connection that refuses later is an event of its own", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-02-10T12:00:00Z") });
    ada = await signInWithCredits();
    const caps = [
      { credits: 20, period: "day" },
      { credits: 20, period: "week" },
    ];
    const { access_token, refresh_token } = await connectWith(caps);
    const stream = await watch(await ownSessionToken(ada));
    await spend(access_token, 21);
    const { job_id } = (await spend(access_token, 20)).body;
    const cost = { job_id, actual_cost: 20 };
    await withToken(access_token, "POST", "/api/jobs/complete", cost);
    const reached = { kind: "connection.limit_reached" };
    expect(await stream.accessEvents()).toMatchObject([{ ...reached, cap: caps[0] }]);
    let token = refresh_token;
    for (const [day, events] of [
      [11, [{ ...reached, cap: caps[1] }]],
      [12, []],
    ] as const) {
      vi.setSystemTime(Date.parse(`2027-02-${day}T12:00:00Z`));
      ada = await signIn();
      const next = await watch(await ownSessionToken(ada));
      const refreshed = (await refresh(token)).body;
      token = refreshed.refresh_token;
      expect((await spend(refreshed.access_token, 1)).body.code).toBe("token_budget_exceeded");
      expect(await next.accessEvents()).toMatchObject(events);
    }
  });

  it("a cap that its holder changed refuses for the first time again", async () => {
    const { access_token } = await connectWith({ credits: 20, period: "total" });
    const stream = await watch(await ownSessionToken(ada));
    await spend(access_token, 21);
    const id = await connectionId(access_token);
    const caps = [{ credits: 30, period: "total" as const }];
    await accountOf().changeAllowance({ kind: "holder" }, { id, may_widen: true, caps });
    await spend(access_token, 31);
    await spend(access_token, 31);
    const reached = { kind: "connection.limit_reached", resets_at: null };
    expect(await stream.accessEvents()).toMatchObject([
      { ...reached, cap: { credits: 20 } },
      { ...reached, cap: { credits: 30 } },
    ]);
  });

  it.each([
    ["a lower one", 10],
    ["an equal one", 20],
  ])(
    "the connection whose cap refuses is named, also if what was exchanged from it with %s asked",
    async (_, credits) => {
      const { access_token } = await connectWith({ credits: 20, period: "total" });
      await spend(access_token, 18);
      const child = await exchange(access_token, total(credits));
      const stream = await watch(await ownSessionToken(ada));
      await spend(child.body.access_token, 5);
      expect(await stream.accessEvents()).toMatchObject([
        { connection: { id: await connectionId(access_token) }, cap: { credits: 20 } },
      ]);
    },
  );

  it("a personal token that reaches its limit, and a balance that is too low, are no events", async () => {
    const token = await getToken(ada, { caps: [{ credits: 5, period: "total" }] });
    const { access_token } = await connectWith(null);
    const stream = await watch(await ownSessionToken(ada));
    expect((await spend(token.token, 6)).body.code).toBe("token_budget_exceeded");
    await spend(access_token, 1_000);
    expect(await stream.accessEvents()).toEqual([]);
  });
});

describe("approval.approved and approval.denied", () => {
  it("the first decision is an event, which the app's webhook gets if its own client asked", async () => {
    const { receiver, webhook } = await openReceiver({
      events: ["approval.approved", "approval.denied"],
    });
    ada = await signIn();
    await openAccount(100, ada.identity_id);
    await registerDemoClient();
    await webhookListOf(env.DIRECTORY).read();
    const stream = await watch(await ownSessionToken(ada));
    const asked: { approval: string; token: object }[] = [];
    for (const [client, is_approved] of [
      [DEMO_CLIENT, true],
      [{}, false],
    ] as const) {
      const { access_token } = await connectWith({ credits: 20, period: "total" }, client);
      const { approval } = (await spend(access_token, 30)).body;
      const id = await connectionId(access_token);
      const client_id = "client_id" in client ? client.client_id : CLIENT_ID;
      asked.push({ approval, token: { id, client_id } });
      for (const decision of [is_approved, !is_approved]) {
        await accountOf().decideApproval({ kind: "holder" }, approval, decision);
      }
    }
    const job = { app: "demo", action: "draw", credits: 30 };
    const decided = (await stream.accessEvents()).filter(({ kind }) => kind.startsWith("approval"));
    expect(decided).toMatchObject([
      { kind: "approval.approved", ...job, ...asked[0] },
      { kind: "approval.denied", ...job, ...asked[1] },
    ]);
    await deliver(webhook, ada.identity_id);
    expect(receiver.received.map(({ id, body }) => [id, body.type, body.data])).toEqual([
      [decided[0]?.id, "approval.approved", { identity_id: ada.identity_id, ...job, ...asked[0] }],
    ]);
  });
});

describe("webhooks", () => {
  it("the app that owns the client gets its events in order with the others, without a balance, under the id of the stream", async () => {
    const { receiver, webhook } = await openReceiver();
    ada = await signIn();
    await openAccount(100, ada.identity_id);
    await registerDemoClient();
    await webhookListOf(env.DIRECTORY).read();
    const { access_token } = await connectWith({ credits: 20, period: "total" }, DEMO_CLIENT);
    const id = await connectionId(access_token);
    const stream = await watch(await ownSessionToken(ada));
    await spend(access_token, 21);
    await spend(access_token, 2);
    await accountOf().revokeAllowance({ kind: "holder" }, { id });
    receiver.fail();
    await deliver(webhook, ada.identity_id);
    await evict(ada.identity_id);
    receiver.recover();
    passTime(5_000);
    await deliver(webhook, ada.identity_id);
    expect(receiver.types.slice(-5)).toEqual([
      "credits.refused",
      "connection.limit_reached",
      "job.created",
      "job.expired",
      "connection.revoked",
    ]);
    const [reached, revoked] = await stream.accessEvents();
    expect(receiver.received.at(-4)).toMatchObject({ id: reached?.id });
    const last = receiver.received.at(-1);
    expect(last?.id).toBe(revoked?.id);
    expect(last?.body.data).toEqual({
      identity_id: ada.identity_id,
      connection: { id, client_id: "demo~web" },
      by: "holder",
    });
  });

  it("an app that the account never used gets the end of its client's connection", async () => {
    const { receiver, webhook } = await openReceiver();
    ada = await signInWithCredits("other", "bob@example.com");
    await registerDemoClient();
    const { access_token } = await connectWith(null, DEMO_CLIENT);
    await deliver(webhook, ada.identity_id);
    await accountOf().revokeAllowance({ kind: "holder" }, { id: await connectionId(access_token) });
    await evict(ada.identity_id);
    await deliver(webhook, ada.identity_id);
    expect(receiver.types).toEqual(["connection.revoked"]);
  });

  it("nothing is kept for a client of no app, nor for an app whose webhooks do not want the event", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.created"] });
    ada = await signIn();
    await openAccount(100, ada.identity_id);
    await registerDemoClient();
    await webhookListOf(env.DIRECTORY).read();
    for (const client of [DEMO_CLIENT, {}]) {
      const { access_token } = await connectWith(null, client);
      const id = await connectionId(access_token);
      await accountOf().revokeAllowance({ kind: "holder" }, { id });
    }
    await deliver(webhook, ada.identity_id);
    expect(await query(ada.identity_id, "select * from unnumbered_events")).toEqual([]);
    expect(receiver.types).toEqual([]);
  });

  it("refused requests never push out an event about access, and only the newest of each are kept", async () => {
    const { receiver, webhook } = await openReceiver({
      events: ["credits.refused", "connection.revoked"],
    });
    ada = await signIn();
    await openAccount(100, ada.identity_id);
    await registerDemoClient();
    await webhookListOf(env.DIRECTORY).read();
    const { access_token } = await connectWith(null, DEMO_CLIENT);
    await accountOf().revokeAllowance({ kind: "holder" }, { id: await connectionId(access_token) });
    for (let at = 0; at < 101; at += 1) await spend(ada.token, 1_000);
    const counted = "select type, count(*) as n from unnumbered_events group by type order by type";
    expect(await query(ada.identity_id, counted)).toEqual([
      { type: "connection.revoked", n: 1 },
      { type: "credits.refused", n: 100 },
    ]);
    await query(
      ada.identity_id,
      `insert into unnumbered_events select 1000 + value, 'event ' || value, 'connection.revoked', 'demo', 1, '{}', 0
       from (with recursive n(value) as (select 1 union all select value + 1 from n where value < ${ACCESS_EVENTS_KEPT}) select value from n)`,
    );
    await evict(ada.identity_id);
    const again = await connectWith(null, DEMO_CLIENT);
    await accountOf().revokeAllowance(
      { kind: "holder" },
      { id: await connectionId(again.access_token) },
    );
    expect(await query(ada.identity_id, counted)).toMatchObject([
      { n: ACCESS_EVENTS_KEPT },
      { n: 100 },
    ]);
    await saveWebhook({ events: ["connection.revoked"] });
    await deliver(webhook, ada.identity_id);
    expect(receiver.types.filter((type) => type === "connection.revoked")).toHaveLength(1);
  });

  it("many events without an entry are delivered over several pages, each once", async () => {
    const { receiver, webhook } = await openReceiver();
    ada = await signIn();
    await openAccount(100, ada.identity_id);
    await deliver(webhook, ada.identity_id);
    await query(
      ada.identity_id,
      `insert into unnumbered_events select value, 'event ' || value, 'connection.revoked', 'demo', 1, '{}', ${Date.now()}
       from (with recursive n(value) as (select 1 union all select value + 1 from n where value < 100) select value from n)`,
    );
    await evict(ada.identity_id);
    await spend(ada.token, 1);
    await deliver(webhook, ada.identity_id);
    const ids = receiver.received.slice(1).map(({ id }) => id);
    expect(ids.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, at) => `event ${at + 1}`));
    expect(receiver.types.at(-1)).toBe("job.created");
    expect(ids).toHaveLength(101);
  });
});
