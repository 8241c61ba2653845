/**
 * A running instance of an account's object. It creates the tables when they are first needed, runs each operation in
 * one transaction, and does after the commit what follows from it.
 */
import { planListOf } from "../directory/plan_list.ts";
import { reportError } from "../domain/error_report.ts";
import { accepted, assertInvariant, refused } from "../domain/result.ts";
import { transactFor } from "./admission.ts";
import type { CardCharges } from "../domain/top_up.ts";
import type { Wanted } from "./caller.ts";
import { chargeDueTopUp } from "./charging.ts";
import { ACCOUNT_RESTORING, NEWER_DATA, SERVICE, type Answer, type Caller } from "./contract.ts";
import { deleteOldResponses } from "./idempotency/responses.ts";
import { expireLeftJobs } from "./jobs/expiry.ts";
import { readPlan } from "./ledger/turns.ts";
import { updatePlan } from "./operators/acts.ts";
import { openParts, type AccountParts } from "./parts.ts";
import { BUILD, isTooNew, readDataFormat } from "./sql/migrate.ts";
import type { Transaction } from "./transaction.ts";

/** The key of a note in storage that a restore from the archive is under way; see `recovery/from_archive.ts`. */
export const RESTORING_FROM = "restoring_from_archive";

/** How long the alarm is put off while this build may not run on the data. */
const NEWER_DATA_ALARM_MS = 15 * 60_000;

export class Instance {
  readonly context: DurableObjectState;
  readonly env: Env;
  /** `blank`: the object has no tables. An app's key that guesses identities does not create any. */
  #state: "blank" | "newer_data" | "restoring" | AccountParts = "blank";

  readonly #cardCharges: () => CardCharges | null;

  /** `card_charges`: the payment service; null: nothing is for sale. */
  constructor(context: DurableObjectState, env: Env, card_charges: () => CardCharges | null) {
    this.context = context;
    this.env = env;
    this.#cardCharges = card_charges;
    void context.blockConcurrencyWhile(async () => {
      const { storage } = context;
      const format = readDataFormat(storage.sql);
      if (format === null) return;
      if (storage.kv.get(RESTORING_FROM) !== undefined) return void (this.#state = "restoring");
      if (!isTooNew(format)) return void this.#open(await storage.getAlarm());
      this.#state = "newer_data";
      console.error({ event: "account_data_newer", build: BUILD, ...format });
    });
  }

  /**
   * Null: the object is blank. @throws Error `NEWER_DATA` if this build may not run on the data, `ACCOUNT_RESTORING` while
   * the account is restored from the archive.
   */
  get parts(): AccountParts | null {
    if (this.#state === "newer_data") throw new Error(NEWER_DATA);
    if (this.#state === "restoring") throw new Error(ACCOUNT_RESTORING);
    return this.#state === "blank" ? null : this.#state;
  }

  /** The parts; creates the tables if the object is blank. Then storage has no alarm either. */
  openParts(): AccountParts {
    return this.parts ?? this.#open(null);
  }

  #open(alarm_at_ms: number | null): AccountParts {
    const parts = openParts(this.context, this.env, this.identity_id, alarm_at_ms);
    this.#state = parts;
    return parts;
  }

  get identity_id(): string {
    const { name } = this.context.id;
    assertInvariant(name !== undefined, "an account's object is reached by name");
    return name;
  }

  /** Whether the account is being restored from the archive. */
  get isRestoring(): boolean {
    return this.#state === "restoring";
  }

  /** Refuses all requests until {@link reopen}. @returns parts for the restore */
  close(): AccountParts {
    this.#retire();
    this.#state = "restoring";
    return openParts(this.context, this.env, this.identity_id, null);
  }

  #retire(): void {
    if (typeof this.#state === "string") return;
    this.#state.archiver.retire();
    this.#state.old_rows.retire();
  }

  /** Opens all parts again, after their tables were replaced. `alarm_at_ms`: the alarm in storage; null: none. */
  reopen(alarm_at_ms: number | null): void {
    this.#retire();
    this.#open(alarm_at_ms);
  }

  get isDeleted(): boolean {
    return this.parts?.erasure.has_begun ?? false;
  }

  /**
   * The parts of an account that the read model should have. Null if the account was never opened, or if it was
   * deleted: then its erasure sends the rest.
   */
  get readModelParts(): AccountParts | null {
    const has_account = !this.isDeleted && (this.parts?.store.readAccount() ?? null) !== null;
    return has_account ? this.parts : null;
  }

  /** Runs an operation in one transaction, if the caller may do what is `wanted`. */
  transact<Value>(
    caller: Caller,
    wanted: Wanted,
    operation: (transaction: Transaction) => Answer<Value>,
  ): Answer<Value> {
    if (this.parts === null && caller.kind === "app") return refused({ code: "account_unknown" });
    const parts = this.openParts();
    parts.after_commit.begin();
    const answer = transactFor(parts.transaction, caller, wanted, operation);
    parts.after_commit.run();
    void this.#followPlan(parts);
    return answer;
  }

  /** Fetches newer rules of the account's plan, which the schedule may not have brought yet. Never throws. */
  async #followPlan({ store }: AccountParts): Promise<void> {
    const version = readPlan(store)?.version ?? 0;
    if (version === 0) return;
    const plans = await planListOf(this.env.DIRECTORY).read();
    const id = store.readAccount()?.plan;
    const newest = plans?.find((plan) => plan.id === id && plan.version > version);
    if (newest === undefined) return;
    const { id: plan, ...rules } = newest;
    try {
      this.transact(SERVICE, "write", (it) => updatePlan(it, { plan, rules }));
    } catch (error) {
      console.warn({ event: "plan_not_updated", ...reportError(error) });
    }
  }

  /** Runs an operation again once what it needs of the archive is back. @throws as {@link OldRows.recalling} */
  recalling<Value>(run: () => Value): Value | Promise<Awaited<Value>> {
    // Only an open account has rows in the archive, and newer data is refused by the operation itself.
    return typeof this.#state === "string" ? run() : this.#state.old_rows.recalling(run);
  }

  /** Does the alarm's work. */
  async runAlarm(): Promise<void> {
    if (this.#state === "newer_data") {
      // The build that wrote the data does the work when it is back.
      return this.context.storage.setAlarm(Date.now() + NEWER_DATA_ALARM_MS);
    }
    // An operator finishes the restore, which sets the next alarm.
    if (this.isRestoring) return;
    const parts = this.openParts();
    const { after_commit, alarm_round, archiver, database, erasure, old_rows } = parts;
    const { streams, webhooks } = parts;
    if (erasure.has_begun) return alarm_round.run([["erasure", () => erasure.step()]]);
    await alarm_round.run([
      ["expiry", () => this.expireJobs(parts)],
      ["projection", () => after_commit.deliver()],
      ["webhooks", () => webhooks.flush("all")],
      ["streams", () => streams.endExpired()],
      ["top-up", () => this.#chargeTopUp(parts)],
      ["archive", () => archiver.start()],
      ["old rows", () => old_rows.work()],
      // Last, because nobody waits for it.
      ["clean-up", () => deleteOldResponses(database, Date.now())],
    ]);
  }

  #chargeTopUp({ isRestoring, store, countFailedTopUp }: AccountParts): Promise<number | null> {
    return chargeDueTopUp({
      store,
      isRestoring,
      openCharges: this.#cardCharges,
      transact: (operation) => this.transact(SERVICE, "write", operation),
      countFailure: countFailedTopUp,
    });
  }

  /** Ends overdue jobs and arms the alarm for the next ones. */
  expireJobs({ store }: AccountParts): null {
    // The alarm has fired or was lost: the next expiry must be read again, so that the alarm is armed for it.
    store.deadlines.next_expiry.forget();
    this.transact(SERVICE, "read", (it) => {
      expireLeftJobs(it);
      return accepted(null);
    });
    return null;
  }
}
