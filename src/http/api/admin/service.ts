/** Lists, totals and actions across accounts: `/api/admin/jobs`, `audit`, `stats`, `money`, `health`, `operators` … */
import { writeCursor } from "../../../domain/payment_list.ts";
import * as jobs from "../../../operator/find_jobs.ts";
import { listAuditQuery, readAudit, readAuditCsv } from "../../../operator/read_audit.ts";
import { readHealth } from "../../../operator/read_health.ts";
import * as money from "../../../operator/read_money.ts";
import { readOperators } from "../../../operator/read_operators.ts";
import { listRequestsQuery, readRequests } from "../../../operator/read_requests.ts";
import * as stats from "../../../operator/read_stats.ts";
import * as rebuild from "../../../operator/rebuild_accounts.ts";
import * as reconciliation from "../../../operator/reconcile_payments.ts";
import { actingOf } from "../../caller/acting.ts";
import type { AppContext } from "../../context.ts";
import { sendCsv } from "../../download.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { respondOnce } from "../../views.ts";

const acceptsCsv = (context: AppContext): boolean =>
  (context.req.header("Accept") ?? "").includes("text/csv");

export const findJobs = endpoint(
  {
    at: "GET /api/admin/jobs",
    role: "viewer",
    query: jobs.findJobsQuery,
    refusals: ["account_unknown"],
  },
  async (context, { query }) => {
    const found = await jobs.findJobs(context.get("services"), query);
    return found.ok ? context.json(found.value) : refuse(context, found.refusal);
  },
);

export const listAudit = endpoint(
  {
    at: "GET /api/admin/audit",
    role: "viewer",
    query: listAuditQuery,
    refusals: ["account_unknown"],
  },
  async (context, { query }) => {
    const services = context.get("services");
    if (acceptsCsv(context)) {
      const csv = await readAuditCsv(services, query);
      if (!csv.ok) return refuse(context, csv.refusal);
      return sendCsv(context, { name: "audit.csv", body: csv.value });
    }
    const page = await readAudit(services, query);
    return page.ok ? context.json(page.value) : refuse(context, page.refusal);
  },
);

export const readStats = endpoint(
  {
    at: "GET /api/admin/stats",
    role: "viewer",
    query: stats.readStatsQuery,
  },
  async (context, { query }) => context.json(await stats.readStats(context.get("services"), query)),
);

const LIST_AND_CSV = `For CSV, send Accept: text/csv and list, which is one of ${money.MONEY_LISTS.join(", ")}. Otherwise send neither.`;

export const readMoney = endpoint(
  {
    at: "GET /api/admin/money",
    role: "viewer",
    query: money.moneyQuery,
  },
  async (context, { query: { list, ...requested } }) => {
    if (acceptsCsv(context) !== (list !== undefined)) {
      return refuse(context, { code: "invalid_request", detail: LIST_AND_CSV });
    }
    const services = context.get("services");
    const days = money.moneyDays(requested);
    if (list !== undefined) {
      return sendCsv(context, await money.readMoneyList(services, list, days));
    }
    const month = requested.month === undefined ? null : money.wholeMonth(days);
    return context.json(
      month === null
        ? await money.readMoney(services, days)
        : await money.readMonthMoney(services, month),
    );
  },
);

export const inspectHealth = endpoint(
  {
    at: "GET /api/admin/health",
    role: "viewer",
  },
  async (context) => context.json(await readHealth(context.get("services"))),
);

export const listRequests = endpoint(
  {
    at: "GET /api/admin/requests",
    role: "viewer",
    query: listRequestsQuery,
    refusals: ["account_unknown", "metrics_unavailable", "not_found"],
  },
  async (context, { query }) => {
    const read = await readRequests(context.get("services"), query);
    return read.ok ? context.json(read.value) : refuse(context, read.refusal);
  },
);

export const listOperators = endpoint(
  {
    at: "GET /api/admin/operators",
    role: "viewer",
  },
  (context) => context.json({ operators: readOperators(context.get("services")) }),
);

export const rebuildAccounts = endpoint(
  {
    at: "POST /api/admin/rebuild",
    role: "admin",
    body: rebuild.rebuildBody,
    body_is_optional: true,
  },
  async (context, { body, key }) => {
    const repaired = await rebuild.rebuildAccounts(await actingOf(context), body, key);
    return respondOnce(context, repaired, (page) => page);
  },
);

export const reconcilePayments = endpoint(
  {
    at: "POST /api/admin/payments/reconcile",
    role: "admin",
    payments: true,
    body: reconciliation.reconcileBody,
    body_is_optional: true,
    refusals: ["payments_unavailable", "payments_refused"],
  },
  async (context, { body, key }) => {
    const reconciled = await reconciliation.reconcilePayments(await actingOf(context), body, key);
    return respondOnce(context, reconciled, ({ checked, booked, not_booked, next }) => ({
      checked,
      booked,
      not_booked,
      ...(next === null ? {} : { next_cursor: writeCursor(next) }),
    }));
  },
);
