/**
 * One account, as a Durable Object named by its `identity_id`. It is thin: it opens a synchronous
 * transaction around each operation, keeps the one alarm, and leaves the rules to its neighbours.
 */
import { DurableObject } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../drizzle/account/migrations.js";
import { PROJECTION_DELAY_MS } from "../domain/limits.ts";
import { accepted, assertInvariant, refused } from "../domain/result.ts";
import { createProjector } from "../readmodel/projector.ts";
import type * as contract from "./contract.ts";
import { deleteKeptAnswers, once } from "./idempotency.ts";
import * as jobs from "./jobs.ts";
import type { Transaction } from "./ledger.ts";
import { Outbox } from "./outbox.ts";
import * as schema from "./schema.ts";
import {
  openStore,
  type AccountDatabase,
  type EntryRow,
  type JobRow,
  type Store,
} from "./store.ts";
import { Vault } from "./vault.ts";
import { readWallet } from "./wallet.ts";

export class Account extends DurableObject<Env> implements contract.AccountOperations {
  readonly #database: AccountDatabase;
  #store!: Store;
  #outbox!: Outbox;
  #vault: Vault | undefined;
  /** The alarm that storage has, as far as this instance knows; null: none, or not known. */
  #alarm_at_ms: number | null = null;
  /** No started job runs out before this. A hint that saves a scan; undefined: not known. */
  #next_expiry_ms: number | null | undefined;
  /** When kept answers are next worth a look; null: nothing was kept then, or not known. */
  #cleanup_at_ms: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#database = drizzle(ctx.storage, { schema });
    void ctx.blockConcurrencyWhile(async () => {
      await migrate(this.#database, migrations);
      this.#alarm_at_ms = await ctx.storage.getAlarm();
      this.#store = openStore(this.#database);
      const projector = createProjector(env.DB);
      this.#outbox = new Outbox(this.#database, this.#store, projector, this.#alarm_at_ms);
    });
  }

  /** The wallet; opens the account, and grants an app's starter credits once. */
  wallet(request: contract.WalletRequest): contract.Answer<contract.WalletAnswer> {
    return this.#transact((transaction) => readWallet(transaction, request));
  }

  createJob(
    request: contract.CreateJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.CreatedJob> {
    return this.#transactOnce("jobs.create", guard, (it) => jobs.createJob(it, request));
  }

  completeJob(
    request: contract.CompleteJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.SettledJob> {
    return this.#transactOnce("jobs.complete", guard, (it) => jobs.completeJob(it, request));
  }

  failJob(
    request: contract.FailJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.SettledJob> {
    return this.#transactOnce("jobs.fail", guard, (it) => jobs.failJob(it, request));
  }

  readJob(job_id: string): contract.Answer<JobRow> {
    return this.#transact(({ store }) => {
      const job = store.readJob(job_id);
      return job === null ? refused({ code: "job_not_found" }) : accepted(job);
    });
  }

  listJobs(request: contract.ListJobsRequest): contract.Answer<contract.Page<JobRow>> {
    return this.#transact(({ store }) =>
      accepted(page(store.listJobs({ ...request, limit: request.limit + 1 }), request.limit)),
    );
  }

  listEntries(request: contract.ListEntriesRequest): contract.Answer<contract.Page<EntryRow>> {
    return this.#transact(({ store }) =>
      accepted(page(store.listEntries(request.before_line, request.limit + 1), request.limit)),
    );
  }

  /** Keeps what a sign-in at a provider brought, in place of what was held for it. */
  async keepUpstreamTokens(
    tokens: contract.KeptTokens,
    encryption_keys: contract.VaultSettings["encryption_keys"],
  ): Promise<void> {
    await this.#openVault().keep(tokens, encryption_keys);
  }

  /** Hands out the access token held for a provider, renewed where it is about to run out. */
  async readUpstreamToken(
    provider: string,
    settings: contract.VaultSettings,
  ): Promise<contract.Answer<contract.HandedOutToken>> {
    return this.#openVault().read(provider, settings);
  }

  /** Forgets what is held for a provider. */
  forgetUpstreamTokens(provider: string): void {
    this.#openVault().forget(provider);
  }

  /** Sends the whole account to the read model anew. For operators; safe at any time. */
  async rebuild(): Promise<void> {
    await this.#outbox.rebuild();
  }

  /** The one alarm: jobs whose time ran out, old kept answers, and what the read model is owed. */
  override async alarm(): Promise<void> {
    this.#alarm_at_ms = null;
    this.#outbox.expectFlush();
    this.#transact(() => accepted(null));
    if (this.#cleanup_at_ms === null || this.#cleanup_at_ms <= Date.now()) {
      this.#cleanup_at_ms = deleteKeptAnswers(this.#database, Date.now());
    }
    const retry_at_ms = await this.#outbox.flush();
    for (const at_ms of [this.#next_expiry_ms ?? null, this.#cleanup_at_ms, retry_at_ms]) {
      if (at_ms !== null) this.#wakeBy(at_ms);
    }
  }

  #transactOnce<Value>(
    endpoint: string,
    guard: contract.IdempotencyGuard | null,
    operation: (transaction: Transaction) => contract.Answer<Value>,
  ): contract.OnceAnswer<Value> {
    return this.#transact((transaction) =>
      once(this.#database, endpoint, guard, transaction.now_ms, () => operation(transaction)),
    );
  }

  /**
   * Runs `operation` in one synchronous transaction, after failing the jobs whose time ran out (an
   * alarm may be late). A throw undoes everything, the alarm included.
   */
  #transact<Value>(
    operation: (transaction: Transaction) => contract.Answer<Value>,
  ): contract.Answer<Value> {
    const identity_id = this.#identityId();
    const now_ms = Date.now();
    const { projected_line } = this.#outbox;
    const transaction = { store: this.#store, identity_id, now_ms, projected_line };
    try {
      return this.ctx.storage.transactionSync(() => {
        const line_before = this.#store.readNewestEntry()?.line;
        const known = this.#next_expiry_ms;
        if (known === undefined || (known !== null && known <= now_ms)) {
          this.#next_expiry_ms = jobs.expireDueJobs(transaction);
        }
        const answer = operation(transaction);
        const newest = this.#store.readNewestEntry();
        if (newest !== null && newest.line !== line_before) this.#afterChange(newest, now_ms);
        return answer;
      });
    } catch (error) {
      // What memory says of storage may have been rolled back with it.
      this.#alarm_at_ms = null;
      this.#next_expiry_ms = undefined;
      throw error;
    }
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

  #afterChange(newest: EntryRow, now_ms: number): void {
    if (newest.kind === "reserve" && newest.job_id !== null) {
      const expires_at_ms = this.#store.readJob(newest.job_id)?.expires_at_ms ?? now_ms;
      this.#next_expiry_ms = Math.min(this.#next_expiry_ms ?? expires_at_ms, expires_at_ms);
    }
    this.#wakeBy(now_ms + PROJECTION_DELAY_MS);
  }

  /** Arms the alarm unless it is armed for sooner: setting it is a written row. */
  #wakeBy(at_ms: number): void {
    if (this.#alarm_at_ms !== null && this.#alarm_at_ms <= at_ms) return;
    this.#alarm_at_ms = at_ms;
    void this.ctx.storage.setAlarm(at_ms);
  }
}

function page<Row>(rows: readonly Row[], limit: number): contract.Page<Row> {
  return { rows: rows.slice(0, limit), more: rows.length > limit };
}
