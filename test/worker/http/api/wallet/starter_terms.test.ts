import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../../../src/domain/calendar.ts";
import { expectInvariants } from "../../../account/invariants.ts";
import { openAppServer, saveApp } from "../../caller/app_server.ts";
import { passTime } from "../../../support/clock.ts";
import { getToken } from "../../../support/device_logins.ts";
import { send, signIn } from "../../../support/passbook.ts";
import { signInOperator } from "../admin/operators.ts";

describe("starter credits with terms", () => {
  it("an app's starter credits expire after its days, and only the app can use them", async () => {
    const server = await openAppServer("sketch", {
      settle: "holder",
      starter_expires_after_days: 30,
      starter_only_here: true,
    });
    const { operator } = server;
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const read = async (app: string) =>
      (await send("GET", `/api/wallet?app=${app}`, { headers }, operator.settings)).body;
    const wallet = await read("sketch");
    const at = wallet.lots[0].expires_at;
    expect(wallet).toMatchObject({
      app_grant: { granted: true },
      spendable: 100,
      next_expiry: { credits: 100, at },
      lots: [{ origin: "starter", app_slugs: ["sketch"], left: 100, note: null }],
    });
    expect(Date.parse(at) - Date.now()).toBeGreaterThan(30 * DAY_MS - 60_000);
    const { body } = await ada.get("/api/ledger?kind=grant");
    expect(body.entries).toMatchObject([
      {
        amount: 100,
        lot_id: wallet.lots[0].id,
        terms: { expires_at: at, app_slugs: ["sketch"], bought: false },
      },
    ]);
    // Another app's starters have no terms, and its key does not see the lot.
    await saveApp(operator, "demo");
    expect((await read("demo")).spendable).toBe(100);
    const own = await server.in(ada.identity_id).get("/api/wallet?app=sketch");
    expect(own.body).toMatchObject({ spendable: 200, lots: [{ left: 100 }] });
    passTime(30 * DAY_MS);
    const later = await signIn("ada@example.com");
    expect((await later.get("/api/wallet")).body).toMatchObject({
      account: { credits: 100 },
      lots: [],
    });
    await expectInvariants(ada.identity_id);
  });

  it("an app's key sees the lots that it can use, without notes, and no others", async () => {
    const operator = await signInOperator();
    const sketch = await openAppServer("sketch", { settle: "holder" }, operator);
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("GET", "/api/wallet?app=sketch", { headers }, operator.settings);
    for (const [key, app_slugs] of [
      ["one", ["sketch"]],
      ["two", ["demo"]],
    ] as const) {
      const path = `/api/admin/accounts/${ada.identity_id}/credits`;
      const body = { amount: 5, reason: "for her eyes", app_slugs };
      await operator.send("POST", path, body, { "Idempotency-Key": key });
    }
    const { body } = await sketch.in(ada.identity_id).get("/api/wallet?app=sketch");
    expect(body).toMatchObject({
      spendable: 105,
      lots: [{ app_slugs: ["sketch"], left: 5, note: null }],
    });
    expect((await ada.get("/api/wallet")).body.lots).toMatchObject([
      { note: "for her eyes" },
      { note: "for her eyes" },
    ]);
    const job = { app: "sketch", action: "draw", cost_estimate: 5 };
    const { job_id } = (await sketch.in(ada.identity_id).post("/api/jobs", job)).body;
    const seen = await sketch.in(ada.identity_id).get(`/api/jobs/${job_id}`);
    expect(seen.body).not.toHaveProperty("from");
    expect((await ada.get(`/api/jobs/${job_id}`)).body.from).toMatchObject([{ credits: 5 }]);
  });

  it("a token for two apps sees the lots that one of them can use, and no others", async () => {
    const operator = await signInOperator();
    const ada = await signIn();
    await ada.get("/api/wallet");
    for (const app of ["sketch", "demo", "other"]) {
      const path = `/api/admin/accounts/${ada.identity_id}/credits`;
      const body = { amount: 5, reason: "for one app", app_slugs: [app] };
      await operator.send("POST", path, body, { "Idempotency-Key": app });
    }
    const token = await getToken(ada, { apps: ["sketch", "demo"] });
    expect((await token.get("/api/wallet")).body.lots).toMatchObject([
      { app_slugs: ["sketch"], left: 5, note: null },
      { app_slugs: ["demo"], left: 5, note: null },
    ]);
  });

  it("days that are no whole number from 1 to 3650 are refused", async () => {
    const operator = await signInOperator();
    for (const starter_expires_after_days of [0, 1.5, 3_651]) {
      await expect(saveApp(operator, "sketch", { starter_expires_after_days })).rejects.toThrow(
        "starter_expires_after_days",
      );
    }
  });
});
