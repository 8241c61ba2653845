/** The warnings that operators were sent, so that a message says only what the one before did not. */

interface AlertRecord {
  readonly name: string;
  readonly sent_at_ms: number;
  /** The figure's value in that message; null: it was unknown. */
  readonly value: number | null;
}

export function createAlertRecords(database: D1Database) {
  return {
    /** The warnings that were sent and have not ended. @throws if D1 cannot be reached. */
    async list(): Promise<readonly AlertRecord[]> {
      const { results } = await database
        .prepare("select name, sent_at_ms, value from alerts")
        .all<AlertRecord & Record<string, unknown>>();
      return results;
    },
    /** Replaces those of these figures. @throws if D1 cannot be reached. */
    async replace(names: readonly string[], records: readonly AlertRecord[]): Promise<void> {
      await database.batch([
        database
          .prepare("delete from alerts where name in (select value from json_each(?1))")
          .bind(JSON.stringify(names)),
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
