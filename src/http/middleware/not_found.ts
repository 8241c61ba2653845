/** An address that exists, asked with a method it does not take (RFC 9110, section 15.5.6). */
import type { Hono } from "hono";
import type { AppContext, AppEnvironment } from "../context.ts";
import { refuseByAccept } from "../refusal_page.ts";

/**
 * The answer where no route matched: 405 with `Allow` where the app's own routes have the address for
 * other methods, else 404.
 */
export function respondNotFound(
  app: Hono<AppEnvironment>,
): (context: AppContext) => Response | Promise<Response> {
  let methods: readonly string[] | undefined;
  return (context) => {
    methods ??= [...new Set(app.routes.map(({ method }) => method))].filter(isNamed);
    const allowed = methods.filter((method) => isRouted(app, method, context.req.path));
    if (allowed.length === 0) return refuseByAccept(context, { code: "not_found" });
    return refuseByAccept(context, {
      code: "method_not_allowed",
      allowed: allowed.includes("GET") ? [...allowed, "HEAD"].toSorted() : allowed.toSorted(),
    });
  };
}

/** Middleware is registered for every method and makes no address exist. */
function isNamed(method: string): boolean {
  return method !== "ALL";
}

function isRouted(app: Hono<AppEnvironment>, method: string, path: string): boolean {
  const [handlers] = app.router.match(method, path);
  return handlers.some(([[, route]]) => isNamed(route.method));
}
