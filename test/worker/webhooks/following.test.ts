import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { PROGRESS_KEPT } from "../../../src/domain/limits.ts";
import { webhookListOf } from "../../../src/directory/webhook_list.ts";
import { passTime } from "../support/clock.ts";
import { evict, query } from "../support/account_object.ts";
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
  readSenderAlarm,
  saveWebhook,
  senderOf,
  services,
  settle,
} from "./receiver.ts";

const other = { app_slug: "other" };

const EVENTS = ["credits.changed"] as const;

async function accountId(): Promise<string> {
  const answer = await accountOf().wallet(HOLDER, { app: null });
  return answer.ok ? answer.value.account.id : expect.fail("refused");
}

describe("credits.changed", () => {
  it("an app can keep the balance from credits.changed, also when another app or a purchase changed it", async () => {
    const { receiver, webhook } = await openReceiver({ events: EVENTS });
    await openAccount();
    await deliver(webhook);
    await createJob(30, other);
    passTime(1_000);
    await deliver(webhook);
    const terms = { bought: true, expires_at_ms: null, app_slugs: null };
    const bought = { amount: 50, note: "a reason", allow_negative: true, terms };
    await accountOf().adjustCredits(bought, null);
    passTime(1_000);
    await deliver(webhook);
    const id = await accountId();
    const of = (line: number, credits: number, held: number, part: number) => ({
      id: `${id}.${line}.credits.changed`,
      body: {
        type: "credits.changed",
        data: { identity_id: ADA, line, credits, held, bought: part },
      },
    });
    expect(receiver.received).toMatchObject([
      of(2, 100, 0, 0),
      of(3, 70, 30, 0),
      of(4, 120, 30, 50),
    ]);
    const members = ["identity_id", "line", "credits", "held", "bought"];
    expect(Object.keys(receiver.received[2]?.body.data ?? {})).toEqual(members);
  });

  it("a receiver gets at most one credits.changed a second of an account, and then the newest balance", async () => {
    const { receiver, webhook } = await openReceiver({ events: [...EVENTS, "job.created"] });
    await openAccount();
    await deliver(webhook);
    for (let at = 0; at < 5; at += 1) {
      await createJob(1);
      await senderOf(webhook).wake(`${at}`);
      await fireSender(webhook);
    }
    expect(receiver.types).toEqual(["credits.changed", ...Array<string>(5).fill("job.created")]);
    const next_ms = (await readSenderAlarm(webhook)) ?? 0;
    expect(next_ms).toBeGreaterThan(Date.now());
    expect(next_ms).toBeLessThanOrEqual(Date.now() + 1_000);
    passTime(1_000);
    await fireSender(webhook);
    expect(receiver.received.slice(6)).toMatchObject([
      { body: { type: "credits.changed", data: { line: 7, credits: 95, held: 5 } } },
    ]);
    await deliver(webhook);
    expect(receiver.received).toHaveLength(7);
  });

  it("a receiver that was down gets only the newest balance, after all other events", async () => {
    const { receiver, webhook } = await openReceiver({
      events: [...EVENTS, "job.created", "credits.low"],
      thresholds: [99],
    });
    await openAccount();
    receiver.fail();
    await deliver(webhook);
    await createJob(1);
    await createJob(1);
    await deliver(webhook);
    receiver.recover();
    passTime(5_000);
    await deliver(webhook);
    expect(receiver.types).toEqual([
      "job.created",
      "credits.low",
      "job.created",
      "credits.changed",
    ]);
    expect(receiver.received.at(-1)?.body.data).toMatchObject({ line: 4, credits: 98, held: 2 });
  });

  it("the attempts of a balance go on when a newer one takes its place", async () => {
    const { receiver, webhook } = await openReceiver({ events: EVENTS });
    await openAccount();
    receiver.fail();
    await deliver(webhook);
    const attempts: (number | undefined)[] = [];
    for (const pause_ms of [5_000, 30_000]) {
      await createJob(1);
      passTime(pause_ms);
      await deliver(webhook);
      const filter = { status: null, cursor: null, limit: 1 };
      const { deliveries } = await services().webhook_engine.listDeliveries(webhook, filter);
      attempts.push(deliveries[0]?.attempts);
    }
    expect(attempts).toEqual([2, 3]);
  });

  it("a balance is sent although an earlier entry had the same one, because a response may be lost", async () => {
    const { receiver, webhook } = await openReceiver({ events: EVENTS });
    await openAccount();
    await deliver(webhook);
    const job_id = await createJob(10);
    passTime(1_000);
    receiver.fail();
    await deliver(webhook);
    await accountOf().cancelJob(HOLDER, { job_id: job_id ?? "" });
    receiver.recover();
    passTime(5_000);
    await deliver(webhook);
    expect(receiver.received.at(-1)?.body.data).toMatchObject({ line: 4, credits: 100, held: 0 });
  });

  it("an app gets no balance of the time when the account was not open for it", async () => {
    const { receiver, webhook } = await openReceiver({ events: EVENTS });
    await accountOf().wallet(HOLDER, { app: { slug: "other", starter_credits: 50 } });
    await deliver(webhook);
    expect(receiver.received).toEqual([]);
    const opened = { slug: APP, starter_credits: 0, is_registered: true };
    await accountOf().wallet(HOLDER, { app: opened });
    await deliver(webhook);
    expect(receiver.received).toEqual([]);
    await completeJob(await createJob(1, other));
    await deliver(webhook);
    expect(receiver.received).toMatchObject([{ body: { data: { credits: 49 } } }]);
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await createJob(1, other);
    passTime(1_000);
    await deliver(webhook);
    expect(receiver.received).toHaveLength(1);
  });

  it("a replay sends the newest balance once", async () => {
    const { receiver, webhook } = await openReceiver({ events: EVENTS });
    await openAccount();
    await createJob(1);
    await deliver(webhook);
    passTime(1_000);
    await services().webhook_engine.replay(webhook, ADA, 0);
    await deliver(webhook);
    const ids = receiver.received.map(({ id }) => id);
    expect(ids).toEqual([ids[0], ids[0]]);
  });
});

const takeStep = (job_id: string | null, step: number, report: object = {}) =>
  accountOf().reportProgress(HOLDER, {
    job_id: job_id ?? "",
    step,
    reserve: null,
    spent: null,
    ttl_seconds: null,
    fingerprint: JSON.stringify([step, report]),
    ...report,
  });

const PROGRESS = { events: ["job.progressed", "job.created", "job.completed"] } as const;

describe("job.progressed", () => {
  it("an app receives each step of its jobs in order, with and without a ledger entry", async () => {
    const { receiver, webhook } = await openReceiver(PROGRESS);
    await openAccount();
    const job_id = await createJob(10);
    await deliver(webhook);
    await takeStep(job_id, 1, { done: 0.25, message: "a quarter" });
    await deliver(webhook);
    await takeStep(job_id, 2, { spent: 4 });
    await deliver(webhook);
    await completeJob(job_id, 5);
    await deliver(webhook);
    const of = { identity_id: ADA, job_id, done: 0.25, message: "a quarter" };
    expect(receiver.types).toEqual([
      "job.created",
      "job.progressed",
      "job.progressed",
      "job.completed",
    ]);
    expect(receiver.received.slice(1, 3)).toMatchObject([
      { id: `${job_id}.1.job.progressed`, body: { data: { ...of, step: 1, spent: null } } },
      { id: `${job_id}.2.job.progressed`, body: { data: { ...of, step: 2, spent: 4 } } },
    ]);
    const members = ["identity_id", "job_id", "step", "spent", "done", "message"];
    expect(Object.keys(receiver.received[1]?.body.data ?? {})).toEqual(members);
  });

  it("of steps that wait, only the newest of each job is sent, before the job's end", async () => {
    const { receiver, webhook } = await openReceiver(PROGRESS);
    await openAccount();
    receiver.fail();
    const jobs = [await createJob(1), await createJob(1)];
    for (const step of [1, 2, 3]) {
      for (const job_id of jobs) await takeStep(job_id, step, { done: step / 10 });
      await deliver(webhook);
    }
    await completeJob(jobs[0] ?? null);
    receiver.recover();
    passTime(5_000);
    await deliver(webhook);
    expect(receiver.received.slice(2)).toMatchObject([
      { body: { type: "job.progressed", data: { job_id: jobs[0], step: 3 } } },
      { body: { type: "job.progressed", data: { job_id: jobs[1], step: 3 } } },
      { body: { type: "job.completed", data: { job: { id: jobs[0] } } } },
    ]);
  });

  it("a step is an event even if the list of webhooks was not read yet, and a repeated step adds no event", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.progressed"] });
    await openAccount();
    const job_id = await createJob(1);
    await deliver(webhook);
    webhookListOf(env.DIRECTORY).forget();
    await takeStep(job_id, 1, { done: 0.5 });
    await takeStep(job_id, 1, { done: 0.5 });
    await deliver(webhook);
    expect(receiver.received).toMatchObject([{ body: { data: { step: 1, done: 0.5 } } }]);
  });

  it("a step is kept only if a webhook of the job's app wants it, and for the newest jobs", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["job.created"] });
    await openAccount();
    const job_id = await createJob(1);
    await deliver(webhook);
    await takeStep(job_id, 1, { done: 0.1 });
    await takeStep(await createJob(1, other), 1, { done: 0.1 });
    const count = "select count(*) as n from unnumbered_events";
    expect(await query(ADA, count)).toEqual([{ n: 0 }]);
    await saveWebhook({ events: ["job.progressed"] });
    await webhookListOf(env.DIRECTORY).read();
    await query(
      ADA,
      `insert into unnumbered_events
       select value, 'job ' || value || '.1.job.progressed', 'job.progressed', '${APP}', 1, '{}', 0
       from (with recursive n(value) as (select 1 union all select value + 1 from n where value < ${PROGRESS_KEPT}) select value from n)`,
    );
    await evict(ADA);
    await takeStep(job_id, 2, { done: 0.2 });
    expect(await query(ADA, count)).toEqual([{ n: PROGRESS_KEPT }]);
    await deliver(webhook);
    expect(receiver.types).toEqual(["job.created", "job.progressed"]);
  });

  it("an app that the holder stopped gets no progress, but the end of its job", async () => {
    const { receiver, webhook } = await openReceiver(PROGRESS);
    await openAccount();
    const job_id = await createJob(1);
    await deliver(webhook);
    await accountOf().stopApp(HOLDER, { slug: APP, started_jobs: "keep" });
    await takeStep(job_id, 1, { done: 0.5 });
    await completeJob(job_id);
    await settle();
    await deliver(webhook);
    expect(receiver.types).toEqual(["job.created", "job.completed"]);
  });
});
