/** What one account's object consists of, once it has tables. */
import { drizzle } from "drizzle-orm/durable-sqlite";
import { failureCounterOf } from "../directory/failures.ts";
import { noWebhooks, webhookListOf } from "../directory/webhook_list.ts";
import { createProjector, noProjector } from "../readmodel/adapters.ts";
import { senderName } from "../webhooks/contract.ts";
import { CANARY_IDENTITY } from "./contract.ts";
import { Erasure } from "./deletion/erasure.ts";
import { Streams } from "./events/streams.ts";
import { Responses } from "./idempotency/responses.ts";
import { openJobLists, type JobLists } from "./jobs/lists.ts";
import { startedJobsOf } from "./ledger/started_jobs.ts";
import { openPurchaseStore, type PurchaseStore } from "./purchases/store.ts";
import { bringUpToDate } from "./sql/migrate.ts";
import { openApprovalStore } from "./sql/approval_store.ts";
import { openAllowanceStore, type AllowanceStore } from "./sql/allowance_store.ts";
import { openFamilyStore } from "./sql/family_store.ts";
import type { AccountDatabase } from "./sql/query.ts";
import { openStore, type Store } from "./sql/store.ts";
import { Alarm, AlarmRound } from "./sync/alarm.ts";
import { Delivery } from "./sync/delivery.ts";
import { Outbox } from "./sync/outbox.ts";
import { sizeReader, type TransactionParts } from "./transaction.ts";
import { Vault } from "./vault/vault.ts";
import { WebhookOutbox } from "./webhooks/outbox.ts";
import type { EventSources } from "./webhooks/pages.ts";
import { Refusals } from "./webhooks/refusals.ts";

export interface AccountParts {
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly allowances: AllowanceStore;
  readonly purchases: PurchaseStore;
  readonly responses: Responses;
  readonly listJobs: JobLists;
  readonly alarm: Alarm;
  readonly alarm_round: AlarmRound;
  readonly outbox: Outbox;
  readonly delivery: Delivery;
  readonly webhooks: WebhookOutbox;
  readonly event_sources: EventSources;
  readonly erasure: Erasure;
  readonly streams: Streams;
  /** Knows which renewals are under way, so there is one for the life of the instance. */
  readonly vault: Vault;
  /** For one transaction; `posted` is called for each entry that it adds. */
  readonly forTransaction: (posted: () => void) => TransactionParts;
}

/** Creates or migrates the tables, and opens all parts. `alarm_at_ms`: the alarm in storage; null: none. */
export function openParts(
  context: DurableObjectState,
  env: Env,
  identity_id: string,
  alarm_at_ms: number | null,
): AccountParts {
  const { storage } = context;
  const database = drizzle(storage);
  bringUpToDate(storage);
  const store = openStore(database);
  const allowances = openAllowanceStore(database);
  const families = openFamilyStore(database);
  const approvals = openApprovalStore(database);
  const alarm = new Alarm(storage, alarm_at_ms);
  const outbox = new Outbox(
    database,
    store,
    identity_id === CANARY_IDENTITY ? noProjector : createProjector(env),
    (failure) => failureCounterOf(env.DIRECTORY).count("failed_delivery", failure),
  );
  const hasStartedJobs = (): boolean => startedJobsOf(store.readNewestEntry()).open_jobs > 0;
  const event_sources = { database, store, refusals: new Refusals(database) };
  const webhooks = new WebhookOutbox(
    {
      ...event_sources,
      list: identity_id === CANARY_IDENTITY ? noWebhooks : webhookListOf(env.DIRECTORY),
      senderOf: ({ uid }) => env.WEBHOOK_SENDER.getByName(senderName(uid, identity_id)),
    },
    alarm_at_ms !== null,
  );
  const delivery = new Delivery(alarm, outbox, webhooks, hasStartedJobs);
  const noteRefusal = (app_slug: string, at_ms: number): void => {
    if (webhooks.noteRefusal(app_slug, at_ms)) delivery.owe(at_ms);
  };
  const credentials = { allowances, families, approvals };
  const size_bytes = sizeReader(storage.sql);
  const of_account = { storage, size_bytes, store, identity_id };
  const shared = { ...of_account, ...credentials, alarm, delivery, noteRefusal };
  const forTransaction = (posted: () => void): TransactionParts => ({ ...shared, posted });
  const transaction = (): TransactionParts => forTransaction(() => undefined);
  const purchases = openPurchaseStore(database);
  const erasure = new Erasure({ database, store, purchases, outbox, webhooks, transaction });
  return {
    database,
    store,
    allowances,
    purchases,
    responses: new Responses(database),
    listJobs: openJobLists(database),
    alarm,
    alarm_round: new AlarmRound(alarm),
    outbox,
    delivery,
    webhooks,
    event_sources,
    erasure,
    streams: new Streams({ context, store, ...credentials }),
    vault: new Vault(database, identity_id, () => erasure.has_begun),
    forTransaction,
  };
}
