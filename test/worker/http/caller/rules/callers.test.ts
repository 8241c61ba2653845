import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { HOLDER } from "../../../../../src/account/contract.ts";
import { accepted, refused } from "../../../../../src/domain/result.ts";
import { accountCallerOf } from "../../../../../src/http/caller/account_caller.ts";
import {
  isDeletedClient,
  isDeletedResource,
} from "../../../../../src/http/caller/deleted_registrations.ts";
import { identifyAppSession } from "../../../../../src/http/caller/app_session.ts";
import {
  identifyOperator,
  isForeignSession,
  loadOperatorRights,
  readOperatorRights,
  requireOperator,
} from "../../../../../src/http/caller/operator.ts";
import type { AppContext, AppEnvironment } from "../../../../../src/http/context.ts";

const HERE = "https://passbook.example";
const APP = "https://app.example";

/** The context of a request with these values and services. */
const contextOf = (values: object, services: object = {}): AppContext => {
  const all: Readonly<Record<string, unknown>> = { base_url: HERE, ...values, services };
  return { get: (name: string) => all[name] } as unknown as AppContext;
};

const session = (azp: string) => ({ kind: "session", session_id: "s1", azp }) as const;
const PERSONAL = {
  kind: "personal_token",
  credential: { kind: "allowance", allowance_id: "a1" },
} as const;
const appSession = (party: string | null) =>
  ({ kind: "app_session", issuer_id: "acme", party, upstream: false }) as const;

const OF_ANY_APP = { kind: "page", app_slugs: null, of_any_app: true } as const;

describe("the caller in the terms of the account", () => {
  const services = (cookie_domain: string | null) => ({
    config: { cookie_domain, allowed_origins: [] },
    keepOwned: async (origins: unknown) => origins,
    apps: {
      all: async () => new Map([["app", { origins: [{ kind: "exact", origin: APP }] }]]),
      slugsOfOrigin: async (origin: string) => [`app of ${origin}`],
      slugsUnder: async (domain: string) => [`apps under "${domain}"`],
    },
  });

  it.each([
    ["our own page acts as the holder", session(HERE), HOLDER],
    ["another page acts for the apps of its origin", session(APP), [`app of ${APP}`]],
    [
      "the shared cookie acts for all apps of its domain",
      session("shared"),
      ['apps under "family.example"'],
    ],
    ["an app's session acts for the apps of its party", appSession(APP), [`app of ${APP}`]],
    ["an app's session without a party may be of any app", appSession(null), OF_ANY_APP],
    ["an app's session of a client's id may be of any app", appSession("client-1"), OF_ANY_APP],
    ["an app's session that names our own origin may be of any app", appSession(HERE), OF_ANY_APP],
    [
      "an app's session that names an origin of no app may be of any app",
      appSession("https://unregistered.example"),
      OF_ANY_APP,
    ],
  ] as const)("%s", async (_, proof, caller) => {
    const context = contextOf({}, services("family.example"));
    const expected = Array.isArray(caller) ? { kind: "page", app_slugs: caller } : caller;
    expect(await accountCallerOf(context, proof)).toEqual(expected);
  });

  it("without a cookie domain, the shared cookie acts for the apps under no domain", async () => {
    const caller = await accountCallerOf(contextOf({}, services(null)), session("shared"));
    expect(caller).toEqual({ kind: "page", app_slugs: ['apps under ""'] });
  });

  it("a token acts with the limits of its allowance", async () => {
    const { credential } = PERSONAL;
    const caller = await accountCallerOf(contextOf({}), PERSONAL);
    expect(caller).toEqual({ kind: "allowance", credential });
  });
});

describe("a client or a resource that an operator deleted", () => {
  const context = contextOf(
    {},
    {
      apps: {
        findClient: async (id: string) => ({ kind: id === "demo~known" ? "client" : "unknown" }),
        findResource: async (url: unknown) => ({ kind: url === APP ? "resource" : "unknown" }),
      },
    },
  );

  it("a registered client that is gone is deleted, and a client with a document never is", async () => {
    expect(await isDeletedClient(context, "demo~known")).toBe(false);
    expect(await isDeletedClient(context, "demo~known", "demo~gone")).toBe(true);
    expect(await isDeletedClient(context, "https://client.example/document")).toBe(false);
  });

  it("a resource that is gone is deleted, and our API never is", async () => {
    expect(await isDeletedResource(context, "https://gone.example")).toBe(true);
    expect(await isDeletedResource(context, APP)).toBe(false);
    expect(await isDeletedResource(context, null)).toBe(false);
  });
});

describe("an operator's session", () => {
  it.each([
    ["the cookie of our own page", "cookie", session(HERE), false],
    ["the cookie of another page", "cookie", session(APP), true],
    ["a session token of our own page", "bearer", session(HERE), true],
    ["a session token of another page", "bearer", session(APP), true],
    ["a session of an app", "bearer", appSession(HERE), true],
    ["a personal token", "bearer", PERSONAL, false],
  ] as const)("%s (%s) is of a foreign page: %o", (_, via, proof, is_foreign) => {
    expect(isForeignSession(contextOf({ caller: { via, proof } }))).toBe(is_foreign);
  });

  const entry = { kind: "identity", identity_id: "ada", role: "admin" };
  /** What a request of an operator queries, all of which accepts them. */
  function open(changed: object = {}) {
    const queried: string[] = [];
    const state = {
      operators: [entry] as readonly object[],
      is_live: true,
      admitted: accepted(null) as unknown,
      proof: session(HERE) as object,
      ...changed,
    };
    const services = {
      config: { operators: state.operators, signin_options: [], support_credits_max: 5 },
      identity: {
        isSessionLive: async (session_id: string, identity_id: string) => {
          queried.push(`${session_id} of ${identity_id}`);
          return state.is_live;
        },
        readPerson: async () => {
          queried.push("person");
          return null;
        },
      },
      accounts: () => ({ checkOperator: async () => state.admitted }),
    };
    const caller = {
      identity_id: "ada",
      via: "cookie",
      proof: state.proof,
      account_caller: HOLDER,
    };
    return { queried, context: contextOf({ caller }, services) };
  }

  it("an operator is a person of the list with a live session that the account admits", async () => {
    const { context, queried } = open();
    expect(await identifyOperator(context)).toMatchObject({ ok: true, value: { role: "admin" } });
    expect(queried).toEqual(["s1 of ada", "person"]);
  });

  it("an operator's personal token needs no session", async () => {
    const { context, queried } = open({ proof: PERSONAL, is_live: false });
    expect(await identifyOperator(context)).toMatchObject({ ok: true });
    expect(queried).toEqual(["person"]);
  });

  const suspended = refused({ code: "account_suspended" });
  it.each([
    [
      "whose session has ended",
      { is_live: false },
      { code: "unauthorized", reason: "session_ended" },
    ],
    [
      "from another page",
      { proof: session(APP) },
      { code: "not_operator", reason: "foreign_session" },
    ],
    ["whom the account does not admit", { admitted: suspended }, { code: "account_suspended" }],
    [
      "who is not in the list",
      { operators: [{ ...entry, identity_id: "ben" }] },
      { code: "not_operator" },
    ],
  ])("a person %s is no operator", async (_, changed, refusal) => {
    expect(await identifyOperator(open(changed).context)).toEqual({ ok: false, refusal });
  });

  it("without operators, no person is read", async () => {
    const { context, queried } = open({ operators: [] });
    expect(await readOperatorRights(context, "ada")).toBeNull();
    expect(queried).toEqual([]);
  });
});

describe("a session of an app", () => {
  const verified = (party: string | null, authorized_parties: readonly string[] | null) => ({
    subject: "person-1",
    party,
    expires_at_ms: 1,
    issuer: { id: "acme", issuer: "https://acme.example", authorized_parties, upstream: true },
  });

  /** A token of a trusted issuer whose person is known. */
  function open(token: unknown, changed: object = {}) {
    const counted: string[] = [];
    const state = {
      is_named: true,
      known: "ada" as string | null,
      found: {},
      passes: true,
      ...changed,
    };
    const services = {
      issuer_tokens: { names: () => state.is_named, verify: async () => token },
      token_people: { known: () => state.known, find: async () => state.found },
      apps: { slugsOfOrigin: async () => ["demo"], all: async () => new Map() },
      config: { allowed_origins: [{ kind: "exact", origin: APP }] },
      keepOwned: async (origins: unknown) => origins,
      limiters: () => ({
        limit: async ({ key }: { readonly key: string }) => {
          counted.push(key);
          return { success: state.passes };
        },
      }),
    };
    return { counted, identified: identifyAppSession(contextOf({}, services), "token") };
  }

  it("a token of an authorized party is a session of that party", async () => {
    const { identified, counted } = open(verified("client-1", ["client-1"]));
    expect(await identified).toMatchObject({
      ok: true,
      value: {
        identity_id: "ada",
        proof: { kind: "app_session", issuer_id: "acme", party: "client-1", upstream: true },
        account_caller: OF_ANY_APP,
        via: "bearer",
      },
    });
    expect(counted).toEqual([]);
  });

  it.each([
    ["an allowed origin", APP],
    ["no party", null],
  ])("without authorized parties, a token of %s is accepted", async (_, party) => {
    expect(await open(verified(party, null)).identified).toMatchObject({ ok: true });
  });

  it.each([
    ["is not valid", null, {}],
    ["does not name a trusted issuer", verified("client-1", ["client-1"]), { is_named: false }],
    ["is of another party", verified("client-2", ["client-1"]), {}],
    ["is of an allowed origin that is not authorized", verified(APP, ["client-1"]), {}],
    ["names no party although some are authorized", verified(null, ["client-1"]), {}],
    ["is of an origin that is not allowed", verified("https://evil.example", null), {}],
  ])("a token that %s is no session of an app", async (_, token, changed) => {
    expect(await open(token, changed).identified).toBeNull();
  });

  it("a person who is not known yet is counted before they are looked up", async () => {
    const found = { kind: "found", identity_id: "ben" };
    const { identified, counted } = open(verified(null, null), { known: null, found });
    expect(await identified).toMatchObject({ ok: true, value: { identity_id: "ben" } });
    expect(counted).toEqual(["https://acme.example person-1"]);
  });

  const limited = refused({ code: "account_suspended" });
  it.each([
    ["sends too many requests", { passes: false }, { code: "rate_limited" }],
    ["may not begin an account", { found: { kind: "refused", ...limited } }, limited.refusal],
    ["has left", { found: { kind: "left" } }, { code: "unauthorized", reason: "account_deleted" }],
  ])("a person who %s is refused", async (_, changed, refusal) => {
    const { identified } = open(verified(null, null), { known: null, ...changed });
    expect(await identified).toMatchObject({ ok: false, refusal });
  });
});

describe("the routes of operators", () => {
  /** Responds with the rights that the middleware found. */
  function open(middleware: typeof requireOperator, person: object, fails = false) {
    const app = new Hono<AppEnvironment>();
    const operators = [{ kind: "identity", identity_id: "ada", role: "viewer" }];
    const services = {
      config: { operators, signin_options: [], support_credits_max: 5 },
      accounts: () => ({ checkOperator: async () => accepted(null) }),
      identity: {
        isSessionLive: async () => true,
        readPerson: () => (fails ? Promise.reject(new Error("it is down")) : Promise.resolve(null)),
      },
    };
    const caller = { via: "cookie", proof: session(HERE), account_caller: HOLDER, ...person };
    app.use("/*", async (context, next) => {
      context.set("base_url", HERE);
      context.set("services", services as never);
      context.set("caller", caller as never);
      context.set("session", person as never);
      await next();
    });
    app.on(["GET", "POST"], "/console/plans/*", middleware);
    const show = (context: AppContext) => context.json(context.get("operator") ?? null);
    app.get("/console/plans", middleware, show);
    app.get("/console/plans/plan", middleware, show);
    return async (path: string) => {
      const response = await app.request(path);
      return [response.status, await response.json()];
    };
  }

  it("a viewer gets a viewer's page with their rights, and not an admin's", async () => {
    const request = open(requireOperator, { identity_id: "ada" });
    expect(await request("/console/plans")).toEqual([200, { role: "viewer" }]);
    const [status, body] = await request("/console/plans/plan");
    expect([status, body]).toEqual([403, expect.objectContaining({ code: "role_required" })]);
  });

  it("a person who is no operator gets no page of operators", async () => {
    const request = open(requireOperator, { identity_id: "ben" });
    expect(await request("/console/plans")).toMatchObject([403, { code: "not_operator" }]);
  });

  it("other pages know an operator's rights, and work while these cannot be read", async () => {
    const ada = { identity_id: "ada" };
    const request = open(loadOperatorRights, ada);
    expect(await request("/console/plans")).toEqual([200, { role: "viewer" }]);
    expect(await open(loadOperatorRights, ada, true)("/console/plans")).toEqual([200, null]);
  });
});
