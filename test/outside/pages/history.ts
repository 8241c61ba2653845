/** Spreads the recent entries of a local account over the days before. */
import { globSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Moves an account's entries back in time, except the newest. The running object has its opening and its jobs
 * in memory or in their ids, so only the statement shows the history.
 */
export async function spreadOverDays(state: string, who: string, days = 26): Promise<void> {
  const users = globSync(join(state, "v3/d1/**/*.sqlite")).map((file) => new DatabaseSync(file));
  let identity_id: string | undefined;
  for (const database of users) {
    try {
      const row = database
        .prepare("select id from users where email = ?")
        .get(`${who}@example.com`);
      if (row !== undefined) identity_id = String(row["id"]);
    } catch {
      // This file is a different database.
    }
    database.close();
  }
  for (const file of globSync(join(state, "v3/do/**/*.sqlite"))) {
    const database = new DatabaseSync(file);
    try {
      const found = database.prepare("select identity_id from account").get();
      if (found?.["identity_id"] !== identity_id) continue;
      const lines = database.prepare("select line from entries order by line").all();
      const shift = database.prepare("update entries set at_ms = at_ms - ? where line = ?");
      lines.forEach(({ line }, index) => {
        const part = 1 - index / Math.max(1, lines.length - 1);
        const back_ms = Math.round(part ** 1.3 * days * DAY_MS);
        shift.run(back_ms, Number(line));
      });
    } catch {
      // This file is the storage of a different object.
    } finally {
      database.close();
    }
  }
}
