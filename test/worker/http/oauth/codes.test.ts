import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { earlyInAMinute, passTime } from "../../support/clock.ts";
import {
  authorize,
  challengeOf,
  CLIENT_ID,
  codeForm,
  connect,
  post,
  redeem,
  refresh,
  RESOURCE,
  VERIFIER,
  withToken,
} from "../../support/oauth_clients.ts";
import { send, signIn } from "../../support/passbook.ts";
import { openResource } from "../../support/registrations.ts";

const walletStatus = async (access_token: string): Promise<number> =>
  (await withToken(access_token, "GET", "/api/wallet")).status;

describe("a code", () => {
  it("a public client redeems a code with its verifier and gets tokens of our API", async () => {
    const ada = await signIn();
    const before_s = Math.floor(Date.now() / 1000);
    const code = await authorize(ada, { nonce: "n-1", auth_time_ms: 5_000 });
    const { status, body, headers } = await redeem(code);
    expect(status).toBe(200);
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(body).toEqual({
      access_token: expect.stringMatching(/^pb_at_/),
      token_type: "Bearer",
      expires_in: 540,
      refresh_token: expect.stringMatching(/^pb_rt_/),
      scope: "openid offline_access write",
      id_token: expect.any(String),
      authorization_details: [
        { type: "passbook_spending", caps: [], expires_in: expect.closeTo(7_776_000, -1) },
      ],
    });
    const claims = decodeJwt(body.id_token);
    expect(claims).toMatchObject({
      sub: ada.identity_id,
      aud: CLIENT_ID,
      nonce: "n-1",
      auth_time: 5,
    });
    expect(claims.iat).toBeGreaterThanOrEqual(before_s);
    expect(claims).not.toHaveProperty("name");
    expect(await walletStatus(body.access_token)).toBe(200);
  });

  it("of 100 concurrent redemptions of one code one succeeds, and its tokens stay valid", async () => {
    await earlyInAMinute();
    const code = await authorize(await signIn());
    const answers = await Promise.all(Array.from({ length: 100 }, () => redeem(code)));
    const [winner, ...others] = answers.toSorted((one, other) => one.status - other.status);
    expect(winner?.status).toBe(200);
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([400, 429]));
    expect(await walletStatus(winner?.body.access_token)).toBe(200);
    expect((await refresh(winner?.body.refresh_token)).status).toBe(200);
  });

  it("a code that its client uses again after 30 seconds ends the tokens of the first use", async () => {
    const code = await authorize(await signIn());
    const { body } = await redeem(code);
    passTime(30_000);
    expect(await walletStatus(body.access_token)).toBe(200);
    const again = await redeem(code);
    expect(again.status).toBe(400);
    expect(again.body.error).toBe("invalid_grant");
    expect(await walletStatus(body.access_token)).toBe(401);
    expect((await refresh(body.refresh_token)).body.error).toBe("invalid_grant");
  });

  it.each([
    ["as a double submit", 9_000, {}],
    ["with a wrong verifier", 30_000, { code_verifier: `${VERIFIER}x` }],
    ["without a verifier", 30_000, { code_verifier: "" }],
    ["by another client", 30_000, { client_id: "https://thief.example.com/oauth.json" }],
  ])("a code that is used again %s ends nothing", async (_, wait_ms, changed) => {
    const code = await authorize(await signIn());
    const { body } = await redeem(code);
    passTime(wait_ms);
    expect((await redeem(code, changed)).body.error).toBe("invalid_grant");
    expect(await walletStatus(body.access_token)).toBe(200);
    expect((await refresh(body.refresh_token)).status).toBe(200);
  });

  it.each([
    ["the client", { client_id: "https://other.example.com/oauth.json" }, "invalid_grant"],
    ["the redirect address", { redirect_uri: "https://client.example.com/other" }, "invalid_grant"],
    ["the resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["the verifier", { code_verifier: `${VERIFIER}x` }, "invalid_grant"],
    ["no verifier", { code_verifier: "" }, "invalid_grant"],
  ])(
    "a code with %s of another request is refused, and still works with its own",
    async (_, changed, error) => {
      await openResource(RESOURCE);
      const code = await authorize(await signIn(), { resource: RESOURCE });
      const answer = await redeem(code, changed);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error, error_description: expect.stringMatching(/\.$/) });
      expect((await redeem(code, { resource: RESOURCE })).status).toBe(200);
    },
  );

  it("a code without a challenge is refused with a verifier, and one with a challenge without it", async () => {
    const ada = await signIn();
    const plain = await authorize(ada, { code_challenge: null });
    expect((await redeem(plain)).body.error).toBe("invalid_grant");
    expect((await redeem(plain, { code_verifier: "" })).status).toBe(200);
    const bound = await authorize(ada, { code_challenge: await challengeOf(VERIFIER) });
    expect((await redeem(bound, { code_verifier: "" })).body.error).toBe("invalid_grant");
  });

  it("a code that is a minute old is refused", async () => {
    const code = await authorize(await signIn());
    passTime(60_000);
    expect((await redeem(code)).body).toMatchObject({
      error: "invalid_grant",
      error_description: expect.stringContaining("expired"),
    });
  });

  it("a client whose document requires an assertion gets no tokens without one", async () => {
    const code = await authorize(await signIn(), { needs_assertion: true });
    const answer = await redeem(code);
    expect({ status: answer.status, error: answer.body.error }).toEqual({
      status: 401,
      error: "invalid_client",
    });
  });
});

describe("the token endpoint", () => {
  it("a token for another resource names it, and our API refuses it", async () => {
    await openResource(RESOURCE);
    const { access_token } = await connect(await signIn(), { resource: RESOURCE });
    expect(decodeJwt(access_token)).toMatchObject({ aud: RESOURCE, client_id: CLIENT_ID });
    const answer = await withToken(access_token, "GET", "/api/wallet");
    expect(answer.status).toBe(401);
    expect(answer.headers.get("WWW-Authenticate")).toBe(
      'Bearer error="invalid_token", resource_metadata="http://passbook.localhost/.well-known/oauth-protected-resource"',
    );
    const metadata = await send("GET", "/.well-known/oauth-protected-resource");
    expect(metadata.body).toMatchObject({
      resource: "http://passbook.localhost",
      authorization_servers: ["http://passbook.localhost"],
    });
  });

  it("the address of this service as the resource means our API, also with a slash", async () => {
    for (const resource of ["http://passbook.localhost", "http://passbook.localhost/"]) {
      const code = await authorize(await signIn());
      expect((await redeem(code, { resource })).body.access_token).toMatch(/^pb_at_/);
    }
  });

  it.each<[string, string, string, number]>([
    ["another grant type", "grant_type=password", "unsupported_grant_type", 400],
    ["no grant type", "code=x", "invalid_request", 400],
    [
      "an inherited property as the grant type",
      "grant_type=toString",
      "unsupported_grant_type",
      400,
    ],
    ["a parameter twice", "grant_type=refresh_token&code=1&code=2", "invalid_request", 400],
    ["two resources", "grant_type=refresh_token&resource=a&resource=b", "invalid_target", 400],
    ["no client", "grant_type=authorization_code&code=x", "invalid_client", 401],
    [
      "no code",
      `grant_type=authorization_code&client_id=${encodeURIComponent(CLIENT_ID)}`,
      "invalid_request",
      400,
    ],
    [
      "an invented code",
      `grant_type=authorization_code&code=x&client_id=${encodeURIComponent(CLIENT_ID)}`,
      "invalid_grant",
      400,
    ],
  ])("a request with %s is refused", async (_, body, error, status) => {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await send("POST", "/oauth/token", { headers, body });
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error });
    expect(answer.body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it("a request whose body is not a form is refused, and an unknown parameter is ignored", async () => {
    const headers = { "Content-Type": "application/json" };
    const json = await send("POST", "/oauth/token", { headers, body: "{}" });
    expect(json.body.error).toBe("invalid_request");
    const code = await authorize(await signIn());
    expect((await post("/oauth/token", { ...codeForm(code), code_verifer: "x" })).status).toBe(200);
  });

  it("a page of any origin may use the token endpoint, without credentials", async () => {
    const headers = {
      Origin: "https://anywhere.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
    };
    const preflight = await send("OPTIONS", "/oauth/token", { headers });
    expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(preflight.headers.get("Access-Control-Allow-Credentials")).toBeNull();
    expect(preflight.headers.get("Access-Control-Allow-Headers")?.toLowerCase()).toContain(
      "mcp-protocol-version",
    );
  });
});
