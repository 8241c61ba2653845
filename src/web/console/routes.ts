/** The routes of the console: the pages for operators. */
import type { Hono } from "hono";
import { requireHolder } from "../../http/api/admin/accounts/holder.ts";
import { requireSignIn } from "../../http/caller/browser_session.ts";
import type { AppEnvironment } from "../../http/context.ts";
import { noStore } from "../../http/middleware/headers.ts";
import { limitBodySize } from "../../http/validation.ts";
import { ACCOUNT_ACTION_NAMES, doAction, showAction } from "./account_actions.tsx";
import { showAccount } from "./account.tsx";
import { showAccounts } from "./accounts.tsx";
import { addKey, doRevokeKey, showRevokeKey } from "./app_keys.tsx";
import { registerApp, saveSettings, showApp, showApps, showNewApp } from "./apps.tsx";
import { downloadAudit, showAudit } from "./audit.tsx";
import { doCredits, showCredits } from "./credits.tsx";
import { refuseOtherOrigins, requireOperatorSession } from "./access.ts";
import { doRefund, showConsoleJob } from "./job.tsx";
import { showAllJobs } from "./jobs.tsx";
import { downloadMoney, showMoneyPage } from "./money.tsx";
import {
  doDelete,
  doSaveClient,
  doSaveResource,
  showClient,
  showDelete,
  showOAuth,
  showResource,
  doReplaceSecret,
  showReplaceSecret,
} from "./oauth.tsx";
import { showOperators } from "./operators.tsx";
import { showOverview } from "./overview.tsx";
import {
  createWebhook,
  deleteWebhookForm,
  replayWebhookForm,
  rotateWebhookForm,
  saveWebhookForm,
  showDeleteWebhook,
  showRotateWebhook,
  showWebhook,
  showWebhooks,
  testWebhookForm,
} from "./webhooks.tsx";
import { doSuspendMany, showSuspendMany } from "./suspend_many.tsx";

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
  app.get("/console", ...showOverview);
  app.get("/console/accounts", ...showAccounts);
  app.get("/console/jobs", ...showAllJobs);
  app.get("/console/audit", ...showAudit);
  app.get("/console/audit.csv", ...downloadAudit);
  app.get("/console/money", ...showMoneyPage);
  app.get("/console/money.csv", ...downloadMoney);
  app.get("/console/operators", ...showOperators);

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
  app.post("/console/apps/:slug/keys", ...addKey);
  app.get("/console/apps/:slug/revoke-key", ...showRevokeKey);
  app.post("/console/apps/:slug/revoke-key", ...doRevokeKey);
  app.get("/console/apps/:slug/oauth", ...showOAuth);
  app.get("/console/apps/:slug/client", ...showClient);
  app.post("/console/apps/:slug/client", ...doSaveClient);
  app.get("/console/apps/:slug/resource", ...showResource);
  app.post("/console/apps/:slug/resource", ...doSaveResource);
  app.get("/console/apps/:slug/client-secret", ...showReplaceSecret);
  app.post("/console/apps/:slug/client-secret", ...doReplaceSecret);
  for (const kind of ["client", "resource"] as const) {
    app.get(`/console/apps/:slug/delete-${kind}`, ...showDelete(kind));
    app.post(`/console/apps/:slug/delete-${kind}`, ...doDelete(kind));
  }

  const webhooks = "/console/apps/:slug/webhooks";
  app.get(webhooks, ...showWebhooks);
  app.post(webhooks, ...createWebhook);
  app.get(`${webhooks}/:id`, ...showWebhook);
  app.post(`${webhooks}/:id`, ...saveWebhookForm);
  app.get(`${webhooks}/:id/rotate`, ...showRotateWebhook);
  app.post(`${webhooks}/:id/rotate`, ...rotateWebhookForm);
  app.post(`${webhooks}/:id/test`, ...testWebhookForm);
  app.post(`${webhooks}/:id/replay`, ...replayWebhookForm);
  app.get(`${webhooks}/:id/delete`, ...showDeleteWebhook);
  app.post(`${webhooks}/:id/delete`, ...deleteWebhookForm);
}
