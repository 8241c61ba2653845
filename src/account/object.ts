/**
 * One account, as a Durable Object named by its `identity_id`. It is thin: it opens a synchronous
 * transaction around each operation, keeps the one alarm, and leaves the rules to its neighbours.
 */
import { DurableObject } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { EVENTS_WATCHERS_MAX, PROJECTION_DELAY_MS } from "../domain/limits.ts";
import type { Purchase, Reversal } from "../domain/purchases.ts";
import { accepted, assertInvariant, refused } from "../domain/result.ts";
import type { UpstreamTokens } from "../oauth/upstream_tokens.ts";
import { createProjector } from "../readmodel/adapters.ts";
import * as adjustments from "./adjustments.ts";
import { setAppAccess } from "./app_access.ts";
import { Alarm } from "./alarm.ts";
import { AlarmRound } from "./alarm_round.ts";
import * as batches from "./batches.ts";
import * as callers from "./caller.ts";
import type * as contract from "./contract.ts";
import { HOLDER, SERVICE } from "./contract.ts";
import { listEntries } from "./entries.ts";
import { oweDebts } from "./debts.ts";
import * as deletion from "./deletion.ts";
import { Delivery } from "./delivery.ts";
import { Erasure } from "./erasure.ts";
import { Streams } from "./events/streams.ts";
import { WATCH_HEADER, WATCH_PROTOCOL, type WatchRequest } from "./events/watcher.ts";
import { Expiry } from "./expiry.ts";
import { readOverview, readStatement } from "./history.ts";
import { onceInJob } from "./idempotency/job_keys.ts";
import { Responses, WHOLE, type ResponseForm } from "./idempotency/responses.ts";
import * as jobs from "./jobs.ts";
import { inspect } from "./inspection.ts";
import { ensureOpen } from "./ledger.ts";
import { openJobLists, type JobLists } from "./lists.ts";
import { bringUpToDate, isBlank } from "./migrate.ts";
import { openJobsOf } from "./open_jobs.ts";
import { Outbox } from "./outbox.ts";
import * as purchases from "./purchases/purchases.ts";
import { openPurchaseStore, type PurchaseStore } from "./purchases/store.ts";
import type { AccountDatabase } from "./statement.ts";
import { openStore, type EntryRow, type JobRow, type Store } from "./store.ts";
import * as personal_tokens from "./personal_tokens/life.ts";
import { openPersonalTokenStore, type PersonalTokenStore } from "./personal_tokens/store.ts";
import { restore, suspend } from "./suspension.ts";
import { Vault } from "./vault/vault.ts";
import { transact, type Ground, type Transaction } from "./transaction.ts";
import { readPlan, readWallet } from "./wallet.ts";

export class Account extends DurableObject<Env> implements contract.AccountOperations {
  readonly #database: AccountDatabase;
  /** False as long as nobody but an app that guesses identities reached the object: then it stores nothing. */
  #is_open = false;
  #store!: Store;
  #personal_tokens!: PersonalTokenStore;
  #responses!: Responses;
  #listJobs!: JobLists;
  #outbox!: Outbox;
  #alarm!: Alarm;
  #delivery!: Delivery;
  #erasure!: Erasure;
  #purchases!: PurchaseStore;
  #alarm_round!: AlarmRound;
  readonly #expiry = new Expiry();
  #streams!: Streams;
  #vault: Vault | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#database = drizzle(ctx.storage);
    void ctx.blockConcurrencyWhile(async () => {
      if (!isBlank(ctx.storage.sql)) this.#open(await ctx.storage.getAlarm());
    });
  }

  /** Makes or updates the tables, and opens what works on them. */
  #open(alarm_at_ms: number | null): void {
    const { ctx: context } = this;
    bringUpToDate(this.#database, context.storage.sql);
    this.#alarm = new Alarm(context.storage, alarm_at_ms);
    this.#store = openStore(this.#database);
    this.#personal_tokens = openPersonalTokenStore(this.#database);
    this.#responses = new Responses(this.#database);
    this.#listJobs = openJobLists(this.#database);
    this.#outbox = new Outbox(this.#database, this.#store, createProjector(this.env));
    this.#streams = new Streams({
      context,
      store: this.#store,
      personal_tokens: this.#personal_tokens,
    });
    const hasStartedJobs = (): boolean => openJobsOf(this.#store.readNewestEntry()).open_jobs > 0;
    this.#delivery = new Delivery(this.#alarm, this.#outbox, hasStartedJobs);
    this.#erasure = new Erasure({
      database: this.#database,
      store: this.#store,
      outbox: this.#outbox,
      ground: () => this.#ground(() => undefined),
    });
    this.#purchases = openPurchaseStore(this.#database);
    this.#alarm_round = new AlarmRound(this.#alarm);
    this.#is_open = true;
  }

  /** For a first write. An object without tables has no alarm either. */
  #openOnce(): void {
    if (!this.#is_open) this.#open(null);
  }

  /** Opens a stream of the account's changes: a WebSocket that may sleep with the object. */
  override fetch(request: Request): Response {
    const watch = JSON.parse(request.headers.get(WATCH_HEADER) ?? "") as WatchRequest;
    const { proof } = watch;
    const caller =
      proof.kind === "session"
        ? HOLDER
        : { kind: proof.kind, personal_token_id: proof.personal_token_id };
    const opened = this.#transact(caller, "read", (transaction) => {
      ensureOpen(transaction);
      return this.#streams.hasRoom()
        ? accepted(callers.actingToken(transaction))
        : refused({ code: "too_many_watchers", limit: EVENTS_WATCHERS_MAX });
    });
    if (!opened.ok) return Response.json(opened.refusal, { status: 403 });
    // A session token got with a personal token ends before it, and its stream with it.
    const token_ends_ms = opened.value?.expires_at_ms ?? proof.expires_at_ms;
    const expires_at_ms = Math.min(proof.expires_at_ms, token_ends_ms);
    const { 0: client, 1: server } = new WebSocketPair();
    this.#streams.open(server, { ...watch, proof: { ...proof, expires_at_ms } });
    this.#alarm.by(expires_at_ms);
    const headers = { "Sec-WebSocket-Protocol": WATCH_PROTOCOL };
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#streams.hear(socket, message);
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
    const stored = { endpoint: "jobs.create", form: WHOLE };
    return this.#transactOnce(caller, guard, stored, (it) => jobs.createJob(it, request));
  }

  completeJob(
    caller: contract.Caller,
    request: contract.CompleteJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.SettledJob> {
    const settled = { job_id: request.job_id, status: "completed" } as const;
    return this.#transact(caller, "settle", (it) =>
      onceInJob(it, guard, settled, (keyed) => jobs.completeJob(it, request, keyed)),
    );
  }

  createJobs(
    caller: contract.Caller,
    requests: readonly contract.CreateJobRequest[],
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.Batch<contract.CreatedJob>> {
    const stored = { endpoint: "jobs.create.batch", form: batches.CREATED_FORM };
    return this.#transactOnce(caller, guard, stored, (it) => batches.createJobs(it, requests));
  }

  completeJobs(
    caller: contract.Caller,
    requests: readonly contract.CompleteJobRequest[],
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.Batch<contract.SettledJob>> {
    const stored = { endpoint: "jobs.complete.batch", form: batches.SETTLED_FORM };
    return this.#transact(caller, "settle", (it) =>
      this.#responses.once(it, guard, stored, () => batches.completeJobs(it, requests)),
    );
  }

  failJob(
    caller: contract.Caller,
    request: contract.FailJobRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.SettledJob> {
    const settled = { job_id: request.job_id, status: "failed" } as const;
    return this.#transact(caller, "settle", (it) =>
      onceInJob(it, guard, settled, (keyed) => jobs.failJob(it, request, keyed)),
    );
  }

  cancelJob(
    caller: contract.Caller,
    request: contract.CancelJobRequest,
  ): contract.Answer<contract.SettledJob> {
    return this.#transact(caller, "write", (it) => jobs.cancelJob(it, request));
  }

  readJob(caller: contract.Caller, job_id: string): contract.Answer<JobRow> {
    return this.#transact(caller, "read", (transaction) => {
      const job = jobs.readInTime(transaction, job_id);
      if (job === null || !callers.seesJob(transaction, job)) {
        return refused({ code: "job_not_found" });
      }
      const foreign = callers.whyNotForApp(transaction, job.app_slug);
      return foreign === null ? accepted(job) : refused(foreign);
    });
  }

  listJobs(
    caller: contract.Caller,
    request: contract.ListJobsRequest,
  ): contract.Answer<contract.Page<JobRow, string>> {
    return this.#transact(caller, "read", (transaction) => {
      const filter = { ...request, visible_apps: callers.visibleApps(transaction) };
      const { recent_after_job_id } = openJobsOf(transaction.store.readNewestEntry());
      return accepted(this.#listJobs(filter, recent_after_job_id));
    });
  }

  listEntries(
    caller: contract.Caller,
    request: contract.ListEntriesRequest,
  ): contract.Answer<contract.Page<EntryRow, number>> {
    return this.#transact(caller, "read", (transaction) => {
      const filter = { ...request, visible_apps: callers.visibleApps(transaction) };
      return accepted(listEntries(this.#database, filter));
    });
  }

  setAppAccess(
    caller: contract.Caller,
    slug: string,
    access: "open" | "disconnected",
  ): contract.Answer<null> {
    return this.#transact(caller, "write", (it) => setAppAccess(it, slug, access));
  }

  readPlan(caller: contract.Caller): contract.Answer<string> {
    return this.#transact(caller, "read", (transaction) => readPlan(transaction));
  }

  adjustCredits(
    request: contract.AdjustCreditsRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.AdjustedCredits> {
    const stored = { endpoint: "admin.credits", form: WHOLE };
    return this.#transactOnce(SERVICE, guard, stored, (it) =>
      adjustments.adjustCredits(it, request),
    );
  }

  changePlan(
    request: contract.ChangePlanRequest,
    guard: contract.IdempotencyGuard | null,
  ): contract.OnceAnswer<contract.ChangedPlan> {
    const stored = { endpoint: "admin.plan", form: WHOLE };
    return this.#transactOnce(SERVICE, guard, stored, (it) => adjustments.changePlan(it, request));
  }

  inspect(): contract.Answer<contract.InspectedAccount> {
    return this.#transact(SERVICE, "read", (it) => inspect(this.#listJobs, it));
  }

  suspend(): contract.Answer<null> {
    const answer = this.#transact(SERVICE, "write", suspend);
    this.#streams.closeAll("suspended");
    return answer;
  }

  restore(): contract.Answer<null> {
    return this.#transact(SERVICE, "write", restore);
  }

  deleteAccount(caller: contract.Caller): contract.Answer<null> {
    const answer = this.#transact(caller, "write", (it) => {
      this.#openVault().forgetAll();
      return deletion.deleteAccount(it);
    });
    if (!answer.ok) return answer;
    this.#erasure.begin();
    this.#streams.closeAll("account_deleted");
    return answer;
  }

  isDeleted(): boolean {
    return this.#is_open && this.#erasure.has_begun;
  }

  readOwed(): contract.Owed {
    return { credits: deletion.owedCredits(this.#store), debt_ids: this.#store.listDebts() };
  }

  openReturned(): contract.Answer<null> {
    return this.#transact(SERVICE, "write", deletion.openReturned);
  }

  oweDebts(debts: readonly contract.Debt[]): contract.Answer<null> {
    return this.#transact(SERVICE, "write", (it) => oweDebts(it, debts));
  }

  checkBuyer(caller: contract.Caller): contract.Answer<null> {
    return this.#transact(caller, "write", callers.checkBuyer);
  }

  recordPurchase(purchase: Purchase): contract.Answer<null> {
    return this.#transact(SERVICE, "write", (it) =>
      purchases.recordPurchase(it, this.#purchases, purchase),
    );
  }

  recordReversal(reversal: Reversal): contract.Answer<null> {
    return this.#transact(SERVICE, "write", (it) =>
      purchases.recordReversal(it, this.#purchases, reversal),
    );
  }

  hasBought(payment_intent_id: string): boolean {
    return this.#is_open && this.#purchases.readPurchaseOf(payment_intent_id) !== null;
  }

  readPurchase(
    caller: contract.Caller,
    checkout_session_id: string,
  ): contract.Answer<contract.ListedPurchase> {
    return this.#transact(caller, "read", (it) =>
      purchases.readPurchase(it, this.#purchases, checkout_session_id),
    );
  }

  readOverview(
    caller: contract.Caller,
    request: contract.OverviewRequest,
  ): contract.Answer<contract.OverviewAnswer> {
    return this.#transact(caller, "read", (it) =>
      readOverview(this.#database, this.#listJobs, it, request),
    );
  }

  readStatement(
    caller: contract.Caller,
    request: contract.StatementRequest,
  ): contract.Answer<contract.StatementAnswer> {
    return this.#transact(caller, "read", (it) => readStatement(this.#database, it, request));
  }

  checkCaller(caller: contract.Caller): contract.Answer<null> {
    return this.#transact(caller, "none", () => accepted(null));
  }

  checkRoomForPersonalToken(caller: contract.Caller): contract.Answer<null> {
    return this.#transact(caller, "write", personal_tokens.checkRoomForPersonalToken);
  }

  issuePersonalToken(
    caller: contract.Caller,
    request: contract.IssuePersonalTokenRequest,
  ): contract.Answer<null> {
    return this.#transact(caller, "write", (it) => personal_tokens.issuePersonalToken(it, request));
  }

  listPersonalTokens(
    caller: contract.Caller,
  ): contract.Answer<readonly contract.ListedPersonalToken[]> {
    return this.#transact(caller, "read", personal_tokens.listPersonalTokens);
  }

  checkOperator(caller: contract.Caller): contract.Answer<null> {
    return this.#transact(caller, "none", callers.checkAdmin);
  }

  /** A token that may do nothing else may still end itself. */
  revokePersonalToken(
    caller: contract.Caller,
    request: contract.RevokePersonalTokenRequest,
  ): contract.Answer<null> {
    const answer = this.#transact(caller, "none", (it) =>
      personal_tokens.revokePersonalToken(it, request),
    );
    this.#streams.publish();
    return answer;
  }

  endSessions(session_ids: readonly string[] | "all"): contract.Answer<null> {
    const answer = this.#transact(SERVICE, "write", (it) =>
      personal_tokens.endSessions(it, session_ids),
    );
    this.#streams.closeSessions(session_ids);
    this.#streams.publish();
    return answer;
  }

  revokeApprovedBy(approver: contract.Approver): contract.Answer<null> {
    const answer = this.#transact(SERVICE, "write", (it) =>
      personal_tokens.revokeApprovedBy(it, approver),
    );
    this.#streams.publish();
    return answer;
  }

  revokeAllPersonalTokens(): contract.Answer<null> {
    const answer = this.#transact(SERVICE, "write", personal_tokens.revokeAllPersonalTokens);
    this.#streams.publish();
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
  ): Promise<contract.Answer<contract.HandedOutUpstreamToken>> {
    const admitted = this.#transact(caller, "read", callers.checkUpstream);
    if (!admitted.ok) return admitted;
    return this.#openVault().read(provider, settings);
  }

  /** Forgets what is held for a provider, and drops what its identity of then still brings. */
  forgetUpstreamTokens(provider: string, linked_at_ms: number): void {
    this.#openVault().forget(provider, linked_at_ms);
  }

  async rebuild(): Promise<void> {
    if (!this.#hasAccount()) return;
    // The debt and its alarm come first: whatever happens now, the rebuild is finished.
    this.#outbox.startRebuild();
    if (this.#outbox.due_at_ms === null) return;
    this.#alarm.by(Date.now() + PROJECTION_DELAY_MS);
    await this.#outbox.flush();
  }

  /** Looks at what D1 has, and sends it what it lacks: something that was on its way there was lost. */
  catchUp(): void {
    if (!this.#hasAccount()) return;
    this.#outbox.forgetKnown();
    this.#alarm.by(Date.now() + PROJECTION_DELAY_MS);
  }

  async repair(): Promise<contract.Repair> {
    if (!this.#hasAccount()) return "nothing_missing";
    const is_delivered = await this.#outbox.isDelivered().catch(() => null);
    if (is_delivered === null) return "unreachable";
    if (is_delivered) return "nothing_missing";
    this.#outbox.forgetKnown();
    // The alarm comes first: it sends the rest of a large account, also where this breaks off.
    this.#alarm.by(Date.now() + PROJECTION_DELAY_MS);
    await this.#outbox.flush();
    return "sent";
  }

  /**
   * Whether there is an account for the read model to have. A person who never opened theirs has none, and asking
   * creates no tables; a deleted account sends by itself what is left to send.
   */
  #hasAccount(): boolean {
    return this.#is_open && !this.#erasure.has_begun && this.#store.readAccount() !== null;
  }

  /** The one alarm: jobs whose time ran out, what the read model is owed, streams that end, clean-up. */
  override async alarm(): Promise<void> {
    this.#openOnce();
    if (this.#erasure.has_begun) {
      return this.#alarm_round.run([["erasure", () => this.#erasure.step()]]);
    }
    await this.#alarm_round.run([
      ["expiry", () => this.#expireDueJobs()],
      ["projection", () => this.#delivery.flush()],
      ["streams", () => this.#endStreams()],
      // What others wait for came first: cleaning up must not stand in its way.
      ["clean-up", () => this.#responses.deleteOld(Date.now())],
    ]);
  }

  #expireDueJobs(): null {
    this.#expiry.forget();
    this.#transact(SERVICE, "read", (transaction) => {
      this.#expiry.expireLeftJobs(transaction);
      return accepted(null);
    });
    return null;
  }

  #endStreams(): number | null {
    this.#streams.publish();
    return this.#streams.nextExpiryMs();
  }

  #transactOnce<Value>(
    caller: contract.Caller,
    guard: contract.IdempotencyGuard | null,
    stored: { readonly endpoint: string; readonly form: ResponseForm<Value> },
    operation: (transaction: Transaction) => contract.Answer<Value>,
  ): contract.OnceAnswer<Value> {
    return this.#transact(caller, "write", (transaction) =>
      this.#responses.once(transaction, guard, stored, () => operation(transaction)),
    );
  }

  #transact<Value>(
    caller: contract.Caller,
    wanted: callers.Wanted,
    operation: (transaction: Transaction) => contract.Answer<Value>,
  ): contract.Answer<Value> {
    if (!this.#is_open && caller.kind === "app") return refused({ code: "account_unknown" });
    this.#openOnce();
    let has_posted = false;
    const ground = this.#ground(() => void (has_posted = true));
    const answer = transact(ground, caller, wanted, operation);
    // After the commit: a stream never tells what was rolled back.
    if (has_posted) this.#streams.publish();
    if (this.#erasure.has_begun) this.#erasure.seeThatItGoesOn(this.#alarm);
    else this.#delivery.start();
    return answer;
  }

  #ground(posted: () => void): Ground {
    return {
      storage: this.ctx.storage,
      store: this.#store,
      personal_tokens: this.#personal_tokens,
      alarm: this.#alarm,
      delivery: this.#delivery,
      expiry: this.#expiry,
      posted,
      identity_id: this.#identityId(),
    };
  }

  /** One vault for the life of the instance: it knows which renewals are under way. */
  #openVault(): Vault {
    this.#openOnce();
    const isClosed = (): boolean => this.#erasure.has_begun;
    this.#vault ??= new Vault(this.#database, this.#identityId(), isClosed);
    return this.#vault;
  }

  #identityId(): string {
    const identity_id = this.ctx.id.name;
    assertInvariant(identity_id !== undefined, "an account's object is reached by name");
    return identity_id;
  }
}
