/** The app: middleware in order, routes and pages, one error handler. */
import { Hono } from "hono";
import { readHealth, readReadiness } from "./http/api/service/health.ts";
import type { AppEnvironment } from "./http/context.ts";
import { respondToFailure } from "./http/failures.ts";
import { safeHeaders } from "./http/middleware/headers.ts";
import { ownAddressOnly } from "./http/middleware/own_address.ts";
import { logRequest } from "./http/middleware/request_log.ts";
import { setUp } from "./http/middleware/setup.ts";
import { refuseUnrouted } from "./http/middleware/unrouted.ts";
import { withRefusalPage } from "./http/refusal_page.ts";
import { addApiRoutes } from "./http/routes.ts";
import type { ServicesFor } from "./http/services.ts";
import { dressPages } from "./web/layout/dress.tsx";
import { showRefusal } from "./web/layout/problem.tsx";
import { addPageRoutes } from "./web/routes.ts";

/** Builds the app. It holds no state: everything comes with a request's environment. */
export function createApp(servicesFor: ServicesFor): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.onError(respondToFailure);
  app.notFound(refuseUnrouted(app));
  app.use(logRequest, safeHeaders, withRefusalPage(showRefusal));
  // Before the settings are read, so that both respond if a setting is wrong.
  app.get("/healthz", ...readHealth);
  app.get("/readyz", ...readReadiness(servicesFor));
  app.use(setUp(servicesFor), dressPages, ownAddressOnly);
  addPageRoutes(app);
  addApiRoutes(app);
  return app;
}
