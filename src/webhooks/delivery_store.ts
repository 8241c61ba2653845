/** The deliveries of one webhook that wait: the table of its WebhookDeliveries object. */
import type { DeliveryPageRequest, ListedDelivery } from "./deliveries_contract.ts";

const COLUMNS =
  "identity_id, event_id, type, line, attempts, status, reason, at_ms, retry_at_ms" as const;

/** Deliveries that one page of those with one status looks at. */
const DELIVERIES_LOOKED_AT = 3_000;

const AFTER = "where identity_id > ? order by identity_id";

type Row = ListedDelivery & Record<string, SqlStorageValue>;

/** Each account has at most one delivery here, because a sender delivers in order. */
export class DeliveryStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`create table if not exists deliveries (
      identity_id text primary key, event_id text not null, type text not null, line integer not null,
      attempts integer not null, status text not null, reason text, at_ms integer not null, retry_at_ms integer
    ) without rowid`);
    sql.exec("create index if not exists deliveries_retry_at_ms on deliveries (retry_at_ms)");
    sql.exec("create index if not exists deliveries_at_ms on deliveries (at_ms)");
  }

  save(delivery: ListedDelivery): void {
    const { identity_id, event_id, type, line, attempts, status, reason, at_ms, retry_at_ms } =
      delivery;
    this.#sql.exec(
      `insert or replace into deliveries (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      identity_id,
      event_id,
      type,
      line,
      attempts,
      status,
      reason,
      at_ms,
      retry_at_ms,
    );
  }

  drop(identity_id: string): void {
    this.#sql.exec("delete from deliveries where identity_id = ?", identity_id);
  }

  /** As {@link drop}, unless the sender has saved another attempt meanwhile. */
  dropUnchanged({ identity_id, at_ms }: Pick<ListedDelivery, "identity_id" | "at_ms">): void {
    const same = "identity_id = ? and at_ms = ?";
    this.#sql.exec(`delete from deliveries where ${same}`, identity_id, at_ms);
  }

  /** By identity. Of one status, it looks at {@link DELIVERIES_LOOKED_AT}, so a page may be short. */
  list({ status, after_identity_id, limit }: DeliveryPageRequest): readonly ListedDelivery[] {
    if (status === null) return this.#all(`${AFTER} limit ? + 0`, after_identity_id, limit);
    const looked_at = `select identity_id from deliveries ${AFTER} limit ${DELIVERIES_LOOKED_AT}`;
    return this.#all(
      `where identity_id in (${looked_at}) and status = ? order by identity_id limit ? + 0`,
      after_identity_id,
      status,
      limit,
    );
  }

  /** The last delivery that a page of one status looks at; null: there are no more. */
  lastLookedAt({ status, after_identity_id }: DeliveryPageRequest): string | null {
    if (status === null) return null;
    const last = `${AFTER} limit 1 offset ${DELIVERIES_LOOKED_AT - 1}`;
    return this.#all(last, after_identity_id)[0]?.identity_id ?? null;
  }

  /** Deliveries whose retry was due before this time, the oldest first. */
  listDueBefore(before_ms: number, limit: number): readonly ListedDelivery[] {
    return this.#all("where retry_at_ms < ? order by retry_at_ms limit ? + 0", before_ms, limit);
  }

  /** Deletes at most `limit` deliveries that were tried last before this time. */
  deleteOlder(before_ms: number, limit: number): void {
    this.#sql.exec(
      `delete from deliveries where identity_id in
         (select identity_id from deliveries where at_ms < ? order by at_ms limit ? + 0)`,
      before_ms,
      limit,
    );
  }

  get isEmpty(): boolean {
    return this.#all("limit 1").length === 0;
  }

  #all(clauses: string, ...parameters: SqlStorageValue[]): ListedDelivery[] {
    return this.#sql
      .exec<Row>(`select ${COLUMNS} from deliveries ${clauses}`, ...parameters)
      .toArray();
  }
}
