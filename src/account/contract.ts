/** What crosses the RPC border of an Account object: plain values only. */
import type { Config } from "../config.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";
import type { JobStatus } from "../domain/job.ts";
import type { AppRow, EntryRow, JobRow } from "./store.ts";

export type { AppRow, EntryRow, JobRow };

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

/** Tokens a provider gave for the user. Times in ms since the epoch. */
export interface KeptTokens {
  readonly provider: string;
  readonly subject: string;
  readonly access_token: string;
  readonly refresh_token: string | null;
  readonly expires_at_ms: number | null;
  readonly scope: string | null;
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

/** The operations of one account. The object implements it; `client.ts` reaches it by identity. */
export interface AccountOperations {
  wallet(request: WalletRequest): Answer<WalletAnswer>;
  createJob(request: CreateJobRequest, guard: IdempotencyGuard | null): OnceAnswer<CreatedJob>;
  completeJob(request: CompleteJobRequest, guard: IdempotencyGuard | null): OnceAnswer<SettledJob>;
  failJob(request: FailJobRequest, guard: IdempotencyGuard | null): OnceAnswer<SettledJob>;
  readJob(job_id: string): Answer<JobRow>;
  listJobs(request: ListJobsRequest): Answer<Page<JobRow>>;
  listEntries(request: ListEntriesRequest): Answer<Page<EntryRow>>;
  keepUpstreamTokens(
    tokens: KeptTokens,
    encryption_keys: VaultSettings["encryption_keys"],
  ): Promise<void>;
  readUpstreamToken(provider: string, settings: VaultSettings): Promise<Answer<HandedOutToken>>;
  forgetUpstreamTokens(provider: string): void;
}
