import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { TOKEN_MAX_LENGTH } from "../../../src/domain/limits.ts";
import { createSealKeys } from "../../../src/keys/mac.ts";
import { createAuthorizationCodes, createRefreshTokens } from "../../../src/tokens/sealed_token.ts";
import { keysOf, NEW, OLD } from "./forger.ts";

const sealKeys = (...private_parts: string[]) =>
  createSealKeys(keysOf(...private_parts), "a purpose of tests");

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

  it("a code is no refresh token, even under the same keys and with its prefix", async () => {
    const { code } = await createAuthorizationCodes(sealKeys(NEW)).issue("user_1");
    const tokens = createRefreshTokens(sealKeys(NEW));
    const token = await tokens.sign({ identity_id: "user_1", family_id: "f1", generation: 3 });
    expect(await tokens.read(code.replace("pb_ac_", "pb_rt_"))).toBeNull();
    const codes = createAuthorizationCodes(sealKeys(NEW));
    expect(await codes.read(token.replace("pb_rt_", "pb_ac_"))).toBeNull();
    expect(await tokens.read(token.replace("pb_rt_", "pb_xx_"))).toBeNull();
  });

  it("a refresh token has one spelling only, although several texts decode to its bytes", async () => {
    const tokens = createRefreshTokens(sealKeys(NEW));
    const token = await tokens.sign({ identity_id: "user_1", family_id: "f1", generation: 3 });
    const bytesOf = (text: string) => base64url.decode(text.slice("pb_rt_".length));
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const other = token.slice(0, -1) + letters.charAt(letters.indexOf(token.slice(-1)) + 1);
    expect(bytesOf(other)).toEqual(bytesOf(token));
    expect(await tokens.read(other)).toBeNull();
  });

  it("a refresh token of few or of too many bytes is refused, even a genuine one", async () => {
    const tokens = createRefreshTokens(sealKeys(NEW));
    for (const length of [2, 20, 43, 44])
      expect(await tokens.read(`pb_rt_${"A".repeat(length)}`), `${length}`).toBeNull();
    const signed = (letters: number) =>
      tokens.sign({ identity_id: "a".repeat(letters), family_id: "f1", generation: 3 });
    const longest = await signed(6_102);
    expect(longest).toHaveLength(TOKEN_MAX_LENGTH);
    expect(await tokens.read(longest)).toMatchObject({ family_id: "f1" });
    expect(await tokens.read(await signed(6_103))).toBeNull();
  });

  it("a refresh token is not signed without a key, or with a part that would read as two", async () => {
    const claims = { identity_id: "user_1", family_id: "f1", generation: 3 };
    await expect(createRefreshTokens(sealKeys()).sign(claims)).rejects.toThrow("at least one key");
    const tokens = createRefreshTokens(sealKeys(NEW));
    for (const wrong of [{ identity_id: "a.b" }, { family_id: "a.b" }, { identity_id: "" }])
      await expect(tokens.sign({ ...claims, ...wrong })).rejects.toThrow("not a part");
  });

  it("a refresh token survives a key rotation but not the removal of its key", async () => {
    const read = { identity_id: "user_1", family_id: "f1", generation: 3 };
    const token = await createRefreshTokens(sealKeys(OLD)).sign(read);
    expect(await createRefreshTokens(sealKeys(NEW, OLD)).read(token)).toEqual(read);
    expect(await createRefreshTokens(sealKeys(NEW)).read(token)).toBeNull();
  });
});
