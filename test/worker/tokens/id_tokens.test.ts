import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { newIdTokenKeys } from "../../../src/commands/development_settings.ts";
import { createRsaKeys } from "../../../src/keys/rsa_keys.ts";
import { createIdTokenReader, createIdTokens } from "../../../src/tokens/id_token.ts";
import { forge, HERE } from "./forger.ts";

const rsa_keys = createRsaKeys(JSON.parse(await newIdTokenKeys()).keys);
const now_seconds = Math.floor(Date.now() / 1000);
const lifetime = { issued_at_seconds: now_seconds, expires_at_seconds: now_seconds + 600 };

describe("ID tokens", () => {
  it("an ID token names the person, the client and the sign-in, and the nonce of its request", async () => {
    const about = { identity_id: "user_1", client_id: "demo~web", auth_time_seconds: 5 };
    const sign = createIdTokens(rsa_keys);
    const token = await sign(HERE, { ...about, nonce: "n" }, lifetime);
    const times = { iat: lifetime.issued_at_seconds, exp: lifetime.expires_at_seconds };
    const facts = { iss: HERE, sub: "user_1", aud: "demo~web", auth_time: 5, ...times };
    expect(decodeJwt(token)).toEqual({ ...facts, nonce: "n" });
    expect(decodeJwt(await sign(HERE, { ...about, nonce: null }, lifetime))).toEqual(facts);
  });

  it("a service reads the ID tokens that it issued, also after they have expired", async () => {
    const about = { identity_id: "user_1", client_id: "demo~web", auth_time_seconds: 5 };
    const old = { issued_at_seconds: now_seconds - 900, expires_at_seconds: now_seconds - 300 };
    const token = await createIdTokens(rsa_keys)(HERE, { ...about, nonce: null }, old);
    const read = createIdTokenReader(rsa_keys);
    expect(await read(HERE, token)).toEqual({ identity_id: "user_1", client_id: "demo~web" });
    expect(await read("https://elsewhere.example", token)).toBeNull();
    expect(await read(HERE, `${token.slice(0, -8)}AAAAAAAA`)).toBeNull();
    expect(await read(HERE, "no token")).toBeNull();
  });

  it.each([
    ["of another type", { typ: "at+jwt" }, {}],
    ["without a person", {}, { sub: undefined }],
    ["without a client", {}, { aud: undefined }],
    ["for two clients", {}, { aud: ["demo~web", "demo~other"] }],
  ])("a JWT of our own keys %s is no ID token", async (_, header, changed) => {
    const { kid, key } = await rsa_keys.signer();
    const one = { key, header: { alg: "RS256", kid, typ: "JWT" } };
    const genuine = { ...one, claims: { sub: "user_1", aud: "demo~web" } };
    const read = createIdTokenReader(rsa_keys);
    expect(await read(HERE, await forge(genuine))).not.toBeNull();
    expect(await read(HERE, await forge(genuine, changed, header))).toBeNull();
  });

  it("an ID token that cannot be checked because the keys fail is not refused as invalid", async () => {
    const outage = new TypeError("the keys fail");
    const read = createIdTokenReader({
      ...rsa_keys,
      resolve: () => Promise.reject(outage),
    } as never);
    const about = { identity_id: "user_1", client_id: "demo~web", auth_time_seconds: 5 };
    const token = await createIdTokens(rsa_keys)(HERE, { ...about, nonce: null }, lifetime);
    await expect(read(HERE, token)).rejects.toBe(outage);
  });
});
