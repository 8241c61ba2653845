import { env } from "cloudflare:workers";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { getToken, holderOf, tokenId } from "../../../support/device_logins.ts";
import { APP, BACK, openBrowser } from "../../../support/browser.ts";
import { registerApp } from "../../../support/directory_outage.ts";
import { forgetEnvironments, send, signIn, type Answer } from "../../../support/passbook.ts";

const BASE_URL = "http://passbook.localhost";

/** Requests a token with the cookies of a signed-in browser. */
function askWithCookies(cookies: string, headers: Record<string, string> = {}): Promise<Answer> {
  return send("GET", "/api/sessionToken", { headers: { Cookie: cookies, ...headers } });
}

const settings = {
  TOKEN_TEMPLATES: JSON.stringify({
    maps: {
      audience: "https://maps.test",
      ttl_seconds: 60,
      claims: {
        role: "viewer",
        sid: "a-session",
        sub: "admin",
        iss: "https://evil.test",
        aud: "x",
        exp: 1,
        azp: "x",
      },
      apps: ["named"],
    },
  }),
};
const ask = (token: string, template: string): Promise<Answer> =>
  send(
    "GET",
    `/api/sessionToken?template=${template}`,
    { headers: { Authorization: `Bearer ${token}` } },
    settings,
  );

describe("GET /api/sessionToken", () => {
  it("/api/sessionToken gives a browser with cookies a valid token and renews the cookies", async () => {
    const ada = await signIn();
    const response = await askWithCookies(ada.cookies);
    expect(response).toMatchObject({ status: 200, body: { token: expect.any(String) } });
    expect(Object.keys(response.body)).toEqual(["token"]);
    expect(response.headers.getSetCookie().map((cookie) => cookie.split("=")[0])).toEqual([
      "passbook_session",
      "passbook_token",
    ]);
    const headers = { Authorization: `Bearer ${response.body.token}` };
    expect((await send("GET", "/api/wallet", { headers })).body.account.identity_id).toBe(
      ada.identity_id,
    );
  });

  it("/api/sessionToken gives a bearer a token of the same session and sets no cookies", async () => {
    const ada = await signIn();
    const response = await ada.get("/api/sessionToken");
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()).toEqual([]);
    const sid = (token: string) => JSON.parse(atob(token.split(".")[1] ?? "")).sid;
    expect(sid(response.body.token)).toBe(sid(ada.token));
  });

  it("/api/sessionToken refuses a signed-out session by cookie and by bearer", async () => {
    const ada = await signIn();
    await send("POST", "/signout", { headers: { Cookie: ada.cookies, Origin: BASE_URL } });
    for (const response of [
      await ada.get("/api/sessionToken"),
      await askWithCookies(ada.cookies),
    ]) {
      expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
      expect(response.headers.get("WWW-Authenticate")).toMatch(/^Bearer/);
    }
  });

  it("/api/sessionToken refuses an invalid bearer token even with a valid cookie", async () => {
    const { cookies } = await signIn();
    const response = await askWithCookies(cookies, { Authorization: "Bearer nonsense" });
    expect(response.status).toBe(401);
  });

  it("responses of /api/sessionToken are never cached", async () => {
    const ada = await signIn();
    expect((await ada.get("/api/sessionToken")).headers.get("Cache-Control")).toBe("no-store");
  });
});

describe("signin_url", () => {
  const signInUrl = async (headers: Record<string, string>): Promise<string> => {
    const response = await send("GET", "/api/sessionToken", { headers });
    expect(response.status).toBe(401);
    expect(response.body).toEqual({
      error: expect.any(String),
      code: "unauthorized",
      signin_url: expect.any(String),
    });
    return response.body.signin_url;
  };
  const withBack = (back: string) =>
    `${BASE_URL}/signin?${new URLSearchParams({ redirect_to: back }).toString()}`;

  it("signin_url returns to the page in Referer, else to Origin", async () => {
    expect(await signInUrl({ Referer: BACK, Origin: APP })).toBe(withBack(BACK));
    expect(await signInUrl({ Origin: APP })).toBe(withBack(`${APP}/`));
  });

  it("signin_url has no redirect_to for a page of an origin that is not allowed", async () => {
    expect(await signInUrl({})).toBe(`${BASE_URL}/signin`);
    expect(await signInUrl({ Referer: "https://evil.test/x", Origin: "https://evil.test" })).toBe(
      `${BASE_URL}/signin`,
    );
    expect(await signInUrl({ Referer: "https://evil.test/x", Origin: APP })).toBe(
      withBack(`${APP}/`),
    );
    expect(await signInUrl({ Origin: "null" })).toBe(`${BASE_URL}/signin`);
  });

  it("signin_url opens the sign-in page", async () => {
    const page = await openBrowser().get(await signInUrl({ Referer: BACK }));
    expect(page).toMatchObject({
      status: 200,
      text: expect.stringContaining("you return to"),
    });
  });
});

describe("a token template", () => {
  it("a token template makes a token that other services verify with our public keys", async () => {
    const ada = await signIn();
    const { token } = (await ask(ada.token, "maps")).body;
    const jwks = (await send("GET", "/.well-known/jwks.json")).body;
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks), {
      issuer: BASE_URL,
      audience: "https://maps.test",
      typ: "JWT",
    });
    expect(protectedHeader.typ).toBe("JWT");
    expect(payload).toMatchObject({ sub: ada.identity_id, role: "viewer", azp: APP });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  });

  it("a token template is for our own pages, the operator's origins and the apps that it names, and not for other registered apps", async () => {
    const ada = await signIn();
    const origins = { named: "http://localhost:4998", other: "http://localhost:4999" };
    for (const [slug, origin] of Object.entries(origins)) {
      await registerApp(slug, { origins_json: JSON.stringify([origin]) });
    }
    forgetEnvironments();
    const ofOrigin = async (origin: string) => {
      const from = { headers: { Cookie: ada.cookies, Origin: origin } };
      const { token } = (await send("GET", "/api/sessionToken", from)).body;
      const by_cookie = await send("GET", "/api/sessionToken?template=maps", from, settings);
      return [await ask(token, "maps"), by_cookie];
    };
    for (const origin of [BASE_URL, APP, origins.named]) {
      for (const { status, body } of await ofOrigin(origin)) {
        expect([status, decodeJwt(body.token).azp]).toEqual([200, origin]);
      }
    }
    for (const answer of await ofOrigin(origins.other)) {
      expect(answer).toMatchObject({ status: 403, body: { code: "scope" } });
      expect(answer.body.error).toContain("TOKEN_TEMPLATES");
    }
  });

  it("our own API refuses a template token as bearer and as cookie", async () => {
    const ada = await signIn();
    const { token } = (await ask(ada.token, "maps")).body;
    for (const headers of [
      { Authorization: `Bearer ${token}` },
      { Cookie: `passbook_token=${token}` },
    ]) {
      for (const path of ["/api/wallet", "/api/sessionToken"]) {
        expect((await send("GET", path, { headers }, settings)).status).toBe(401);
      }
    }
  });

  it.each(["unknown", "constructor", "__proto__", ""])(
    "the token template %j gets 404",
    async (name) => {
      const ada = await signIn();
      const response = await ask(ada.token, name);
      expect(response).toMatchObject({ status: 404, body: { code: "token_template_not_found" } });
    },
  );

  it("an unknown template gets 401 for a caller who is not signed in", async () => {
    expect((await ask("nonsense", "unknown")).status).toBe(401);
  });
});

describe("a personal access token at /api/sessionToken", () => {
  it("a personal token gets a session token with the same limits, which ends with it", async () => {
    const ada = await signIn();
    const personal = await getToken(ada, { scopes: ["read"] });
    const { token } = (await personal.get("/api/sessionToken")).body;
    const session = holderOf(token);
    expect((await session.get("/api/wallet")).status).toBe(200);
    const job = { app: "demo", action: "render", cost_estimate: 0 };
    expect((await session.post("/api/jobs", job)).status).toBe(403);
    expect((await session.get("/api/sessionToken")).status).toBe(200);

    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("DELETE", `/api/tokens/${await tokenId(personal)}`, { headers });
    for (const holder of [personal, session]) {
      expect(await holder.get("/api/sessionToken")).toMatchObject({
        status: 401,
        body: { signin_url: `${BASE_URL}/signin` },
      });
      expect((await holder.get("/api/wallet")).status).toBe(401);
    }
  });

  it("a personal token gets no template token, since other services cannot check its limits", async () => {
    const personal = await getToken(await signIn());
    expect((await ask(personal.token, "maps")).status).toBe(404);
    const { token } = (await personal.get("/api/sessionToken")).body;
    expect((await ask(token, "maps")).status).toBe(404);
  });
});

describe("other origins", () => {
  it("a page of an allowed origin can read the response with credentials, even a refusal", async () => {
    const { cookies } = await signIn();
    for (const response of [
      await askWithCookies(cookies, { Origin: APP }),
      await askWithCookies("", { Origin: APP }),
    ]) {
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe(APP);
      expect(response.headers.get("Access-Control-Allow-Credentials")).toBe("true");
      expect(response.headers.get("Vary")).toContain("Origin");
    }
  });

  it("a page of an origin that is not allowed gets no CORS header", async () => {
    const { cookies } = await signIn();
    const response = await askWithCookies(cookies, { Origin: "https://evil.test" });
    expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
    expect(response.headers.get("Access-Control-Allow-Credentials")).toBeNull();
  });
});

describe("the hop budget", () => {
  it("a request with a token or with both cookies reads no D1", async () => {
    const ada = await signIn();
    const DIRECTORY = new Proxy(env.DIRECTORY, {
      get: () => {
        throw new Error("D1 was asked");
      },
    });
    for (const headers of [{ Authorization: `Bearer ${ada.token}` }, { Cookie: ada.cookies }]) {
      expect((await send("GET", "/api/wallet", { headers }, { DIRECTORY })).status).toBe(200);
    }
  });
});
