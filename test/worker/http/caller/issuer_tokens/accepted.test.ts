/** Which tokens of trusted issuers are accepted, and what they may do. */
import { describe, expect, it, vi } from "vitest";
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { HOLDER } from "../../../../../src/account/contract.ts";
import {
  APP_ORIGIN,
  openIssuer,
  trust,
  type IssuerDouble,
} from "../../../support/issuer_double.ts";
import { countedEnvironment } from "../../../support/bindings.ts";
import { BASE_URL, send, type Answer } from "../../../support/passbook.ts";

const ISSUER = "https://acme.test";

const withToken = (settings: object, token: string, path = "/api/wallet", method = "GET") =>
  send(method, path, { headers: { Authorization: `Bearer ${token}` } }, settings);

async function open(entry: object = {}): Promise<{ acme: IssuerDouble; settings: object }> {
  const acme = await openIssuer(ISSUER);
  return { acme, settings: trust([{ double: acme, entry }]) };
}

const identityOf = (wallet: Answer): string => wallet.body.account.identity_id;

function base64url(text: string): string {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const seconds = (): number => Math.floor(Date.now() / 1000);

describe("a token of a trusted issuer", () => {
  it.each(["RS256", "ES256", "EdDSA"] as const)(
    "a token signed with %s opens the wallet of its person, every time the same",
    async (alg) => {
      const acme = await openIssuer(ISSUER, alg);
      const settings = trust([{ double: acme }]);
      const first = await withToken(settings, await acme.token());
      expect(first.status).toBe(200);
      const again = await withToken(settings, await acme.token({ sid: "sess_2" }));
      expect(identityOf(again)).toBe(identityOf(first));
      const ben = await withToken(settings, await acme.token({ sub: "person-2" }));
      expect(identityOf(ben)).not.toBe(identityOf(first));
    },
  );

  it("jobs are created and completed with it", async () => {
    const { acme, settings } = await open();
    const headers = {
      Authorization: `Bearer ${await acme.token()}`,
      "Content-Type": "application/json",
    };
    await send("GET", "/api/wallet?app=demo", { headers }, settings);
    const body = JSON.stringify({ app: "demo", action: "draw", cost_estimate: 5 });
    const created = await send("POST", "/api/jobs", { headers, body }, settings);
    expect(created.status).toBe(200);
    const ending = JSON.stringify({ job_id: created.body.job_id, actual_cost: 2 });
    const ended = await send("POST", "/api/jobs/complete", { headers, body: ending }, settings);
    expect(ended.body.credits).toBe(98);
  });

  const WRONG: readonly [string, object, (acme: IssuerDouble) => Promise<string>][] = [
    ["an expired token", {}, (acme) => acme.token({ exp: seconds() - 10 })],
    ["a token without exp", {}, (acme) => acme.token({ exp: undefined })],
    ["a token that is not valid yet", {}, (acme) => acme.token({ nbf: seconds() + 60 })],
    ["a token that was issued in the future", {}, (acme) => acme.token({ iat: seconds() + 60 })],
    ["a subject that no database stores", {}, (acme) => acme.token({ sub: "a\ud800b" })],
    ["a token without a subject", {}, (acme) => acme.token({ sub: undefined })],
    ["a token with an empty subject", {}, (acme) => acme.token({ sub: "" })],
    ["a token of another issuer", {}, (acme) => acme.token({ iss: "https://other.test" })],
    ["an issuer with another slash", {}, (acme) => acme.token({ iss: `${ISSUER}/` })],
    ["a token without aud", { audience: "passbook" }, (acme) => acme.token()],
    ["another aud", { audience: "passbook" }, (acme) => acme.token({ aud: "other" })],
    ["an azp that is not allowed", {}, (acme) => acme.token({ azp: "https://evil.test" })],
    ["an azp that is no text", {}, (acme) => acme.token({ azp: [APP_ORIGIN] as never })],
    [
      "an azp that is not an authorized party",
      { authorized_parties: ["client-1"] },
      (acme) => acme.token(),
    ],
    [
      "no azp although there are authorized parties",
      { authorized_parties: ["client-1"] },
      (acme) => acme.token({ azp: undefined }),
    ],
    ["a token of an impersonator", {}, (acme) => acme.token({ act: { sub: "admin" } })],
    ["a token of another type", {}, (acme) => acme.token({}, { typ: "logout+jwt" })],
    [
      "HS256 with the public key as secret",
      {},
      (acme) =>
        acme.token(
          {},
          { alg: "HS256" },
          new TextEncoder().encode(JSON.stringify(acme.publicJwk())),
        ),
    ],
    [
      "the algorithm none",
      {},
      async (acme) => {
        const [, payload = ""] = (await acme.token()).split(".");
        return `${base64url(JSON.stringify({ alg: "none", typ: "JWT" }))}.${payload}.`;
      },
    ],
    [
      "a signature of another key under the same kid",
      {},
      async (acme) => {
        const other = await openIssuer(ISSUER);
        return other.token({}, { kid: acme.publicJwk().kid ?? "" });
      },
    ],
    [
      "a changed payload",
      {},
      async (acme) => {
        const [header, , signature] = (await acme.token()).split(".");
        const [, payload] = (await acme.token({ sub: "person-2" })).split(".");
        return `${header}.${payload}.${signature}`;
      },
    ],
  ];
  it.each(WRONG)("%s is 401 and reaches no store", async (_, entry, make) => {
    const { acme, settings } = await open(entry);
    const { environment, hops } = countedEnvironment();
    const both = { ...environment, ...settings };
    // The registry of apps, with its origins, is read once for each isolate and minute.
    const known = { ...entry, aud: "passbook", azp: "client-1" };
    const good = "authorized_parties" in entry || "audience" in entry ? known : {};
    await send("GET", "/api/wallet", { headers: { Origin: "https://evil.test" } }, both);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    const refused = await withToken(both, await make(acme));
    expect(refused.status).toBe(401);
    expect(["unauthorized", "token_expired"]).toContain(refused.body.code);
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
    // The same issuer's valid token is accepted, so the token was refused for its fault.
    const claims = "audience" in entry ? { aud: "passbook" } : good;
    expect((await withToken(both, await acme.token(claims))).status).toBe(200);
  });

  it("an expired token has the code token_expired, so that an app renews it", async () => {
    const { acme, settings } = await open();
    const refused = await withToken(settings, await acme.token({ exp: seconds() - 10 }));
    expect(refused.body.code).toBe("token_expired");
  });

  it("a token that the isolate has accepted is 401 once it has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { acme, settings } = await open();
    const token = await acme.token({ exp: seconds() + 60 });
    expect((await withToken(settings, token)).status).toBe(200);
    vi.advanceTimersByTime(70_000);
    const refused = await withToken(settings, token);
    expect(refused).toMatchObject({ status: 401, body: { code: "token_expired" } });
  });

  it("times are compared with a tolerance of 5 seconds", async () => {
    const { acme, settings } = await open();
    const late = await acme.token({ exp: seconds() - 3, nbf: seconds() + 3 });
    expect((await withToken(settings, late)).status).toBe(200);
  });

  it.each([1e13, 1e15, 1e306])(
    "the stream of a token that expires at %d ends within a day",
    async (exp) => {
      const { acme, settings } = await open();
      const token = await acme.token({ exp });
      const wallet = await withToken(settings, token);
      const headers = { Authorization: `Bearer ${token}`, Upgrade: "websocket" };
      const opened = await send("GET", "/api/events", { headers }, settings);
      expect(opened.status).toBe(101);
      const account = env.ACCOUNT.getByName(identityOf(wallet));
      const alarm = await runInDurableObject(account, (_, { storage }) => storage.getAlarm());
      expect(alarm ?? Infinity).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000);
    },
  );

  it("a token without azp is accepted if the entry has no authorized parties", async () => {
    const { acme, settings } = await open();
    const token = await acme.token({ azp: undefined });
    expect((await withToken(settings, token)).status).toBe(200);
  });

  it("an azp that is no origin is accepted if it is an authorized party", async () => {
    const { acme, settings } = await open({ authorized_parties: ["client-1"] });
    expect((await withToken(settings, await acme.token({ azp: "client-1" }))).status).toBe(200);
  });

  it.each([
    ["no azp", undefined, {}],
    ["the id of a client as azp", "client-1", { authorized_parties: ["client-1"] }],
    ["our own origin as azp", BASE_URL, {}],
    [
      "the origin of no app as azp",
      "https://other.example",
      { authorized_parties: ["https://other.example"] },
    ],
  ])(
    "a token with %s may be of any app, so a person who stops an app stops it",
    async (_, azp, entry) => {
      const { acme, settings } = await open(entry);
      const headers = {
        Authorization: `Bearer ${await acme.token({ azp })}`,
        "Content-Type": "application/json",
      };
      const call = (method: string, path: string, body?: object) =>
        send(method, path, { headers, ...(body && { body: JSON.stringify(body) }) }, settings);
      const job = { app: "demo", action: "draw", cost_estimate: 5 };
      const identity_id = identityOf(await call("GET", "/api/wallet?app=demo"));
      const own = (await call("POST", "/api/jobs", job)).body.job_id;
      const other = (await call("POST", "/api/jobs", { ...job, app: "sketch" })).body.job_id;
      const account = env.ACCOUNT.getByName(identity_id);
      await account.stopApp(HOLDER, { slug: "demo", started_jobs: "keep" });
      const stopped = { status: 403, body: { code: "app_stopped" } };
      expect(await call("GET", "/api/wallet")).toMatchObject(stopped);
      expect(await call("GET", "/api/ledger")).toMatchObject(stopped);
      expect(await call("POST", "/api/jobs", { ...job, app: "sketch" })).toMatchObject(stopped);
      expect(await call("POST", "/api/access/apps/demo/allow")).toMatchObject(stopped);
      expect((await call("GET", "/api/me")).status).toBe(200);
      for (const job_id of [own, other]) {
        const completed = await call("POST", "/api/jobs/complete", { job_id, actual_cost: 1 });
        expect([completed.status, completed.body.credits]).toEqual([200, null]);
      }
      await account.allowApp(HOLDER, "demo");
      expect((await call("GET", "/api/wallet")).status).toBe(200);
      const whole = await call("GET", "/api/access");
      expect(whole).toMatchObject({ status: 403, body: { code: "scope" } });
    },
  );

  it("a token is refused in the development log with the claims to compare", async () => {
    const { acme, settings } = await open();
    const refused = await withToken(settings, await acme.token({ azp: "https://evil.test" }));
    expect(refused.body.error).toContain("TRUSTED_ISSUERS");
  });

  it("a token is never accepted as a cookie", async () => {
    const { acme, settings } = await open();
    const token = await acme.token();
    const headers = { Cookie: `passbook_token=${token}; passbook_session=${"a".repeat(43)}` };
    expect((await send("GET", "/api/wallet", { headers }, settings)).status).toBe(401);
  });

  it("a token without entry in TRUSTED_ISSUERS is 401 and nothing is fetched", async () => {
    const acme = await openIssuer(ISSUER);
    trust([{ double: acme }]);
    const none = { TRUSTED_ISSUERS: "[]" };
    expect((await withToken(none, await acme.token())).status).toBe(401);
    expect(acme.reads()).toBe(0);
  });
});

describe("the rights of a token of a trusted issuer", () => {
  it("a token gets no operator rights, even if its person is an operator", async () => {
    const { acme, settings } = await open();
    const token = await acme.token();
    const identity_id = identityOf(await withToken(settings, token));
    const operating = { ...settings, OPERATORS: identity_id };
    const refused = await withToken(operating, token, "/api/admin/accounts");
    expect(refused.status).toBe(403);
    expect(refused.body.code).toBe("not_operator");
    expect((await withToken(operating, token, "/api/me")).body.operator).toBe(false);
  });

  it("a token approves no device login", async () => {
    const { acme, settings } = await open();
    const started = await send("POST", "/api/device/start", {}, settings);
    const headers = {
      Authorization: `Bearer ${await acme.token()}`,
      "Content-Type": "application/json",
    };
    const body = JSON.stringify({ user_code: started.body.user_code });
    const refused = await send("POST", "/api/device/complete", { headers, body }, settings);
    expect(refused.status).toBe(401);
  });

  it("a token gets no upstream tokens unless its entry allows it", async () => {
    const { acme, settings } = await open();
    const refused = await withToken(settings, await acme.token(), "/api/oauthToken/github");
    expect(refused.status).toBe(403);
    expect(refused.body.code).toBe("scope");
    const allowed = trust([{ double: acme, entry: { upstream: true } }]);
    const none = await withToken(allowed, await acme.token(), "/api/oauthToken/github");
    expect(none.body.code).toBe("token_not_found");
  });

  it("/api/sessionToken returns the token itself, and no token of a template", async () => {
    const { acme, settings } = await open();
    const templates = JSON.stringify({ other: { audience: "other", ttl_seconds: 60, claims: {} } });
    const with_templates = { ...settings, TOKEN_TEMPLATES: templates };
    const token = await acme.token();
    const answer = await withToken(with_templates, token, "/api/sessionToken");
    expect(answer.body).toEqual({ token });
    const template = await withToken(with_templates, token, "/api/sessionToken?template=other");
    expect(template.status).toBe(404);
  });

  it("/api/sessionToken with an expired token is 401 with a signin_url", async () => {
    const { acme, settings } = await open();
    const expired = await acme.token({ exp: seconds() - 10 });
    const refused = await withToken(settings, expired, "/api/sessionToken");
    expect(refused.status).toBe(401);
    expect(refused.body.signin_url).toContain("/signin");
  });

  it("/api/socialMe sends a token of a trusted issuer to no other server", async () => {
    const { acme, settings } = await open();
    const social = { ...settings, SOCIAL_API_URL: "https://social.test/me" };
    const refused = await withToken(social, await acme.token(), "/api/socialMe");
    expect(refused.status).toBe(400);
  });

  it("requests count against the rate limit of the identity", async () => {
    const { acme, settings } = await open();
    const keys: string[] = [];
    const limiter = {
      limit: async ({ key }: { key: string }) => (keys.push(key), { success: true }),
    };
    const limited = { ...settings, LIMIT_AUTHENTICATED: limiter };
    const wallet = await withToken(limited, await acme.token());
    const identity_id = identityOf(wallet);
    expect(keys).toEqual([`${ISSUER} person-1`, identity_id]);
    await withToken(limited, await acme.token());
    expect(keys).toEqual([`${ISSUER} person-1`, identity_id, identity_id]);
  });
});

describe("the limit of a person whose identity is not known yet", () => {
  it("a person over the limit gets 429 before any query to a store", async () => {
    const { acme, settings } = await open();
    const { environment, hops } = countedEnvironment();
    const limiter = { limit: async () => ({ success: false }) };
    const both = { ...environment, ...settings, LIMIT_AUTHENTICATED: limiter };
    expect((await withToken(both, await acme.token({ azp: undefined }))).status).toBe(429);
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
  });
});

describe("the hops of a token of a trusted issuer", () => {
  it("after the first use in an isolate, a request makes one object call and no query, KV read or fetch", async () => {
    const { acme, settings } = await open();
    const { environment, hops } = countedEnvironment();
    const both = { ...environment, ...settings };
    await withToken(both, await acme.token(), "/api/wallet?app=demo");
    vi.mocked(globalThis.fetch).mockClear();
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    // Also a new token of the same person: some vendors issue one each minute.
    expect((await withToken(both, await acme.token({ sid: "sess_2" }))).status).toBe(200);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
    expect(globalThis.fetch).not.toHaveBeenCalled();
  });

  it("20 first requests at once make one person", async () => {
    const { acme, settings } = await open();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, index) => acme.token({ sid: `sess_${index}` })),
    );
    const wallets = await Promise.all(tokens.map((token) => withToken(settings, token)));
    expect(new Set(wallets.map(identityOf)).size).toBe(1);
    const people = await env.DIRECTORY.prepare("select count(*) as n from users").first("n");
    expect(people).toBe(1);
  });
});
