/**
 * Maintenance of the read model: deletes jobs and daily activity older than the window. It goes through the
 * accounts by id and continues where the last run stopped. It needs no index, which would cost one more written
 * row per job.
 */
import { DAY_MS, firstIdOf, utcDayOf } from "../domain/calendar.ts";
import { UPKEEP_PORTIONS } from "../domain/limits.ts";
import { DELETE_MARKS, firstMarkedDay } from "./today.ts";

/** Accounts in one portion of the read model's maintenance, and jobs or daily totals that one query deletes. */
export const UPKEEP_PORTION_ACCOUNTS = 500;
export const UPKEEP_PORTION_ROWS = 2_000;

interface ReadModelUpkeep {
  readonly deleted_jobs: number;
  readonly portions: number;
  /** All accounts were visited; the next run starts with the first one. */
  readonly complete: boolean;
}

/** An account's old jobs are one range of the primary key. Started jobs stay until they end. */
const DELETE_JOBS = `delete from jobs where (account_id, id) in (
  select jobs.account_id, jobs.id from accounts
    cross join jobs on jobs.account_id = accounts.id and jobs.id < ?3
    where accounts.id > ?1 and accounts.id <= ?2 and jobs.status <> 'started'
    limit ${UPKEEP_PORTION_ROWS})`;

/** If an entry of a deleted day arrives later, its account counts as active a second time. */
const DELETE_ACCOUNT_DAYS = `delete from account_days where (account_id, day, app_slug) in (
  select account_id, day, app_slug from accounts
    cross join account_days on account_id = accounts.id and day < ?3
    where accounts.id > ?1 and accounts.id <= ?2
    limit ${UPKEEP_PORTION_ROWS})`;

const MOVE_TO = `insert into upkeep (singleton, after_account_id) values (1, ?1)
  on conflict (singleton) do update set after_account_id = excluded.after_account_id`;

/**
 * Continues with at most {@link UPKEEP_PORTIONS} portions. `days`: how long a job stays after its creation. A
 * run that is interrupted, or concurrent with another, deletes some rows later.
 * @throws if D1 cannot be reached.
 */
export async function cleanReadModel(
  database: D1Database,
  days: number,
  now_ms: number,
): Promise<ReadModelUpkeep> {
  const before_id = firstIdOf(now_ms - days * DAY_MS);
  const before_day = utcDayOf(now_ms) - days;
  await database.prepare(DELETE_MARKS).bind(firstMarkedDay(now_ms)).run();
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
    // If more rows are due, the next portion has the same accounts.
    if (deleted.some(({ meta }) => meta.changes === UPKEEP_PORTION_ROWS)) continue;
    await database.prepare(MOVE_TO).bind(to_id).run();
  }
  return { deleted_jobs, portions: UPKEEP_PORTIONS, complete: false };
}

const FIND_PORTION = `select position.after_id, (select max(id) from (
    select id from accounts where id > position.after_id order by id limit ${UPKEEP_PORTION_ACCOUNTS}
  )) as to_id
  from (select coalesce(max(after_account_id), '') as after_id from upkeep) as position`;

/** The range of the next accounts: after `after_id`, up to `to_id`; null: there are no more. */
async function findPortion(
  database: D1Database,
): Promise<{ after_id: string; to_id: string | null }> {
  const found = await database
    .prepare(FIND_PORTION)
    .first<{ after_id: string; to_id: string | null }>();
  return found ?? { after_id: "", to_id: null };
}
