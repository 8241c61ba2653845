/** The app: middleware in order, routes, one error handler. */
import { Hono } from "hono";
import type { AppEnvironment } from "./http/context.ts";
import { dressPages } from "./http/dress.tsx";
import { answerFailure } from "./http/failures.ts";
import { safeHeaders, strictReferrer } from "./http/headers.ts";
import { refuseByAccept } from "./http/problem.tsx";
import { addRoutes } from "./http/routes.ts";
import { setUp } from "./http/setup.ts";

/** Builds the app. It holds no state: everything comes with a request's environment. */
export function createApp(): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.onError(answerFailure);
  app.notFound((context) => refuseByAccept(context, { code: "not_found" }));
  app.use(safeHeaders, strictReferrer, setUp, dressPages);
  addRoutes(app);
  return app;
}
