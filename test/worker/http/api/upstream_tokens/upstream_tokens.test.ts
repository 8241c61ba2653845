import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { connect } from "../../../support/connected.ts";
import { fakeUpstream, providers } from "../../../support/upstream.ts";
import { getToken, tokenId } from "../../../support/device_logins.ts";
import { send, signIn } from "../../../support/passbook.ts";

const FAMILY = "http://localhost:3000";

async function connected() {
  const tokens = fakeUpstream().grant(3600);
  return { ada: await connect(tokens), token: tokens.access_token };
}

describe("GET /api/oauthToken/{provider}", () => {
  it("needs a caller", async () => {
    const answer = await send("GET", "/api/oauthToken/acme");
    expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer");
  });

  it("gives the token to the family's pages with a cookie, and lets them read it", async () => {
    const { ada, token } = await connected();
    const headers = { Cookie: ada.cookies, Origin: FAMILY };
    const answer = await send("GET", "/api/oauthToken/acme", { headers }, providers());
    expect(answer).toMatchObject({ status: 200, body: { token } });
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe(FAMILY);
    expect(answer.headers.get("Access-Control-Allow-Credentials")).toBe("true");
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  });

  it("gives a cookie from a stranger's page nothing", async () => {
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
        const answer = await send("GET", path, { headers }, settings);
        expect(answer).toMatchObject({ status: 403, body: { code: "origin_not_allowed" } });
        expect(answer.headers.get("Access-Control-Allow-Origin")).toBeNull();
      }
    }
  });

  it("gives the token to a client with a cookie that is no browser", async () => {
    const { ada, token } = await connected();
    const headers = { Cookie: ada.cookies };
    const answer = await send("GET", "/api/oauthToken/acme", { headers }, providers());
    expect(answer).toMatchObject({ status: 200, body: { token } });
  });

  it("gives a caller whose session was ended nothing, though the JWT still verifies", async () => {
    const { ada } = await connected();
    await env.DIRECTORY.exec("DELETE FROM sessions");
    expect((await ada.get("/api/wallet")).status).toBe(200);
    expect(await ada.oauthToken()).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    const social = await ada.get("/api/socialToken");
    expect(social).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });

  it("gives a caller whose session ran out nothing", async () => {
    const { ada } = await connected();
    await env.DIRECTORY.exec("UPDATE sessions SET expires_at_ms = 1");
    expect((await ada.oauthToken()).status).toBe(401);
  });

  it("takes another person's living session for no session of the caller", async () => {
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

  it("gives the token of the provider that the settings name", async () => {
    const { ada, token } = await connected();
    const settings = { ...providers(), SOCIAL_PROVIDER: "acme" };
    expect(await social(ada.token, settings)).toMatchObject({ status: 200, body: { token } });
  });

  it("is 404 where nothing is held there, and where the settings name no provider", async () => {
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

  it("of the whole account gets the third party's token", async () => {
    const { ada, token } = await connected();
    const holder = await getToken(ada);
    expect(await ask(holder.token)).toMatchObject({ status: 200, body: { token } });
  });

  it.each([
    ["may only read", { scopes: ["read"] }],
    ["is limited to an app", { apps: ["demo"] }],
    ["has a spending cap", { cap: { credits: 5, period: "total" } }],
  ])("that %s does not: what it opens knows nothing of our limits", async (_, limits) => {
    const { ada } = await connected();
    const holder = await getToken(ada, limits);
    expect(await ask(holder.token)).toMatchObject({ status: 403, body: { code: "scope" } });
  });

  it("that was revoked gets nothing, nor does a session token made from it", async () => {
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
