/** What crosses the RPC border of an Account object: plain values only. */
import type { NewPersonalToken, PersonalTokenLimits } from "../domain/personal_token.ts";
import type { JobPolicy } from "../domain/app_policy.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";
import type { AppSpending, BalancePoint } from "../domain/history.ts";
import type { JobStatus } from "../domain/job.ts";
import type { EntryKind } from "../domain/ledger.ts";
import type { Purchase, Reversal } from "../domain/purchases.ts";
import type { EncryptionKey } from "../keys/encryption.ts";
import type { OAuthProvider } from "../oauth/providers.ts";
import type { UpstreamTokens } from "../oauth/upstream_tokens.ts";
import type { Page } from "./lists.ts";
import type { AppRow, EntryRow, JobRow } from "./store.ts";

export type { AppRow, EntryRow, JobRow, Page };

/**
 * Who acts in an account. The account reads a token's life and limits in the operation's own transaction.
 * `holder`: the account's holder, by a browser session;
 * `personal_token`: a personal access token of the holder, within its limits;
 * `app`: an app's server by the app's key, in accounts that were opened for the app, for its own jobs;
 * `operator`: somebody who operates the service, for the operations that HTTP gives to operators;
 * `service`: Passbook itself, with nobody acting.
 */
export type Caller =
  | { readonly kind: "holder" }
  | { readonly kind: "personal_token"; readonly personal_token_id: string }
  | { readonly kind: "app"; readonly app_slug: string }
  | { readonly kind: "operator" }
  | { readonly kind: "service" };

export const HOLDER = { kind: "holder" } as const satisfies Caller;
export const OPERATOR = { kind: "operator" } as const satisfies Caller;
export const SERVICE = { kind: "service" } as const satisfies Caller;

/** A client's retry guard: its `Idempotency-Key` and a digest of the request it stands for. */
export interface IdempotencyGuard {
  readonly key: string;
  readonly fingerprint: string;
}

/** An answer that may be a kept one: `replayed` says that nothing happened this time. */
export interface Once<Value> {
  readonly value: Value;
  readonly replayed: boolean;
}

export interface WalletRequest {
  /**
   * The app to upsert, with what its grant would be worth now (null: not known, so that none is made
   * now and may still come); null asks for the account only. `reservation`: left out where no budget
   * bounds the app's grants; null where one does, and nothing is reserved of it yet.
   */
  readonly app: {
    readonly slug: string;
    readonly starter_credits: number | null;
    readonly reservation?: GrantReservation | null;
  } | null;
}

/** What an app's budget of a UTC day has set apart for this account's grant. */
export interface GrantReservation {
  /** Whole days since the epoch: the grant is made in that day or not at all. */
  readonly day: number;
  readonly credits: number;
}

export interface WalletAnswer {
  readonly account: {
    readonly id: string;
    readonly identity_id: string;
    readonly plan: string;
    readonly credits: number;
  };
  readonly apps: readonly AppRow[];
  readonly app_grant: {
    readonly slug: string;
    readonly starter_credits: number;
    readonly granted: boolean;
  } | null;
  /** Whether a grant would have been made, had its {@link GrantReservation} been for now. */
  readonly grant_waits: boolean;
  /** Whether apps may grant starter credits here: not to who had them in an account since deleted. */
  readonly takes_starters: boolean;
}

export interface CreateJobRequest {
  readonly app_slug: string;
  /** The app's policy of now: the job keeps it. */
  readonly policy: JobPolicy;
  readonly action: string;
  readonly cost_estimate: number;
  readonly ttl_seconds: number;
  /** Serialised by the caller: an object's `__proto__` key need not survive RPC, its JSON does. */
  readonly metadata_json: string | null;
}

export interface CompleteJobRequest {
  readonly job_id: string;
  readonly actual_cost: number;
  readonly metadata_json: string | null;
}

export interface FailJobRequest {
  readonly job_id: string;
  readonly refund: boolean;
  /** What the client says of the failure; null: nothing. */
  readonly reason: string | null;
  readonly metadata_json: string | null;
}

export interface CancelJobRequest {
  readonly job_id: string;
}

export interface ListJobsRequest {
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  /** Jobs created at this moment or later, and before that one. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly before_id?: string | undefined;
  readonly limit: number;
}

export interface ListEntriesRequest {
  readonly before_line?: number | undefined;
  readonly app_slug?: string | undefined;
  readonly job_id?: string | undefined;
  readonly kind?: EntryKind | undefined;
  /** Lines of this moment and later, and before that one. */
  readonly from_ms?: number | undefined;
  readonly to_ms?: number | undefined;
  readonly limit: number;
}

export interface OverviewRequest {
  /** Charts begin here, in milliseconds since the epoch. */
  readonly from_ms: number;
}

/** What the account's own page shows at a glance. */
export interface OverviewAnswer {
  readonly account: WalletAnswer["account"] & { readonly created_at_ms: number };
  /** The newest line: where a stream of what follows begins. */
  readonly line: number;
  /** Credits held for started jobs, and how many those are. */
  readonly reserved: number;
  readonly open_jobs: number;
  readonly apps: readonly AppRow[];
  /** As in {@link WalletAnswer}. */
  readonly takes_starters: boolean;
  /** What took the balance below zero, with an operator's reason; null where it is not below zero. */
  readonly debt_cause: Pick<EntryRow, "kind" | "note"> | null;
  readonly recent_jobs: readonly JobRow[];
  /** Where the charts begin: as asked, or where the account was opened since. */
  readonly from_ms: number;
  /** Oldest first; false: the passbook is too long for the whole time to be shown. */
  readonly balance: readonly BalancePoint[];
  readonly balance_is_complete: boolean;
  readonly spending: readonly AppSpending[];
}

/** A half-open time, and where the page before ended. */
export interface StatementRequest {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly before_line: number | null;
  readonly limit: number;
}

export interface StatementAnswer {
  readonly opened_at_ms: number;
  /** The balance before the time and at its end, in credits. */
  readonly opening: number;
  readonly closing: number;
  /** Newest first. */
  readonly rows: readonly EntryRow[];
  /** The jobs of those lines, as they are now. */
  readonly jobs: readonly JobRow[];
  readonly more: boolean;
}

/** A token to make valid; the token itself never comes here. */
export type IssuePersonalTokenRequest = NewPersonalToken;

/** What stands behind the approval of personal access tokens. */
export type Approver =
  | { readonly kind: "session"; readonly session_id: string }
  | { readonly kind: "signin_method"; readonly signin_method: string };

export interface RevokePersonalTokenRequest {
  readonly id: string;
}

/** A personal access token as its owner sees it; the token itself is stored nowhere. */
export interface ListedPersonalToken {
  readonly id: string;
  readonly label: string;
  readonly app_slug: string | null;
  readonly limits: PersonalTokenLimits;
  /** Credits spent of its cap in the period of now; null without a cap. */
  readonly spent: number | null;
  /** Whether it is the one that asks. */
  readonly current: boolean;
  /** Whether it ends when the session that approved it does. */
  readonly ends_with_session: boolean;
  /** The session that approved it. */
  readonly session_id: string;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number;
}

export interface CreatedJob {
  readonly job_id: string;
  readonly credits: number;
}

export interface SettledJob {
  readonly job: JobRow;
  readonly credits: number;
}

/** What became of each item of a batch, in its order, and the balance after all of them. */
export interface Batch<Value> {
  readonly results: readonly Answer<Value>[];
  readonly credits: number;
}

/**
 * Credits an operator gives, or takes where negative; not 0. `note`: why, for the holder. Taking leaves the
 * balance below zero only with `allow_negative`.
 */
export interface AdjustCreditsRequest {
  readonly amount: number;
  readonly allow_negative?: boolean | undefined;
  readonly note: string;
}

export interface AdjustedCredits {
  readonly entry: EntryRow;
  readonly credits: number;
}

/** A plan's slug, and why it changed, for the account's owner. */
export interface ChangePlanRequest {
  readonly plan: string;
  readonly note: string;
}

export interface ChangedPlan {
  readonly entry: EntryRow;
  readonly account: WalletAnswer["account"];
}

/** What an account since deleted owed; `credits` more than 0. Its id is that of one debt for good. */
export interface Debt {
  readonly id: string;
  readonly credits: number;
}

/** What an account owes, in credits, and the ids of the debts that it took over. */
export interface Owed {
  readonly credits: number;
  readonly debt_ids: readonly string[];
}

/** An account in full, as operators see it. */
export interface InspectedAccount {
  readonly account: WalletAnswer["account"] & {
    readonly created_at_ms: number;
    /** Since when its holder is kept out; null: they are not. */
    readonly suspended_at_ms: number | null;
  };
  readonly reserved: number;
  /** The newest line. */
  readonly line: number;
  readonly apps: readonly AppRow[];
  readonly personal_tokens: readonly ListedPersonalToken[];
  /** The newest of them, no more than a page. */
  readonly started_jobs: readonly JobRow[];
}

/** A purchase by its checkout, beside the balance of now and the newest line of the passbook. */
export interface ListedPurchase {
  /** Null until it is credited. */
  readonly purchase: { readonly package_name: string; readonly credits: number } | null;
  readonly taken_back: number;
  readonly credits: number;
  readonly line: number;
}

/**
 * The settings the vault works with. They come with each call, so that the object has no settings of
 * its own that could differ from its caller's. `provider`: null where it is no longer configured.
 */
export interface VaultSettings {
  readonly encryption_keys: readonly EncryptionKey[];
  readonly provider: OAuthProvider | null;
}

/** A third party's access token. */
export interface HandedOutUpstreamToken {
  readonly token: string;
}

export type Answer<Value> = Result<Value, Refusal>;
export type OnceAnswer<Value> = Answer<Once<Value>>;

/** What became of a repair. `sent` also where a large account still sends the rest by its alarm. */
export type Repair = "sent" | "nothing_missing" | "unreachable";

type Guard = IdempotencyGuard | null;

/**
 * The operations of one account. The object implements it; `client.ts` reaches it by identity. Each
 * may be refused as `unauthorized` (the caller's token ended, or the account was deleted), `scope` (it
 * may not do this) or `suspended` (operators keep the holder out). To apps and operators a deleted
 * account is `account_unknown`.
 */
export interface AccountOperations {
  keepUpstreamTokens(
    tokens: UpstreamTokens,
    encryption_keys: VaultSettings["encryption_keys"],
  ): Promise<void>;
  readUpstreamToken(
    caller: Caller,
    provider: string,
    settings: VaultSettings,
  ): Promise<Answer<HandedOutUpstreamToken>>;
  forgetUpstreamTokens(provider: string, linked_at_ms: number): void;
  wallet(caller: Caller, request: WalletRequest): Answer<WalletAnswer>;
  createJob(caller: Caller, request: CreateJobRequest, guard: Guard): OnceAnswer<CreatedJob>;
  completeJob(caller: Caller, request: CompleteJobRequest, guard: Guard): OnceAnswer<SettledJob>;
  /** Several in one transaction; an item that is refused undoes no other. */
  createJobs(
    caller: Caller,
    requests: readonly CreateJobRequest[],
    guard: Guard,
  ): OnceAnswer<Batch<CreatedJob>>;
  completeJobs(
    caller: Caller,
    requests: readonly CompleteJobRequest[],
    guard: Guard,
  ): OnceAnswer<Batch<SettledJob>>;
  failJob(caller: Caller, request: FailJobRequest, guard: Guard): OnceAnswer<SettledJob>;
  /** Expires a started job of any app now. For the account's holder. */
  cancelJob(caller: Caller, request: CancelJobRequest): Answer<SettledJob>;
  readJob(caller: Caller, job_id: string): Answer<JobRow>;
  listJobs(caller: Caller, request: ListJobsRequest): Answer<Page<JobRow, string>>;
  listEntries(caller: Caller, request: ListEntriesRequest): Answer<Page<EntryRow, number>>;
  /** For operators; the caller is the account's owner nowhere. May be refused as `balance_limit` or `balance_below_zero`. */
  adjustCredits(request: AdjustCreditsRequest, guard: Guard): OnceAnswer<AdjustedCredits>;
  changePlan(request: ChangePlanRequest, guard: Guard): OnceAnswer<ChangedPlan>;
  /** The account in full. For operators. */
  inspect(): Answer<InspectedAccount>;
  /** Keeps the holder out, or lets them in again; their streams close at once. For operators. */
  suspend(): Answer<null>;
  restore(): Answer<null>;
  /**
   * Deletes the account: from now on nobody is let in, by whatever credential, and its rows go. Refused
   * like any other of its holder's acts, also where it is deleted already.
   */
  deleteAccount(caller: Caller): Answer<null>;
  isDeleted(): boolean;
  /** What a deleted account owed, or a living one would if it were deleted now. */
  readOwed(): Owed;
  /** Opens the account of someone who deleted one before: without starter credits. May be done again. */
  openReturned(): Answer<null>;
  /** Takes over what the holder's deleted accounts owed, each debt once. May be done again. */
  oweDebts(debts: readonly Debt[]): Answer<null>;
  /** Whether the caller may start a purchase. */
  checkBuyer(caller: Caller): Answer<null>;
  /** For what the payment service says. Each may be told again; may be refused as `balance_limit`. */
  recordPurchase(purchase: Purchase): Answer<null>;
  recordReversal(reversal: Reversal): Answer<null>;
  /** Whether this payment bought credits here. */
  hasBought(payment_intent_id: string): boolean;
  readPurchase(caller: Caller, checkout_session_id: string): Answer<ListedPurchase>;
  /** Sends the whole account to the read model again. For operators; safe at any time. */
  rebuild(): Promise<void>;
  /** Asks the read model what it has of the account, and sends what is missing. Safe at any time. */
  repair(): Promise<Repair>;
  /** Connects or disconnects an app. Holder's session only; else `scope`. May be refused as `app_unknown`. */
  setAppAccess(caller: Caller, slug: string, access: "open" | "disconnected"): Answer<null>;
  /** The plan. Not for tokens limited to some apps, which know nothing of the person. */
  readPlan(caller: Caller): Answer<string>;
  /** What the account's own pages show. */
  readOverview(caller: Caller, request: OverviewRequest): Answer<OverviewAnswer>;
  readStatement(caller: Caller, request: StatementRequest): Answer<StatementAnswer>;
  /** Whether the caller may still act: for answers that ask nothing else of the account. */
  checkCaller(caller: Caller): Answer<null>;
  /** Whether the caller's proof may operate the service, if they do; else `not_operator`. */
  checkOperator(caller: Caller): Answer<null>;
  checkRoomForPersonalToken(caller: Caller): Answer<null>;
  issuePersonalToken(caller: Caller, request: IssuePersonalTokenRequest): Answer<null>;
  listPersonalTokens(caller: Caller): Answer<readonly ListedPersonalToken[]>;
  revokePersonalToken(caller: Caller, request: RevokePersonalTokenRequest): Answer<null>;
  /** Ends the personal access tokens and streams that were to end with these sessions. */
  endSessions(session_ids: readonly string[] | "all"): Answer<null>;
  /** Ends the personal access tokens that a session approved, or any session of a sign-in method. */
  revokeApprovedBy(approver: Approver): Answer<null>;
  /** Ends every personal access token. */
  revokeAllPersonalTokens(): Answer<null>;
}
