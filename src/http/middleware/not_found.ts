/** Responses to requests that match no route. */
import type { Hono } from "hono";
import type { AppContext, AppEnvironment } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";

/** 405 with `Allow` if the path has routes for other methods (RFC 9110, section 15.5.6), else 404. */
export function respondNotFound(
  app: Hono<AppEnvironment>,
): (context: AppContext) => Response | Promise<Response> {
  let methods: readonly string[] | undefined;
  return (context) => {
    methods ??= [...new Set(app.routes.map(({ method }) => method))].filter(isEndpointMethod);
    const allowed = methods.filter((method) => isRouted(app, method, context.req.path));
    if (allowed.length === 0) return refuseByAccept(context, { code: "not_found" });
    return refuseByAccept(context, {
      code: "method_not_allowed",
      allowed: allowed.includes("GET") ? [...allowed, "HEAD"].toSorted() : allowed.toSorted(),
    });
  };
}

/** Middleware is registered for the method `ALL`; it does not make a path exist. */
function isEndpointMethod(method: string): boolean {
  return method !== "ALL";
}

function isRouted(app: Hono<AppEnvironment>, method: string, path: string): boolean {
  const [handlers] = app.router.match(method, path);
  return handlers.some(([[, route]]) => isEndpointMethod(route.method));
}
