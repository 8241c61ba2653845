/** Every route of the API, and what serves it. */
import type { Hono } from "hono";
import { readAccess } from "./api/access/read.ts";
import { allowApp, stopApp } from "./api/access/stop.ts";
import { acceptOwnApp, unlessOwnApp } from "./caller/app_owner.ts";
import { requireOperator } from "./caller/operator.ts";
import { OPERATOR_API } from "./api/admin/endpoints.ts";
import { authenticate } from "./caller/authenticate.ts";
import { completeJobs, createJobs } from "./api/jobs/batch.ts";
import { cancelJob } from "./api/jobs/cancel.ts";
import { completeJob } from "./api/jobs/complete.ts";
import { createJob } from "./api/jobs/create.ts";
import { failJob } from "./api/jobs/fail.ts";
import { listJobs } from "./api/jobs/list.ts";
import { reportProgress } from "./api/jobs/progress.ts";
import { readJob } from "./api/jobs/read.ts";
import { listLedger } from "./api/ledger/list.ts";
import { readMe } from "./api/me/read.ts";
import { readApp } from "./api/app/read.ts";
import { readWallet } from "./api/wallet/read.ts";
import type { AppEnvironment } from "./context.ts";
import { addEndpoints, type Endpoint } from "./api/endpoint.ts";
import { addOAuthRoutes } from "./oauth/routes.ts";
import { watchEvents } from "./api/events/watch.ts";
import { completeDeviceLogin } from "./api/device/complete.ts";
import { pollDeviceLogin } from "./api/device/poll.ts";
import { startDeviceLogin } from "./api/device/start.ts";
import { readPublicKeys } from "./api/service/jwks.ts";
import { guardCookieReads, corsForAllowedOrigins } from "./middleware/origins.ts";
import { noStore } from "./middleware/headers.ts";
import { startCheckout } from "./api/payments/start_checkout.ts";
import { requirePayments } from "./middleware/require_payments.ts";
import { limitWebhookSize, receiveWebhook } from "./api/payments/receive_webhook.ts";
import { signOut } from "./api/session/sign_out.ts";
import { issueSessionToken } from "./api/session/issue_token.ts";
import { readOAuthToken, readSocialToken } from "./api/upstream_tokens/read.ts";
import { readSocialMe } from "./api/upstream_tokens/read_social_profile.ts";
import { changePersonalToken } from "./api/personal_tokens/change.ts";
import { listPersonalTokens } from "./api/personal_tokens/list.ts";
import { revokePersonalToken } from "./api/personal_tokens/revoke.ts";
import { refuseUnknownQuery } from "./validation.ts";

/** The endpoints of the API. Each declares its own route and guards. */
export const API: readonly Endpoint[] = [
  readPublicKeys,
  signOut,
  issueSessionToken,
  readWallet,
  readMe,
  readApp,
  listLedger,
  watchEvents,
  listJobs,
  readJob,
  createJob,
  createJobs,
  completeJob,
  completeJobs,
  reportProgress,
  failJob,
  cancelJob,
  startCheckout,
  readOAuthToken,
  readSocialToken,
  readSocialMe,
  startDeviceLogin,
  completeDeviceLogin,
  pollDeviceLogin,
  readAccess,
  stopApp,
  allowApp,
  listPersonalTokens,
  changePersonalToken,
  revokePersonalToken,
  ...OPERATOR_API,
];

/** Adds the routes. A middleware for several of them comes first, so that it protects all. */
export function addApiRoutes(app: Hono<AppEnvironment>): void {
  addOAuthRoutes(app);
  app.post("/webhooks/stripe", requirePayments, noStore, limitWebhookSize, ...receiveWebhook);
  app.use("/signout", corsForAllowedOrigins, noStore);
  app.use("/api/*", corsForAllowedOrigins, noStore);
  // The operators' routes do this after they checked the caller.
  app.use("/api/*", (context, next) =>
    context.req.path.startsWith("/api/admin/") ? next() : refuseUnknownQuery(context, next),
  );
  // Before routing, so that non-operators cannot find out which routes exist.
  app.use("/api/admin/apps/:slug/webhooks/*", acceptOwnApp);
  const operator = [authenticate, requireOperator, guardCookieReads].map(unlessOwnApp);
  app.use("/api/admin/*", ...operator, refuseUnknownQuery);
  addEndpoints(app, API);
}
