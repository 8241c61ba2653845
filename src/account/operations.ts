/**
 * The operations of an account: for each, the right that its caller wants, how a repeated request gets the first response,
 * and its function. `object.ts` makes each a method of the object; `clients/accounts.ts` reaches the object by its identity.
 *
 * An operation with a caller may be refused as `unauthorized` (the caller's token ended, or the account was deleted),
 * `scope` (the caller may not do this) or `suspended`. To apps and operators, a deleted account is `account_unknown`.
 */
import { accepted } from "../domain/result.ts";
import { startedBy } from "../domain/started_by.ts";
import type { WebhookEvents, WebhookEventsRequest } from "../domain/webhook_delivery.ts";
import type { UpstreamTokens } from "../oauth/upstream_tokens.ts";
import { readAccess } from "./access.ts";
import * as allowances from "./allowances/allowances.ts";
import { clientIdsOf } from "./allowances/credentials.ts";
import { decideApproval, readApproval } from "./approvals/approvals.ts";
import { endEarlierRelease, exercise, keepDirectoryMarker } from "./canary.ts";
import * as callers from "./caller.ts";
import * as contract from "./contract.ts";
import type { Answer, Caller, IdempotencyGuard, OnceAnswer } from "./contract.ts";
import { changeDebt, checkPayment, recordReversal } from "./deleted_payments.ts";
import * as deletion from "./deletion/deletion.ts";
import { readHoldings } from "./holdings.ts";
import { onceInJob } from "./idempotency/job_keys.ts";
import type { KeyedRequest } from "./idempotency/once.ts";
import { onceStored, WHOLE, type ResponseForm } from "./idempotency/responses.ts";
import type { Instance } from "./instance.ts";
import type { AccountParts } from "./parts.ts";
import * as batches from "./jobs/batches.ts";
import { createJob } from "./jobs/create.ts";
import { readJobHistory } from "./jobs/history.ts";
import { listJobs } from "./jobs/lists.ts";
import { reportProgress } from "./jobs/progress.ts";
import * as jobs from "./jobs/settle.ts";
import { listEntries } from "./ledger/entries.ts";
import { startedJobsOf } from "./ledger/started_jobs.ts";
import { readStatement } from "./ledger/statement.ts";
import { readStatementRows } from "./ledger/statement_rows.ts";
import * as connections from "./oauth/authorize.ts";
import { exchange } from "./oauth/exchange.ts";
import * as families from "./oauth/families.ts";
import * as operators from "./operators/acts.ts";
import { inspect } from "./operators/inspection.ts";
import { readOverview } from "./overview.ts";
import * as purchases from "./purchases/purchases.ts";
import * as from_archive from "./recovery/from_archive.ts";
import * as recovery from "./recovery/recovery.ts";
import { starterReader } from "./sql/started_by.ts";
import { compareCopies, NO_ACCOUNT } from "./sync/comparison.ts";
import * as read_model from "./sync/repair.ts";
import * as top_ups from "./top_up/top_up.ts";
import type { Transaction } from "./transaction.ts";
import * as access from "./wallet/app_access.ts";
import * as stops from "./app_stop.ts";
import { readProfile, readWallet } from "./wallet/wallet.ts";
import { readEvents } from "./webhooks/pages.ts";

const OWES_NOTHING: contract.Owed = { credits: 0, debt_ids: [], may_change: false };

export const OPERATIONS = {
  wallet: byCaller("read", readWallet),
  readProfile: byCaller("profile", readProfile),
  stopApp: byCaller("write", stops.stopApp),
  allowApp: byCaller("write", stops.allowApp),

  createJob: byCaller("start", once("jobs.create", WHOLE, createJob)),
  createJobs: byCaller(
    "write",
    once("jobs.create.batch", batches.CREATED_FORM, batches.createJobs),
  ),
  completeJob: byCaller("settle", onceEnded("completed", jobs.completeJob)),
  completeJobs: byCaller("settle", completeJobs),
  failJob: byCaller("settle", onceEnded("failed", jobs.failJob)),
  // Once for each step.
  reportProgress: byCaller("settle", (it, request: contract.ProgressRequest) =>
    access.withCreditsFor(it, reportProgress(it, request)),
  ),
  cancelJob: byCaller("write", jobs.cancelJob),
  readJob: byCaller("follow", jobs.readJob),
  listJobs: byCaller("read", listVisibleJobs),
  readJobHistory: byCaller("read", readJobHistory),
  readApproval: byCaller("read", readApproval),
  decideApproval: byCaller("write", decideApproval),

  listEntries: byCaller("read", listVisibleEntries),
  readOverview: byCaller("read", readOverview),
  readStatement: byCaller("read", readStatement),
  readStatementRows: byCaller("read", readStatementRows),
  // For the export of a person's data.
  readHoldings: byCaller("read", readHoldings),

  adjustCredits: byService("write", once("admin.credits", WHOLE, operators.adjustCredits)),
  refundJob: byService("write", once("admin.job_refund", WHOLE, operators.refundJob)),
  changePlan: byService("write", once("admin.plan", WHOLE, operators.changePlan)),
  updatePlan: byService("write", operators.updatePlan),
  inspect: byService("read", inspect),
  suspend: byService("write", operators.suspend),
  restore: byService("write", operators.restore),

  // For requests that need nothing else of the account.
  checkCaller: byCaller("none", checkCaller),
  checkOperator: byCaller("none", callers.checkAdmin),
  checkRoomForAllowance: byCaller("write", allowances.checkRoomForAllowance),
  issueAllowance: byCaller("write", allowances.issueAllowance),
  readAccess: byCaller("read", readAccess),
  listAllowances: byCaller("read", allowances.listAllowances),
  changeAllowance: byCaller("write", allowances.changeAllowance),
  // Needs no scope: every token may revoke itself.
  revokeAllowance: byCaller("none", allowances.revokeAllowance),
  endSessions: byService("write", allowances.endSessions),
  revokeApprovedBy: byService("write", allowances.revokeApprovedBy),
  revokeAllAllowances: byService("write", allowances.revokeAllAllowances),

  findConnection: byCaller("read", connections.findConnection),
  authorizeClient: byCaller("write", connections.authorizeClient),
  redeemCode: byService("write", families.redeemCode),
  refreshFamily: byService("write", families.refresh),
  endGrant: byService("none", families.endGrant),
  // Needs no scope, because the new token gets no right that the caller lacks.
  exchange: byCaller("none", exchange),

  checkBuyer: byCaller("write", callers.checkBuyer),
  recordPurchase: byService("write", purchases.recordPurchase),
  recordReversal,
  checkPayment,
  hasBought: ({ parts }: Instance, payment_intent_id: string): boolean =>
    (parts?.purchases.readPurchaseOf(payment_intent_id) ?? null) !== null,
  readPurchase: byCaller("read", purchases.readPurchase),
  listPurchases: byCaller("read", purchases.listPurchases),

  readTopUp: byCaller("read", top_ups.readTopUp),
  readTopUpState: byCaller("none", top_ups.readTopUpState),
  beginTopUpSetup: byCaller("write", top_ups.beginTopUpSetup),
  finishTopUpSetup: byService("write", top_ups.finishTopUpSetup),
  changeTopUp: byCaller("write", top_ups.changeTopUp),
  endTopUp: byCaller("write", top_ups.endTopUp),
  failTopUp: byService("write", top_ups.failTopUp),

  deleteAccount: byCaller("write", deletion.deleteAccount),
  isDeleted: ({ isDeleted }: Instance): boolean => isDeleted,
  readOwed: ({ parts }: Instance): contract.Owed =>
    parts === null ? OWES_NOTHING : deletion.readOwed(parts.transaction),
  openReturned: byService("write", deletion.openReturned),
  oweDebts: byService("write", deletion.oweDebts),
  changeDebt,

  /** Stores the tokens that a sign-in brought, unless their identity was unlinked meanwhile. */
  keepUpstreamTokens: async (
    account: Instance,
    tokens: UpstreamTokens,
    encryption_keys: contract.VaultSettings["encryption_keys"],
  ): Promise<void> => account.openParts().vault.keep(tokens, encryption_keys),
  /** Gives the stored access token, renewed if it is about to expire. */
  readUpstreamToken: async (
    account: Instance,
    caller: Caller,
    provider: string,
    settings: contract.VaultSettings,
  ): Promise<Answer<contract.HandedOutUpstreamToken>> => {
    const admitted = account.transact(caller, "read", (it) =>
      callers.checkUpstream(it, settings.receiving_apps),
    );
    return admitted.ok ? account.openParts().vault.read(provider, settings) : admitted;
  },
  forgetUpstreamTokens: (account: Instance, provider: string, linked_at_ms: number): void =>
    account.openParts().vault.forget(provider, linked_at_ms),

  /** Sends the whole account to the read model again. Safe at any time. */
  rebuild: async ({ readModelParts: parts }: Instance): Promise<void> => {
    if (parts !== null) await read_model.rebuild(parts);
  },
  /** Has the alarm write everything to the archive. */
  requestArchive: ({ readModelParts: parts }: Instance): void => parts?.archiver.request(),
  /** Deletes what the archive has of a deleted account, also what arrived late. @returns whether nothing remains */
  forgetArchive: ({ parts }: Instance): Promise<boolean> => forgetArchive(parts),
  /** What the archive has of the account; null: there is no such account. */
  readArchived: (account: Instance): contract.ArchivedAccount | null =>
    account.isRestoring ? null : readArchived(account.readModelParts),
  /** What a restore to a time would undo. Changes nothing. */
  planRecovery: (account: Instance, to_ms: number): Answer<contract.RecoveryPlan> =>
    recovery.planRecovery(account, to_ms),
  beginRecovery: (account: Instance, to_ms: number): Promise<Answer<null>> =>
    recovery.beginRecovery(account, to_ms),
  finishRecovery: (account: Instance): Promise<Answer<contract.Recovered>> =>
    recovery.finishRecovery(account),
  /** Why an account whose storage was lost cannot be restored from the archive; null: it can. Changes nothing. */
  whyNotRestored: (account: Instance, lost: contract.LostAccount): string | null =>
    from_archive.whyNotRestored(account, lost),
  /** Restores a portion of such an account. @returns null: call again */
  restoreFromArchive: (
    account: Instance,
    lost: contract.LostAccount,
    is_done: boolean,
  ): Promise<Answer<contract.RestoredAccount | null>> =>
    from_archive.restoreFromArchive(account, lost, is_done),
  /** Compares the account with its copies. Changes nothing. */
  compare: async ({ readModelParts: parts }: Instance): Promise<contract.Comparison> =>
    parts === null
      ? NO_ACCOUNT
      : compareCopies({ ...parts, ...parts.copies, head: parts.archiver.head }),
  /** The queue lost something of this account on its way to D1. */
  catchUp: ({ readModelParts: parts }: Instance): void => {
    if (parts !== null) read_model.catchUp(parts);
  },
  /** Ends overdue jobs, compares the account with the read model, and sends what is missing. Safe at any time. */
  repair: async (account: Instance): Promise<contract.Repair> => {
    const parts = account.readModelParts;
    if (parts === null) return "nothing_missing";
    account.expireJobs(parts);
    return read_model.repair(parts);
  },
  /** A page of events for a webhook; null: the account was never opened, or its rows are erased. */
  readWebhookEvents: ({ parts }: Instance, request: WebhookEventsRequest): WebhookEvents | null =>
    parts === null ? null : readEvents(parts.event_sources, request),

  /**
   * For `/readyz`: reserves and settles a job in the canary account. `released_at`: when the Worker's release was
   * created; null: unknown. @throws if that fails, or if the object's release is earlier; then the object restarts.
   */
  exercise: (account: Instance, released_at: string | null): Answer<null> => {
    endEarlierRelease(account.context, account.env.RELEASE, released_at);
    return account.transact(contract.SERVICE, "write", exercise);
  },
  /** For `/readyz`: keeps the directory's id in the canary, if it has none yet. @returns the id that it has. */
  keepDirectoryMarker: ({ context }: Instance, id: string): string =>
    keepDirectoryMarker(context, id),
};

function readArchived(parts: AccountParts | null): contract.ArchivedAccount | null {
  if (parts === null) return null;
  const { store, archiver } = parts;
  const account = store.readAccount();
  const line = store.readNewestEntry()?.line ?? 0;
  return account === null ? null : { account_id: account.id, line, head: archiver.head };
}

async function forgetArchive(parts: AccountParts | null): Promise<boolean> {
  const account = parts?.store.readAccount() ?? null;
  if (parts === null || account === null || !parts.erasure.has_begun) return true;
  return parts.archiver.forget(account.id);
}

type Method<Operation> = Operation extends (
  account: Instance,
  ...input: infer Input
) => infer Response
  ? (...input: Input) => Response
  : never;

/** The methods of the object. */
export type AccountOperations = {
  [Name in keyof typeof OPERATIONS]: Method<(typeof OPERATIONS)[Name]>;
};

/** One transaction for a caller, who must have the wanted right. */
function byCaller<Input extends readonly unknown[], Value>(
  wanted: callers.Wanted,
  run: (it: Transaction, ...input: Input) => Answer<Value>,
) {
  return (account: Instance, caller: Caller, ...input: Input): Answer<Value> =>
    account.transact(caller, wanted, (it) => run(it, ...input));
}

/** One transaction for Passbook itself. */
function byService<Input extends readonly unknown[], Value>(
  wanted: callers.Wanted,
  run: (it: Transaction, ...input: Input) => Answer<Value>,
) {
  return (account: Instance, ...input: Input): Answer<Value> =>
    account.transact(contract.SERVICE, wanted, (it) => run(it, ...input));
}

type Guard = IdempotencyGuard | null;

/** The response is stored under the request's key. */
function once<Request, Value>(
  endpoint: string,
  form: ResponseForm<Value>,
  run: (it: Transaction, request: Request) => Answer<Value>,
) {
  return (it: Transaction, request: Request, guard: Guard): OnceAnswer<Value> =>
    onceStored(it, guard, { endpoint, form }, () => run(it, request));
}

/** The key is in the row of the job that the request ends. */
function onceEnded<Request extends { readonly job_id: string }>(
  status: "completed" | "failed",
  run: (
    it: Transaction,
    request: Request,
    keyed: KeyedRequest | null,
  ) => Answer<contract.SettledJob>,
) {
  return (it: Transaction, request: Request, guard: Guard): OnceAnswer<contract.SettledJob> => {
    const job = { job_id: request.job_id, status };
    return access.withCreditsFor(
      it,
      onceInJob(it, guard, job, (keyed) => run(it, request, keyed)),
    );
  };
}

function completeJobs(
  transaction: Transaction,
  requests: readonly contract.CompleteJobRequest[],
  guard: Guard,
): OnceAnswer<contract.Batch<contract.SettledJob>> {
  const completed = once("jobs.complete.batch", batches.SETTLED_FORM, batches.completeJobs);
  return access.withCreditsForAll(transaction, completed(transaction, requests, guard));
}

function listVisibleJobs(
  transaction: Transaction,
  request: contract.ListJobsRequest,
): Answer<contract.Page<contract.JobRow, string>> {
  const { store } = transaction;
  const { recent_after_job_id } = startedJobsOf(store.readNewestEntry());
  const filter = { ...request, visible_apps: callers.visibleApps(transaction) };
  const { rows, next } = listJobs(transaction, filter, recent_after_job_id);
  return accepted({ rows: rows.map((job) => callers.shownTo(transaction, job)), next });
}

function listVisibleEntries(
  transaction: Transaction,
  request: contract.ListEntriesRequest,
): Answer<contract.Page<contract.ListedEntry, number>> {
  const { database, store } = transaction;
  const visible_apps = callers.visibleApps(transaction);
  const first_line = access.firstSeenLine(transaction);
  const { rows, next } = listEntries(transaction, { ...request, visible_apps, first_line });
  store.left.requireJobsOf(rows);
  const starter = starterReader(database, rows);
  const byOf = (entry: contract.EntryRow) => {
    const columns = starter(entry);
    return columns === null ? null : startedBy(callers.shownTo(transaction, columns));
  };
  return accepted({ rows: rows.map((entry) => ({ ...entry, by: byOf(entry) })), next });
}

/** The clients that hold the caller's allowance and that allowance's ancestors. */
function checkCaller(transaction: Transaction): Answer<readonly string[]> {
  const acting = callers.actingAllowance(transaction);
  return accepted(acting === null ? [] : clientIdsOf(transaction.allowances, acting));
}
