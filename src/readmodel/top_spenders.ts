/** The accounts that spend most in each app: lists that the schedule writes, because each delivery changes their order. */
import { beginningOf, DAY_MS, END_OF_IDS, firstIdOf } from "../domain/calendar.ts";

/** Jobs that one query adds up, which grouping reads twice, and queries of one run: the newest 45,000 jobs of the last 24 hours. */
const JOBS_ADDED_UP = 4_500;
const PORTIONS = 10;

/** Accounts of one app: enough to see who causes a burst. */
const TOP_MAX = 10;

/** What jobs cost so far, without what was given back, and what started ones hold. */
interface SpentOnJobs {
  readonly spent: number;
  readonly held: number;
  readonly jobs: number;
  readonly failed: number;
}

export type SpendingAccount = SpentOnJobs & { readonly identity_id: string };

/** `from_ms`: when the oldest job that was added up began. In milliseconds since the epoch. */
export interface TopAccounts {
  readonly from_ms: number;
  readonly as_of_ms: number;
  readonly accounts: readonly SpendingAccount[];
}

type Added = SpentOnJobs & { readonly app_slug: string | null; readonly account_id: string };

const ADD_UP = `select app_slug, account_id, sum(actual_cost - refunded) as spent,
    sum(iif(status = 'started', reserved, 0)) as held, count(*) as jobs,
    sum(status = 'failed') as failed, min(id) as first_id
  from (select * from jobs where id >= ?1 and id < ?2 order by id desc limit ${JOBS_ADDED_UP})
  group by app_slug, account_id`;

const IDENTITIES = `select id, identity_id from accounts
  where id in (select value from json_each(?1))`;

const NAMES = "spenders:";

/** Replaces the list of each app. */
export async function listTopSpenders(
  database: D1Database,
  now_ms: number,
): Promise<{ readonly apps: number }> {
  let from_ms = now_ms - DAY_MS;
  const from_id = firstIdOf(from_ms);
  const sums = new Map<string, Added>();
  let before_id = END_OF_IDS;
  for (let portion = 1; portion <= PORTIONS; portion += 1) {
    const { results } = await database
      .prepare(ADD_UP)
      .bind(from_id, before_id)
      .all<Added & { readonly first_id: string }>();
    for (const { first_id, ...row } of results) {
      if (first_id < before_id) before_id = first_id;
      add(sums, row);
    }
    const looked_at = results.reduce((jobs, row) => jobs + row.jobs, 0);
    if (looked_at < JOBS_ADDED_UP) break;
    if (portion === PORTIONS) from_ms = beginningOf(before_id) ?? from_ms;
  }
  const of_apps = Map.groupBy(sums.values(), ({ app_slug }) => app_slug ?? "");
  of_apps.delete("");
  const tops = [...of_apps].map(([app_slug, added]) => ({ app_slug, top: topOf(added) }));
  const identities = await identitiesOf(
    database,
    tops.flatMap(({ top }) => top),
  );
  const write = database.prepare("insert into lists values (?1, ?2, ?3, ?4)");
  await database.batch([
    database
      .prepare("delete from lists where name >= ?1 and name < ?2")
      .bind(NAMES, NAMES + END_OF_IDS),
    ...tops.map(({ app_slug, top }) => {
      const accounts = top.flatMap(({ account_id, spent, held, jobs, failed }) => {
        const identity_id = identities.get(account_id);
        return identity_id === undefined ? [] : [{ identity_id, spent, held, jobs, failed }];
      });
      return write.bind(NAMES + app_slug, from_ms, now_ms, JSON.stringify(accounts));
    }),
  ]);
  return { apps: tops.length };
}

function add(sums: Map<string, Added>, row: Added): void {
  // An app can have the slug "null".
  const key = JSON.stringify([row.app_slug, row.account_id]);
  const { spent = 0, held = 0, jobs = 0, failed = 0 } = sums.get(key) ?? {};
  sums.set(key, {
    ...row,
    spent: spent + row.spent,
    held: held + row.held,
    jobs: jobs + row.jobs,
    failed: failed + row.failed,
  });
}

const topOf = (added: readonly Added[]): readonly Added[] =>
  added.toSorted((one, other) => other.spent + other.held - one.spent - one.held).slice(0, TOP_MAX);

async function identitiesOf(
  database: D1Database,
  accounts: readonly Added[],
): Promise<ReadonlyMap<string, string>> {
  const ids = JSON.stringify([...new Set(accounts.map(({ account_id }) => account_id))]);
  const { results } = await database
    .prepare(IDENTITIES)
    .bind(ids)
    .all<{ id: string; identity_id: string }>();
  return new Map(results.map(({ id, identity_id }) => [id, identity_id]));
}

/** Null: no job of the app began in that time, or the schedule has not run yet. */
export async function readTopSpenders(
  database: D1Database,
  app_slug: string,
): Promise<TopAccounts | null> {
  const row = await database
    .prepare("select from_ms, as_of_ms, rows_json from lists where name = ?1")
    .bind(NAMES + app_slug)
    .first<{ from_ms: number; as_of_ms: number; rows_json: string }>();
  if (row === null) return null;
  const { rows_json, ...when } = row;
  return { ...when, accounts: JSON.parse(rows_json) as readonly SpendingAccount[] };
}
