import { describe, expect, it } from "vitest";
import { APP_ITSELF } from "../../../../src/domain/webhook.ts";
import { callSender, createWebhookEngine, replaySince } from "../../../../src/webhooks/engine.ts";
import {
  readSenderName,
  senderName,
  type Webhook,
} from "../../../../src/webhooks/sender_contract.ts";
import { Receiver, SECRET } from "./sending.ts";

const WEBHOOK: Webhook = {
  uid: "uid 1",
  app_slug: "demo",
  id: "main",
  created_at_ms: 5_000,
  url: "https://hooks.example.com/passbook",
  events: ["job.completed"],
  thresholds: [],
  paused_at_ms: null,
};

/** An engine with objects that write down their calls. */
function open(responses: object = {}) {
  const calls: string[] = [];
  const replies: Readonly<Record<string, unknown>> = { wake: true, resume: false, ...responses };
  const objects = (kind: string) => ({
    getByName: (name: string) =>
      new Proxy(
        {},
        {
          get: (_, method: string) => {
            const call = async (...input: unknown[]): Promise<unknown> => {
              calls.push([kind, name, method, ...input.map((it) => JSON.stringify(it))].join(" "));
              return replies[method];
            };
            return call;
          },
        },
      ),
  });
  const known = { has_app: true, begin: { line: 1 } };
  const state = {
    events: (since_ms: number): unknown => ({ ...known, begin: { line: since_ms } }),
  };
  const parts = {
    senders: objects("sender"),
    deliveries: objects("deliveries"),
    secretsOf: async () => [SECRET],
    is_development: false,
    readEvents: async (_: string, { since_ms }: { readonly since_ms: number }) =>
      state.events(since_ms),
  } as unknown as Parameters<typeof createWebhookEngine>[0];
  return { parts, calls, state, engine: createWebhookEngine(parts) };
}

const rowsOf = (...identities: string[]) => ({
  deliveries: identities.map((identity_id) => ({ identity_id })),
  looked_at_to: "looked at",
  replays_since_ms: null,
});

describe("the engine of webhooks", () => {
  it("a test is signed, says in its header and its body that it is one, and is sent once", async () => {
    const receiver = new Receiver();
    const sent = receiver.during(() => open().engine.sendTest(WEBHOOK, "test 1", "job.completed"));
    expect(await sent).toMatchObject({ status: 200, reason: null });
    expect(receiver.ids).toEqual(["test 1"]);
    const [request] = receiver.requests;
    expect(request?.headers.get("webhook-test")).toBe("true");
    expect(await request?.json()).toMatchObject({ type: "job.completed", test: true });
  });

  it.each([
    ["has a cursor if there is another row", ["a", "b", "c"], ["a", "b"], "b"],
    ["goes on where the object stopped looking", ["a", "b"], ["a", "b"], "looked at"],
    ["may be empty", [], [], "looked at"],
  ] as const)("a page of deliveries %s", async (_, found, shown, next_cursor) => {
    const { engine, calls } = open({ list: rowsOf(...found) });
    const filter = { status: null, cursor: null, limit: 2 };
    const page = await engine.listDeliveries(WEBHOOK, filter);
    expect(page.deliveries.map(({ identity_id }) => identity_id)).toEqual(shown);
    expect(page.next_cursor).toBe(next_cursor);
    const request = { status: null, after_identity_id: "", limit: 3 };
    expect(calls).toEqual([`deliveries uid 1 list ${JSON.stringify(request)}`]);
  });

  it("a page of deliveries begins after its cursor", async () => {
    const { engine, calls } = open({ list: rowsOf() });
    await engine.listDeliveries(WEBHOOK, { status: "failed", cursor: "b", limit: 2 });
    expect(calls[0]).toContain('"status":"failed","after_identity_id":"b"');
  });

  it("the attempts are those of one account's sender, or of the webhook", async () => {
    const { engine, calls } = open({ attempts: [] });
    await engine.listAttempts(WEBHOOK, "ada");
    await engine.listAttempts(WEBHOOK, null);
    expect(calls).toEqual(["sender uid 1 ada attempts", "deliveries uid 1 attempts"]);
  });

  it("the events of an account are sent again only if it has the webhook's app", async () => {
    const { engine, calls, state } = open();
    expect(await engine.replay(WEBHOOK, "ada", 3)).toEqual({ ok: true, value: null });
    expect(calls).toEqual(['sender uid 1 ada replay 3 {"line":5000}']);
    for (const known of [null, { has_app: false, begin: { line: 1 } }]) {
      state.events = () => known;
      const refusal = { code: "account_unknown", app_slug: "demo" };
      expect(await engine.replay(WEBHOOK, "ada", 3)).toEqual({ ok: false, refusal });
    }
    expect(calls).toHaveLength(1);
  });

  it("the calls of operators and of the schedule reach their objects", async () => {
    const { engine, calls } = open();
    await engine.replayAll(WEBHOOK, 7);
    await engine.wakeForApp(WEBHOOK);
    await engine.wake(WEBHOOK);
    expect(calls).toEqual([
      "deliveries uid 1 replay 7",
      `sender uid 1 ${APP_ITSELF} wake "app"`,
      "deliveries uid 1 resume",
    ]);
  });

  it("each webhook's deliveries are looked after once, however many there are", async () => {
    const { engine, calls } = open();
    const webhooks = Array.from({ length: 101 }, (_, at) => ({ uid: `uid ${at}` }));
    expect(await engine.checkDeliveries(webhooks)).toEqual({ checked: 101 });
    expect(calls).toEqual(webhooks.map(({ uid }) => `deliveries ${uid} check`));
  });
});

describe("the sender of an account's events", () => {
  it("a sender is woken or resumed by the name of its webhook and its account", async () => {
    const { parts, calls } = open();
    expect(await callSender(parts.senders, "wake", "uid 1", "ada")).toBe(true);
    expect(await callSender(parts.senders, "resume", "uid 1", "ada")).toBe(false);
    expect(calls).toEqual(['sender uid 1 ada wake "overdue"', "sender uid 1 ada resume"]);
  });

  it("the name of a sender has its webhook and its account", () => {
    const uid = "0b8e5a1c-0000-4000-8000-000000000001";
    for (const identity_id of ["ada", "with a space"])
      expect(readSenderName(senderName(uid, identity_id))).toEqual({ uid, identity_id });
  });

  it.each([
    ["a time after the webhook was created", 7_000, 7_000],
    ["a time before it was created: from its creation", 3_000, 5_000],
  ])("events are sent again since %s", async (_, since_ms, from_line) => {
    const { parts, calls } = open();
    await replaySince(parts, WEBHOOK, "ada", since_ms);
    expect(calls).toEqual([`sender uid 1 ada replay ${from_line} {"line":5000}`]);
  });

  it.each([
    ["is erased", () => null],
    ["is erased meanwhile", (since_ms: number) => (since_ms === 5_000 ? null : { begin: {} })],
    [
      "is erased meanwhile, seen by the other query",
      (since_ms: number) => (since_ms === 5_000 ? { has_app: true, begin: {} } : null),
    ],
    ["does not have the app", () => ({ has_app: false, begin: { line: 1 } })],
  ])("nothing is sent again for an account that %s", async (_, events) => {
    const { parts, calls, state } = open();
    state.events = events;
    await replaySince(parts, WEBHOOK, "ada", 7_000);
    expect(calls).toEqual([]);
  });
});
