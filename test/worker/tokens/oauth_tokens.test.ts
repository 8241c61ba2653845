import {
  base64url,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
  SignJWT,
  type JWK,
} from "jose";
import { describe, expect, it } from "vitest";
import { env } from "cloudflare:workers";
import { createMacKeys, createSealKeys } from "../../../src/keys/mac.ts";
import { createRsaKeys } from "../../../src/keys/rsa_keys.ts";
import { createAccessTokens, createResourceTokens } from "../../../src/tokens/access_token.ts";
import { createIdTokens } from "../../../src/tokens/id_token.ts";
import { createAuthorizationCodes, createRefreshTokens } from "../../../src/tokens/sealed_token.ts";
import { newIdTokenKeys } from "../../../src/commands/development_settings.ts";
import { getToken } from "../support/device_logins.ts";
import { send, signIn } from "../support/passbook.ts";

const ISSUER = "https://passbook.example";
const OLD = "b2xkIHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";
const NEW = "bmV3IHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";

const keysOf = (...private_parts: string[]) =>
  private_parts.map((d) => ({ kty: "OKP", crv: "Ed25519", x: "unused", kid: d, d }) as const);

const macKeys = (...private_parts: string[]) =>
  createMacKeys(keysOf(...private_parts), "a purpose of tests");

const sealKeys = (...private_parts: string[]) =>
  createSealKeys(keysOf(...private_parts), "a purpose of tests");

const rsa_keys = createRsaKeys(JSON.parse(env.ID_TOKEN_KEYS).keys);
const now_seconds = Math.floor(Date.now() / 1000);
const lifetime = { issued_at_seconds: now_seconds, expires_at_seconds: now_seconds + 600 };
const claims = {
  identity_id: "user_1",
  credential: { kind: "family", family_id: "f1", generation: 3, scopes: ["openid", "read"] },
  client_id: "demo~web",
  scopes: ["openid", "read"],
  act: null,
} as const;

/** A text with one letter of it changed. */
const changed = (text: string, at: number): string =>
  `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;

describe("codes and refresh tokens", () => {
  it("an authorization code differs each time, and what is stored does not contain it", async () => {
    const codes = createAuthorizationCodes(sealKeys(NEW));
    const { code, code_hash } = await codes.issue("user_1");
    expect(code).toMatch(/^pb_ac_[\w-]{110,112}$/);
    expect(await codes.read(code)).toEqual({ identity_id: "user_1", code_hash });
    expect(code_hash).toMatch(/^[\w-]{43}$/);
    expect(code).not.toContain(code_hash);
    expect((await codes.issue("user_1")).code).not.toBe(code);
  });

  it("the same claims give the same refresh token, and other claims another one", async () => {
    const tokens = createRefreshTokens(sealKeys(NEW));
    const read = { identity_id: "user_1", family_id: "f1", generation: 3 };
    const token = await tokens.sign(read);
    expect(token).toMatch(/^pb_rt_[\w-]{50,60}$/);
    expect(await tokens.sign(read)).toBe(token);
    expect(await tokens.read(token)).toEqual(read);
    expect(await tokens.sign({ ...read, generation: 4 })).not.toBe(token);
  });

  it("neither a code nor a refresh token names the person or the family", async () => {
    const { code } = await createAuthorizationCodes(sealKeys(NEW)).issue("user_1");
    const read = { identity_id: "user_1", family_id: "family_1", generation: 3 };
    const token = await createRefreshTokens(sealKeys(NEW)).sign(read);
    for (const text of [code, token]) {
      const bytes = base64url.decode(text.slice("pb_ac_".length));
      const all = `${text} ${new TextDecoder("latin1").decode(bytes)}`;
      expect(all).not.toMatch(/user_1|family_1/);
    }
  });

  it("a code or refresh token that this service did not issue is refused, whatever was changed", async () => {
    const codes = createAuthorizationCodes(sealKeys(NEW));
    const tokens = createRefreshTokens(sealKeys(NEW));
    const { code } = await codes.issue("user_1");
    const token = await tokens.sign({ identity_id: "user_1", family_id: "f1", generation: 3 });
    for (const [read, genuine] of [
      [(text: string) => codes.read(text), code],
      [(text: string) => tokens.read(text), token],
    ] as const) {
      for (let at = 0; at < genuine.length; at += 1) {
        expect(await read(changed(genuine, at)), `letter ${at}`).toBeNull();
      }
      expect(await read("")).toBeNull();
      expect(await read(`${genuine}.x`)).toBeNull();
    }
    expect(await codes.read(token)).toBeNull();
    expect(await tokens.read(code)).toBeNull();
  });

  it("a refresh token survives a key rotation but not the removal of its key", async () => {
    const read = { identity_id: "user_1", family_id: "f1", generation: 3 };
    const token = await createRefreshTokens(sealKeys(OLD)).sign(read);
    expect(await createRefreshTokens(sealKeys(NEW, OLD)).read(token)).toEqual(read);
    expect(await createRefreshTokens(sealKeys(NEW)).read(token)).toBeNull();
  });
});

describe("access tokens", () => {
  it("an access token is the same for the same claims and times, and cannot be changed", async () => {
    const tokens = createAccessTokens(macKeys(NEW));
    const token = await tokens.sign(ISSUER, claims, lifetime, "0");
    expect(await tokens.sign(ISSUER, claims, lifetime, "0")).toBe(token);
    expect(token).toMatch(/^pb_at_ey/);
    const expires_at_ms = lifetime.expires_at_seconds * 1000;
    expect(await tokens.verify(ISSUER, token)).toEqual({ ...claims, ...lifetime, expires_at_ms });
    expect(await tokens.verify("https://other.example", token)).toBeNull();
    expect(await tokens.verify(ISSUER, token.slice("pb_at_".length))).toBeNull();
    expect(await createAccessTokens(macKeys(OLD)).verify(ISSUER, token)).toBeNull();
  });

  it("an access token for another resource is a JWT of RFC 9068 with one audience, and no token of our API", async () => {
    const tokens = createResourceTokens(rsa_keys);
    const resource = "https://mcp.example.com/mcp";
    const act = { sub: "demo~agent" };
    const token = await tokens.sign(ISSUER, { ...claims, act, resource }, lifetime, "7");
    const { body } = await send("GET", "/.well-known/jwks.json");
    await jwtVerify(token, createLocalJWKSet(body), { audience: resource, algorithms: ["RS256"] });
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: "at+jwt", alg: "RS256" });
    expect(decodeJwt(token)).toEqual({
      iss: ISSUER,
      sub: "user_1",
      aud: resource,
      client_id: "demo~web",
      scope: "openid read",
      act,
      jti: "family:f1:3:7",
      iat: lifetime.issued_at_seconds,
      exp: lifetime.expires_at_seconds,
    });
    expect(await tokens.verify(ISSUER, token)).toMatchObject({ ...claims, act, resource });
    expect(await createAccessTokens(macKeys(NEW)).verify(ISSUER, `pb_at_${token}`)).toBeNull();
  });
});

describe("a JWT of our own keys", () => {
  it.each([
    ["of another type", { typ: "session+jwt" }, {}],
    ["without a type", { typ: undefined }, {}],
    ["for two audiences", {}, { aud: ["https://mcp.example.com/mcp", "https://other.example"] }],
    ["without an audience", {}, { aud: undefined }],
    ["without a client", {}, { client_id: undefined }],
    ["that names no row", {}, { jti: "other:f1" }],
    ["that names no response", {}, { jti: "family:f1" }],
  ])("a JWT of our own keys %s is no access token for a resource", async (_, header, changed) => {
    const { kid, key } = await rsa_keys.signer();
    const all = { client_id: "demo~web", scope: "", aud: "https://mcp.example.com/mcp" };
    const sign = (more: object, head: object) =>
      new SignJWT({ ...all, jti: "family:f1:3:0", ...more })
        .setProtectedHeader({ alg: "RS256", kid, typ: "at+jwt", ...head })
        .setIssuer(ISSUER)
        .setSubject("user_1")
        .setIssuedAt()
        .setExpirationTime("10m")
        .sign(key);
    const { verify } = createResourceTokens(rsa_keys);
    expect(await verify(ISSUER, await sign({}, {}))).not.toBeNull();
    expect(await verify(ISSUER, await sign(changed, header))).toBeNull();
  });

  it("a personal access token with another prefix is refused as an access token", async () => {
    const { token } = await getToken(await signIn());
    const headers = { Authorization: `Bearer pb_at_${token.slice("pb_pat_".length)}` };
    expect((await send("GET", "/api/wallet", { headers })).status).toBe(401);
  });
});

describe("ID tokens", () => {
  it("an ID token has RS256 and verifies with the published keys", async () => {
    const sign = createIdTokens(rsa_keys);
    const about = { identity_id: "user_1", client_id: "demo~web", auth_time_seconds: 5 };
    const token = await sign(ISSUER, { ...about, nonce: "n" }, lifetime);
    const { body } = await send("GET", "/.well-known/jwks.json");
    const published = (body.keys as JWK[]).find(({ kty }) => kty === "RSA");
    expect(published).toMatchObject({ alg: "RS256", use: "sig" });
    expect(Object.keys(published ?? {})).not.toContain("d");
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: "RS256", kid: published?.kid });
    const { payload } = await jwtVerify(token, createLocalJWKSet(body), { audience: "demo~web" });
    expect(payload).toEqual({
      iss: ISSUER,
      sub: "user_1",
      aud: "demo~web",
      auth_time: 5,
      nonce: "n",
      iat: lifetime.issued_at_seconds,
      exp: lifetime.expires_at_seconds,
    });
    const without = await sign(ISSUER, { ...about, nonce: null }, lifetime);
    expect(decodeJwt(without)).not.toHaveProperty("nonce");
  });

  it("after the keys of ID tokens are replaced, session tokens and personal access tokens stay valid", async () => {
    const ada = await signIn();
    const { token } = await getToken(ada);
    const replaced = { ...env, ID_TOKEN_KEYS: await newIdTokenKeys() };
    for (const bearer of [ada.token, token]) {
      const headers = { Authorization: `Bearer ${bearer}` };
      expect((await send("GET", "/api/wallet", { headers }, replaced)).status).toBe(200);
    }
  });
});
