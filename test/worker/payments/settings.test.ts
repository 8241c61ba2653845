import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { sayProblem } from "../../../src/config/problems.ts";
import { PACKAGES, SELLING } from "./till.ts";

function problemsOf(settings: object): readonly string[] {
  const read = readConfig({ ...env, ...SELLING, ...settings });
  return read.ok ? [] : read.refusal.problems.map(sayProblem);
}

function packages(...changes: readonly object[]): object {
  const list = PACKAGES.map((it, index) => ({ ...it, ...changes[index] }));
  return { CREDIT_PACKAGES: JSON.stringify(list) };
}

describe("payment settings", () => {
  it("payment settings may be set together or left out", () => {
    expect(problemsOf({})).toEqual([]);
    const none = Object.fromEntries(Object.keys(SELLING).map((name) => [name, undefined]));
    expect(problemsOf(none)).toEqual([]);
    const read = readConfig({ ...env, ...none });
    expect(read.ok && read.value.payments).toBeNull();
  });

  it.each<[string, object, readonly string[]]>([
    [
      "no secrets",
      { STRIPE_SECRET_KEY: undefined, STRIPE_WEBHOOK_SECRET: undefined },
      [
        "STRIPE_SECRET_KEY: is missing: CREDIT_PACKAGES cannot take money without it",
        "STRIPE_WEBHOOK_SECRET: is missing: CREDIT_PACKAGES cannot take money without it",
      ],
    ],
    [
      "nothing for sale",
      { CREDIT_PACKAGES: undefined },
      [
        "CREDIT_PACKAGES: is missing: STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET cannot take money without it",
      ],
    ],
    ["an empty list", { CREDIT_PACKAGES: "[]" }, ["CREDIT_PACKAGES: must not be empty"]],
    [
      "one price twice",
      packages({}, { price: "price_small" }),
      ["CREDIT_PACKAGES: has one price twice"],
    ],
    ["one id twice", packages({}, { id: "small" }), ["CREDIT_PACKAGES: has one id twice"]],
    [
      "a product's id for a price",
      packages({}, { price: "prod_1" }),
      ["CREDIT_PACKAGES, entry 2, price: is not the id of a price, such as price_1Pq…"],
    ],
    [
      "an empty price text",
      packages({ price_text: " " }),
      ["CREDIT_PACKAGES, entry 1, price_text: must not be empty"],
    ],
    [
      "a price text that is too long",
      packages({ price_text: "x".repeat(41) }),
      ["CREDIT_PACKAGES, entry 1, price_text: must have at most 40 characters"],
    ],
    [
      "no credits",
      packages({ credits: 0 }),
      ["CREDIT_PACKAGES, entry 1, credits: must be at least 1"],
    ],
    [
      "a part of a credit",
      packages({ credits: 1.5 }),
      ["CREDIT_PACKAGES, entry 1, credits: must be a whole number"],
    ],
    [
      "a publishable key",
      { STRIPE_SECRET_KEY: "pk_live_1" },
      ["STRIPE_SECRET_KEY: is not a secret key of Stripe's, such as sk_live_…"],
    ],
    [
      "a key for the signing secret",
      { STRIPE_WEBHOOK_SECRET: "sk_test_1" },
      ["STRIPE_WEBHOOK_SECRET: is not a webhook's signing secret of Stripe's, whsec_…"],
    ],
  ])("payment settings with %s name what would be valid", (_, settings, problems) => {
    expect(problemsOf(settings)).toEqual(problems);
  });

  it.each(["https://api.stripe.com", "http://localhost:12111", "http://127.0.0.1:1/"])(
    "STRIPE_API_URL may be %s",
    (STRIPE_API_URL) => expect(problemsOf({ STRIPE_API_URL })).toEqual([]),
  );

  it.each([
    "https://api.stripe.com.evil.example",
    "https://stripe.example.com",
    "http://api.stripe.com",
    "http://localhost:12111/v1",
    "https://user@api.stripe.com",
    "nonsense",
  ])("STRIPE_API_URL may not be %s", (STRIPE_API_URL) => {
    const [problem] = problemsOf({ STRIPE_API_URL });
    expect(problem).toMatch(/^STRIPE_API_URL: must be https:\/\/api\.stripe\.com, or/);
  });
});
