import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { failureCounterOf } from "../../../../../src/directory/failures.ts";
import type { FailureKind } from "../../../../../src/domain/health.ts";
import { upkeepOf } from "../../../../../src/services.ts";
import worker from "../../../../../src/worker.ts";
import { sign } from "../../../payments/stripe_double.ts";
import {
  deliver,
  openCheckout,
  openStripe,
  PACKAGES,
  post,
  SELLING,
} from "../../../payments/till.ts";
import { breakReadModel } from "../../../readmodel/outage.ts";
import { evict, fireAlarm } from "../../../support/account_object.ts";
import { registerApp } from "../../../support/directory_outage.ts";
import {
  BASE_URL,
  environmentWith,
  send,
  signIn,
  signInWithCredits,
  type Answer,
} from "../../../support/passbook.ts";
import { openConsole, words } from "../../../web/console/pages.ts";
import { services } from "../../../webhooks/receiver.ts";
import { operatorOnPages, SETTINGS, signInOperator, type Operator } from "./operators.ts";

interface Figure {
  readonly name: string;
  readonly status: string;
  readonly value: number | null;
  readonly reason: string | null;
}

const MINUTE_MS = 60_000;
const JOB = { app: "demo", action: "draw", cost_estimate: 10, ttl_seconds: 60 };

/** The operator's clock does not end their session, which lasts for weeks. */
function passMinutes(minutes: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * MINUTE_MS });
}

function silence(): void {
  for (const level of ["log", "warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
}

/** Writes what the isolate counted in earlier tests, and starts from nothing. */
async function emptyCounts(kind: FailureKind): Promise<void> {
  passMinutes(2);
  await failureCounterOf(env.DIRECTORY).count(kind, { reason: "earlier" });
  await env.DIRECTORY.exec("delete from failures");
  passMinutes(2);
}

/** The directory, whose writes with `start` end only after `release`. */
function slowDirectory(start: string) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const slow = new Proxy(env.DIRECTORY, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== "prepare") return typeof member === "function" ? member.bind(target) : member;
      return (query: string) => {
        const statement = target.prepare(query);
        if (!query.startsWith(start)) return statement;
        const bind = (...values: unknown[]) => ({
          run: async () => {
            await released;
            return statement.bind(...values).run();
          },
        });
        return { bind };
      };
    },
  });
  return { slow, release: () => release() };
}

const healthOf = (olga: Operator): Promise<Answer> => olga.get("/api/admin/health");

async function figure(olga: Operator, name: string): Promise<Figure | undefined> {
  const { body } = await healthOf(olga);
  return (body.figures as Figure[]).find((it) => it.name === name);
}

const warningsOf = ({ body }: Answer): string[] =>
  (body.figures as Figure[]).filter(({ status }) => status === "warning").map(({ name }) => name);

describe("GET /api/admin/health", () => {
  it("health is ok after a run of the schedule without failures", async () => {
    silence();
    const olga = await signInOperator();
    await upkeepOf(env)();
    const health = await healthOf(olga);
    expect([health.status, health.body.status, warningsOf(health)]).toEqual([200, "ok", []]);
    expect(health.body.tasks).toContainEqual(
      expect.objectContaining({ task: "read_model", failing_since: null, reason: null }),
    );
  });

  it("health warns of a schedule that never ran, and of one that stopped", async () => {
    silence();
    const olga = await signInOperator();
    expect(await figure(olga, "schedule_age")).toMatchObject({
      status: "warning",
      value: null,
      reason: "not_run_yet",
    });
    await upkeepOf(env)();
    passMinutes(29);
    expect(await figure(olga, "schedule_age")).toMatchObject({ status: "ok", value: 29 * 60 });
    passMinutes(2);
    expect(await figure(olga, "schedule_age")).toMatchObject({ status: "warning" });
  });

  it("health warns of a task of the schedule that failed in three runs in a row", async () => {
    silence();
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await env.DB.exec("alter table account_days rename to away");
    const run = () => upkeepOf(env)().catch(() => undefined);
    await run();
    passMinutes(10);
    await run();
    expect(await figure(olga, "failing_tasks")).toMatchObject({ status: "ok", value: 0 });
    passMinutes(10);
    await run();
    expect(await figure(olga, "failing_tasks")).toMatchObject({
      status: "warning",
      value: 1,
      reason: "read_model",
    });
    await env.DB.exec("alter table away rename to account_days");
    await run();
    expect(await figure(olga, "failing_tasks")).toMatchObject({ status: "ok" });
  });

  it("health warns of more than twenty failed requests in twenty minutes, with one write a minute", async () => {
    silence();
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const broken = { ACCOUNT: { getByName: () => ({}), idFromName: () => ({}) } };
    const headers = { Authorization: `Bearer ${ada.token}` };
    const fail = () => send("GET", "/api/wallet", { headers }, broken);
    await emptyCounts("failed_request");
    expect((await fail()).status).toBe(500);
    for (let index = 0; index < 19; index += 1) await fail();
    // The others wait for the next write.
    expect(await figure(olga, "failed_requests")).toMatchObject({ status: "ok", value: 1 });
    passMinutes(1);
    await fail();
    expect(await figure(olga, "failed_requests")).toMatchObject({
      status: "warning",
      value: 21,
      reason: "status_500",
    });
    passMinutes(21);
    expect(await figure(olga, "failed_requests")).toMatchObject({ status: "ok", value: 0 });
  });

  it("failed requests that the directory could not count are added to the next count", async () => {
    silence();
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const broken = { ACCOUNT: { getByName: () => ({}), idFromName: () => ({}) } };
    const headers = { Authorization: `Bearer ${ada.token}` };
    const fail = () => send("GET", "/api/wallet", { headers }, broken);
    await emptyCounts("failed_request");
    await env.DIRECTORY.exec("alter table failures rename to away");
    for (const _ of [1, 2]) {
      await fail();
      await fail();
      passMinutes(1);
    }
    await env.DIRECTORY.exec("alter table away rename to failures");
    await fail();
    expect(await figure(olga, "failed_requests")).toMatchObject({ value: 5 });
  });

  it("a response does not wait for the count of its failure, which is written although the request has ended", async () => {
    silence();
    const ada = await signInWithCredits();
    await emptyCounts("failed_request");
    const { slow, release } = slowDirectory("insert into failures");
    const environment = environmentWith({
      ACCOUNT: { getByName: () => ({}), idFromName: () => ({}) },
      DIRECTORY: slow,
    });
    const context = createExecutionContext();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const request = new Request(`${BASE_URL}/api/wallet`, { headers });
    const response = await worker.fetch(request, environment, context);
    expect(response.status).toBe(500);
    const count = () => env.DIRECTORY.prepare("select sum(count) as n from failures").first("n");
    expect(await count()).toBeNull();
    setTimeout(release, 0);
    await waitOnExecutionContext(context);
    expect(await count()).toBe(1);
  });

  it("health shows since when the read model lacks changes, and warns after a quarter of an hour", async () => {
    silence();
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await emptyCounts("failed_delivery");
    await breakReadModel("full");
    await ada.post("/api/jobs", { ...JOB, ttl_seconds: 86_400 });
    await fireAlarm(ada.identity_id);
    await vi.waitFor(async () =>
      expect(await figure(olga, "read_model_lag")).toMatchObject({ status: "ok", reason: "Error" }),
    );
    passMinutes(16);
    await fireAlarm(ada.identity_id);
    await vi.waitFor(async () => {
      const lag = await figure(olga, "read_model_lag");
      expect(lag).toMatchObject({ status: "warning" });
      expect(lag?.value).toBeGreaterThanOrEqual(16 * 60 - 1);
    });
    expect((await figure(olga, "failed_deliveries"))?.value).toBeGreaterThanOrEqual(2);
    vi.restoreAllMocks();
    silence();
    passMinutes(21);
    expect(await figure(olga, "read_model_lag")).toMatchObject({ status: "ok", value: 0 });
  });

  it("health warns between two retries of an account that has waited for a day, and until the next one is due", async () => {
    silence();
    vi.spyOn(Math, "random").mockReturnValue(0);
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await emptyCounts("failed_delivery");
    await breakReadModel("full");
    await ada.post("/api/jobs", { ...JOB, ttl_seconds: 7 * 86_400 });
    passMinutes(24 * 60);
    await fireAlarm(ada.identity_id);
    const status = async () => (await figure(olga, "read_model_lag"))?.status;
    await vi.waitFor(async () => expect(await status()).toBe("warning"));
    passMinutes(6 * 60);
    expect(await status()).toBe("warning");
    passMinutes(10);
    expect(await status()).toBe("ok");
  });

  it("health warns of a started job that is hours past its deadline", async () => {
    silence();
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", JOB);
    await fireAlarm(ada.identity_id);
    await evict(ada.identity_id);
    passMinutes(3 * 60);
    await upkeepOf(env)();
    const overdue = await figure(olga, "overdue_jobs");
    expect(overdue).toMatchObject({ status: "warning" });
    expect(overdue?.value).toBeGreaterThan(2 * 60 * 60);
    // The run ended the job.
    passMinutes(61);
    await upkeepOf(env)();
    expect(await figure(olga, "overdue_jobs")).toMatchObject({ status: "ok", value: 0 });
  });

  it("health shows the starter budget of each app, and warns when it has too few credits for a grant", async () => {
    silence();
    const olga = await signInOperator();
    const app = { name: "Paint", starter_credits: 60, origins: [], daily_starter_budget: 100 };
    await olga.send("PUT", "/api/admin/apps/paint", app);
    expect((await healthOf(olga)).body.budgets).toEqual([
      { app: "paint", used: 0, limit: 100, used_up: false },
    ]);
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/wallet?app=paint", { headers }, SETTINGS);
    await fireAlarm(ada.identity_id);
    expect((await healthOf(olga)).body.budgets).toEqual([
      { app: "paint", used: 60, limit: 100, used_up: true },
    ]);
    expect(await figure(olga, "used_up_budgets")).toMatchObject({
      status: "warning",
      value: 1,
      reason: "paint",
    });
  });

  it("health warns while a webhook is paused because its receiver failed, and not if its owner switched it off", async () => {
    silence();
    const olga = await signInOperator();
    await registerApp("paint", {});
    const { webhook_records, webhooks } = services();
    const save = async (active: boolean) => {
      const found = await webhook_records.find("paint", "main");
      return webhook_records.save(
        { app_slug: "paint", id: "main" },
        { url: "https://example.com/hook", events: ["job.created"], active },
        { before: found.ok ? found.value : null, audit_id: crypto.randomUUID() },
      );
    };
    await save(false);
    expect(await figure(olga, "paused_webhooks")).toMatchObject({ status: "ok", value: 0 });
    const saved = await save(true);
    await webhooks.pause(saved.ok ? (saved.value?.record.uid ?? "") : "", "timeout");
    expect(await figure(olga, "paused_webhooks")).toMatchObject({
      status: "warning",
      value: 1,
      reason: "paint/main",
    });
    await save(true);
    expect(await figure(olga, "paused_webhooks")).toMatchObject({ status: "ok", value: 0 });
  });

  it("health warns when a day's settled credits exceed DAILY_SPEND_ALERT_CREDITS", async () => {
    silence();
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const { body } = await ada.post("/api/jobs", JOB);
    await ada.post("/api/jobs/complete", { job_id: body.job_id, actual_cost: 10 });
    await fireAlarm(ada.identity_id);
    expect(await figure(olga, "spent_today")).toMatchObject({
      status: "ok",
      value: 10,
      limit: null,
    });
    const limited = { ...SETTINGS, DAILY_SPEND_ALERT_CREDITS: "9" };
    expect(await figure(operatorOnPages(olga.person, limited), "spent_today")).toMatchObject({
      status: "warning",
      value: 10,
      limit: 9,
    });
  });

  it("health warns of a payment that brought no credits, and counts failed and dropped payment events", async () => {
    silence();
    const olga = await signInOperator();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const event = stripe.completes(await openCheckout(ada));
    const other = { ...SELLING, CREDIT_PACKAGES: JSON.stringify(PACKAGES.slice(1)) };
    await deliver(event, other);
    expect(await figure(olga, "payments_not_booked")).toMatchObject({
      status: "warning",
      value: 1,
      reason: "purchase_unmatched",
    });
    expect(await figure(olga, "failed_payment_events")).toMatchObject({ status: "ok", value: 1 });
    expect(await figure(olga, "dropped_payment_events")).toMatchObject({ status: "ok", value: 0 });
    const ours = stripe.completes(await openCheckout(ada));
    const [, session] = [...stripe.sessions.values()];
    Object.assign(session ?? {}, { metadata: {} });
    await deliver(ours);
    expect(await figure(olga, "dropped_payment_events")).toMatchObject({
      value: 1,
      reason: "not_ours",
    });
    passMinutes(24 * 60 + 1);
    expect(await figure(olga, "payments_not_booked")).toMatchObject({ status: "ok", value: 0 });
  });

  it("health warns of a payment that only the schedule booked, because its webhook was lost", async () => {
    silence();
    const olga = await signInOperator();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    stripe.completes(await openCheckout(ada));
    await upkeepOf(environmentWith(SELLING))();
    expect(await figure(olga, "payments_not_booked")).toMatchObject({ status: "ok", value: 0 });
    passMinutes(7 * 60);
    await upkeepOf(environmentWith(SELLING))();
    expect(await figure(olga, "payments_not_booked")).toMatchObject({
      status: "warning",
      value: 1,
      reason: "webhook_lost",
    });
  });

  it("messages with a wrong signature, and events that Passbook does not use, count nothing", async () => {
    silence();
    const olga = await signInOperator();
    const stripe = openStripe();
    const event = stripe.event("customer.created", { id: "cus_1" });
    const body = JSON.stringify(event);
    expect((await post(body, await sign(body, Date.now(), "whsec_other"))).status).toBe(400);
    expect((await deliver(event)).status).toBe(200);
    const counted = await env.DIRECTORY.prepare("select * from failures").all();
    expect(counted.results).toEqual([]);
    expect(await figure(olga, "failed_payment_events")).toMatchObject({ value: 0 });
  });

  it("health still responds while the read model does not, and names what it could not read", async () => {
    silence();
    const olga = await signInOperator();
    await olga.send("PUT", "/api/admin/apps/paint", {
      name: "Paint",
      starter_credits: 60,
      origins: [],
      daily_starter_budget: 100,
    });
    await env.DB.exec("alter table daily_totals rename to away");
    const health = await healthOf(olga);
    expect([health.status, health.body.budgets]).toEqual([200, null]);
    expect(health.body.figures).toContainEqual(
      expect.objectContaining({
        name: "spent_today",
        status: "warning",
        value: null,
        reason: "read_model_unreadable",
      }),
    );
    expect(await figure(olga, "failed_requests")).toMatchObject({ status: "ok", value: 0 });
  });

  it("the console's first page shows health while a part of the directory does not respond", async () => {
    silence();
    const { open } = await openConsole();
    await upkeepOf(environmentWith(SETTINGS))();
    expect(words((await open("/console")).text)).toContain("Everything is within its limits");
    await env.DIRECTORY.exec("alter table failures rename to away");
    const page = await open("/console");
    expect(page.status).toBe(200);
    expect(words(page.text)).toContain(
      "the database of people and apps (D1 DIRECTORY) does not respond",
    );
    expect(words(page.text)).toContain("10 warnings");
    expect(page.text).toContain('<a href="/console/help/alerts#failed_requests">What to do</a>');
  });

  it("the schedule deletes counts of failures after a week", async () => {
    silence();
    const olga = await signInOperator();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const other = { ...SELLING, CREDIT_PACKAGES: JSON.stringify(PACKAGES.slice(1)) };
    await deliver(stripe.completes(await openCheckout(ada)), other);
    const rows = () => env.DIRECTORY.prepare("select count(*) as n from failures").first("n");
    expect(await rows()).toBeGreaterThan(0);
    passMinutes(8 * 24 * 60);
    await upkeepOf(env)();
    expect(await rows()).toBe(0);
    expect((await healthOf(olga)).status).toBe(200);
  });
});
