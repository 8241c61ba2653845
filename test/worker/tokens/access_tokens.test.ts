import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { newIdTokenKeys } from "../../../src/commands/development_settings.ts";
import { createRsaKeys } from "../../../src/keys/rsa_keys.ts";
import { createAccessTokens, createResourceTokens } from "../../../src/tokens/access_token.ts";
import { forge, HERE, NEW, OLD, claims, lifetime, macKeys } from "./forger.ts";

const rsa_keys = createRsaKeys(JSON.parse(await newIdTokenKeys()).keys);

describe("access tokens", () => {
  it("an access token is the same for the same claims and times, and cannot be changed", async () => {
    const tokens = createAccessTokens(macKeys(NEW));
    const token = await tokens.sign(HERE, claims, lifetime, "0");
    expect(await tokens.sign(HERE, claims, lifetime, "0")).toBe(token);
    expect(token).toMatch(/^pb_at_ey/);
    const expires_at_ms = lifetime.expires_at_seconds * 1000;
    expect(await tokens.verify(HERE, token)).toEqual({ ...claims, ...lifetime, expires_at_ms });
    expect(await tokens.verify("https://other.example", token)).toBeNull();
    expect(await tokens.verify(HERE, token.slice("pb_at_".length))).toBeNull();
    expect(await createAccessTokens(macKeys(OLD)).verify(HERE, token)).toBeNull();
  });

  it("an access token is accepted while its key is one of the keys, and no longer", async () => {
    const token = await createAccessTokens(macKeys(OLD)).sign(HERE, claims, lifetime, "0");
    expect(await createAccessTokens(macKeys(NEW, OLD)).verify(HERE, token)).not.toBeNull();
    expect(await createAccessTokens(macKeys(NEW)).verify(HERE, token)).toBeNull();
    const unsigned = createAccessTokens(macKeys()).sign(HERE, claims, lifetime, "0");
    await expect(unsigned).rejects.toThrow("at least one key");
  });

  it("an access token without its prefix, or with another one, is refused", async () => {
    const tokens = createAccessTokens(macKeys(NEW));
    const token = await tokens.sign(HERE, claims, lifetime, "0");
    expect(await tokens.verify(HERE, token.replace("pb_at_", "pb_xx_"))).toBeNull();
  });

  it("an access token names the actors and the row of an exchanged token", async () => {
    const tokens = createAccessTokens(macKeys(NEW));
    const credential = { kind: "allowance", allowance_id: "a1" } as const;
    const act = { sub: "demo~agent", act: { sub: "demo~web" } };
    const exchanged = { ...claims, credential, act };
    const token = await tokens.sign(HERE, exchanged, lifetime, "7");
    expect(decodeJwt(token.slice("pb_at_".length))).toMatchObject({ jti: "allowance:a1:7", act });
    expect(await tokens.verify(HERE, token)).toMatchObject(exchanged);
    const plain = await tokens.sign(HERE, claims, lifetime, "0");
    expect(decodeJwt(plain.slice("pb_at_".length))).not.toHaveProperty("act");
  });

  it("an access token for another resource has its claims and its resource, for the time that was given", async () => {
    const tokens = createResourceTokens(rsa_keys);
    const resource = "https://mcp.example.com/mcp";
    const token = await tokens.sign(HERE, { ...claims, resource }, lifetime, "7");
    const expires_at_ms = lifetime.expires_at_seconds * 1000;
    const read = { ...claims, ...lifetime, resource, expires_at_ms };
    expect(await tokens.verify(HERE, token)).toEqual(read);
    expect(await tokens.verify("https://elsewhere.example", token)).toBeNull();
    expect(decodeJwt(token).jti).toBe("family:f1:3:7");
  });
});

/** Forgeries of both kinds differ from a genuine token in one property. */
const WRONG: readonly [string, object][] = [
  ["without a client", { client_id: undefined }],
  ["with a number as its client", { client_id: 7 }],
  ["without scopes", { scope: undefined }],
  ["without a subject", { sub: undefined }],
  ["with an empty subject", { sub: "" }],
  ["without an expiry", { exp: undefined }],
  ["that names no row", { jti: "other:f1" }],
  ["that names a row of another kind", { jti: "other:f1:3:0" }],
  ["that names a row without an id", { jti: "allowance::0" }],
  ["that names no response", { jti: "family:f1" }],
];
const GENUINE = { client_id: "demo~web", scope: "", sub: "user_1", jti: "family:f1:3:0" };

describe("a JWT of our own keys", () => {
  it.each(WRONG)("a JWT of our own keys %s is no access token for our API", async (_, changed) => {
    const [first] = await macKeys(NEW)();
    const { key, kid } = first ?? expect.fail("no key");
    const genuine = { key, header: { alg: "HS256", kid }, claims: GENUINE };
    const { verify } = createAccessTokens(macKeys(NEW));
    expect(await verify(HERE, `pb_at_${await forge(genuine)}`)).not.toBeNull();
    expect(await verify(HERE, `pb_at_${await forge(genuine, changed)}`)).toBeNull();
  });

  it.each<[string, object, object?]>([
    ...WRONG,
    ["of another type", {}, { typ: "session+jwt" }],
    ["without a type", {}, { typ: undefined }],
    ["for two audiences", { aud: ["https://mcp.example.com/mcp", "https://other.example"] }],
    ["without an audience", { aud: undefined }],
  ])("a JWT of our own keys %s is no access token for a resource", async (_, changed, header) => {
    const { kid, key } = await rsa_keys.signer();
    const claims_of_resource = { ...GENUINE, aud: "https://mcp.example.com/mcp" };
    const head = { alg: "RS256", kid, typ: "at+jwt" };
    const genuine = { key, header: head, claims: claims_of_resource };
    const { verify } = createResourceTokens(rsa_keys);
    expect(await verify(HERE, await forge(genuine))).not.toBeNull();
    expect(await verify(HERE, await forge(genuine, changed, header))).toBeNull();
  });
});
