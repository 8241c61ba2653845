import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import {
  assertRolesDeclared,
  neededRole,
  roleRefusal,
} from "../../../../../src/http/caller/operator_roles.ts";
import type { AppEnvironment } from "../../../../../src/http/context.ts";

/** Routes of operators, whose first middleware responds with the role that the request needs, and a viewer's refusal. */
function open(): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  const ok = () => new Response("ok");
  app.use("/*", async (context) => {
    const rights = { role: "viewer" } as Parameters<typeof roleRefusal>[1];
    return context.json([neededRole(context), roleRefusal(context, rights)]);
  });
  app.use("/console/*", async (_, next) => next());
  app.get("/console/plans", ok);
  app.get("/console/plans/plan", ok);
  app.get("/console/undeclared", ok);
  app.get(
    "/api/admin/two",
    Object.assign(() => new Response("ok"), { role: "support" }),
  );
  app.get(
    "/api/admin/:name",
    Object.assign(() => new Response("ok"), { role: "viewer" }),
  );
  app.get("/consoles", ok);
  app.notFound(ok);
  app.get("*", ok);
  return app;
}

describe("the role that a request of an operator needs", () => {
  it.each([
    ["/console/plans", "viewer"],
    ["/console/plans/plan", "admin"],
    ["/api/admin/one", "viewer"],
    ["/api/admin/two", "support"],
    ["/console/undeclared", "admin"],
    ["/console/missing", "viewer"],
    ["/consoles", "viewer"],
  ])("%s needs the role %s", async (path, role) => {
    const refusal = role === "viewer" ? null : { code: "role_required", role };
    expect(await (await open().request(path)).json()).toEqual([role, refusal]);
  });

  it("a build with a route of operators that declares no role does not start", () => {
    const { routes } = open();
    expect(() => assertRolesDeclared(routes)).toThrow("GET /console/undeclared");
    const declared = routes.filter(({ path }) => path !== "/console/undeclared");
    expect(() => assertRolesDeclared(declared)).not.toThrow();
  });
});
