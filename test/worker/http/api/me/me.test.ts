import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { awaitToken, startDevice } from "../../../support/device_client.ts";
import { approve, fromOwnPage } from "../../../support/device_logins.ts";
import { exchange } from "../../../support/exchanges.ts";
import { CLIENT_ID, connect, withToken } from "../../../support/oauth_clients.ts";
import { BASE_URL, send, signIn, type SignedIn } from "../../../support/passbook.ts";
import {
  operatorWith,
  personalToken as operatorToken,
  signInOperator,
  SETTINGS,
} from "../admin/operators.ts";

/** A personal access token that `person` approved with these limits. */
async function personalToken(person: SignedIn, limits: object) {
  const options = {
    base_url: BASE_URL,
    fetch: async (url: string, init: RequestInit) => {
      const response = await send(init.method ?? "GET", url, init);
      return new Response(response.text, { status: response.status, headers: response.headers });
    },
    wait: async () => {},
  };
  const started = await startDevice(options);
  await approve(person, started.user_code, limits);
  const outcome = await awaitToken(options, started);
  return outcome.kind === "token" ? outcome.token : "";
}

describe("GET /api/me", () => {
  it("/api/me returns the caller's person and plan", async () => {
    const ada = await signIn();
    const { status, body } = await ada.get("/api/me");
    expect(status).toBe(200);
    expect(body).toEqual({
      identity_id: ada.identity_id,
      name: null,
      email: "ada@example.com",
      email_verified: true,
      plan: "free",
      operator: false,
    });
  });

  it("/api/me recognises operators by identity and by verified e-mail address", async () => {
    const ada = await signIn();
    const headers = fromOwnPage(ada);
    for (const [operators, operator] of [
      [ada.identity_id, true],
      ["bob@example.com, Ada@Example.com", true],
      ["bob@example.com", false],
    ] as const) {
      const { body } = await send("GET", "/api/me", { headers }, { OPERATORS: operators });
      expect(body.operator).toBe(operator);
    }
  });

  it("/api/me reports operator rights of the caller, not of the person", async () => {
    const olga = await signInOperator();
    for (const [scopes, operator] of [
      [["read", "write"], false],
      [["write", "admin"], true],
    ] as const) {
      const token = await operatorToken(olga.person, { scopes });
      expect((await token?.get("/api/me"))?.body).toMatchObject({ operator });
      expect((await token?.get("/api/admin/apps"))?.status).toBe(operator ? 200 : 403);
    }
    const by_session = operatorWith(olga.person, olga.person.token, SETTINGS);
    expect((await by_session.get("/api/me")).body).toMatchObject({ operator: false });
  });

  it("/api/me accepts a token without limits and refuses a token that is limited to apps", async () => {
    const ada = await signIn();
    const ask = async (limits: object) => {
      const token = await personalToken(ada, limits);
      return send("GET", "/api/me", { headers: { Authorization: `Bearer ${token}` } });
    };
    expect(await ask({ scopes: ["read"] })).toMatchObject({
      status: 200,
      body: { identity_id: ada.identity_id },
    });
    expect(await ask({ apps: ["demo"] })).toMatchObject({ status: 403, body: { code: "scope" } });
  });

  const KNOWN = { email: "ada@example.com", email_verified: true };
  const UNKNOWN = { name: null, email: null, email_verified: null };

  it.each([
    [{}, KNOWN],
    [{ scopes: ["read", "write"] }, KNOWN],
    [{ scopes: ["read"] }, UNKNOWN],
    [{ caps: [{ credits: 5 }] }, UNKNOWN],
  ])(
    "a personal access token with the limits %j learns %j of its person",
    async (limits, known) => {
      const token = await personalToken(await signIn(), limits);
      expect((await withToken(token, "GET", "/api/me")).body).toMatchObject(known);
    },
  );

  it.each([
    ["read", UNKNOWN],
    ["write openid", UNKNOWN],
    ["read openid profile", { ...UNKNOWN, name: "Ada" }],
    ["write openid email", { ...KNOWN, name: null }],
    ["read profile email", { ...KNOWN, name: "Ada" }],
  ])(
    "a client with the scope %s learns %j, whatever apps it is limited to, also by an exchanged token and a session token",
    async (scope, known) => {
      const ada = await signIn();
      await env.DIRECTORY.prepare("update users set name = 'Ada'").run();
      const scopes = scope.split(" ");
      for (const app_slugs of [null, ["demo"]]) {
        const limits = { app_slugs, caps: [], expires_at_ms: Date.now() + 86_400_000 };
        const { access_token } = await connect(ada, { scopes, limits });
        const child = await exchange(access_token, { apps: ["demo"] }, { client_id: CLIENT_ID });
        const session = await withToken(access_token, "GET", "/api/sessionToken");
        for (const token of [access_token, child.body.access_token, session.body.token]) {
          const { status, body } = await withToken(token, "GET", "/api/me");
          expect({ status, ...body }).toMatchObject({ status: 200, plan: "free", ...known });
        }
      }
    },
  );

  it("/api/me requires a caller", async () => {
    expect((await send("GET", "/api/me")).status).toBe(401);
  });
});
