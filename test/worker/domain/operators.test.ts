import { describe, expect, it } from "vitest";
import {
  contradict,
  findOperator,
  includesRole,
  OPERATOR_ROLES,
  operatorName,
  parseOperator,
  rightsOf,
  type Operator,
  type SignInOptions,
  whyUnmatchable,
} from "../../../src/domain/operators.ts";

const ONE: SignInOptions = { provider_ids: ["google"], dev_signin: false };
const TWO: SignInOptions = { provider_ids: ["google", "acme"], dev_signin: false };
const DEVELOPMENT: SignInOptions = { ...TWO, dev_signin: true };

const ada = { identity_id: "1", email: "Ada@example.com", vouched_by: "google" };

const read = (entry: string): Operator => {
  const operator = parseOperator(entry);
  if (!operator.ok) throw new Error(operator.refusal);
  return operator.value;
};
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
    expect(findOperator([], ONE, ada)).toBeNull();
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

  it("an address with its provider comes before an address, and an identity id before both, alone too", () => {
    const both = { provider_ids: ["google"], dev_signin: true };
    expect(roleOf(["google:ada@example.com=viewer", "1=support"], both)).toBe("support");
    expect(roleOf(["1=support", "google:ada@example.com=viewer"], both)).toBe("support");
  });

  it("an entry is named without its role", () => {
    const entries = ["1=viewer", "Ada@example.com", "google:ada@example.com=support"];
    expect(entries.map((entry) => operatorName(read(entry)))).toEqual([
      "1",
      "ada@example.com",
      "google:ada@example.com",
    ]);
  });

  it.each([
    ["1=viewer", "1", true],
    ["1=viewer", "1=viewer", false],
    ["1=viewer", "2", false],
    ["ada@example.com=viewer", "google:ada@example.com", false],
    ["ada@example.com=viewer", "ADA@example.com=support", true],
  ])("the entries %s and %s contradict each other: %s", (one, other, contradicts) => {
    expect(contradict(read(one), read(other))).toBe(contradicts);
  });

  it("only the role support has a daily maximum, which is counted for its entry", () => {
    expect(rightsOf(read("1=viewer"), 100)).toEqual({ role: "viewer" });
    expect(rightsOf(read("1"), 100)).toEqual({ role: "admin" });
    expect(rightsOf(read("1=support"), 100)).toEqual({
      role: "support",
      entry: "1",
      credits_max_per_day: 100,
    });
  });

  it.each([
    ["1", ONE, null],
    ["1", { provider_ids: [], dev_signin: false }, null],
    ["ada@example.com", ONE, null],
    ["google:ada@example.com", TWO, null],
    ["ada@example.com", { provider_ids: [], dev_signin: false }, /^Configure a provider/],
    ["ada@example.com", TWO, /such as google:ada@example.com\.$/],
    ["other:ada@example.com", TWO, /no provider other\. It has google, acme\.$/],
  ] as const)("why the entry %s can match nobody with %j is %s", (entry, options, why) => {
    const reason = whyUnmatchable(read(entry), options);
    if (why === null) expect(reason).toBeNull();
    else expect(reason).toMatch(why);
  });

  it("each role includes itself and the roles before it", () => {
    const included = OPERATOR_ROLES.map((role) =>
      OPERATOR_ROLES.filter((needed) => includesRole(role, needed)),
    );
    expect(included).toEqual([["viewer"], ["viewer", "support"], ["viewer", "support", "admin"]]);
  });
});
