/** An operator pauses an app: docs/apps.md, "Pausing an app". */
import { beforeEach, describe, expect, it } from "vitest";
import { openAppServer, rows, type AppServer } from "../../../caller/app_server.ts";
import { chargingToken, connectToResource, openChargingApp } from "../../../../support/charging.ts";
import { passTime } from "../../../../support/clock.ts";
import { getToken, postForm } from "../../../../support/device_logins.ts";
import {
  forgetEnvironments,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../../../support/passbook.ts";
import { deliver, openReceiver, saveWebhook } from "../../../../webhooks/receiver.ts";

const MESSAGE = "Sketch rests until Monday. Your credits are safe.";
const PAUSE = { reason: "burns credits", message: MESSAGE };
const PAUSED = { error: MESSAGE, code: "app_paused" };
const JOB = { app: "sketch", action: "draw", cost_estimate: 5 };

let server: AppServer;
let ada: SignedIn;
beforeEach(async () => {
  server = await openAppServer("sketch", { settle: "holder" });
  forgetEnvironments();
  ada = await signInWithCredits("sketch");
});

const act = (name: "pause" | "continue", body: object = PAUSE, headers = {}) =>
  server.operator.send("POST", `/api/admin/apps/sketch/${name}`, body, headers);

/** Pauses the app, and shows it to the isolates of the tests. */
async function pause(): Promise<void> {
  expect((await act("pause")).status).toBe(200);
  forgetEnvironments();
}

const credits = async () => (await ada.get("/api/wallet")).body.account.credits;

describe("a paused app", () => {
  it("an isolate that knows the app refuses its jobs within a minute, with the operator's message", async () => {
    expect((await ada.post("/api/jobs", JOB)).status).toBe(200);
    const { status, body } = await act("pause");
    expect(status).toBe(200);
    expect(body.app.paused).toEqual({ since: expect.any(String), message: MESSAGE });
    passTime(60_000);
    expect(await ada.post("/api/jobs", JOB)).toMatchObject({ status: 403, body: PAUSED });
    expect(await credits()).toBe(95);
    expect((await act("continue", { reason: "fixed" })).body.app.paused).toBeNull();
    passTime(60_000);
    expect((await ada.post("/api/jobs", JOB)).status).toBe(200);
  });

  it("a person, a personal token and the app's key start no jobs for it, one by one or in a batch", async () => {
    const agent = await getToken(ada, {});
    await ada.post("/api/jobs", JOB);
    await pause();
    const key = server.in(ada.identity_id);
    for (const caller of [ada, agent, key]) {
      expect(await caller.post("/api/jobs", JOB)).toMatchObject({ status: 403, body: PAUSED });
    }
    const jobs = [JOB, { ...JOB, app: "other", cost_estimate: 1 }];
    const { status, body } = await ada.post("/api/jobs/batch", { jobs });
    expect(status).toBe(200);
    expect(body.results).toEqual([PAUSED, { job_id: expect.any(String), credits: 94 }]);
  });

  it("a client of its resource that charges starts no jobs", async () => {
    server = await openChargingApp();
    const token = await chargingToken((await connectToResource(ada)).access_token);
    await pause();
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const charged = await send("POST", "/api/jobs", { headers, body: JSON.stringify(JOB) });
    expect(charged).toMatchObject({ status: 403, body: PAUSED });
  });

  it("started jobs report, are completed and fail, and cost what they cost", async () => {
    const first = (await ada.post("/api/jobs", JOB)).body.job_id;
    const second = (await ada.post("/api/jobs", JOB)).body.job_id;
    await pause();
    const step = { job_id: first, step: 1, spent: 2 };
    expect((await ada.post("/api/jobs/progress", step)).status).toBe(200);
    const end = { job_id: first, actual_cost: 3 };
    expect((await ada.post("/api/jobs/complete", end)).body.credits).toBe(92);
    expect((await ada.post("/api/jobs/fail", { job_id: second })).body.credits).toBe(97);
  });

  it("a creation that is repeated under its key still gets its job", async () => {
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const { body } = await ada.post("/api/jobs", JOB, key);
    await pause();
    const repeated = await ada.post("/api/jobs", JOB, key);
    expect(repeated).toMatchObject({ status: 200, body: { job_id: body.job_id } });
    const fresh = { "Idempotency-Key": crypto.randomUUID() };
    expect((await ada.post("/api/jobs", JOB, fresh)).status).toBe(403);
    await act("continue", { reason: "fixed" });
    forgetEnvironments();
    // Only a change is remembered, so the refused request may be sent again.
    expect((await ada.post("/api/jobs", JOB, fresh)).status).toBe(200);
  });

  it("a job that its holder approved waits for the app to continue", async () => {
    const agent = await getToken(ada, { caps: [{ credits: 2, period: "month" }] });
    const { approval, approval_url } = (await agent.post("/api/jobs", JOB)).body;
    await postForm(ada, `${new URL(approval_url).pathname}/approve`, {});
    await pause();
    expect((await agent.post("/api/jobs", { ...JOB, approval })).body).toEqual(PAUSED);
    await act("continue", { reason: "fixed" });
    forgetEnvironments();
    expect((await agent.post("/api/jobs", { ...JOB, approval })).status).toBe(200);
  });

  it("a new person gets no starter credits of it until it continues", async () => {
    await pause();
    const bob = await signIn("bob@example.com");
    const grant = { slug: "sketch", starter_credits: 0, granted: false };
    const { body } = await bob.get("/api/wallet?app=sketch");
    expect(body).toMatchObject({
      account: { credits: 0 },
      app_grant: grant,
      apps: [{ starter_credits: 0, granted: false }],
    });
    // A person who already has the credits keeps them.
    expect((await ada.get("/api/wallet?app=sketch")).body.account.credits).toBe(100);
    await act("continue", { reason: "fixed" });
    forgetEnvironments();
    expect((await bob.get("/api/wallet?app=sketch")).body.account.credits).toBe(100);
  });

  it("its own server and its holders read that it is paused", async () => {
    const own = async () => {
      const headers = { Authorization: `Bearer ${server.key}` };
      return (await send("GET", "/api/app", { headers })).body.paused;
    };
    expect(await own()).toBeNull();
    await pause();
    expect(await own()).toEqual({ since: expect.any(String), message: MESSAGE });
    const page = await ada.getOwn("/account/access");
    expect(page.text).toContain(`The operator paused this app: “${MESSAGE}”`);
  });
});

describe("pausing", () => {
  it("saving the app's settings keeps the pause, and a pause keeps the version of the settings", async () => {
    await pause();
    const [app] = (await server.operator.get("/api/admin/apps")).body.apps;
    const { name, starter_credits, origins, daily_starter_budget, version } = app;
    const settings = { starter_credits, origins, daily_starter_budget, version };
    const saved = await server.operator.send("PUT", "/api/admin/apps/sketch", {
      name: `${name} 2`,
      ...settings,
    });
    expect(saved.body.app).toMatchObject({ name: `${name} 2`, paused: app.paused });
  });

  it("a second pause changes the message and not its beginning, and leaves one record each", async () => {
    await pause();
    const [before] = (await server.operator.get("/api/admin/apps")).body.apps;
    passTime(5_000);
    const changed = await act("pause", { ...PAUSE, message: "Back at noon." });
    const { since } = before.paused;
    expect(changed.body.app.paused).toEqual({ since, message: "Back at noon." });
    const records = await rows(
      "select act, reason from audit where act like 'app.%' and act <> 'app.save'",
    );
    expect(records).toEqual([
      { act: "app.pause", reason: PAUSE.reason },
      { act: "app.pause", reason: PAUSE.reason },
    ]);
  });

  it("a repeated request does not pause an app that continued since", async () => {
    const key = { "Idempotency-Key": crypto.randomUUID() };
    await act("pause", PAUSE, key);
    await act("continue", { reason: "fixed" });
    const repeated = await act("pause", PAUSE, key);
    expect(repeated.headers.get("Idempotency-Replayed")).toBe("true");
    expect(repeated.body.app.paused).toBeNull();
    const other = { ...PAUSE, message: "another" };
    expect((await act("pause", other, key)).status).toBe(422);
  });

  it.each([
    [{ reason: "r" }, "message is missing."],
    [{ message: "m" }, "reason is missing."],
    [{ ...PAUSE, message: " " }, "message must not be empty."],
    [{ ...PAUSE, message: "m".repeat(301) }, "message must have at most 300 characters."],
    [{ ...PAUSE, until: "noon" }, "unknown field until; leave it out."],
  ])("%j is refused, and changes nothing", async (body, error) => {
    const refused = await act("pause", body);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toBe(error);
    expect(await rows("select paused_at_ms from apps")).toEqual([{ paused_at_ms: null }]);
  });

  it("an app that is not registered cannot be paused, and the request leaves no record", async () => {
    for (const name of ["pause", "continue"]) {
      const path = `/api/admin/apps/unknown/${name}`;
      const body = name === "pause" ? PAUSE : { reason: "r" };
      const { status, body: refusal } = await server.operator.send("POST", path, body);
      expect([status, refusal.code]).toEqual([404, "app_not_found"]);
    }
    expect(await rows("select * from audit where subject = 'unknown'")).toEqual([]);
  });
});

describe("webhooks of a paused app", () => {
  it("receive the pause, a changed message and the continuation once each, in order", async () => {
    const { receiver } = await openReceiver();
    const { webhook, secret } = await saveWebhook({}, "main", "sketch");
    receiver.secret = secret;
    await act("pause");
    await act("pause");
    await act("pause", { ...PAUSE, message: "Back at noon." });
    await act("continue", { reason: "fixed" });
    await act("continue", { reason: "fixed" });
    await deliver(webhook, "the app itself");
    const since = expect.any(String);
    expect(receiver.received.map(({ body: { type, data } }) => ({ type, ...data }))).toEqual([
      { type: "app.paused", app: "sketch", paused: { since, message: MESSAGE } },
      { type: "app.paused", app: "sketch", paused: { since, message: "Back at noon." } },
      { type: "app.continued", app: "sketch", paused: null },
    ]);
  });

  it("an event that the receiver refuses is sent again, and operators see it without an account", async () => {
    const { receiver } = await openReceiver();
    const { webhook, secret } = await saveWebhook({}, "main", "sketch");
    receiver.secret = secret;
    receiver.fail();
    await act("pause");
    await deliver(webhook, "the app itself");
    const path = "/api/admin/apps/sketch/webhooks/main/deliveries";
    const { deliveries } = (await server.operator.get(path)).body;
    expect(deliveries).toMatchObject([{ type: "app.paused", identity_id: null, attempts: 1 }]);
    receiver.recover();
    passTime(60_000);
    await deliver(webhook, "the app itself");
    expect(receiver.types).toEqual(["app.paused"]);
    expect((await server.operator.get(path)).body.deliveries).toEqual([]);
  });

  it("a webhook that receives other events gets nothing", async () => {
    const { receiver } = await openReceiver();
    const { webhook } = await saveWebhook({ events: ["job.created"] }, "main", "sketch");
    await act("pause");
    await deliver(webhook, "the app itself");
    expect(receiver.requests).toEqual([]);
  });
});
