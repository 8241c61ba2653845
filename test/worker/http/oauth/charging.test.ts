import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { HOLDER, SERVICE } from "../../../../src/account/contract.ts";
import { expectInvariants } from "../../account/invariants.ts";
import { query } from "../../support/account_object.ts";
import {
  AS_OWNER,
  chargingToken,
  connectToResource,
  openChargingApp,
  setCharges,
  toCharge,
} from "../../support/charging.ts";
import { passTime } from "../../support/clock.ts";
import { fromOwnPage } from "../../support/device_logins.ts";
import { narrow, total } from "../../support/exchanges.ts";
import {
  authorize,
  CLIENT_ID,
  connect,
  oauthServices,
  post,
  redeem,
  refresh,
  RESOURCE,
  withToken,
} from "../../support/oauth_clients.ts";
import { BASE_URL, send, signIn, type SignedIn } from "../../support/passbook.ts";
import { CLIENT_SECRET } from "../../support/registrations.ts";
import { openAppServer } from "../caller/app_server.ts";

const charge = (token: string, cost_estimate: number, changed: object = {}) =>
  withToken(token, "POST", "/api/jobs", {
    app: "sketch",
    action: "draw",
    cost_estimate,
    ...changed,
  });

const complete = (token: string, job_id: string, actual_cost: number) =>
  withToken(token, "POST", "/api/jobs/complete", { job_id, actual_cost });

/** Ends the person's only connection, as its page does. */
async function endConnection(person: SignedIn): Promise<void> {
  const [connection] = (await person.getOwn("/api/tokens")).body.tokens;
  const headers = fromOwnPage(person);
  expect((await send("DELETE", `/api/tokens/${connection.id}`, { headers })).status).toBe(200);
}

describe("an app that charges for its resource", () => {
  it("gets a token of our API for ten minutes that starts and ends its own jobs within the connection's cap", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada, 50);
    const answer = await toCharge(access_token);
    expect(answer.status).toBe(200);
    const { access_token: token, ...rest } = answer.body;
    expect(rest).toEqual({
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      token_type: "Bearer",
      expires_in: expect.any(Number),
      scope: "charge",
    });
    expect(rest.expires_in).toBeGreaterThan(590);
    expect(rest.expires_in).toBeLessThanOrEqual(600);
    expect(decodeJwt(token.slice("pb_at_".length))).toMatchObject({
      sub: ada.identity_id,
      client_id: "sketch~server",
      act: { sub: "sketch~server" },
      scope: "charge",
    });
    const created = await charge(token, 20);
    expect(created.body).toEqual({ job_id: expect.any(String), credits: null });
    const { job_id } = created.body;
    const progress = { job_id, step: 1, spent: 5 };
    const progressed = await withToken(token, "POST", "/api/jobs/progress", progress);
    expect(progressed.body).toMatchObject({ job: { spent: 5 }, credits: null });
    const read = await withToken(token, "GET", `/api/jobs/${job_id}`);
    expect(read.body).toMatchObject({ id: job_id, reserved: 20, status: "started" });
    const completed = await complete(token, job_id, 12);
    expect(completed.body).toMatchObject({ job: { actual_cost: 12 }, credits: null });
    const failing = (await charge(token, 10)).body;
    const failed = await withToken(token, "POST", "/api/jobs/fail", { job_id: failing.job_id });
    expect(failed.body).toMatchObject({ job: { status: "failed" }, credits: null });
    const refused = await charge(token, 39);
    expect(refused).toMatchObject({
      status: 402,
      body: {
        code: "token_budget_exceeded",
        cap: { credits: 50, period: "total" },
        spent: 12,
        room: 38,
        approval_url: expect.stringContaining(`${BASE_URL}/approve/`),
      },
    });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(88);
    await expectInvariants(ada.identity_id);
  });

  it("names our API with or without a slash, and its token may name the scope charge", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    for (const changed of [{ resource: `${BASE_URL}/` }, { scope: "charge" }]) {
      expect((await toCharge(access_token, changed)).body.scope).toBe("charge");
    }
  });

  it("charges for the connection: its jobs have the connection's path, and their credits come back when it is revoked", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const token = await chargingToken(access_token);
    const { job_id } = (await charge(token, 30)).body;
    expect(
      await query(
        ada.identity_id,
        "select allowance_path = (select id from allowances) as is_own from jobs",
      ),
    ).toEqual([{ is_own: 1 }]);
    await endConnection(ada);
    for (const late of [await charge(token, 1), await complete(token, job_id, 30)]) {
      expect(late).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    }
    expect((await toCharge(access_token)).body.error).toBe("invalid_request");
    expect((await ada.get(`/api/jobs/${job_id}`)).body.failure).toBe("expired");
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("reads and ends only jobs that this connection started", async () => {
    await openChargingApp();
    const ada = await signIn();
    const one = await chargingToken((await connectToResource(ada)).access_token);
    const elsewhere = { client_id: "https://other.example.com/oauth.json" };
    const other = await connect(ada, {
      ...elsewhere,
      resource: RESOURCE,
      scopes: ["tools", "charge"],
      limits: { app_slugs: ["sketch"], caps: [], expires_at_ms: Date.now() + 86_400_000 },
    });
    const job = { app: "sketch", action: "draw", cost_estimate: 5 };
    const foreign = [
      (await ada.post("/api/jobs", job)).body.job_id,
      (await charge(await chargingToken(other.access_token), 5)).body.job_id,
    ];
    for (const job_id of foreign) {
      const read = await withToken(one, "GET", `/api/jobs/${job_id}`);
      expect(read).toMatchObject({ status: 404, body: { code: "job_not_found" } });
      for (const [path, body] of [
        ["/api/jobs/complete", { job_id, actual_cost: 0 }],
        ["/api/jobs/fail", { job_id }],
        ["/api/jobs/progress", { job_id, step: 1 }],
      ] as const) {
        const answer = await withToken(one, "POST", path, body);
        expect(answer).toMatchObject({ status: 400, body: { code: "job_unknown" } });
      }
    }
    const for_other = await charge(one, 1, { app: "other" });
    expect(for_other).toMatchObject({ status: 403, body: { code: "scope" } });
  });

  it.each([
    ["GET", "/api/wallet"],
    ["GET", "/api/wallet?app=sketch"],
    ["GET", "/api/me"],
    ["GET", "/api/jobs"],
    ["GET", "/api/ledger"],
    ["GET", "/api/tokens"],
    ["GET", "/api/events"],
    ["GET", "/api/sessionToken"],
    ["GET", "/api/oauthToken/google"],
    ["POST", "/api/jobs/batch", { jobs: [{ app: "sketch", action: "draw", cost_estimate: 1 }] }],
    ["POST", "/api/jobs/cancel", { job_id: "own" }],
    ["DELETE", "/api/tokens/own"],
  ])("its token is refused at %s %s", async (method, path, body?: object) => {
    await openChargingApp();
    const ada = await signIn();
    const token = await chargingToken((await connectToResource(ada)).access_token);
    const { job_id } = (await charge(token, 1)).body;
    const [connection] = (await ada.getOwn("/api/tokens")).body.tokens;
    const sent = body && "job_id" in body ? { job_id } : body;
    const answer = await withToken(token, method, path.replace("own", connection.id), sent);
    expect(answer).toMatchObject({ status: 403, body: { code: "scope" } });
    expect(answer.text).not.toContain("100");
    expect((await charge(token, 1)).status).toBe(200);
  });

  it("learns nothing about the person or the balance, and its token is no key of pages", async () => {
    await openChargingApp();
    const ada = await signIn();
    const token = await chargingToken((await connectToResource(ada, 500)).access_token);
    const too_much = await charge(token, 101);
    expect(too_much).toMatchObject({
      status: 402,
      body: { code: "insufficient_credits", credits: null, held: null, required: 101 },
    });
    expect(too_much.body.error).toBe("The balance does not cover 101.");
    const { job_id } = (await charge(token, 100)).body;
    const raised = { job_id, step: 1, reserve: 150 };
    expect((await withToken(token, "POST", "/api/jobs/progress", raised)).body).toMatchObject({
      code: "insufficient_credits",
      credits: null,
    });
    const info = await post("/oauth/userinfo", {}, { Authorization: `Bearer ${token}` });
    expect(info.status).toBe(403);
    const page = { headers: { Authorization: `Bearer ${token}`, Accept: "text/html" } };
    expect((await send("GET", "/account", page)).status).toBe(303);
  });

  it("repeats a request under its key once, without the balance", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const send_once = async () =>
      send("POST", "/api/jobs", {
        headers: {
          Authorization: `Bearer ${await chargingToken(access_token)}`,
          "Content-Type": "application/json",
          "Idempotency-Key": "one",
        },
        body: JSON.stringify({ app: "sketch", action: "draw", cost_estimate: 7 }),
      });
    const [first, again] = [await send_once(), await send_once()];
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(93);
  });

  it("ends its own jobs also if only the app may settle them", async () => {
    const { operator } = await openChargingApp();
    await openAppServer("sketch", { settle: "app" }, operator);
    oauthServices().apps.forget();
    const ada = await signIn();
    const token = await chargingToken((await connectToResource(ada)).access_token);
    const { job_id } = (await charge(token, 5)).body;
    expect((await ada.post("/api/jobs/complete", { job_id, actual_cost: 0 })).status).toBe(403);
    expect((await complete(token, job_id, 4)).body.job.actual_cost).toBe(4);
  });

  it("gets a token that ends with the connection, the sign-in, and the sign-in's session", async () => {
    await openChargingApp();
    const [ada, eve, dora] = [
      await signIn("ada@example.com"),
      await signIn("eve@example.com"),
      await signIn("dora@example.com"),
    ];
    const short = await connectToResource(ada, 50, {
      limits: { app_slugs: ["sketch"], caps: [], expires_at_ms: Date.now() + 100_000 },
    });
    expect((await toCharge(short.access_token)).body.expires_in).toBeLessThanOrEqual(100);
    const session_ends_at_ms = Date.now() + 200_000;
    const with_session = await connectToResource(eve, 50, { session_ends_at_ms });
    expect((await toCharge(with_session.access_token)).body.expires_in).toBeLessThanOrEqual(200);
    const left = await connectToResource(dora);
    const token = await chargingToken(left.access_token);
    await post("/oauth/revoke", { token: left.refresh_token, client_id: CLIENT_ID });
    expect((await charge(token, 1)).status).toBe(401);
    expect((await toCharge(left.access_token)).status).toBe(400);
  });

  it("exchanges again before the received token expires, and its own token outlives that one by at most ten minutes", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    passTime(550_000);
    const late = await chargingToken(access_token);
    passTime(300_000);
    expect((await toCharge(access_token)).status).toBe(400);
    expect((await charge(late, 1)).status).toBe(200);
    passTime(310_000);
    expect((await charge(late, 1)).status).toBe(401);
  });

  it("cannot charge a suspended account", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const token = await chargingToken(access_token);
    await env.ACCOUNT.getByName(ada.identity_id).suspend();
    expect((await charge(token, 1)).body.code).toBe("suspended");
    expect((await toCharge(access_token)).status).toBe(400);
  });
});

describe("an exchange for charging is refused", () => {
  it.each([
    ["a public client of the app", { client_id: "sketch~page", client_secret: "" }, 400],
    ["a client of another app", { client_id: "other~server" }, 400],
    ["a wrong secret", { client_secret: "pb_cs_wrong" }, 401],
    ["no client", { client_id: "", client_secret: "" }, 401],
    ["no secret", { client_secret: "" }, 401],
    ["the client that the person connected", { client_id: CLIENT_ID, client_secret: "" }, 400],
    ["another resource", { resource: "https://elsewhere.example/mcp" }, 400],
    ["more scopes", { scope: "charge write" }, 400],
    ["the scope read", { scope: "read" }, 400],
    [
      "limits of its own",
      { authorization_details: JSON.stringify([{ type: "passbook_spending", ...total(1) }]) },
      400,
    ],
  ])("with %s", async (_, changed, status) => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const answer = await toCharge(access_token, changed);
    expect({ status: answer.status, ...answer.body }).toMatchObject({
      status,
      error_description: expect.any(String),
    });
    expect(answer.body.access_token).toBeUndefined();
    expect(await query(ada.identity_id, "select id from allowances")).toHaveLength(1);
  });

  it("for a resource that does not charge, also if it did before", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    await setCharges(false);
    const answer = await toCharge(access_token);
    expect(answer).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    await setCharges(true);
    expect((await toCharge(access_token)).status).toBe(200);
  });

  it("for a connection of before the resource charged, and for a token without the right", async () => {
    await openChargingApp();
    const ada = await signIn();
    const before = await connect(ada, { resource: RESOURCE, scopes: ["tools"] });
    const { refresh_token } = await connectToResource(await signIn("eve@example.com"));
    const narrowed = await narrow(refresh_token, {}, { scope: "tools" });
    const renewed = (await refresh(refresh_token, { scope: "tools" })).body;
    for (const { access_token } of [before, narrowed, renewed]) {
      const answer = await toCharge(access_token);
      expect(answer).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
      expect(answer.body.error_description).toContain("authorize again");
    }
  });

  it("of a refresh token, of a token that charges, and of a token for our API", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token, refresh_token } = await connectToResource(ada);
    const own = await connect(await signIn("eve@example.com"));
    for (const subject of [refresh_token, await chargingToken(access_token), own.access_token]) {
      expect((await toCharge(subject)).body.error).toBe("invalid_request");
    }
  });

  it("of a token that charges, also by the client that the person connected, so that it does not last", async () => {
    await openChargingApp();
    const limits = { app_slugs: ["sketch"], caps: [], expires_at_ms: Date.now() + 86_400_000 };
    const code = await authorize(await signIn(), {
      client_id: AS_OWNER.client_id,
      client_host: null,
      resource: RESOURCE,
      scopes: ["tools", "charge"],
      limits,
    });
    const { access_token } = (await redeem(code, AS_OWNER)).body;
    const token = await chargingToken(access_token);
    for (const resource of [BASE_URL, RESOURCE, ""]) {
      expect((await toCharge(token, { resource })).body.error).toBe("invalid_request");
    }
  });

  it("for an app that the person has stopped, which also ends the token that it has", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const token = await chargingToken(access_token);
    const stop = { slug: "sketch", started_jobs: "keep" } as const;
    expect((await env.ACCOUNT.getByName(ada.identity_id).stopApp(HOLDER, stop)).ok).toBe(true);
    expect((await charge(token, 1)).status).toBe(401);
    expect((await toCharge(access_token)).status).toBe(400);
  });

  it("for another app that registered the address since: the person agreed to the first app only", async () => {
    const { operator } = await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    const token = await chargingToken(access_token);
    await env.DIRECTORY.exec("update resources set app_slug = 'other'");
    oauthServices().apps.forget();
    const by_other = { client_id: "other~server", client_secret: CLIENT_SECRET };
    expect((await toCharge(access_token, by_other)).body.error).toBe("invalid_scope");
    expect((await toCharge(access_token)).body.error).toBe("invalid_request");
    expect((await charge(token, 1, { app: "other" })).status).toBe(403);
    expect(operator).toBeDefined();
  });

  it("after its client, or the client that the person connected, was deleted", async () => {
    await openChargingApp();
    const ada = await signIn();
    const page = { client_id: "sketch~page", client_host: null };
    const { access_token } = await connectToResource(ada, 50, page);
    const token = await chargingToken(access_token);
    await env.DIRECTORY.exec("delete from oauth_clients where id = 'page'");
    oauthServices().apps.forget();
    expect((await toCharge(access_token)).body.error).toBe("invalid_request");
    await env.DIRECTORY.exec("delete from oauth_clients where id = 'server'");
    oauthServices().apps.forget();
    expect((await toCharge(access_token)).status).toBe(401);
    expect((await charge(token, 1)).status).toBe(401);
  });
});

describe("a connection to a resource that charges", () => {
  it("has tokens for the resource that do not work at our API", async () => {
    await openChargingApp();
    const { access_token } = await connectToResource(await signIn());
    expect((await charge(access_token, 1)).status).toBe(401);
    expect((await withToken(access_token, "GET", "/api/wallet")).status).toBe(401);
  });

  it("gives no access to the app's key, and a charge does not open the account for it", async () => {
    const server = await openChargingApp();
    const ada = await signIn();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const app = { slug: "sketch", starter_credits: 100, is_registered: true };
    expect(await account.wallet(SERVICE, { app })).toMatchObject({ ok: true });
    const { access_token } = await connect(ada, {
      resource: RESOURCE,
      scopes: ["tools", "charge"],
      limits: { app_slugs: ["sketch"], caps: [], expires_at_ms: Date.now() + 86_400_000 },
    });
    const { job_id } = (await charge(await chargingToken(access_token), 5)).body;
    const by_key = server.in(ada.identity_id);
    expect(await by_key.get("/api/wallet")).toMatchObject({
      status: 404,
      body: { code: "account_unknown" },
    });
    const job = { app: "sketch", action: "draw", cost_estimate: 1 };
    expect((await by_key.post("/api/jobs", job)).status).toBe(404);
    // The end of a job of its own is the app's, as everywhere.
    const ended = await by_key.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    expect(ended.body).toMatchObject({ job: { actual_cost: 5 }, credits: null });
  });

  it("keeps its app: its holder changes its name and limit, and not its apps", async () => {
    await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada, 5);
    const [{ id }] = (await ada.getOwn("/api/tokens")).body.tokens;
    const change = (body: object) =>
      send("PATCH", `/api/tokens/${id}`, {
        headers: { ...fromOwnPage(ada), "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    for (const apps of [null, ["other"], ["sketch", "other"]]) {
      expect(await change({ apps })).toMatchObject({
        status: 400,
        body: { code: "invalid_request" },
      });
    }
    const token = await chargingToken(access_token);
    expect((await charge(token, 6)).status).toBe(402);
    expect((await change({ caps: [{ credits: 6, period: "total" }] })).status).toBe(200);
    expect((await charge(token, 6)).status).toBe(200);
  });

  it("is active for its app at introspection, and so is the token that charges for its client", async () => {
    const server = await openChargingApp();
    const ada = await signIn();
    const { access_token } = await connectToResource(ada);
    const by_key = { Authorization: `Bearer ${server.key}` };
    const introspect = async (token: string, form: object, headers = {}) =>
      (await post("/oauth/introspect", { token, ...form }, headers)).body;
    expect(await introspect(access_token, {}, by_key)).toMatchObject({
      active: true,
      scope: "tools charge",
    });
    const token = await chargingToken(access_token);
    expect(await introspect(token, AS_OWNER)).toMatchObject({ active: true, scope: "charge" });
    await endConnection(ada);
    expect(await introspect(access_token, {}, by_key)).toEqual({ active: false });
    expect(await introspect(token, AS_OWNER)).toEqual({ active: false });
  });
});
