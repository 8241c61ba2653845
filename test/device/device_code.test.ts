import { describe, expect, it } from "vitest";
import { createDeviceCodes } from "../../src/device/device_code.ts";

const OLD = "b2xkIHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";
const NEW = "bmV3IHNlY3JldCBvZiAzMiBieXRlcywgYXMgdGhleSBhcmU";

describe("a device code", () => {
  it("names its user code, and is another one each time", async () => {
    const codes = createDeviceCodes([NEW]);
    const first = await codes.issue("BCDFGHJK");
    expect(await codes.read(first)).toBe("BCDFGHJK");
    expect(await codes.issue("BCDFGHJK")).not.toBe(first);
  });

  it("outlives a rotation of the keys, and not their removal", async () => {
    const code = await createDeviceCodes([OLD]).issue("BCDFGHJK");
    expect(await createDeviceCodes([NEW, OLD]).read(code)).toBe("BCDFGHJK");
    expect(await createDeviceCodes([NEW]).read(code)).toBeNull();
  });

  it("is stored as a digest that tells nothing of it", async () => {
    const codes = createDeviceCodes([NEW]);
    const code = await codes.issue("BCDFGHJK");
    const digest = await codes.digest(code);
    expect(digest).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(code).not.toContain(digest);
  });
});
