/** The object that has the waiting deliveries of one webhook, so that a dead receiver is no load on the directory. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { fireAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import {
  accountOf,
  createJob,
  deliver,
  deliveriesOf,
  fireDeliveries,
  fireSender,
  HOLDER,
  openAccount,
  openReceiver,
  saveWebhook,
  senderOf,
  services,
} from "./receiver.ts";

const ALL = { status: null, after_identity_id: "", limit: 1_000 };
const DAY_MS = 24 * 60 * 60_000;

/** Counts the statements about webhooks that D1 gets. */
function countStatements(): () => number {
  const prepare = vi.spyOn(Object.getPrototypeOf(env.DIRECTORY), "prepare");
  return () => prepare.mock.calls.filter(([text]) => String(text).includes("webhook")).length;
}

const deliveryOf = (identity_id: string, at_ms = Date.now()) =>
  ({
    identity_id,
    event_id: `evt_${identity_id}`,
    type: "credits.granted",
    line: 2,
    attempts: 1,
    status: "pending",
    reason: "status_500",
    at_ms,
    retry_at_ms: at_ms + 5_000,
  }) as const;

const attemptOf = (identity_id: string, reason: string | null) =>
  ({
    identity_id,
    event_id: `evt_${identity_id}`,
    type: "credits.granted",
    line: 2,
    attempts: 1,
    at_ms: Date.now(),
    status: reason === null ? 200 : 500,
    duration_ms: 4,
    reason,
    response: reason === null ? null : "a response",
  }) as const;

const listed = async (webhook: { readonly uid: string }) =>
  (await deliveriesOf(webhook).list(ALL)).deliveries.map(({ identity_id }) => identity_id);

describe("a dead receiver", () => {
  it("makes one write a minute in the directory, whatever the number of accounts and attempts", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    const people = Array.from({ length: 12 }, (_, index) => `person_${index}`);
    for (const person of people) await openAccount(5, person);
    await services().webhooks.readAll();
    const statements = countStatements();
    for (const person of people) await deliver(webhook, person);
    // The webhook begins to fail.
    expect(statements()).toBe(1);
    for (const pause_ms of [6_000, 31_000]) {
      passTime(pause_ms);
      for (const person of people) await fireSender(webhook, person);
    }
    expect(receiver.requests).toHaveLength(36);
    expect(statements()).toBe(1);
    passTime(60_000);
    await fireDeliveries(webhook);
    // The list of webhooks is a minute old, and the last error is noted.
    expect(statements()).toBe(3);
    expect(await listed(webhook)).toEqual(people.toSorted());
    const saved = await services().webhook_records.find(webhook.app_slug, webhook.id);
    expect(saved).toMatchObject({ value: { last_error: "status_500" } });
  });

  it("that accepts every other delivery makes one write a minute too", async () => {
    const { webhook } = await openReceiver();
    await services().webhooks.readAll();
    const statements = countStatements();
    for (let times = 0; times < 10; times += 1) {
      await deliveriesOf(webhook).record(attemptOf("ada", "status_500"));
      await deliveriesOf(webhook).record(attemptOf("ada", null));
    }
    expect(statements()).toBe(1);
  });

  it("is noted by the next round if the directory did not respond", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    const found = () => services().webhook_records.find(webhook.app_slug, webhook.id);
    const run = vi.spyOn(Object.getPrototypeOf(env.DIRECTORY.prepare("select 1")), "run");
    run.mockRejectedValue(new Error("D1_ERROR"));
    await deliver(webhook);
    run.mockRestore();
    expect(await found()).toMatchObject({ value: { failing_since_ms: null } });
    await fireDeliveries(webhook);
    expect(await found()).toMatchObject({ value: { failing_since_ms: Date.now() } });
  });
});

describe("the deliveries of a webhook", () => {
  it("a resumption wakes all senders, a hundred at once", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount(5, "zoe");
    await deliver(webhook, "zoe");
    // Senders that have nothing to send: their rows leave when they are woken.
    for (let number = 100; number < 350; number += 1) {
      await deliveriesOf(webhook).save(deliveryOf(`person_${number}`));
    }
    receiver.recover();
    await services().webhook_engine.wake(webhook);
    expect(await listed(webhook)).toHaveLength(151);
    await fireDeliveries(webhook);
    expect(await listed(webhook)).toHaveLength(51);
    expect(receiver.received).toEqual([]);
    await fireDeliveries(webhook);
    await deliver(webhook, "zoe");
    expect(await listed(webhook)).toEqual([]);
    expect(receiver.types).toEqual(["credits.granted"]);
  });

  it("a sender that cannot be reached is called again, and stops no other", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    for (const person of ["ada", "bob"]) {
      await openAccount(5, person);
      await deliver(webhook, person);
    }
    receiver.recover();
    const resume = await runInDurableObject(senderOf(webhook), (instance) =>
      vi.spyOn(Object.getPrototypeOf(Object.getPrototypeOf(instance)), "resume"),
    );
    resume.mockRejectedValueOnce(new Error("overloaded"));
    await services().webhook_engine.wake(webhook);
    expect(resume).toHaveBeenCalledTimes(3);
    for (const person of ["ada", "bob"]) await deliver(webhook, person);
    expect(receiver.types).toEqual(["credits.granted", "credits.granted"]);
  });

  it("are deleted 30 days after the last attempt, and those of a deleted webhook within some minutes", async () => {
    const { webhook } = await openReceiver();
    await deliveriesOf(webhook).record(attemptOf("old", "status_500"));
    await deliveriesOf(webhook).save(deliveryOf("old", Date.now() - 30 * DAY_MS - 1));
    const waiting = { ...deliveryOf("young", Date.now() - 29 * DAY_MS), retry_at_ms: null };
    await deliveriesOf(webhook).save(waiting);
    await fireDeliveries(webhook);
    expect(await listed(webhook)).toEqual(["young"]);
    await services().webhook_records.remove(webhook.app_slug, webhook.id);
    await fireDeliveries(webhook);
    expect(await listed(webhook)).toEqual([]);
    const kept = await runInDurableObject(deliveriesOf(webhook), (_, { storage }) => [
      ...storage.kv.list(),
    ]);
    expect(kept).toEqual([]);
    expect(await fireDeliveries(webhook)).toBe(false);
    const other = await saveWebhook();
    expect(await listed(other.webhook)).toEqual([]);
  });
});

describe("the attempts", () => {
  it("a webhook remembers its last 20, for 7 days, and a sender those of its account", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount(5, "zoe");
    await deliver(webhook, "zoe");
    receiver.fail(503);
    await openAccount(5, "ada");
    await deliver(webhook, "ada");
    const known = await deliveriesOf(webhook).attempts();
    expect(known.map(({ identity_id, status, reason }) => [identity_id, status, reason])).toEqual([
      ["ada", 503, "status_503"],
      ["zoe", 200, null],
    ]);
    expect(known[0]?.response).toBe("failure");
    for (let times = 0; times < 25; times += 1) {
      await deliveriesOf(webhook).record(attemptOf("eve", "timeout"));
    }
    expect(await deliveriesOf(webhook).attempts()).toHaveLength(20);
    const of_zoe = await senderOf(webhook, "zoe").attempts();
    expect(of_zoe).toMatchObject([{ type: "credits.granted", attempts: 1, status: 200 }]);
    // The clock does not reach the alarms.
    passTime(7 * DAY_MS);
    expect(await deliveriesOf(webhook).attempts()).toEqual([]);
    expect(await senderOf(webhook, "zoe").attempts()).toEqual([]);
    await fireDeliveries(webhook);
    const kept = await runInDurableObject(deliveriesOf(webhook), (_, { storage }) =>
      storage.kv.get("attempts"),
    );
    expect(kept).toEqual([]);
  });

  it("counts how often an event was tried, and starts again with the next one", async () => {
    const { receiver, webhook } = await openReceiver();
    receiver.fail();
    await openAccount();
    await deliver(webhook);
    passTime(6_000);
    await fireSender(webhook);
    receiver.recover();
    passTime(31_000);
    await fireSender(webhook);
    const tried = await senderOf(webhook).attempts();
    expect(tried.map(({ attempts, reason }) => [attempts, reason])).toEqual([
      [3, null],
      [2, "status_500"],
      [1, "status_500"],
    ]);
    expect(tried.every(({ response }) => response === null)).toBe(true);
  });
});

describe("a replay for all accounts", () => {
  const HOUR_MS = 60 * 60_000;

  /** Fires the object's alarm until the replay has ended. @returns how many rounds it took. */
  async function replayAll(webhook: { readonly uid: string }): Promise<number> {
    for (let rounds = 0; rounds < 50; rounds += 1) {
      if ((await deliveriesOf(webhook).list(ALL)).replays_since_ms === null) return rounds;
      await fireDeliveries(webhook);
    }
    return expect.fail("the replay does not end");
  }

  it("sends what came since the time to each account of the app once more, and nothing older", async () => {
    const { receiver, webhook } = await openReceiver();
    const people = ["ada", "bob", "cleo", "eve"];
    for (const person of people) await openAccount(50, person);
    // An account of another app.
    await accountOf("dan").wallet(HOLDER, { app: { slug: "sketch", starter_credits: 5 } });
    for (const person of people) await deliver(webhook, person);
    passTime(26 * HOUR_MS);
    const since_ms = Date.now();
    // On two days, and once without an app.
    await createJob(1, { identity_id: "ada", ttl_seconds: 300_000 });
    await deliver(webhook, "ada");
    passTime(25 * HOUR_MS);
    await createJob(1, { identity_id: "ada", ttl_seconds: 300_000 });
    await accountOf("bob").adjustCredits({ amount: -45, note: "why", allow_negative: false }, null);
    // An event for this app, by an entry of another one.
    await accountOf("eve").wallet(HOLDER, { app: { slug: "sketch", starter_credits: 5 } });
    for (const person of [...people, "dan"]) await deliver(webhook, person);
    for (const person of [...people, "dan"]) await fireAlarm(person);
    const first = receiver.received.length;
    expect(receiver.types.slice(4)).toEqual([
      "job.created",
      "job.created",
      "credits.low",
      "credits.granted",
    ]);
    await services().webhook_engine.replayAll(webhook, since_ms);
    expect(await list()).toMatchObject({ replays_since_ms: since_ms });
    await replayAll(webhook);
    for (const person of [...people, "dan"]) await deliver(webhook, person);
    const again = receiver.received.slice(first);
    expect(again.map(({ body }) => [body.data["identity_id"], body.type])).toEqual([
      ["ada", "job.created"],
      ["ada", "job.created"],
      ["bob", "credits.low"],
      ["eve", "credits.granted"],
    ]);
    expect(again.map(({ id }) => id).toSorted()).toEqual(
      receiver.received
        .slice(4, first)
        .map(({ id }) => id)
        .toSorted(),
    );

    async function list() {
      const page = { status: null, cursor: null, limit: 10 };
      return services().webhook_engine.listDeliveries(webhook, page);
    }
  });

  it("goes on where it was when an account cannot be reached, and a further replay begins at the earlier time", async () => {
    const { receiver, webhook } = await openReceiver();
    const since_ms = Date.now();
    await openAccount(50, "ada");
    await deliver(webhook, "ada");
    await fireAlarm("ada");
    await services().webhook_engine.replayAll(webhook, since_ms + 1);
    await services().webhook_engine.replayAll(webhook, since_ms);
    const all = vi.spyOn(Object.getPrototypeOf(env.DB.prepare("select 1")), "all");
    all.mockRejectedValueOnce(new Error("D1_ERROR"));
    await fireDeliveries(webhook);
    expect(await deliveriesOf(webhook).list(ALL)).toMatchObject({ replays_since_ms: since_ms });
    await replayAll(webhook);
    await deliver(webhook, "ada");
    expect(receiver.types).toEqual(["credits.granted", "credits.granted"]);
  });

  it("leaves out an account that cannot be reached, and sends nothing twice because of it", async () => {
    const { receiver, webhook, output } = await openReceiver();
    const since_ms = Date.now();
    for (const person of ["ada", "bob"]) {
      await openAccount(50, person);
      await deliver(webhook, person);
      await fireAlarm(person);
    }
    await runInDurableObject(accountOf("bob"), (instance) => {
      const prototype = Object.getPrototypeOf(instance);
      const read: (...input: unknown[]) => unknown = prototype.readWebhookEvents;
      vi.spyOn(prototype, "readWebhookEvents").mockImplementation(function (
        this: unknown,
        ...given
      ) {
        const { ctx } = this as { readonly ctx: DurableObjectState };
        if (ctx.id.name === "bob") throw new Error("overloaded");
        return Reflect.apply(read, this, given);
      });
    });
    await services().webhook_engine.replayAll(webhook, since_ms);
    expect(await replayAll(webhook)).toBe(1);
    await deliver(webhook, "ada");
    expect(receiver.types).toEqual(["credits.granted", "credits.granted", "credits.granted"]);
    expect(output).toContainEqual(
      expect.objectContaining({ event: "webhook_calls_failed", calls: 1 }),
    );
  });

  it("of a paused webhook waits until it is active again", async () => {
    const { receiver, webhook } = await openReceiver();
    const since_ms = Date.now();
    await openAccount(50, "ada");
    await deliver(webhook, "ada");
    await fireAlarm("ada");
    await services().webhooks.pause(webhook.uid, "status_500");
    await services().webhook_engine.replayAll(webhook, since_ms);
    await fireDeliveries(webhook);
    expect(await deliveriesOf(webhook).list(ALL)).toMatchObject({ replays_since_ms: since_ms });
    await saveWebhook({ active: true });
    await services().webhook_engine.wake(webhook);
    await replayAll(webhook);
    await deliver(webhook, "ada");
    expect(receiver.types).toEqual(["credits.granted", "credits.granted"]);
  });
});
