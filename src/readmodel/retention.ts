/**
 * Maintenance of the read model, in portions: deletes jobs and daily activity older than the window, and jobs whose account
 * was deleted. The walks through jobs continue where the last run stopped.
 */
import { DAY_MS, END_OF_IDS, firstIdOf, utcDayOf } from "../domain/calendar.ts";
import { UPKEEP_PORTIONS } from "../domain/limits.ts";
import { readPosition, savePosition } from "./positions.ts";
import { DELETE_MARKS, firstMarkedDay } from "./today.ts";

/** Jobs that one portion of a walk looks at, and rows that a query without a walk deletes. */
export const UPKEEP_PORTION_JOBS = 3_000;
export const UPKEEP_PORTION_ROWS = 2_000;

interface ReadModelUpkeep {
  readonly deleted_jobs: number;
  readonly portions: number;
  /** All old jobs were visited; the next run starts with the first one. */
  readonly complete: boolean;
}

const PORTION = `select id, status, account_id from jobs
  where id > ?1 and id < ?2 order by id limit ${UPKEEP_PORTION_JOBS}`;

/** Started jobs stay until they end. */
const DELETE_OLD_JOBS = `delete from jobs where id in (select id from (${PORTION})
  where status <> 'started')`;

const DELETE_LEFT_JOBS = `delete from jobs where id in (select id from (${PORTION}) as looked_at
  where not exists (select 1 from accounts where accounts.id = looked_at.account_id))`;

/** Null: the portion is the last one. */
const END_OF_PORTION = `select id from jobs where id > ?1 and id < ?2
  order by id limit 1 offset ${UPKEEP_PORTION_JOBS - 1}`;

/** If an entry of a deleted day arrives later, its account counts as active a second time. */
const DELETE_ACCOUNT_DAYS = `delete from account_days where (account_id, day, app_slug) in (
  select account_id, day, app_slug from account_days where day < ?1
    order by day limit ${UPKEEP_PORTION_ROWS})`;

/**
 * Continues with at most {@link UPKEEP_PORTIONS} portions of each kind. `days`: how long a job stays after its creation. A
 * run that is interrupted, or concurrent with another, deletes some rows later.
 * @throws if D1 cannot be reached.
 */
export async function cleanReadModel(
  database: D1Database,
  days: number,
  now_ms: number,
): Promise<ReadModelUpkeep> {
  await database.prepare(DELETE_MARKS).bind(firstMarkedDay(now_ms)).run();
  await deleteAccountDays(database, utcDayOf(now_ms) - days);
  const before_id = firstIdOf(now_ms - days * DAY_MS);
  const old_jobs = { name: "old_jobs", query: DELETE_OLD_JOBS, before_id };
  return walkJobs(database, old_jobs);
}

/** Deletes the jobs of deleted accounts, which no list shows any more. @throws if D1 cannot be reached. */
export function deleteLeftJobs(database: D1Database): Promise<ReadModelUpkeep> {
  return walkJobs(database, {
    name: "left_jobs",
    query: DELETE_LEFT_JOBS,
    before_id: END_OF_IDS,
  });
}

async function deleteAccountDays(database: D1Database, before_day: number): Promise<void> {
  for (let portions = 0; portions < UPKEEP_PORTIONS; portions += 1) {
    const { meta } = await database.prepare(DELETE_ACCOUNT_DAYS).bind(before_day).run();
    if (meta.changes < UPKEEP_PORTION_ROWS) return;
  }
}

interface Walk {
  readonly name: string;
  /** Deletes among the jobs of a portion. */
  readonly query: string;
  readonly before_id: string;
}

async function walkJobs(
  database: D1Database,
  { name, query, before_id }: Walk,
): Promise<ReadModelUpkeep> {
  let deleted_jobs = 0;
  const { after_id: began_after_id } = await readPosition(database, name);
  let after_id = began_after_id;
  for (let portions = 1; portions <= UPKEEP_PORTIONS; portions += 1) {
    const [end, deleted] = await database.batch<{ readonly id: string }>([
      database.prepare(END_OF_PORTION).bind(after_id, before_id),
      database.prepare(query).bind(after_id, before_id),
    ]);
    deleted_jobs += deleted?.meta.changes ?? 0;
    const to_id = end?.results[0]?.id;
    if (to_id === undefined) {
      if (began_after_id !== "") await savePosition(database, name, { after_id: "" });
      return { deleted_jobs, portions, complete: true };
    }
    after_id = to_id;
  }
  await savePosition(database, name, { after_id });
  return { deleted_jobs, portions: UPKEEP_PORTIONS, complete: false };
}
