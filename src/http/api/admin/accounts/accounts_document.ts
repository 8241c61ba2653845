/** Operators' reads and actions of one account in the OpenAPI document. */
import * as z from "zod";
import * as admin from "../admin_schemas.ts";
import { ACCOUNT, ENTRY, JOB, JOB_ID, PERSONAL_TOKEN } from "../../../openapi/examples.ts";
import { DOWNLOAD, done, describe } from "../../../openapi/operation.ts";
import * as change from "./change.ts";
import * as privacy from "./privacy.ts";
import * as purchases from "./purchases.ts";
import * as read from "./read.ts";
import * as suspend_many from "./suspend_many.ts";
import * as schemas from "../../../openapi/schemas.ts";

const at = ENTRY.at;
const PERSON = { ...ACCOUNT, name: "Ada", email: "ada@example.com" };
const REASON = { reason: "Support case 4711" };
const ADJUSTMENT = { ...ENTRY, kind: "adjustment", amount: 50, job_id: null, app: null };
const REFUND = { ...ENTRY, kind: "job_refund", amount: 5, job_id: JOB_ID };

export const accounts = describe(
  "Operators",
  { ...change, ...privacy, ...purchases, ...read, ...suspend_many },
  {
    findAccounts: {
      summary: "Find accounts",
      description:
        "`q` is an account's id, an identity, or the beginning of an e-mail address. `state`, `app` (accounts that got starter credits of this app), `domain` (of the e-mail address) and `created_from` narrow the list. `app` considers the 2,400 accounts that got them last, and `domain` the 2,400 people who joined last. `sort` and `order` sort it: `desc` is newest or most first. A page of active accounts can have fewer accounts than `limit`, or none, and still have a `next_cursor`. The order by credits of all, or of all active, accounts is a list of 500 accounts that the schedule writes: `credits` and `as_of` are those of the list. With `created_from` or suspended accounts, it considers the 2,400 that were created last. The data comes from the read model.",
      success: {
        description: "A page of accounts.",
        schema: admin.found_accounts,
        example: {
          accounts: [{ ...PERSON, held: 0, state: "active", created_at: at }],
          as_of: at,
        },
      },
    },
    suspendAccounts: {
      summary: "Suspend many accounts for one reason",
      description:
        "Suspends up to 100 accounts. Each succeeds or fails by itself and has its own audit record. If the request is repeated with its `Idempotency-Key`, accounts that it suspended are not suspended again, and the others are tried again. A key belongs to one list and reason. `public_reason`: why, as their holders read it.",
      example: { identity_ids: [PERSON.identity_id], ...REASON },
      success: {
        description: "The results.",
        schema: admin.suspended_accounts,
        example: { results: [{ identity_id: PERSON.identity_id, ok: true }] },
      },
    },
    inspectAccount: {
      summary: "Read one account with its tokens, sessions and started jobs",
      description: "The data comes from the account itself.",
      success: {
        description: "The account.",
        schema: admin.inspected_account,
        example: {
          account: {
            ...PERSON,
            email_verified: true,
            created_at: at,
            suspended_at: null,
            suspended_public_reason: null,
          },
          held: 0,
          lots: [],
          topup: null,
          top_ups: [],
          apps: [],
          personal_tokens: [PERSONAL_TOKEN],
          sessions: [],
          started_jobs: [],
        },
      },
    },
    deleteAccount: {
      summary: "Delete a person's account",
      description:
        "For a person who asks for it: deletes as the holder would, also a suspended account. `confirm` repeats the `identity_id`. The audit log keeps the reason. A repeated request gets the same response for at least an hour.",
      example: { confirm: ACCOUNT.identity_id, reason: "Request 4711" },
      success: done,
    },
    exportAccount: {
      summary: "Everything that is stored about a person",
      description:
        "For a person who asks for their data: the same document as the holder's own download. Also for a suspended account. Adds an audit record, which the person sees in the document.",
      success: {
        description: "The document. Times are RFC 3339.",
        schema: admin.person_data,
        headers: DOWNLOAD,
        example: {
          exported_at: at,
          person: { identity_id: ACCOUNT.identity_id, email: PERSON.email },
          account: { ...ACCOUNT, created_at: at, suspended_at: null },
          ledger: [ENTRY],
        },
      },
    },
    listAccountJobs: {
      summary: "An account's jobs, as its holder sees them",
      description: "The data comes from the account itself.",
      success: {
        description: "A page of jobs.",
        schema: schemas.job_page,
        example: { jobs: [JOB], next_cursor: JOB_ID },
      },
    },
    readAccountJob: {
      summary: "One job of an account",
      description:
        "The data comes from the account itself. `/ledger?job_id=` below the account lists its entries.",
      success: { description: "The job.", schema: schemas.job, example: JOB },
    },
    refundJob: {
      summary: "Give back the cost of an ended job",
      description:
        "Requires `Idempotency-Key`. Gives back `amount`, or all that is left; in all at most what the job cost, otherwise the response is 400 `refund_limit`. The holder sees the reason in the ledger, as the note of an entry of kind `job_refund`. A refunded job can no longer be completed late. If a token with a cap created the job, the cap gets the room back if the job belongs to its current period.",
      example: { amount: 5, ...REASON },
      success: {
        description: "The job, the ledger entry, and the balance.",
        schema: admin.refunded_job,
        example: {
          job: { ...JOB, refunded: 5 },
          entry: { ...REFUND, note: REASON.reason },
          credits: ENTRY.balance_after,
        },
      },
    },
    listAccountPurchases: {
      summary: "An account's purchases, newest first",
      description: "The data comes from the account itself.",
      success: {
        description: "A page of purchases.",
        schema: admin.purchase_page,
        example: {
          purchases: [
            {
              checkout_session_id: "cs_test_a1",
              payment_intent_id: "pi_3QK",
              payment_url: "https://dashboard.stripe.com/test/payments/pi_3QK",
              package: "small",
              package_name: "Small",
              credits: 100,
              taken_back: 0,
              currency: "eur",
              amount_minor: 500,
              refunded_minor: 0,
              at,
            },
          ],
        },
      },
    },
    listAccountLedger: {
      summary: "An account's ledger, as its holder sees it",
      description: "The data comes from the account itself.",
      success: {
        description: "A page of entries.",
        schema: schemas.entry_page,
        example: { entries: [ENTRY] },
      },
    },
    adjustCredits: {
      summary: "Add or take credits",
      description:
        "Requires `Idempotency-Key`. Taking more credits than available requires `allow_negative: true`; otherwise the response is 400 `balance_below_zero`. Given credits can have terms: `expires_at` (in the future), `app_slugs` (the only apps that can use them), and `bought`. Bought credits can have `paid_minor` and `currency`, such as 2000 and `eur`: they then count in `revenue`, and in the `liability` of a month. A negative amount takes credits for all apps, in the order of use. The holder sees the reason in the ledger.",
      example: { amount: 50, ...REASON },
      success: {
        description: "The ledger entry, and the balance.",
        schema: admin.adjusted_credits,
        example: { entry: { ...ADJUSTMENT, note: REASON.reason }, credits: ENTRY.balance_after },
      },
    },
    changePlan: {
      summary: "Set the plan",
      description:
        "If the plan is saved, the account copies its rules, and the credits of the period that runs come at once. `anchor`, now or in the past, says where the periods are counted from (default now). The same plan again changes nothing. An account that leaves a plan keeps the credits of the period; if it comes back within that period, it goes on with it and gets no second credits. A plan that nobody saved can be any slug and is only a name. The holder sees the plan in the wallet, and the change in the ledger.",
      example: { plan: "studio", ...REASON },
      success: {
        description: "The account with its plan.",
        schema: admin.changed_plan,
        example: { ok: true, account: { ...ACCOUNT, plan: "studio" } },
      },
    },
    signOutAccount: {
      success: done,
      summary: "End all sessions",
      description:
        "Also revokes the personal tokens that end with a session. Other personal tokens stay valid.",
      example: REASON,
    },
    rebuildAccount: {
      success: done,
      summary: "Send the account to the read model again",
      description: "Safe to repeat at any time.",
      example: {},
    },
    suspendAccount: {
      success: done,
      summary: "Suspend the account",
      description:
        "Every request of the holder except sign-out gets 403 `suspended`; with a session, `public_reason` says why if it is given here. Started jobs can still be settled, and still expire. Suspending a suspended account changes only the `public_reason`, if one is given.",
      example: { ...REASON, public_reason: "Too many accounts with one card." },
    },
    restoreAccount: {
      success: done,
      summary: "End a suspension",
      description: "Sessions and tokens that are still valid work again.",
      example: REASON,
    },
    revokeAccountToken: {
      summary: "Revoke a personal token",
      description: "The next call with the token is refused, in every location.",
      path: { id: z.string().describe("The token's id.") },
      success: done,
    },
  },
);
