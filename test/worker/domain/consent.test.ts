import { describe, expect, it } from "vitest";
import type { Asked } from "../../../src/domain/authorize_request.ts";
import type { OAuthClient } from "../../../src/domain/oauth_client.ts";
import {
  chooseScopes,
  consentStep,
  isAssured,
  loweredCaps,
  mayRemember,
  ownAppOf,
  preselectedApps,
  preselectedCaps,
  signInNeed,
  suggestedCap,
  wantsOtherLimits,
} from "../../../src/domain/consent.ts";

const ASKED: Asked = {
  scopes: ["write"],
  code_challenge: null,
  resource: null,
  nonce: null,
  prompts: [],
  max_age_seconds: null,
  hinted_identity_id: null,
};
const NOW_MS = 1_000_000_000;

describe("the scopes of an authorization", () => {
  const OUR_API = { resource: null, may_upstream: false };
  const MCP = { resource: { scopes: ["tools"], charges: false }, may_upstream: false };
  const PAID = { ...MCP, resource: { scopes: ["tools"], charges: true } };

  it.each([
    [["openid", "address", "phone", "write"], OUR_API, ["openid", "write"]],
    [undefined, OUR_API, ["read"]],
    [undefined, MCP, ["tools"]],
    [["tools", "write", "openid"], MCP, ["tools", "openid"]],
    [["write", "upstream"], OUR_API, ["write"]],
    [["write", "upstream"], { ...OUR_API, may_upstream: true }, ["write", "upstream"]],
    [undefined, { ...MCP, resource: { scopes: [], charges: false } }, []],
    [undefined, PAID, ["tools", "charge"]],
    [["openid", "tools"], PAID, ["openid", "tools", "charge"]],
    [["charge"], PAID, ["charge"]],
    [["charge", "tools"], MCP, ["tools"]],
    [["read", "upstream"], { ...OUR_API, may_upstream: true }, ["read", "upstream"]],
  ])("of the scopes %j a client with the offer %j gets %j", (requested, offer, scopes) => {
    expect(chooseScopes(requested, offer)).toEqual({ ok: true, value: scopes });
  });

  it.each([
    [["admin", "write"], OUR_API],
    [["phone"], OUR_API],
    [[], OUR_API],
    [["upstream"], OUR_API],
    [["openid", "upstream"], { ...OUR_API, may_upstream: true }],
    [["write"], MCP],
    [["charge"], MCP],
    [["write"], PAID],
  ])("the scopes %j are refused for the offer %j", (requested, offer) => {
    expect(chooseScopes(requested, offer)).toMatchObject({ refusal: { error: "invalid_scope" } });
  });

  it("a refusal of unknown scopes names them, and only scopes that the client can request", () => {
    const { refusal } = chooseScopes(["phone", "upstream"], OUR_API) as {
      refusal: { error_description: string };
    };
    expect(refusal.error_description).toBe(
      "None of the requested scopes is available: phone upstream. " +
        "Name at least one of these scopes: openid profile email offline_access read write.",
    );
  });
});

describe("the sign-in that an authorization needs", () => {
  it.each([
    [{}, null, "first"],
    [{ prompts: ["login"] }, null, "again"],
    [{ max_age_seconds: 60 }, null, "again"],
    [{}, NOW_MS - 1, "none"],
    [{ prompts: ["login"] }, NOW_MS - 1, "again"],
    [{ max_age_seconds: 10_000 }, NOW_MS - 60_000, "none"],
    [{ max_age_seconds: 1 }, NOW_MS - 1_001, "again"],
    [{ max_age_seconds: 1 }, NOW_MS - 1_000, "none"],
    [{ max_age_seconds: 0 }, NOW_MS, "none"],
  ] as const)("a request with %j and a sign-in at %j needs %s", (changes, started, need) => {
    expect(signInNeed({ ...ASKED, ...changes }, started, NOW_MS)).toBe(need);
  });
});

describe("the step after sign-in", () => {
  const FACTS = {
    asked: ASKED,
    may_remember: true,
    scopes: ["openid", "write"],
    connected_scopes: ["openid", "write", "offline_access"],
    wants_other_limits: false,
    has_room: true,
  };

  it.each([
    [{}, { kind: "remembered" }],
    [{ may_remember: false }, { kind: "ask" }],
    [{ asked: { prompts: ["consent"] } }, { kind: "ask" }],
    [{ asked: { prompts: ["select_account"] } }, { kind: "ask" }],
    [{ connected_scopes: null }, { kind: "ask" }],
    [{ connected_scopes: null, has_room: false }, { kind: "room_full" }],
    [{ wants_other_limits: true }, { kind: "ask" }],
    [{ has_room: false }, { kind: "remembered" }],
    [{ connected_scopes: ["openid", "read"] }, { kind: "ask_more", added: ["write"] }],
    [
      { connected_scopes: ["openid"], may_remember: false, has_room: false },
      { kind: "ask_more", added: ["write"] },
    ],
  ] as const)("with %j the step is %j", (changes, step) => {
    expect(consentStep({ ...FACTS, ...changes })).toEqual(step);
  });
});

describe("the limit that the consent page suggests", () => {
  const MONTHLY = { credits: 200, period: "month" } as const;

  it.each([
    [{ suggested_cap: MONTHLY }, 1_000, MONTHLY],
    [{ suggested_cap: MONTHLY }, 120, { ...MONTHLY, credits: 120 }],
    [{ suggested_cap: MONTHLY }, 0, MONTHLY],
    [{ suggested_cap: MONTHLY }, 1, { ...MONTHLY, credits: 1 }],
    [{ suggested_cap: MONTHLY }, -5, MONTHLY],
    [{ suggested_cap: null }, 120, { credits: 50, period: "total" }],
  ] as const)("for the registration %j and a balance of %d it is %j", (app, credits, cap) => {
    expect(suggestedCap(app, credits)).toEqual(cap);
  });

  it("a client that nobody registered gets a limit, at most the balance", () => {
    expect(suggestedCap(null, 1_000)).toEqual({ credits: 50, period: "total" });
    expect(suggestedCap(null, 20)).toEqual({ credits: 20, period: "total" });
  });

  const cap = (credits: number, period: "day" | "month" | "total") => ({ credits, period });

  it.each([
    [[], [cap(50, "total")], []],
    [[cap(50, "month")], [cap(50, "month")], []],
    [[cap(0, "day")], [cap(0, "day")], []],
    [[cap(51, "total")], [cap(50, "total")], [cap(51, "total")]],
    [[cap(10, "day"), cap(50, "month")], [cap(10, "day"), cap(50, "month")], []],
    [[cap(10, "day"), cap(500, "month")], [cap(50, "total")], [cap(10, "day"), cap(500, "month")]],
  ] as const)("of the wish %j the page starts with %j, and shows %j", (wished, caps, shown) => {
    expect(preselectedCaps(cap(50, "total"), wished)).toEqual({ caps, shown });
  });

  it.each([
    [[cap(50, "month")], [], [cap(50, "month")], []],
    [[cap(50, "month")], [cap(20, "month")], [cap(20, "month")], []],
    [[cap(50, "month")], [cap(50, "month")], [cap(50, "month")], []],
    [[cap(50, "month")], [cap(60, "month")], [cap(50, "month")], [cap(60, "month")]],
    [[cap(50, "month")], [cap(60, "day")], [cap(50, "month"), cap(60, "day")], []],
    [[cap(50, "total")], [cap(60, "day")], [cap(50, "total")], [cap(60, "day")]],
    [[], [cap(1_000, "month")], [cap(1_000, "month")], []],
  ] as const)(
    "of a connection with the caps %j and the wish %j the page starts with %j, and shows %j",
    (present, wished, caps, shown) => {
      expect(loweredCaps(present, wished)).toEqual({ caps, shown });
    },
  );

  it.each([
    [["a", "b"], undefined, ["a", "b"], []],
    [["a", "b"], ["b"], ["b"], []],
    [["a"], ["a", "c"], ["a"], ["c"]],
    [["a"], ["c"], ["a"], ["c"]],
    [null, ["c"], ["c"], []],
    [null, undefined, null, []],
  ] as const)(
    "of the apps %j and the wish %j the page starts with %j, and shows %j",
    (start, wished, apps, shown) => {
      expect(preselectedApps(start, wished)).toEqual({ apps, shown });
    },
  );
});

describe("a client that proves itself", () => {
  const registered = (is_public: boolean): OAuthClient =>
    ({ kind: "registered", public: is_public }) as OAuthClient;
  const document = { kind: "document" } as OAuthClient;

  it.each([
    [registered(false), "http://127.0.0.1/callback", true, true],
    [registered(false), "com.example.app:/callback", true, true],
    [registered(false), "https://app.example/callback", true, true],
    [registered(true), "https://app.example/callback", true, true],
    [registered(true), "https://localhost/callback", false, false],
    [registered(true), "http://app.example/callback", false, false],
    [registered(true), "com.example.app:/callback", false, false],
    [registered(true), "not an address", false, false],
    [document, "https://app.example/callback", true, false],
    [document, "http://127.0.0.1/callback", false, false],
  ])("of %j with the address %s, only the client can use a code: %s", (client, uri, is, may) => {
    expect([isAssured(client, uri), mayRemember(client, uri)]).toEqual([is, may]);
  });
});

describe("a client that nobody registered", () => {
  it.each([
    ["https://draw.example.com/client.json", "draw.example.com"],
    ["https://draw.example.com:8443/client.json", "draw.example.com"],
    [`https://${"a".repeat(52)}.example.com/client.json`, `${"a".repeat(52)}.example.com`],
    [`https://${"a".repeat(53)}.example.com/client.json`, null],
    ["https://sketch.example.com/client.json", null],
    ["http://[::1]:8080/client.json", null],
  ])("the client %s acts as %j", (client_id, own_app) => {
    expect(ownAppOf(client_id, (slug) => slug === "sketch.example.com")).toBe(own_app);
  });
});

describe("a client that is connected", () => {
  const present = {
    caps: [{ credits: 50, period: "month" }],
    app_slugs: ["sketch"],
    expires_at_ms: NOW_MS + 100_000,
  } as const;

  it.each([
    [{}, false],
    [{ caps: [{ credits: 50, period: "month" }], apps: ["sketch"], expires_in: 100 }, false],
    [{ expires_in: 10_000 }, false],
    [{ expires_in: 99 }, true],
    [{ caps: [{ credits: 51, period: "month" }] }, true],
    [{ caps: [{ credits: 50, period: "day" }] }, true],
    [{ caps: [] }, true],
    [{ apps: ["sketch", "film"] }, true],
    [{ apps: ["film"] }, true],
  ] as const)("a request with the limits %j wants other ones: %s", (wished, is_other) => {
    expect(wantsOtherLimits(wished, present, NOW_MS)).toBe(is_other);
  });

  it("a request for the same limits in another order wants no other ones", () => {
    const two = {
      caps: [
        { credits: 50, period: "month" },
        { credits: 5, period: "day" },
      ],
      app_slugs: ["sketch", "film"],
      expires_at_ms: NOW_MS + 100_000,
    } as const;
    const same = { caps: two.caps.toReversed(), apps: ["film", "sketch"] };
    expect(wantsOtherLimits(same, two, NOW_MS)).toBe(false);
    const [first] = two.caps;
    expect(wantsOtherLimits({ caps: [first, { ...first, credits: 5 }] }, two, NOW_MS)).toBe(true);
    expect(wantsOtherLimits({ apps: ["film"] }, two, NOW_MS)).toBe(true);
  });

  it.each([
    [undefined, 0, false],
    [100, 100_000, false],
    [100, 100_001, true],
  ])("an expiry in %s seconds is earlier than one in %d ms: %s", (expires_in, in_ms, is_other) => {
    const ends = { ...present, expires_at_ms: NOW_MS + in_ms };
    expect(wantsOtherLimits({ expires_in }, ends, NOW_MS)).toBe(is_other);
  });
});
