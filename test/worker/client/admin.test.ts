import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createAdmin, pagesOf, type AdminCalls } from "../../../src/client/admin/index.ts";
import type { Fetch } from "../../../src/client/index.ts";
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

const APP = { name: "Sketch", starterCredits: 0, origins: [], dailyStarterBudget: null };
const adminOf = (token: string) =>
  createAdmin({ baseUrl: ORIGIN, fetch: here, wait: async () => {}, token });

describe("createAdmin", () => {
  it("the operators' client finds accounts, reads them and changes them", async () => {
    const admin = adminOf(await operatorToken());
    const ada = await signInWithCredits();
    const who = ada.identity_id;
    const reason = "support case";
    expect((await admin.adjustCredits(who, { amount: 5, reason })).credits).toBe(105);
    expect((await admin.changePlan(who, { plan: "gold", reason })).account.plan).toBe("gold");
    await fireAlarm(who);
    const { accounts } = await admin.findAccounts({ q: "ada@", limit: 1 });
    expect(accounts).toMatchObject([{ identity_id: who, credits: 105, plan: "gold" }]);
    expect(await admin.suspendAccounts({ identityIds: [who, "nobody"], reason })).toMatchObject({
      results: [{ identity_id: who, ok: true }, { code: "account_unknown" }],
    });
    expect((await admin.inspectAccount(who)).account.suspended_at).not.toBeNull();
    await admin.restoreAccount(who, { reason });
    await admin.rebuildAccount(who);
    await admin.signOutAccount(who);
    expect((await admin.inspectAccount(who)).sessions).toEqual([]);
    expect((await admin.listAccountLedger(who, { kind: "plan" })).entries).toHaveLength(1);
    expect((await admin.listAccountJobs(who)).jobs).toEqual([]);
    expect((await admin.findJobs({ identityId: who })).jobs).toEqual([]);
    expect((await admin.readStats()).series).toMatchObject([{ granted: 100 }]);
    const acts = (await admin.listAudit({ subject: who })).entries.map(({ act }) => act);
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
    for await (const text of admin.listAuditCsv({ subject: "ada@example.com" })) csv += text;
    expect(csv.split("\r\n")[1]).toContain(`"account.export","${ada.identity_id}"`);
    const refused = admin.readMoneyCsv({ list: "by_app", from: "2020-02-30" }).next();
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    await admin.deleteAccount(ada.identity_id, { confirm: ada.identity_id, reason: "request 12" });
    await expect(admin.inspectAccount(ada.identity_id)).rejects.toMatchObject({
      code: "account_unknown",
    });
    expect((await admin.listOperators()).operators).toMatchObject([{ role: "admin" }]);
  });

  it("the operators' client repairs the read model page by page", async () => {
    const admin = adminOf(await operatorToken());
    const ada = await signInWithCredits();
    await fireAlarm(ada.identity_id);
    await env.DB.exec("delete from accounts");
    const first = await admin.rebuildAccounts();
    expect(first).toMatchObject({ people: 2, checked: 2, repaired: 2, failed: [] });
    const rest = await admin.rebuildAccounts({ cursor: ada.identity_id });
    expect(rest.people).toBeUndefined();
    const { accounts } = await admin.findAccounts({ q: ada.identity_id });
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
    const { credits } = await createAdmin(options).adjustCredits(ada.identity_id, change);
    expect(credits).toBe(105);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(105);
  });

  it("the operators' client is refused for a caller who is not an operator", async () => {
    const ada = await signInWithCredits();
    await expect(adminOf(ada.token).findAccounts()).rejects.toMatchObject({ code: "not_operator" });
  });
});

describe("createAdmin for apps", () => {
  it("the operators' client registers an app, and reads all pages of a list", async () => {
    const admin = adminOf(await operatorToken());
    const { app } = await admin.saveApp("sketch", { ...APP, onExpiry: "charge" });
    expect(app).toMatchObject({ slug: "sketch", on_expiry: "charge", settle: "holder" });
    const changed = await admin.changeApp("sketch", { color: "#12507b", version: app.version });
    expect(changed.app).toMatchObject({ color: "#12507b", on_expiry: "charge", version: 2 });
    await admin.saveApp("film", APP);
    const slugs: string[] = [];
    for await (const { apps } of pagesOf((page) => admin.listApps({ limit: 1, ...page }))) {
      slugs.push(...apps.map(({ slug }) => slug));
    }
    expect(slugs).toEqual(["film", "sketch"]);
    const { id, key } = await admin.addAppKey("sketch", { label: "server" });
    expect(key).toMatch(/^pb_app_/);
    expect((await admin.listAppKeys("sketch")).keys.map((it) => it.id)).toEqual([id]);
    expect(await admin.revokeAppKey("sketch", id)).toEqual({ ok: true });
    expect((await admin.listAppKeys("sketch")).keys).toEqual([]);
  });

  it("the operators' client registers, reads, lists and deletes OAuth clients and resources", async () => {
    const admin = adminOf(await operatorToken());
    await admin.saveApp("sketch", APP);
    const redirectUris = ["https://sketch.example.com/callback"];
    const settings = { name: "Sketch", redirectUris, public: false, pkceOptional: true };
    const saved = await admin.saveOAuthClient("sketch", "web", settings);
    expect(saved.client_secret).toMatch(/^pb_cs_/);
    const replaced = await admin.replaceClientSecret("sketch", "web", {
      now: true,
      reason: "a leak",
    });
    expect(replaced).toEqual({
      client_secret: expect.stringMatching(/^pb_cs_/),
      client: saved.client,
    });
    expect(replaced.client_secret).not.toBe(saved.client_secret);
    expect(saved.client).toMatchObject({
      client_id: "sketch~web",
      redirect_uris: redirectUris,
      pkce_optional: true,
    });
    expect(await admin.readOAuthClient("sketch", "web")).toEqual({ client: saved.client });
    expect(await admin.listOAuthClients("sketch")).toEqual({ clients: [saved.client] });
    const uri = "https://mcp.sketch.example.com/mcp";
    const { resource } = await admin.saveResource("sketch", "mcp", { uri, scopes: ["draw"] });
    expect(resource).toMatchObject({ id: "mcp", uri, scopes: ["draw"] });
    expect(await admin.readResource("sketch", "mcp")).toEqual({ resource });
    await admin.deleteOAuthClient("sketch", "web", { reason: "old" });
    await admin.deleteResource("sketch", "mcp");
    expect(await admin.listOAuthClients("sketch")).toEqual({ clients: [] });
    expect(await admin.listResources("sketch")).toEqual({ resources: [] });
  });

  it.each<[string, (admin: AdminCalls) => Promise<unknown>]>([
    ["saveApp", (it) => it.saveApp("demo", APP)],
    ["addAppKey", (it) => it.addAppKey("demo", { label: "server" })],
    ["revokeAppKey", (it) => it.revokeAppKey("demo", "x")],
    ["readMoney", (it) => it.readMoney()],
  ])("%s fails if something other than the service responds with 200", async (_, act) => {
    for (const body of [{}, { status: "up" }, { job: { id: 5 }, ok: 1, id: 7 }]) {
      const fetch = async () => Response.json(body);
      const admin = createAdmin({ baseUrl: ORIGIN, fetch, wait: async () => {}, token: "t" });
      await expect(act(admin)).rejects.toMatchObject({ code: "invalid_response" });
    }
  });
});
