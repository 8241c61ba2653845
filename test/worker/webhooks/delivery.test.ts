import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { WEBHOOK_TIMEOUT_MS } from "../../../src/domain/limits.ts";
import { WEBHOOK_ATTEMPTS_MAX } from "../../../src/domain/webhook_retries.ts";
import document from "../../../docs/openapi.json";
import { webhookListOf } from "../../../src/directory/webhook_list.ts";
import { TEST_TYPES } from "../../../src/domain/webhook_samples.ts";
import { passTime } from "../support/clock.ts";
import { check } from "../support/conformance.ts";
import { evict, fireAlarm } from "../support/account_object.ts";
import {
  accountOf,
  ADA,
  APP,
  completeJob,
  createJob,
  deliver,
  deliveriesOf,
  evictSender,
  fireDeliveries,
  fireSender,
  HOLDER,
  openAccount,
  openReceiver,
  readSenderAlarm,
  saveWebhook,
  senderOf,
  services,
  settle,
  URL_OF_RECEIVER,
} from "./receiver.ts";

/** A body that never ends. */
const endless = () =>
  new ReadableStream({ pull: (it) => it.enqueue(new TextEncoder().encode("x".repeat(500))) });

const HOUR_MS = 60 * 60_000;
const PAUSES_MS = [5_000, 30_000, 120_000, 600_000, HOUR_MS, ...Array(12).fill(6 * HOUR_MS)];

const list = (webhook: Parameters<ReturnType<typeof services>["webhook_engine"]["wake"]>[0]) =>
  services().webhook_engine.listDeliveries(webhook, { status: null, cursor: null, limit: 50 });

/** Waits for the next retry, and lets it happen. @returns how long it was. */
async function passPause(webhook: { readonly uid: string }): Promise<number> {
  const pause_ms = ((await readSenderAlarm(webhook)) ?? Infinity) - Date.now();
  passTime(pause_ms);
  await fireSender(webhook);
  return pause_ms;
}

/** Lets all attempts of the first event fail. */
async function exhaust(webhook: { readonly uid: string }): Promise<number[]> {
  await deliver(webhook);
  const pauses: number[] = [];
  while (pauses.length < WEBHOOK_ATTEMPTS_MAX - 1) pauses.push(await passPause(webhook));
  return pauses;
}

describe("a receiver that fails", () => {
  it("a failing receiver gets an event again after each pause with the same id and a new time, and then the webhook is paused", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    expect(await exhaust(webhook)).toEqual(PAUSES_MS);
    expect(receiver.requests).toHaveLength(WEBHOOK_ATTEMPTS_MAX);
    const headers = (name: string) => receiver.requests.map((it) => it.headers.get(name));
    expect(new Set(headers("webhook-id")).size).toBe(1);
    expect(new Set(headers("webhook-timestamp")).size).toBe(WEBHOOK_ATTEMPTS_MAX);
    const saved = await services().webhook_records.find(webhook.app_slug, webhook.id);
    expect(saved).toMatchObject({
      value: { paused_reason: "status_500", last_error: "status_500" },
    });
    expect(saved.ok && saved.value.paused_at_ms).toBe(Date.now());
    const { deliveries } = await list(webhook);
    expect(deliveries).toMatchObject([
      {
        identity_id: ADA,
        status: "failed",
        attempts: WEBHOOK_ATTEMPTS_MAX,
        type: "credits.granted",
      },
    ]);
    // Nothing is sent while it is paused.
    await createJob();
    await deliver(webhook);
    await passPause(webhook);
    expect(receiver.requests).toHaveLength(WEBHOOK_ATTEMPTS_MAX);
  });

  it("a receiver gets everything in order after its webhook is active again, also from accounts that were idle", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await exhaust(webhook);
    await createJob();
    await openAccount(30, "bob");
    await deliver(webhook);
    await deliver(webhook, "bob");
    receiver.recover();
    await saveWebhook({ active: true });
    await services().webhook_engine.wake(webhook);
    await deliver(webhook);
    await deliver(webhook, "bob");
    const seen = receiver.received.map(({ body: { type, data } }) => [data["identity_id"], type]);
    expect(seen).toEqual([
      [ADA, "credits.granted"],
      [ADA, "job.created"],
      ["bob", "credits.granted"],
    ]);
    expect((await list(webhook)).deliveries).toEqual([]);
  });

  it("a receiver gets what it missed even if the resumption woke no sender", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await exhaust(webhook);
    receiver.recover();
    await saveWebhook({ active: true });
    await passPause(webhook);
    expect(receiver.types).toEqual(["credits.granted"]);
  });

  it("an event that is not accepted holds up the later events of its account only", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.respond = async (request) => {
      const { data } = (await request.json()) as { data: { identity_id: string } };
      return new Response(null, { status: data.identity_id === ADA ? 503 : 204 });
    };
    await openAccount();
    await completeJob(await createJob());
    await openAccount(7, "bob");
    await deliver(webhook);
    await deliver(webhook, "bob");
    expect(receiver.received.map(({ body }) => body.data["identity_id"])).toEqual(["bob"]);
    expect((await list(webhook)).deliveries).toMatchObject([
      { identity_id: ADA, status: "pending", attempts: 1, reason: "status_503", line: 2 },
    ]);
    receiver.recover();
    await passPause(webhook);
    expect(receiver.types.slice(1)).toEqual(["credits.granted", "job.created", "job.completed"]);
    expect((await list(webhook)).deliveries).toEqual([]);
  });

  it("a receiver that redirects has not accepted the event, and the other address gets no request", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.respond = ({ redirect }) =>
      redirect === "manual"
        ? new Response(null, { status: 307, headers: { Location: "https://other.test/" } })
        : new Response("ok");
    await openAccount();
    await deliver(webhook);
    expect(receiver.received).toEqual([]);
    expect((await list(webhook)).deliveries).toMatchObject([{ reason: "status_307" }]);
  });

  it("a receiver that responds after ten seconds has not accepted the event", async () => {
    const { receiver, webhook } = await openReceiver();
    const limits: number[] = [];
    const { setTimeout: start } = globalThis;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms = 0) => {
      if (ms < WEBHOOK_TIMEOUT_MS) return start(run, ms);
      limits.push(ms);
      return start(run, 0);
    }) as typeof setTimeout);
    receiver.respond = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    await openAccount();
    await deliver(webhook);
    expect(limits).toEqual([WEBHOOK_TIMEOUT_MS]);
    expect(WEBHOOK_TIMEOUT_MS).toBe(10_000);
    expect((await list(webhook)).deliveries).toMatchObject([{ reason: "timeout" }]);
  });

  it("an endless response that accepts an event is read no further than its status", async () => {
    const { receiver, webhook } = await openReceiver();
    let chunks = 0;
    receiver.respond = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            chunks += 1;
            controller.enqueue(new Uint8Array(1_024));
          },
        }),
      );
    await openAccount();
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted"]);
    expect(chunks).toBeLessThanOrEqual(1);
  });
});

describe("the sender", () => {
  it("an interruption between two events repeats neither", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await createJob();
    receiver.respond = () =>
      new Response(null, { status: receiver.requests.length > 1 ? 500 : 200 });
    await deliver(webhook);
    await evictSender(webhook);
    receiver.recover();
    await passPause(webhook);
    expect(receiver.types).toEqual(["credits.granted", "job.created"]);
    expect(receiver.requests).toHaveLength(3);
  });

  it("a directory or an account that cannot be reached does not count as a failure of the receiver", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await settle();
    const prototype = Object.getPrototypeOf(env.DIRECTORY.prepare("select 1"));
    const raw = vi.spyOn(prototype, "raw").mockRejectedValue(new Error("D1_ERROR"));
    webhookListOf(env.DIRECTORY).forget();
    for (let attempts = 0; attempts < 30; attempts += 1) await passPause(webhook);
    raw.mockRestore();
    expect(receiver.requests).toEqual([]);
    expect((await list(webhook)).deliveries).toEqual([]);
    await passPause(webhook);
    expect(receiver.types).toEqual(["credits.granted"]);
  });

  it("while the directory cannot be reached, an isolate that knows the webhook goes on", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await settle();
    const prototype = Object.getPrototypeOf(env.DIRECTORY.prepare("select 1"));
    vi.spyOn(prototype, "raw").mockRejectedValue(new Error("D1_ERROR"));
    passTime(HOUR_MS);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted"]);
  });

  it("a secret that was rotated signs in addition to the new one for 24 hours", async () => {
    const { receiver, webhook } = await openReceiver();
    await services().webhook_records.rotate(webhook.app_slug, webhook.id, "rotation");
    await openAccount();
    await deliver(webhook);
    expect(receiver.received.map(({ signatures }) => signatures.length)).toEqual([2]);
    passTime(24 * HOUR_MS);
    receiver.respond = ({ headers }) => {
      expect(headers.get("webhook-signature")?.split(" ")).toHaveLength(1);
      return new Response(null, { status: 418 });
    };
    await createJob();
    await deliver(webhook);
    expect(receiver.requests).toHaveLength(2);
  });

  it("an address that is not allowed any more gets no request", async () => {
    const { receiver, webhook } = await openReceiver();
    for (const url of [
      "https://10.0.0.1/",
      "http://receiver.test/",
      "https://a:b@receiver.test/",
    ]) {
      await env.DIRECTORY.prepare("update webhooks set url = ?").bind(url).run();
      await saveWebhook({ url });
      await openAccount(5, url);
      await deliver(webhook, url);
    }
    expect(receiver.requests).toEqual([]);
    const { deliveries } = await list(webhook);
    expect(deliveries.map(({ reason }) => reason)).toEqual(Array(3).fill("address_refused"));
  });

  it("a deleted webhook gets nothing, and one that is created under its id gets only what is new", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    await services().webhook_records.remove(webhook.app_slug, webhook.id);
    receiver.recover();
    await passPause(webhook);
    expect(receiver.received).toEqual([]);
    passTime(1_000);
    const again = await saveWebhook();
    receiver.secret = again.secret;
    passTime(1_000);
    await createJob();
    await deliver(again.webhook);
    expect(receiver.types).toEqual(["job.created"]);
    expect((await list(webhook)).deliveries).toEqual([]);
  });

  it("no log entry and no stored row has the address, the secret, the body or the identity", async () => {
    const { receiver, webhook, output } = await openReceiver();
    receiver.respond = () => {
      throw new TypeError(`cannot reach ${URL_OF_RECEIVER}`);
    };
    await openAccount();
    await exhaust(webhook);
    const logged = JSON.stringify(output);
    expect(logged).toContain("webhook_delivery_failed");
    expect(logged).toContain("webhook_paused");
    expect(logged).not.toMatch(/receiver\.test|secret-part|whsec|ada|"credits":/);
    const listed = JSON.stringify((await list(webhook)).deliveries);
    expect(listed).toContain("credits.granted");
    expect(listed).not.toMatch(/receiver\.test|secret-part|whsec|"credits":/);
  });
});

describe("telling a sender", () => {
  /** Makes calls of the sender fail. */
  async function breakSenders(webhook: { readonly uid: string }) {
    return runInDurableObject(senderOf(webhook), (instance) =>
      vi
        .spyOn(Object.getPrototypeOf(Object.getPrototypeOf(instance)), "wake")
        .mockRejectedValue(new Error("overloaded")),
    );
  }

  it("an account whose call is lost tells the sender again by its alarm, also after it was evicted", async () => {
    const { receiver, webhook } = await openReceiver();
    const wake = await breakSenders(webhook);
    await openAccount();
    await vi.waitFor(() => expect(wake).toHaveBeenCalled(), { timeout: 60_000 });
    await evict(ADA);
    await fireAlarm(ADA);
    wake.mockRestore();
    await evict(ADA);
    await fireAlarm(ADA);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted"]);
  });

  it("a sender that lost its alarm is found by the object that has its delivery", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    await runInDurableObject(senderOf(webhook), (_, { storage }) => storage.deleteAlarm());
    receiver.recover();
    passTime(16 * 60_000);
    await fireDeliveries(webhook);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted"]);
  });

  it("the schedule sets the alarm of that object again, if the platform lost it", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    const storage = <Value>(read: (of: DurableObjectStorage) => Promise<Value>) =>
      runInDurableObject(deliveriesOf(webhook), (_, context) => read(context.storage));
    await storage((it) => it.deleteAlarm());
    await services().webhook_engine.checkDeliveries(await services().webhooks.readAll());
    expect(await storage((it) => it.getAlarm())).toBe(Date.now() + 10 * 60_000);
  });
});

describe("what operators do", () => {
  it("a delivered event whose row could not be deleted leaves the list within some minutes", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    receiver.recover();
    const drop = await runInDurableObject(deliveriesOf(webhook), (instance) =>
      vi.spyOn(Object.getPrototypeOf(Object.getPrototypeOf(instance)), "drop"),
    );
    drop.mockRejectedValue(new Error("overloaded"));
    await passPause(webhook);
    drop.mockRestore();
    expect(receiver.types).toEqual(["credits.granted"]);
    expect((await list(webhook)).deliveries).toHaveLength(1);
    passTime(HOUR_MS);
    await fireDeliveries(webhook);
    expect((await list(webhook)).deliveries).toEqual([]);
    // The directory gets to know how the delivery went, and then there is nothing to do for a day.
    await fireDeliveries(webhook);
    const alarm = await runInDurableObject(deliveriesOf(webhook), (_, { storage }) =>
      storage.getAlarm(),
    );
    expect(alarm).toBe(Date.now() + 24 * HOUR_MS);
  });

  it("an event that still waits stays in the list", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    passTime(HOUR_MS);
    await fireDeliveries(webhook);
    expect((await list(webhook)).deliveries).toHaveLength(1);
    await services().webhook_engine.wake(webhook);
    expect((await list(webhook)).deliveries).toHaveLength(1);
  });

  it("an event that the app may not receive any more leaves the list with the next attempt", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["credits.granted"] });
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await passPause(webhook);
    expect(receiver.requests).toHaveLength(1);
    expect((await list(webhook)).deliveries).toEqual([]);
    expect(await senderOf(webhook).wake("news")).toBe(false);
  });

  it("a test sends a signed sample of each event, which is marked and is what the document says", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["credits.granted"] });
    const { webhook_engine } = services();
    for (const type of TEST_TYPES) {
      const { reason } = await webhook_engine.sendTest(webhook, crypto.randomUUID(), type);
      expect([type, reason]).toEqual([type, null]);
      const body = receiver.received.at(-1)?.body;
      expect(body).toMatchObject({ type, test: true });
      check(
        document.webhooks.event.post.requestBody.content["application/json"].schema,
        body,
        type,
      );
      expect(receiver.requests.at(-1)?.headers.get("webhook-test")).toBe("true");
      const named = body?.data["job"]?.app_slug ?? body?.data["app"] ?? APP;
      expect(named).toBe(APP);
    }
    // A real event has neither.
    await openAccount();
    await deliver(webhook);
    expect(receiver.received.at(-1)?.body).not.toHaveProperty("test");
    expect(receiver.requests.at(-1)?.headers.has("webhook-test")).toBe(false);
  });

  it("the beginning of a response that did not accept an event is kept", async () => {
    const { receiver, webhook } = await openReceiver();
    const newest = async () => (await deliveriesOf(webhook).attempts())[0]?.response ?? null;
    receiver.respond = () =>
      new Response(`no\u0000 table\u202e\n${"é".repeat(2_000)}`, { status: 500 });
    await openAccount();
    await deliver(webhook);
    const text = (await newest()) ?? "";
    expect(text).toMatch(/^no table\né+/);
    expect(new TextEncoder().encode(text).byteLength).toBeLessThanOrEqual(1_024);
    receiver.respond = () => new Response(endless(), { status: 500 });
    await passPause(webhook);
    expect(await newest()).toMatch(/^x+$/);
    receiver.recover();
    await passPause(webhook);
    expect(receiver.received).not.toEqual([]);
    expect(await newest()).toBeNull();
  });

  it("a ping is signed, has no account, and goes to a paused webhook too", async () => {
    const { receiver, webhook } = await openReceiver({ active: false });
    const { webhook_engine } = services();
    const id = crypto.randomUUID();
    expect(await webhook_engine.sendTest(webhook, id, "ping")).toMatchObject({
      status: 200,
      reason: null,
    });
    expect(receiver.received).toMatchObject([{ id, body: { type: "ping", data: {} } }]);
    receiver.fail(502);
    const failed = await webhook_engine.sendTest(webhook, id, "ping");
    expect(failed).toMatchObject({ status: 502, reason: "status_502" });
  });

  it("a replay sends the events after an entry again, and an account without the app is unknown", async () => {
    const { receiver, webhook } = await openReceiver();
    const { webhook_engine } = services();
    await openAccount();
    await completeJob(await createJob());
    await deliver(webhook);
    const before = receiver.received.map(({ id, body }) => ({ id, body }));
    expect(await webhook_engine.replay(webhook, ADA, 2)).toMatchObject({ ok: true });
    await deliver(webhook);
    const after = receiver.received.map(({ id, body }) => [id, body.data["credits"]]);
    const expected = [...before, ...before.slice(1)];
    expect(after).toEqual(expected.map(({ id, body }) => [id, body.data["credits"]]));
    await accountOf("bob").wallet(HOLDER, { app: null });
    for (const identity_id of ["bob", "nobody"]) {
      const refused = await webhook_engine.replay(webhook, identity_id, 0);
      expect(refused).toMatchObject({ refusal: { code: "account_unknown" } });
    }
  });

  it("a replay from a later entry skips nothing that was not delivered, before the first delivery and between two events of an entry", async () => {
    const { receiver, webhook } = await openReceiver({ thresholds: [50] });
    const { webhook_engine } = services();
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    receiver.respond = (request) =>
      new Response(null, {
        status: request.headers.get("webhook-id")?.endsWith("low") === true ? 500 : 200,
      });
    await webhook_engine.replay(webhook, ADA, 1_000);
    await deliver(webhook);
    await createJob(60);
    await deliver(webhook);
    const before = ["credits.granted", "job.created"];
    expect(receiver.types).toEqual(before);
    receiver.recover();
    await webhook_engine.replay(webhook, ADA, 3);
    await deliver(webhook);
    expect(receiver.types).toEqual([...before, "credits.low"]);
  });

  it("a replay during an attempt loses nothing", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await completeJob(await createJob());
    receiver.respond = async () => {
      receiver.recover();
      await services().webhook_engine.replay(webhook, ADA, 0);
      return new Response("ok");
    };
    await deliver(webhook);
    const all = ["credits.granted", "job.created", "job.completed"];
    // The event of the attempt was accepted, and the replay begins with it again.
    expect(receiver.types).toEqual(["credits.granted", ...all]);
  });
});
