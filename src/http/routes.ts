/** Every route of the API, and what serves it. */
import type { Hono } from "hono";
import { readApp } from "./api/app/read.ts";
import { listJobsOfApp } from "./api/jobs/list_of_app.ts";
import {
  acceptAppWithoutIdentity,
  acceptOwnApp,
  requireApp,
  unlessOwnApp,
} from "./caller/app_owner.ts";
import { requireOperator } from "./caller/operator.ts";
import { addAdminRoutes } from "./api/admin/routes.ts";
import {
  authenticate,
  authenticateToSettle,
  authenticateUserOrApp,
} from "./caller/authenticate.ts";
import { requireBrowserSession } from "./caller/browser_session.ts";
import type { AppEnvironment } from "./context.ts";
import { addOAuthRoutes } from "./oauth/routes.ts";
import { watchEvents } from "./api/events/watch.ts";
import { completeLogin } from "./api/device/complete.ts";
import { pollLogin } from "./api/device/poll.ts";
import { startLogin } from "./api/device/start.ts";
import { completeJobs, createJobs } from "./api/jobs/batch.ts";
import { cancelJob } from "./api/jobs/cancel.ts";
import { completeJob } from "./api/jobs/complete.ts";
import { createJob } from "./api/jobs/create.ts";
import { failJob } from "./api/jobs/fail.ts";
import { reportProgress } from "./api/jobs/progress.ts";
import { listJobs } from "./api/jobs/list.ts";
import { readJob } from "./api/jobs/read.ts";
import { readJwks } from "./api/service/jwks.ts";
import { listLedger } from "./api/ledger/list.ts";
import {
  guardCookieReads,
  guardCookieWrites,
  guardForm,
  corsForAllowedOrigins,
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
import { startCheckout } from "./api/payments/start_checkout.ts";
import { requirePayments } from "./api/payments/require_payments.ts";
import { limitWebhookSize, receiveWebhook } from "./api/payments/receive_webhook.ts";
import { signOut } from "./api/session/sign_out.ts";
import { issueSessionToken } from "./api/session/issue_token.ts";
import { readOAuthToken, readSocialToken, requireLiveSession } from "./api/upstream_tokens/read.ts";
import { readSocialMe } from "./api/upstream_tokens/read_social_profile.ts";
import { changePersonalToken } from "./api/personal_tokens/change.ts";
import { listPersonalTokens } from "./api/personal_tokens/list.ts";
import { revokePersonalToken } from "./api/personal_tokens/revoke.ts";
import {
  checkQueryNames,
  limitBodySize,
  refuseUnknownQuery,
  requireJsonBody,
} from "./validation.ts";
import { readWallet } from "./api/wallet/read.ts";

/** Adds the routes in groups that share their middleware. */
export function addApiRoutes(app: Hono<AppEnvironment>): void {
  addOAuthRoutes(app);
  app.get("/.well-known/jwks.json", ...readJwks);
  app.use("/signout", corsForAllowedOrigins, noStore);
  app.post("/signout", guardForm, limitSessionLookups, limitBodySize, ...signOut);

  app.post("/webhooks/stripe", requirePayments, noStore, limitWebhookSize, ...receiveWebhook);

  app.use("/api/*", corsForAllowedOrigins, noStore);
  // The operators' routes do this after they checked the caller.
  app.use("/api/*", (context, next) =>
    context.req.path.startsWith("/api/admin/") ? next() : refuseUnknownQuery(context, next),
  );
  app.get("/api/sessionToken", checkQueryNames("template"), ...issueSessionToken);
  app.get("/api/wallet", authenticateUserOrApp, ...readWallet);
  app.get("/api/me", authenticate, ...readMe);
  app.get("/api/app", requireApp, ...readApp);
  app.get("/api/ledger", authenticateUserOrApp, ...listLedger);
  app.get("/api/events", ...watchEvents);
  const app_or_account = [acceptAppWithoutIdentity, unlessOwnApp(authenticateUserOrApp)] as const;
  app.get("/api/jobs", ...app_or_account, ...listJobsOfApp, ...listJobs);
  app.get("/api/jobs/:id", authenticateToSettle, ...readJob);

  const upstream_token = [authenticate, guardCookieReads, requireLiveSession] as const;
  app.get("/api/oauthToken/:provider", ...upstream_token, ...readOAuthToken);
  app.get("/api/socialToken", ...upstream_token, ...readSocialToken);
  app.get("/api/socialMe", ...readSocialMe);

  const rest_of_write = [guardCookieWrites, limitWrites, requireJsonBody, limitBodySize] as const;
  const write = [authenticateUserOrApp, ...rest_of_write] as const;
  const settle = [authenticateToSettle, ...rest_of_write] as const;
  app.post("/api/jobs", ...write, ...createJob);
  app.post("/api/jobs/complete", ...settle, ...completeJob);
  app.post("/api/jobs/progress", ...settle, ...reportProgress);
  app.post("/api/jobs/batch", ...write, ...createJobs);
  app.post("/api/jobs/complete/batch", ...settle, ...completeJobs);
  app.post("/api/jobs/fail", ...settle, ...failJob);
  app.post("/api/jobs/cancel", authenticate, ...rest_of_write, ...cancelJob);
  const purchase = [authenticate, ...rest_of_write, limitCheckouts] as const;
  app.post("/api/checkout", requirePayments, ...purchase, ...startCheckout);

  const approver = [requireBrowserSession, guardCookieWrites, limitAttempts] as const;
  app.post("/api/device/start", limitNetwork("device_start"), limitBodySize, ...startLogin);
  app.post("/api/device/complete", ...approver, requireJsonBody, limitBodySize, ...completeLogin);
  app.get("/api/device/poll", ...pollLogin);

  app.get("/api/tokens", authenticate, ...listPersonalTokens);
  app.patch(
    "/api/tokens/:id",
    requireBrowserSession,
    guardCookieWrites,
    limitWrites,
    requireJsonBody,
    limitBodySize,
    ...changePersonalToken,
  );
  app.delete(
    "/api/tokens/:id",
    authenticate,
    guardCookieWrites,
    limitWrites,
    ...revokePersonalToken,
  );

  // Before routing, so that non-operators cannot find out which routes exist.
  app.use("/api/admin/apps/:slug/webhooks/*", acceptOwnApp);
  const operator = [authenticate, requireOperator, guardCookieReads].map(unlessOwnApp);
  app.use("/api/admin/*", ...operator, refuseUnknownQuery);
  addAdminRoutes(app);
}
