/**
 * Upkeep of the read model: jobs older than the window leave it, and days that are past are closed. It
 * walks over the accounts by id, from where the last run stopped, so that no index is needed, which would
 * be a further written row for each job.
 */
import { DAY_MS, utcDayOf } from "../domain/day.ts";
import {
  TOTALS_CLOSE_AFTER_DAYS,
  UPKEEP_PORTION_ACCOUNTS,
  UPKEEP_PORTION_JOBS,
  UPKEEP_PORTIONS,
} from "../domain/limits.ts";
import { closeDays, type AccountRange } from "./totals.ts";

/** What a run did. */
export interface ReadModelUpkeep {
  readonly deleted_jobs: number;
  readonly portions: number;
  /** The walk came to its end; the next run begins anew. */
  readonly complete: boolean;
}

/** Ids are UUIDv7, so that they are ordered by time (RFC 9562, section 5.7). */
function firstIdOf(at_ms: number): string {
  const hex = Math.max(0, at_ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Each account's old jobs are one range of the key. Started ones stay until they end. */
const DELETE_JOBS = `delete from jobs where (account_id, id) in (
  select jobs.account_id, jobs.id from accounts
    cross join jobs on jobs.account_id = accounts.id and jobs.id < ?3
    where accounts.id > ?1 and accounts.id <= ?2 and jobs.status <> 'started'
    limit ${UPKEEP_PORTION_JOBS})`;

const SAVE_PLACE = `insert into upkeep (singleton, after_account_id) values (1, ?1)
  on conflict (singleton) do update set after_account_id = excluded.after_account_id`;

/**
 * Takes up the walk, at most {@link UPKEEP_PORTIONS} portions of it. `days`: how long a job stays after
 * its creation. Each portion is one transaction: a run that is cut off loses nothing, and counts nothing
 * twice.
 * @throws where D1 cannot be reached.
 */
export async function tidyReadModel(
  database: D1Database,
  days: number,
  now_ms: number,
): Promise<ReadModelUpkeep> {
  let after_id =
    (await database
      .prepare("select after_account_id from upkeep")
      .first<string>("after_account_id")) ?? "";
  let deleted_jobs = 0;
  for (let portions = 1; portions <= UPKEEP_PORTIONS; portions += 1) {
    const to_id = await lastIdOfPortion(database, after_id);
    if (to_id === null) {
      if (after_id !== "") await database.prepare(SAVE_PLACE).bind("").run();
      return { deleted_jobs, portions, complete: true };
    }
    const deleted = await tidyPortion(database, { after_id, to_id }, days, now_ms);
    deleted_jobs += deleted;
    // Where more are due the same accounts come again.
    if (deleted < UPKEEP_PORTION_JOBS) {
      after_id = to_id;
      await database.prepare(SAVE_PLACE).bind(after_id).run();
    }
  }
  return { deleted_jobs, portions: UPKEEP_PORTIONS, complete: false };
}

/** The last of the next accounts; null where there are none. */
async function lastIdOfPortion(database: D1Database, after_id: string): Promise<string | null> {
  const next = `select id from accounts where id > ?1 order by id limit ${UPKEEP_PORTION_ACCOUNTS}`;
  return database.prepare(`select max(id) as id from (${next})`).bind(after_id).first<string>("id");
}

async function tidyPortion(
  database: D1Database,
  range: AccountRange,
  days: number,
  now_ms: number,
): Promise<number> {
  const today = utcDayOf(now_ms);
  const before_id = firstIdOf(now_ms - days * DAY_MS);
  const results = await database.batch([
    database.prepare(DELETE_JOBS).bind(range.after_id, range.to_id, before_id),
    ...closeDays(database, range, today - TOTALS_CLOSE_AFTER_DAYS, today),
  ]);
  return results[0]?.meta.changes ?? 0;
}
