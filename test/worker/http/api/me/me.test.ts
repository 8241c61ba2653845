import { describe, expect, it } from "vitest";
import { awaitToken, startDevice } from "../../../support/device_client.ts";
import { fromOwnPage } from "../../../support/device_logins.ts";
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
  await person.post("/api/device/complete", { user_code: started.user_code, ...limits });
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

  it("/api/me requires a caller", async () => {
    expect((await send("GET", "/api/me")).status).toBe(401);
  });
});
