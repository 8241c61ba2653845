import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { CEREMONY_PURPOSE, CONSENT_PURPOSE } from "../../../src/keys/encryption.ts";
import { createSealedTexts } from "../../../src/keys/sealed_text.ts";
import { passTime } from "../support/clock.ts";

const BASE_URL = "https://id.family.test";
const drawKey = (kid: string) => ({
  kid,
  k: base64url.encode(crypto.getRandomValues(new Uint8Array(32))),
});
const [key, other] = [drawKey("first; key"), drawKey("other")];
const texts = createSealedTexts([key], CONSENT_PURPOSE);

describe("a sealed text", () => {
  it("a sealed text opens unchanged, also under an older key", async () => {
    const sealed = await texts.seal(BASE_URL, "client_id=démo&state=1", 1_000);
    const opened = { text: "client_id=démo&state=1", is_expired: false };
    expect(await texts.open(BASE_URL, sealed)).toEqual(opened);
    const rotated = createSealedTexts([other, key], CONSENT_PURPOSE);
    expect(await rotated.open(BASE_URL, sealed)).toEqual(opened);
  });

  it("a sealed text hides its content", async () => {
    const sealed = await texts.seal(BASE_URL, "secret", 1_000);
    expect(sealed).toMatch(/^[\w.-]+$/);
    expect(atob(sealed.slice(sealed.indexOf(".") + 1).replaceAll(/[-_]/g, "A"))).not.toContain(
      "secret",
    );
  });

  it("an expired text opens as expired", async () => {
    const sealed = await texts.seal(BASE_URL, "text", 1_000);
    passTime(1_000);
    expect(await texts.open(BASE_URL, sealed)).toEqual({ text: "text", is_expired: true });
  });

  it("a changed text, and one of another address, purpose or key, does not open", async () => {
    const sealed = await texts.seal(BASE_URL, "text", 1_000);
    const last = sealed.at(-2) === "A" ? "B" : "A";
    const changed = `${sealed.slice(0, -2)}${last}${sealed.slice(-1)}`;
    for (const word of [changed, sealed.slice(1), "", ".", "x", "*.x", `${sealed}.x`]) {
      expect(await texts.open(BASE_URL, word), word).toBeNull();
    }
    expect(await texts.open("https://evil.test", sealed)).toBeNull();
    expect(await createSealedTexts([key], CEREMONY_PURPOSE).open(BASE_URL, sealed)).toBeNull();
    expect(await createSealedTexts([other], CONSENT_PURPOSE).open(BASE_URL, sealed)).toBeNull();
  });
});
