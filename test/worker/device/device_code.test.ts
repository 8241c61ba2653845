import { describe, expect, it } from "vitest";
import { createDeviceCodes } from "../../../src/device/device_code.ts";
import { createMacKeys } from "../../../src/keys/mac.ts";

const OLD = "b2xkIHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";
const NEW = "bmV3IHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";

/** Device codes under keys derived from these private parts. */
function codesUnder(...private_parts: string[]) {
  const rest = { kty: "OKP", crv: "Ed25519", x: "unused" } as const;
  const signing_keys = private_parts.map((d) => ({ ...rest, kid: d, d }));
  return createDeviceCodes(createMacKeys(signing_keys, "a purpose of tests"));
}

describe("a device code", () => {
  it("a device code contains its user code and differs each time", async () => {
    const codes = codesUnder(NEW);
    const first = await codes.issue("BCDFGHJK");
    expect(await codes.read(first)).toBe("BCDFGHJK");
    expect(await codes.issue("BCDFGHJK")).not.toBe(first);
  });

  it("a device code survives a key rotation but not the removal of its key", async () => {
    const code = await codesUnder(OLD).issue("BCDFGHJK");
    expect(await codesUnder(NEW, OLD).read(code)).toBe("BCDFGHJK");
    expect(await codesUnder(NEW).read(code)).toBeNull();
  });

  it("a device code is stored only as a digest", async () => {
    const codes = codesUnder(NEW);
    const code = await codes.issue("BCDFGHJK");
    const digest = await codes.digest(code);
    expect(digest).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(code).not.toContain(digest);
  });
});
