/**
 * One account, as a Durable Object named by its `identity_id`. It is thin: it opens a synchronous
 * transaction around each operation, keeps the one alarm, and leaves the rules to its neighbours.
 */
import { DurableObject } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import migrations from "../../drizzle/account/migrations.js";
import type { TokenAccess } from "../domain/access_token.ts";
import { EVENTS_WATCHERS_MAX, PROJECTION_DELAY_MS } from "../domain/limits.ts";
import { accepted, assertInvariant, refused } from "../domain/result.ts";
import type { UpstreamTokens } from "../identity/upstream_tokens.ts";
import { createProjector } from "../readmodel/projector.ts";
import * as tokens from "./admission.ts";
import type * as contract from "./contract.ts";
import { Streams } from "./events/streams.ts";
import { WATCH_HEADER, WATCH_PROTOCOL, type WatchRequest } from "./events/watcher.ts";
import { readOverview, readStatement } from "./history.ts";
import { deleteKeptAnswers, once } from "./idempotency.ts";
import * as jobs from "./jobs.ts";
import { ensureOpen, type Transaction } from "./ledger.ts";
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
import { openTokenStore, type TokenStore } from "./tokens.ts";
import { readWallet } from "./wallet.ts";

/** The object acting on its own, when its alarm wakes it. */
const ITSELF: contract.Caller = { token_id: null };

export class Account extends DurableObject<Env> implements contract.AccountOperations {
  readonly #database: AccountDatabase;
  #store!: Store;
  #tokens!: TokenStore;
  #outbox!: Outbox;
  #streams!: Streams;
  /** Whether the transaction under way has posted lines that streams are to be told. */
  #unpublished = false;
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
      this.#tokens = openTokenStore(this.#database);
      const projector = createProjector(env.DB);
      this.#outbox = new Outbox(this.#database, this.#store, projector, this.#alarm_at_ms);
      const { ctx: context } = this;
      const sources = { context, store: this.#store, tokens: this.#tokens };
      this.#streams = new Streams({ ...sources, database: this.#database });
    });
  }

  /** Opens a stream of the account's changes: a WebSocket that may sleep with the object. */
  override fetch(request: Request): Response {
    const watch = JSON.parse(request.headers.get(WATCH_HEADER) ?? "") as WatchRequest;
    const { proof } = watch;
    const caller = { token_id: proof.kind === "pat" ? proof.token_id : null };
    const opened = this.#transact(caller, "read", (transaction) => {
      ensureOpen(transaction);
      return this.#streams.hasRoom()
        ? accepted(transaction.token)
        : refused({ code: "too_many_watchers", limit: EVENTS_WATCHERS_MAX });
    });
    if (!opened.ok) return Response.json(opened.refusal, { status: 403 });
    // A session token got with a personal token ends before it, and its stream with it.
    const token_ends_ms = opened.value?.expires_at_ms ?? proof.expires_at_ms;
    const expires_at_ms = Math.min(proof.expires_at_ms, token_ends_ms);
    const { 0: client, 1: server } = new WebSocketPair();
    this.#streams.open(server, { ...watch, proof: { ...proof, expires_at_ms } });
    this.#wakeBy(expires_at_ms);
    const headers = { "Sec-WebSocket-Protocol": WATCH_PROTOCOL };
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(socket: WebSocket): void {
    this.#streams.refuseMessage(socket);
  }

  /** Ends the streams that sessions opened, for their clients to prove themselves again. */
  closeSessionStreams(): void {
    this.#streams.closeSessions();
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
      const job = transaction.store.readJob(job_id);
      if (job === null) return refused({ code: "job_not_found" });
      const foreign = tokens.whyNotForApp(transaction, job.app_slug);
      return foreign === null ? accepted(job) : refused(foreign);
    });
  }

  listJobs(
    caller: contract.Caller,
    request: contract.ListJobsRequest,
  ): contract.Answer<contract.Page<JobRow>> {
    return this.#transact(caller, "read", (transaction) =>
      accepted(page(jobs.listJobs(transaction, request), request.limit)),
    );
  }

  listEntries(
    caller: contract.Caller,
    request: contract.ListEntriesRequest,
  ): contract.Answer<contract.Page<EntryRow>> {
    return this.#transact(caller, "read", (transaction) => {
      const visible_apps = tokens.visibleApps(transaction);
      const filter = { ...request, visible_apps, limit: request.limit + 1 };
      return accepted(page(transaction.store.listEntries(filter), request.limit));
    });
  }

  readOverview(
    caller: contract.Caller,
    request: contract.OverviewRequest,
  ): contract.Answer<contract.OverviewAnswer> {
    return this.#transact(caller, "read", (it) => readOverview(this.#database, it, request));
  }

  readStatement(
    caller: contract.Caller,
    request: contract.StatementRequest,
  ): contract.Answer<contract.StatementAnswer> {
    return this.#transact(caller, "read", (it) => readStatement(this.#database, it, request));
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
    const answer = this.#transact(caller, "read", (it) => tokens.revokeToken(it, request));
    this.#publish();
    return answer;
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
    const admitted = this.#transact(caller, "write", tokens.checkUnlimited);
    if (!admitted.ok) return admitted;
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
    this.#transact(ITSELF, "read", () => accepted(null));
    // First what others wait for: cleaning up must not stand in its way.
    const retry_at_ms = await this.#outbox.flush();
    if (this.#cleanup_at_ms === null || this.#cleanup_at_ms <= Date.now()) {
      this.#cleanup_at_ms = deleteKeptAnswers(this.#database, Date.now());
    }
    this.#publish();
    const stream_ends_ms = this.#streams.nextExpiryMs();
    const times_ms = [
      this.#next_expiry_ms ?? null,
      this.#cleanup_at_ms,
      retry_at_ms,
      stream_ends_ms,
    ];
    for (const at_ms of times_ms) {
      if (at_ms !== null) this.#wakeBy(at_ms);
    }
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

  /**
   * Runs `operation` in one synchronous transaction, after failing the jobs whose time ran out (an
   * alarm may be late) and asking whether the caller may do what is `wanted`. A throw undoes
   * everything, the alarm included.
   */
  #transact<Value>(
    caller: contract.Caller,
    wanted: TokenAccess,
    operation: (transaction: Transaction) => contract.Answer<Value>,
  ): contract.Answer<Value> {
    const identity_id = this.#identityId();
    const now_ms = Date.now();
    const { projected_line } = this.#outbox;
    const transaction = {
      store: this.#store,
      tokens: this.#tokens,
      token: null,
      identity_id,
      now_ms,
      projected_line,
    };
    try {
      const answer = this.ctx.storage.transactionSync(() => {
        const line_before = this.#store.readNewestEntry()?.line;
        const known = this.#next_expiry_ms;
        if (known === undefined || (known !== null && known <= now_ms)) {
          this.#next_expiry_ms = jobs.expireDueJobs(transaction);
        }
        const token = tokens.admit(transaction, caller, wanted);
        const answer = token.ok ? operation({ ...transaction, token: token.value }) : token;
        const newest = this.#store.readNewestEntry();
        if (newest !== null && newest.line !== line_before) this.#afterChange(newest, now_ms);
        return answer;
      });
      // After the commit: a stream never tells what was rolled back.
      if (this.#unpublished) this.#publish();
      return answer;
    } catch (error) {
      // What memory says of storage may have been rolled back with it.
      this.#alarm_at_ms = null;
      this.#next_expiry_ms = undefined;
      this.#unpublished = false;
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

  /** Tells the open streams. What is committed stands, whatever becomes of them. */
  #publish(): void {
    this.#unpublished = false;
    try {
      this.#streams.publish();
    } catch (error) {
      const reason = error instanceof Error ? error.name : typeof error;
      console.warn({ event: "streams_not_told", reason });
    }
  }

  #afterChange(newest: EntryRow, now_ms: number): void {
    if (newest.kind === "reserve" && newest.job_id !== null) {
      const expires_at_ms = this.#store.readJob(newest.job_id)?.expires_at_ms ?? now_ms;
      this.#next_expiry_ms = Math.min(this.#next_expiry_ms ?? expires_at_ms, expires_at_ms);
    }
    this.#unpublished = true;
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
