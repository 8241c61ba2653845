/** The document's operators' side. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
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

/** An act on one account: its body, and the answer that says it was done. */
function accountAct(it: {
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
  return { post: operation({ ...common, ...it, idempotent: true, success: done, refusals }) };
}

export const admin_paths: ZodOpenApiPathsObject = {
  "/api/admin/accounts": {
    get: operation({
      id: "findAccounts",
      tag: "Operators",
      summary: "Find accounts",
      description:
        "`q` is an account's id, an identity, or the beginning of an e-mail address. From the read model.",
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
      summary: "One account in full",
      description: "From the account itself.",
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
      description: "From the account itself.",
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
      description: "From the account itself.",
      security: "operator",
      path: of_account,
      query: listLedgerQuery,
      success: {
        description: "A page of lines.",
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
      summary: "Give credits, or take them",
      description:
        "Needs `Idempotency-Key`. Taking more credits than there are needs `allow_negative: true`; without it the response is 400 `balance_below_zero`. The holder sees the reason in their ledger.",
      security: "operator",
      path: of_account,
      body: { schema: creditsBody, example: { amount: 50, ...REASON } },
      idempotent: true,
      success: {
        description: "The line, and the balance.",
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
        "Any slug. The holder sees the plan in the wallet, and the change in their ledger.",
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
  "/api/admin/accounts/{identity_id}/signout": accountAct({
    id: "signOutAccount",
    summary: "End all sessions",
    description: "And what hangs on them; other personal tokens stay.",
    body: { schema: optionalReasonBody, example: REASON, optional: true },
  }),
  "/api/admin/accounts/{identity_id}/rebuild": accountAct({
    id: "rebuildAccount",
    summary: "Send the account to the read model anew",
    description: "Safe at any time.",
    body: { schema: emptyBody, example: {}, optional: true },
  }),
  "/api/admin/accounts/{identity_id}/suspend": accountAct({
    id: "suspendAccount",
    summary: "Keep the holder out",
    description:
      "They are answered 403 `suspended` everywhere but at sign-out. What is held still settles or times out.",
    body: { schema: reasonBody, example: REASON },
  }),
  "/api/admin/accounts/{identity_id}/restore": accountAct({
    id: "restoreAccount",
    summary: "Let the holder in again",
    description: "Sessions and tokens that did not end meanwhile work again.",
    body: { schema: reasonBody, example: REASON },
  }),
  "/api/admin/accounts/{identity_id}/personal-tokens/{id}": {
    delete: operation({
      id: "revokeAccountToken",
      tag: "Operators",
      summary: "Revoke a personal token",
      description: "From the next call on, everywhere.",
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
        "Compares the accounts of a page of people with the read model; each sends what is missing there. Repeat with `cursor` set to `next_cursor` until the response has none. Safe to repeat: a repeated `Idempotency-Key` repairs the same page again.",
      security: "operator",
      body: { schema: rebuildBody, example: {}, optional: true },
      idempotent: true,
      success: {
        description: "What became of the page.",
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
  "/api/admin/jobs": {
    get: operation({
      id: "findJobs",
      tag: "Operators",
      summary: "Jobs across accounts, newest first",
      description: "From the read model, without metadata.",
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
      description: "UTC days, `to` not included; the last thirty without a query.",
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
  "/api/admin/audit": {
    get: operation({
      id: "listAudit",
      tag: "Operators",
      summary: "What operators did, newest first",
      description: "One record for each act, with its actor, time, reason and request id.",
      security: "operator",
      query: listAuditQuery,
      success: {
        description: "A page of the log.",
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
