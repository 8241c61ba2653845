/** The operators' API. The door stands before all of it, in `http/routes.ts`. */
import type { Hono } from "hono";
import type { AppEnvironment } from "../../context.ts";
import { guardCookieWrites } from "../../middleware/origins.ts";
import { limitWrites } from "../../middleware/rate_limits.ts";
import { jsonBodyOnly, limitedBody } from "../../validation.ts";
import { listAccountJobs, listAccountLedger, readAccount } from "./account.ts";
import {
  deletePersonalToken,
  postCredits,
  postPlan,
  postRebuild,
  postRestore,
  postSignOut,
  postSuspend,
} from "./account_writes.ts";
import { listAccounts } from "./accounts.ts";
import { listAudit } from "./audit.ts";
import { listAllJobs } from "./jobs.ts";
import { postRebuildAll } from "./rebuild.ts";
import { listStats } from "./stats.ts";
import { requireSubject } from "./subject.ts";

/** Routes behind the operators' door. */
export function addAdminRoutes(app: Hono<AppEnvironment>): void {
  const account = "/api/admin/accounts/:identity_id";
  const write = [guardCookieWrites, limitWrites, limitedBody] as const;
  const write_json = [...write, jsonBodyOnly, requireSubject] as const;

  app.get("/api/admin/accounts", ...listAccounts);
  app.get(account, requireSubject, ...readAccount);
  app.get(`${account}/jobs`, requireSubject, ...listAccountJobs);
  app.get(`${account}/ledger`, requireSubject, ...listAccountLedger);
  app.post(`${account}/credits`, ...write_json, ...postCredits);
  app.post(`${account}/plan`, ...write_json, ...postPlan);
  app.post(`${account}/suspend`, ...write_json, ...postSuspend);
  app.post(`${account}/restore`, ...write_json, ...postRestore);
  app.post(`${account}/signout`, ...write, requireSubject, ...postSignOut);
  app.post(`${account}/rebuild`, ...write, requireSubject, ...postRebuild);
  const removal = [guardCookieWrites, limitWrites, requireSubject] as const;
  app.delete(`${account}/personal-tokens/:id`, ...removal, ...deletePersonalToken);

  app.post("/api/admin/rebuild", ...write, ...postRebuildAll);
  app.get("/api/admin/jobs", ...listAllJobs);
  app.get("/api/admin/stats", ...listStats);
  app.get("/api/admin/audit", ...listAudit);
}
