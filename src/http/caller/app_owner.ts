/** An app's server that manages what belongs to the app itself, such as its webhooks. It acts in no account. */
import { refused, type Result } from "../../domain/result.ts";
import type { AppProof } from "../../domain/proof.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { factory, type AppContext, type AppEnvironment } from "../context.ts";
import { countApp, countRequest } from "../middleware/rate_limits.ts";
import { refuse } from "../refusals.ts";
import { appKeyOf, findAppOfKey, IDENTITY_HEADER } from "./app_key.ts";
import type { MiddlewareHandler } from "hono";

/** The app whose key the request has, within its rate limit. */
async function identifyAppItself(
  context: AppContext,
  key: string,
): Promise<Result<AppProof, Refusal>> {
  const app = await findAppOfKey(context, key);
  if (!app.ok) return app;
  const limited = await countApp(context, app.value);
  return limited === null ? app : refused(limited);
}

/** For operators' routes of one app that its own key may use too. An operator continues as on every other route. */
export const acceptOwnApp = factory.createMiddleware(async (context, next) => {
  const key = appKeyOf(context);
  if (key === null) return next();
  const app = await identifyAppItself(context, key);
  if (!app.ok) return refuse(context, app.refusal);
  // The same response for every other slug, so the key does not show which apps exist.
  if (app.value.app_slug !== context.req.param("slug")) {
    return refuse(context, { code: "scope", reason: "app_key" });
  }
  if (context.req.method !== "GET") {
    const limited = await countRequest(context, "app_settings", app.value.app_slug);
    if (limited !== null) return refuse(context, limited);
  }
  context.set("own_app", app.value);
  return next();
});

/** For lists that an app's server may also request for all accounts: then it sends no {@link IDENTITY_HEADER}. */
export const acceptAppWithoutIdentity = factory.createMiddleware(async (context, next) => {
  const key = appKeyOf(context);
  if (key === null || context.req.header(IDENTITY_HEADER) !== undefined) return next();
  const app = await identifyAppItself(context, key);
  if (!app.ok) return refuse(context, app.refusal);
  context.set("own_app", app.value);
  return next();
});

/** Requires an app's key. It acts in no account, so every other credential is invalid here. */
export const requireApp = factory.createMiddleware(async (context, next) => {
  const key = appKeyOf(context);
  if (key === null) {
    const detail = "Send the key of an app as the bearer token.";
    return refuse(context, { code: "unauthorized", detail });
  }
  const app = await identifyAppItself(context, key);
  if (!app.ok) return refuse(context, app.refusal);
  context.set("own_app", app.value);
  return next();
});

/** Applies a middleware unless this file's middleware accepted an app's server. */
export const unlessOwnApp = (
  middleware: MiddlewareHandler<AppEnvironment>,
): MiddlewareHandler<AppEnvironment> =>
  factory.createMiddleware((context, next) =>
    context.get("own_app") === undefined ? middleware(context, next) : next(),
  );
