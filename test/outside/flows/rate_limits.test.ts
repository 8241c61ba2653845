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

  it("that the platform counts are those that the rules state", () => {
    const configured = new Map(ratelimits.map(({ name, simple }) => [name, simple]));
    const stated = new Map(
      RATE_LIMIT_RULES.map((rule) => [
        rule.binding as string,
        { limit: rule.count, period: rule.window_seconds },
      ]),
    );
    expect(configured).toEqual(stated);
  });

  it("count apart from each other", () => {
    const spaces = ratelimits.map(({ namespace_id }) => namespace_id);
    expect(new Set(spaces).size).toBe(spaces.length);
  });

  it("give a /48 more room than a network of it", () => {
    for (const { network, site } of Object.values(NETWORK_RATE_LIMITS)) {
      expect(site.count).toBeGreaterThan(network.count);
      expect(site.window_seconds).toBe(network.window_seconds);
    }
  });
});
