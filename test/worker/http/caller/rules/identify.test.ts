import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import {
  authenticate,
  authenticateUserOrApp,
  identify,
} from "../../../../../src/http/caller/authenticate.ts";
import type { AppContext, AppEnvironment } from "../../../../../src/http/context.ts";
import { sharedCookieName } from "../../../../../src/identity/cookies.ts";

const HERE = "https://passbook.example";
const NOW_MS = 2_000_000_000_000;
const COOKIE = sharedCookieName(HERE, "passbook_token");
const SESSION = { kind: "session", session_id: "s1", azp: "https://app.example" };
const OF_FAMILY = { kind: "family", family_id: "f1", generation: 0, scopes: [] };

/** The claims of each genuine token, by its text. */
const TOKENS: Readonly<Record<string, object>> = {
  bound: { proof: SESSION, binding: "cookie 1" },
  other: { proof: SESSION, binding: "cookie 2" },
  unbound: { proof: SESSION, binding: null },
  of_token: {
    proof: { kind: "personal_token", credential: { kind: "allowance", allowance_id: "a1" } },
    binding: "cookie 1",
  },
};

/** Routes whose services accept everything, except what is changed. */
function open(changed: object = {}) {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
  const verified: string[] = [];
  const living: string[] = [];
  const verifierOf = (kind: string, claims: (token: string) => object | undefined) => ({
    verify: async (_: string, token: string) => {
      verified.push(`${kind} ${token}`);
      const known = token.endsWith("forged") ? undefined : claims(token);
      return known === undefined ? null : { identity_id: "ada", expires_at_ms: 7, ...known };
    },
    sign: async () => "new",
  });
  const services = {
    config: { cookie_domain: null, dev_signin: false },
    session_tokens: verifierOf("session", (token) => TOKENS[token]),
    personal_tokens: verifierOf("personal", () => ({ personal_token_id: "a1" })),
    access_tokens: verifierOf("access", () => ({ credential: OF_FAMILY, client_id: "demo~web" })),
    issuer_tokens: {
      names: (token: string) => token.startsWith("acme"),
      verify: async () => ({ party: null, issuer: { id: "acme", authorized_parties: null } }),
    },
    token_people: { known: () => "ben" },
    identity: { sessionBindings: async () => ["cookie 1"], resume: async () => ({ kind: "none" }) },
    apps: {
      slugsOfOrigin: async () => ["demo"],
      appOfKey: async () => ({ kind: "app", app_slug: "demo", key_hash: "hash" }),
      findClient: async () => ({ kind: "client" }),
    },
    note_app_key_use: () => null,
    limiters: () => ({ limit: async () => ({ success: true }) }),
    living_credentials: {
      has: () => true,
      add: (id: string) => void living.push(`accepted ${id}`),
      forget: (id: string) => void living.push(`refused ${id}`),
    },
    ...changed,
  };
  const app = new Hono<AppEnvironment>();
  app.use("*", async (context, next) => {
    context.set("base_url", HERE);
    context.set("services", services as never);
    context.set("request_id", "request 1");
    await next();
  });
  const show = (context: AppContext) => context.json(context.get("caller"));
  app.get("/identify", async (context) => context.json(await identify(context)));
  app.get("/people", authenticate, show);
  app.get("/people/refused", authenticate, (context) => context.json({}, 401));
  app.get("/both", authenticateUserOrApp, show);
  const waited: unknown[] = [];
  const execution = { waitUntil: (work: unknown) => void waited.push(work) } as never;
  const request = async (path: string, headers: Record<string, string> = {}) => {
    const response = await app.request(path, { headers }, {}, execution);
    const body: unknown = await response.json();
    return { status: response.status, body, cookies: response.headers.getSetCookie() };
  };
  return { request, verified, living, waited };
}

/** The caller of a request with these headers, what was verified, and the cookies of the response. */
async function callerOf(headers: Record<string, string>, changed: object = {}) {
  const { request, verified } = open(changed);
  const { body, cookies } = await request("/identify", headers);
  return { body, verified, cookies };
}

describe("the caller of a cookie", () => {
  it("a JWT cookie is accepted with the session cookie that it is bound to, for the page that sent it", async () => {
    const cookies = { Cookie: `${COOKIE}=bound` };
    const expected = { identity_id: "ada", via: "cookie", expires_at_ms: 7 };
    expect((await callerOf(cookies)).body).toMatchObject({
      value: { ...expected, proof: { session_id: "s1", azp: HERE } },
    });
    const Origin = "https://other.example";
    expect((await callerOf({ ...cookies, Origin })).body).toMatchObject({
      value: { ...expected, proof: { session_id: "s1", azp: Origin } },
    });
  });

  it.each([
    ["bound to another session cookie", "other"],
    ["bound to no session cookie", "unbound"],
    ["made from a personal token", "of_token"],
    ["not genuine", "forged"],
  ])(
    "a JWT cookie that is %s is not accepted, and does not hide a genuine one",
    async (_, token) => {
      const { body } = await callerOf({ Cookie: `${COOKIE}=${token}` });
      expect(body).toMatchObject({ ok: false, refusal: { code: "unauthorized" } });
      const both = await callerOf({ Cookie: `${COOKIE}=${token}; ${COOKIE}=bound` });
      expect(both.body).toMatchObject({ ok: true, value: { proof: { session_id: "s1" } } });
    },
  );

  it("without a session cookie no JWT cookie is checked", async () => {
    const identity = { sessionBindings: async () => [], resume: async () => ({ kind: "none" }) };
    const { body, verified } = await callerOf({ Cookie: `${COOKIE}=bound` }, { identity });
    expect(body).toMatchObject({ ok: false });
    expect(verified).toEqual([]);
  });

  it("a session that was looked up counts for a quarter of an hour, and gets a new JWT cookie", async () => {
    const session = { id: "s2", identity_id: "ben", binding: "cookie 3" };
    const resumed = { kind: "session", session, set_cookies: ["session=2"] };
    const identity = { sessionBindings: async () => [], resume: async () => resumed };
    const { body, cookies } = await callerOf({ Cookie: "session=1" }, { identity });
    expect(body).toMatchObject({
      value: { identity_id: "ben", via: "cookie", expires_at_ms: NOW_MS + 900_000 },
    });
    expect(cookies[0]).toBe("session=2");
    expect(cookies[1]).toContain(`${COOKIE}=new; `);
  });
});

describe("the caller of a bearer token", () => {
  it.each([
    ["a personal token", "pb_pat_x", ["personal pb_pat_x"], { kind: "personal_token" }],
    ["an access token", "pb_at_x", ["access pb_at_x"], { kind: "connection" }],
    ["a session token", "unbound", ["session unbound"], { kind: "session" }],
  ])(
    "%s is checked with the keys of its kind only, and cookies are not read",
    async (_, token, expected, proof) => {
      const headers = { Authorization: `Bearer ${token}`, Cookie: `${COOKIE}=bound` };
      const { body, verified } = await callerOf(headers);
      expect(verified).toEqual(expected);
      expect(body).toMatchObject({ ok: true, value: { via: "bearer", proof } });
    },
  );

  it("a token of a trusted issuer is a session of its app", async () => {
    const { body } = await callerOf({ Authorization: "Bearer acme-token" });
    const proof = { kind: "app_session", issuer_id: "acme" };
    expect(body).toMatchObject({ ok: true, value: { identity_id: "ben", via: "bearer", proof } });
  });

  it.each(["Bearer forged", "Bearer pb_pat_forged", "Bearer pb_at_forged", "Basic x", "Bearer"])(
    "the header %j is refused although the cookie is valid",
    async (Authorization) => {
      const { body, verified } = await callerOf({ Authorization, Cookie: `${COOKIE}=bound` });
      expect(body).toMatchObject({ ok: false, refusal: { code: "unauthorized" } });
      expect(verified).not.toContain("session bound");
    },
  );

  it("a token of a client that was deleted has ended", async () => {
    const apps = { findClient: async () => ({ kind: "unknown" }) };
    const { body } = await callerOf({ Authorization: "Bearer pb_at_x" }, { apps });
    expect(body).toMatchObject({ ok: false, refusal: { reason: "personal_token_ended" } });
  });

  it("an app's key is no person's credential, and an unknown key is refused as unknown", async () => {
    const { body } = await callerOf({ Authorization: "Bearer pb_app_x" });
    expect(body).toMatchObject({ ok: false, refusal: { code: "scope", reason: "app_key" } });
    const unknown = async () => ({ kind: "unknown" });
    const apps = { appOfKey: unknown, rereadForKey: unknown };
    const refused = await callerOf({ Authorization: "Bearer pb_app_x" }, { apps });
    expect(refused.body).toMatchObject({ ok: false, refusal: { code: "unauthorized" } });
  });
});

describe("a route that requires a caller", () => {
  const PERSONAL = { Authorization: "Bearer pb_pat_x" };
  const KEY = { Authorization: "Bearer pb_app_x" };
  const NAMED = { ...KEY, "Passbook-Identity": "ada" };
  const FULL = { limiters: () => ({ limit: async () => ({ success: false }) }) };

  it.each(["/people", "/both"])(
    "%s is for callers with a credential, within its limit",
    async (path) => {
      const { request } = open();
      expect(await request(path)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
      const caller = { identity_id: "ada", proof: { kind: "personal_token" } };
      expect(await request(path, PERSONAL)).toMatchObject({ status: 200, body: caller });
      expect(await open(FULL).request(path, PERSONAL)).toMatchObject({ status: 429 });
    },
  );

  it("a personal token counts as accepted after its request, unless the account refused it", async () => {
    const { request, living } = open();
    await request("/people", PERSONAL);
    await request("/people/refused", PERSONAL);
    expect(living).toEqual(["accepted a1", "refused a1"]);
  });

  it("an app's key acts in the account that its request names, on routes for apps only", async () => {
    const { request } = open();
    const account_caller = { kind: "app", app_slug: "demo" };
    expect(await request("/both", NAMED)).toMatchObject({
      status: 200,
      body: { identity_id: "ada", account_caller, via: "bearer" },
    });
    expect(await request("/people", NAMED)).toMatchObject({ status: 403, body: { code: "scope" } });
    expect(await open(FULL).request("/both", NAMED)).toMatchObject({ status: 429 });
  });

  it("the use of an app's key is noted, and the response does not wait for it", async () => {
    const written = new Promise(() => undefined);
    const noted: string[] = [];
    const note_app_key_use = (hash: string) => {
      noted.push(hash);
      return noted.length === 1 ? written : null;
    };
    const { request, waited } = open({ note_app_key_use });
    await request("/both", NAMED);
    await request("/both", NAMED);
    expect(noted).toEqual(["hash", "hash"]);
    expect(waited).toEqual([written]);
  });

  it("a key that no app has is refused and not noted, and counts for its network", async () => {
    const unknown = async () => ({ kind: "unknown" });
    const apps = { appOfKey: unknown, rereadForKey: unknown };
    const note_app_key_use = () => expect.fail("a use of an unknown key is noted");
    const { request } = open({ apps, note_app_key_use });
    expect(await request("/both", NAMED)).toMatchObject({ status: 401 });
    const full = open({ ...FULL, apps, note_app_key_use });
    expect(await full.request("/both", NAMED)).toMatchObject({ status: 429 });
    const rereadForKey = async () => ({ kind: "unreadable" });
    const down = open({ apps: { ...apps, rereadForKey }, note_app_key_use });
    expect(await down.request("/both", NAMED)).toMatchObject({ status: 503 });
  });

  it.each([
    ["no account", undefined, "identity_required"],
    ["an empty account", "", "identity_required"],
    ["an account with a space", "a b", "account_unknown"],
    ["an account with a letter beyond ASCII", "\u00e4", "account_unknown"],
    ["a longer account than any", "a".repeat(256), "account_unknown"],
  ])("an app's key that names %s is refused", async (_, identity, code) => {
    const headers = identity === undefined ? KEY : { ...KEY, "Passbook-Identity": identity };
    expect((await open().request("/both", headers)).body).toMatchObject({ code });
  });

  it("an app's key may name an account of 255 characters", async () => {
    const headers = { ...KEY, "Passbook-Identity": "a".repeat(255) };
    expect((await open().request("/both", headers)).status).toBe(200);
  });
});
