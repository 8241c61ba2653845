/** The operators' pages. */
import type { Hono } from "hono";
import { requireHolder } from "../../http/api/admin/accounts/holder.ts";
import { requireSignIn } from "../../http/caller/browser_session.ts";
import type { AppEnvironment } from "../../http/context.ts";
import { noStore } from "../../http/middleware/headers.ts";
import { limitBodySize } from "../../http/validation.ts";
import { ACCOUNT_ACT_NAMES, doAct, showAct } from "./account_acts.tsx";
import { showAccountInFull } from "./account.tsx";
import { showAccounts } from "./accounts.tsx";
import { addKey, doRevokeKey, showRevokeKey } from "./app_keys.tsx";
import { registerApp, saveSettings, showApp, showApps, showNewApp } from "./apps.tsx";
import { showAudit } from "./audit.tsx";
import { doCredits, showCredits } from "./credits.tsx";
import { guardConsole, requireConsoleOperator } from "./door.ts";
import { showAllJobs } from "./jobs.tsx";
import { showOverview } from "./overview.tsx";

/** Routes with their door before all of them. */
export function addConsoleRoutes(app: Hono<AppEnvironment>): void {
  app.use(
    "/console/*",
    noStore,
    guardConsole,
    requireSignIn,
    requireConsoleOperator,
    limitBodySize,
  );
  app.get("/console", ...showOverview);
  app.get("/console/accounts", ...showAccounts);
  app.get("/console/jobs", ...showAllJobs);
  app.get("/console/audit", ...showAudit);

  const account = "/console/accounts/:identity_id";
  app.get(account, requireHolder, ...showAccountInFull);
  app.get(`${account}/credits`, requireHolder, ...showCredits);
  app.post(`${account}/credits`, requireHolder, ...doCredits);
  for (const name of ACCOUNT_ACT_NAMES) {
    app.get(`${account}/${name}`, requireHolder, ...showAct(name));
    app.post(`${account}/${name}`, requireHolder, ...doAct(name));
  }

  app.get("/console/apps", ...showApps);
  app.get("/console/new-app", ...showNewApp);
  app.post("/console/new-app", ...registerApp);
  app.get("/console/apps/:slug", ...showApp);
  app.post("/console/apps/:slug/settings", ...saveSettings);
  app.post("/console/apps/:slug/keys", ...addKey);
  app.get("/console/apps/:slug/revoke-key", ...showRevokeKey);
  app.post("/console/apps/:slug/revoke-key", ...doRevokeKey);
}
