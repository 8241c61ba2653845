/**
 * Erasing a deleted account. The alarm repeats the steps until all are done:
 *
 * `closing`: started jobs expire, and the read model receives every entry, so that the daily totals, which contain no
 * personal data, stay exact. The senders of webhooks read the last events, and get `account.deleted`.
 * `wiping`: rows are deleted in portions, the ledger last. Then the account's own row is cleared; it stays as the
 * tombstone. The debts that the account took over stay too, and keyed hashes of its payments with what they may still lose.
 * `forgetting`: the read model deletes the account, and accepts nothing of it any more. Then the archive deletes its segments.
 * `done`.
 *
 * Each step may be interrupted and repeated.
 */
import { backOff } from "../../domain/back_off.ts";
import type { Alarm } from "../sync/alarm.ts";
import type { Archiver } from "../sync/archiver.ts";
import type { Outbox } from "../sync/outbox.ts";
import type { WebhookOutbox } from "../webhooks/outbox.ts";
import type { AccountDatabase, TableName } from "../sql/database.ts";
import type { AccountRow } from "../sql/schema.ts";
import type { Store } from "../sql/store.ts";
import { transact, type TransactionParts } from "../transaction.ts";
import { expireStartedJobs } from "../jobs/expiry.ts";
import { hashesOf, idsOfPayments, keepPayments } from "../purchases/kept_payments.ts";
import type { PurchaseStore } from "../sql/purchase_store.ts";

/** Rows of a deleted account that one query deletes, and queries of one alarm: the largest account takes some hundred alarms. */
const ERASURE_PORTION_ROWS = 2_000;
const ERASURE_PORTIONS = 20;

/**
 * How long a deleted account keeps its last entries for a read model that is down, or for receivers of webhooks; then
 * they are deleted undelivered.
 */
export const ERASURE_DELIVERY_MAX_MS = 24 * 60 * 60 * 1000;

/**
 * Tables that stay. `data_format` belongs to the tables, not to the person. The directory may still list the debts as
 * owed, until D1 has deleted the person.
 */
type Kept = "account" | "data_format" | "debts" | "kept_payments";

/** The keys of all other tables. The ledger is deleted last, because its entries say what the rest was. */
const KEYS: Readonly<Record<Exclude<TableName, Kept>, string>> = {
  allowances: "id",
  apps: "slug",
  archive: "singleton",
  approvals: "id",
  balance_forward: "singleton",
  base_payments: "before_credits, number",
  cap_claims: "claimed_until_ms, job_id",
  codes: "code_hash",
  idempotency_keys: "day, caller, endpoint, key",
  jobs: "id",
  left_jobs: "last_id",
  left_segments: "first",
  long_jobs: "expires_at_ms, job_id",
  lots: "id",
  read_model_behind: "singleton",
  purchase_entries: "line",
  purchase_reversals: "payment_intent_id, source_id",
  purchases: "checkout_session_id",
  stuck_jobs: "job_id",
  token_families: "id",
  top_up: "singleton",
  top_up_setup: "singleton",
  top_ups: "number",
  unnumbered_events: "id",
  upstream_tokens: "provider",
  upstream_unlinks: "provider",
  entries: "line",
};

/** Clears the account's row, except that it was deleted and its id, which D1 still has to forget. */
const TOMBSTONE = {
  identity_id: "",
  plan: "",
  created_at_ms: 0,
  suspended_public_reason: null,
  returned: false,
};

interface ErasureParts {
  readonly database: AccountDatabase;
  readonly store: Store;
  readonly purchases: PurchaseStore;
  readonly outbox: Outbox;
  readonly archiver: Archiver;
  readonly webhooks: WebhookOutbox;
  /** For each transaction of the erasure. */
  readonly transaction: () => TransactionParts;
}

export class Erasure {
  readonly #parts: ErasureParts;
  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /** Whether the account is deleted. */
  get has_begun(): boolean {
    return (this.#parts.store.readAccount()?.deleted_at_ms ?? null) !== null;
  }

  /** Arms the alarm if it was dropped before the erasure was done. */
  ensureAlarm(alarm: Alarm): void {
    if (alarm.armed_at_ms === null && this.#stage() !== "done") alarm.by(Date.now());
  }

  /**
   * Does a bounded part of the erasure.
   * @returns when to continue, in milliseconds since the epoch; null if the erasure is done.
   * @throws if the read model or the archive cannot be reached.
   */
  async step(): Promise<number | null> {
    const { store, outbox, archiver, purchases } = this.#parts;
    const account = store.readAccount();
    if (account === null || account.erasure === "done") return null;
    let { erasure } = account;
    if (erasure === "closing") {
      const again_at_ms = await this.#close(account);
      if (again_at_ms !== null) return again_at_ms;
      const hashOf = await hashesOf(account.id, idsOfPayments(purchases));
      keepPayments(purchases, hashOf);
      store.changeAccount({ erasure: "wiping" });
      erasure = "wiping";
    }
    if (erasure === "wiping") {
      if (!this.#wipe()) return Date.now();
      store.changeAccount({ ...TOMBSTONE, erasure: "forgetting" });
    }
    if (!(await outbox.forgetForGood(account.id))) return Date.now();
    if (!(await archiver.forget(account.id))) return Date.now();
    store.changeAccount({ erasure: "done" });
    return null;
  }

  /** @returns when to continue; null if the step is done. */
  async #close({ deleted_at_ms }: AccountRow): Promise<number | null> {
    const { transaction, outbox, webhooks } = this.#parts;
    if (transact(transaction(), expireStartedJobs)) return Date.now();
    const lasting_ms = Date.now() - (deleted_at_ms ?? 0);
    // Before D1, which may be down. A sender that has the last event delivers it without this account.
    const is_sent = await webhooks.close(deleted_at_ms ?? 0);
    // An unreachable read model or receiver must not keep a person's rows here. It then lacks the last entries.
    if (lasting_ms >= ERASURE_DELIVERY_MAX_MS) return null;
    outbox.forgetKnown();
    // After a long outage, the account would wait for hours before its next delivery. A deletion does not.
    const again_at_ms = Date.now() + backOff(lasting_ms, Math.random());
    const retry_at_ms = await outbox.flush();
    if (retry_at_ms !== null) return Math.min(retry_at_ms, again_at_ms);
    // Entries may still be in the queue, or lost there.
    const is_done = is_sent && (await outbox.isDelivered());
    return is_done ? null : again_at_ms;
  }

  /** Deletes a portion of the rows. @returns whether none is left. */
  #wipe(): boolean {
    const { database, store } = this.#parts;
    const tables = Object.entries(KEYS);
    for (let left = ERASURE_PORTIONS; left > 0; left -= 1) {
      const filled = tables.find(
        ([table]) => database.first(`select 1 from ${table} limit 1`) !== null,
      );
      if (filled === undefined) return true;
      const [table, key] = filled;
      const portion = `select ${key} from ${table} limit ${ERASURE_PORTION_ROWS}`;
      database.run(`delete from ${table} where (${key}) in (${portion})`);
      store.forget();
    }
    return false;
  }

  #stage(): AccountRow["erasure"] {
    return this.#parts.store.readAccount()?.erasure ?? null;
  }
}
