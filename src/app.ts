/** The app: middleware in order, routes, one error handler. */
import { Hono } from "hono";
import type { AppEnvironment } from "./http/context.ts";
import { dressPages } from "./http/dress.tsx";
import { answerFailure } from "./http/failures.ts";
import { safeHeaders } from "./http/headers.ts";
import { readHealth, readReadiness } from "./http/health.ts";
import { answerUnrouted } from "./http/methods.ts";
import { ownAddressOnly } from "./http/own_address.ts";
import { logRequest } from "./http/request_log.ts";
import { addRoutes } from "./http/routes.ts";
import type { ServicesFor } from "./http/services.ts";
import { setUp } from "./http/setup.ts";

/** Builds the app. It holds no state: everything comes with a request's environment. */
export function createApp(servicesFor: ServicesFor): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.onError(answerFailure);
  app.notFound(answerUnrouted(app));
  app.use(logRequest, safeHeaders);
  // Before the settings are read: these answer on wrong ones too.
  app.get("/healthz", ...readHealth);
  app.get("/readyz", ...readReadiness(servicesFor));
  app.use(setUp(servicesFor), dressPages, ownAddressOnly);
  addRoutes(app);
  return app;
}
