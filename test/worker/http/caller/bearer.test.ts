import { env } from "cloudflare:workers";
import { SignJWT, importJWK } from "jose";
import { afterEach, describe, expect, it, vi } from "vitest";
import { getToken, tokenId } from "../../support/device_logins.ts";
import { CLIENT_ID, connect, post } from "../../support/oauth_clients.ts";
import { BASE_URL, send, signIn, signInWithCredits } from "../../support/passbook.ts";
import { openAppServer } from "./app_server.ts";

const PRODUCTION = { DEV_SIGNIN: "false", BASE_URL: "https://passbook.example" };
const HOUR_MS = 3_600_000;

const ask = (authorization: string, settings: object = {}, origin = "") =>
  send("GET", `${origin}/api/wallet`, { headers: { Authorization: authorization } }, settings);

/** A session token that this service would have signed, for another issuer or another use. */
async function sign(claims: { iss: string; typ?: string }): Promise<string> {
  const [key] = JSON.parse(env.SIGNING_KEYS).keys;
  return new SignJWT({ sid: "one" })
    .setProtectedHeader({ alg: "EdDSA", kid: key.kid, typ: claims.typ ?? "session+jwt" })
    .setIssuer(claims.iss)
    .setSubject("ada")
    .setIssuedAt()
    .setExpirationTime("15m")
    .sign(await importJWK(key, "EdDSA"));
}

afterEach(() => vi.useRealTimers());

describe("an invalid bearer token in development", () => {
  it.each([
    ["Basic YWRhOmFkYQ==", /must have the form: Bearer <token>/],
    ["Bearer", /must have the form/],
    ["Bearer not-a-jwt", /malformed/],
    ["Bearer pb_pat_nonsense", /malformed/],
  ])(
    'in development, the refusal of Authorization "%s" explains the mistake',
    async (authorization, words) => {
      const response = await ask(authorization);
      expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
      expect(response.body.error).toMatch(words);
    },
  );

  it("in development, the refusal of a token of another issuer names both issuers", async () => {
    const response = await ask(`Bearer ${await sign({ iss: "http://localhost:8791" })}`);
    expect(response.body.code).toBe("unauthorized");
    expect(response.body.error).toContain("http://localhost:8791");
    expect(response.body.error).toContain(BASE_URL);
  });

  it("in development, the refusal at 127.0.0.1 of a token from localhost explains that they are different addresses", async () => {
    const { token } = await signIn();
    const response = await ask(`Bearer ${token}`, {}, "http://127.0.0.1:8791");
    expect(response.status).toBe(401);
    expect(response.body.error).toContain("localhost and 127.0.0.1 are different");
    expect(response.body.error).toContain("http://127.0.0.1:8791");
  });

  it("in development, the refusal of a token with another typ names that mistake", async () => {
    const response = await ask(`Bearer ${await sign({ iss: BASE_URL, typ: "JWT" })}`);
    expect(response.body.error).toContain("for another use");
  });
});

/** An isolate that verified a token caches it. Each test uses the token before and after its expiry. */
describe("a token that was accepted before it expired", () => {
  const PAT_LIFETIME_MS = 90 * 24 * HOUR_MS;

  it.each([
    ["session token", 15 * 60_000, async () => (await signIn()).token],
    ["personal access token", PAT_LIFETIME_MS, async () => (await getToken(await signIn())).token],
  ])("a %s that the isolate has accepted is 401 once it has expired", async (_, life_ms, get) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const token = await get();
    expect((await ask(`Bearer ${token}`)).status).toBe(200);
    vi.advanceTimersByTime(life_ms - HOUR_MS / 60);
    expect((await ask(`Bearer ${token}`)).status).toBe(200);
    vi.advanceTimersByTime(HOUR_MS / 30);
    const late = await ask(`Bearer ${token}`);
    expect(late).toMatchObject({ status: 401, body: { code: "token_expired" } });
  });
});

describe("an invalid bearer token in production", () => {
  it("in production, every invalid bearer token gets the same response", async () => {
    const mistakes = [
      "Basic YWRhOmFkYQ==",
      "Bearer not-a-jwt",
      `Bearer ${await sign({ iss: "https://elsewhere.example" })}`,
      `Bearer ${await sign({ iss: PRODUCTION.BASE_URL, typ: "JWT" })}`,
    ];
    const responses = await Promise.all(
      mistakes.map(async (it) => (await ask(it, PRODUCTION, PRODUCTION.BASE_URL)).text),
    );
    expect(new Set(responses).size).toBe(1);
    expect(responses[0]).not.toContain("elsewhere");
  });

  it("an app key of development begins with pb_app_test_, and production says that it is a test key", async () => {
    const { key } = await openAppServer("sketch");
    expect(key).toMatch(/^pb_app_test_/);
    const elsewhere = `${key.slice(0, -4)}aaaa`;
    const refused = await ask(`Bearer ${elsewhere}`, PRODUCTION, PRODUCTION.BASE_URL);
    expect(refused).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(refused.body.error).toContain("test key");
  });

  it("production has none of the endpoints of development, and neither has its build in development", async () => {
    for (const name of ["clock", "reset", "seed", "give"]) {
      const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
      for (const settings of [PRODUCTION, {}]) {
        const origin = settings === PRODUCTION ? PRODUCTION.BASE_URL : "";
        const response = await send("POST", `${origin}/dev/${name}`, init, settings);
        expect(response.status, name).toBe(404);
      }
    }
  });

  it("only an expired token of this service gets the code token_expired", async () => {
    const ours = await sign({ iss: PRODUCTION.BASE_URL });
    const theirs = await sign({ iss: "https://elsewhere.example" });
    const codeOf = async (token: string): Promise<unknown> =>
      (await ask(`Bearer ${token}`, PRODUCTION, PRODUCTION.BASE_URL)).body.code;
    expect(await codeOf(`${ours}x`)).toBe("unauthorized");
    vi.useFakeTimers({ now: Date.now() + HOUR_MS, toFake: ["Date"] });
    expect(await codeOf(ours)).toBe("token_expired");
    expect(await codeOf(theirs)).toBe("unauthorized");
  });

  it("token_expired has WWW-Authenticate, and /api/sessionToken returns it with a signin_url", async () => {
    const { token } = await signIn();
    vi.useFakeTimers({ now: Date.now() + HOUR_MS, toFake: ["Date"] });
    const wallet = await ask(`Bearer ${token}`);
    expect(wallet).toMatchObject({ status: 401, body: { code: "token_expired" } });
    expect(wallet.headers.get("WWW-Authenticate")).toMatch(
      /^Bearer error="invalid_token", resource_metadata=/,
    );
    const headers = { Authorization: `Bearer ${token}` };
    const renewed = await send("GET", "/api/sessionToken", { headers });
    expect(renewed.body).toMatchObject({ code: "token_expired", signin_url: expect.any(String) });
  });
});

describe("the challenge of the API (RFC 6750, section 3.1)", () => {
  const METADATA = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource"`;
  const INVALID = `Bearer error="invalid_token", ${METADATA}`;
  const challengeOf = async (headers: Record<string, string>, path = "/api/wallet") => {
    const answer = await send("GET", path, { headers });
    return [answer.status, answer.headers.get("WWW-Authenticate")];
  };

  it("a request with an ended token or key of any kind gets invalid_token, and one without a token gets no error", async () => {
    const server = await openAppServer("demo");
    const ada = await signIn();
    const [holder, connected] = [await getToken(ada), await connect(ada)];
    await holder.revoke(await tokenId(holder));
    await post("/oauth/revoke", { token: connected.refresh_token, client_id: CLIENT_ID });
    const key = `${server.key.slice(0, -4)}abcd`;
    for (const token of [holder.token, connected.access_token, key, `${ada.token}x`, "x"]) {
      const bearer = { Authorization: `Bearer ${token}` };
      expect(await challengeOf(bearer)).toEqual([401, INVALID]);
      expect(await challengeOf(bearer, "/api/events")).toEqual([401, INVALID]);
    }
    const socket = { Upgrade: "websocket", "Sec-WebSocket-Protocol": "passbook, bearer.x" };
    expect(await challengeOf(socket, "/api/events")).toEqual([401, INVALID]);
    const nothing = [401, `Bearer ${METADATA}`];
    for (const headers of [{}, { Authorization: "Basic YTpi" }, { Cookie: "passbook_session=x" }]) {
      expect(await challengeOf(headers)).toEqual(nothing);
    }
  });

  it("/api/sessionToken says that an ended session token is invalid, and nothing about an ended cookie", async () => {
    const ada = await signIn();
    await send("POST", "/signout", { headers: { Cookie: ada.cookies, Origin: BASE_URL } });
    const path = "/api/sessionToken";
    const bearer = { Authorization: `Bearer ${ada.token}` };
    expect(await challengeOf(bearer, path)).toEqual([401, 'Bearer error="invalid_token"']);
    expect(await challengeOf({ Cookie: ada.cookies }, path)).toEqual([401, "Bearer"]);
  });

  it("a token that lacks a scope gets insufficient_scope with the scope, and other limits have no challenge", async () => {
    const ada = await signInWithCredits();
    const [reader, capped] = [
      await getToken(ada, { scopes: ["read"] }),
      await getToken(ada, { apps: ["other"] }),
    ];
    const { access_token: signin_only } = await connect(ada, { scopes: ["openid"] });
    const create = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const body = JSON.stringify({ app: "demo", action: "draw", cost_estimate: 1 });
      const answer = await send("POST", "/api/jobs", { headers, body });
      return [answer.status, answer.headers.get("WWW-Authenticate")];
    };
    const lacking = (scope: string) => [
      403,
      `Bearer error="insufficient_scope", scope="${scope}", ${METADATA}`,
    ];
    expect(await create(reader.token)).toEqual(lacking("write"));
    expect(await create(signin_only)).toEqual(lacking("write"));
    const signin_bearer = { Authorization: `Bearer ${signin_only}` };
    expect(await challengeOf(signin_bearer)).toEqual(lacking("read"));
    expect(await create(capped.token)).toEqual([403, null]);
    const reading = { Authorization: `Bearer ${reader.token}` };
    expect(await challengeOf(reading, "/api/oauthToken/acme")).toEqual(lacking("upstream"));
  });
});
