import { describe, expect, it } from "vitest";
import {
  consentedClient,
  FULL_ACCESS,
  idsOfPath,
  isLimited,
  isSubset,
  limitsOfChain,
  mayCharge,
  maySpend,
  NO_PERSON,
  personalRightsOf,
  rightsOf,
  rootOfPath,
  scopesOf,
  shownAccess,
  whyCapExceeded,
  whyNoAccess,
  whyNoAdmin,
  whyNoPurchase,
  whyNotForApp,
  whyNotWhole,
  whyNoUpstream,
  WHOLE_PERSON,
  widens,
  type AllowanceLimits,
} from "../../../src/domain/allowance.ts";
import { newCap } from "../../../src/domain/spending_cap.ts";

const NONE = { access: "none", upstream: false, admin: false } as const;
const cap = (credits: number, period: "day" | "month" = "day") => ({ credits, period });
const limits = (more: Partial<AllowanceLimits>): AllowanceLimits => ({ ...FULL_ACCESS, ...more });
const MADE = { kind: "device", client_id: null } as const;
const scope = (reason: string) => ({ code: "scope", reason });

describe("the scopes of an allowance", () => {
  it.each([
    [[], NONE],
    [["openid"], NONE],
    [["read"], { ...NONE, access: "read" }],
    [["write"], { ...NONE, access: "write" }],
    [["read", "write"], { ...NONE, access: "write" }],
    [["read", "upstream"], { ...NONE, access: "read", upstream: true }],
    [["admin"], { ...NONE, admin: true }],
  ] as const)("the scopes %j give %j", (scopes, rights) => {
    expect(rightsOf(scopes)).toEqual(rights);
  });

  it("rights have the scopes that permit them, and writing includes reading", () => {
    expect(scopesOf(NONE)).toEqual([]);
    expect(scopesOf({ ...NONE, access: "read" })).toEqual(["read"]);
    expect(scopesOf({ access: "write", upstream: true, admin: true })).toEqual([
      "read",
      "write",
      "upstream",
      "admin",
    ]);
  });

  it("a token that writes or charges may spend, and its holder reads that it writes", () => {
    expect([["write"], ["charge"]].every(maySpend)).toBe(true);
    expect([["read"], []].some(maySpend)).toBe(false);
    expect([["charge"], ["read"], ["admin"]].map(shownAccess)).toEqual(["write", "read", "none"]);
    expect(mayCharge({ scopes: "openid charge" })).toBe(true);
    expect(mayCharge({ scopes: "openid write" })).toBe(false);
  });
});

describe("the limits of an allowance", () => {
  it.each([
    [{ caps: [cap(10)] }, false],
    [{ caps: [cap(9)] }, false],
    [{ caps: [cap(11)] }, true],
    [{ caps: [] }, true],
    [{ caps: [cap(5, "month")] }, true],
    [{ caps: [cap(10), cap(90, "month")] }, false],
    [{ app_slugs: ["one"] }, false],
    [{ app_slugs: ["three"] }, true],
    [{ app_slugs: null }, true],
    [{ label: "new" }, false],
  ])("the change %j permits more than a cap of ten a day and two apps: %s", (change, is_wider) => {
    expect(widens({ caps: [cap(10)], app_slugs: ["one", "two"] }, change)).toBe(is_wider);
  });

  it("a list of apps is a part of another if that one has all of its apps", () => {
    expect(isSubset(["one"], ["one", "two"])).toBe(true);
    expect(isSubset(["one", "three"], ["one", "two"])).toBe(false);
    expect(isSubset(null, ["one"])).toBe(false);
    expect(isSubset(null, null)).toBe(true);
  });

  it("a path has the ids up to the root", () => {
    expect(idsOfPath("c b a")).toEqual(["c", "b", "a"]);
    expect(idsOfPath(null)).toEqual([]);
    expect([rootOfPath("c b a"), rootOfPath("a")]).toEqual(["a", "a"]);
  });

  it("an exchanged token may do what all of its ancestors permit", () => {
    const own = limits({ access: "read", app_slugs: ["one", "two"], caps: [cap(1)] });
    const parent = limits({ app_slugs: ["two", "three"], caps: [cap(2)] });
    expect(limitsOfChain(own, [parent, limits({ caps: [cap(3)] })])).toEqual({
      ...own,
      app_slugs: ["two"],
      caps: [cap(1), cap(2), cap(3)],
    });
    expect(limitsOfChain(limits({}), [parent]).app_slugs).toEqual(["two", "three"]);
    expect(limitsOfChain(limits({}), [limits({})]).app_slugs).toBeNull();
  });

  it.each([{ app_slugs: ["one"] }, { caps: [cap(1)] }, { access: "read" as const }])(
    "an allowance with %j is limited: it buys nothing, and is not the whole account's",
    (more) => {
      const limited = limits(more);
      expect(isLimited(limited)).toBe(true);
      expect(whyNoPurchase(MADE, limited)).toEqual(scope("no_purchase"));
      expect(whyNotWhole({ kind: "device" }, limited)).toEqual(scope("not_whole"));
    },
  );

  it("a change that raises one of two caps permits more", () => {
    const two = { caps: [cap(10), cap(50, "month")], app_slugs: null };
    expect(widens(two, { caps: [cap(10), cap(51, "month")] })).toBe(true);
    expect(widens(two, { caps: [cap(11), cap(50, "month")] })).toBe(true);
    expect(widens(two, {})).toBe(false);
  });

  it("a token without limits may buy, and is the whole account's if the person made it", () => {
    expect(FULL_ACCESS).toEqual({
      access: "write",
      upstream: true,
      admin: false,
      app_slugs: null,
      caps: [],
    });
    expect(isLimited(FULL_ACCESS)).toBe(false);
    expect(whyNoPurchase(MADE, FULL_ACCESS)).toBeNull();
    for (const kind of ["code", "exchange"] as const) {
      const connected = { kind, client_id: "demo~web" };
      expect(whyNoPurchase(connected, FULL_ACCESS)).toEqual(scope("no_purchase"));
    }
    expect(whyNotWhole({ kind: "device" }, FULL_ACCESS)).toBeNull();
    expect(whyNotWhole({ kind: "code" }, FULL_ACCESS)).toEqual(scope("not_whole"));
  });

  it("a client learns what its scopes name, and a token that the person made everything unless it is limited", () => {
    const token = { kind: "device", client_id: null, scopes: "write" } as const;
    expect(WHOLE_PERSON).toEqual({ name: true, email: true });
    expect(NO_PERSON).toEqual({ name: false, email: false });
    expect(personalRightsOf(token, FULL_ACCESS)).toEqual(WHOLE_PERSON);
    expect(personalRightsOf(token, limits({ app_slugs: [] }))).toEqual(NO_PERSON);
    const client = (scopes: string) =>
      personalRightsOf({ kind: "code", client_id: "c", scopes }, FULL_ACCESS);
    expect(client("openid profile")).toEqual({ name: true, email: false });
    expect(client("openid email")).toEqual({ name: false, email: true });
  });

  it("an allowance is refused what it has no right to, with the reason", () => {
    expect(whyNoUpstream({ ...NONE, upstream: true })).toBeNull();
    expect(whyNoUpstream(NONE)).toEqual(scope("no_upstream"));
    expect(whyNoAdmin({ ...NONE, admin: true })).toBeNull();
    expect(whyNoAdmin(NONE)).toEqual({ code: "not_operator" });
    const reads = { ...NONE, access: "read" } as const;
    expect(whyNoAccess(reads, "read")).toBeNull();
    expect(whyNoAccess({ ...NONE, access: "write" }, "read")).toBeNull();
    expect(whyNoAccess(reads, "write")).toEqual(scope("read_only"));
    expect(whyNoAccess(NONE, "read")).toEqual(scope("signin_only"));
    expect(whyNoAccess({ ...NONE, admin: true }, "read")).toEqual(scope("admin_only"));
  });

  it("an allowance for some apps acts for no other app, and not without an app", () => {
    const some = { app_slugs: ["one"] };
    expect(whyNotForApp(some, "one")).toBeNull();
    expect(whyNotForApp(some, "two")).toEqual(scope("other_app"));
    expect(whyNotForApp(some, null)).toEqual(scope("other_app"));
    expect(whyNotForApp({ app_slugs: null }, null)).toBeNull();
  });

  it("a cap permits what it has room for, and always to return credits", () => {
    const caps = [{ ...newCap(cap(10), { line: 0 }), spent: 8 }];
    expect(whyCapExceeded(caps, 2, 0)).toBeNull();
    expect(whyCapExceeded(caps, 3, 0)).toMatchObject({ room: 2, required: 3, spent: 8 });
    const beyond = [{ ...newCap(cap(10), { line: 0 }), spent: 30 }];
    expect(whyCapExceeded(beyond, 1, 0)).toMatchObject({ room: 0 });
    expect(whyCapExceeded(beyond, 0, 0)).toBeNull();
    expect(whyCapExceeded(beyond, -1, 0)).toBeNull();
    expect(whyCapExceeded([], 1, 0)).toBeNull();
  });
});

describe("a consent page", () => {
  it("lists the rights of a client, and for a device those of every token, also of one that a client collects", () => {
    expect(consentedClient({ kind: "code", client_id: "demo~web" })).toBe("demo~web");
    expect(consentedClient({ kind: "device", client_id: "demo~tv" })).toBeNull();
  });
});
