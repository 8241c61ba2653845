/** A webhook that fails says so from the first failure, and what waits can be sent at once. */
import { describe, expect, it } from "vitest";
import { signInOperator, type Operator } from "../http/api/admin/operators.ts";
import { passTime } from "../support/clock.ts";
import { openConsole } from "../web/console/pages.ts";
import {
  APP,
  createJob,
  deliver,
  fireSender,
  openAccount,
  openReceiver,
  services,
} from "./receiver.ts";

const HOUR_MS = 60 * 60_000;
const HOOK = `/api/admin/apps/${APP}/webhooks/main`;

async function webhookOf(olga: Operator) {
  return (await olga.get(`/api/admin/apps/${APP}/webhooks`)).body.webhooks[0];
}

async function failingFigure() {
  const { figures } = await services().readHealth();
  return figures.find(({ name }) => name === "failing_webhooks");
}

describe("a webhook whose receiver accepts nothing", () => {
  it("fails since its first failure, until a delivery succeeds in the same minute too", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    const olga = await signInOperator();
    await deliver(webhook);
    expect((await webhookOf(olga)).failing_since).toBeNull();
    receiver.fail();
    await createJob();
    const before_ms = Date.now();
    await deliver(webhook);
    const { failing_since } = await webhookOf(olga);
    expect(Date.parse(failing_since)).toBeGreaterThanOrEqual(before_ms);
    passTime(10_000);
    await fireSender(webhook);
    expect((await webhookOf(olga)).failing_since).toBe(failing_since);
    receiver.recover();
    passTime(60_000);
    await fireSender(webhook);
    expect((await webhookOf(olga)).failing_since).toBeNull();
    receiver.fail();
    await createJob();
    await deliver(webhook);
    receiver.recover();
    passTime(5_000);
    await fireSender(webhook);
    expect((await webhookOf(olga)).failing_since).toBeNull();
  });

  it("is a warning of the health after an hour, and not before", async () => {
    const { receiver, webhook } = await openReceiver();
    await openAccount();
    receiver.fail();
    await deliver(webhook);
    expect(await failingFigure()).toMatchObject({ value: 0, status: "ok" });
    passTime(HOUR_MS);
    expect(await failingFigure()).toMatchObject({
      value: 1,
      status: "warning",
      reason: `${APP}/main`,
    });
    await services().webhooks.pause(webhook.uid, "status_500");
    // Then it is another figure.
    expect(await failingFigure()).toMatchObject({ value: 0, status: "ok" });
  });

  it("the console says so in the list of apps, on the app and on the webhook, with the person's address", async () => {
    const { receiver, webhook } = await openReceiver();
    const { olga, open } = await openConsole();
    const { identity_id } = olga.person;
    await openAccount(100, identity_id);
    receiver.fail();
    await deliver(webhook, identity_id);
    expect((await open("/console/apps")).text).toContain("webhook failing");
    expect((await open(`/console/apps/${APP}`)).text).toContain("nothing since");
    const page = (await open(`/console/apps/${APP}/webhooks/main`)).text;
    expect(page).toContain("failing");
    expect(page).toContain(`<a href="/console/accounts/${identity_id}">olga@example.com</a>`);
  });
});

describe("retry now", () => {
  it("sends what waits at once, in the console and by the API, and leaves a record", async () => {
    const { receiver, webhook } = await openReceiver();
    const { olga, submit } = await openConsole();
    await openAccount();
    receiver.fail();
    // Several attempts, so that the next one is far away.
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await deliver(webhook);
      passTime(15 * 60_000);
    }
    receiver.recover();
    expect((await olga.send("POST", `${HOOK}/retry`, { reason: "repaired" })).status).toBe(200);
    await fireSender(webhook);
    expect(receiver.types).toEqual(["credits.granted"]);
    expect((await olga.get(`${HOOK}/deliveries`)).body.deliveries).toEqual([]);
    const { entries } = (await olga.get("/api/admin/audit?act=app_webhook.retry")).body;
    expect(entries).toMatchObject([{ subject: APP, reason: "repaired" }]);
    const form = { key: crypto.randomUUID() };
    const retried = await submit(`/console/apps/${APP}/webhooks/main/retry`, form);
    expect(retried.headers.get("Location")).toContain("notice=webhook-retried");
  });

  it("a paused webhook stays paused, and an unknown one is not found", async () => {
    const { receiver, webhook } = await openReceiver();
    const olga = await signInOperator();
    await openAccount();
    receiver.fail();
    await deliver(webhook);
    await services().webhooks.pause(webhook.uid, "status_500");
    receiver.recover();
    expect((await olga.send("POST", `${HOOK}/retry`, {})).status).toBe(200);
    passTime(60_000);
    await fireSender(webhook);
    expect(receiver.received).toEqual([]);
    const unknown = await olga.send("POST", `/api/admin/apps/${APP}/webhooks/other/retry`, {});
    expect(unknown.body.code).toBe("webhook_not_found");
  });
});
