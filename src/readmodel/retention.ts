/**
 * Upkeep of the read model: jobs and active days older than the window leave it. It walks over the accounts by
 * id, from where the last run stopped, so that no index is needed, which would be a further written row for
 * each job.
 */
import { DAY_MS, utcDayOf } from "../domain/calendar.ts";
import { UPKEEP_PORTIONS } from "../domain/limits.ts";

/** Accounts in one portion of the read model's maintenance, and jobs or daily totals that one query deletes. */
export const UPKEEP_PORTION_ACCOUNTS = 500;
export const UPKEEP_PORTION_ROWS = 2_000;

/** What a run did. */
export interface ReadModelUpkeep {
  readonly deleted_jobs: number;
  readonly portions: number;
  /** The walk came to its end; the next run starts from the first account. */
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
    limit ${UPKEEP_PORTION_ROWS})`;

/** Entries of such a day that arrive later would count their account as active a second time. */
const DELETE_ACCOUNT_DAYS = `delete from account_days where (account_id, day, app_slug) in (
  select account_id, day, app_slug from accounts
    cross join account_days on account_id = accounts.id and day < ?3
    where accounts.id > ?1 and accounts.id <= ?2
    limit ${UPKEEP_PORTION_ROWS})`;

const MOVE_TO = `insert into upkeep (singleton, after_account_id) values (1, ?1)
  on conflict (singleton) do update set after_account_id = excluded.after_account_id`;

/**
 * Continues the walk, at most {@link UPKEEP_PORTIONS} portions of it. `days`: how long a job stays after its
 * creation. A run that is cut off, or runs at the same time as another, deletes some rows later.
 * @throws where D1 cannot be reached.
 */
export async function tidyReadModel(
  database: D1Database,
  days: number,
  now_ms: number,
): Promise<ReadModelUpkeep> {
  const before_id = firstIdOf(now_ms - days * DAY_MS);
  const before_day = utcDayOf(now_ms) - days;
  let deleted_jobs = 0;
  for (let portions = 1; portions <= UPKEEP_PORTIONS; portions += 1) {
    const { after_id, to_id } = await findPortion(database);
    if (to_id === null) {
      if (after_id !== "") await database.prepare(MOVE_TO).bind("").run();
      return { deleted_jobs, portions, complete: true };
    }
    const deleted = await database.batch([
      database.prepare(DELETE_JOBS).bind(after_id, to_id, before_id),
      database.prepare(DELETE_ACCOUNT_DAYS).bind(after_id, to_id, before_day),
    ]);
    deleted_jobs += deleted[0]?.meta.changes ?? 0;
    // Where more are due the same accounts come again.
    if (deleted.some(({ meta }) => meta.changes === UPKEEP_PORTION_ROWS)) continue;
    await database.prepare(MOVE_TO).bind(to_id).run();
  }
  return { deleted_jobs, portions: UPKEEP_PORTIONS, complete: false };
}

const FIND_PORTION = `select place.after_id, (select max(id) from (
    select id from accounts where id > place.after_id order by id limit ${UPKEEP_PORTION_ACCOUNTS}
  )) as to_id
  from (select coalesce(max(after_account_id), '') as after_id from upkeep) as place`;

/** The next accounts of the walk: where it stands, and the last of them; null: it is at its end. */
async function findPortion(
  database: D1Database,
): Promise<{ after_id: string; to_id: string | null }> {
  const found = await database
    .prepare(FIND_PORTION)
    .first<{ after_id: string; to_id: string | null }>();
  return found ?? { after_id: "", to_id: null };
}
