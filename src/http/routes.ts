/** Every address of the service and what answers it. */
import type { Hono } from "hono";
import { changeAppAccess } from "./account/app_access.ts";
import { buyCredits } from "./account/buy.ts";
import { downloadData } from "./account/data.ts";
import { deleteAccount, showDeletion } from "./account/delete.tsx";
import { cancelJobFromPage } from "./account/cancel_job.ts";
import { endSession } from "./account/end_session.ts";
import { showJobs } from "./account/jobs.tsx";
import { showAccount } from "./account/page.tsx";
import { showPaid } from "./account/paid.tsx";
import { signOutEverywhere } from "./account/signout_everywhere.ts";
import { linkMethod, unlinkMethod } from "./account/link.ts";
import { downloadStatement, showStatement } from "./account/statement.tsx";
import { deleteAppKey, listAppKeys, postAppKey } from "./admin/apps/keys.ts";
import { listApps } from "./admin/apps/list.ts";
import { putApp } from "./admin/apps/save.ts";
import { noteOperator, requireOperator } from "./admin/operator.ts";
import { addAdminRoutes } from "./admin/routes.ts";
import { authenticate, authenticateParty } from "./authenticate.ts";
import {
  guardOwnForms,
  requireBrowserSession,
  signInFirst,
  signInFirstSuspendedToo,
} from "./browser_session.ts";
import { addConsoleRoutes } from "./console/routes.ts";
import type { AppEnvironment } from "./context.ts";
import { watchEvents } from "./events.ts";
import { completeLogin } from "./device/complete.ts";
import { approveDevice, denyDevice } from "./device/decide.tsx";
import { showDevice } from "./device/page.tsx";
import { pollLogin } from "./device/poll.ts";
import { startLogin } from "./device/start.ts";
import { completeJobs, createJobs } from "./jobs/batches.ts";
import { cancelJob } from "./jobs/cancel.ts";
import { completeJob } from "./jobs/complete.ts";
import { createJob } from "./jobs/create.ts";
import { failJob } from "./jobs/fail.ts";
import { listJobs } from "./jobs/list.ts";
import { readJob } from "./jobs/read.ts";
import { readJwks } from "./jwks.ts";
import { listLedger } from "./ledger.ts";
import {
  guardCookieReads,
  guardCookieWrites,
  guardForm,
  shareWithAllowedOrigins,
} from "./origins.ts";
import { noStore } from "./headers.ts";
import { readMe } from "./me.ts";
import { readFavicon, readTheme } from "./page_files.ts";
import {
  limitAttempts,
  limitCheckouts,
  limitNetwork,
  limitSessionLookups,
  limitSignInAnswers,
  limitWrites,
} from "./rate_limits.ts";
import { startCheckout } from "./payments/checkout.ts";
import { whereSold } from "./payments/sold.ts";
import { limitedWebhook, receiveWebhook } from "./payments/webhook.ts";
import { issueSessionToken } from "./session_token.ts";
import { continueSignedIn } from "./signin/continue.ts";
import { finishSignIn } from "./signin/callback.tsx";
import { signInDevelopment } from "./signin/development.tsx";
import { showSignIn } from "./signin/page.tsx";
import { startSignIn } from "./signin/start.ts";
import { signOut } from "./signout.ts";
import { requireLiveSession } from "./third_party/hand_out.ts";
import { readOAuthToken } from "./third_party/oauth_token.ts";
import { readSocialMe } from "./third_party/social_me.ts";
import { readSocialToken } from "./third_party/social_token.ts";
import { listPersonalTokens } from "./tokens/list.ts";
import { revokeFromPage, showTokens } from "./tokens/page.tsx";
import { revokePersonalToken } from "./tokens/revoke.ts";
import { jsonBodyOnly, knownQuery, limitedBody } from "./validation.ts";
import { readWallet } from "./wallet.ts";

/** Routes in groups that share their middleware. */
export function addRoutes(app: Hono<AppEnvironment>): void {
  app.get("/.well-known/jwks.json", ...readJwks);
  app.get("/theme.css", ...readTheme);
  app.get("/favicon.svg", ...readFavicon);
  app.get("/favicon.ico", ...readFavicon);
  app.get("/", (context) => context.redirect("/account", 303));

  app.use("/signin/*", noStore);
  const back = knownQuery("redirect_to", "notice");
  app.get("/signin", back, ...showSignIn);
  const signing_in = limitNetwork("signin");
  app.post("/signin/dev", signing_in, limitedBody, ...signInDevelopment);
  app.post("/signin/continue", guardOwnForms, limitedBody, ...continueSignedIn);
  app.get("/signin/callback/:id", signing_in, limitSignInAnswers, ...finishSignIn);
  app.get("/signin/:id", back, signing_in, ...startSignIn);

  app.use("/signout", shareWithAllowedOrigins, noStore);
  app.post("/signout", guardForm, limitSessionLookups, limitedBody, ...signOut);

  const own_form = [guardOwnForms, signInFirst, limitedBody] as const;
  app.use("/account/*", noStore);
  const page = [signInFirst, noteOperator] as const;
  app.get("/account", ...page, ...showAccount);
  app.get("/account/jobs", ...page, ...showJobs);
  app.post("/account/jobs/cancel", ...own_form, limitWrites, ...cancelJobFromPage);
  app.get("/account/statement", ...page, ...showStatement);
  app.get("/account/statement.csv", signInFirst, ...downloadStatement);
  app.get("/account/data.json", signInFirst, ...downloadData);
  app.get("/account/delete", signInFirst, ...showDeletion);
  app.post("/account/delete", ...own_form, limitWrites, ...deleteAccount);
  app.post("/account/app-access", ...own_form, limitWrites, ...changeAppAccess);
  app.post("/account/end-session", ...own_form, ...endSession);
  app.post("/account/link", ...own_form, ...linkMethod);
  app.post("/account/unlink", ...own_form, ...unlinkMethod);
  const signing_out = [guardOwnForms, signInFirstSuspendedToo, limitedBody] as const;
  app.post("/account/signout-everywhere", ...signing_out, ...signOutEverywhere);
  app.get("/account/tokens", ...page, ...showTokens);
  app.post("/account/tokens/revoke", ...own_form, ...revokeFromPage);

  app.post("/account/buy", whereSold, ...own_form, limitCheckouts, ...buyCredits);
  app.get("/account/paid", whereSold, ...page, ...showPaid);
  app.post("/webhooks/stripe", whereSold, noStore, limitedWebhook, ...receiveWebhook);

  addConsoleRoutes(app);

  app.use("/device/*", noStore);
  app.get("/device", signInFirst, ...showDevice);
  app.post("/device/approve", ...own_form, ...approveDevice);
  app.post("/device/deny", ...own_form, ...denyDevice);

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

  // Before any route is looked for: who is no operator learns not even which addresses there are.
  app.use("/api/admin/*", authenticate, requireOperator, guardCookieReads);
  addAdminRoutes(app);
  const app_write = [guardCookieWrites, limitWrites, jsonBodyOnly, limitedBody] as const;
  app.get("/api/admin/apps", ...listApps);
  app.put("/api/admin/apps/:slug", ...app_write, ...putApp);
  app.get("/api/admin/apps/:slug/keys", ...listAppKeys);
  app.post("/api/admin/apps/:slug/keys", ...app_write, ...postAppKey);
  app.delete("/api/admin/apps/:slug/keys/:id", guardCookieWrites, limitWrites, ...deleteAppKey);
}
