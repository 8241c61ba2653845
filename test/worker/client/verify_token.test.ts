import { generateKeyPair, exportJWK, SignJWT, type JWTPayload } from "jose";
import { describe, expect, it } from "vitest";
import { type Fetch } from "../../../src/client/index.ts";
import { createTokenVerifier } from "../../../src/client/server.ts";
import { createKeyRing } from "../../../src/keys/signing.ts";
import { createSessionTokens } from "../../../src/tokens/session_token.ts";
import { passTime } from "../support/clock.ts";
import { getToken } from "../support/device_logins.ts";
import { BASE_URL, send, signIn } from "../support/passbook.ts";
import { workerFetch } from "./worker_fetch.ts";

const ISSUER = "https://passbook.example.com";
const APP = "https://sketch.example.com";
/** The origin that `signIn` returns to. */
const SIGNED_IN_AT = "http://localhost:3000";

type Pair = Awaited<ReturnType<typeof newKey>>;

async function newKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

/** A service with these keys, and a count of fetches. */
function serviceOf(...pairs: readonly Pair[]) {
  const service = { keys: pairs.map(({ jwk }) => jwk as object), fetched: 0, away: false };
  const fetch: Fetch = async (url) => {
    expect(url).toBe(`${ISSUER}/.well-known/jwks.json`);
    service.fetched += 1;
    if (service.away) throw new TypeError("fetch failed");
    const text = JSON.stringify({ keys: service.keys });
    return { status: 200, headers: new Headers(), text: async () => text };
  };
  return { service, verify: createTokenVerifier({ baseUrl: ISSUER, origins: [APP], fetch }) };
}

async function sign(
  { kid, privateKey }: Pair,
  claims: JWTPayload = {},
  header: object = {},
  expires: number | string = "15m",
): Promise<string> {
  return new SignJWT({ sid: "s1", azp: APP, sub: "ada", iss: ISSUER, ...claims })
    .setProtectedHeader({ alg: "EdDSA", kid, typ: "session+jwt", ...header })
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(privateKey);
}

describe("createTokenVerifier", () => {
  it("createTokenVerifier names the page of a valid token of another page, and no reason for a forged one", async () => {
    const pair = await newKey("a");
    const { verify } = serviceOf(pair);
    const azp = "http://localhost:5173";
    const other = verify(await sign(pair, { azp }));
    await expect(other).rejects.toThrow(
      /issued to a page at http:\/\/localhost:5173, which is not/,
    );
    const forged = verify(await sign(await newKey("a"), { azp }));
    await expect(forged).rejects.toThrow("This is not a session token of this service.");
  });

  it("createTokenVerifier names the two addresses if a valid token has another issuer than baseUrl", async () => {
    const pair = await newKey("a");
    const { verify } = serviceOf(pair);
    const other = verify(await sign(pair, { iss: "http://localhost:8787" }));
    await expect(other).rejects.toThrow(
      `This session token was issued by http://localhost:8787, but baseUrl is ${ISSUER}.`,
    );
  });

  it("createTokenVerifier refuses a missing token as unauthorized", async () => {
    const { verify } = serviceOf(await newKey("a"));
    await expect(verify(undefined)).rejects.toMatchObject({ code: "unauthorized", status: 401 });
  });

  it("createTokenVerifier accepts a token issued to the app, and returns its person and session", async () => {
    const ada = await signIn();
    const verify = createTokenVerifier({
      baseUrl: BASE_URL,
      origins: [SIGNED_IN_AT],
      fetch: workerFetch,
    });
    expect(await verify(ada.token)).toMatchObject({
      identity_id: ada.identity_id,
      origin: SIGNED_IN_AT,
      session_id: expect.any(String),
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it("createTokenVerifier refuses a token issued to another app's page", async () => {
    const ada = await signIn();
    const verify = createTokenVerifier({ baseUrl: BASE_URL, origins: [APP], fetch: workerFetch });
    await expect(verify(ada.token)).rejects.toMatchObject({ code: "unauthorized", status: 401 });
  });

  it("createTokenVerifier refuses a personal access token and a session token made from one", async () => {
    const ada = await signIn();
    const holder = await getToken(ada, {});
    const headers = { Authorization: `Bearer ${holder.token}` };
    const { token } = (await send("GET", "/api/sessionToken", { headers })).body;
    const verify = createTokenVerifier({
      baseUrl: BASE_URL,
      origins: [SIGNED_IN_AT],
      fetch: workerFetch,
    });
    for (const other of [holder.token, token]) {
      await expect(verify(other)).rejects.toMatchObject({ code: "unauthorized" });
    }
  });

  it.each<[string, JWTPayload, object]>([
    ["another issuer", { iss: "https://passbook.example.org" }, {}],
    ["another type", {}, { typ: "JWT" }],
    ["no type", {}, { typ: undefined }],
    ["an empty subject", { sub: "" }, {}],
    ["no origin", { azp: undefined }, {}],
    ["the shared origin", { azp: "shared" }, {}],
    ["no session", { sid: undefined }, {}],
    ["an unknown key", {}, { kid: "other" }],
  ])("createTokenVerifier refuses a token with %s", async (_, claims, header) => {
    const pair = await newKey("a");
    const { verify } = serviceOf(pair);
    const token = await sign(pair, claims, header);
    await expect(verify(token)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("createTokenVerifier refuses a token that was changed, not signed, or signed with another key", async () => {
    const pair = await newKey("a");
    const { verify } = serviceOf(pair);
    const token = await sign(pair);
    const [header = "", , signature = ""] = token.split(".");
    const claims = { sid: "s1", azp: APP, sub: "eve", iss: ISSUER, exp: 9_999_999_999 };
    const payload = btoa(JSON.stringify(claims)).replaceAll("=", "");
    const none = btoa(JSON.stringify({ alg: "none", typ: "session+jwt", kid: "a" }));
    const forged = [
      await sign(await newKey("a")),
      `${header}.${payload}.${signature}`,
      `${none.replaceAll("=", "")}.${payload}.`,
      `${token}.x`,
      token.split(".").slice(0, 2).join("."),
      "",
      "...",
      "x".repeat(10_000),
    ];
    for (const text of forged) {
      await expect(verify(text)).rejects.toMatchObject({ code: "unauthorized" });
    }
    expect((await verify(token)).identity_id).toBe("ada");
  });

  it("createTokenVerifier refuses an expired token with token_expired", async () => {
    const pair = await newKey("a");
    const { verify } = serviceOf(pair);
    const token = await sign(pair, {}, {}, Math.floor(Date.now() / 1000) - 10);
    await expect(verify(token)).rejects.toMatchObject({ code: "token_expired", status: 401 });
  });

  it("createTokenVerifier fetches the keys once for concurrent tokens, and not again for each unknown key", async () => {
    const pair = await newKey("a");
    const { service, verify } = serviceOf(pair);
    const token = await sign(pair);
    await Promise.all(Array.from({ length: 20 }, () => verify(token)));
    expect(service.fetched).toBe(1);
    const unknown = await sign(await newKey("b"));
    for (let times = 0; times < 20; times += 1) await verify(unknown).catch(() => {});
    expect(service.fetched).toBe(1);
  });

  it("createTokenVerifier accepts a new key of the service, and stops accepting a retired one", async () => {
    const [before, after] = [await newKey("a"), await newKey("b")];
    const { service, verify } = serviceOf(before);
    await verify(await sign(before));
    service.keys = [after.jwk];
    passTime(31_000);
    expect((await verify(await sign(after))).identity_id).toBe("ada");
    await expect(verify(await sign(before))).rejects.toMatchObject({ code: "unauthorized" });
    expect(service.fetched).toBe(2);
  });

  it("createTokenVerifier uses cached keys for an hour while the service is unreachable, and no longer", async () => {
    const pair = await newKey("a");
    const { service, verify } = serviceOf(pair);
    await verify(await sign(pair));
    service.away = true;
    passTime(50 * 60_000);
    expect((await verify(await sign(pair))).identity_id).toBe("ada");
    passTime(11 * 60_000);
    await expect(verify(await sign(pair))).rejects.toMatchObject({ code: "no_response" });
    service.away = false;
    passTime(31_000);
    expect((await verify(await sign(pair))).identity_id).toBe("ada");
  });

  it("createTokenVerifier accepts a token of the parent domain's cookie if origins has shared", async () => {
    const signing = { kty: "OKP", crv: "Ed25519", kid: "a", x: "", d: "" } as const;
    const { privateKey, jwk } = await newKey("a");
    const private_jwk = await exportJWK(privateKey);
    const ring = createKeyRing([{ ...signing, x: jwk.x ?? "", d: private_jwk.d ?? "" }]);
    const proof = { kind: "session", session_id: "s1", azp: "shared" } as const;
    const claims = { identity_id: "ada", proof, binding: null };
    const token = await createSessionTokens(ring).sign(ISSUER, claims);
    const text = JSON.stringify(ring.public_jwks);
    const fetch: Fetch = async () => ({
      status: 200,
      headers: new Headers(),
      text: async () => text,
    });
    const verify = createTokenVerifier({ baseUrl: ISSUER, origins: [APP, "shared"], fetch });
    expect(await verify(token)).toMatchObject({ identity_id: "ada", origin: "shared" });
  });

  it.each([
    ["no origin", []],
    ["an origin with a slash", [`${APP}/`]],
    ["an origin with a path", [`${APP}/app`]],
    ["an origin with capital letters", ["https://Sketch.example.com"]],
    ["an origin without https", ["sketch.example.com"]],
  ])("createTokenVerifier refuses %s", (_, origins) => {
    expect(() => createTokenVerifier({ baseUrl: ISSUER, origins })).toThrow(/[Oo]rigins/);
  });
});
