import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { EXCHANGED_PER_ALLOWANCE_MAX } from "../../../../src/domain/limits.ts";
import { expectInvariants } from "../../account/invariants.ts";
import { withToken as byAllowance } from "../../support/allowances.ts";
import { countRowsWritten, query } from "../../support/account_object.ts";
import { earlyInAMinute, passTime } from "../../support/clock.ts";
import { fromOwnPage, getToken, holderOf, tokenId } from "../../support/device_logins.ts";
import {
  ACCESS_TOKEN_TYPE,
  exchange,
  narrow,
  total,
  TOKEN_EXCHANGE,
} from "../../support/exchanges.ts";
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
  type Tokens,
} from "../../support/oauth_clients.ts";
import {
  CLIENT_SECRET,
  openResource,
  registerClient,
  registerResource,
} from "../../support/registrations.ts";
import { openAppServer } from "../caller/app_server.ts";
import { personalToken, signInOperator } from "../api/admin/operators.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../support/passbook.ts";

const DAY_MS = 86_400_000;
const BY_PAT = { client_id: "" };
const PERSONAL_TOKEN_TYPE = "urn:passbook:token-type:personal";
const PERSONAL = { requested_token_type: PERSONAL_TOKEN_TYPE };
const AS_PERSONAL = { ...PERSONAL, client_id: CLIENT_ID };

const reserve = (access_token: string, cost_estimate: number, app = "demo") =>
  withToken(access_token, "POST", "/api/jobs", { app, action: "draw", cost_estimate });

const rows = ({ identity_id }: SignedIn): Promise<{ id: string; parent_id: string | null }[]> =>
  query(identity_id, "select id, parent_id, path, caps_json from allowances order by length(path)");

const limitsWith = (caps: readonly { credits: number; period: "day" | "total" }[] = []) => ({
  app_slugs: ["demo", "sketch"],
  caps,
  expires_at_ms: Date.now() + 10 * DAY_MS,
});

describe("an exchange that narrows", () => {
  it("a narrower token spends within its own cap and counts against its parent", async () => {
    const ada = await signInWithCredits();
    const parent = await connect(ada, { limits: limitsWith([{ credits: 50, period: "total" }]) });
    const answer = await exchange(parent.refresh_token, total(20));
    expect(answer.status).toBe(200);
    expect(answer.body.id_token).toBeUndefined();
    expect(answer.body).toMatchObject({
      issued_token_type: ACCESS_TOKEN_TYPE,
      token_type: "Bearer",
      scope: parent.scope,
      refresh_token: expect.stringMatching(/^pb_rt_/),
    });
    const child = answer.body;
    expect((await reserve(child.access_token, 21)).body).toMatchObject({
      code: "token_budget_exceeded",
      cap: { credits: 20, period: "total" },
      room: 20,
    });
    expect((await reserve(child.access_token, 15)).status).toBe(200);
    expect((await reserve(parent.access_token, 36)).status).toBe(402);
    expect((await reserve(parent.access_token, 35)).status).toBe(200);
    expect((await reserve(child.access_token, 1)).body).toMatchObject({
      code: "token_budget_exceeded",
      cap: { credits: 50, period: "total" },
      spent: 50,
      room: 0,
    });
    const { tokens } = (await ada.getOwn("/api/tokens")).body;
    const [root] = tokens.filter(({ parent_id }: { parent_id: unknown }) => parent_id === null);
    expect(tokens).toContainEqual(
      expect.objectContaining({ kind: "exchange", parent_id: root.id, client: root.client }),
    );
    await expectInvariants(ada.identity_id);
  });

  it("a client renews a narrower token, until its parent is revoked, and never gets an ID token for it", async () => {
    const ada = await signInWithCredits();
    const parent = await connect(ada);
    const child = await narrow(parent.refresh_token, total(20));
    const renewed = await refresh(child.refresh_token);
    expect(renewed.status).toBe(200);
    expect([child.scope.includes("openid"), renewed.body.id_token]).toEqual([true, undefined]);
    expect((await reserve(renewed.body.access_token, 1)).status).toBe(200);
    const [root] = await rows(ada);
    await send("DELETE", `/api/tokens/${root?.id}`, { headers: fromOwnPage(ada) });
    expect((await refresh(renewed.body.refresh_token)).body).toMatchObject({
      error: "invalid_grant",
    });
    expect((await exchange(renewed.body.access_token, total(1))).status).toBe(400);
  });

  it("a narrower token ends with the session with which the exchanged token's family ends", async () => {
    const ada = await signInWithCredits();
    const parent = await connect(ada, { session_ends_at_ms: Date.now() + DAY_MS });
    const child = await narrow(parent.refresh_token, total(20));
    await send("POST", "/account/signout-everywhere", {
      headers: fromOwnPage(ada),
      body: new URLSearchParams(),
    });
    expect((await withToken(child.access_token, "GET", "/api/wallet")).status).toBe(401);
    expect((await refresh(child.refresh_token)).status).toBe(400);
  });

  it("a narrower token expires after the requested time", async () => {
    const ada = await signInWithCredits();
    const parent = await connect(ada);
    const { access_token, refresh_token, expires_in } = await narrow(parent.refresh_token, {
      expires_in: 120,
    });
    expect(expires_in).toBeLessThanOrEqual(120);
    passTime(121_000);
    expect((await withToken(access_token, "GET", "/api/wallet")).status).toBe(401);
    expect((await refresh(refresh_token)).body).toMatchObject({ error: "invalid_grant" });
  });
});

describe("an exchange by a client that proves nothing", () => {
  it("a stolen access token of a public client gets neither a refresh token nor an ID token, and nothing that lives longer", async () => {
    const ada = await signInWithCredits();
    const { access_token } = await connect(ada);
    const { exp = 0 } = decodeJwt(access_token.slice("pb_at_".length));
    passTime(100_000);
    const far = { ...total(1_000_000), expires_in: 30 * 86_400 };
    const child = await narrow(access_token, far);
    const grandchild = await narrow(child.access_token, { apps: ["demo"] });
    for (const { access_token: token, refresh_token, id_token, expires_in } of [
      child,
      grandchild,
    ]) {
      expect([refresh_token, id_token]).toEqual([undefined, undefined]);
      expect(decodeJwt(token.slice("pb_at_".length)).exp).toBe(exp);
      expect(expires_in).toBeLessThanOrEqual(500);
      expect((await reserve(token, 1)).status).toBe(200);
    }
    passTime(501_000);
    for (const { access_token: token } of [child, grandchild]) {
      expect((await reserve(token, 1)).status).toBe(401);
      expect((await exchange(token, total(1))).status).toBe(400);
    }
  });
});

describe("an exchange that would widen", () => {
  it.each([
    ["a cap above the parent's of the same period", total(51), {}, "invalid_request"],
    [
      "a cap of a day above the parent's total",
      { caps: [{ credits: 51, period: "day" }] },
      {},
      "invalid_request",
    ],
    ["an app that the parent may not use", { apps: ["demo", "other"] }, {}, "invalid_request"],
    ["a scope that the parent lacks", total(1), { scope: "write upstream" }, "invalid_scope"],
    ["a scope that names none", total(1), { scope: " " }, "invalid_scope"],
    ["the scope admin", total(1), { scope: "admin" }, "invalid_scope"],
    ["a later expiry", { expires_in: 11 * 86_400 }, {}, "invalid_request"],
    [
      "another client",
      total(1),
      { client_id: "https://other.example.com/oauth.json" },
      "invalid_request",
    ],
    ["another resource", total(1), { resource: RESOURCE }, "invalid_target"],
  ])("an exchange with %s is refused and adds no row", async (_, limits, changed, error) => {
    const ada = await signIn();
    const parent = await connect(ada, { limits: limitsWith([{ credits: 50, period: "total" }]) });
    const before = await rows(ada);
    const answer = await exchange(parent.access_token, limits, changed);
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status: 400, error });
    expect(await rows(ada)).toEqual(before);
  });

  it("the refused scopes of an exchange are named, unknown ones too, and the permitted ones are not", async () => {
    const { access_token, refresh_token } = await connect(await signIn());
    for (const [subject, limits] of [
      [access_token, total(1)],
      [access_token, null],
      [refresh_token, total(1)],
    ] as const) {
      const { body } = await exchange(subject, limits, { scope: "openid wirte admin" });
      expect(body.error_description).toBe(
        "The token does not permit these scopes: wirte admin. Leave them out, or leave scope out.",
      );
    }
  });

  it("a cap must also fit the caps of all further ancestors, and a fifth level is refused", async () => {
    const ada = await signIn();
    let { refresh_token } = await connect(ada, {
      limits: limitsWith([{ credits: 50, period: "total" }]),
    });
    for (const apps of [["demo", "sketch"], ["demo"]]) {
      ({ refresh_token } = await narrow(refresh_token, { apps, expires_in: apps.length * 3_600 }));
      expect((await exchange(refresh_token, total(51))).status).toBe(400);
    }
    ({ refresh_token } = await narrow(refresh_token, total(50)));
    const before = await rows(ada);
    expect(before).toHaveLength(4);
    const deeper = await exchange(refresh_token, total(1));
    expect(deeper).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    expect(await rows(ada)).toEqual(before);
  });

  it("a token has at most a hundred living children and theirs, and revoking one makes room", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    const caller = byAllowance(await tokenId(token));
    const request = {
      credential: caller.credential,
      client_id: null,
      client_asserted: false,
      client_proven: false,
      subject: { kind: "access" as const, expires_at_ms: Infinity },
      resource: undefined,
      owns_audience: false,
      charging_app: null,
      is_personal: false,
      caps: [{ credits: 1, period: "total" as const }],
    };
    const first = (await exchange(token.token, total(5), BY_PAT)).body.access_token;
    for (let count = 2; count < EXCHANGED_PER_ALLOWANCE_MAX; count += 1) {
      await env.ACCOUNT.getByName(ada.identity_id).exchange(caller, request);
    }
    expect((await exchange(token.token, total(1), BY_PAT)).status).toBe(200);
    for (const full of [token.token, first]) {
      const answer = await exchange(full, total(1), BY_PAT);
      expect(answer.body.error_description).toContain("Revoke");
    }
    const child = (await rows(ada)).find(({ parent_id }) => parent_id !== null);
    expect((await token.revoke(child?.id ?? "")).status).toBe(200);
    expect((await exchange(token.token, total(1), BY_PAT)).status).toBe(200);
  });

  it("all sessions of a client share the limit of exchanges", async () => {
    await earlyInAMinute();
    const ada = await signIn();
    const sessions = [await connect(ada), await connect(ada)];
    const statuses = new Set<number>();
    for (let count = 0; count < 30; count += 1) {
      for (const { access_token } of sessions)
        statuses.add((await exchange(access_token, {})).status);
    }
    expect([...statuses]).toEqual([200]);
    for (const { access_token } of sessions)
      expect((await exchange(access_token, {})).status).toBe(429);
  });

  it.each([
    ["no subject token", { subject_token: "" }],
    [
      "a subject token of another type",
      { subject_token_type: "urn:ietf:params:oauth:token-type:jwt" },
    ],
    ["an actor token", { actor_token: "x" }],
    ["an audience", { audience: "https://other.example" }],
    [
      "a refresh token as requested",
      { requested_token_type: "urn:ietf:params:oauth:token-type:refresh_token" },
    ],
    ["an invented token", { subject_token: "pb_at_invented" }],
    ["limits that are no JSON", { authorization_details: "{" }],
    [
      "two entries",
      { authorization_details: '[{"type":"passbook_spending"},{"type":"passbook_spending"}]' },
    ],
    ["limits of another type", { authorization_details: '[{"type":"payment"}]' }],
    ["a misspelt limit", { authorization_details: '[{"type":"passbook_spending","cap":{}}]' }],
  ])("an exchange with %s is refused", async (_, changed) => {
    const { access_token } = await connect(await signIn());
    const answer = await exchange(access_token, null, changed);
    expect(answer).toMatchObject({ status: 400, body: { error: "invalid_request" } });
  });
});

describe("an exchange that narrows nothing", () => {
  it("only names the client as the actor, adds no row and expires with the exchanged token", async () => {
    const ada = await signInWithCredits();
    const parent = await connect(ada, { limits: limitsWith() });
    const rows_written = await countRowsWritten(ada.identity_id);
    passTime(100_000);
    const once = await exchange(parent.access_token, { apps: ["sketch", "demo"] });
    const { body } = await exchange(once.body.access_token);
    expect(body.refresh_token).toBeUndefined();
    const before = decodeJwt(parent.access_token.slice("pb_at_".length));
    const { act, exp, jti = "", sub } = decodeJwt(body.access_token.slice("pb_at_".length));
    expect({ exp, sub }).toEqual({ exp: before.exp, sub: ada.identity_id });
    const rowOf = (id = "") => id.split(":").slice(0, 3);
    expect(rowOf(jti)).toEqual(rowOf(before.jti));
    expect(jti).not.toBe(before.jti);
    expect(act).toEqual({ sub: before.client_id, act: { sub: before.client_id } });
    // The first use of the connection writes when it was last used.
    expect(rows_written()).toBeLessThanOrEqual(1);
    expect(await rows(ada)).toHaveLength(1);
    expect((await reserve(body.access_token, 5)).status).toBe(200);
  });
});

describe("an exchange of a personal access token", () => {
  it("a program exchanges its token without being a client, and gets a narrower personal access token", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 60 }] });
    const answer = await exchange(token.token, { ...total(50), expires_in: 3_600 }, BY_PAT);
    expect(answer.body).toMatchObject({ issued_token_type: ACCESS_TOKEN_TYPE });
    expect(answer.body.expires_in).toBeGreaterThan(3_500);
    expect(answer.body.access_token).toMatch(/^pb_pat_/);
    const agent = holderOf(answer.body.access_token);
    expect((await reserve(agent.token, 51)).status).toBe(402);
    expect((await reserve(agent.token, 50)).status).toBe(200);
    expect((await reserve(token.token, 11)).status).toBe(402);
    expect((await exchange(token.token, null, BY_PAT)).body.access_token).toBe(token.token);
    await expectInvariants(ada.identity_id);
  });

  it("a client with a document exchanges its refresh token for a personal access token, which counts against the connection and ends with its sign-in", async () => {
    const ada = await signInWithCredits();
    const parent = await connect(ada, { limits: limitsWith([{ credits: 50, period: "total" }]) });
    const answer = await exchange(
      parent.refresh_token,
      { ...total(20), expires_in: 3_600 },
      AS_PERSONAL,
    );
    expect(answer.body).toMatchObject({ issued_token_type: PERSONAL_TOKEN_TYPE });
    expect(answer.body.refresh_token).toBeUndefined();
    const { access_token: token } = answer.body as Tokens;
    expect(token).toMatch(/^pb_pat_/);
    expect((await reserve(token, 21)).status).toBe(402);
    expect((await reserve(token, 20)).status).toBe(200);
    expect((await reserve(parent.access_token, 31)).status).toBe(402);
    // A program with this token makes a narrower one, although a client holds the connection.
    const below = await narrow(token, { ...total(5), expires_in: 60 }, { ...BY_PAT, ...PERSONAL });
    expect((await withToken(below.access_token, "GET", "/api/me")).body).toMatchObject({
      name: null,
      email: null,
    });
    await post("/oauth/revoke", { token: parent.refresh_token, client_id: CLIENT_ID });
    for (const it of [token, below.access_token]) expect((await reserve(it, 1)).status).toBe(401);
    await expectInvariants(ada.identity_id);
  });

  it("a personal access token of a connection expires with the session that the connection ends with", async () => {
    const ada = await signInWithCredits();
    const session_ends_at_ms = Date.now() + 60_000;
    const parent = await connect(ada, { limits: limitsWith(), session_ends_at_ms });
    const answer = await exchange(parent.refresh_token, { expires_in: 3_600 }, AS_PERSONAL);
    expect(answer.body.expires_in).toBeLessThanOrEqual(60);
    passTime(61_000);
    expect((await reserve(answer.body.access_token, 1)).status).toBe(401);
  });

  it("the scope admin is not passed on: a narrower token does not list it, and a request for it is refused", async () => {
    const { person } = await signInOperator();
    const scopes = ["read", "write", "admin"];
    const { token = "" } = (await personalToken(person, { scopes })) ?? {};
    const child = await narrow(token, total(5), BY_PAT);
    expect(child.scope).toBe("read write");
    expect((await narrow(token, {}, { ...BY_PAT, scope: "read" })).scope).toBe("read");
    const only = await personalToken(person, { scopes: ["admin"] });
    const before = await rows(person);
    for (const [subject, limits, scope] of [
      [token, total(5), "read admin"],
      [token, total(5), "admin"],
      [token, {}, "read write admin"],
      [only?.token ?? "", total(5), ""],
      [only?.token ?? "", total(5), undefined],
    ] as const) {
      const answer = await exchange(subject, limits, {
        ...BY_PAT,
        ...(scope === undefined ? {} : { scope }),
      });
      expect(answer).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
    }
    expect(await rows(person)).toEqual(before);
  });

  it("a client cannot exchange a personal access token, which was not issued to it", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    const answer = await exchange(token.token, total(1), {
      client_id: "https://client.example.com/oauth.json",
    });
    expect(answer).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    expect(await rows(ada)).toHaveLength(1);
  });

  it("a token of before the exchange keeps its restrictions: a read-only one gets no child that writes", async () => {
    const ada = await signInWithCredits();
    const reader = await getToken(ada, { scopes: ["read"], apps: ["demo"] });
    expect((await exchange(reader.token, total(1), { ...BY_PAT, scope: "write" })).body.error).toBe(
      "invalid_scope",
    );
    const child = await exchange(reader.token, total(1), BY_PAT);
    expect((await reserve(child.body.access_token, 1)).status).toBe(403);
    expect((await withToken(child.body.access_token, "GET", "/api/me")).status).toBe(403);
  });
});

describe("revoking a parent", () => {
  it("revoking a parent ends its descendants at once, and their jobs give back to the root", async () => {
    const ada = await signInWithCredits();
    const root = await getToken(ada, { caps: [{ credits: 90 }] });
    const middle = (await exchange(root.token, total(60), BY_PAT)).body.access_token;
    const leaf = (await exchange(middle, total(40), BY_PAT)).body.access_token;
    const { job_id } = (await reserve(leaf, 30)).body;
    await reserve(middle, 10);
    const spent = async () =>
      Object.fromEntries(
        (await ada.getOwn("/api/tokens")).body.tokens.map(
          ({ id, caps: [cap] }: { id: string; caps: [{ spent: number }] }) => [id, cap.spent],
        ),
      );
    const ids = await Promise.all([root, holderOf(middle), holderOf(leaf)].map(tokenId));
    expect(new Set(Object.values(await spent()))).toEqual(new Set([30, 40]));
    expect((await holderOf(root.token).revoke(ids[1] ?? "")).status).toBe(200);
    for (const ended of [middle, leaf]) {
      expect((await withToken(ended, "GET", "/api/wallet")).status).toBe(401);
    }
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({ failure: "expired" });
    expect(await spent()).toEqual({ [ids[0] ?? ""]: 0 });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    // Settled late by the holder, the job counts against the root again.
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 25 });
    expect(await spent()).toEqual({ [ids[0] ?? ""]: 25 });
    await expectInvariants(ada.identity_id);
  });

  it("a child revokes neither its parent nor its sibling, and a parent revokes its descendants", async () => {
    const ada = await signIn();
    const root = await getToken(ada);
    const [one = "", other = ""] = await Promise.all(
      [1, 2].map(
        async (credits) => (await exchange(root.token, total(credits), BY_PAT)).body.access_token,
      ),
    );
    const [root_id, one_id, other_id] = await Promise.all(
      [root, holderOf(one), holderOf(other)].map(tokenId),
    );
    for (const id of [root_id, other_id]) {
      expect((await holderOf(one).revoke(id ?? "")).body).toMatchObject({ code: "scope" });
    }
    expect((await root.revoke(one_id ?? "")).status).toBe(200);
    expect((await withToken(other, "GET", "/api/wallet")).status).toBe(200);
  });

  it("a client ends its narrower token at the revocation endpoint, and not its parent", async () => {
    const ada = await signIn();
    const parent = await connect(ada);
    const child = await narrow(parent.access_token, total(1));
    expect(child.refresh_token).toBeUndefined();
    const form = { token: child.access_token, client_id: "https://client.example.com/oauth.json" };
    expect((await post("/oauth/revoke", form)).status).toBe(200);
    expect((await withToken(child.access_token, "GET", "/api/wallet")).status).toBe(401);
    expect((await withToken(parent.access_token, "GET", "/api/wallet")).status).toBe(200);
    expect(await rows(ada)).toMatchObject([{ parent_id: null }]);
  });
});

describe("caps of four levels under concurrency", () => {
  it("1,000 concurrent reserves over four levels reserve exactly the smallest cap, singly and in batches", async () => {
    const ada = await signInWithCredits();
    const root = await getToken(ada, { caps: [{ credits: 97 }] });
    const child = (await exchange(root.token, total(89), BY_PAT)).body.access_token;
    const grandchild = (await exchange(child, { caps: [{ credits: 83, period: "day" }] }, BY_PAT))
      .body.access_token;
    const leaf = (await exchange(grandchild, total(31), BY_PAT)).body.access_token;
    const levels: readonly string[] = [root.token, child, grandchild, leaf];
    const job = { app: "demo", action: "draw", cost_estimate: 1 };
    const singles = Array.from({ length: 400 }, (_, at) => reserve(levels[at % 4] ?? "", 1));
    const batches = Array.from({ length: 30 }, (_, at) =>
      withToken(levels[at % 4] ?? "", "POST", "/api/jobs/batch", {
        jobs: Array.from({ length: 20 }, () => job),
      }),
    );
    const results = [
      ...(await Promise.all(singles)).map(({ body }) => body),
      ...(await Promise.all(batches)).flatMap(({ body }) => body.results),
    ];
    expect(results).toHaveLength(1_000);
    expect(results.filter(({ job_id }) => job_id !== undefined)).toHaveLength(97);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(3);
    for (const {
      caps: [cap],
    } of (await ada.getOwn("/api/tokens")).body.tokens) {
      expect(cap.spent).toBeLessThanOrEqual(cap.credits);
    }
    await expectInvariants(ada.identity_id);
  });

  it("a job by a family's token writes the rows of one by a personal token, and one row more for each ancestor", async () => {
    const ada = await signInWithCredits();
    const pat = await getToken(ada, { caps: [{ credits: 50 }] });
    const family = await connect(ada, { limits: limitsWith([{ credits: 50, period: "total" }]) });
    const child = await narrow(family.access_token, total(20));
    const holders = [pat.token, family.access_token, child.access_token];
    for (const token of holders) await withToken(token, "GET", "/api/wallet");
    const rows_written = await countRowsWritten(ada.identity_id);
    const written: number[] = [];
    for (const token of holders) {
      const { job_id } = (await reserve(token, 2)).body;
      await withToken(token, "POST", "/api/jobs/complete", { job_id, actual_cost: 1 });
      written.push(rows_written());
    }
    // Two rows more for the parent: one when the job starts, one when it costs less than its reserve.
    expect(written).toEqual([6, 12, 20]);
  });
});

describe("the rate of exchanges", () => {
  it("a token is exchanged at most 60 times a minute", async () => {
    await earlyInAMinute();
    const { access_token } = await connect(await signIn());
    const statuses: number[] = [];
    for (let count = 0; count < 61; count += 1) {
      statuses.push((await exchange(access_token)).status);
    }
    expect(statuses.filter((status) => status === 200).length).toBe(60);
    expect(statuses.at(-1)).toBe(429);
  });

  it("the metadata lists token exchange", async () => {
    const { body } = await send("GET", "/.well-known/oauth-authorization-server");
    expect(body.grant_types_supported).toContain(TOKEN_EXCHANGE);
  });
});

describe("an app that owns the resource of a token", () => {
  /** Two apps with a confidential client each; the first owns the resource. */
  async function openApps() {
    const owner = await openAppServer("demo");
    await openAppServer("other", {}, owner.operator);
    await registerResource("demo", "mcp", RESOURCE);
    await registerClient("demo", "web");
    await registerClient("demo", "page", { public: 1 });
    await registerClient("other", "web");
    oauthServices().apps.forget();
    const as_owner = { client_id: "demo~web", client_secret: CLIENT_SECRET };
    return { owner, as_owner, as_other: { client_id: "other~web", client_secret: CLIENT_SECRET } };
  }
  const AT_RESOURCE = { resource: RESOURCE, scopes: ["tools", "draw"] };

  it("an app exchanges a token for its own resource that another client presented, for as long as that token is valid", async () => {
    const { as_owner } = await openApps();
    const ada = await signIn();
    const { access_token } = await connect(ada, AT_RESOURCE);
    const same = await exchange(access_token, null, as_owner);
    expect(decodeJwt(same.body.access_token)).toMatchObject({
      aud: RESOURCE,
      client_id: "demo~web",
      act: { sub: "demo~web" },
      sub: ada.identity_id,
    });
    const child = await narrow(access_token, {}, { ...as_owner, scope: "draw" });
    expect(child.scope).toBe("draw");
    expect([child.refresh_token, child.id_token]).toEqual([undefined, undefined]);
    expect(decodeJwt(child.access_token).exp).toBe(decodeJwt(access_token).exp);
    // Its own child does not make it the client that the person chose.
    const grandchild = await narrow(child.access_token, total(1), as_owner);
    expect(grandchild.refresh_token).toBeUndefined();
    expect(decodeJwt(grandchild.access_token).exp).toBe(decodeJwt(access_token).exp);
    expect((await withToken(child.access_token, "GET", "/api/wallet")).status).toBe(401);
  });

  it("a token that another client exchanged ends when the client of the exchanged token is deleted", async () => {
    const { as_owner, owner } = await openApps();
    const page = { ...AT_RESOURCE, client_id: "demo~page", client_host: null };
    const deleted = await connect(await signIn(), page);
    const kept = await connect(await signIn(), AT_RESOURCE);
    const exchanged = async ({ access_token }: Tokens) => {
      const child = await narrow(access_token, {}, { ...as_owner, scope: "draw" });
      const grandchild = await narrow(child.access_token, { expires_in: 300 }, as_owner);
      const same = await narrow(access_token, {}, as_owner);
      return { child, grandchild, same };
    };
    const [ended, living] = [await exchanged(deleted), await exchanged(kept)];
    const isActive = async ({ access_token }: Tokens): Promise<boolean> => {
      const headers = { Authorization: `Bearer ${owner.key}` };
      return (await post("/oauth/introspect", { token: access_token }, headers)).body.active;
    };
    for (const token of Object.values(ended)) expect(await isActive(token)).toBe(true);
    await env.DIRECTORY.exec("delete from oauth_clients where id = 'page'");
    oauthServices().apps.forget();
    for (const token of Object.values(ended)) {
      expect(await isActive(token)).toBe(false);
      for (const limits of [null, { expires_in: 60 }]) {
        expect((await exchange(token.access_token, limits, as_owner)).status).toBe(400);
      }
    }
    for (const token of Object.values(living)) {
      expect(await isActive(token)).toBe(true);
      expect((await exchange(token.access_token, null, as_owner)).status).toBe(200);
    }
  });

  it("a client without a secret and a client of another app cannot exchange a token, and no client exchanges one of a deleted client", async () => {
    const { as_owner, as_other } = await openApps();
    const ada = await signIn();
    const at_resource = await connect(ada, AT_RESOURCE);
    const own = await connect(ada);
    const page = { client_id: "demo~page", client_host: null };
    const deleted = await connect(ada, { ...AT_RESOURCE, ...page });
    await env.DIRECTORY.exec("delete from oauth_clients where id = 'page'");
    const before = await rows(ada);
    for (const [{ access_token }, client] of [
      [at_resource, as_other],
      [own, as_owner],
    ] as const) {
      const answer = await exchange(access_token, null, { ...client, scope: "" });
      expect(answer.body.error_description).toContain("issued to another client");
    }
    const public_one = await exchange(at_resource.access_token, null, { client_id: "demo~page" });
    expect(public_one.body.error_description).toContain("issued to another client");
    oauthServices().apps.forget();
    const late = await exchange(deleted.access_token, null, as_owner);
    expect(late.body.error_description).toContain("not a valid token");
    expect(await rows(ada)).toEqual(before);
  });
});

describe("an exchange by a client with more or less proof", () => {
  it("a resource server that received a token gets no ID token for its client", async () => {
    await openResource(RESOURCE);
    const { access_token } = await connect(await signIn(), {
      resource: RESOURCE,
      scopes: ["openid", "tools", "draw"],
    });
    for (const limits of [null, { expires_in: 300 }]) {
      const { body } = await exchange(access_token, limits);
      expect(body.access_token).toEqual(expect.any(String));
      expect([body.id_token, body.refresh_token]).toEqual([undefined, undefined]);
    }
  });

  it("a confidential client gets a refresh token for its child with its secret, and nothing without it", async () => {
    await openAppServer("demo");
    await registerClient("demo", "web");
    oauthServices().apps.forget();
    const ada = await signIn();
    const web = { client_id: "demo~web", client_host: null };
    const code = await authorize(ada, web);
    const by_secret = { client_id: "demo~web", client_secret: CLIENT_SECRET };
    const { access_token } = (await redeem(code, by_secret)).body;
    const child = await narrow(access_token, total(5), by_secret);
    expect(child.refresh_token).toMatch(/^pb_rt_/);
    expect(child.id_token).toBeUndefined();
    expect((await refresh(child.refresh_token, by_secret)).status).toBe(200);
    const unnamed = await exchange(access_token, total(5), { client_id: "demo~web" });
    expect(unnamed).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  });
});

describe("an exchange of a refresh token", () => {
  it("only its own client exchanges it, and only for its own resource", async () => {
    const ada = await signIn();
    await openResource(RESOURCE);
    const { refresh_token } = await connect(ada, {
      resource: RESOURCE,
      scopes: ["tools", "draw"],
    });
    const other = { client_id: "https://other.example.com/oauth.json" };
    expect((await exchange(refresh_token, total(1), other)).body.error).toBe("invalid_request");
    const elsewhere = { resource: "http://passbook.localhost" };
    expect((await exchange(refresh_token, total(1), elsewhere)).body.error).toBe("invalid_target");
    const mistyped = await exchange(refresh_token, total(1), {
      subject_token_type: ACCESS_TOKEN_TYPE,
    });
    expect(mistyped.body.error).toBe("invalid_request");
    expect(await rows(ada)).toHaveLength(1);
    const child = await narrow(refresh_token, {}, { scope: "draw", resource: RESOURCE });
    expect(decodeJwt(child.access_token)).toMatchObject({ aud: RESOURCE, scope: "draw" });
    const same = (await exchange(refresh_token)).body;
    expect(decodeJwt(same.access_token)).toMatchObject({ aud: RESOURCE });
    expect(same.refresh_token).toBeUndefined();
  });

  it("a personal access token by exchange needs an end within a day, our API as its resource, and a client that nobody can delete", async () => {
    const ada = await signInWithCredits();
    const { refresh_token } = await connect(ada, { limits: limitsWith() });
    await openResource(RESOURCE);
    await registerClient("demo", "phone", { public: 1 });
    oauthServices().apps.forget();
    const registered = "demo~phone";
    const of_registered = await connect(ada, { client_id: registered, client_host: null });
    const of_resource = await connect(ada, {
      resource: RESOURCE,
      resource_app_slug: "demo",
      scopes: ["tools"],
    });
    const before = await rows(ada);
    const resources = await exchange(of_resource.refresh_token, { expires_in: 60 }, AS_PERSONAL);
    expect(resources).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    for (const [subject, limits, client_id, reason] of [
      [refresh_token, total(5), CLIENT_ID, "needs expires_in"],
      [refresh_token, { expires_in: 86_460 }, CLIENT_ID, "at most 86400 seconds"],
      [
        of_registered.refresh_token,
        { expires_in: 60 },
        registered,
        "Only a client with a document",
      ],
    ] as const) {
      const answer = await exchange(subject, limits, { ...PERSONAL, client_id });
      expect(answer).toMatchObject({ status: 400, body: { error: "invalid_request" } });
      expect(answer.body.error_description).toContain(reason);
    }
    expect(await rows(ada)).toEqual(before);
  });

  it("one that was replaced long ago ends its sign-in and all its children", async () => {
    const ada = await signIn();
    const first = await connect(ada);
    const child = await narrow(first.refresh_token, total(1));
    const second = (await refresh(first.refresh_token)).body;
    const third = (await refresh(second.refresh_token)).body;
    const late = await exchange(first.refresh_token, total(1));
    expect(late).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    for (const { refresh_token } of [third, child]) {
      expect((await refresh(refresh_token)).body.error).toBe("invalid_grant");
    }
    expect((await withToken(child.access_token, "GET", "/api/wallet")).status).toBe(401);
  });
});
