/** The app: the order of the middleware, the routes and pages, and the error handler. */
import { TrieRouter } from "hono/router/trie-router";
import { Hono } from "hono/tiny";
import { healthEndpoints } from "./http/api/service/health.ts";
import { assertRolesDeclared } from "./http/caller/operator_roles.ts";
import type { AppEnvironment } from "./http/context.ts";
import { addEndpoints } from "./http/api/endpoint.ts";
import { respondToError } from "./http/failures.ts";
import { securityHeaders } from "./http/middleware/headers.ts";
import { requireCanonicalHost } from "./http/middleware/canonical_host.ts";
import { logRequest } from "./http/middleware/request_log.ts";
import { loadServices } from "./http/middleware/load_services.ts";
import { respondNotFound } from "./http/middleware/not_found.ts";
import { withRefusalPage } from "./http/refusal_page.ts";
import { addApiRoutes } from "./http/routes.ts";
import type { ServicesFor } from "./http/services.ts";
import { renderPages } from "./web/layout/shell.ts";
import { showRefusal } from "./web/layout/problem.tsx";
import { addPageRoutes } from "./web/routes.ts";

/** Builds the app. It has no state of its own: all state comes from the request's environment. */
export function createApp(servicesFor: ServicesFor): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  // One router instead of the default three. The preset's own would serve `/signinx` as `/signin`.
  app.router = new TrieRouter();
  app.onError(respondToError);
  app.notFound(respondNotFound(app));
  app.use(logRequest, securityHeaders, withRefusalPage(showRefusal));
  // Before the settings are read, so that both respond if a setting is wrong.
  addEndpoints(app, Object.values(healthEndpoints(servicesFor)));
  app.use(loadServices(servicesFor), renderPages, requireCanonicalHost);
  addPageRoutes(app);
  addApiRoutes(app);
  assertRolesDeclared(app.routes);
  return app;
}
