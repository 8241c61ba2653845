import { describe, expect, it, vi } from "vitest";
import { createAppServer } from "../../../src/client/server.ts";
import { openAppServer } from "../http/caller/app_server.ts";
import { fireAlarm } from "../support/account_object.ts";
import { BASE_URL, send, signIn } from "../support/passbook.ts";
import { fetchOf } from "./settings_fetch.ts";

const HOOK = { url: "https://sketch.example.com/hook", events: ["job.completed"] } as const;

async function openServer() {
  const app = await openAppServer("sketch");
  const { settings } = app.operator;
  const fetch = fetchOf(settings);
  const server = createAppServer({ baseUrl: BASE_URL, key: app.key, fetch });
  const ada = await signIn();
  const headers = { Authorization: `Bearer ${ada.token}` };
  await send("GET", "/api/wallet?app=sketch", { headers }, settings);
  return { server, ada };
}

describe("createAppServer", () => {
  it("an app's server reads its app, its jobs of all accounts, and its entries in one account", async () => {
    const { server, ada } = await openServer();
    expect(await server.app()).toMatchObject({ slug: "sketch", starter_credits: 100 });
    const account = server.account(ada.identity_id);
    const created = await account.jobs.create({ app: "sketch", action: "draw", costEstimate: 5 });
    await fireAlarm(ada.identity_id);
    const { jobs } = await server.jobs.list({ status: "started" });
    expect(jobs).toMatchObject([{ id: created.job_id, identity_id: ada.identity_id }]);
    const all = [];
    for await (const job of server.jobs.all()) all.push(job.id);
    expect(all).toEqual([created.job_id]);
    const { entries } = await account.ledger.list();
    expect(entries.map(({ kind }) => kind)).toEqual(["reserve", "grant"]);
  });

  it("an app's server creates, tests, replays, lists and deletes webhooks", async () => {
    const { server, ada } = await openServer();
    const { webhooks } = server;
    const { webhook, secret } = await webhooks.save("main", HOOK);
    expect(secret).toMatch(/^whsec_/);
    expect(await webhooks.list()).toEqual([webhook]);
    const { version } = webhook;
    const changed = { ...HOOK, version, active: false, reason: "moving" };
    const paused = await webhooks.save("main", changed);
    expect(paused).toMatchObject({ webhook: { active: false }, secret: null });
    expect((await webhooks.rotate("main")).secret).not.toBe(secret);
    const fetched = vi.spyOn(globalThis, "fetch").mockResolvedValue(Response.json({}));
    expect(await webhooks.test("main")).toMatchObject({ status: 200, error: null });
    fetched.mockRestore();
    await webhooks.replay("main", { identity: ada.identity_id, afterLine: 0 });
    expect(await webhooks.deliveries("main", { status: "pending" })).toEqual({
      replays_since: null,
      deliveries: [],
    });
    await webhooks.replay("main", { since: new Date() });
    await webhooks.remove("main", { reason: "gone" });
    await expect(webhooks.remove("main")).rejects.toMatchObject({ code: "webhook_not_found" });
  });

  it("createAppServer refuses what is not an app's key before it sends a request", () => {
    expect(() => createAppServer({ baseUrl: BASE_URL, key: "pb_pat_x" })).toThrow(/must be/);
  });
});
