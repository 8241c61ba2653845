/** The operators' API in the OpenAPI document. */
import * as z from "zod";
import { RECONCILED_DAYS } from "../../../domain/limits.ts";
import * as admin from "./admin_schemas.ts";
import { ACCOUNT, ENTRY, JOB, JOB_ID } from "../../openapi/examples.ts";
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./service.ts";

const at = ENTRY.at;
const REASON = { reason: "Support case 4711" };
const { done: _done, message: _message, metadata: _, ...JOB_IN_LIST } = JOB;

export const service_of_operators = describe("Operators", endpoints, {
  rebuildAccounts: {
    summary: "Repair the read model of all accounts, a page at a time",
    description:
      "Compares the accounts of one page of people with the read model; each account sends the rows that are missing. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`. A repeated `Idempotency-Key` repairs the same page again, which is safe.",
    example: {},
    success: {
      description: "The result for the page.",
      schema: admin.repaired_page,
      example: {
        people: 3400,
        checked: 40,
        repaired: 2,
        failed: [],
        next_cursor: ACCOUNT.identity_id,
      },
    },
  },
  reconcilePayments: {
    summary: "Book payments whose webhook did not arrive, a page at a time",
    description: `Compares Stripe's checkouts and refunds of the last ${RECONCILED_DAYS.checkouts} days, and its disputes of the last ${RECONCILED_DAYS.disputes} days, with the accounts, and books what is missing, once. Repeat with \`cursor\` set to \`next_cursor\` until the response has no \`next_cursor\`. A repeated \`Idempotency-Key\` compares the same page again, which is safe. If the service sells no credits, the response is 404.`,
    example: {},
    success: {
      description: "The result for the page.",
      schema: admin.reconciled_page,
      example: {
        checked: 200,
        booked: [
          {
            list: "checkouts",
            id: "cs_live_a1",
            identity_id: ACCOUNT.identity_id,
            payment_intent_id: "pi_3a",
            credits: 500,
          },
        ],
        not_booked: [],
        next_cursor: "checkouts:cs_live_a1",
      },
    },
  },
  findJobs: {
    summary: "Jobs across accounts",
    description:
      "The data comes from the read model, which has no metadata. The newest first. A page can have fewer jobs than `limit`, or no jobs, and still have a `next_cursor`. With `sort=cost`, those that cost most (`actual_cost` less `refunded`) among the newest 4,000 jobs of all accounts up to `to`, and then there is no further page.",
    success: {
      description: "A page of jobs.",
      schema: admin.found_jobs,
      example: { jobs: [{ ...JOB_IN_LIST, identity_id: ACCOUNT.identity_id }], as_of: at },
    },
  },
  readStats: {
    summary: "Totals by day",
    description:
      "UTC days from `from` up to and excluding `to`. Without a query, the last 30 days.",
    success: {
      description: "A series of days.",
      schema: admin.stats,
      example: {
        series: [
          {
            day: "2026-11-21",
            granted: 100,
            reserved: 60,
            settled: 25,
            refunded: 0,
            job_refunded: 0,
            purchased: 0,
            adjusted: 50,
            expired: 0,
            taken_back: 0,
            forfeited: 0,
            jobs: 1,
            failed: 0,
            active_accounts: 1,
          },
        ],
        as_of: at,
      },
    },
  },
  readMoney: {
    summary: "Credits and money of a period, to close a month",
    description:
      "Without `from` and `to`, the last 30 days. A period has at most 366 days. With `Accept: text/csv`, the list that `list` names as CSV: `by_app`, `revenue`, `accounts` with the identity, balance and held credits of each account now, or `month`. With `month` instead of `from` and `to`, the response is `MonthMoney`: what all people owned before and after a month, each change between, and what was paid for the bought credits that are left. The data comes from the read model.",
    success: {
      description:
        "The credits of all accounts now, and the period by app, package and currency; or a month's changes.",
      schema: z.union([admin.money, admin.month_money]),
      csv: true,
      example: {
        outstanding: { credits: 182_400, held: 350, accounts: 60 },
        by_app: [{ app: "sketch", granted: 6000, settled: 1820, refunded: 90, job_refunded: 25 }],
        revenue: [
          {
            package: "small",
            currency: "eur",
            purchases: 33,
            amount_minor: 16_500,
            refunded_minor: 500,
          },
        ],
        as_of: at,
      },
    },
  },
  inspectHealth: {
    summary: "Figures that show whether the service is healthy",
    description:
      "Each figure has a limit, and is a warning above it. A store that does not respond makes its figures unknown, and the response is still 200.",
    success: {
      description: "The figures, the tasks of the schedule, and the apps' starter budgets.",
      schema: admin.health,
      example: {
        status: "warning",
        figures: [
          {
            name: "payments_not_booked",
            status: "warning",
            value: 1,
            limit: 0,
            unit: "payments",
            newest_at: at,
            reason: "account_deleted",
          },
        ],
        tasks: [{ task: "read_model", ended_at: at, failing_since: null, reason: null }],
        budgets: [{ app: "demo", used: 900, limit: 1000, used_up: false }],
        as_of: at,
      },
    },
  },
  listOperators: {
    summary: "List the entries of OPERATORS with their roles",
    description:
      "A person whom several entries name has the role of the most specific one: an identity id, then an address with its provider, then an address.",
    success: {
      description: "All entries.",
      schema: admin.operators,
      example: {
        operators: [{ entry: "google:ada@example.com", role: "support", problem: null }],
      },
    },
  },
  listRequests: {
    summary: "The service's traffic, and requests that failed or that you look for",
    description:
      "Rates of the last hour and day, and the routes of the last hour. `requests` are the newest of the last seven days with this `request_id`, `account` (an identity, or an address of one person) or `app`; without a filter, those that failed. The data comes from Cloudflare's Analytics Engine, seconds late, and a busy route is sampled; a local service remembers its last 1,000 requests.",
    success: {
      description: "Rates, routes and at most 100 requests.",
      schema: admin.requests,
      example: {
        source: "metrics",
        hour: { requests: 12_000, failed: 1, limited: 4 },
        day: { requests: 240_000, failed: 1, limited: 90 },
        routes: [
          {
            method: "POST",
            route: "/api/jobs",
            requests: 4000,
            failed: 1,
            limited: 0,
            p50_ms: 12,
            p95_ms: 60,
          },
        ],
        requests: [
          {
            at,
            request_id: "8f1c2b7a5d3e4f60",
            method: "POST",
            route: "/api/jobs",
            status: 500,
            code: "internal",
            app: "sketch",
            caller: "session",
            account: "kbq0Yb2m1QpYtD9mXoSLv3b1s0d9f8JqYwzqv7iM4m4",
            release: "6f9d3f5e-2c1d-4d0a-9d7e-0f1f5a1f7c11",
            colo: "FRA",
            duration_ms: 41,
            account_calls: 1,
          },
        ],
      },
    },
  },
  listAudit: {
    summary: "List operators' actions, newest first",
    description:
      "One record per action, with its actor, time, reason and request id. `actor` and `subject` may be e-mail addresses. An action on several accounts has one record for each, with the same request id. With `Accept: text/csv`, the newest 10,000 records as CSV.",
    success: {
      csv: true,
      description: "A page of the audit log.",
      schema: admin.audit_page,
      example: {
        entries: [
          {
            id: JOB_ID,
            at,
            actor: ACCOUNT.identity_id,
            act: "account.credits",
            subject: ACCOUNT.identity_id,
            ...REASON,
            request_id: "8f1c2b7a5d3e4f60",
            changed: { credits: { from: 100, to: 150 } },
            details: { amount: 50, outcome: "done" },
          },
        ],
      },
    },
  },
});
