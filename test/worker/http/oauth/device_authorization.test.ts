import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { passTime } from "../../support/clock.ts";
import {
  approve,
  fromOwnPage,
  holderOf,
  openPage,
  poll,
  postForm,
} from "../../support/device_logins.ts";
import { ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE } from "../../support/exchanges.ts";
import { CLIENT_ID, oauthServices, post, type Form } from "../../support/oauth_clients.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";
import { CLIENT_SECRET, registerClient } from "../../support/registrations.ts";
import { openAppServer } from "../caller/app_server.ts";

const PATH = "/oauth/device_authorization";
const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";

const start = (form: Form = {}) => post(PATH, { client_id: CLIENT_ID, ...form });

const collect = (device_code: string, form: Form = {}) =>
  post("/oauth/token", { grant_type: DEVICE_CODE, client_id: CLIENT_ID, device_code, ...form });

describe("a device login by RFC 8628", () => {
  it("starts with a form, is pending until a person approves it, and gives its token once", async () => {
    const ada = await signInWithCredits();
    const started = await start();
    expect(started.status).toBe(200);
    expect(started.headers.get("Cache-Control")).toBe("no-store");
    const { device_code, user_code } = started.body as Record<string, string>;
    expect(started.body).toEqual({
      device_code: expect.any(String),
      user_code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      verification_uri: `${BASE_URL}/device`,
      verification_uri_complete: `${BASE_URL}/device?user_code=${user_code}`,
      expires_in: 900,
      interval: 5,
    });
    const pending = await collect(device_code ?? "");
    expect(pending).toMatchObject({ status: 400, body: { error: "authorization_pending" } });
    const early = await collect(device_code ?? "");
    expect(early).toMatchObject({ status: 400, body: { error: "slow_down" } });
    expect(early.headers.get("Retry-After")).toBe("5");

    await approve(ada, user_code ?? "", { caps: [{ credits: 20, period: "total" }] });
    const { status, body } = await collect(device_code ?? "");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      access_token: expect.stringMatching(/^pb_pat_/),
      token_type: "Bearer",
      scope: "read write",
      authorization_details: [
        { type: "passbook_spending", caps: [{ credits: 20, period: "total" }] },
      ],
    });
    expect(body.expires_in).toBeGreaterThan(89 * 86_400);
    const wallet = await holderOf(body.access_token).get("/api/wallet");
    expect(wallet.body).toMatchObject({ account: { identity_id: ada.identity_id }, room: 20 });
    expect(await collect(device_code ?? "")).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
  });

  it("a denied and an expired login have the errors of the standard", async () => {
    const ada = await signIn();
    const denied = (await start()).body;
    await openPage(ada, denied.user_code);
    await postForm(ada, "/device/deny", { user_code: denied.user_code });
    expect((await collect(denied.device_code)).body.error).toBe("access_denied");
    const late = (await start()).body;
    passTime(15 * 60_000);
    expect((await collect(late.device_code)).body.error).toBe("expired_token");
  });

  it("only the client that started a login collects its token", async () => {
    const ada = await signIn();
    const { device_code, user_code } = (await start()).body;
    await approve(ada, user_code);
    const other = { client_id: "https://other.example.com/oauth.json" };
    expect((await collect(device_code, other)).body.error).toBe("invalid_grant");
    expect((await poll(device_code)).body.code).toBe("device_code_not_found");
    const forged = `${device_code.slice(0, -4)}AAAA`;
    expect((await collect(forged)).body.error).toBe("invalid_grant");
    expect((await collect("")).body.error).toBe("invalid_request");
    expect((await collect(device_code)).status).toBe(200);
    const ours = await send("POST", "/api/device/start");
    expect((await collect(ours.body.device_code)).body.error).toBe("invalid_grant");
  });

  it("a client that requests only reading gets a token that only reads, and the page suggests that", async () => {
    const ada = await signInWithCredits();
    const { device_code, user_code } = (await start({ scope: "read offline_access" })).body;
    const page = await openPage(ada, user_code);
    expect(page.text).toMatch(/name="access" value="read"[^>]*checked/);
    await approve(ada, user_code, { scopes: ["read", "write"] });
    const { body } = await collect(device_code);
    expect(body.scope).toBe("read");
    const refused = await holderOf(body.access_token).post("/api/jobs", {
      app: "demo",
      action: "draw",
      cost_estimate: 1,
    });
    expect(refused).toMatchObject({ status: 403, body: { code: "scope" } });
  });

  it.each([
    ["read upstream openid", "A device cannot request these scopes: upstream openid. It can"],
    ['wri"te', "A device cannot request these scopes: wri?te. It can"],
    [" ", "Name a scope, or leave scope out."],
  ])("a device that requests the scopes %j reads which are refused", async (scope, text) => {
    const { body } = await start({ scope });
    expect(body).toMatchObject({ error: "invalid_scope" });
    expect(body.error_description).toContain(text);
  });

  it("the page names a registered client and its app, and others by their host", async () => {
    await openAppServer("demo");
    await registerClient("demo", "tv", { public: 1, name: "Demo TV" });
    await registerClient("demo", "web");
    oauthServices().apps.forget();
    const ada = await signIn();
    const tv = (await start({ client_id: "demo~tv" })).body;
    expect((await openPage(ada, tv.user_code)).text).toContain("Demo TV");
    const foreign = (await start()).body;
    const page = (await openPage(ada, foreign.user_code)).text;
    expect(page).toContain("client.example.com");
    const web = { client_id: "demo~web" };
    expect(await start(web)).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    const proven = await start({ ...web, client_secret: CLIENT_SECRET });
    expect(proven.status).toBe(200);
    expect((await collect(proven.body.device_code, web)).body.error).toBe("invalid_client");
    expect((await start({ client_id: "" })).body.error).toBe("invalid_client");
    expect((await start({ client_id: `https://${"x".repeat(60)}.example.com/c` })).body.error).toBe(
      "unauthorized_client",
    );
  });

  it("the metadata names the endpoint and the grant, and pages of any origin may use it", async () => {
    const { body } = await send("GET", "/.well-known/oauth-authorization-server");
    expect(body.device_authorization_endpoint).toBe(`${BASE_URL}${PATH}`);
    expect(body.grant_types_supported).toContain(DEVICE_CODE);
    const headers = {
      Origin: "https://tv.example",
      Cookie: fromOwnPage(await signIn())["Cookie"] ?? "",
    };
    const started = await post(PATH, { client_id: CLIENT_ID }, headers);
    expect(started.headers.get("Access-Control-Allow-Origin")).toBe("*");
  });

  /** A token that the app's registered client collected from a device, and one that was exchanged from it. */
  async function deviceTokens(ada: SignedIn) {
    await registerClient("demo", "tv", { public: 1, name: "Demo TV" });
    oauthServices().apps.forget();
    const tv = { client_id: "demo~tv" };
    const { device_code, user_code } = (await start(tv)).body;
    await approve(ada, user_code);
    const { access_token } = (await collect(device_code, tv)).body;
    const narrowed = await post("/oauth/token", {
      grant_type: TOKEN_EXCHANGE,
      subject_token: access_token,
      subject_token_type: ACCESS_TOKEN_TYPE,
      scope: "read",
    });
    const tokens = [access_token, narrowed.body.access_token] as const;
    const session = await holderOf(access_token).get("/api/sessionToken");
    const all = [...tokens, session.body.token as string];
    const statuses = () =>
      Promise.all(all.map(async (token) => (await holderOf(token).get("/api/wallet")).status));
    expect(await statuses()).toEqual([200, 200, 200]);
    return { all, statuses };
  }

  it("tokens of a device end when an operator deletes the registered client that collected them", async () => {
    await openAppServer("demo");
    const ada = await signInWithCredits();
    const { all, statuses } = await deviceTokens(ada);
    expect((await holderOf(all[0] ?? "").get("/api/me")).body.email).toBe("ada@example.com");
    await env.DIRECTORY.exec("update oauth_clients set deleted_at_ms = 1");
    oauthServices().apps.forget();
    expect(await statuses()).toEqual([401, 401, 401]);
    const exchange = { grant_type: TOKEN_EXCHANGE, subject_token_type: ACCESS_TOKEN_TYPE };
    const again = await post("/oauth/token", { ...exchange, subject_token: all[0] ?? "" });
    expect(again.body.error).toBe("invalid_client");
  });

  it("tokens of a device end when its holder stops the app of the registered client that collected them", async () => {
    await openAppServer("demo");
    const ada = await signInWithCredits();
    const { statuses } = await deviceTokens(ada);
    const headers = { ...fromOwnPage(ada), "Content-Type": "application/json" };
    const body = JSON.stringify({ started_jobs: "keep" });
    await send("POST", "/api/access/apps/demo/stop", { headers, body });
    expect(await statuses()).toEqual([401, 401, 401]);
    const tv = { client_id: "demo~tv" };
    const { device_code, user_code } = (await start(tv)).body;
    await approve(ada, user_code);
    expect((await collect(device_code, tv)).body.error_description).toContain("stopped");
  });

  /** A token that a client with a document collected from a device. */
  async function documentToken(ada: SignedIn, limits: object = {}) {
    const { device_code, user_code } = (await start()).body;
    await approve(ada, user_code, limits);
    return holderOf((await collect(device_code)).body.access_token);
  }

  it("a device of a client that nobody registered takes no starter credits, as its connection takes none", async () => {
    await openAppServer("sketch", { starter_credits: 100 });
    oauthServices().apps.forget();
    const ada = await signIn();
    const token = await documentToken(ada);
    for (const [caller, granted] of [
      [token, false],
      [ada, true],
    ] as const) {
      const { body } = await caller.get("/api/wallet?app=sketch");
      expect(body.app_grant?.granted).toBe(granted);
    }
  });

  it("the token of such a device is listed as a token with its client, and ends when the holder stops the client's app", async () => {
    const ada = await signInWithCredits();
    const token = await documentToken(ada);
    const host = "client.example.com";
    const { connections, tokens } = (await ada.getOwn("/api/access")).body;
    expect([connections, tokens]).toMatchObject([[], [{ label: host }]]);
    const [listed] = (await ada.getOwn("/api/tokens")).body.tokens;
    expect(listed.client).toEqual({ id: CLIENT_ID, host });
    await ada.post("/api/jobs", { app: host, action: "draw", cost_estimate: 0 });
    const headers = { ...fromOwnPage(ada), "Content-Type": "application/json" };
    await send("POST", `/api/access/apps/${host}/stop`, { headers, body: "{}" });
    expect((await token.get("/api/wallet")).status).toBe(401);
  });

  it("a client ends a device's token, and one that was exchanged from it, at the revocation endpoint", async () => {
    const ada = await signInWithCredits();
    const { device_code, user_code } = (await start()).body;
    await approve(ada, user_code);
    const { access_token } = (await collect(device_code)).body;
    const exchanged = await post("/oauth/token", {
      grant_type: TOKEN_EXCHANGE,
      subject_token: access_token,
      subject_token_type: ACCESS_TOKEN_TYPE,
      scope: "read",
    });
    const statusOf = async (token: string) => (await holderOf(token).get("/api/wallet")).status;
    const revoke = (token: string) => post("/oauth/revoke", { client_id: CLIENT_ID, token });
    const { access_token: child } = exchanged.body;
    expect((await revoke(child)).status).toBe(200);
    expect([await statusOf(child), await statusOf(access_token)]).toEqual([401, 200]);
    for (let time = 0; time < 2; time += 1) expect((await revoke(access_token)).status).toBe(200);
    expect(await statusOf(access_token)).toBe(401);
  });
});
