/** The routes of the operators' API. `http/routes.ts` checks for all of them that the caller is an operator. */
import type { Hono } from "hono";
import type { AppEnvironment } from "../../context.ts";
import { guardCookieWrites } from "../../middleware/origins.ts";
import { limitWrites } from "../../middleware/rate_limits.ts";
import { limitBodySize, requireJsonBody } from "../../validation.ts";
import { requirePayments } from "../payments/require_payments.ts";
import {
  deletePersonalToken,
  postCredits,
  postJobRefund,
  postPlan,
  postRebuild,
  postRestore,
  postSignOut,
  postSuspend,
} from "./accounts/change.ts";
import { requireHolder } from "./accounts/holder.ts";
import { listAccounts } from "./accounts/list.ts";
import {
  listAccountJobs,
  listAccountLedger,
  readAccount,
  readAccountJob,
} from "./accounts/read.ts";
import { getExport, removeAccount } from "./accounts/privacy.ts";
import { postSuspendMany } from "./accounts/suspend_many.ts";
import { deleteAppKey, listAppKeys, postAppKey } from "./apps/keys.ts";
import { listAccountPurchases } from "./accounts/purchases.ts";
import { listApps } from "./apps/list.ts";
import { putApp } from "./apps/save.ts";
import { deleteClient, getClient, listClients, postClientSecret } from "./clients/change.ts";
import { putClient } from "./clients/save.ts";
import { deleteResource, getResource, listResources } from "./resources/change.ts";
import { putResource } from "./resources/save.ts";
import { deleteWebhook, listWebhooks, postRotateWebhook } from "./webhooks/change.ts";
import { listDeliveries, postReplayWebhook, postTestWebhook } from "./webhooks/deliver.ts";
import { putWebhook } from "./webhooks/save.ts";
import { unlessOwnApp } from "../../caller/app_owner.ts";
import { listAudit } from "./list_audit.ts";
import { listAllJobs } from "./list_jobs.ts";
import { listOperators } from "./list_operators.ts";
import { showHealth } from "./read_health.ts";
import { showMoney } from "./read_money.ts";
import { listStats } from "./read_stats.ts";
import { postRebuildAll } from "./rebuild_accounts.ts";
import { postReconcilePayments } from "./reconcile_payments.ts";

export function addAdminRoutes(app: Hono<AppEnvironment>): void {
  const account = "/api/admin/accounts/:identity_id";
  const removal = [guardCookieWrites, limitWrites] as const;
  const write = [...removal, limitBodySize] as const;
  const write_json = [...write, requireJsonBody] as const;

  app.get("/api/admin/accounts", ...listAccounts);
  app.post("/api/admin/accounts/suspend", ...write_json, ...postSuspendMany);
  app.get(account, requireHolder, ...readAccount);
  app.delete(account, ...write_json, ...removeAccount);
  app.get(`${account}/export`, limitWrites, requireHolder, ...getExport);
  app.get(`${account}/jobs`, requireHolder, ...listAccountJobs);
  app.get(`${account}/jobs/:job_id`, requireHolder, ...readAccountJob);
  app.get(`${account}/purchases`, requireHolder, ...listAccountPurchases);
  app.get(`${account}/ledger`, requireHolder, ...listAccountLedger);
  app.post(`${account}/credits`, ...write_json, requireHolder, ...postCredits);
  app.post(`${account}/jobs/:job_id/refund`, ...write_json, requireHolder, ...postJobRefund);
  app.post(`${account}/plan`, ...write_json, requireHolder, ...postPlan);
  app.post(`${account}/suspend`, ...write_json, requireHolder, ...postSuspend);
  app.post(`${account}/restore`, ...write_json, requireHolder, ...postRestore);
  app.post(`${account}/signout`, ...write, requireHolder, ...postSignOut);
  app.post(`${account}/rebuild`, ...write, requireHolder, ...postRebuild);
  app.delete(`${account}/personal-tokens/:id`, ...removal, requireHolder, ...deletePersonalToken);

  app.get("/api/admin/apps", ...listApps);
  app.put("/api/admin/apps/:slug", ...write_json, ...putApp);
  app.get("/api/admin/apps/:slug/keys", ...listAppKeys);
  app.post("/api/admin/apps/:slug/keys", ...write_json, ...postAppKey);
  app.delete("/api/admin/apps/:slug/keys/:id", ...removal, ...deleteAppKey);
  const clients = "/api/admin/apps/:slug/clients";
  app.get(clients, ...listClients);
  app.get(`${clients}/:id`, ...getClient);
  app.put(`${clients}/:id`, ...write_json, ...putClient);
  app.delete(`${clients}/:id`, ...removal, ...deleteClient);
  app.post(`${clients}/:id/secret`, ...write, ...postClientSecret);
  const resources = "/api/admin/apps/:slug/resources";
  app.get(resources, ...listResources);
  app.get(`${resources}/:id`, ...getResource);
  app.put(`${resources}/:id`, ...write_json, ...putResource);
  app.delete(`${resources}/:id`, ...removal, ...deleteResource);

  const webhooks = "/api/admin/apps/:slug/webhooks";
  const of_owner = [unlessOwnApp(guardCookieWrites), limitWrites, limitBodySize] as const;
  app.get(webhooks, ...listWebhooks);
  app.put(`${webhooks}/:id`, ...of_owner, requireJsonBody, ...putWebhook);
  app.delete(`${webhooks}/:id`, ...of_owner, ...deleteWebhook);
  app.post(`${webhooks}/:id/rotate`, ...of_owner, ...postRotateWebhook);
  app.post(`${webhooks}/:id/test`, ...of_owner, ...postTestWebhook);
  app.get(`${webhooks}/:id/deliveries`, ...listDeliveries);
  app.post(`${webhooks}/:id/replay`, ...of_owner, requireJsonBody, ...postReplayWebhook);

  app.post("/api/admin/rebuild", ...write, ...postRebuildAll);
  const payments = "/api/admin/payments/reconcile";
  app.post(payments, requirePayments, ...write, ...postReconcilePayments);
  app.get("/api/admin/jobs", ...listAllJobs);
  app.get("/api/admin/stats", ...listStats);
  app.get("/api/admin/money", ...showMoney);
  app.get("/api/admin/health", ...showHealth);
  app.get("/api/admin/audit", ...listAudit);
  app.get("/api/admin/operators", ...listOperators);
}
