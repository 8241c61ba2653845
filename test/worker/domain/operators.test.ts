import { describe, expect, it } from "vitest";
import { isOperator, parseOperator, type SignInOptions } from "../../../src/domain/operators.ts";

const ONE: SignInOptions = { provider_ids: ["google"], dev_signin: false };
const TWO: SignInOptions = { provider_ids: ["google", "acme"], dev_signin: false };
const DEVELOPMENT: SignInOptions = { ...TWO, dev_signin: true };

const ada = { identity_id: "1", email: "Ada@example.com", vouched_by: "google" };

const operates = (entry: string, options: SignInOptions, person: object = {}) => {
  const operator = parseOperator(entry);
  return operator !== null && isOperator([operator], options, { ...ada, ...person });
};

describe("an operator", () => {
  it("an identity id names an operator with any number of providers", () => {
    expect(operates("1", TWO)).toBe(true);
    expect(operates("2", TWO)).toBe(false);
    expect(isOperator([], ONE, ada)).toBe(false);
  });

  it("an e-mail address verified by the only provider names an operator", () => {
    expect(operates("ada@EXAMPLE.com", ONE)).toBe(true);
    expect(operates("ada@example.com", ONE, { vouched_by: null })).toBe(false);
    expect(operates("ada@example.com", ONE, { email: null })).toBe(false);
    expect(operates("ada@example.com", ONE, { vouched_by: "a provider since removed" })).toBe(
      false,
    );
  });

  it("an address without a provider names nobody if there are several providers", () => {
    expect(operates("ada@example.com", TWO)).toBe(false);
    expect(operates("ada@example.com", { provider_ids: [], dev_signin: false })).toBe(false);
  });

  it("an address with its provider names an operator", () => {
    expect(operates("google:ada@example.com", TWO)).toBe(true);
    expect(operates("acme:ada@example.com", TWO)).toBe(false);
    expect(operates("acme:ada@example.com", TWO, { vouched_by: "acme" })).toBe(true);
  });

  it("an address of the development sign-in names an operator", () => {
    expect(operates("ada@example.com", DEVELOPMENT, { vouched_by: "dev" })).toBe(true);
    expect(operates("dev:ada@example.com", DEVELOPMENT, { vouched_by: "dev" })).toBe(true);
    expect(operates("ada@example.com", DEVELOPMENT, { vouched_by: "google" })).toBe(false);
    expect(operates("dev:ada@example.com", ONE, { vouched_by: "dev" })).toBe(false);
  });

  it("an address with a letter that only lower-cases to ASCII names nobody", () => {
    expect(operates("mike@example.com", ONE, { email: "mi\u212Ae@example.com" })).toBe(false);
    expect(operates("mi\u212Ae@example.com", ONE, { email: "mike@example.com" })).toBe(false);
  });

  it.each(["ada @example.com", "ada@", "@example.com", "GOOGLE:ada@example.com", "a:b:c@d", "a b"])(
    "%j is not a valid operator entry",
    (entry) => {
      expect(parseOperator(entry)).toBeNull();
    },
  );
});
