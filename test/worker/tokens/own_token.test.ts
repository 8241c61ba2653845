import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createKeyRing, type SigningKey } from "../../../src/keys/signing.ts";
import { isOwnToken } from "../../../src/tokens/own_token.ts";
import { HERE } from "./forger.ts";

async function newKey(kid: string): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid } as SigningKey;
}

const keys = createKeyRing([await newKey("new"), await newKey("old")]);

async function tokenOf(iss: string, kid: string): Promise<string> {
  const secret = new TextEncoder().encode("a secret that this service does not know");
  return new SignJWT({ iss }).setProtectedHeader({ alg: "HS256", kid }).sign(secret);
}

describe("a token that looks like one of this service", () => {
  it.each(["pb_app_", "pb_cs_", "pb_pat_", "pb_ac_", "pb_rt_", "pb_at_"])(
    "a text that begins with %s looks like a token of this service",
    (prefix) => {
      expect(isOwnToken(HERE, keys, `${prefix}x`)).toBe(true);
      expect(isOwnToken(HERE, keys, `x${prefix}`)).toBe(false);
    },
  );

  it("a JWT with the id of one of the keys, or with this issuer, looks like a token of this service", async () => {
    expect(isOwnToken(HERE, keys, await tokenOf("https://elsewhere.example", "old"))).toBe(true);
    expect(isOwnToken(HERE, keys, await tokenOf(HERE, "retired"))).toBe(true);
  });

  it("a JWT with another key and another issuer, and a text that is no JWT, are no tokens of this service", async () => {
    const foreign = await tokenOf("https://elsewhere.example", "theirs");
    expect(isOwnToken(HERE, keys, foreign)).toBe(false);
    expect(isOwnToken(HERE, keys, "no.token")).toBe(false);
  });
});
