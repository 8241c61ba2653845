import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createClient, type Fetch } from "../../../src/client/index.ts";
import { fireAlarm } from "../support/account_object.ts";
import { personalToken, SETTINGS, signInOperator } from "../http/api/admin/operators.ts";
import { BASE_URL, send, signInWithCredits } from "../support/passbook.ts";

const ORIGIN = "http://localhost";

const here: Fetch = async (url, { method, headers, body = null }) => {
  const response = await send(method, url.replace(ORIGIN, BASE_URL), { headers, body }, SETTINGS);
  return { status: response.status, headers: response.headers, text: async () => response.text };
};

/** The personal access token of an operator's program. */
async function operatorToken(): Promise<string> {
  const { person } = await signInOperator();
  return (await personalToken(person, { scopes: ["admin"] }))?.token ?? "";
}

const JOB = { app: "demo", action: "draw" };
const PURCHASE = {
  checkout_session_id: "cs_1",
  payment_intent_id: "pi_1",
  package_id: "small",
  package_name: "Small",
  credits: 40,
  paid_minor: 500,
  currency: "eur",
};

const adminOf = (token: string) =>
  createClient({ baseUrl: ORIGIN, fetch: here, wait: async () => {}, token }).admin;

describe("client.admin", () => {
  it("the operators' client finds accounts, reads them and changes them", async () => {
    const admin = adminOf(await operatorToken());
    const ada = await signInWithCredits();
    const who = ada.identity_id;
    const reason = "support case";
    expect((await admin.adjustCredits(who, { amount: 5, reason })).credits).toBe(105);
    expect((await admin.changePlan(who, { plan: "gold", reason })).plan).toBe("gold");
    await fireAlarm(who);
    const { accounts } = await admin.accounts({ q: "ada@", limit: 1 });
    expect(accounts).toMatchObject([{ identity_id: who, credits: 105, plan: "gold" }]);
    expect(await admin.suspendMany([who, "nobody"], { reason })).toMatchObject({
      results: [{ identity_id: who, ok: true }, { code: "account_unknown" }],
    });
    expect((await admin.account(who)).account.suspended_at).not.toBeNull();
    await admin.restore(who, { reason });
    await admin.rebuild(who);
    await admin.signOut(who);
    expect((await admin.account(who)).sessions).toEqual([]);
    expect((await admin.accountLedger(who, { kind: "plan" })).entries).toHaveLength(1);
    expect((await admin.accountJobs(who)).jobs).toEqual([]);
    expect((await admin.jobs({ identity: who })).jobs).toEqual([]);
    expect((await admin.stats()).series).toMatchObject([{ granted: 100 }]);
    const acts = (await admin.audit({ subject: who })).entries.map(({ act }) => act);
    expect(acts.toReversed()).toEqual([
      "account.credits",
      "account.plan",
      "account.suspend",
      "account.restore",
      "account.rebuild",
      "account.signout",
    ]);
  });

  it("the operators' client exports a person's data, reads the audit log as CSV, and deletes an account", async () => {
    const admin = adminOf(await operatorToken());
    const ada = await signInWithCredits();
    const data = await admin.exportAccount("ada@example.com", { reason: "request 12" });
    expect(data).toMatchObject({ person: { identity_id: ada.identity_id } });
    let csv = "";
    for await (const text of admin.auditCsv({ subject: "ada@example.com" })) csv += text;
    expect(csv.split("\r\n")[1]).toContain(`"account.export","${ada.identity_id}"`);
    await admin.deleteAccount(ada.identity_id, { confirm: ada.identity_id, reason: "request 12" });
    await expect(admin.account(ada.identity_id)).rejects.toMatchObject({ code: "account_unknown" });
    expect((await admin.operators()).operators).toMatchObject([{ role: "admin" }]);
  });

  it("the operators' client refunds a job once, and reads the money of a period with its lists as CSV", async () => {
    const admin = adminOf(await operatorToken());
    const ada = await signInWithCredits();
    const who = ada.identity_id;
    const { job_id } = (await ada.post("/api/jobs", { ...JOB, cost_estimate: 10 })).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 6 });
    const reason = "it drew nothing";
    const some = { amount: 2, reason };
    const key = { idempotencyKey: "refund-1" };
    const refunded = await admin.refundJob(who, job_id.toUpperCase(), some, key);
    expect(refunded).toMatchObject({ credits: 96, job: { refunded: 2 }, entry: { note: reason } });
    expect(await admin.refundJob(who, job_id, some, key)).toEqual(refunded);
    expect(await admin.refundJob(who, job_id, { reason })).toMatchObject({ entry: { amount: 4 } });
    await expect(admin.refundJob(who, job_id, some)).rejects.toMatchObject({
      code: "refund_limit",
    });
    expect(await admin.accountJob(who, job_id)).toMatchObject({ actual_cost: 6, refunded: 6 });

    const account = env.ACCOUNT.getByName(who);
    await account.recordPurchase(PURCHASE);
    const { purchases } = await admin.accountPurchases(who);
    expect(purchases).toMatchObject([{ package: "small", credits: 40, amount_minor: 500 }]);
    await fireAlarm(who);
    expect(await admin.money()).toMatchObject({
      outstanding: { credits: 140, held: 0, accounts: 1 },
      by_app: [{ app: "demo", settled: 6, refunded: 6, job_refunded: 6 }],
      revenue: [{ package: "small", currency: "eur", purchases: 1, amount_minor: 500 }],
    });
    const month = new Date().toISOString().slice(0, 7);
    expect(await admin.moneyOfMonth(month)).toMatchObject({ opening: 0, spent: -6, closing: 140 });
    const past = { from: "2020-01-01", to: "2020-02-01" };
    expect(await admin.money(past)).toMatchObject({ by_app: [], revenue: [] });
    const csvOf = async (...args: Parameters<typeof admin.moneyCsv>): Promise<string> => {
      let csv = "";
      for await (const text of admin.moneyCsv(...args)) csv += text;
      return csv;
    };
    expect(await csvOf("by_app")).toContain('\r\n"demo",100,6,6,6\r\n');
    expect(await csvOf("revenue")).toContain('\r\n"small","eur",1,500,0\r\n');
    expect(await csvOf("accounts")).toContain(`\r\n"${who}",140,0\r\n`);
    expect(await csvOf("month", { month })).toContain(`\r\n"${month}",0,`);
    expect((await csvOf("by_app", past)).trimEnd().split("\r\n")).toHaveLength(1);
    await expect(csvOf("by_app", { from: "2020-02-30" })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("the operators' client repairs the read model page by page", async () => {
    const admin = adminOf(await operatorToken());
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await env.DB.exec("delete from accounts");
    const first = await admin.rebuildPage();
    expect(first).toMatchObject({ people: 2, checked: 2, repaired: 2, failed: [] });
    const rest = await admin.rebuildPage({ cursor: ada.identity_id });
    expect(rest.people).toBeUndefined();
    const { accounts } = await admin.accounts({ q: ada.identity_id });
    expect(accounts).toMatchObject([{ credits: 100 }]);
  });

  it("the operators' client repeats a change whose response was lost, and the change happens once", async () => {
    const token = await operatorToken();
    const ada = await signInWithCredits();
    let lost = false;
    const losing: Fetch = async (url, init) => {
      const response = await here(url, init);
      if (lost) return response;
      lost = true;
      throw new TypeError("fetch failed");
    };
    const options = { baseUrl: ORIGIN, fetch: losing, wait: async () => {}, token };
    const change = { amount: 5, reason: "sorry" };
    const { credits } = await createClient(options).admin.adjustCredits(ada.identity_id, change);
    expect(credits).toBe(105);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(105);
  });

  it("client.admin is refused for a caller who is not an operator", async () => {
    const ada = await signInWithCredits();
    await expect(adminOf(ada.token).accounts()).rejects.toMatchObject({ code: "not_operator" });
  });
});

describe("client.adminApps", () => {
  it("the operators' client registers, reads, lists and deletes OAuth clients and resources", async () => {
    const token = await operatorToken();
    const wait = async (): Promise<void> => undefined;
    const { adminApps } = createClient({ baseUrl: ORIGIN, fetch: here, wait, token });
    const app = { name: "Sketch", starterCredits: 0, origins: [], dailyStarterBudget: null };
    await adminApps.save("sketch", app);
    const redirectUris = ["https://sketch.example.com/callback"];
    const settings = { name: "Sketch", redirectUris, public: false, pkceOptional: true };
    const saved = await adminApps.saveClient("sketch", "web", settings);
    expect(saved.client_secret).toMatch(/^pb_cs_/);
    const replaced = await adminApps.replaceClientSecret("sketch", "web", { reason: "a leak" });
    expect(replaced.client_secret).toMatch(/^pb_cs_/);
    expect(replaced).toEqual({ client_secret: expect.anything(), client: saved.client });
    expect(replaced.client_secret).not.toBe(saved.client_secret);
    expect(saved.client).toMatchObject({
      client_id: "sketch~web",
      redirect_uris: redirectUris,
      pkce_optional: true,
    });
    expect(await adminApps.readClient("sketch", "web")).toEqual(saved.client);
    expect(await adminApps.listClients("sketch")).toEqual([saved.client]);
    const uri = "https://mcp.sketch.example.com/mcp";
    const resource = await adminApps.saveResource("sketch", "mcp", {
      uri,
      scopes: ["drawings:read"],
    });
    expect(resource).toMatchObject({ id: "mcp", uri, scopes: ["drawings:read"] });
    expect(await adminApps.readResource("sketch", "mcp")).toEqual(resource);
    expect(await adminApps.listResources("sketch")).toEqual([resource]);
    await adminApps.deleteClient("sketch", "web", { reason: "old" });
    await adminApps.deleteResource("sketch", "mcp");
    expect(await adminApps.listClients("sketch")).toEqual([]);
    expect(await adminApps.listResources("sketch")).toEqual([]);
  });
});
