/** What each role of operators may do, for every route of the operators' API and of the console. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import document from "../../../../../docs/openapi.json";
import {
  assertRolesDeclared,
  CONSOLE_ROLES,
} from "../../../../../src/http/caller/operator_roles.ts";
import {
  includesRole,
  OPERATOR_ROLES,
  type OperatorRole,
} from "../../../../../src/domain/operators.ts";
import { dump } from "../../../support/account_object.ts";
import { fromOwnPage, getToken, tokenId } from "../../../support/device_logins.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../../support/passbook.ts";
import { ROUTES } from "../../../support/routes.ts";
import { operatorOnPages, operatorWith, personalToken } from "./operators.ts";

const STAFF = {
  OPERATORS: "olga@example.com, sam@example.com=support, vera@example.com=viewer",
};
const DISMISSED = { OPERATORS: "olga@example.com, vera@example.com=viewer" };
const DEMOTED = { OPERATORS: "olga@example.com, sam@example.com=viewer" };
const ADDRESSES = {
  viewer: "vera@example.com",
  support: "sam@example.com",
  admin: "olga@example.com",
} as const;
const BODY = { amount: 5, reason: "why", plan: "gold", label: "server", name: "X" };
const FORM = { ...BODY, amount: "5", direction: "give", confirmed: "yes", key: "a-key" };

const OPERATOR_ROUTES = ROUTES.filter(({ path }) => /^\/(api\/admin|console)(\/|$)/.test(path)).map(
  ({ method, path }) => `${method} ${path}`,
);

const paths: Readonly<Record<string, Readonly<Record<string, object>>>> = document.paths;

/** The roles that the API document states, and those of the console. */
const ROUTE_ROLES: Readonly<Record<string, OperatorRole>> = { ...CONSOLE_ROLES, ...apiRoles() };

function apiRoles(): Record<string, OperatorRole> {
  const roles: Record<string, OperatorRole> = {};
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const { "x-role": role } = operation as { readonly "x-role"?: OperatorRole };
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
      if (role !== undefined) roles[route] = role;
    }
  }
  return roles;
}

const on = (path: string, { identity_id }: SignedIn) =>
  path
    .replace(":identity_id", identity_id)
    .replace(":slug", "demo")
    .replaceAll(/:\w+/g, () => crypto.randomUUID());

async function ask(route: string, person: SignedIn, about: SignedIn, bearer?: string) {
  const [method = "", path = ""] = route.split(" ");
  const is_page = path.startsWith("/console");
  const proof = bearer === undefined ? fromOwnPage(person) : { Authorization: `Bearer ${bearer}` };
  const headers = {
    ...proof,
    "Idempotency-Key": crypto.randomUUID(),
    ...(is_page ? {} : { "Content-Type": "application/json" }),
  };
  const body = is_page ? new URLSearchParams(FORM) : JSON.stringify(BODY);
  const init = { headers, ...(method === "GET" ? {} : { body }) };
  return send(method, on(path, about), init, STAFF);
}

async function everything(identity_id: string): Promise<string> {
  const tables = await env.DIRECTORY.batch(
    ["audit", "apps", "app_keys", "support_credits"].map((table) =>
      env.DIRECTORY.prepare(`select * from ${table}`),
    ),
  );
  return JSON.stringify([await dump(identity_id), tables.map(({ results }) => results)]);
}

describe("the roles of routes", () => {
  it("the API document or the table of the console states the role of every route of operators, and of no other", () => {
    expect(OPERATOR_ROUTES.toSorted()).toEqual(Object.keys(ROUTE_ROLES).toSorted());
  });

  it("a build with an operators' route that declares no role does not start", () => {
    const undeclared = { method: "POST", path: "/api/admin/unheard-of" };
    expect(() => assertRolesDeclared([undeclared])).toThrow(
      "no role is declared for POST /api/admin/unheard-of",
    );
    expect(() => assertRolesDeclared([{ method: "GET", path: "/console/unheard-of" }])).toThrow();
    expect(() => assertRolesDeclared([{ method: "GET", path: "/api/jobs" }])).not.toThrow();
  });

  it("a viewer may use no route that changes something; the form of an export only reads", () => {
    const writes = Object.entries(ROUTE_ROLES).filter(([route]) => !route.startsWith("GET "));
    const of_viewers = writes.filter(([, role]) => role === "viewer").map(([route]) => route);
    expect(of_viewers).toEqual(["POST /console/accounts/:identity_id/export"]);
  });

  it("the role support may change exactly what is listed here", () => {
    const writes = Object.entries(ROUTE_ROLES)
      .filter(([route, role]) => route.includes(" /api/") && role === "support")
      .map(([route]) => route.replace("/api/admin/accounts/:identity_id", "…"));
    expect(writes.toSorted()).toEqual([
      "DELETE …/personal-tokens/:id",
      "POST /api/admin/accounts/suspend",
      "POST …/credits",
      "POST …/jobs/:job_id/refund",
      "POST …/restore",
      "POST …/signout",
      "POST …/suspend",
    ]);
  });
});

describe.each(OPERATOR_ROLES)("an operator with the role %s", (role) => {
  it("is refused by every route that needs a higher role, by cookie and by token, before it changes anything", async () => {
    const ada = await signInWithCredits();
    const person = await signIn(ADDRESSES[role]);
    const { token } = (await personalToken(person, { scopes: ["admin"] }, STAFF)) ?? {};
    const askAll = async (route: string) => {
      const answers = [await ask(route, person, ada)];
      if (route.includes(" /api/")) answers.push(await ask(route, person, ada, token));
      return answers;
    };
    const before = await everything(ada.identity_id);
    const routes = Object.entries(ROUTE_ROLES);
    for (const [route, needed] of routes.filter(([, needed]) => !includesRole(role, needed))) {
      for (const { status, body } of await askAll(route)) {
        expect(status, route).toBe(403);
        expect(body, route).toMatchObject({ code: "role_required", role: needed });
      }
      expect(await everything(ada.identity_id), route).toBe(before);
    }
    for (const [route] of routes.filter(([, needed]) => includesRole(role, needed))) {
      for (const { body } of await askAll(route)) {
        expect(body?.code, route).not.toBe("role_required");
      }
    }
  });
});

describe("an operator's role", () => {
  const suspend = (person: SignedIn) => `/api/admin/accounts/${person.identity_id}/suspend`;
  const WHY = { reason: "why" };

  it("/api/me has the role of an operator, and no role for other callers", async () => {
    for (const role of OPERATOR_ROLES) {
      const person = await signIn(ADDRESSES[role]);
      const me = await operatorOnPages(person, STAFF).get("/api/me");
      expect(me.body).toMatchObject({ operator: true, role });
      const token = await personalToken(person, { scopes: ["read", "admin"] }, STAFF);
      expect((await token?.get("/api/me"))?.body).toMatchObject({ operator: true, role });
      const by_session_token = await operatorWith(person, person.token, STAFF).get("/api/me");
      expect(by_session_token.body).toMatchObject({ operator: false });
      expect(by_session_token.body).not.toHaveProperty("role");
    }
    const bob = operatorOnPages(await signIn("bob@example.com"), STAFF);
    expect((await bob.get("/api/me")).body).not.toHaveProperty("role");
  });

  it("a personal token has the role that its holder has at the time of the call", async () => {
    const ada = await signInWithCredits();
    const sam = await signIn(ADDRESSES.support);
    const { token = "" } = (await personalToken(sam, { scopes: ["admin"] }, STAFF)) ?? {};
    const send_by = (settings: object) =>
      operatorWith(sam, token, settings).send("POST", suspend(ada), WHY);
    expect((await send_by(STAFF)).status).toBe(200);
    expect((await send_by(DEMOTED)).body).toMatchObject({ code: "role_required", role: "support" });
    expect((await send_by(DISMISSED)).body.code).toBe("not_operator");
    expect((await send_by(STAFF)).status).toBe(200);
  });

  it("a token that was approved by a viewer gets no more rights than the viewer", async () => {
    const ada = await signInWithCredits();
    const vera = await signIn(ADDRESSES.viewer);
    const { token = "" } = (await personalToken(vera, { scopes: ["write", "admin"] }, STAFF)) ?? {};
    const by_token = operatorWith(vera, token, STAFF);
    expect((await by_token.get("/api/admin/accounts")).status).toBe(200);
    expect((await by_token.send("POST", suspend(ada), WHY)).body.code).toBe("role_required");
    const exchanged = await by_token.get("/api/sessionToken");
    const by_session = operatorWith(vera, exchanged.body.token, STAFF);
    expect((await by_session.send("POST", suspend(ada), WHY)).status).toBe(403);
    expect((await ada.get("/api/wallet")).status).toBe(200);
  });

  it("a session token of a foreign page has no role, and an unverified address has none", async () => {
    const ada = await signInWithCredits();
    const sam = await signIn(ADDRESSES.support);
    const foreign = operatorWith(sam, sam.token, STAFF);
    expect((await foreign.send("POST", suspend(ada), WHY)).body.code).toBe("not_operator");
    await env.DIRECTORY.prepare("update users set email_verified = 0").run();
    const by_cookie = operatorOnPages(sam, STAFF);
    expect((await by_cookie.send("POST", suspend(ada), WHY)).body.code).toBe("not_operator");
  });

  it("a suspended operator can do nothing, whatever their role", async () => {
    const ada = await signInWithCredits();
    const sam = await signIn(ADDRESSES.support);
    const token = await personalToken(sam, { scopes: ["admin"] }, STAFF);
    await env.ACCOUNT.getByName(sam.identity_id).suspend();
    for (const caller of [
      operatorOnPages(sam, STAFF),
      operatorWith(sam, token?.token ?? "", STAFF),
    ]) {
      expect((await caller.get("/api/admin/accounts")).body.code).toBe("suspended");
      expect((await caller.send("POST", suspend(ada), WHY)).body.code).toBe("suspended");
    }
  });

  it("the role support cannot act on the account of an admin, who would be locked out", async () => {
    const olga = await signIn(ADDRESSES.admin);
    const device = await getToken(olga);
    const sam = operatorOnPages(await signIn(ADDRESSES.support), STAFF);
    const account = `/api/admin/accounts/${olga.identity_id}`;
    for (const [method, path] of [
      ["POST", `${account}/suspend`],
      ["POST", `${account}/signout`],
      ["DELETE", `${account}/personal-tokens/${await tokenId(device)}`],
    ] as const) {
      const answer = await sam.send(method, path, method === "POST" ? WHY : undefined);
      expect(answer.body, path).toMatchObject({ code: "role_required", role: "admin" });
    }
    const form = new URLSearchParams({ ...WHY, key: "k" });
    const headers = fromOwnPage(sam.person);
    const by_form = await send(
      "POST",
      `/console/accounts/${olga.identity_id}/suspend`,
      { headers, body: form },
      STAFF,
    );
    expect(by_form.body).toMatchObject({ code: "role_required", role: "admin" });
    expect((await sam.get(account)).status).toBe(200);
    expect((await device.get("/api/wallet")).status).toBe(200);
    const vera = await signIn(ADDRESSES.viewer);
    expect((await sam.send("POST", suspend(vera), WHY)).status).toBe(200);
  });
});

describe("GET /api/admin/operators", () => {
  it("lists the entries of OPERATORS with their roles and what is wrong with them", async () => {
    const settings = { OPERATORS: `${STAFF.OPERATORS}, google:ada@example.com=support, user_1` };
    const vera = operatorOnPages(await signIn(ADDRESSES.viewer), settings);
    const { status, body } = await vera.get("/api/admin/operators");
    expect(status).toBe(200);
    expect(body.operators).toMatchObject([
      { entry: "olga@example.com", role: "admin", problem: null },
      { entry: "sam@example.com", role: "support", problem: null },
      { entry: "vera@example.com", role: "viewer", problem: null },
      { entry: "google:ada@example.com", role: "support", problem: expect.any(String) },
      { entry: "user_1", role: "admin", problem: null },
    ]);
  });
});
