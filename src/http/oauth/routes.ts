/** The routes of the OAuth server's protocol. Its pages are in `web`. */
import type { Hono } from "hono";
import { cors } from "hono/cors";
import type { AppEnvironment } from "../context.ts";
import { noStore } from "../middleware/headers.ts";
import { limitBodySize } from "../validation.ts";
import { COMMAND_LINE_CLIENT_PATH, readCommandLineClient } from "./command_line_client.ts";
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

export function addOAuthRoutes(app: Hono<AppEnvironment>): void {
  const shared = ["/oauth/token", "/oauth/revoke", "/oauth/userinfo"];
  const well_known = ["oauth-authorization-server", "openid-configuration"] as const;
  app.use("/.well-known/*", corsForAnyOrigin);
  for (const path of shared) app.use(path, corsForAnyOrigin, noStore);
  for (const name of well_known) app.get(`/.well-known/${name}`, ...readMetadata);
  app.get("/.well-known/oauth-protected-resource", ...readResourceMetadata);
  app.get(COMMAND_LINE_CLIENT_PATH, ...readCommandLineClient);
  app.post("/oauth/token", limitBodySize, ...issueTokens);
  app.post("/oauth/revoke", limitBodySize, ...revokeToken);
  app.post("/oauth/introspect", noStore, limitBodySize, ...introspectToken);
  app.get("/oauth/userinfo", ...readUserinfo);
  app.post("/oauth/userinfo", limitBodySize, ...readUserinfo);
}
