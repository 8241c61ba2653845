/** The routes of all pages and forms, with their handlers. */
import type { Hono } from "hono";
import { confirmRevoke, revokeAllowance, showAccess } from "./account/access.tsx";
import { allowApp, confirmStop, stopApp } from "./account/app_access.tsx";
import { buyCredits, showPaid } from "./account/checkout.tsx";
import { downloadData } from "./account/data.ts";
import { deleteAccount, showDeletion } from "./account/delete.tsx";
import { confirmEndSession, endSession, signOutEverywhere } from "./account/sessions.tsx";
import { cancelJobFromPage, showJob } from "./account/job.tsx";
import { showJobs } from "./account/jobs.tsx";
import { showPurchases, showReceipt } from "./account/purchases.tsx";
import { showAccount } from "./account/overview.tsx";
import { makeToken, showNewToken } from "./account/new_token.tsx";
import { linkMethod, unlinkMethod } from "./account/sign_in_methods.ts";
import { showSecurity } from "./account/security.tsx";
import { changeTopUp, finishTopUp, showTopUp } from "./account/top_up.tsx";
import { showStatement } from "./account/statement.tsx";
import { downloadStatement } from "./account/statement_csv.ts";
import { loadOperatorRights } from "../http/caller/operator.ts";
import {
  guardOwnForms,
  loadSession,
  requireSignIn,
  requireSignInEvenSuspended,
} from "../http/caller/browser_session.ts";
import { approveJob, denyJob, showApproval } from "./approve/approve.tsx";
import { addConsoleRoutes } from "./console/routes.ts";
import { allowClient, denyClient } from "./authorize/decide.tsx";
import { redirectToQuery, showAuthorize } from "./authorize/show.tsx";
import type { AppEnvironment } from "../http/context.ts";
import { approveDevice, denyDevice } from "./device/decide.tsx";
import { showDevice } from "./device/show.tsx";
import { noStore } from "../http/middleware/headers.ts";
import { readAppIcon } from "./layout/app_icon_file.ts";
import { chooseLanguage } from "./language/choice.ts";
import { readFavicon, readTheme } from "./layout/theme_files.ts";
import {
  limitAttempts,
  limitCheckouts,
  limitConsents,
  limitNetwork,
  limitSignInCallbacks,
  limitWrites,
} from "../http/middleware/rate_limits.ts";
import { requirePayments } from "../http/middleware/require_payments.ts";
import { continueSignedIn } from "./signin/continue.ts";
import { addPasskey, makeRecoveryCode } from "./account/passkeys.tsx";
import { finishSignIn } from "./signin/callback.ts";
import {
  finishPasskey,
  requirePasskeys,
  showRegistration,
  startPasskeySignIn,
  startRegistration,
} from "./signin/passkey.tsx";
import { recover, showRecovery } from "./signin/recovery.tsx";
import { signInDevelopment } from "./signin/development.tsx";
import { showSignIn } from "./signin/show.tsx";
import { startSignIn } from "./signin/start.ts";
import { CLIENT_ICON_PATH, showClientIcon } from "./authorize/client_icon.ts";
import { allowStoppedApp } from "./signin/stopped_app.tsx";
import { confirmLogout, showLogout } from "./logout/logout.tsx";
import { editConnection, showEdit } from "./account/connection_edit.tsx";
import { checkQueryNames, limitBodySize } from "../http/validation.ts";

/** Adds the routes in groups that share their middleware. */
// oxlint-disable-next-line max-lines-per-function -- the table of the pages' routes
export function addPageRoutes(app: Hono<AppEnvironment>): void {
  app.get("/theme.css", ...readTheme);
  app.get("/favicon.svg", ...readFavicon);
  app.get("/favicon.ico", ...readFavicon);
  app.get("/app-icons/:hash", ...readAppIcon);
  app.post("/language", guardOwnForms, limitBodySize, ...chooseLanguage);
  app.get("/", (context) => context.redirect("/account", 303));

  app.use("/signin/*", noStore);
  const back = checkQueryNames("redirect_to", "notice");
  app.get("/signin", back, ...showSignIn);
  const signing_in = limitNetwork("signin");
  app.post("/signin/dev", signing_in, limitBodySize, ...signInDevelopment);
  app.post("/signin/continue", guardOwnForms, limitBodySize, ...continueSignedIn);
  app.get("/signin/callback/:id", signing_in, limitSignInCallbacks, ...finishSignIn);
  app.get("/signin/:id", back, signing_in, ...startSignIn);

  app.use("/signin/passkey/*", requirePasskeys);
  app.get("/signin/passkey/new", back, ...showRegistration);
  app.get("/signin/passkey/recovery", back, ...showRecovery);
  const by_passkey = [guardOwnForms, limitBodySize] as const;
  const new_account = limitNetwork("passkey_account");
  app.post("/signin/passkey", requirePasskeys, ...by_passkey, signing_in, ...finishPasskey);
  app.post("/signin/passkey/start", ...by_passkey, signing_in, ...startPasskeySignIn);
  app.post("/signin/passkey/register", ...by_passkey, new_account, ...startRegistration);
  app.post("/signin/passkey/recovery", ...by_passkey, new_account, ...recover);

  app.use("/oauth/authorize/*", noStore);
  const asking = limitNetwork("authorize");
  app.get("/oauth/authorize", asking, loadSession, ...showAuthorize);
  app.get(CLIENT_ICON_PATH, asking, loadSession, ...showClientIcon);
  app.post("/oauth/authorize", asking, limitBodySize, ...redirectToQuery);
  const consent = [guardOwnForms, limitBodySize, loadSession, limitConsents] as const;
  app.post("/oauth/authorize/allow", ...consent, ...allowClient);
  app.post("/oauth/authorize/deny", ...consent, ...denyClient);

  app.use("/oauth/logout/*", noStore);
  app.get("/oauth/logout", asking, loadSession, ...showLogout);
  app.post("/oauth/logout", asking, limitBodySize, ...redirectToQuery);
  app.post("/oauth/logout/confirm", guardOwnForms, loadSession, limitConsents, ...confirmLogout);

  const own_form = [guardOwnForms, requireSignIn, limitBodySize] as const;
  app.post("/signin/allow", ...own_form, limitWrites, ...allowStoppedApp);
  app.use("/account/*", noStore);
  const page = [requireSignIn, loadOperatorRights] as const;
  app.get("/account", ...page, ...showAccount);
  app.get("/account/jobs", ...page, ...showJobs);
  app.get("/account/jobs/:id", ...page, ...showJob);
  app.post("/account/jobs/cancel", ...own_form, limitWrites, ...cancelJobFromPage);
  app.get("/account/statement", ...page, ...showStatement);
  app.get("/account/statement.csv", requireSignIn, ...downloadStatement);
  app.get("/account/data.json", requireSignInEvenSuspended, ...downloadData);
  app.get("/account/delete", requireSignIn, ...showDeletion);
  app.post("/account/delete", ...own_form, limitWrites, ...deleteAccount);
  app.get("/account/end-session", ...page, ...confirmEndSession);
  app.post("/account/end-session", ...own_form, ...endSession);
  app.get("/account/security", ...page, ...showSecurity);
  app.post("/account/link", ...own_form, ...linkMethod);
  app.post("/account/unlink", ...own_form, ...unlinkMethod);
  app.post("/account/passkey", requirePasskeys, ...own_form, ...addPasskey);
  app.post("/account/recovery-code", requirePasskeys, ...own_form, ...makeRecoveryCode);
  const signing_out = [guardOwnForms, requireSignInEvenSuspended, limitBodySize] as const;
  app.post("/account/signout-everywhere", ...signing_out, ...signOutEverywhere);
  app.get("/account/access", ...page, ...showAccess);
  app.get("/account/access/revoke", ...page, ...confirmRevoke);
  app.post("/account/access/revoke", ...own_form, ...revokeAllowance);
  app.get("/account/access/edit", ...page, ...showEdit);
  app.post("/account/access/edit", ...own_form, limitWrites, ...editConnection);
  app.get("/account/access/stop", ...page, ...confirmStop);
  app.post("/account/access/stop", ...own_form, limitWrites, ...stopApp);
  app.post("/account/access/allow", ...own_form, limitWrites, ...allowApp);
  app.get("/account/tokens/new", ...page, ...showNewToken);
  app.post("/account/tokens/new", ...own_form, limitAttempts, ...makeToken);

  app.post("/account/buy", requirePayments, ...own_form, limitCheckouts, ...buyCredits);
  app.get("/account/purchases", ...page, ...showPurchases);
  app.get("/account/receipt", requirePayments, requireSignIn, limitCheckouts, ...showReceipt);
  app.get("/account/top-up", requirePayments, ...page, ...showTopUp);
  app.get("/account/top-up/saved", requirePayments, requireSignIn, limitCheckouts, ...finishTopUp);
  app.post("/account/top-up", requirePayments, ...own_form, limitCheckouts, ...changeTopUp);
  app.get("/account/paid", requirePayments, ...page, ...showPaid);

  addConsoleRoutes(app);

  app.use("/approve/*", noStore);
  app.get("/approve/:approval", requireSignIn, limitConsents, ...showApproval);
  app.post("/approve/:approval/approve", ...own_form, limitConsents, ...approveJob);
  app.post("/approve/:approval/deny", ...own_form, limitConsents, ...denyJob);

  app.use("/device/*", noStore);
  app.get("/device", requireSignIn, ...showDevice);
  app.post("/device/approve", ...own_form, ...approveDevice);
  app.post("/device/deny", ...own_form, ...denyDevice);
}
