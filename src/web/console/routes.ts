/** The routes of the console: the pages for operators. */
import { requireSignIn } from "../../http/caller/browser_session.ts";
import { requireHolder } from "../../http/caller/holder.ts";
import type { AppEnvironment } from "../../http/context.ts";
import { noStore } from "../../http/middleware/headers.ts";
import { limitBodySize } from "../../http/validation.ts";
import { refuseOtherOrigins, requireOperatorSession } from "./access.ts";
import { showAccount } from "./account.tsx";
import { ACCOUNT_ACTION_NAMES, doAction, showAction } from "./account_actions.tsx";
import { showAccounts } from "./accounts.tsx";
import {
  addKey,
  revocation,
  registerApp,
  saveSettings,
  showApp,
  showApps,
  showNewApp,
} from "./apps.tsx";
import { doContinue, doPause, showContinue, showPause } from "./app_pause.tsx";
import { downloadAudit, showAudit } from "./audit.tsx";
import { doCredits, showCredits } from "./credits.tsx";
import { showHelp } from "./help.tsx";
import { doRefund, showConsoleJob } from "./job.tsx";
import { showAllJobs } from "./jobs.tsx";
import { downloadMoney, showMoneyPage } from "./money.tsx";
import {
  client,
  client_deletion,
  client_secret,
  resource,
  resource_deletion,
  showOAuth,
} from "./oauth.tsx";
import { plan_deletion, savePlanForm, showPlanForm, showPlans } from "./plans.tsx";
import { showDifferences } from "./differences.tsx";
import { showOperators } from "./operators.tsx";
import { showOverview } from "./overview.tsx";
import { showRequests } from "./requests.tsx";
import { showSearch } from "./search.tsx";
import { doSuspendMany, showSuspendMany } from "./suspend_many.tsx";
import {
  createWebhook,
  replayWebhookForm,
  retryWebhookForm,
  rotation,
  saveWebhookForm,
  showWebhook,
  showWebhooks,
  testWebhookForm,
  webhook_deletion,
} from "./webhooks.tsx";
import type { Hono } from "hono";

/** `app.use` comes first, so that it protects every route. */
export function addConsoleRoutes(app: Hono<AppEnvironment>): void {
  app.use(
    "/console/*",
    noStore,
    refuseOtherOrigins,
    requireSignIn,
    requireOperatorSession,
    limitBodySize,
  );
  addPlanRoutes(app);
  addWebhookRoutes(app);
  app.get("/console", ...showOverview);
  app.get("/console/search", ...showSearch);
  app.get("/console/help", ...showHelp);
  app.get("/console/help/:page", ...showHelp);
  addLists(app);

  app.get("/console/accounts/suspend", ...showSuspendMany);
  app.post("/console/accounts/suspend", ...doSuspendMany);

  const account = "/console/accounts/:identity_id";
  app.get(account, requireHolder, ...showAccount);
  app.get(`${account}/jobs/:job_id`, requireHolder, ...showConsoleJob);
  app.post(`${account}/jobs/:job_id/refund`, requireHolder, ...doRefund);
  app.get(`${account}/credits`, requireHolder, ...showCredits);
  app.post(`${account}/credits`, requireHolder, ...doCredits);
  for (const name of ACCOUNT_ACTION_NAMES) {
    app.get(`${account}/${name}`, requireHolder, ...showAction(name));
    app.post(`${account}/${name}`, requireHolder, ...doAction(name));
  }

  app.get("/console/apps", ...showApps);
  app.get("/console/new-app", ...showNewApp);
  app.post("/console/new-app", ...registerApp);
  app.get("/console/apps/:slug", ...showApp);
  app.post("/console/apps/:slug/settings", ...saveSettings);
  app.get("/console/apps/:slug/pause", ...showPause);
  app.post("/console/apps/:slug/pause", ...doPause);
  app.get("/console/apps/:slug/continue", ...showContinue);
  app.post("/console/apps/:slug/continue", ...doContinue);
  app.post("/console/apps/:slug/keys", ...addKey);
  app.get("/console/apps/:slug/revoke-key", ...revocation.show);
  app.post("/console/apps/:slug/revoke-key", ...revocation.run);
  app.get("/console/apps/:slug/oauth", ...showOAuth);
  app.get("/console/apps/:slug/client", ...client.show);
  app.post("/console/apps/:slug/client", ...client.save);
  app.get("/console/apps/:slug/resource", ...resource.show);
  app.post("/console/apps/:slug/resource", ...resource.save);
  app.get("/console/apps/:slug/client-secret", ...client_secret.show);
  app.post("/console/apps/:slug/client-secret", ...client_secret.run);
  app.get("/console/apps/:slug/delete-client", ...client_deletion.show);
  app.post("/console/apps/:slug/delete-client", ...client_deletion.run);
  app.get("/console/apps/:slug/delete-resource", ...resource_deletion.show);
  app.post("/console/apps/:slug/delete-resource", ...resource_deletion.run);
}

function addPlanRoutes(app: Hono<AppEnvironment>): void {
  app.get("/console/plans", ...showPlans);
  app.get("/console/plans/plan", ...showPlanForm);
  app.post("/console/plans/plan", ...savePlanForm);
  app.get("/console/plans/delete", ...plan_deletion.show);
  app.post("/console/plans/delete", ...plan_deletion.run);
}

function addWebhookRoutes(app: Hono<AppEnvironment>): void {
  const webhooks = "/console/apps/:slug/webhooks";
  app.get(webhooks, ...showWebhooks);
  app.post(webhooks, ...createWebhook);
  app.get(`${webhooks}/:id`, ...showWebhook);
  app.post(`${webhooks}/:id`, ...saveWebhookForm);
  app.get(`${webhooks}/:id/rotate`, ...rotation.show);
  app.post(`${webhooks}/:id/rotate`, ...rotation.run);
  app.post(`${webhooks}/:id/test`, ...testWebhookForm);
  app.post(`${webhooks}/:id/retry`, ...retryWebhookForm);
  app.post(`${webhooks}/:id/replay`, ...replayWebhookForm);
  app.get(`${webhooks}/:id/delete`, ...webhook_deletion.show);
  app.post(`${webhooks}/:id/delete`, ...webhook_deletion.run);
}

/** The pages that list something of the whole service, and their files. */
function addLists(app: Hono<AppEnvironment>): void {
  app.get("/console/accounts", ...showAccounts);
  app.get("/console/jobs", ...showAllJobs);
  app.get("/console/audit", ...showAudit);
  app.get("/console/requests", ...showRequests);
  app.get("/console/audit.csv", ...downloadAudit);
  app.get("/console/money", ...showMoneyPage);
  app.get("/console/money.csv", ...downloadMoney);
  app.get("/console/differences", ...showDifferences);
  app.get("/console/operators", ...showOperators);
}
