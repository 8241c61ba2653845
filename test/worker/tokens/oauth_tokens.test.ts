import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { env } from "cloudflare:workers";
import { newIdTokenKeys } from "../../../src/commands/development_settings.ts";
import { createRsaKeys } from "../../../src/keys/rsa_keys.ts";
import { createAccessTokens, createResourceTokens } from "../../../src/tokens/access_token.ts";
import { createIdTokens } from "../../../src/tokens/id_token.ts";
import { getToken } from "../support/device_logins.ts";
import { send, signIn } from "../support/passbook.ts";
import { HERE, NEW, claims, lifetime, macKeys } from "./forger.ts";

const rsa_keys = createRsaKeys(JSON.parse(env.ID_TOKEN_KEYS).keys);

describe("access tokens", () => {
  it("an access token for another resource is a JWT of RFC 9068 with one audience, and no token of our API", async () => {
    const tokens = createResourceTokens(rsa_keys);
    const resource = "https://mcp.example.com/mcp";
    const act = { sub: "demo~agent" };
    const token = await tokens.sign(HERE, { ...claims, act, resource }, lifetime, "7");
    const { body } = await send("GET", "/.well-known/jwks.json");
    await jwtVerify(token, createLocalJWKSet(body), { audience: resource, algorithms: ["RS256"] });
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: "at+jwt", alg: "RS256" });
    expect(decodeJwt(token)).toEqual({
      iss: HERE,
      sub: "user_1",
      aud: resource,
      client_id: "demo~web",
      scope: "openid read",
      act,
      jti: "family:f1:3:7",
      iat: lifetime.issued_at_seconds,
      exp: lifetime.expires_at_seconds,
    });
    expect(await tokens.verify(HERE, token)).toMatchObject({ ...claims, act, resource });
    expect(await createAccessTokens(macKeys(NEW)).verify(HERE, `pb_at_${token}`)).toBeNull();
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
    const token = await sign(HERE, { ...about, nonce: "n" }, lifetime);
    const { body } = await send("GET", "/.well-known/jwks.json");
    const published = (body.keys as JWK[]).find(({ kty }) => kty === "RSA");
    expect(published).toMatchObject({ alg: "RS256", use: "sig" });
    expect(Object.keys(published ?? {})).not.toContain("d");
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: "RS256", kid: published?.kid });
    const { payload } = await jwtVerify(token, createLocalJWKSet(body), { audience: "demo~web" });
    expect(payload).toEqual({
      iss: HERE,
      sub: "user_1",
      aud: "demo~web",
      auth_time: 5,
      nonce: "n",
      iat: lifetime.issued_at_seconds,
      exp: lifetime.expires_at_seconds,
    });
    const without = await sign(HERE, { ...about, nonce: null }, lifetime);
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
