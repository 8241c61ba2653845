import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { REFUSALS_KEPT } from "../../../src/domain/limits.ts";
import { webhookListOf } from "../../../src/directory/webhook_list.ts";
import { passTime } from "../support/clock.ts";
import { evict, fireAlarm, query } from "../support/account_object.ts";
import { withToken } from "../support/allowances.ts";
import {
  accountOf,
  ADA,
  APP,
  completeJob,
  createJob,
  deliver,
  fireSender,
  HOLDER,
  openAccount,
  openReceiver,
  saveWebhook,
  services,
  settle,
} from "./receiver.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function accountId(): Promise<string> {
  const answer = await accountOf().wallet(HOLDER, { app: null });
  return answer.ok ? answer.value.account.id : expect.fail("refused");
}

const adjust = (amount: number) =>
  accountOf().adjustCredits({ amount, note: "a reason", allow_negative: true }, null);

const takeStep = (job_id: string, step: number, reserve: number) =>
  accountOf().reportProgress(HOLDER, {
    job_id,
    step,
    reserve,
    spent: null,
    ttl_seconds: null,
    fingerprint: `${step} ${reserve}`,
  });

describe("the events of jobs", () => {
  it("an app receives the life of its jobs, with the balance after each entry", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    const job_id = await createJob(30);
    await completeJob(job_id, 20);
    await deliver(webhook);
    const id = await accountId();
    const job = { id: job_id, app_slug: APP };
    expect(receiver.received).toMatchObject([
      {
        id: `${id}.2.credits.granted`,
        body: {
          type: "credits.granted",
          data: { identity_id: ADA, line: 2, credits: 100, held: 0 },
        },
      },
      {
        id: `${id}.3.job.created`,
        body: { type: "job.created", data: { line: 3, credits: 70, held: 30, job } },
      },
      {
        id: `${id}.4.job.completed`,
        body: { type: "job.completed", data: { line: 4, credits: 80, held: 0, job } },
      },
    ]);
    const [granted] = receiver.received;
    expect(Object.keys(granted?.body ?? {})).toEqual(["type", "timestamp", "data"]);
    expect(Object.keys(granted?.body.data ?? {})).toEqual([
      "identity_id",
      "line",
      "credits",
      "held",
    ]);
  });

  it("a job that fails, with or without refund, expires or is cancelled has its own event", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    for (const terms of [{ refund: true }, { refund: false }, { refund: true, cost: 1 }]) {
      const job_id = (await createJob(3)) ?? "";
      const end = { job_id, ...terms, reason: null, metadata_json: null };
      await accountOf().failJob(HOLDER, end, null);
    }
    await accountOf().cancelJob(HOLDER, { job_id: (await createJob()) ?? "" });
    await createJob(1, { ttl_seconds: 60 });
    passTime(61_000);
    await fireAlarm(ADA);
    await deliver(webhook);
    const failed = receiver.received.filter(({ body }) => body.type === "job.failed");
    expect(failed.map(({ body }) => body.data)).toMatchObject([
      { credits: 100, held: 0, job: { actual_cost: 0 } },
      { credits: 97, held: 0, job: { actual_cost: 3 } },
      { credits: 96, held: 0, job: { actual_cost: 1 } },
    ]);
    expect(receiver.types.filter((type) => type !== "job.created")).toEqual([
      "credits.granted",
      "job.failed",
      "job.failed",
      "job.failed",
      "job.expired",
      "job.expired",
    ]);
  });

  it("a job that is completed late has expired before, also in a replay", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.expired", "job.completed"] });
    await openAccount();
    const job_id = await createJob(30);
    await accountOf().cancelJob(HOLDER, { job_id: job_id ?? "" });
    await deliver(webhook);
    await completeJob(job_id, 20);
    await accountOf().refundJob({ job_id: job_id ?? "", amount: 5, note: "sorry" }, null);
    await deliver(webhook);
    const before = receiver.received.map(({ id, body }) => [id, body.type, body.data["credits"]]);
    expect(before.map(([, type]) => type)).toEqual(["job.expired", "job.completed"]);
    await services().webhook_engine.replay(webhook, ADA, 0);
    await deliver(webhook);
    const again = receiver.received.map(({ id, body }) => [id, body.type, body.data["credits"]]);
    expect(again).toEqual([...before, ...before]);
  });

  it("steps of a long job are no events, whatever they reserve, and a step without credits is a refusal", async () => {
    const { receiver, webhook } = await openReceiver({ thresholds: [] });
    await openAccount();
    for (const reserves of [[40, 5], [0], [30, 0]]) {
      const job_id = (await createJob(20)) ?? "";
      for (const [at, reserve] of reserves.entries()) await takeStep(job_id, at + 1, reserve);
      await completeJob(job_id, 1);
    }
    const job_id = (await createJob(20)) ?? "";
    await takeStep(job_id, 1, 8);
    await accountOf().cancelJob(HOLDER, { job_id });
    await completeJob(job_id, 1);
    await takeStep((await createJob(1)) ?? "", 1, 1_000);
    await deliver(webhook);
    const ended = ["job.created", "job.completed"];
    const late = ["job.created", "job.expired", "job.completed"];
    const refused = ["job.created", "credits.refused"];
    const jobs = [...ended, ...ended, ...ended, ...late, ...refused];
    expect(receiver.types).toEqual(["credits.granted", ...jobs]);
  });

  it("the jobs of another app are no events, and what they cost shows in the next balance", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await completeJob(await createJob(10, { app_slug: "other" }), 10);
    await createJob(1);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted", "job.created"]);
    expect(receiver.received.at(-1)?.body.data).toMatchObject({ credits: 89 });
  });
});

describe("the events of credits", () => {
  it("credits that are given, bought, returned and refunded are events, and others are not", async () => {
    const { receiver, webhook } = await openReceiver({ thresholds: [] });
    await openAccount();
    await adjust(5);
    await adjust(-5);
    await accountOf().changePlan({ plan: "studio", note: "an upgrade" }, null);
    const purchase = { payment_intent_id: "pi", currency: "eur", package_id: "small" };
    const paid = { package_name: "Small", credits: 50, paid_minor: 500 };
    await accountOf().recordPurchase({ checkout_session_id: "cs", ...purchase, ...paid });
    const refund = { payment_intent_id: "pi", source_id: "re", state: "withheld" } as const;
    await accountOf().recordReversal({ ...refund, amount_minor: 500 });
    await deliver(webhook);
    expect(receiver.received.map(({ body }) => [body.type, body.data["credits"]])).toEqual([
      ["credits.granted", 100],
      ["credits.granted", 105],
      ["purchase.completed", 150],
      ["purchase.refunded", 100],
    ]);
  });

  it("a low balance is an event once, until the balance was above the threshold", async () => {
    const { receiver, webhook } = await openReceiver({
      events: ["credits.low"],
      thresholds: [10, 50],
    });
    await openAccount();
    // 50 is reached, then passed; 10 is crossed; then 50 is reached from below, which does not arm it.
    for (const amount of [-50, -1, -40, 41, -1, 2, -2, 0 - 45, 100, -100]) await adjust(amount);
    await deliver(webhook);
    const seen = () =>
      receiver.received.map(({ body: { data } }) => [data["credits"], data["threshold"]]);
    expect(seen()).toEqual([
      [50, 50],
      [9, 10],
      [49, 50],
      [4, 10],
      [4, 10],
    ]);
    const before = seen();
    await services().webhook_engine.replay(webhook, ADA, 0);
    await deliver(webhook);
    expect(seen()).toEqual([...before, ...before]);
  });

  it("an entry can be two events, which have two ids", async () => {
    const { receiver, webhook } = await openReceiver({ thresholds: [50] });
    await openAccount();
    await createJob(60);
    await deliver(webhook);
    const id = await accountId();
    expect(receiver.received.map((event) => event.id)).toEqual([
      `${id}.2.credits.granted`,
      `${id}.3.job.created`,
      `${id}.3.credits.low`,
    ]);
  });

  it("an app that the holder stopped receives only the ends of its own jobs", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    const job_id = await createJob();
    await deliver(webhook);
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await adjust(5);
    await completeJob(await createJob());
    await completeJob(job_id);
    await deliver(webhook);
    expect(receiver.types).toEqual([
      "credits.granted",
      "job.created",
      "access.stopped",
      "job.completed",
    ]);
    expect(receiver.received.at(-1)?.body.data).toMatchObject({ job: { id: job_id } });
  });

  it("the end of a job has no balance for an app that the holder stopped, also in a replay after it is allowed again", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.completed"] });
    await openAccount();
    const job_ids = [await createJob(), await createJob()];
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await adjust(7_777);
    await completeJob(job_ids[0] ?? null);
    await deliver(webhook);
    await accountOf().allowApp(HOLDER, APP);
    await services().webhook_engine.replay(webhook, ADA, 0);
    await deliver(webhook);
    await completeJob(job_ids[1] ?? null);
    await deliver(webhook);
    const seen = receiver.received.map(({ body }) => [body.data["credits"], body.data["held"]]);
    expect(seen).toEqual([
      [null, null],
      [null, null],
      [expect.any(Number), 0],
    ]);
  });

  it("an app that only a capped token uses receives its jobs without the account's balance", async () => {
    const { receiver, webhook } = await openReceiver();
    await adjust(1_000);
    const caps = [{ credits: 50, period: "total" }] as const;
    await accountOf().issueAllowance(HOLDER, {
      id: "capped",
      label: "capped",
      app_slug: null,
      limits: { access: "write", upstream: false, admin: false, app_slugs: null, caps },
      session_id: "session",
      signin_method: "dev",
      ends_with_session: false,
      expires_at_ms: Date.now() + 24 * 60 * 60 * 1000,
    });
    const job = { app_slug: APP, policy: DEFAULT_POLICY, action: "draw", metadata_json: null };
    const request = { ...job, cost_estimate: 10, ttl_seconds: 3_600 };
    const created = await accountOf().createJob(withToken("capped"), request, null);
    await completeJob(created.ok ? created.value.value.job_id : null);
    await deliver(webhook);
    expect(receiver.received.map(({ body }) => body)).toMatchObject([
      { type: "job.created", data: { credits: null, held: null, job: { reserved: 10 } } },
      { type: "job.completed", data: { credits: null, held: null, job: { actual_cost: 1 } } },
    ]);
  });

  it("an app that is allowed again receives nothing of the time in which it was stopped", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await deliver(webhook);
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await adjust(5);
    await accountOf().allowApp(HOLDER, APP);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted", "access.stopped", "access.allowed"]);
    await adjust(6);
    await accountOf().allowApp(HOLDER, APP);
    await services().webhook_engine.replay(webhook, ADA, 0);
    await deliver(webhook);
    expect(receiver.received.map(({ body }) => body.data["credits"])).toEqual([
      100,
      undefined,
      undefined,
      111,
    ]);
  });

  it("an app that is allowed again receives no low balance and no refusal of the time before", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await deliver(webhook);
    await createJob(101);
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await adjust(-95);
    await accountOf().allowApp(HOLDER, APP);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted", "access.stopped", "access.allowed"]);
  });

  it("an app receives nothing of the time before it was opened or before its webhook was created", async () => {
    const { receiver, webhook } = await openReceiver();
    await adjust(7);
    passTime(1_000);
    await openAccount();
    passTime(1_000);
    const later = await saveWebhook({}, "later");
    passTime(1_000);
    await createJob();
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted", "job.created"]);
    receiver.secret = later.secret;
    await deliver(later.webhook);
    expect(receiver.types.slice(2)).toEqual(["job.created"]);
  });

  it("a webhook receives only the events that it subscribed to", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.completed"] });
    await openAccount();
    await completeJob(await createJob());
    await deliver(webhook);
    expect(receiver.types).toEqual(["job.completed"]);
  });
});

describe("a request that gets 402", () => {
  it("a refused request is an event with a UUID, after the entry that was the newest one", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    expect(await createJob(101)).toBeNull();
    receiver.fail();
    await deliver(webhook);
    await createJob(1);
    receiver.recover();
    await evict(ADA);
    passTime(5_000);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted", "credits.refused", "job.created"]);
    const [, refused] = receiver.received;
    expect(refused?.id).toMatch(UUID);
    expect(refused?.body.data).toEqual({ identity_id: ADA, line: 2, credits: 100, held: 0 });
  });

  it("a refused request is an event even if the list of webhooks was not read yet", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    await deliver(webhook);
    webhookListOf(env.DIRECTORY).forget();
    await createJob(101);
    await deliver(webhook);
    expect(receiver.types).toEqual(["credits.granted", "credits.refused"]);
  });

  it("a refused request is kept only if a webhook of the app wants it, and only the newest ones are", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.created"] });
    await openAccount();
    await deliver(webhook);
    await createJob(101);
    await deliver(webhook);
    const count = "select count(*) as n from unnumbered_events";
    expect(await query(ADA, count)).toEqual([{ n: 0 }]);
    await saveWebhook({ events: ["credits.refused"] });
    await webhookListOf(env.DIRECTORY).read();
    for (let at = 0; at < REFUSALS_KEPT + 5; at += 1) await createJob(101);
    expect(await query(ADA, count)).toEqual([{ n: REFUSALS_KEPT }]);
    await deliver(webhook);
    expect(receiver.received).toHaveLength(REFUSALS_KEPT);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(REFUSALS_KEPT);
  });
});

describe("an app without webhooks", () => {
  it("an app without webhooks costs its accounts no row and calls no sender", async () => {
    const { receiver, webhook } = await openReceiver();
    const other = { app_slug: "other" };
    await accountOf().wallet(HOLDER, { app: { slug: "other", starter_credits: 50 } });
    await completeJob(await createJob(1, other));
    await createJob(100, other);
    await settle();
    await fireAlarm(ADA);
    expect(await query(ADA, "select * from unnumbered_events")).toEqual([]);
    expect(await fireSender(webhook)).toBe(false);
    expect(receiver.requests).toEqual([]);
  });
});
