/** What crosses the RPC border of an Account object: plain values only. */
import type { Config } from "../config.ts";
import type { TokenLimits } from "../domain/access_token.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";
import type { AppSpending, BalancePoint } from "../domain/history.ts";
import type { JobStatus } from "../domain/job.ts";
import type { UpstreamTokens } from "../identity/upstream_tokens.ts";
import type { AppRow, EntryRow, JobRow } from "./store.ts";

export type { AppRow, EntryRow, JobRow };

/**
 * By which proof the account's owner acts. A token's life and limits are checked inside the operation
 * itself. Null: a browser session, which may do everything.
 */
export interface Caller {
  readonly token_id: string | null;
}

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
  /** The app to upsert, with what its grant would be worth now; null asks for the account only. */
  readonly app: { readonly slug: string; readonly starter_credits: number } | null;
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
}

export interface CreateJobRequest {
  readonly app_slug: string;
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
}

export interface ListJobsRequest {
  readonly app_slug?: string | undefined;
  readonly status?: JobStatus | undefined;
  readonly before_id?: string | undefined;
  readonly limit: number;
}

export interface ListEntriesRequest {
  readonly before_line?: number | undefined;
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
  readonly recent_jobs: readonly JobRow[];
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

export interface IssueTokenRequest {
  readonly id: string;
  readonly label: string;
  readonly app_slug: string | null;
  readonly limits: TokenLimits;
  readonly expires_at_ms: number;
}

export interface RevokeTokenRequest {
  readonly id: string;
}

/** A personal access token as its owner sees it; the token itself is stored nowhere. */
export interface ListedToken {
  readonly id: string;
  readonly label: string;
  readonly app_slug: string | null;
  readonly limits: TokenLimits;
  /** Credits spent of its cap in the period of now; null without a cap. */
  readonly spent: number | null;
  /** Whether it is the one that asks. */
  readonly current: boolean;
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

/** One page, newest first; `more` says that older rows exist. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

/**
 * The settings the vault works with. They come with each call, so that the object has no settings of
 * its own that could differ from its caller's. `provider`: null where it is no longer configured.
 */
export interface VaultSettings {
  readonly encryption_keys: Config["encryption_keys"];
  readonly provider: Config["signin_providers"][number] | null;
}

/** A third party's access token. */
export interface HandedOutToken {
  readonly token: string;
}

export type Answer<Value> = Result<Value, Refusal>;
export type OnceAnswer<Value> = Answer<Once<Value>>;

type Guard = IdempotencyGuard | null;

/**
 * The operations of one account. The object implements it; `client.ts` reaches it by identity. Each
 * may be refused as `unauthorized` (the caller's token ended) or `scope` (it may not do this).
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
  ): Promise<Answer<HandedOutToken>>;
  forgetUpstreamTokens(provider: string): void;
  wallet(caller: Caller, request: WalletRequest): Answer<WalletAnswer>;
  createJob(caller: Caller, request: CreateJobRequest, guard: Guard): OnceAnswer<CreatedJob>;
  completeJob(caller: Caller, request: CompleteJobRequest, guard: Guard): OnceAnswer<SettledJob>;
  failJob(caller: Caller, request: FailJobRequest, guard: Guard): OnceAnswer<SettledJob>;
  readJob(caller: Caller, job_id: string): Answer<JobRow>;
  listJobs(caller: Caller, request: ListJobsRequest): Answer<Page<JobRow>>;
  listEntries(caller: Caller, request: ListEntriesRequest): Answer<Page<EntryRow>>;
  /** What the account's own pages show. */
  readOverview(caller: Caller, request: OverviewRequest): Answer<OverviewAnswer>;
  readStatement(caller: Caller, request: StatementRequest): Answer<StatementAnswer>;
  /** Whether the caller may still act: for answers that ask nothing else of the account. */
  checkCaller(caller: Caller): Answer<null>;
  checkRoomForToken(caller: Caller): Answer<null>;
  issueToken(caller: Caller, request: IssueTokenRequest): Answer<null>;
  listTokens(caller: Caller): Answer<readonly ListedToken[]>;
  revokeToken(caller: Caller, request: RevokeTokenRequest): Answer<null>;
  /** Ends the streams that sessions opened: those whose session lives open them anew. */
  closeSessionStreams(): void;
}
