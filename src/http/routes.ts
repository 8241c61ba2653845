/** Every route of the API, and what serves it. */
import type { Hono } from "hono";
import { deleteAppKey, listAppKeys, postAppKey } from "./api/admin/apps/keys.ts";
import { listApps } from "./api/admin/apps/list.ts";
import { putApp } from "./api/admin/apps/save.ts";
import { requireOperator } from "./caller/operator.ts";
import { addAdminRoutes } from "./api/admin/routes.ts";
import { authenticate, authenticateParty } from "./caller/authenticate.ts";
import { requireBrowserSession } from "./caller/browser_session.ts";
import type { AppEnvironment } from "./context.ts";
import { watchEvents } from "./api/events/watch.ts";
import { completeLogin } from "./api/device/complete.ts";
import { pollLogin } from "./api/device/poll.ts";
import { startLogin } from "./api/device/start.ts";
import { completeJobs, createJobs } from "./api/jobs/batch.ts";
import { cancelJob } from "./api/jobs/cancel.ts";
import { completeJob } from "./api/jobs/complete.ts";
import { createJob } from "./api/jobs/create.ts";
import { failJob } from "./api/jobs/fail.ts";
import { listJobs } from "./api/jobs/list.ts";
import { readJob } from "./api/jobs/read.ts";
import { readJwks } from "./api/service/jwks.ts";
import { listLedger } from "./api/ledger/list.ts";
import {
  guardCookieReads,
  guardCookieWrites,
  guardForm,
  shareWithAllowedOrigins,
} from "./middleware/origins.ts";
import { noStore } from "./middleware/headers.ts";
import { readMe } from "./api/me/read.ts";
import {
  limitAttempts,
  limitCheckouts,
  limitNetwork,
  limitSessionLookups,
  limitWrites,
} from "./middleware/rate_limits.ts";
import { startCheckout } from "./api/payments/checkout.ts";
import { whereSold } from "./api/payments/sold.ts";
import { limitedWebhook, receiveWebhook } from "./api/payments/webhook.ts";
import { signOut } from "./api/session/signout.ts";
import { issueSessionToken } from "./api/session/token.ts";
import { requireLiveSession } from "./api/upstream_tokens/hand_out.ts";
import { readOAuthToken } from "./api/upstream_tokens/oauth_token.ts";
import { readSocialMe } from "./api/upstream_tokens/social_me.ts";
import { readSocialToken } from "./api/upstream_tokens/social_token.ts";
import { listPersonalTokens } from "./api/personal_tokens/list.ts";
import { revokePersonalToken } from "./api/personal_tokens/revoke.ts";
import { jsonBodyOnly, knownQuery, limitedBody } from "./validation.ts";
import { readWallet } from "./api/wallet/read.ts";

/** Adds the routes in groups that share their middleware. */
export function addApiRoutes(app: Hono<AppEnvironment>): void {
  app.get("/.well-known/jwks.json", ...readJwks);
  app.use("/signout", shareWithAllowedOrigins, noStore);
  app.post("/signout", guardForm, limitSessionLookups, limitedBody, ...signOut);

  app.post("/webhooks/stripe", whereSold, noStore, limitedWebhook, ...receiveWebhook);

  app.use("/api/*", shareWithAllowedOrigins, noStore);
  app.get("/api/sessionToken", knownQuery("template"), ...issueSessionToken);
  app.get("/api/wallet", authenticateParty, ...readWallet);
  app.get("/api/me", authenticate, ...readMe);
  app.get("/api/ledger", authenticate, ...listLedger);
  app.get("/api/events", ...watchEvents);
  app.get("/api/jobs", authenticateParty, ...listJobs);
  app.get("/api/jobs/:id", authenticateParty, ...readJob);

  const hand_out = [authenticate, guardCookieReads, requireLiveSession] as const;
  app.get("/api/oauthToken/:provider", ...hand_out, ...readOAuthToken);
  app.get("/api/socialToken", ...hand_out, ...readSocialToken);
  app.get("/api/socialMe", ...readSocialMe);

  const rest_of_write = [guardCookieWrites, limitWrites, jsonBodyOnly, limitedBody] as const;
  const write = [authenticateParty, ...rest_of_write] as const;
  app.post("/api/jobs", ...write, ...createJob);
  app.post("/api/jobs/complete", ...write, ...completeJob);
  app.post("/api/jobs/batch", ...write, ...createJobs);
  app.post("/api/jobs/complete/batch", ...write, ...completeJobs);
  app.post("/api/jobs/fail", ...write, ...failJob);
  app.post("/api/jobs/cancel", authenticate, ...rest_of_write, ...cancelJob);
  const purchase = [authenticate, ...rest_of_write, limitCheckouts] as const;
  app.post("/api/checkout", whereSold, ...purchase, ...startCheckout);

  const approver = [requireBrowserSession, guardCookieWrites, limitAttempts] as const;
  app.post("/api/device/start", limitNetwork("device_start"), limitedBody, ...startLogin);
  app.post("/api/device/complete", ...approver, jsonBodyOnly, limitedBody, ...completeLogin);
  app.get("/api/device/poll", ...pollLogin);

  app.get("/api/tokens", authenticate, ...listPersonalTokens);
  app.delete(
    "/api/tokens/:id",
    authenticate,
    guardCookieWrites,
    limitWrites,
    ...revokePersonalToken,
  );

  // Before routing, so that non-operators cannot find out which routes exist.
  app.use("/api/admin/*", authenticate, requireOperator, guardCookieReads);
  addAdminRoutes(app);
  const app_write = [guardCookieWrites, limitWrites, jsonBodyOnly, limitedBody] as const;
  app.get("/api/admin/apps", ...listApps);
  app.put("/api/admin/apps/:slug", ...app_write, ...putApp);
  app.get("/api/admin/apps/:slug/keys", ...listAppKeys);
  app.post("/api/admin/apps/:slug/keys", ...app_write, ...postAppKey);
  app.delete("/api/admin/apps/:slug/keys/:id", guardCookieWrites, limitWrites, ...deleteAppKey);
}
