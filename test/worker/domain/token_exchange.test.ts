import { describe, expect, it } from "vitest";
import { ALLOWANCE_DEPTH_MAX } from "../../../src/domain/limits.ts";
import { narrows, whyNoChild, whyNotCharge } from "../../../src/domain/token_exchange.ts";

const cap = (credits: number, period: "day" | "month" | "total" = "day") => ({ credits, period });
const PARENT = {
  scopes: ["read", "write"],
  limits: { app_slugs: ["one", "two"], caps: [cap(10), cap(90, "total")] },
  expires_at_ms: 100,
  depth: 1,
};

describe("a token that is exchanged for a narrower one", () => {
  it.each([
    {},
    { scopes: ["read", "write"] },
    { scopes: ["read", "write", "upstream"] },
    { app_slugs: ["one", "two"] },
    { app_slugs: ["one", "two", "three"] },
    { caps: [] },
    { expires_at_ms: 100 },
    { expires_at_ms: 101 },
  ])("the request %j asks for nothing less", (narrowing) => {
    expect(narrows(PARENT, narrowing)).toBe(false);
  });

  it.each([
    { scopes: ["read"] },
    { scopes: [] },
    { app_slugs: ["one"] },
    { caps: [cap(10)] },
    { expires_at_ms: 99 },
  ])("the request %j asks for less", (narrowing) => {
    expect(narrows(PARENT, narrowing)).toBe(true);
  });

  it.each([
    [{}, null],
    [{ scopes: ["read"] }, null],
    [{ scopes: ["read", "upstream"] }, "wider_scope"],
    [{ app_slugs: ["two"] }, null],
    [{ app_slugs: ["two", "three"] }, "wider_apps"],
    [{ caps: [cap(10)] }, null],
    [{ caps: [cap(11)] }, "wider_caps"],
    [{ caps: [cap(1), cap(91, "month")] }, "wider_caps"],
    [{ caps: [cap(90, "month")] }, null],
    [{ caps: [cap(90, "total")] }, null],
    [{ expires_at_ms: 100 }, null],
    [{ expires_at_ms: 101 }, "later_expiry"],
  ] as const)("the request %j has the problem %s", (narrowing, problem) => {
    expect(whyNoChild(PARENT, narrowing)).toBe(problem);
  });

  it("a token without an expiry of its own ends with its parent, whenever that is", () => {
    expect(whyNoChild({ ...PARENT, expires_at_ms: 0 }, {})).toBeNull();
  });

  it("a chain of tokens has an end", () => {
    expect(whyNoChild({ ...PARENT, depth: ALLOWANCE_DEPTH_MAX - 1 }, {})).toBeNull();
    expect(whyNoChild({ ...PARENT, depth: ALLOWANCE_DEPTH_MAX }, {})).toBe("too_deep");
  });
});

describe("a token with which an app charges", () => {
  const connection = { scopes: ["read", "charge"], limits: { app_slugs: ["one"], caps: [] } };

  it("only the app of a connection that charges gets one", () => {
    expect(whyNotCharge(connection, "one", {})).toBeNull();
    expect(whyNotCharge(connection, "two", {})).toBe("not_charging");
    const all = { ...connection, limits: { app_slugs: null, caps: [] } };
    expect(whyNotCharge(all, "one", {})).toBe("not_charging");
    expect(whyNotCharge({ ...connection, scopes: ["read"] }, "one", {})).toBe("not_charging");
  });

  it.each([
    [{ scopes: ["charge"] }, null],
    [{ scopes: [] }, null],
    [{ scopes: ["read"] }, "wider_scope"],
    [{ scopes: ["charge", "read"] }, "wider_scope"],
    [{ caps: [] }, "charge_narrowed"],
    [{ app_slugs: ["one"] }, "charge_narrowed"],
    [{ expires_at_ms: 5 }, "charge_narrowed"],
  ] as const)("the request %j has the problem %s", (narrowing, problem) => {
    expect(whyNotCharge(connection, "one", narrowing)).toBe(problem);
  });
});
