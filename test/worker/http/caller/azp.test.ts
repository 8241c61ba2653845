import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { approve, fromOwnPage, startLogin } from "../../support/device_logins.ts";
import { BASE_URL, send, signIn, type SignedIn } from "../../support/passbook.ts";
import { saveApp } from "./app_server.ts";
import { SETTINGS, signInOperator } from "../api/admin/operators.ts";

const FAMILY = "http://localhost:3000";
const APP = "https://sketch.example";
const ACCOUNTS = "/api/admin/accounts";

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const byCookie = ({ cookies }: SignedIn, origin: string) => ({ Cookie: cookies, Origin: origin });

/** A session token as an origin's page gets it with the person's cookies. */
async function tokenFor(person: SignedIn, origin: string, settings: object = SETTINGS) {
  const headers = byCookie(person, origin);
  const response = await send("GET", "/api/sessionToken", { headers }, settings);
  expect(response.status, response.text).toBe(200);
  return String(response.body.token);
}

function azpOf(token: string): unknown {
  return decodeJwt(token)["azp"];
}

function cookieToken(person: SignedIn): string {
  return /passbook_token=([^;]+)/.exec(person.cookies)?.[1] ?? "";
}

describe("a session token's azp", () => {
  it("the azp of a session token from sign-in is the origin of redirect_to", async () => {
    expect(azpOf((await signIn()).token)).toBe(FAMILY);
  });

  it("the azp of a session token from a cookie is the origin of the requesting page", async () => {
    const ada = await signIn();
    expect(azpOf(await tokenFor(ada, FAMILY))).toBe(FAMILY);
    expect(azpOf(await tokenFor(ada, BASE_URL))).toBe(BASE_URL);
    const headers = { Cookie: ada.cookies, "Sec-Fetch-Site": "same-origin" };
    const own = await send("GET", "/api/sessionToken", { headers });
    expect(azpOf(own.body.token)).toBe(BASE_URL);
  });

  it("a session token that renews itself keeps its azp, from whatever page it is sent", async () => {
    const ada = await signIn();
    const headers = { ...bearer(ada.token), Origin: BASE_URL };
    const renewed = await send("GET", "/api/sessionToken", { headers });
    expect(azpOf(renewed.body.token)).toBe(FAMILY);
  });

  it("the azp of a JWT cookie without a parent domain is the service itself", async () => {
    expect(azpOf(cookieToken(await signIn()))).toBe(BASE_URL);
  });

  it.each([
    ["an origin that nobody allowed", { Origin: "https://evil.example" }],
    ["an opaque origin", { Origin: "null" }],
    ["another site that names no origin", { "Sec-Fetch-Site": "cross-site" }],
    ["a sibling host that names no origin", { "Sec-Fetch-Site": "same-site" }],
  ])("%s gets no session token with a cookie", async (_, sent) => {
    const ada = await signIn();
    const headers = { Cookie: ada.cookies, ...sent };
    const response = await send("GET", "/api/sessionToken", { headers });
    expect([response.status, response.body.code]).toEqual([403, "origin_not_allowed"]);
  });

  it("an origin that was removed from the allowlist cannot renew its session token", async () => {
    const { token } = await signIn();
    const settings = { ALLOWED_ORIGINS: "http://localhost:5173" };
    const response = await send("GET", "/api/sessionToken", { headers: bearer(token) }, settings);
    expect([response.status, response.body.code]).toEqual([403, "origin_not_allowed"]);
  });
});

describe("operator rights of a session", () => {
  it("an operator's session cookie from our own pages has operator rights", async () => {
    const { person } = await signInOperator();
    for (const headers of [
      fromOwnPage(person),
      { Cookie: person.cookies, "Sec-Fetch-Site": "same-origin" },
    ]) {
      expect((await send("GET", ACCOUNTS, { headers }, SETTINGS)).status).toBe(200);
    }
  });

  it.each([
    ["an allowed page with the operator's cookies", (it: SignedIn) => byCookie(it, FAMILY)],
    [
      "another site that names no origin",
      (it: SignedIn) => ({ Cookie: it.cookies, "Sec-Fetch-Site": "same-site" }),
    ],
    ["the token of a redirect", (it: SignedIn) => bearer(it.token)],
    ["the shared cookie's token as bearer", (it: SignedIn) => bearer(cookieToken(it))],
    [
      "the token of a redirect from our own page",
      (it: SignedIn) => ({ ...bearer(it.token), Origin: BASE_URL }),
    ],
  ])("%s has no operator rights", async (_, credentials) => {
    const { person } = await signInOperator();
    const headers = { ...credentials(person), "Content-Type": "application/json" };
    const app = { name: "Evil", starter_credits: 0, origins: ["https://evil.example"] };
    const sent = [
      ["GET", ACCOUNTS, undefined],
      ["POST", `${ACCOUNTS}/${person.identity_id}/signout`, "{}"],
      ["PUT", "/api/admin/apps/evil", JSON.stringify(app)],
      ["POST", "/api/admin/apps/evil/keys", JSON.stringify({ label: "evil" })],
    ] as const;
    for (const [method, path, body] of sent) {
      const init = body === undefined ? { headers } : { headers, body };
      const response = await send(method, path, init, SETTINGS);
      expect([response.status, response.body.code], path).toEqual([403, "not_operator"]);
    }
    expect((await person.get("/api/wallet")).status).toBe(200);
  });

  it("a page of an allowed origin and a session token cannot approve the scope admin", async () => {
    const { person } = await signInOperator();
    const { user_code } = await startLogin();
    const body = JSON.stringify({ user_code, scopes: ["read", "admin"] });
    for (const credentials of [byCookie(person, FAMILY), bearer(person.token)]) {
      const headers = { ...credentials, "Content-Type": "application/json" };
      const response = await send("POST", "/api/device/complete", { headers, body }, SETTINGS);
      expect([response.status, response.body.code]).toEqual([403, "not_operator"]);
    }
    expect((await approve(person, user_code, { scopes: ["admin"] }, SETTINGS)).status).toBe(200);
  });
});

describe("upstream tokens by origin", () => {
  const PATH = "/api/oauthToken/github";
  /** No token is stored for the person, so an allowed origin gets 404. */
  const MAY = [404, "token_not_found"];
  const MAY_NOT = [403, "scope"];

  async function outcome(
    headers: Record<string, string>,
    path = PATH,
    settings: object = SETTINGS,
  ) {
    const response = await send("GET", path, { headers }, settings);
    return [response.status, response.body.code];
  }

  it("our own pages and origins of ALLOWED_ORIGINS receive upstream tokens", async () => {
    const ada = await signIn();
    expect(await outcome(fromOwnPage(ada))).toEqual(MAY);
    expect(await outcome({ Cookie: ada.cookies })).toEqual(MAY);
    expect(await outcome(byCookie(ada, FAMILY))).toEqual(MAY);
    expect(await outcome(bearer(ada.token))).toEqual(MAY);
  });

  it("a registered app receives only the upstream tokens of its upstream_providers", async () => {
    const operator = await signInOperator();
    await saveApp(operator, "sketch", { origins: [APP], settle: "holder" } as object);
    const ada = await signIn();
    const token = await tokenFor(ada, APP);
    for (const headers of [byCookie(ada, APP), bearer(token)]) {
      expect(await outcome(headers)).toEqual(MAY_NOT);
    }
    const given = { origins: [APP], settle: "holder", upstream_providers: ["github"] };
    await saveApp(operator, "sketch", given as object);
    for (const headers of [byCookie(ada, APP), bearer(token)]) {
      expect(await outcome(headers)).toEqual(MAY);
      expect(await outcome(headers, "/api/oauthToken/google")).toEqual(MAY_NOT);
    }
  });
});
