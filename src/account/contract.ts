/**
 * The operations of an account, and all types that cross the RPC border between the Worker and the object. They are
 * plain values only. The types are in `contract/`, by subject; import them from here.
 */
import type { ApprovalRequest } from "../domain/job_approval.ts";
import type { PaymentRecord } from "../domain/payment_event.ts";
import type { Purchase, Reversal } from "../domain/purchases.ts";
import type { WebhookEvents, WebhookEventsRequest } from "../domain/webhook_delivery.ts";
import type { UpstreamTokens } from "../oauth/upstream_tokens.ts";
import type { Answer, Caller, IdempotencyGuard, OnceAnswer, Page } from "./contract/call.ts";
import type * as history from "./contract/history.ts";
import type * as jobs from "./contract/jobs.ts";
import type * as operators from "./contract/operators.ts";
import type * as allowances from "./contract/allowances.ts";
import type { GrantProblem } from "../domain/token_family.ts";
import type * as oauth from "./contract/oauth.ts";
import type { HandedOutUpstreamToken, VaultSettings } from "./contract/vault.ts";
import type {
  Holdings,
  ListedPurchase,
  ListPurchasesRequest,
  Profile,
  PurchaseKey,
  PurchaseRecord,
  Wallet,
  WalletRequest,
} from "./contract/wallet.ts";
import type { EntryRow, JobRow } from "./sql/schema.ts";

export * from "./contract/call.ts";
export type * from "./contract/history.ts";
export type * from "./contract/jobs.ts";
export type * from "./contract/operators.ts";
export type * from "./contract/allowances.ts";
export type * from "./contract/oauth.ts";
export type * from "./contract/vault.ts";
export type * from "./contract/wallet.ts";
export type { AccountRow, AppRow, EntryRow, JobRow } from "./sql/schema.ts";

type Guard = IdempotencyGuard | null;

/**
 * The object implements these operations; `clients/accounts.ts` reaches the object by its identity. Each operation
 * with a caller may be refused as `unauthorized` (the caller's token ended, or the account was deleted), `scope` (the
 * caller may not do this) or `suspended`. To apps and operators, a deleted account is `account_unknown`.
 */
export interface AccountOperations {
  wallet(caller: Caller, request: WalletRequest): Answer<Wallet>;
  /** The plan. Refused for a token limited to some apps, which may not learn about the person. */
  readProfile(caller: Caller): Answer<Profile>;
  /** Connects or disconnects an app. Only for the holder; refused as `app_unknown` for an app without a row. */
  setAppAccess(caller: Caller, slug: string, access: "open" | "disconnected"): Answer<null>;

  createJob(
    caller: Caller,
    request: jobs.CreateJobRequest,
    guard: Guard,
  ): OnceAnswer<jobs.CreatedJob>;
  completeJob(
    caller: Caller,
    request: jobs.CompleteJobRequest,
    guard: Guard,
  ): OnceAnswer<jobs.SettledJob>;
  failJob(caller: Caller, request: jobs.FailJobRequest, guard: Guard): OnceAnswer<jobs.SettledJob>;
  /** Raises or lowers a started job's reserve, states what it has spent, and moves its expiry; once for each step. */
  reportProgress(caller: Caller, request: jobs.ProgressRequest): OnceAnswer<jobs.ProgressedJob>;
  /** Several jobs in one transaction. A refused item changes nothing for the others. */
  createJobs(
    caller: Caller,
    requests: readonly jobs.CreateJobRequest[],
    guard: Guard,
  ): OnceAnswer<jobs.Batch<jobs.CreatedJob>>;
  completeJobs(
    caller: Caller,
    requests: readonly jobs.CompleteJobRequest[],
    guard: Guard,
  ): OnceAnswer<jobs.Batch<jobs.SettledJob>>;
  /** Both only for the holder; refused as `personal_token_not_found` if the allowance that asks has ended. */
  readApproval(caller: Caller, request: ApprovalRequest): Answer<jobs.ShownApproval>;
  /** A decision is final. Refused as `approval_ended` after the request has expired. */
  decideApproval(caller: Caller, request: ApprovalRequest, is_approved: boolean): Answer<null>;
  /** Expires a started job of any app now. Only for the holder. */
  cancelJob(caller: Caller, request: jobs.CancelJobRequest): Answer<jobs.SettledJob>;
  readJob(caller: Caller, job_id: string): Answer<JobRow>;
  listJobs(caller: Caller, request: jobs.ListJobsRequest): Answer<Page<JobRow, string>>;

  listEntries(caller: Caller, request: history.ListEntriesRequest): Answer<Page<EntryRow, number>>;
  readOverview(caller: Caller, request: history.OverviewRequest): Answer<history.Overview>;
  readStatement(caller: Caller, request: history.StatementRequest): Answer<history.Statement>;
  readJobHistory(caller: Caller, job_id: string): Answer<history.JobHistory>;
  readStatementRows(
    caller: Caller,
    request: history.StatementRowsRequest,
  ): Answer<history.StatementRows>;

  /** Refused as `balance_limit` or `balance_below_zero`. */
  adjustCredits(
    request: operators.AdjustCreditsRequest,
    guard: Guard,
  ): OnceAnswer<operators.AdjustedCredits>;
  /** Gives back cost of an ended job. Refused as `job_not_found`, `refund_limit` or `balance_limit`. */
  refundJob(request: operators.RefundJobRequest, guard: Guard): OnceAnswer<operators.RefundedJob>;
  changePlan(request: operators.ChangePlanRequest, guard: Guard): OnceAnswer<operators.ChangedPlan>;
  inspect(): Answer<operators.InspectedAccount>;
  /** Keeps the holder out; the holder's streams close at once. */
  suspend(): Answer<null>;
  restore(): Answer<null>;
  /** Sends the whole account to the read model again. Safe at any time. */
  rebuild(): Promise<void>;
  /** Ends overdue jobs, compares the account with the read model, and sends what is missing. Safe at any time. */
  repair(): Promise<operators.Repair>;

  /** Deletes the account: no credential is accepted any more, and the rows are erased. */
  deleteAccount(caller: Caller): Answer<null>;
  isDeleted(): boolean;
  /** What a deleted account owed, or what this one would owe if it were deleted now. */
  readOwed(): operators.Owed;
  /** Opens the account of a person who deleted one before: without starter credits. May be repeated. */
  openReturned(): Answer<null>;
  /** Takes over the debts of the holder's deleted accounts, each once. May be repeated. */
  oweDebts(debts: readonly operators.Debt[]): Answer<null>;
  /** Changes a debt that the account took over, also if the account is deleted itself. May be repeated. */
  changeDebt(debt: operators.Debt): operators.OwedNow;

  /** Whether the caller may start a purchase. */
  checkBuyer(caller: Caller): Answer<null>;
  /**
   * Both may be repeated, and are refused as `balance_limit`. A deleted account refuses purchases, and reversals of payments
   * that it does not know.
   */
  recordPurchase(purchase: Purchase): Answer<null>;
  recordReversal(reversal: Reversal): Promise<Answer<operators.OwedNow>>;
  /** Whether a purchase is recorded, or a refund or dispute in this state. */
  checkPayment(payment: Pick<Purchase, "checkout_session_id"> | Reversal): Promise<PaymentRecord>;
  /** Whether this payment bought credits here. */
  hasBought(payment_intent_id: string): boolean;
  readPurchase(caller: Caller, checkout_session_id: string): Answer<ListedPurchase>;
  /** Paid checkouts, newest first. */
  listPurchases(
    caller: Caller,
    request: ListPurchasesRequest,
  ): Answer<Page<PurchaseRecord, PurchaseKey>>;

  /** For the export of a person's data. Opens the account if it is not open yet. */
  readHoldings(caller: Caller): Answer<Holdings>;

  /**
   * For `/readyz`: reserves and settles a job in the canary account. `released_at`: when the Worker's release was
   * created; null: unknown. @throws if that fails, or if the object's release is earlier; then the object restarts.
   */
  exercise(released_at: string | null): Answer<null>;

  /** For `/readyz`: keeps the directory's id in the canary, if it has none yet. @returns the id that it has. */
  keepDirectoryMarker(id: string): string;

  /**
   * Whether the caller's credential is valid; for requests that need nothing else of the account. Responds with the clients
   * that hold its allowance and that allowance's ancestors.
   */
  checkCaller(caller: Caller): Answer<readonly string[]>;
  /** Whether the caller's credential may operate the service if its holder is an operator; else `not_operator`. */
  checkOperator(caller: Caller): Answer<null>;
  checkRoomForAllowance(caller: Caller): Answer<null>;
  issueAllowance(caller: Caller, request: allowances.IssueAllowanceRequest): Answer<null>;
  listAllowances(caller: Caller): Answer<readonly allowances.ListedAllowance[]>;
  /** Only for the holder. Refused as `personal_token_not_found`. A changed cap of the same period keeps its spending. */
  changeAllowance(
    caller: Caller,
    request: allowances.ChangeAllowanceRequest,
  ): Answer<allowances.ListedAllowance>;
  /** An allowance may revoke only itself and those exchanged from it. */
  revokeAllowance(caller: Caller, request: allowances.RevokeAllowanceRequest): Answer<null>;
  /** Ends the streams of these sessions, and the personal access tokens that end with them. */
  endSessions(session_ids: readonly string[] | "all"): Answer<null>;
  /** Ends the personal access tokens that were approved by this session or sign-in method. */
  revokeApprovedBy(approver: allowances.Approver): Answer<null>;
  revokeAllAllowances(): Answer<null>;

  /** The valid allowance of an OAuth client for a resource, or null. */
  findConnection(
    caller: Caller,
    request: oauth.FindConnectionRequest,
  ): Answer<oauth.Connection | null>;
  /**
   * Connects a client: adds a token family to its allowance, which is made if it does not exist. Null: the allowance does not
   * cover the request, and the holder was not asked. Only for the holder; refused as `too_many_tokens`.
   */
  connectClient(caller: Caller, request: oauth.ConnectRequest): Answer<oauth.Connected | null>;
  /** Both are refused as `account_unknown` if the account was deleted. */
  redeemCode(request: oauth.RedeemCodeRequest): Answer<oauth.Granted>;
  refreshFamily(request: oauth.RefreshRequest): Answer<oauth.Granted>;
  /** Ends what a client holds. The problem says why it does not; null: it has ended. */
  endGrant(request: oauth.EndGrantRequest): Answer<GrantProblem | null>;
  /** Only for a caller with a token. A narrower token gets an allowance of its own, below that of the caller. */
  exchange(caller: Caller, request: oauth.ExchangeRequest): Answer<oauth.Exchanged>;

  /** Stores the tokens that a sign-in brought, unless their identity was unlinked meanwhile. */
  keepUpstreamTokens(
    tokens: UpstreamTokens,
    encryption_keys: VaultSettings["encryption_keys"],
  ): Promise<void>;
  /** Gives the stored access token, renewed if it is about to expire. */
  readUpstreamToken(
    caller: Caller,
    provider: string,
    settings: VaultSettings,
  ): Promise<Answer<HandedOutUpstreamToken>>;
  forgetUpstreamTokens(provider: string, linked_at_ms: number): void;

  /** A page of events for a webhook; null: the account was never opened, or its rows are erased. */
  readWebhookEvents(request: WebhookEventsRequest): WebhookEvents | null;
}
