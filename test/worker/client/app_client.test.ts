import { describe, expect, it } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { createAppClient } from "../../../src/client/server.ts";
import { openAppServer } from "../http/caller/app_server.ts";
import { BASE_URL, send, signIn } from "../support/passbook.ts";
import { fetchOf } from "./settings_fetch.ts";

describe("createAppClient", () => {
  it("an app's server runs a job in a user's account, and settles a job that the user may not settle", async () => {
    const server = await openAppServer("demo", { starter_credits: 50 });
    const { settings } = server.operator;
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/wallet?app=demo", { headers }, settings);
    const fetch = fetchOf(settings);
    const client = createAppClient({
      baseUrl: BASE_URL,
      key: server.key,
      identity: ada.identity_id,
      fetch,
    });
    const { credits } = await client.runJob(
      { app: "demo", action: "render", costEstimate: 20 },
      async ({ id }) => {
        const holder = createClient({ baseUrl: BASE_URL, token: ada.token, fetch });
        const cheat = holder.jobs.complete({ jobId: id, actualCost: 0 });
        await expect(cheat).rejects.toMatchObject({ code: "app_settles" });
        return { result: null, actualCost: 15 };
      },
    );
    expect(credits).toBe(35);
    expect((await client.wallet()).account.credits).toBe(35);
    const stranger = createAppClient({
      baseUrl: BASE_URL,
      key: server.key,
      identity: "user_nobody",
      fetch,
    });
    await expect(stranger.wallet()).rejects.toMatchObject({ code: "account_unknown" });
  });

  it("runJob settles at the cost that the app's max_overage_percent allows, and reports the rest as unsettled", async () => {
    const server = await openAppServer("demo", { max_overage_percent: 20 });
    const { settings } = server.operator;
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/wallet?app=demo", { headers }, settings);
    const fetch = fetchOf(settings);
    const { key } = server;
    const client = createAppClient({ baseUrl: BASE_URL, key, identity: ada.identity_id, fetch });
    const warnings: string[] = [];
    const ran = await client.runJob(
      { app: "demo", action: "render", costEstimate: 10 },
      async () => ({ result: "a fox", actualCost: 13 }),
      { onWarning: (message) => void warnings.push(message) },
    );
    expect(ran).toMatchObject({ result: "a fox", credits: 88, unsettled: 1 });
    expect(ran.job).toMatchObject({ status: "completed", actual_cost: 12 });
    expect(warnings).toEqual([expect.stringContaining("settled at 12 of 13 credits")]);
  });

  it.each([
    ["a key that is none", { key: "pb_pat_x" }],
    ["an empty identity", { identity: "" }],
    ["a missing identity", { identity: undefined as unknown as string }],
    ["a missing key", { key: undefined as unknown as string }],
    ["an identity of two lines", { identity: "a\nb" }],
  ])("createAppClient refuses %s before it sends a request", (_, wrong) => {
    const options = { baseUrl: BASE_URL, key: "pb_app_x", identity: "ada", ...wrong };
    expect(() => createAppClient(options)).toThrow(/must be/);
  });

  it("createAppClient is refused in a web page", () => {
    Object.assign(globalThis, { document: {} });
    try {
      const options = { baseUrl: BASE_URL, key: "pb_app_x", identity: "ada" };
      expect(() => createAppClient(options)).toThrow(/app's server only/);
    } finally {
      Reflect.deleteProperty(globalThis, "document");
    }
  });
});
