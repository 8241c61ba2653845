/** The routes of the OAuth server's protocol. Its pages are in `web`. */
import type { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { BODY_MAX_BYTES } from "../../domain/limits.ts";
import { factory, type AppContext, type AppEnvironment } from "../context.ts";
import { noStore } from "../middleware/headers.ts";
import { countNetworkRequest } from "../middleware/rate_limits.ts";
import { COMMAND_LINE_CLIENT_PATH, readCommandLineClient } from "./command_line_client.ts";
import { authorizeDevice, DEVICE_AUTHORIZATION_PATH } from "./device_authorization.ts";
import {
  DEVELOPMENT_CLIENT_PATH,
  GUESSED_REGISTRATION_PATH,
  readDevelopmentClient,
  registerDevelopmentClient,
  REGISTRATION_PATH,
} from "./development_registration.ts";
import { errorFrom, invalidRequest, refuseOAuth, UNAVAILABLE } from "./errors.ts";
import { introspectToken } from "./introspect.ts";
import { readMetadata, readResourceMetadata } from "./metadata.ts";
import { revokeToken } from "./revoke.ts";
import { issueTokens } from "./token.ts";
import { readUserinfo } from "./userinfo.ts";

/**
 * Clients run on pages of any origin, so any origin may read the responses. Without credentials: no cookie has a meaning
 * here. MCP clients send the version of their protocol with every request.
 */
const corsForAnyOrigin = cors({
  origin: "*",
  allowMethods: ["GET", "POST"],
  allowHeaders: ["Authorization", "Content-Type", "MCP-Protocol-Version"],
  exposeHeaders: ["Passbook-Request-Id", "Retry-After", "WWW-Authenticate"],
  maxAge: 600,
});

/** Clients read only the errors of RFC 6749. The app's error handler has logged what was thrown. */
const respondToFailure = factory.createMiddleware(async (context, next) => {
  await next();
  if (context.error !== undefined) context.res = refuseOAuth(context, UNAVAILABLE);
});

/**
 * A request that is refused before its sender is examined counts as a failed authentication of its network. The examination
 * of a client or an app's key counts its own failures.
 */
const countUnexamined = factory.createMiddleware(async (context, next) => {
  await next();
  if (context.res.ok || context.res.status >= 500 || context.get("sender")) return;
  const limited = await countNetworkRequest(context, "client_failure");
  if (limited !== null) context.res = refuseOAuth(context, errorFrom(limited));
});

const limitBodySize = bodyLimit({
  maxSize: BODY_MAX_BYTES,
  onError: (context) =>
    refuseOAuth(
      context as AppContext,
      invalidRequest(`The body must have at most ${BODY_MAX_BYTES} bytes.`),
    ),
});

export function addOAuthRoutes(app: Hono<AppEnvironment>): void {
  const shared = ["/oauth/token", "/oauth/revoke", "/oauth/userinfo", DEVICE_AUTHORIZATION_PATH];
  const well_known = ["oauth-authorization-server", "openid-configuration"] as const;
  app.use("/.well-known/*", corsForAnyOrigin);
  const registration = [REGISTRATION_PATH, GUESSED_REGISTRATION_PATH];
  for (const path of [...shared, ...registration]) app.use(path, corsForAnyOrigin);
  for (const path of [...shared, "/oauth/introspect"]) {
    app.use(path, noStore, respondToFailure, countUnexamined);
  }
  for (const name of well_known) app.get(`/.well-known/${name}`, ...readMetadata);
  app.get("/.well-known/oauth-protected-resource", ...readResourceMetadata);
  app.get(COMMAND_LINE_CLIENT_PATH, ...readCommandLineClient);
  for (const path of registration) app.post(path, limitBodySize, ...registerDevelopmentClient);
  app.get(DEVELOPMENT_CLIENT_PATH, ...readDevelopmentClient);
  app.post("/oauth/token", limitBodySize, ...issueTokens);
  app.post(DEVICE_AUTHORIZATION_PATH, limitBodySize, ...authorizeDevice);
  app.post("/oauth/revoke", limitBodySize, ...revokeToken);
  app.post("/oauth/introspect", limitBodySize, ...introspectToken);
  app.get("/oauth/userinfo", ...readUserinfo);
  app.post("/oauth/userinfo", limitBodySize, ...readUserinfo);
}
