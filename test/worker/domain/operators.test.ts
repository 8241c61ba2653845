import { describe, expect, it } from "vitest";
import {
  findOperator,
  includesRole,
  OPERATOR_ROLES,
  parseOperator,
  type SignInOptions,
} from "../../../src/domain/operators.ts";

const ONE: SignInOptions = { provider_ids: ["google"], dev_signin: false };
const TWO: SignInOptions = { provider_ids: ["google", "acme"], dev_signin: false };
const DEVELOPMENT: SignInOptions = { ...TWO, dev_signin: true };

const ada = { identity_id: "1", email: "Ada@example.com", vouched_by: "google" };

const roleOf = (entries: readonly string[], options: SignInOptions, person: object = {}) => {
  const operators = entries.map(parseOperator).flatMap((read) => (read.ok ? [read.value] : []));
  return findOperator(operators, options, { ...ada, ...person })?.role ?? null;
};
const operates = (entry: string, options: SignInOptions, person: object = {}) =>
  roleOf([entry], options, person) !== null;

describe("an operator", () => {
  it("an identity id names an operator with any number of providers", () => {
    expect(operates("1", TWO)).toBe(true);
    expect(operates("2", TWO)).toBe(false);
    expect(roleOf([], ONE)).toBeNull();
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
      expect(parseOperator(entry)).toEqual({ ok: false, refusal: "unreadable" });
    },
  );
});

describe("the role of an operator", () => {
  it("an entry without a role makes an admin, and each role can be named", () => {
    expect(roleOf(["1"], ONE)).toBe("admin");
    for (const role of OPERATOR_ROLES) {
      expect(roleOf([`1=${role}`], ONE)).toBe(role);
      expect(roleOf([`google:ada@example.com=${role}`], TWO)).toBe(role);
    }
  });

  it.each(["1=", "1=root", "1=Admin", "1=viewer=admin", "ada@example.com= admin", "1=constructor"])(
    "%j is an operator entry with an unknown role",
    (entry) => {
      expect(parseOperator(entry)).toEqual({ ok: false, refusal: "unknown_role" });
    },
  );

  it("the most specific entry that names a person decides their role, in any order", () => {
    const address = "ada@example.com=admin";
    const provider = "google:ada@example.com=support";
    const identity = "1=viewer";
    expect(roleOf([address, provider, identity], ONE)).toBe("viewer");
    expect(roleOf([identity, provider, address], ONE)).toBe("viewer");
    expect(roleOf([address, provider], ONE)).toBe("support");
    expect(roleOf([provider, address], ONE)).toBe("support");
    expect(roleOf([identity, address], ONE, { identity_id: "2" })).toBe("admin");
  });

  it("each role includes itself and the roles before it", () => {
    const included = OPERATOR_ROLES.map((role) =>
      OPERATOR_ROLES.filter((needed) => includesRole(role, needed)),
    );
    expect(included).toEqual([["viewer"], ["viewer", "support"], ["viewer", "support", "admin"]]);
  });
});
