/** The parts of an account's object, once it has tables. */
import { archiveMaxAge, createArchiveStore } from "../archive/r2_store.ts";
import type { ArchiveStore } from "../archive/store.ts";
import { failureCounterOf } from "../directory/failures.ts";
import { noWebhooks, webhookListOf } from "../directory/webhook_list.ts";
import { createProjector, noProjector } from "../readmodel/adapters.ts";
import type { Projector } from "../readmodel/projector.ts";
import { senderName } from "../webhooks/sender_contract.ts";
import { AfterCommit } from "./after_commit.ts";
import { undoneKey } from "../domain/archive_segment.ts";
import { STORAGE_HALF_PERCENT } from "../domain/limits.ts";
import { CANARY_IDENTITY } from "./contract.ts";
import { Erasure } from "./deletion/erasure.ts";
import { Streams } from "./events/streams.ts";
import { startedJobsOf } from "./ledger/started_jobs.ts";
import { bringUpToDate } from "./sql/migrate.ts";
import { ApprovalStore } from "./sql/approval_store.ts";
import { AllowanceStore } from "./sql/allowance_store.ts";
import { AccountDatabase } from "./sql/database.ts";
import { FamilyStore } from "./sql/family_store.ts";
import { PurchaseStore } from "./sql/purchase_store.ts";
import { Store } from "./sql/store.ts";
import { Alarm, AlarmRound } from "./sync/alarm.ts";
import { Archiver } from "./sync/archiver.ts";
import { leavingAge, OldRows, storageBytes } from "./sync/old_rows.ts";
import { Outbox } from "./sync/outbox.ts";
import { sizeReader, type TransactionParts } from "./transaction.ts";
import { Vault } from "./vault/vault.ts";
import { WebhookOutbox } from "./webhooks/outbox.ts";
import type { EventSources } from "./webhooks/pages.ts";
import { UnnumberedEvents } from "./webhooks/unnumbered_events.ts";

export interface AccountParts {
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly purchases: PurchaseStore;
  readonly alarm: Alarm;
  readonly alarm_round: AlarmRound;
  readonly outbox: Outbox;
  readonly archiver: Archiver;
  readonly old_rows: OldRows;
  /** Copies of the account. */
  readonly copies: { readonly archive: ArchiveStore | null; readonly projector: Projector };
  /**
   * Whether a restore of the account is not finished, so that its storage may be that of the earlier time. What follows from it
   * outside, such as a segment or a charge, may have happened already. @throws if the archive cannot be reached
   */
  readonly isRestoring: () => Promise<boolean>;
  readonly after_commit: AfterCommit;
  readonly webhooks: WebhookOutbox;
  readonly event_sources: EventSources;
  readonly countFailedTopUp: (reason: string) => void;
  readonly erasure: Erasure;
  readonly streams: Streams;
  /** Knows which renewals are under way, so there is one for the life of the instance. */
  readonly vault: Vault;
  readonly transaction: TransactionParts;
}

/** Creates or migrates the tables, and opens all parts. `alarm_at_ms`: the alarm in storage; null: none. */
export function openParts(
  context: DurableObjectState,
  env: Env,
  identity_id: string,
  alarm_at_ms: number | null,
): AccountParts {
  const { storage } = context;
  bringUpToDate(storage);
  const database = new AccountDatabase(storage.sql);
  const store = new Store(database);
  const allowances = new AllowanceStore(database);
  const families = new FamilyStore(database);
  const approvals = new ApprovalStore(database);
  const purchases = new PurchaseStore(database);
  const alarm = new Alarm(storage, alarm_at_ms);
  const is_canary = identity_id === CANARY_IDENTITY;
  const size = { size_bytes: sizeReader(storage.sql), storage_bytes: storageBytes(env) };
  const kept = { storage, database, store, alarm, ...size };
  const { outbox, archiver, ...copies } = openCopies(env, is_canary, kept);
  const hasStartedJobs = (): boolean => startedJobsOf(store.readNewestEntry()).open_jobs > 0;
  const event_sources = { database, store, unnumbered: new UnnumberedEvents(database) };
  const webhooks = new WebhookOutbox(
    {
      ...event_sources,
      list: is_canary ? noWebhooks : webhookListOf(env.DIRECTORY),
      senderOf: ({ uid }) => env.WEBHOOK_SENDER.getByName(senderName(uid, identity_id)),
    },
    alarm_at_ms !== null,
  );
  const streams = new Streams({ context, store, allowances, families });
  const of_account = { identity_id, storage, ...size, alarm };
  const stores = { database, store, allowances, families, approvals, purchases };
  // The erasure runs transactions, and follows them.
  const transaction = (): TransactionParts => ({
    ...of_account,
    ...stores,
    announce: after_commit,
  });
  const erasure = new Erasure({
    database,
    store,
    purchases,
    outbox,
    archiver,
    webhooks,
    transaction,
  });
  const followers = { alarm, streams, outbox, webhooks, erasure };
  const after_commit = new AfterCommit(followers, hasStartedJobs);
  return {
    ...followers,
    database,
    store,
    purchases,
    archiver,
    ...copies,
    after_commit,
    alarm_round: new AlarmRound(alarm),
    event_sources,
    countFailedTopUp: (reason) =>
      context.waitUntil(failureCounterOf(env.DIRECTORY).count("failed_top_up", { reason })),
    vault: new Vault(database, identity_id, () => erasure.has_begun),
    transaction: transaction(),
  };
}

/** The parts that keep the copies of an account. The canary has none. */
function openCopies(
  env: Env,
  is_canary: boolean,
  parts: Pick<AccountParts, "database" | "store" | "alarm"> &
    Pick<TransactionParts, "storage" | "size_bytes" | "storage_bytes">,
) {
  const { database, store } = parts;
  const failures = failureCounterOf(env.DIRECTORY);
  const projector = is_canary ? noProjector : createProjector(env);
  const archive = is_canary ? null : createArchiveStore(env);
  const isRestoring = async (): Promise<boolean> => {
    const key = undoneKey(store.readAccount()?.id ?? "");
    return archive !== null && (await archive.read(key)) !== null;
  };
  const archiver: Archiver = new Archiver({
    ...parts,
    archive,
    isRestoring,
    checkFormer: (account) => outbox.checkFormer(account),
    settled: () => old_rows.settled(),
    storagePercent: () => {
      const percent = Math.floor((parts.size_bytes() / parts.storage_bytes) * 100);
      return percent < STORAGE_HALF_PERCENT ? null : percent;
    },
    max_age_ms: archiveMaxAge(env),
    note: (segment) => projector.noteArchive(segment),
    countFailure: (failure) => failures.count("failed_archive", failure),
  });
  const old_rows = new OldRows({
    ...parts,
    archive,
    archiver,
    age_ms: leavingAge(env),
    countFailure: (failure) => failures.count("failed_archive", failure),
  });
  const outbox: Outbox = new Outbox(database, store, {
    projector,
    recalling: async (work) => old_rows.recalling(work),
    isRestoring,
    forgetArchive: (account_id) => archiver.forget(account_id),
    countFailure: (failure) => failures.count("failed_delivery", failure),
  });
  return { copies: { archive, projector }, isRestoring, outbox, archiver, old_rows };
}
