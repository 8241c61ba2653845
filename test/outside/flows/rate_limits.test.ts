import { unstable_readConfig } from "wrangler";
import { describe, expect, it } from "vitest";
import { NETWORK_RATE_LIMITS, RATE_LIMIT_RULES } from "../../../src/domain/rate_limits.ts";

describe("the rate limits", () => {
  const config = unstable_readConfig({ config: "wrangler.toml" });
  const ratelimits = config.ratelimits as readonly {
    readonly name: string;
    readonly namespace_id: string;
    readonly simple: { readonly limit: number; readonly period: number };
  }[];

  it("the rate limits in wrangler.toml are the ones that the rules state", () => {
    const configured = new Map(ratelimits.map(({ name, simple }) => [name, simple]));
    const stated = new Map(
      RATE_LIMIT_RULES.map((rule) => [
        rule.binding as string,
        { limit: rule.count, period: rule.window_seconds },
      ]),
    );
    expect(configured).toEqual(stated);
  });

  it("each rate limit has its own counter", () => {
    const spaces = ratelimits.map(({ namespace_id }) => namespace_id);
    expect(new Set(spaces).size).toBe(spaces.length);
  });

  it("a /48 has a higher rate limit than one of its networks", () => {
    for (const { network, site } of Object.values(NETWORK_RATE_LIMITS)) {
      expect(site.count).toBeGreaterThan(network.count);
      expect(site.window_seconds).toBe(network.window_seconds);
    }
  });
});
