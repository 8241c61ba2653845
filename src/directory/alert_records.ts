/** Which warnings operators were sent, so that each change is sent once. */

export interface AlertRecord {
  readonly name: string;
  readonly sent_at_ms: number;
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
        .prepare("select name, sent_at_ms from alerts")
        .all<AlertRecord & Record<string, unknown>>();
      return results;
    },
    async replace(records) {
      await database.batch([
        database.prepare("delete from alerts"),
        database
          .prepare(
            `insert into alerts (name, sent_at_ms)
             select value ->> '$.name', value ->> '$.sent_at_ms' from json_each(?1)`,
          )
          .bind(JSON.stringify(records)),
      ]);
    },
  };
}
