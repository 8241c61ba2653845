/** Rules for every address. The tests read the routes from the app, so they include new routes. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countedEnvironment } from "../support/bindings.ts";
import { getToken, tokenId } from "../support/device_logins.ts";
import { PACKAGES, RETURN_URL, SELLING } from "../payments/till.ts";
import { BASE_URL, signIn, signInWithCredits, send as sendTo } from "../support/passbook.ts";
import { API_ROUTES, expectOnEach, ROUTES, type Route } from "../support/routes.ts";

/** The routes that respond without a caller. A new one must be added here. */
const OPEN = [
  "GET /",
  "GET /.well-known/jwks.json",
  "GET /.well-known/oauth-authorization-server",
  "GET /.well-known/oauth-protected-resource",
  "GET /.well-known/openid-configuration",
  "GET /api/device/poll",
  "GET /api/socialMe",
  "GET /app-icons/:hash",
  "GET /favicon.ico",
  "GET /favicon.svg",
  "GET /healthz",
  "GET /oauth/authorize",
  "GET /oauth/authorize/icon",
  "GET /oauth/clients/command-line",
  "GET /oauth/clients/development/:client",
  "GET /readyz",
  "GET /signin",
  "GET /signin/:id",
  "GET /signin/callback/:id",
  "GET /signin/passkey/new",
  "GET /signin/passkey/recovery",
  "GET /theme.css",
  "POST /api/device/start",
  "POST /oauth/authorize",
  "POST /oauth/device_authorization",
  "POST /oauth/introspect",
  "POST /oauth/logout",
  "POST /oauth/register",
  "POST /oauth/revoke",
  "POST /oauth/token",
  "POST /register",
  "POST /signin/dev",
  "POST /webhooks/stripe",
];

/** Payments and passkeys: their routes exist only with these settings. */
const ALL_ROUTES = { ...SELLING, SIGNIN_METHODS: "providers,passkey" };

/** Sends requests to all routes. */
const send = (
  method: string,
  address: string,
  init: Parameters<typeof sendTo>[2] = {},
  settings: object = ALL_ROUTES,
) => sendTo(method, address, init, settings);

/** Settings with acme as the social network. */
const SOCIAL = { ...ALL_ROUTES, SOCIAL_PROVIDER: "acme" };

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const PROTECTED = API_ROUTES.filter((route) => !OPEN.includes(nameOf(route)));
const PROTECTED_WRITES = PROTECTED.filter(({ method }) => method !== "GET");
const JSON_BODY = { "Content-Type": "application/json" };
/** A body that every write accepts, so that only the caller is wrong. */
const JOB = {
  app: "demo",
  action: "draw",
  cost_estimate: 0,
  job_id: "018f0000-0000-7000-8000-000000000000",
  step: 1,
  actual_cost: 0,
};
const VALID_BODY = JSON.stringify({
  ...JOB,
  jobs: [JOB],
  package: PACKAGES[0]?.id,
  return_to: RETURN_URL,
});

function ask(
  { method, address }: Route,
  headers: Record<string, string> = {},
  settings: object = ALL_ROUTES,
) {
  return send(method, address, { headers }, settings);
}

/** `presented`: the request has a bearer token, so the challenge says that it is invalid (RFC 6750, section 3.1). */
function expectUnauthorized(
  { status, headers, body }: Awaited<ReturnType<typeof ask>>,
  { presented = false } = {},
): void {
  expect(status).toBe(401);
  expect(body).toMatchObject({ error: expect.any(String), code: "unauthorized" });
  const challenge = headers.get("WWW-Authenticate") ?? "";
  expect(challenge).toMatch(presented ? /^Bearer error="invalid_token"/ : /^Bearer/);
  if (!presented) expect(challenge).not.toContain("error=");
}

/** An environment in which every rate limit is reached. */
function limited(environment: object): object {
  const limiter = { limit: async () => ({ success: false }) };
  const names = Object.keys(env).filter((name) => name.startsWith("LIMIT_"));
  return {
    ...environment,
    ...ALL_ROUTES,
    ...Object.fromEntries(names.map((name) => [name, limiter])),
  };
}

describe("the app's routes", () => {
  it("only the listed routes respond without a caller", async () => {
    const open: string[] = [];
    for (const route of ROUTES) {
      const { status, headers } = await ask(route);
      const signs_in_first = status === 303 && /\/signin\?/.test(headers.get("Location") ?? "");
      if (![401, 403].includes(status) && !signs_in_first) open.push(nameOf(route));
    }
    expect(open.toSorted()).toEqual(OPEN);
    expect(PROTECTED.length).toBeGreaterThan(10);
  });
});

describe("without a caller", () => {
  it("every protected route without a caller gets 401 with WWW-Authenticate", async () => {
    await expectOnEach(PROTECTED, async (route, network) =>
      expectUnauthorized(await ask(route, network)),
    );
  });
});

describe("an invalid credential", () => {
  it("every protected route refuses every invalid credential", async () => {
    const ada = await signIn();
    const holder = await getToken(ada);
    const personal = holder.token;
    const revoked = await getToken(ada);
    await revoked.revoke(await tokenId(revoked));
    const jwt_cookie = ada.cookies.split("; ").find((pair) => pair.startsWith("passbook_token="));
    const [head, payload] = ada.token.split(".");
    const unknown_session = "A".repeat(43);
    const invalid: readonly Record<string, string>[] = [
      { Authorization: "" },
      { Authorization: `Basic ${btoa("ada:secret")}` },
      { Authorization: `Bearer ${head}.${payload}.${unknown_session}${unknown_session}` },
      { Authorization: `Bearer ${ada.token} ${ada.token}` },
      { Authorization: `Bearer pb_pat_${ada.token}` },
      { Authorization: `Bearer ${personal.slice("pb_pat_".length)}` },
      { Authorization: `Bearer ${revoked.token}` },
      { Cookie: `passbook_session=${unknown_session}` },
      { Cookie: `passbook_session=${personal}; passbook_token=${personal}` },
      { Cookie: `passbook_session=${ada.token}` },
      { Cookie: jwt_cookie ?? "" },
      { Cookie: `${jwt_cookie}; passbook_session=${unknown_session}` },
      // A valid cookie does not make up for an invalid bearer token.
      { Cookie: ada.cookies, Origin: BASE_URL, Authorization: "Bearer x" },
    ];
    await expectOnEach(PROTECTED, async (route, network) => {
      for (const headers of invalid) {
        const init = route.method === "POST" ? { body: VALID_BODY } : {};
        const sent = { ...init, headers: { ...JSON_BODY, ...network, ...headers } };
        // Without a provider for the social network, no token is looked up.
        const presented = (headers["Authorization"] ?? "").startsWith("Bearer ");
        expectUnauthorized(await send(route.method, route.address, sent, SOCIAL), { presented });
      }
    });
  });
});

describe("a write with a cookie", () => {
  const foreign: readonly Record<string, string>[] = [
    {},
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: `${BASE_URL}.evil.example` },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "cross-site" },
    { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" },
  ];

  it("every route refuses a cookie write from a page of an origin that is not allowed", async () => {
    const { cookies } = await signIn();
    await expectOnEach(PROTECTED_WRITES, async (route, network) => {
      for (const from of foreign) {
        const response = await ask(route, { ...JSON_BODY, ...network, ...from, Cookie: cookies });
        expect(response.status).toBe(403);
        // A non-operator is refused before anything else.
        const refusals = ["origin_not_allowed", "not_operator"];
        expect(refusals.slice(0, route.path.startsWith("/api/admin/") ? 2 : 1)).toContain(
          response.body.code,
        );
        expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
      }
    });
  });

  // A webhook is authenticated by its signature, and OAuth clients by tokens and secrets, not by a cookie. A posted
  // request to authorize or to sign out is only redirected to its page.
  const forms = ROUTES.filter(
    ({ method, path }) =>
      method === "POST" &&
      !/^\/(?:(?:api|webhooks)\/|register$)/.test(path) &&
      !/^\/oauth\/(authorize|logout|token|revoke|introspect|userinfo|register|device_authorization)$/.test(
        path,
      ),
  );

  it("every page refuses a form from a page of an origin that is not allowed", async () => {
    const { cookies } = await signIn();
    await expectOnEach(forms, async (route, network) => {
      for (const from of foreign) {
        // The development form accepts clients that are not browsers, because they have no cookies to abuse.
        if (route.path === "/signin/dev" && Object.keys(from).length === 0) continue;
        const body = new URLSearchParams({ email: "eve@example.com" });
        const init = { body, headers: { ...network, ...from, Cookie: cookies } };
        const response = await send(route.method, route.address, init);
        expect(response).toMatchObject({ status: 403, body: { code: "origin_not_allowed" } });
        expect(response.headers.getSetCookie()).toEqual([]);
      }
      // The session has not ended.
      const account = { headers: { ...network, Cookie: cookies } };
      expect((await send("GET", "/account", account)).status).toBe(200);
    });
  });
});

describe("a response to an origin that is not allowed", () => {
  it("no route gives a CORS header to an origin that is not allowed", async () => {
    const { cookies } = await signIn();
    await expectOnEach(API_ROUTES, async (route, network) => {
      // A browser sends both headers from a page of another origin.
      const from = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
      const response = await ask(route, { ...from, ...network, Cookie: cookies });
      expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
      expect(response.headers.get("Access-Control-Allow-Credentials")).toBeNull();
      expect(response.headers.get("Vary")).toContain("Origin");
    });
  });
});

describe("a read-only token for one app", () => {
  it("a read-only token for one app writes nothing and sees nothing of other apps on any route", async () => {
    const ada = await signInWithCredits("demo");
    await ada.get("/api/wallet?app=secret-app");
    const job = { app: "secret-app", action: "secret-act", cost_estimate: 1 };
    const { job_id } = (await ada.post("/api/jobs", job)).body;
    const full = await getToken(ada, {}, { client_name: "secret-device" });
    const small = await getToken(ada, { scopes: ["read"], apps: ["demo"] });
    const id = await tokenId(full);
    for (const route of PROTECTED.filter(({ path }) => path !== "/api/events")) {
      for (const parameter of [job_id, id, "acme"]) {
        const address = route.path.replace(/:\w+/, parameter);
        const bodies = [
          { job_id, actual_cost: 0 },
          { app: "demo", action: "a", cost_estimate: 0 },
        ];
        for (const body of route.method === "POST" ? bodies : [null]) {
          const headers = { ...JSON_BODY, Authorization: `Bearer ${small.token}` };
          const init = { headers, ...(body === null ? {} : { body: JSON.stringify(body) }) };
          const response = await send(route.method, address, init);
          if (route.method !== "GET") expect([400, 401, 403]).toContain(response.status);
          expect(response.text).not.toMatch(/secret/);
          expect(response.text).not.toContain(job_id);
          expect(response.text).not.toContain(id);
        }
      }
    }
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({ status: "started" });
    expect((await full.get("/api/wallet")).status).toBe(200);
  });
});

describe("with every limit reached", () => {
  it("no protected route queries a store if every limit is reached", async () => {
    const ada = await signIn();
    const holder = await getToken(ada);
    const { environment, hops } = countedEnvironment();
    const settings = limited(environment);
    // The isolate's copy of the registry says which apps a page belongs to. It is read once a minute.
    const first = { headers: { Authorization: `Bearer ${ada.token}` } };
    await send("GET", "/api/wallet", first, settings);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    await expectOnEach(PROTECTED, async (route) => {
      for (const headers of [
        { Authorization: `Bearer ${ada.token}` },
        { Authorization: `Bearer ${holder.token}` },
        { Cookie: ada.cookies, Origin: BASE_URL },
        { Cookie: `passbook_session=${"A".repeat(43)}`, Origin: BASE_URL },
      ]) {
        const response = await ask(route, { ...JSON_BODY, ...headers }, settings);
        // A personal token is refused with 401 before it is counted, on routes that it may never use.
        if (response.status !== 401) {
          expect(response).toMatchObject({ status: 429, body: { code: "rate_limited" } });
          expect(response.headers.get("Retry-After")).toMatch(/^\d+$/);
        }
      }
      const made = { ...hops };
      Object.assign(hops, { account: 0, d1: 0, kv: 0 });
      expect(made).toEqual({ account: 0, d1: 0, kv: 0 });
    });
  });

  // An icon's address reads the registry of apps, at most once a minute in each isolate, and never another store.
  const without_limit = ["/readyz", "/app-icons/:hash"];
  const others = ROUTES.filter(
    (route) => !PROTECTED.includes(route) && !without_limit.includes(route.path),
  );

  it("no other route queries a store for a cookie or a body if every limit is reached", async () => {
    const { cookies } = await signIn();
    const { environment, hops } = countedEnvironment();
    const settings = limited(environment);
    await expectOnEach(others, async (route) => {
      const body = route.method === "POST" ? new URLSearchParams({ email: "a@example.com" }) : null;
      await send(route.method, route.address, { body, headers: { Cookie: cookies } }, settings);
      await send(route.method, route.address, { headers: { Origin: BASE_URL } }, settings);
      const made = { ...hops };
      Object.assign(hops, { account: 0, d1: 0, kv: 0 });
      expect(made).toEqual({ account: 0, d1: 0, kv: 0 });
    });
  });
});

describe("every response", () => {
  const private_prefixes = ["/api/", "/account", "/console", "/device", "/signin", "/signout"];

  it("every route has headers against framing, sniffing and scripts", async () => {
    await expectOnEach(ROUTES, async (route, network) => {
      const { headers } = await ask(route, { ...network, Accept: "text/html" });
      expect(headers.get("Content-Security-Policy")).toContain("default-src 'none'");
      expect(headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("Content-Security-Policy")).not.toContain("unsafe");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Referrer-Policy")).toMatch(/^(same-origin|no-referrer)$/);
      if (private_prefixes.some((prefix) => route.path.startsWith(prefix))) {
        expect(headers.get("Cache-Control")).toBe("no-store");
      }
    });
  });
});

describe("outside development", () => {
  const settings = { ...SELLING, BASE_URL: "https://id.family.test", DEV_SIGNIN: "false" };
  /** These respond at any host and without valid settings, so that an operator can find a wrong setting. */
  const everywhere = ["/healthz", "/readyz"];
  const bound = ROUTES.filter(({ path }) => !everywhere.includes(path));

  it("outside development, every route responds only at its own host over https", async () => {
    await expectOnEach(bound, async (route) => {
      const to = (origin: string, headers = {}) =>
        send(route.method, `${origin}${route.address}`, { headers }, settings);
      expect((await to("https://other.test")).status).toBe(421);
      const bearer = { Authorization: "Bearer x" };
      expect(await to("http://id.family.test", bearer)).toMatchObject({
        status: 403,
        body: { code: "https_required" },
      });
      const { status, headers } = await to("http://id.family.test");
      const leads_on = route.method === "GET" && !route.path.startsWith("/api/");
      expect(status).toBe(leads_on ? 308 : 403);
      expect(headers.getSetCookie()).toEqual([]);
    });
  });
});
