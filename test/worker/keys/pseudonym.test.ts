import { describe, expect, it, vi } from "vitest";
import { createPseudonyms, rememberPseudonyms } from "../../../src/keys/pseudonym.ts";

describe("remembered pseudonyms", () => {
  it("a pseudonym is made once, is the first one, and differs between people", async () => {
    const algorithm = { name: "HMAC", hash: "SHA-256", length: 256 };
    const key = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
    if (!(key instanceof CryptoKey)) throw new Error("a MAC has one key");
    const pseudonymsOf = createPseudonyms(async () => [{ kid: "first", key }]);
    const made = vi.fn(pseudonymsOf);
    const pseudonymOf = rememberPseudonyms(made);
    const [ada] = await pseudonymsOf(["ada"]);
    const [bob] = await pseudonymsOf(["bob"]);
    for (let time = 0; time < 3; time += 1) {
      expect(await pseudonymOf("ada")).toBe(ada);
      expect(await pseudonymOf("bob")).toBe(bob);
    }
    expect(ada).not.toBe(bob);
    expect(made).toHaveBeenCalledTimes(2);
    // The memory is bounded.
    for (let person = 0; person < 2_000; person += 1) await pseudonymOf(`person ${person}`);
    made.mockClear();
    expect(await pseudonymOf("ada")).toBe(ada);
    expect(made).toHaveBeenCalledTimes(1);
  });
});
