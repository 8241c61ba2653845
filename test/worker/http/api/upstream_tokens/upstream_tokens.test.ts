import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { connect } from "../../../support/connected.ts";
import { fakeUpstream, providers } from "../../../support/upstream.ts";
import { getToken, tokenId } from "../../../support/device_logins.ts";
import { registerApp } from "../../../support/directory_outage.ts";
import { authorize, redeem, withToken } from "../../../support/oauth_clients.ts";
import { forgetEnvironments, send, signIn } from "../../../support/passbook.ts";
import { registerClient } from "../../../support/registrations.ts";

const FAMILY = "http://localhost:3000";

async function connected() {
  const tokens = fakeUpstream().grant(3600);
  return { ada: await connect(tokens), token: tokens.access_token };
}

describe("GET /api/oauthToken/{provider}", () => {
  it("/api/oauthToken requires a caller", async () => {
    const response = await send("GET", "/api/oauthToken/acme");
    expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(response.headers.get("WWW-Authenticate")).toMatch(/^Bearer resource_metadata=/);
  });

  it("/api/oauthToken gives the token to a page of an allowed origin with a cookie", async () => {
    const { ada, token } = await connected();
    const headers = { Cookie: ada.cookies, Origin: FAMILY };
    const response = await send("GET", "/api/oauthToken/acme", { headers }, providers());
    expect(response).toMatchObject({ status: 200, body: { token } });
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(FAMILY);
    expect(response.headers.get("Access-Control-Allow-Credentials")).toBe("true");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });

  it("/api/oauthToken refuses a cookie from a page of an origin that is not allowed", async () => {
    const { ada } = await connected();
    for (const from of [
      { Origin: "https://evil.example" },
      { Origin: "null" },
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
    ]) {
      const headers = { Cookie: ada.cookies, ...from } as Record<string, string>;
      for (const path of ["/api/oauthToken/acme", "/api/socialToken"]) {
        const settings = { ...providers(), SOCIAL_PROVIDER: "acme" };
        const response = await send("GET", path, { headers }, settings);
        expect(response).toMatchObject({ status: 403, body: { code: "origin_not_allowed" } });
        expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
      }
    }
  });

  it("/api/oauthToken gives the token to a program with a cookie", async () => {
    const { ada, token } = await connected();
    const headers = { Cookie: ada.cookies };
    const response = await send("GET", "/api/oauthToken/acme", { headers }, providers());
    expect(response).toMatchObject({ status: 200, body: { token } });
  });

  it("/api/oauthToken refuses a caller whose session has ended, even with a valid JWT", async () => {
    const { ada } = await connected();
    await env.DIRECTORY.exec("DELETE FROM sessions");
    expect((await ada.get("/api/wallet")).status).toBe(200);
    expect(await ada.oauthToken()).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    const social = await ada.get("/api/socialToken");
    expect(social).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });

  it("/api/oauthToken refuses a caller whose session has expired", async () => {
    const { ada } = await connected();
    await env.DIRECTORY.exec("UPDATE sessions SET expires_at_ms = 1");
    expect((await ada.oauthToken()).status).toBe(401);
  });

  it("/api/oauthToken refuses a token with the live session of another person", async () => {
    const { ada } = await connected();
    await signIn("eve@example.com");
    await env.DIRECTORY.prepare("UPDATE sessions SET user_id = 'someone' WHERE user_id = ?")
      .bind(ada.identity_id)
      .run();
    expect((await ada.oauthToken()).status).toBe(401);
  });
});

describe("GET /api/socialToken", () => {
  const social = (token: string, settings: Record<string, unknown>) =>
    send("GET", "/api/socialToken", { headers: { Authorization: `Bearer ${token}` } }, settings);

  it("/api/socialToken gives the token of the provider in the settings", async () => {
    const { ada, token } = await connected();
    const settings = { ...providers(), SOCIAL_PROVIDER: "acme" };
    expect(await social(ada.token, settings)).toMatchObject({ status: 200, body: { token } });
  });

  it("/api/socialToken gets 404 without a stored token and without a provider in the settings", async () => {
    const { ada } = await connected();
    for (const settings of [{ ...providers(), SOCIAL_PROVIDER: "other" }, providers()]) {
      expect(await social(ada.token, settings)).toMatchObject({
        status: 404,
        body: { error: expect.any(String), code: "token_not_found" },
      });
    }
  });
});

describe("a personal access token", () => {
  const ask = (token: string) =>
    send(
      "GET",
      "/api/oauthToken/acme",
      { headers: { Authorization: `Bearer ${token}` } },
      providers(),
    );

  it("a personal token with full access gets the upstream token", async () => {
    const { ada, token } = await connected();
    const holder = await getToken(ada);
    expect(await ask(holder.token)).toMatchObject({ status: 200, body: { token } });
  });

  it.each([
    ["may only read", { scopes: ["read"] }],
    ["is limited to an app", { apps: ["demo"] }],
    ["has a spending cap", { caps: [{ credits: 5, period: "total" }] }],
  ])("a personal token that %s gets no upstream token", async (_, limits) => {
    const { ada } = await connected();
    const holder = await getToken(ada, limits);
    expect(await ask(holder.token)).toMatchObject({ status: 403, body: { code: "scope" } });
  });

  it("an OAuth client gets only the tokens of the providers of its app, also through a session token", async () => {
    const { ada, token } = await connected();
    await registerApp("demo", {});
    await registerApp("other", {});
    const client = { client_id: "demo~web", client_host: null, scopes: ["read", "upstream"] };
    const code = await authorize(ada, client);
    await registerClient("demo", "web", { public: 1 });
    const { access_token } = (await redeem(code, { client_id: "demo~web" })).body;
    const session = await withToken(access_token, "GET", "/api/sessionToken");
    const setProviders = (slug: string, providers_json: string) =>
      env.DIRECTORY.prepare("update apps set upstream_providers_json = ? where slug = ?")
        .bind(providers_json, slug)
        .run();
    await setProviders("demo", '["network"]');
    await setProviders("other", '["acme"]');
    for (const bearer of [access_token, session.body.token]) {
      forgetEnvironments();
      expect(await ask(bearer)).toMatchObject({ status: 403, body: { code: "scope" } });
    }
    await setProviders("demo", '["acme"]');
    for (const bearer of [access_token, session.body.token]) {
      forgetEnvironments();
      expect(await ask(bearer)).toMatchObject({ status: 200, body: { token } });
    }
  });

  it("a revoked personal token and a session token made from it get no upstream token", async () => {
    const { ada } = await connected();
    const holder = await getToken(ada);
    const bound = (await holder.get("/api/sessionToken")).body.token;
    expect((await ask(bound)).status).toBe(200);
    await holder.revoke(await tokenId(holder));
    for (const dead of [holder.token, bound]) {
      expect(await ask(dead)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    }
    const renewed = await holder.get("/api/sessionToken");
    expect(renewed).toMatchObject({ status: 401, body: { signin_url: expect.any(String) } });
  });
});
