import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  BASE_URL,
  environmentWith,
  send,
  signIn,
  signInWithCredits,
} from "../../support/passbook.ts";

const ALLOWED = "http://localhost:3000";
const FAMILY = environmentWith({
  ALLOWED_ORIGINS: "https://app.example.com,https://*.family.example,myapp://callback",
});

async function signInTo(redirect_to: string, environment: Env = env) {
  const body = new URLSearchParams({ email: "ada@example.com", redirect_to });
  return send("POST", "/signin/dev", { body }, environment);
}

async function countSessions(): Promise<number> {
  return (
    (await env.DIRECTORY.prepare("select count(*) as n from sessions").first<number>("n")) ?? 0
  );
}

const HOSTILE = [
  "//evil.example",
  "///evil.example",
  "/relative",
  "relative",
  "",
  " ",
  "https:evil.example",
  "https:/evil.example",
  "http://localhost:3000@evil.example/",
  "http://user@localhost:3000/",
  "http://user:pass@localhost:3000/",
  "http://:@localhost:3000/",
  "http://localhost:3000\\@evil.example/",
  "http:\\\\localhost:3000\\",
  "http://localhost:3000\\.evil.example",
  " http://localhost:3000/",
  "http://localhost:3000/\r\nSet-Cookie: a=b",
  "http://local\thost:3000/",
  "javascript:alert(1)",
  "javascript://localhost:3000/%0aalert(1)",
  "data:text/html,hi",
  "vbscript://localhost:3000",
  "file:///etc/passwd",
  "blob:http://localhost:3000/x",
  "view-source:http://localhost:3000/",
  "http://localhost",
  "http://localhost:3001/",
  "https://localhost:3000/",
  "http://localhost:3000.evil.example/",
  "http://evil.example/?http://localhost:3000",
  "http://evil.example#http://localhost:3000",
  "http://localhost.evil.example:3000/",
  "http://xlocalhost:3000/",
  "http://127.0.0.1:3000/",
  "http://[::1]:3000/",
  "http://lоcalhost:3000/",
  "ws://localhost:3000/",
  "ftp://localhost:3000/",
  "null",
  `http://localhost:3000/${"x".repeat(2_050)}`,
];

describe("redirect_to", () => {
  it("sign-in redirects to an allowed redirect_to with a token and keeps its own parameters", async () => {
    const landed = await signInTo(`${ALLOWED}/back?next=%2Fa#part`);
    expect(landed.status).toBe(303);
    const target = new URL(landed.headers.get("Location") ?? "");
    expect(target.origin + target.pathname).toBe(`${ALLOWED}/back`);
    expect(target.searchParams.get("next")).toBe("/a");
    expect(target.searchParams.get("token")).toMatch(/^ey/);
    expect(target.hash).toBe("#part");
    expect(landed.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(landed.headers.get("Cache-Control")).toBe("no-store");
  });

  it("sign-in replaces a token that redirect_to already has", async () => {
    const landed = await signInTo(`${ALLOWED}/?token=planted`);
    const { searchParams } = new URL(landed.headers.get("Location") ?? "");
    expect(searchParams.getAll("token")).toHaveLength(1);
    expect(searchParams.get("token")).not.toBe("planted");
  });

  it("sign-in adds no token to a redirect_to of the service's own origin", async () => {
    const landed = await signInTo(`${BASE_URL}/device`);
    expect(landed.headers.get("Location")).toBe(`${BASE_URL}/device`);
  });

  it.each(HOSTILE)("redirect_to %j gets 400 and starts no sign-in", async (redirect_to) => {
    const response = await signInTo(redirect_to);
    expect(response.status).toBe(400);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await countSessions()).toBe(0);
    const page = await send("GET", `/signin?redirect_to=${encodeURIComponent(redirect_to)}`);
    expect(page.status).toBe(400);
  });

  it.each([
    ["https://app.example.com/a", 303],
    ["https://app.example.com:443/a", 303],
    ["https://app.example.com:444/a", 400],
    ["http://app.example.com/a", 400],
    ["https://APP.example.com/a", 303],
    ["https://app.example.com./a", 400],
    ["https://one.family.example/", 303],
    ["https://two.one.family.example/", 303],
    ["https://family.example/", 400],
    ["https://one.family.example:8443/", 400],
    ["http://one.family.example/", 400],
    ["https://onefamily.example/", 400],
    ["https://one.family.example.evil.example/", 400],
    ["myapp://callback/done", 303],
    ["myapp://callback", 303],
    ["myapp://elsewhere", 400],
    ["otherapp://callback", 400],
    ["myapp:callback", 400],
  ])(
    "redirect_to %s gets %d with exact, wildcard and custom-scheme entries in the allowlist",
    async (url, status) => {
      expect((await signInTo(url, FAMILY)).status).toBe(status);
    },
  );

  it("a redirect_to of a registered app's origin is allowed", async () => {
    await env.DIRECTORY.prepare(
      "insert into apps (slug, name, starter_credits, origins_json, created_at_ms) values ('a', 'A', 0, ?, 0)",
    )
      .bind('["https://registered.example", 7, "*"]')
      .run();
    const environment = environmentWith({});
    expect((await signInTo("https://registered.example/x", environment)).status).toBe(303);
    expect((await signInTo("https://unregistered.example/x", environment)).status).toBe(400);
  });
});

describe("CORS", () => {
  const preflight = (origin: string) =>
    send("OPTIONS", "/api/jobs", {
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
      },
    });

  it("CORS allows an allowed origin to send credentials and the headers of the API", async () => {
    const { status, headers } = await preflight(ALLOWED);
    expect(status).toBe(204);
    expect(headers.get("Access-Control-Allow-Origin")).toBe(ALLOWED);
    expect(headers.get("Access-Control-Allow-Credentials")).toBe("true");
    const allowed = headers.get("Access-Control-Allow-Headers")?.toLowerCase();
    for (const name of ["authorization", "content-type", "idempotency-key"]) {
      expect(allowed).toContain(name);
    }
    expect(headers.get("Vary")).toContain("Origin");
  });

  it("error responses have CORS headers", async () => {
    const headers = { Origin: ALLOWED };
    for (const path of ["/api/wallet", "/api/nothing", "/api/jobs?limit=0"]) {
      const response = await send("GET", path, { headers });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe(ALLOWED);
      expect(response.headers.get("Vary")).toContain("Origin");
    }
  });

  it.each([
    "https://evil.example",
    "null",
    "http://localhost:3001",
    "http://localhost:3000.evil.example",
    "HTTP://LOCALHOST:3000/",
    "*",
  ])("the origin %j gets no CORS header", async (origin) => {
    for (const response of [
      await preflight(origin),
      await send("GET", "/api/wallet", { headers: { Origin: origin } }),
    ]) {
      expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
    }
  });
});

describe("a write with a cookie", () => {
  const body = JSON.stringify({ app: "demo", action: "draw", cost_estimate: 1 });

  it.each([
    ["from an allowed origin is accepted", { Origin: ALLOWED }, 200],
    ["from the service's own pages is accepted", { Origin: BASE_URL }, 200],
    [
      "without Origin is accepted if Sec-Fetch-Site is same-origin",
      { "Sec-Fetch-Site": "same-origin" },
      200,
    ],
    ["from another origin is refused", { Origin: "https://evil.example" }, 403],
    ["from an opaque origin is refused", { Origin: "null" }, 403],
    ["from a similar-looking origin is refused", { Origin: "http://localhost:30000" }, 403],
    [
      "without Origin is refused if Sec-Fetch-Site is same-site",
      { "Sec-Fetch-Site": "same-site" },
      403,
    ],
    [
      "without Origin is refused if Sec-Fetch-Site is cross-site",
      { "Sec-Fetch-Site": "cross-site" },
      403,
    ],
    ["without Origin and Sec-Fetch-Site is refused", {}, 403],
  ])("a cookie write %s", async (_, from, status) => {
    const ada = await signInWithCredits();
    const headers = { Cookie: ada.cookies, "Content-Type": "application/json", ...from };
    const response = await send("POST", "/api/jobs", { headers, body });
    expect(response.status).toBe(status);
    const { body: wallet } = await ada.get("/api/wallet");
    expect(wallet.account.credits).toBe(status === 200 ? 99 : 100);
  });

  it("GET /api/wallet?app= with a cookie requires an allowed origin, and GET /api/wallet does not", async () => {
    const ada = await signIn();
    const headers = { Cookie: ada.cookies, Origin: "https://evil.example" };
    expect((await send("GET", "/api/wallet?app=demo", { headers })).status).toBe(403);
    expect((await send("GET", "/api/wallet", { headers })).status).toBe(200);
    expect((await ada.get("/api/wallet")).body.apps).toEqual([]);
  });

  it("a write with a bearer token is accepted from every origin", async () => {
    const ada = await signInWithCredits();
    const headers = {
      Authorization: `Bearer ${ada.token}`,
      "Content-Type": "application/json",
      Origin: "https://evil.example",
    };
    expect((await send("POST", "/api/jobs", { headers, body })).status).toBe(200);
  });
});

describe("with D1 unavailable", () => {
  it("while D1 is unavailable, a bearer call from an unknown origin succeeds without CORS headers", async () => {
    const ada = await signInWithCredits();
    const down = () => {
      throw new Error("D1_ERROR: unreachable");
    };
    const environment = environmentWith({ DIRECTORY: { prepare: down, batch: down } });
    const headers = { Authorization: `Bearer ${ada.token}`, Origin: "https://unknown.example" };
    const response = await send("GET", "/api/wallet", { headers }, environment);
    expect(response.status).toBe(200);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
  });
});
