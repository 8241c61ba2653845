import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { openBrowser, tokenOf } from "../../support/browser.ts";
import { environmentWith, send } from "../../support/passbook.ts";

const OWN = "https://id.family.test";
const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };
const HTML = { Accept: "text/html" };

/** Someone signed in to a deployed service, and its settings with counted stores. */
async function deploy() {
  const acme = openProviderDouble("acme");
  const { environment, hops } = countedEnvironment();
  const settings = { ...environment, ...connect(acme), DEV_SIGNIN: "false", BASE_URL: OWN };
  const browser = openBrowser(settings);
  const token = tokenOf(await browser.signIn(acme, ADA));
  const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  Object.assign(hops, { account: 0, d1: 0, kv: 0 });
  return { settings, hops, bearer: { Authorization: `Bearer ${token}` }, cookies };
}

describe("outside development, another host", () => {
  it.each([
    "https://evil.example",
    "https://passbook.someone.workers.dev",
    "https://id.family.test:8443",
    "https://id.family.test.",
    "https://id.family.test.evil.example",
    "https://family.test",
    "https://localhost",
    "http://id.family.test:8080",
    "http://127.0.0.1:8787",
  ])(
    "outside development, requests to the host %s are refused without a query to a store",
    async (host) => {
      const { settings, hops, bearer, cookies } = await deploy();
      const json = { "Content-Type": "application/json" };
      for (const [method, path, headers] of [
        ["GET", "/api/wallet?app=demo", bearer],
        ["GET", "/api/sessionToken", { Cookie: cookies }],
        ["POST", "/api/jobs", { ...bearer, ...json }],
        ["POST", "/api/device/start", json],
        ["OPTIONS", "/api/jobs", { Origin: "http://localhost:3000" }],
        ["GET", "/.well-known/jwks.json", {}],
        ["GET", "/nothing", {}],
      ] as const) {
        const response = await send(method, `${host}${path}`, { headers }, settings);
        expect(response).toMatchObject({ status: 421, body: { code: "unknown_host" } });
        expect(response.headers.getSetCookie()).toEqual([]);
        expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
        expect(response.headers.get("Location")).toBeNull();
      }
      expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
    },
  );

  it("outside development, a browser at another host gets a page with the address of the service", async () => {
    const { settings } = await deploy();
    const page = await send("GET", "https://evil.example/signin", { headers: HTML }, settings);
    expect(page.status).toBe(421);
    expect(page.text).toContain("This is not our address");
    expect(page.text).toContain(`href="${OWN}"`);
    expect(page.text).not.toContain("/account");
    expect(page.text).toContain('href="/static/passbook.css');
  });
});

describe("plain http if BASE_URL is https", () => {
  const clear = OWN.replace("https:", "http:");

  it.each([
    "/signin?redirect_to=http%3A%2F%2Flocalhost%3A3000%2F",
    "/device?user_code=BCDF-GHJK",
    "/account",
    "/",
    "//evil.example/a?b=c",
    "/nothing/@evil.example",
  ])("if BASE_URL is https, opening %s redirects to the same path over https", async (path) => {
    const { settings, cookies } = await deploy();
    for (const method of ["GET", "HEAD"]) {
      const headers = { Cookie: cookies };
      const response = await send(method, `${clear}${path}`, { headers }, settings);
      expect(response.status).toBe(308);
      expect(response.headers.get("Location")).toBe(`${OWN}${path}`);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  it("if BASE_URL is https, plain-http bearer tokens, API calls and forms are refused", async () => {
    const { settings, hops, bearer, cookies } = await deploy();
    for (const [method, path, headers] of [
      ["GET", "/api/wallet?app=demo", bearer],
      ["GET", "/api/wallet", {}],
      ["GET", "/api/nothing", {}],
      ["GET", "/api", {}],
      ["HEAD", "/api/device/poll?device_code=x", {}],
      ["GET", "/api/sessionToken", { Cookie: cookies, Origin: "http://localhost:3000" }],
      ["POST", "/api/jobs", bearer],
      ["DELETE", "/api/tokens/1", bearer],
      ["OPTIONS", "/api/jobs", { Origin: "http://localhost:3000" }],
      ["GET", "/account", bearer],
      ["POST", "/signout", { Cookie: cookies, Origin: clear }],
      ["POST", "/account/signout-everywhere", { Cookie: cookies, Origin: clear }],
    ] as const) {
      const response = await send(method, `${clear}${path}`, { headers }, settings);
      expect(response.status).toBe(403);
      if (method !== "HEAD") expect(response.body.code).toBe("https_required");
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
    }
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
    const page = await send("POST", `${clear}/signout`, { headers: HTML }, settings);
    expect(page.text).toContain("This connection is not secure");
    expect((await send("GET", "/api/wallet", { headers: bearer }, settings)).status).toBe(200);
  });

  it("if BASE_URL is https, every https response has Strict-Transport-Security", async () => {
    const { settings, bearer } = await deploy();
    for (const [path, headers] of [
      ["/signin", {}],
      ["/account", {}],
      ["/api/wallet", bearer],
      ["/api/wallet", {}],
      ["/nothing", {}],
    ] as const) {
      const response = await send("GET", path, { headers }, settings);
      expect(response.headers.get("Strict-Transport-Security")).toBe("max-age=31536000");
    }
    // RFC 6797, section 7.2: not in clear.
    const redirect = await send("GET", `${clear}/signin`, {}, settings);
    expect(redirect.headers.get("Strict-Transport-Security")).toBeNull();
  });

  it("if BASE_URL is http, no response has Strict-Transport-Security", async () => {
    const settings = { DEV_SIGNIN: "false", BASE_URL: "http://localhost:8787" };
    const response = await send("GET", "/signin", {}, settings);
    expect(response.status).toBe(200);
    expect(response.headers.get("Strict-Transport-Security")).toBeNull();
  });

  it("in development, no response has Strict-Transport-Security", async () => {
    const response = await send("GET", "https://localhost:8787/signin");
    expect(response.status).toBe(200);
    expect(response.headers.get("Strict-Transport-Security")).toBeNull();
  });
});

describe("the development sign-in", () => {
  const signInAt = (origin: string, settings = {}) =>
    send(
      "POST",
      `${origin}/signin/dev`,
      { headers: { Origin: origin }, body: new URLSearchParams({ email: "ada@example.com" }) },
      settings,
    );
  const countUsers = () => env.DIRECTORY.prepare("select count(*) as n from users").first("n");

  it.each([
    "http://evil.example:8787",
    "http://localhost.evil.example:8787",
    "http://evil-localhost:8787",
    "http://192.168.0.2:8787",
    "http://0.0.0.0:8787",
    "http://127.0.0.1.evil.example:8787",
    "http://localhost.:8787",
    "https://passbook.example",
  ])(
    "development sign-in is refused at %s, a name that anyone can point at this machine",
    async (origin) => {
      for (const settings of [{}, environmentWith({ BASE_URL: "http://localhost:8787" })]) {
        const response = await signInAt(origin, settings);
        expect(response).toMatchObject({ status: 403, body: { code: "loopback_required" } });
        expect(response.headers.getSetCookie()).toEqual([]);
        expect(await countUsers()).toBe(0);
        const page = await send("GET", `${origin}/signin`, {}, settings);
        expect(page.text).not.toContain("/signin/dev");
      }
    },
  );

  it.each([
    "http://localhost:8787",
    "http://127.0.0.1:8787",
    "http://[::1]:8787",
    "http://passbook.localhost:8787",
  ])("development sign-in works at %s", async (origin) => {
    expect((await signInAt(origin)).status).toBe(303);
    expect((await send("GET", `${origin}/signin`)).text).toContain("/signin/dev");
  });
});
