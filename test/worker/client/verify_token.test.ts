import { generateKeyPair, exportJWK, SignJWT, type JWTPayload } from "jose";
import { describe, expect, it } from "vitest";
import { createTokenVerifier, type Fetch } from "../../../src/client/index.ts";
import { createKeyRing } from "../../../src/keys/signing.ts";
import { createSessionTokens } from "../../../src/tokens/session_token.ts";
import { passTime } from "../support/clock.ts";
import { getToken } from "../support/device_logins.ts";
import { BASE_URL, send, signIn } from "../support/passbook.ts";
import { workerFetch } from "./worker_fetch.ts";

const ISSUER = "https://passbook.example.com";
const APP = "https://sketch.example.com";
/** Where `signIn` comes back to. */
const SIGNED_IN_AT = "http://localhost:3000";

type Pair = Awaited<ReturnType<typeof newKey>>;

async function newKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

/** A service of some keys, and how often they were fetched. */
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
  it("takes a token that the service issued to the app, and says whose it is", async () => {
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

  it("refuses a token that was issued to another app's page", async () => {
    const ada = await signIn();
    const verify = createTokenVerifier({ baseUrl: BASE_URL, origins: [APP], fetch: workerFetch });
    await expect(verify(ada.token)).rejects.toMatchObject({ code: "unauthorized", status: 401 });
  });

  it("refuses a personal access token, and the session token made from one", async () => {
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
    ["another service", { iss: "https://passbook.example.org" }, {}],
    ["another use", {}, { typ: "JWT" }],
    ["no use", {}, { typ: undefined }],
    ["nobody", { sub: "" }, {}],
    ["no origin", { azp: undefined }, {}],
    ["the whole family", { azp: "shared" }, {}],
    ["no session", { sid: undefined }, {}],
    ["an unknown key", {}, { kid: "other" }],
  ])("refuses a token of %s", async (_, claims, header) => {
    const pair = await newKey("a");
    const { verify } = serviceOf(pair);
    const token = await sign(pair, claims, header);
    await expect(verify(token)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("refuses what was signed by another key, changed, or not signed", async () => {
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

  it("refuses a token whose time ran out", async () => {
    const pair = await newKey("a");
    const { verify } = serviceOf(pair);
    const token = await sign(pair, {}, {}, Math.floor(Date.now() / 1000) - 10);
    await expect(verify(token)).rejects.toMatchObject({ code: "token_expired", status: 401 });
  });

  it("fetches the keys once for many tokens at once, and not again for each unknown key", async () => {
    const pair = await newKey("a");
    const { service, verify } = serviceOf(pair);
    const token = await sign(pair);
    await Promise.all(Array.from({ length: 20 }, () => verify(token)));
    expect(service.fetched).toBe(1);
    const unknown = await sign(await newKey("b"));
    for (let times = 0; times < 20; times += 1) await verify(unknown).catch(() => {});
    expect(service.fetched).toBe(1);
  });

  it("learns a new key, and forgets one that the service retired", async () => {
    const [before, after] = [await newKey("a"), await newKey("b")];
    const { service, verify } = serviceOf(before);
    await verify(await sign(before));
    service.keys = [after.jwk];
    passTime(31_000);
    expect((await verify(await sign(after))).identity_id).toBe("ada");
    await expect(verify(await sign(before))).rejects.toMatchObject({ code: "unauthorized" });
    expect(service.fetched).toBe(2);
  });

  it("goes on with the known keys for an hour while the service is away, and not longer", async () => {
    const pair = await newKey("a");
    const { service, verify } = serviceOf(pair);
    await verify(await sign(pair));
    service.away = true;
    passTime(50 * 60_000);
    expect((await verify(await sign(pair))).identity_id).toBe("ada");
    passTime(11 * 60_000);
    await expect(verify(await sign(pair))).rejects.toMatchObject({ code: "no_answer" });
    service.away = false;
    passTime(31_000);
    expect((await verify(await sign(pair))).identity_id).toBe("ada");
  });

  it("accepts the parent domain's cookie where the app says so", async () => {
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
  ])("is not made for %s", (_, origins) => {
    expect(() => createTokenVerifier({ baseUrl: ISSUER, origins })).toThrow(/origin/);
  });
});
