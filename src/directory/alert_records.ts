/** Which warnings operators were sent, so that a message says what the one before did not. */

export interface AlertRecord {
  readonly name: string;
  readonly sent_at_ms: number;
  /** The figure's value in that message; null: it was unknown. */
  readonly value: number | null;
}

export interface AlertRecords {
  /** The warnings that were sent and have not ended. @throws if D1 cannot be reached. */
  list(): Promise<readonly AlertRecord[]>;
  /** Replaces them. @throws if D1 cannot be reached. */
  replace(records: readonly AlertRecord[]): Promise<void>;
}

export function createAlertRecords(database: D1Database): AlertRecords {
  return {
    async list() {
      const { results } = await database
        .prepare("select name, sent_at_ms, value from alerts")
        .all<AlertRecord & Record<string, unknown>>();
      return results;
    },
    async replace(records) {
      await database.batch([
        database.prepare("delete from alerts"),
        database
          .prepare(
            `insert into alerts (name, sent_at_ms, value)
             select value ->> '$.name', value ->> '$.sent_at_ms', value ->> '$.value' from json_each(?1)`,
          )
          .bind(JSON.stringify(records)),
      ]);
    },
  };
}
