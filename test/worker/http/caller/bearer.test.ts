import { env } from "cloudflare:workers";
import { SignJWT, importJWK } from "jose";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BASE_URL, send, signIn } from "../../support/passbook.ts";

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

describe("a bearer that is refused, in development", () => {
  it.each([
    ["Basic YWRhOmFkYQ==", /must have the form: Bearer <token>/],
    ["Bearer", /must have the form/],
    ["Bearer not-a-jwt", /malformed/],
    ["Bearer pb_pat_nonsense", /malformed/],
  ])("%s: says which mistake it is", async (authorization, words) => {
    const answer = await ask(authorization);
    expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(answer.body.error).toMatch(words);
  });

  it("for another issuer: names both", async () => {
    const answer = await ask(`Bearer ${await sign({ iss: "http://localhost:8791" })}`);
    expect(answer.body.code).toBe("unauthorized");
    expect(answer.body.error).toContain("http://localhost:8791");
    expect(answer.body.error).toContain(BASE_URL);
  });

  it("of localhost at 127.0.0.1: says plainly why not", async () => {
    const { token } = await signIn();
    const answer = await ask(`Bearer ${token}`, {}, "http://127.0.0.1:8791");
    expect(answer.status).toBe(401);
    expect(answer.body.error).toContain("localhost and 127.0.0.1 are different");
    expect(answer.body.error).toContain("http://127.0.0.1:8791");
  });

  it("of another use: is none of ours", async () => {
    const answer = await ask(`Bearer ${await sign({ iss: BASE_URL, typ: "JWT" })}`);
    expect(answer.body.error).toContain("for another use");
  });
});

describe("a bearer that is refused, in production", () => {
  it("is one answer, whatever the mistake", async () => {
    const mistakes = [
      "Basic YWRhOmFkYQ==",
      "Bearer not-a-jwt",
      `Bearer ${await sign({ iss: "https://elsewhere.example" })}`,
      `Bearer ${await sign({ iss: PRODUCTION.BASE_URL, typ: "JWT" })}`,
    ];
    const answers = await Promise.all(
      mistakes.map(async (it) => (await ask(it, PRODUCTION, PRODUCTION.BASE_URL)).text),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).not.toContain("elsewhere");
  });

  it("has a code of its own once it has expired, and not before, nor of another issuer", async () => {
    const ours = await sign({ iss: PRODUCTION.BASE_URL });
    const theirs = await sign({ iss: "https://elsewhere.example" });
    const codeOf = async (token: string): Promise<unknown> =>
      (await ask(`Bearer ${token}`, PRODUCTION, PRODUCTION.BASE_URL)).body.code;
    expect(await codeOf(`${ours}x`)).toBe("unauthorized");
    vi.useFakeTimers({ now: Date.now() + HOUR_MS, toFake: ["Date"] });
    expect(await codeOf(ours)).toBe("token_expired");
    expect(await codeOf(theirs)).toBe("unauthorized");
  });

  it("still says how to authenticate, and is told at /api/sessionToken too", async () => {
    const { token } = await signIn();
    vi.useFakeTimers({ now: Date.now() + HOUR_MS, toFake: ["Date"] });
    const wallet = await ask(`Bearer ${token}`);
    expect(wallet).toMatchObject({ status: 401, body: { code: "token_expired" } });
    expect(wallet.headers.get("WWW-Authenticate")).toBe("Bearer");
    const headers = { Authorization: `Bearer ${token}` };
    const renewed = await send("GET", "/api/sessionToken", { headers });
    expect(renewed.body).toMatchObject({ code: "token_expired", signin_url: expect.any(String) });
  });
});
