/**
 * One account, as a Durable Object named by its `identity_id`. It is thin: it opens a synchronous
 * transaction around each operation, keeps the one alarm, and leaves the rules to its neighbours.
 */
import { DurableObject } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../drizzle/account/migrations.js";
import { backOff } from "../domain/back_off.ts";
import { PROJECTION_DELAY_MS, PROJECTION_RETRY_MAX_MS } from "../domain/limits.ts";
import type { PersonalTokenAccess } from "../domain/personal_token.ts";
import { accepted, assertInvariant, refused } from "../domain/result.ts";
import type { UpstreamTokens } from "../oauth/upstream_tokens.ts";
import { createProjector } from "../readmodel/adapters.ts";
import * as adjustments from "./adjustments.ts";
import { Alarm } from "./alarm.ts";
import type * as contract from "./contract.ts";
import { listEntries } from "./entries.ts";
import { Expiry } from "./expiry.ts";
import { deleteKeptAnswers, once } from "./idempotency.ts";
import * as jobs from "./jobs.ts";
import { listJobs } from "./lists.ts";
import { openJobsOf } from "./open_jobs.ts";
import { Outbox } from "./outbox.ts";
import * as schema from "./schema.ts";
import {
  openStore,
  type AccountDatabase,
  type EntryRow,
  type JobRow,
  type Store,
} from "./store.ts";
import * as admission from "./personal_tokens/admission.ts";
import * as tokens from "./personal_tokens/life.ts";
import { openTokenStore, type TokenStore } from "./personal_tokens/store.ts";
import { Vault } from "./vault/vault.ts";
import { transact, type Transaction } from "./transaction.ts";
import { readPlan, readWallet } from "./wallet.ts";

/** The object acting on its own, when its alarm wakes it. */
const ITSELF: contract.Caller = { token_id: null };

export class Account extends DurableObject<Env> implements contract.AccountOperations {
  readonly #database: AccountDatabase;
  #store!: Store;
  #tokens!: TokenStore;
  #outbox!: Outbox;
  #alarm!: Alarm;
  readonly #expiry = new Expiry();
  #vault: Vault | undefined;
  /** Before this, nobody need ask whether D1 is behind. */
  #ask_at_ms = 0;
  /** Since when alarms of this instance fail; null: the last went well. */
  #failing_since_ms: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#database = drizzle(ctx.storage, { schema });
    void ctx.blockConcurrencyWhile(async () => {
      await migrate(this.#database, migrations);
      this.#alarm = new Alarm(ctx.storage, await ctx.storage.getAlarm());
      this.#store = openStore(this.#database);
      this.#tokens = openTokenStore(this.#database);
      this.#outbox = new Outbox(this.#database, this.#store, createProjector(env));
    });
  }

  /** The wallet; opens the account, and grants an app's starter credits once. */
  wallet(
    caller: contract.Caller,
    request: contract.WalletRequest,
  ): contract.Answer<contract.WalletAnswer> {
    return this.#transact(caller, "read", (transaction) => readWallet(transaction, request));
  }

  createJob(
    caller: contract.Caller,
    request: contract.CreateJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.CreatedJob> {
    return this.#transactOnce(caller, "jobs.create", guard, (it) => jobs.createJob(it, request));
  }

  completeJob(
    caller: contract.Caller,
    request: contract.CompleteJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.SettledJob> {
    return this.#transactOnce(caller, "jobs.complete", guard, (it) =>
      jobs.completeJob(it, request),
    );
  }

  failJob(
    caller: contract.Caller,
    request: contract.FailJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.SettledJob> {
    return this.#transactOnce(caller, "jobs.fail", guard, (it) => jobs.failJob(it, request));
  }

  readJob(caller: contract.Caller, job_id: string): contract.Answer<JobRow> {
    return this.#transact(caller, "read", (transaction) => {
      const job = jobs.readInTime(transaction, job_id);
      if (job === null) return refused({ code: "job_not_found" });
      const foreign = admission.whyNotForApp(transaction, job.app_slug);
      return foreign === null ? accepted(job) : refused(foreign);
    });
  }

  listJobs(
    caller: contract.Caller,
    request: contract.ListJobsRequest,
  ): contract.Answer<contract.Page<JobRow, string>> {
    return this.#transact(caller, "read", (transaction) => {
      const filter = { ...request, visible_apps: admission.visibleApps(transaction) };
      const { recent_after_job_id } = openJobsOf(this.#store.readNewestEntry());
      return accepted(listJobs(this.#database, filter, recent_after_job_id));
    });
  }

  listEntries(
    caller: contract.Caller,
    request: contract.ListEntriesRequest,
  ): contract.Answer<contract.Page<EntryRow, number>> {
    return this.#transact(caller, "read", (transaction) => {
      const filter = { ...request, visible_apps: admission.visibleApps(transaction) };
      return accepted(listEntries(this.#database, filter));
    });
  }

  readPlan(caller: contract.Caller): contract.Answer<string> {
    return this.#transact(caller, "read", (transaction) => readPlan(transaction));
  }

  adjustCredits(
    request: contract.AdjustCreditsRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.AdjustedCredits> {
    return this.#transactOnce(ITSELF, "admin.credits", guard, (it) =>
      adjustments.adjustCredits(it, request),
    );
  }

  changePlan(
    request: contract.ChangePlanRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.ChangedPlan> {
    return this.#transactOnce(ITSELF, "admin.plan", guard, (it) =>
      adjustments.changePlan(it, request),
    );
  }

  checkCaller(caller: contract.Caller): contract.Answer<null> {
    return this.#transact(caller, "read", () => accepted(null));
  }

  checkRoomForToken(caller: contract.Caller): contract.Answer<null> {
    return this.#transact(caller, "write", tokens.checkRoomForToken);
  }

  issueToken(caller: contract.Caller, request: contract.IssueTokenRequest): contract.Answer<null> {
    return this.#transact(caller, "write", (it) => tokens.issueToken(it, request));
  }

  listTokens(caller: contract.Caller): contract.Answer<readonly contract.ListedToken[]> {
    return this.#transact(caller, "read", tokens.listTokens);
  }

  /** A token that may only read may still end itself. */
  revokeToken(
    caller: contract.Caller,
    request: contract.RevokeTokenRequest,
  ): contract.Answer<null> {
    return this.#transact(caller, "read", (it) => tokens.revokeToken(it, request));
  }

  endSessions(session_ids: readonly string[] | "all"): contract.Answer<null> {
    return this.#transact(ITSELF, "write", (it) => tokens.endSessions(it, session_ids));
  }

  revokeAllTokens(): contract.Answer<null> {
    return this.#transact(ITSELF, "write", tokens.revokeAllTokens);
  }

  /** Keeps what a sign-in at a provider brought, in place of what was held for it. */
  async keepUpstreamTokens(
    tokens: UpstreamTokens,
    encryption_keys: contract.VaultSettings["encryption_keys"],
  ): Promise<void> {
    await this.#openVault().keep(tokens, encryption_keys);
  }

  /** Hands out the access token held for a provider, renewed where it is about to run out. */
  async readUpstreamToken(
    caller: contract.Caller,
    provider: string,
    settings: contract.VaultSettings,
  ): Promise<contract.Answer<contract.HandedOutToken>> {
    const admitted = this.#transact(caller, "read", admission.checkUpstream);
    if (!admitted.ok) return admitted;
    return this.#openVault().read(provider, settings);
  }

  /** Forgets what is held for a provider, and drops what its identity of then still brings. */
  forgetUpstreamTokens(provider: string, linked_at_ms: number): void {
    this.#openVault().forget(provider, linked_at_ms);
  }

  async rebuild(): Promise<void> {
    // The debt and its alarm come first: whatever happens now, the rebuild is finished.
    this.#outbox.startRebuild();
    if (this.#outbox.due_at_ms === null) return;
    this.#alarm.by(Date.now() + PROJECTION_DELAY_MS);
    await this.#outbox.flush();
  }

  /** Looks at what D1 has, and sends it what it lacks: something that was on its way there was lost. */
  catchUp(): void {
    this.#outbox.doubt();
    this.#alarm.by(Date.now() + PROJECTION_DELAY_MS);
  }

  /**
   * The one alarm: jobs whose time ran out, what the read model is owed, old kept answers. Each is
   * tried whatever became of the others, and says when it is next due. It never rejects: the platform
   * gives up a handler that fails too often, and with it every job's time-out.
   */
  override async alarm(): Promise<void> {
    this.#alarm.forget();
    this.#ask_at_ms = Number.POSITIVE_INFINITY;
    const failures: string[] = [];
    const attempt = async (part: string, work: () => Promise<number | null> | number | null) => {
      try {
        const at_ms = await work();
        if (at_ms !== null) this.#alarm.by(at_ms);
      } catch (error) {
        failures.push(part);
        const reason = error instanceof Error ? error.name : typeof error;
        console.error({ event: "alarm_failed", part, reason });
      }
    };
    await attempt("expiry", () => {
      this.#expiry.forget();
      this.#transact(ITSELF, "read", () => accepted(null));
      return null;
    });
    await attempt("projection", () => this.#outbox.flush());
    // What others wait for came first: cleaning up must not stand in its way.
    await attempt("clean-up", () => deleteKeptAnswers(this.#database, Date.now()));
    this.#rearmAfter(failures);
  }

  /** Comes back for what failed, ever later. */
  #rearmAfter(failures: readonly string[]): void {
    const now_ms = Date.now();
    this.#failing_since_ms = failures.length === 0 ? null : (this.#failing_since_ms ?? now_ms);
    if (this.#failing_since_ms === null) return;
    this.#alarm.by(now_ms + backOff(now_ms - this.#failing_since_ms, Math.random()));
  }

  #transactOnce<Value>(
    caller: contract.Caller,
    endpoint: string,
    guard: contract.IdempotencyGuard | null,
    operation: (transaction: Transaction) => contract.Answer<Value>,
  ): contract.OnceAnswer<Value> {
    return this.#transact(caller, "write", (transaction) =>
      once(this.#database, endpoint, guard, transaction, operation),
    );
  }

  #transact<Value>(
    caller: contract.Caller,
    wanted: PersonalTokenAccess,
    operation: (transaction: Transaction) => contract.Answer<Value>,
  ): contract.Answer<Value> {
    const ground = {
      storage: this.ctx.storage,
      store: this.#store,
      tokens: this.#tokens,
      alarm: this.#alarm,
      expiry: this.#expiry,
      identity_id: this.#identityId(),
    };
    const answer = transact(ground, caller, wanted, operation);
    this.#seeThatDebtIsPaid();
    return answer;
  }

  /**
   * Once in the life of an instance: arms the alarm where something is owed and no alarm is to come.
   * What D1 has is asked beside the request, never before its answer, and costs no written row.
   */
  #seeThatDebtIsPaid(): void {
    const now_ms = Date.now();
    if (now_ms < this.#ask_at_ms) return;
    this.#ask_at_ms = Number.POSITIVE_INFINITY;
    const { due_at_ms } = this.#outbox;
    if (due_at_ms !== null) return this.#alarm.by(due_at_ms);
    const { armed_at_ms } = this.#alarm;
    // An alarm that comes soon asks by itself.
    if (armed_at_ms !== null && armed_at_ms <= now_ms + PROJECTION_RETRY_MAX_MS) return;
    void this.#askWhetherBehind();
  }

  async #askWhetherBehind(): Promise<void> {
    const behind = await this.#outbox.isBehind();
    const now_ms = Date.now();
    if (behind === true) this.#alarm.by(now_ms + PROJECTION_DELAY_MS);
    if (behind === null) this.#ask_at_ms = now_ms + PROJECTION_RETRY_MAX_MS;
  }

  /** One vault for the life of the instance: it knows which renewals are under way. */
  #openVault(): Vault {
    this.#vault ??= new Vault(this.#database, this.#identityId());
    return this.#vault;
  }

  #identityId(): string {
    const identity_id = this.ctx.id.name;
    assertInvariant(identity_id !== undefined, "an account's object is reached by name");
    return identity_id;
  }
}
