import { describe, expect, it } from "vitest";
import { isOperator } from "../../src/domain/operators.ts";

describe("an operator", () => {
  const ada = { identity_id: "1", email: "Ada@example.com", email_verified: true };

  it("is named by identity, or by an address that a provider vouches for", () => {
    expect(isOperator(["1"], ada)).toBe(true);
    expect(isOperator(["ada@example.com"], ada)).toBe(true);
    expect(isOperator(["ada@example.com"], { ...ada, email_verified: false })).toBe(false);
    expect(isOperator(["ada@example.com"], { ...ada, email: null })).toBe(false);
    expect(isOperator([], ada)).toBe(false);
  });
});
