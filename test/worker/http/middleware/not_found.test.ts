import { describe, expect, it } from "vitest";
import { send, signInWithCredits } from "../../support/passbook.ts";

describe("a method that a path does not allow", () => {
  it.each([
    ["POST", "/api/wallet", "GET, HEAD"],
    ["PUT", "/api/jobs", "GET, HEAD, POST"],
    ["DELETE", "/api/jobs/1", "GET, HEAD"],
    ["GET", "/api/jobs/complete/batch/none", null],
    ["GET", "/api/tokens/1", "DELETE, PATCH"],
    ["GET", "/api/device/start", "POST"],
    ["PATCH", "/api/device/complete", "POST"],
    ["PUT", "/.well-known/jwks.json", "GET, HEAD"],
  ])("%s %s gets 405 with Allow: %s", async (method, path, allow) => {
    const response = await send(method, path);
    expect(response.status).toBe(allow === null ? 404 : 405);
    expect(response.headers.get("Allow")).toBe(allow);
    if (allow !== null) expect(response.body).toMatchObject({ code: "method_not_allowed" });
  });

  it.each([
    ["GET", "/signout", "POST"],
    ["POST", "/account", "GET, HEAD"],
    ["GET", "/device/approve", "POST"],
  ])("a browser that sends %s %s gets a 405 page", async (method, path, allow) => {
    const response = await send(method, path, { headers: { Accept: "text/html" } });
    expect(response.status).toBe(405);
    expect(response.headers.get("Allow")).toBe(allow);
    expect(response.headers.get("Content-Type")).toContain("text/html");
    expect(response.text).toContain("<h1>");
  });

  it.each([
    ["GET", "/oauth/token", "POST"],
    ["PUT", "/oauth/revoke", "POST"],
    ["GET", "/oauth/introspect", "POST"],
    ["DELETE", "/oauth/userinfo", "GET, HEAD, POST"],
    ["PUT", "/oauth/authorize", "GET, HEAD, POST"],
    ["GET", "/oauth/token/x", null],
  ])("%s %s gets an error of OAuth with Allow: %s", async (method, path, allow) => {
    const response = await send(method, path);
    expect(response.status).toBe(allow === null ? 404 : 405);
    expect(response.headers.get("Allow")).toBe(allow);
    const expected = allow?.replaceAll(", ", " or ") ?? "There is nothing";
    const error_description = expect.stringContaining(expected);
    const code = allow === null ? "not_found" : "method_not_allowed";
    expect(response.body).toEqual({ error: "invalid_request", error_description, code });
  });

  it("a page of another origin can read that it used a wrong method at the token endpoint", async () => {
    const response = await send("GET", "/oauth/token", {
      headers: { Origin: "https://any.example" },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
  });

  it.each([
    [{ LIMIT_AUTHORIZE: { limit: async () => ({ success: false }) } }, 429, "slow_down"],
    [{ SIGNIN_PROVIDERS: "{" }, 500, "temporarily_unavailable"],
  ])(
    "below /oauth, other refusals are errors of OAuth too: %#",
    async (settings, status, error) => {
      const response = await send("GET", "/oauth/authorize", {}, settings);
      expect(response).toMatchObject({ status, body: { error } });
      expect(response.headers.has("Retry-After")).toBe(status === 429);
    },
  );

  it("a CORS preflight gets no 405", async () => {
    const headers = {
      Origin: "http://localhost:3000",
      "Access-Control-Request-Method": "POST",
    };
    expect((await send("OPTIONS", "/api/jobs", { headers })).status).toBe(204);
  });
});

describe("a missing field", () => {
  it.each([
    ["/api/jobs", { action: "draw", cost_estimate: 1 }, "app is missing."],
    ["/api/jobs", { app: "demo", cost_estimate: 1 }, "action is missing."],
    ["/api/jobs", { app: "demo", action: "draw" }, "cost_estimate is missing."],
    ["/api/jobs/complete", { actual_cost: 1 }, "job_id is missing."],
    ["/api/jobs/fail", {}, "job_id is missing."],
  ])("a missing field in %s is reported as missing", async (path, body, error) => {
    const ada = await signInWithCredits();
    const response = await ada.post(path, body);
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request", error } });
  });

  it("a field with a wrong value is not reported as missing", async () => {
    const ada = await signInWithCredits();
    const response = await ada.post("/api/jobs", { app: null, action: "draw", cost_estimate: 1 });
    expect(response.body.error).toMatch(/^app must be/);
  });

  it("a missing query parameter is reported as missing", async () => {
    const response = await send("GET", "/api/device/poll");
    expect(response).toMatchObject({ status: 400, body: { error: "device_code is missing." } });
  });
});
