import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, it, vi } from "vitest";
import { createMacKeys } from "../../../src/keys/mac.ts";
import { createPersonalTokens } from "../../../src/tokens/personal_token.ts";
import { forge, HERE, keysOf, NEW, OLD, type Genuine } from "./forger.ts";

const NOW_MS = 2_000_000_000_000;
const PREFIX = "pb_pat_";
const ADA = { identity_id: "ada", personal_token_id: "row 1" };

const macKeys = (...private_parts: string[]) =>
  createMacKeys(keysOf(...private_parts), "personal access tokens");

async function genuine(): Promise<Genuine> {
  const [first] = await macKeys(NEW)();
  if (first === undefined) return expect.fail("no key");
  const header = { alg: "HS256", kid: NEW, typ: "pat+jwt" };
  return { key: first.key, header, claims: { sub: "ada", jti: "row 1" } };
}

describe("personal access tokens", () => {
  it("a personal access token names the holder and its row, and expires when the row says", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
    const tokens = createPersonalTokens(macKeys(NEW, OLD));
    const token = await tokens.sign(HERE, ADA, NOW_MS + 5_999);
    expect(token.startsWith(PREFIX)).toBe(true);
    const jwt = token.slice(PREFIX.length);
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: "HS256", kid: NEW, typ: "pat+jwt" });
    const iat = NOW_MS / 1000;
    const times = { iat, exp: iat + 5 };
    expect(decodeJwt(jwt)).toEqual({ iss: HERE, sub: "ada", jti: "row 1", ...times });
    const expires_at_ms = NOW_MS + 5_000;
    expect(await tokens.verify(HERE, token)).toEqual({ ...ADA, expires_at_ms });
  });

  it("a personal access token names the client that collected it, and none that is no text", async () => {
    const tokens = createPersonalTokens(macKeys(NEW));
    const about = { ...ADA, client_id: "demo~tv" };
    const token = await tokens.sign(HERE, about, Date.now() + 60_000);
    expect(await tokens.verify(HERE, token)).toMatchObject(about);
    const read = await tokens.verify(
      HERE,
      PREFIX + (await forge(await genuine(), { client_id: 7 })),
    );
    expect(read).toMatchObject(ADA);
    expect(read).not.toHaveProperty("client_id");
  });

  it("a personal access token is accepted while its key is one of the keys, and no longer", async () => {
    const token = await createPersonalTokens(macKeys(OLD)).sign(HERE, ADA, Date.now() + 60_000);
    for (const [keys, is_accepted] of [
      [[OLD], true],
      [[NEW, OLD], true],
      [[NEW], false],
    ] as const) {
      const read = await createPersonalTokens(macKeys(...keys)).verify(HERE, token);
      expect(read !== null, keys.join(" and ")).toBe(is_accepted);
    }
  });

  it("without a key, no personal access token is signed", async () => {
    const signed = createPersonalTokens(macKeys()).sign(HERE, ADA, Date.now() + 60_000);
    await expect(signed).rejects.toThrow("at least one key");
  });

  it.each<[string, object, object?]>([
    ["with an empty subject", { sub: "" }],
    ["without a subject", { sub: undefined }],
    ["with an empty id", { jti: "" }],
    ["without an id", { jti: undefined }],
    ["without an expiry", { exp: undefined }],
    ["for another issuer", { iss: "https://elsewhere.example" }],
    ["with the type of a session token", {}, { typ: "session+jwt" }],
  ])("a personal access token %s is refused", async (_, changed, header) => {
    const { verify } = createPersonalTokens(macKeys(NEW));
    const one = await genuine();
    expect(await verify(HERE, PREFIX + (await forge(one)))).toMatchObject(ADA);
    expect(await verify(HERE, PREFIX + (await forge(one, changed, header)))).toBeNull();
  });

  it("a personal access token without its prefix, or with another one, is refused", async () => {
    const { verify } = createPersonalTokens(macKeys(NEW));
    const jwt = await forge(await genuine());
    for (const prefix of ["", "pb_pax_", "PB_PAT_"])
      expect(await verify(HERE, prefix + jwt), prefix).toBeNull();
  });
});
