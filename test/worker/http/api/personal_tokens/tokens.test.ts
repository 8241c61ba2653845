import { env } from "cloudflare:workers";
import { base64url, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from "jose";
import { describe, expect, it, vi } from "vitest";
import { TOKEN_CLOCK_TOLERANCE_SECONDS } from "../../../../../src/tokens/verified_tokens.ts";
import {
  BASE_URL,
  environmentWith,
  send,
  signIn,
  signInWithCredits,
} from "../../../support/passbook.ts";

interface Claims {
  readonly [name: string]: unknown;
}

const PRIVATE_JWK = (JSON.parse(env.SIGNING_KEYS) as { keys: [JWK & { kid: string }] }).keys[0];

/** Signs any header and claims with the service's own key, so that a forgery differs in one property only. */
async function sign(
  header: object = {},
  claims: Claims = {},
  drop: string[] = [],
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = {
    iss: BASE_URL,
    sub: "user_1",
    sid: "session_1",
    azp: BASE_URL,
    iat: now,
    exp: now + 60,
    ...claims,
  };
  const payload = Object.fromEntries(Object.entries(all).filter(([name]) => !drop.includes(name)));
  return new SignJWT(payload)
    .setProtectedHeader({ alg: "EdDSA", kid: PRIVATE_JWK.kid, typ: "session+jwt", ...header })
    .sign(await importJWK(PRIVATE_JWK, "EdDSA"));
}

function encode(value: unknown): string {
  return base64url.encode(JSON.stringify(value));
}

async function statusOf(token: string): Promise<number> {
  return (await send("GET", "/api/wallet", { headers: { Authorization: `Bearer ${token}` } }))
    .status;
}

describe("a session token", () => {
  it("a session token that the test signs like the service is accepted, so that the forgeries below fail for their own reason", async () => {
    expect(await statusOf(await sign())).toBe(200);
  });

  it("a session token has the person, expiry and issuer", async () => {
    const { token, identity_id } = await signIn();
    const [header, payload] = token
      .split(".")
      .slice(0, 2)
      .map((part) => JSON.parse(new TextDecoder().decode(base64url.decode(part))));
    expect(header).toEqual({ alg: "EdDSA", kid: PRIVATE_JWK.kid, typ: "session+jwt" });
    expect(payload).toMatchObject({ iss: BASE_URL, sub: identity_id, sid: expect.any(String) });
    expect(payload.exp - payload.iat).toBe(900);
  });

  it("an expired session token is refused", async () => {
    const ada = await signIn();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 906_000 });
    expect((await ada.get("/api/wallet")).status).toBe(401);
  });

  const now = Math.floor(Date.now() / 1000);
  it.each<[string, () => Promise<string> | string]>([
    [
      "with alg none",
      () => `${encode({ alg: "none", typ: "session+jwt" })}.${encode({ sub: "user_1" })}.`,
    ],
    [
      "with HS256 and the public key as its secret",
      () =>
        new SignJWT({ sid: "s", sub: "user_1", iss: BASE_URL })
          .setProtectedHeader({ alg: "HS256", kid: PRIVATE_JWK.kid, typ: "session+jwt" })
          .setIssuedAt()
          .setExpirationTime("1h")
          .sign(new TextEncoder().encode(PRIVATE_JWK.x)),
    ],
    [
      "with a changed payload",
      async () => {
        const [header, , signature] = (await sign()).split(".");
        return `${header}.${encode({ iss: BASE_URL, sub: "user_2", sid: "s", iat: now, exp: now + 60 })}.${signature}`;
      },
    ],
    ["that expired an hour ago", () => sign({}, { iat: now - 7200, exp: now - 3600 })],
    ["that is not valid yet", () => sign({}, { nbf: now + 3600 })],
    ["from another issuer", () => sign({}, { iss: "http://passbook.localhost.evil" })],
    ["without an issuer", () => sign({}, {}, ["iss"])],
    ["without a subject", () => sign({}, {}, ["sub"])],
    ["without an expiry", () => sign({}, {}, ["exp"])],
    ["without a session", () => sign({}, {}, ["sid"])],
    ["without the origin it was issued to", () => sign({}, {}, ["azp"])],
    ["with an empty subject", () => sign({}, { sub: "" })],
    ["with a number for its session", () => sign({}, { sid: 7 })],
    ["with the plain type JWT", () => sign({ typ: "JWT" })],
    ["with a type of another use", () => sign({ typ: "pat+jwt" })],
    ["without a type", () => sign({ typ: undefined })],
    ["with an unknown kid", () => sign({ kid: "unknown" })],
    ["with a kid that is a path", () => sign({ kid: "../../etc/passwd" })],
    ["with a kid that is SQL", () => sign({ kid: "' or 1=1 --" })],
    ["with a kid that is __proto__", () => sign({ kid: "__proto__" })],
    [
      "signed by another key that its own jwk header brings",
      async () => {
        const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
        return new SignJWT({ iss: BASE_URL, sub: "user_1", sid: "s" })
          .setProtectedHeader({
            alg: "EdDSA",
            typ: "session+jwt",
            kid: PRIVATE_JWK.kid,
            jwk: await exportJWK(publicKey),
          })
          .setIssuedAt()
          .setExpirationTime("1h")
          .sign(privateKey);
      },
    ],
    ["with a critical header it does not know", () => sign({ crit: ["b64"], b64: true, typ: "x" })],
    ["of two parts", async () => (await sign()).split(".").slice(0, 2).join(".")],
    ["of five parts", async () => `${await sign()}.a.b`],
    ["of 100,000 characters", () => "a".repeat(100_000)],
    ["of one dot", () => "."],
  ])("a session token %s is refused", async (_, forge) => {
    expect(await statusOf(await forge())).toBe(401);
  });

  it("a session token that was accepted before is refused from the second of its expiry", async () => {
    const exp = Math.floor(Date.now() / 1000) + 60;
    const token = await sign({}, { exp });
    expect(await statusOf(token)).toBe(200);
    const end_ms = (exp + TOKEN_CLOCK_TOLERANCE_SECONDS) * 1000;
    vi.useFakeTimers({ toFake: ["Date"], now: end_ms - 1 });
    expect(await statusOf(token)).toBe(200);
    vi.setSystemTime(end_ms);
    expect(await statusOf(token)).toBe(401);
  });

  it("a cached session token never validates a modified one", async () => {
    const token = await sign();
    expect(await statusOf(token)).toBe(200);
    const [header = "", payload = "", signature = ""] = token.split(".");
    const other = encode({ iss: BASE_URL, sub: "user_2", sid: "s", iat: now, exp: now + 3_600 });
    const forged = [
      `${header}.${other}.${signature}`,
      `${header}.${payload}.${"A".repeat(signature.length)}`,
      `${encode({ alg: "none", typ: "session+jwt" })}.${payload}.${signature}`,
      `${header}.${payload}.`,
    ];
    for (const one of forged) expect(await statusOf(one)).toBe(401);
    expect(await statusOf(token)).toBe(200);
  });

  it("a session token that was accepted at one address is refused at another", async () => {
    const settings = { BASE_URL: "" };
    const [here, there] = ["http://localhost:8787", "http://127.0.0.1:8787"];
    const headers = { Authorization: `Bearer ${await sign({}, { iss: here })}` };
    const statusAt = async (origin: string): Promise<number> =>
      (await send("GET", `${origin}/api/wallet`, { headers }, settings)).status;
    expect(await statusAt(here)).toBe(200);
    expect(await statusAt(there)).toBe(401);
    expect(await statusAt(here)).toBe(200);
  });

  it("session tokens of all keys have the same issuer, so that keys can be rotated", async () => {
    const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
    const fresh = { ...(await exportJWK(privateKey)), kid: "fresh" };
    const rotated = environmentWith({
      SIGNING_KEYS: JSON.stringify({ keys: [fresh, PRIVATE_JWK] }),
    });
    const headers = { Authorization: `Bearer ${await sign()}` };
    expect((await send("GET", "/api/wallet", { headers }, rotated)).status).toBe(200);
    const retired = environmentWith({ SIGNING_KEYS: JSON.stringify({ keys: [fresh] }) });
    expect((await send("GET", "/api/wallet", { headers }, retired)).status).toBe(401);
  });
});

describe("the Authorization header", () => {
  it.each([
    "",
    "Bearer",
    "Bearer ",
    "Basic dXNlcjpwYXNz",
    "Bearer a b",
    "Token abc",
    "bearer,",
    "Bearer null",
    "Bearer undefined",
  ])("the Authorization header %j gets 401, even with a valid cookie", async (authorization) => {
    const ada = await signIn();
    const headers = { Authorization: authorization, Cookie: ada.cookies };
    const response = await send("GET", "/api/wallet", { headers });
    expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });

  it("the scheme bearer is accepted in any case", async () => {
    const ada = await signIn();
    const headers = { Authorization: `bEARER  ${ada.token}` };
    expect((await send("GET", "/api/wallet", { headers })).status).toBe(200);
  });

  it("an error response never contains the token", async () => {
    const response = await send("GET", "/api/wallet", {
      headers: { Authorization: "Bearer s3cret" },
    });
    expect(response.text).not.toContain("s3cret");
  });
});

describe("a cookie", () => {
  it("a session cookie authenticates like a token", async () => {
    const ada = await signInWithCredits();
    const { body } = await send("GET", "/api/wallet", { headers: { Cookie: ada.cookies } });
    expect(body.account.identity_id).toBe(ada.identity_id);
  });

  it.each([
    ["altered", (value: string) => `${value.slice(0, -2)}AA`],
    ["cut", (value: string) => value.slice(0, -1)],
    ["doubled", (value: string) => value + value],
    ["emptied", () => ""],
  ])("a session cookie whose secret was %s is refused", async (_, alter) => {
    const ada = await signIn();
    const session = /passbook_session=([^;]+)/.exec(ada.cookies)?.[1] ?? "";
    const headers = { Cookie: `passbook_session=${alter(session)}` };
    expect((await send("GET", "/api/wallet", { headers })).status).toBe(401);
  });

  it("a session cookie made from the contents of the database is refused", async () => {
    await signIn();
    const row =
      await env.DIRECTORY.prepare("select * from sessions").first<Record<string, string>>();
    for (const value of Object.values(row ?? {})) {
      for (const name of ["passbook_session", "passbook_token"]) {
        const headers = { Cookie: `${name}=${value}` };
        expect((await send("GET", "/api/wallet", { headers })).status).toBe(401);
      }
      expect(await statusOf(value)).toBe(401);
    }
  });

  it("session cookies are HttpOnly, Secure and SameSite=None, and only the JWT cookie is on the parent domain", async () => {
    const environment = environmentWith({ COOKIE_DOMAIN: "family.example" });
    const body = new URLSearchParams({ email: "ada@example.com" });
    const { headers } = await send("POST", "/signin/dev", { body }, environment);
    expect(headers.getSetCookie()).toHaveLength(2);
    for (const cookie of headers.getSetCookie()) {
      expect(cookie).toMatch(/; HttpOnly/);
      expect(cookie).toMatch(/; Secure/);
      expect(cookie).toMatch(/; SameSite=None/);
      const shared = cookie.startsWith("passbook_token=");
      expect(cookie.includes("; Domain=family.example")).toBe(shared);
      expect(cookie).toMatch(/; Path=\//);
    }
  });
});

describe("/.well-known/jwks.json", () => {
  it("the JWKS contains only public keys", async () => {
    const { status, body } = await send("GET", "/.well-known/jwks.json");
    expect(status).toBe(200);
    const { kty, crv, kid, x } = PRIVATE_JWK;
    const { kid: rsa_kid, n, e } = JSON.parse(env.ID_TOKEN_KEYS).keys[0];
    expect(body).toEqual({
      keys: [
        { kty, crv, kid, x, alg: "EdDSA", use: "sig" },
        { kty: "RSA", kid: rsa_kid, n, e, alg: "RS256", use: "sig" },
      ],
    });
  });
});
