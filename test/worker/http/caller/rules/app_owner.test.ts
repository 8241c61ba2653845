import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { actingOf } from "../../../../../src/http/caller/acting.ts";
import {
  acceptAppWithoutIdentity,
  acceptOwnApp,
  requireApp,
  unlessOwnApp,
} from "../../../../../src/http/caller/app_owner.ts";
import {
  holderAccount,
  holderId,
  jobIdOf,
  requireHolder,
} from "../../../../../src/http/caller/holder.ts";
import type { AppContext, AppEnvironment } from "../../../../../src/http/context.ts";

const KEY = { Authorization: "Bearer pb_app_demo" };
const UNKNOWN_KEY = { Authorization: "Bearer pb_app_gone" };
const DEMO = { kind: "app", app_slug: "demo", key_hash: "hash of demo" };
/** Kim has an address that nobody verified; Olga is an operator. */
const PEOPLE = ["ada", "kim", "olga"];

/** Routes that an app's server may use, with what was counted. `limited`: the bindings whose limit is reached. */
function open(limited: readonly string[] = [], values: object = {}) {
  const counted: string[] = [];
  const services = {
    config: {
      cookie_domain: null,
      dev_signin: false,
      signin_options: [],
      operators: [{ kind: "identity", identity_id: "olga", role: "admin" }],
    },
    apps: {
      appOfKey: async (key: string) => (key === "pb_app_demo" ? DEMO : { kind: "unknown" }),
      rereadForKey: async () => ({ kind: "unknown" }),
    },
    app_records: { readKeyId: async (key_hash: string) => `id of ${key_hash}` },
    note_app_key_use: () => null,
    issuer_tokens: { names: () => false },
    identity: {
      readPerson: async (identity_id: string) =>
        PEOPLE.includes(identity_id) ? { identity_id, email: null, vouched_by: null } : null,
    },
    accounts: (identity_id: string) => `account of ${identity_id}`,
    limiters: ({ binding }: { readonly binding: string }) => ({
      limit: async ({ key }: { readonly key: string }) => {
        if (binding !== "LIMIT_APP_KEY_UNKNOWN") counted.push(`${binding} ${key.split(" ")[0]}`);
        return { success: !limited.includes(binding) };
      },
    }),
  };
  const app = new Hono<AppEnvironment>();
  app.use("*", async (context, next) => {
    context.set("base_url", "https://passbook.example");
    context.set("services", services as never);
    context.set("request_id", "request 1");
    for (const [name, value] of Object.entries(values)) context.set(name as "holder", value);
    await next();
  });
  const show = (context: AppContext) => context.json(context.get("own_app") ?? "nobody");
  app.on(["GET", "PUT"], "/apps/:slug", acceptOwnApp, show);
  app.get("/lists", acceptAppWithoutIdentity, show);
  app.get("/app", requireApp, show);
  const guard = unlessOwnApp(async (context) => context.json("guarded"));
  app.get("/guarded/:slug", acceptOwnApp, guard, show);
  app.get("/acting/:slug", acceptOwnApp, async (context) => {
    const { services: its, ...acting } = await actingOf(context);
    return context.json([its === (services as unknown), acting]);
  });
  const role = (name: string, handler: (context: AppContext) => Response) =>
    Object.assign((context: AppContext) => handler(context), { role: name });
  const showHolder = (context: AppContext) =>
    context.json([holderId(context), holderAccount(context), context.get("holder")]);
  app.get("/api/admin/accounts/:identity_id", requireHolder, role("viewer", showHolder));
  app.post("/api/admin/accounts/:identity_id", requireHolder, role("support", showHolder));
  app.get("/jobs/:job_id", (context) => context.text(jobIdOf(context)));
  const request = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const response = await app.request(path, { headers, method });
    const text = await response.text();
    const body: unknown = text.startsWith("job") ? text : JSON.parse(text);
    return { status: response.status, body };
  };
  return { request, counted };
}

const OF_DEMO = { status: 200, body: DEMO };
const NOBODY = { status: 200, body: "nobody" };

describe("an app's server that manages its own app", () => {
  it.each(["/apps/demo", "/lists", "/app"])(
    "the key of the app is accepted at %s",
    async (path) => {
      const { request, counted } = open();
      expect(await request(path, KEY)).toEqual(OF_DEMO);
      expect(counted).toEqual(["LIMIT_APP demo"]);
    },
  );

  it.each(["/apps/demo", "/lists", "/app"])(
    "a key that no app has, and an app with too many requests, are refused at %s",
    async (path) => {
      expect(await open().request(path, UNKNOWN_KEY)).toMatchObject({
        status: 401,
        body: { code: "unauthorized" },
      });
      expect(await open(["LIMIT_APP"]).request(path, KEY)).toMatchObject({
        status: 429,
        body: { code: "rate_limited" },
      });
    },
  );

  it("another credential continues as on other routes, or is refused where a key is required", async () => {
    const { request, counted } = open();
    expect(await request("/apps/demo")).toEqual(NOBODY);
    expect(await request("/apps/demo", { Authorization: "Bearer other" })).toEqual(NOBODY);
    expect(await request("/lists")).toEqual(NOBODY);
    expect(await request("/app")).toMatchObject({
      status: 401,
      body: { error: "Send the key of an app as the bearer token." },
    });
    expect(counted).toEqual([]);
  });

  it("a key is refused for every other app, whether it exists or not", async () => {
    const { request } = open();
    const refused = { status: 403, body: { code: "scope" } };
    expect(await request("/apps/other", KEY)).toMatchObject(refused);
    expect(await request("/apps/none", KEY)).toMatchObject(refused);
  });

  it("changes of an app by its key have a limit of their own", async () => {
    const { request, counted } = open();
    expect(await request("/apps/demo", KEY, "PUT")).toEqual(OF_DEMO);
    expect(counted).toEqual(["LIMIT_APP demo", "LIMIT_APP_SETTINGS demo"]);
    const limited = open(["LIMIT_APP_SETTINGS"]);
    expect(await limited.request("/apps/demo", KEY, "PUT")).toMatchObject({ status: 429 });
    expect(await limited.request("/apps/demo", KEY)).toEqual(OF_DEMO);
  });

  it("a request that names an account is not one for all accounts", async () => {
    const named = { ...KEY, "Passbook-Identity": "ada" };
    expect(await open().request("/lists", named)).toEqual(NOBODY);
  });

  it("the rules of people apply to a person, and not to an accepted app", async () => {
    expect(await open().request("/guarded/demo", KEY)).toEqual(OF_DEMO);
    expect(await open().request("/guarded/demo")).toEqual({ status: 200, body: "guarded" });
  });
});

describe("the one who acts in operators' use cases", () => {
  const session = { kind: "session", session_id: "s1", azp: "https://passbook.example" };
  const token = { kind: "personal_token", credential: { kind: "allowance", allowance_id: "a1" } };
  const rights = { role: "admin" };
  const app = { id: "app_key:id of hash of demo", personal_token: null, rights: null };
  it.each([
    ["an app acts by the id of its key", {}, KEY, app],
    [
      "an operator acts by their identity",
      { caller: { identity_id: "ada", proof: session }, operator: rights },
      {},
      { id: "ada", personal_token: null, rights },
    ],
    [
      "an operator's personal token is named",
      { caller: { identity_id: "ada", proof: token }, operator: rights },
      {},
      { id: "ada", personal_token: "a1", rights },
    ],
    [
      "a person without rights acts without rights",
      { caller: { identity_id: "ada", proof: session } },
      {},
      { id: "ada", personal_token: null, rights: null },
    ],
  ])("%s", async (_, values, headers, actor) => {
    const { body } = await open([], values).request("/acting/demo", headers);
    expect(body).toEqual([true, { actor, request_id: "request 1" }]);
  });
});

describe("the holder whom an operator's address names", () => {
  const support = {
    caller: { identity_id: "sam", proof: { kind: "session", session_id: "s1", azp: "" } },
    operator: { role: "support" },
  };
  const request = (identity_id: string, method: string) =>
    open([], support).request(`/api/admin/accounts/${identity_id}`, {}, method);

  it("a person who exists is the holder, with their account", async () => {
    expect(await request("ada", "GET")).toMatchObject({
      status: 200,
      body: ["ada", "account of ada", { identity_id: "ada" }],
    });
  });

  it("an identity that nobody has is refused", async () => {
    expect(await request("nobody", "GET")).toMatchObject({
      status: 404,
      body: { code: "account_unknown" },
    });
  });

  it("an operator may read the account of an operator with a higher role, and not change it", async () => {
    expect(await request("olga", "GET")).toMatchObject({ status: 200 });
    expect(await request("ada", "POST")).toMatchObject({ status: 200 });
    expect(await request("olga", "POST")).toMatchObject({
      status: 403,
      body: { code: "role_required" },
    });
  });

  it("the id of a job may have capital letters", async () => {
    expect((await open().request("/jobs/JOB-A1")).body).toBe("job-a1");
  });
});
