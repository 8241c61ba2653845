import { describe, expect, it, vi } from "vitest";
import { send, signInWithCredits } from "../../support/passbook.ts";

describe("headers of every response", () => {
  it.each([
    ["/api/wallet", 200],
    ["/api/jobs?limit=0", 400],
    ["/api/nothing", 404],
    ["/signin", 200],
    ["/theme.css", 200],
  ])("every response of %s has the security headers", async (path, status) => {
    const ada = await signInWithCredits();
    const response = await ada.get(path);
    expect(response.status).toBe(status);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
        "img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
      "cross-origin-opener-policy": path === "/signin" ? "unsafe-none" : "same-origin",
      "origin-agent-cluster": "?1",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-dns-prefetch-control": "off",
      "x-download-options": "noopen",
      "x-frame-options": "DENY",
      "x-permitted-cross-domain-policies": "none",
      "x-xss-protection": "0",
    });
    expect(headers["cache-control"]).toBe(
      path === "/theme.css" ? "public, max-age=300" : "no-store",
    );
    if (path.startsWith("/api")) expect(headers["vary"]).toBe("Origin");
  });

  it.each([
    ["/oauth/authorize", "unsafe-none"],
    ["/oauth/nothing", "unsafe-none"],
    ["/signin/callback/nothing", "unsafe-none"],
    ["/signinx", "same-origin"],
    ["/account", "same-origin"],
    ["/device", "same-origin"],
  ])(
    "the pages of an authorization in a popup keep its opener: %s has %s",
    async (path, policy) => {
      const { headers } = await send("GET", path, { headers: { Accept: "text/html" } });
      expect(headers.get("Cross-Origin-Opener-Policy")).toBe(policy);
    },
  );

  it.each([
    ["GET", "/api/wallet", 401],
    ["GET", "/api/nothing", 404],
    ["PUT", "/api/wallet", 405],
    ["OPTIONS", "/api/wallet", 204],
    ["GET", "/healthz", 200],
    ["GET", "/readyz", 200],
    ["GET", "/signin", 200],
    ["GET", "/account", 303],
    ["GET", "/nothing", 404],
  ])("every response of %s %s has a unique request id", async (method, path, status) => {
    const headers = { Origin: "http://localhost:3000", Accept: "text/html" };
    const ids = [];
    for (const _ of [1, 2]) {
      const response = await send(method, path, { headers });
      expect(response.status).toBe(status);
      ids.push(response.headers.get("Passbook-Request-Id"));
    }
    expect(ids[0]).toMatch(/^[0-9a-f-]{16,36}$/);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it("an internal error has the same request id in its header, its body and the log", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.spyOn(console, "log").mockImplementation(() => {});
    const ACCOUNT = {
      getByName() {
        throw new TypeError("no object can be reached");
      },
    };
    const ada = await signInWithCredits();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const response = await send("GET", "/api/wallet", { headers }, { ACCOUNT });
    const request_id = response.headers.get("Passbook-Request-Id");
    expect(response).toMatchObject({ status: 500, body: { code: "internal" } });
    expect(response.body.error).toContain(request_id);
    expect(logged.mock.calls.flat()).toContainEqual(
      expect.objectContaining({ event: "request", request_id, status: 500 }),
    );
  });

  it("a page of an allowed origin can read the request id and the rate limit headers", async () => {
    const headers = { Origin: "http://localhost:3000" };
    const response = await send("GET", "/api/wallet", { headers });
    const exposed = response.headers.get("Access-Control-Expose-Headers")?.split(",");
    const named = ["Passbook-Request-Id", "Retry-After", "RateLimit", "RateLimit-Policy"];
    expect(exposed).toEqual(expect.arrayContaining(named));
  });

  it("a refusal before sign-in has Cache-Control: no-store", async () => {
    const refused = await send("GET", "/api/wallet");
    expect(refused.headers.get("Cache-Control")).toBe("no-store");
    expect(refused.headers.get("X-Frame-Options")).toBe("DENY");
  });
});

describe("a list of jobs", () => {
  it("a list of jobs has the same bytes as its jobs serialised one by one, even with unusual metadata", async () => {
    const ada = await signInWithCredits();
    const odd = [
      `{"b":1,"1":2,"__proto__":{"x":null},"q":"\\"}null}\\u2028é"}`,
      `{}`,
      `{"deep":{"a":[1,-0,1e21,0.1]}}`,
      null,
    ];
    for (const metadata of odd) {
      const rest = metadata === null ? "" : `,"metadata":${metadata}`;
      const body = `{"app":"demo","action":"a\\"null}","cost_estimate":1${rest}}`;
      expect((await ada.post("/api/jobs", body)).status).toBe(200);
    }
    const list = await ada.get("/api/jobs?limit=3");
    expect(list.headers.get("Content-Type")).toBe("application/json");
    const { jobs, next_cursor } = list.body;
    const one_by_one = [];
    for (const { id } of jobs) one_by_one.push((await ada.get(`/api/jobs/${id}`)).text);
    expect(list.text).toBe(
      `{"jobs":[${one_by_one.join(",")}],"next_cursor":${JSON.stringify(next_cursor)}}`,
    );
    expect((await ada.get("/api/jobs")).body.jobs).toHaveLength(4);
  });
});
