/** The operators' API in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { RECONCILED_DAYS } from "../../../domain/limits.ts";
import type { RefusalCode } from "../../../domain/refusal_codes.ts";
import {
  creditsBody,
  emptyBody,
  optionalReasonBody,
  planBody,
  reasonBody,
  revokeQuery,
} from "./accounts/actions.ts";
import { findAccountsQuery } from "./accounts/list.ts";
import { listAuditQuery } from "./list_audit.ts";
import { findJobsQuery } from "./list_jobs.ts";
import { rebuildBody } from "./rebuild_accounts.ts";
import { reconcileBody } from "./reconcile_payments.ts";
import { readStatsQuery } from "./read_stats.ts";
import { listJobsQuery } from "../jobs/list.ts";
import { listLedgerQuery } from "../ledger/list.ts";
import * as admin from "./openapi_schemas.ts";
import { ACCOUNT, ENTRY, JOB, JOB_ID, PERSONAL_TOKEN } from "../../openapi/examples.ts";
import { done, operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

const of_account = z.object({ identity_id: z.string().describe("The person's identity.") });
const of_token = of_account.extend({ id: z.string().describe("The token's id.") });

const at = ENTRY.at;
const PERSON = { ...ACCOUNT, name: "Ada", email: "ada@example.com" };
const REASON = { reason: "Support case 4711" };
const ADJUSTMENT = { ...ENTRY, kind: "adjustment", amount: 50, job_id: null, app: null };
const { metadata: _, ...JOB_IN_LIST } = JOB;

/** An action on one account whose response has no value. */
function accountAction(options: {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly body: {
    readonly schema: z.core.$ZodType;
    readonly example: object;
    readonly optional?: true;
  };
}) {
  const refusals: RefusalCode[] = ["account_unknown"];
  const common = { tag: "Operators", security: "operator", path: of_account } as const;
  return { post: operation({ ...common, ...options, idempotent: true, success: done, refusals }) };
}

export const admin_paths: ZodOpenApiPathsObject = {
  "/api/admin/accounts": {
    get: operation({
      id: "findAccounts",
      tag: "Operators",
      summary: "Find accounts",
      description:
        "`q` is an account's id, an identity, or the beginning of an e-mail address. The data comes from the read model.",
      security: "operator",
      query: findAccountsQuery,
      success: {
        description: "A page of accounts.",
        schema: admin.found_accounts,
        example: { accounts: [{ ...PERSON, reserved: 0, created_at: at }], as_of: at },
      },
      refusals: [],
    }),
  },
  "/api/admin/accounts/{identity_id}": {
    get: operation({
      id: "inspectAccount",
      tag: "Operators",
      summary: "Read one account with its tokens, sessions and started jobs",
      description: "The data comes from the account itself.",
      security: "operator",
      path: of_account,
      success: {
        description: "The account.",
        schema: admin.inspected_account,
        example: {
          account: { ...PERSON, email_verified: true, created_at: at, suspended_at: null },
          reserved: 0,
          apps: [],
          personal_tokens: [PERSONAL_TOKEN],
          sessions: [],
          started_jobs: [],
        },
      },
      refusals: ["account_unknown"],
    }),
  },
  "/api/admin/accounts/{identity_id}/jobs": {
    get: operation({
      id: "listAccountJobs",
      tag: "Operators",
      summary: "An account's jobs, as its holder sees them",
      description: "The data comes from the account itself.",
      security: "operator",
      path: of_account,
      query: listJobsQuery,
      success: {
        description: "A page of jobs.",
        schema: schemas.job_page,
        example: { jobs: [JOB], next_cursor: JOB_ID },
      },
      refusals: ["account_unknown"],
    }),
  },
  "/api/admin/accounts/{identity_id}/ledger": {
    get: operation({
      id: "listAccountLedger",
      tag: "Operators",
      summary: "An account's ledger, as its holder sees it",
      description: "The data comes from the account itself.",
      security: "operator",
      path: of_account,
      query: listLedgerQuery,
      success: {
        description: "A page of entries.",
        schema: schemas.entry_page,
        example: { entries: [ENTRY] },
      },
      refusals: ["account_unknown"],
    }),
  },
  "/api/admin/accounts/{identity_id}/credits": {
    post: operation({
      id: "adjustCredits",
      tag: "Operators",
      summary: "Add or take credits",
      description:
        "Requires `Idempotency-Key`. Taking more credits than available requires `allow_negative: true`; otherwise the response is 400 `balance_below_zero`. The holder sees the reason in the ledger.",
      security: "operator",
      path: of_account,
      body: { schema: creditsBody, example: { amount: 50, ...REASON } },
      idempotent: true,
      success: {
        description: "The ledger entry, and the balance.",
        schema: admin.adjusted_credits,
        example: { entry: { ...ADJUSTMENT, note: REASON.reason }, credits: ENTRY.balance_after },
      },
      refusals: ["account_unknown", "balance_limit", "balance_below_zero"],
    }),
  },
  "/api/admin/accounts/{identity_id}/plan": {
    post: operation({
      id: "changePlan",
      tag: "Operators",
      summary: "Set the plan",
      description:
        "The plan can be any slug. The holder sees the plan in the wallet, and the change in the ledger.",
      security: "operator",
      path: of_account,
      body: { schema: planBody, example: { plan: "studio", ...REASON } },
      idempotent: true,
      success: {
        description: "The account with its plan.",
        schema: admin.changed_plan,
        example: { ok: true, account: { ...ACCOUNT, plan: "studio" } },
      },
      refusals: ["account_unknown"],
    }),
  },
  "/api/admin/accounts/{identity_id}/signout": accountAction({
    id: "signOutAccount",
    summary: "End all sessions",
    description:
      "Also revokes the personal tokens that end with a session. Other personal tokens stay valid.",
    body: { schema: optionalReasonBody, example: REASON, optional: true },
  }),
  "/api/admin/accounts/{identity_id}/rebuild": accountAction({
    id: "rebuildAccount",
    summary: "Send the account to the read model again",
    description: "Safe to repeat at any time.",
    body: { schema: emptyBody, example: {}, optional: true },
  }),
  "/api/admin/accounts/{identity_id}/suspend": accountAction({
    id: "suspendAccount",
    summary: "Suspend the account",
    description:
      "Every request of the holder except sign-out gets 403 `suspended`. Started jobs can still be settled, and still expire.",
    body: { schema: reasonBody, example: REASON },
  }),
  "/api/admin/accounts/{identity_id}/restore": accountAction({
    id: "restoreAccount",
    summary: "End a suspension",
    description: "Sessions and tokens that are still valid work again.",
    body: { schema: reasonBody, example: REASON },
  }),
  "/api/admin/accounts/{identity_id}/personal-tokens/{id}": {
    delete: operation({
      id: "revokeAccountToken",
      tag: "Operators",
      summary: "Revoke a personal token",
      description: "The next call with the token is refused, in every location.",
      security: "operator",
      path: of_token,
      query: revokeQuery,
      idempotent: true,
      success: done,
      refusals: ["account_unknown", "personal_token_not_found"],
    }),
  },
  "/api/admin/rebuild": {
    post: operation({
      id: "rebuildAccounts",
      tag: "Operators",
      summary: "Repair the read model of all accounts, a page at a time",
      description:
        "Compares the accounts of one page of people with the read model; each account sends the rows that are missing. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`. A repeated `Idempotency-Key` repairs the same page again, which is safe.",
      security: "operator",
      body: { schema: rebuildBody, example: {}, optional: true },
      idempotent: true,
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
      refusals: [],
    }),
  },
  "/api/admin/payments/reconcile": {
    post: operation({
      id: "reconcilePayments",
      tag: "Operators",
      summary: "Book payments whose webhook did not arrive, a page at a time",
      description: `Compares Stripe's checkouts and refunds of the last ${RECONCILED_DAYS.checkouts} days, and its disputes of the last ${RECONCILED_DAYS.disputes} days, with the accounts, and books what is missing, once. Repeat with \`cursor\` set to \`next_cursor\` until the response has no \`next_cursor\`. A repeated \`Idempotency-Key\` compares the same page again, which is safe. If the service sells no credits, the response is 404.`,
      security: "operator",
      body: { schema: reconcileBody, example: {}, optional: true },
      idempotent: true,
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
      refusals: ["not_found", "payments_unavailable", "payments_refused"],
    }),
  },
  "/api/admin/jobs": {
    get: operation({
      id: "findJobs",
      tag: "Operators",
      summary: "Jobs across accounts, newest first",
      description: "The data comes from the read model, which has no metadata.",
      security: "operator",
      query: findJobsQuery,
      success: {
        description: "A page of jobs.",
        schema: admin.found_jobs,
        example: { jobs: [{ ...JOB_IN_LIST, identity_id: ACCOUNT.identity_id }], as_of: at },
      },
      refusals: [],
    }),
  },
  "/api/admin/stats": {
    get: operation({
      id: "readStats",
      tag: "Operators",
      summary: "Totals by day",
      description:
        "UTC days from `from` up to and excluding `to`. Without a query, the last 30 days.",
      security: "operator",
      query: readStatsQuery,
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
              purchased: 0,
              adjusted: 50,
              jobs: 1,
              failed: 0,
              active_accounts: 1,
            },
          ],
          as_of: at,
        },
      },
      refusals: [],
    }),
  },
  "/api/admin/health": {
    get: operation({
      id: "inspectHealth",
      tag: "Operators",
      summary: "Figures that show whether the service is healthy",
      description:
        "Each figure has a limit, and is a warning above it. A store that does not respond makes its figures unknown, and the response is still 200.",
      security: "operator",
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
      refusals: [],
    }),
  },
  "/api/admin/operators": {
    get: operation({
      id: "listOperators",
      tag: "Operators",
      summary: "List the entries of OPERATORS with their roles",
      description:
        "A person whom several entries name has the role of the most specific one: an identity id, then an address with its provider, then an address.",
      security: "operator",
      success: {
        description: "All entries.",
        schema: admin.operators,
        example: {
          operators: [{ entry: "google:ada@example.com", role: "support", problem: null }],
        },
      },
      refusals: [],
    }),
  },
  "/api/admin/audit": {
    get: operation({
      id: "listAudit",
      tag: "Operators",
      summary: "List operators' actions, newest first",
      description: "One record per action, with its actor, time, reason and request id.",
      security: "operator",
      query: listAuditQuery,
      success: {
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
              details: { amount: 50, outcome: "done" },
            },
          ],
        },
      },
      refusals: [],
    }),
  },
};
