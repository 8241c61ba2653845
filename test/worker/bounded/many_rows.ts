/** Fills the databases with many accounts, jobs and acts, by SQL, because their origin does not matter. */
import { env } from "cloudflare:workers";
import { DAY_MS, utcDayOf } from "../../../src/domain/calendar.ts";

export interface Size {
  readonly accounts: number;
  readonly jobs: number;
  readonly acts: number;
}

/** Rows that one query inserts. */
const PORTION = 100_000;

/** SQL of a UUIDv7 of a time, with `i` at its end. */
const idAt = (at_ms: string): string =>
  `substr(printf('%012x', ${at_ms}), 1, 8) || '-' || substr(printf('%012x', ${at_ms}), 9, 4)
    || '-7000-8000-' || printf('%012x', i)`;

/** The account and the identity of a number: SQL. */
const account = (i: string): string => `printf('%08x-0000-4000-8000-000000000000', ${i})`;
const identity = (i: string): string => `'user_' || printf('%08x', ${i})`;

async function insert(database: D1Database, rows: number, into: string): Promise<void> {
  for (let from = 0; from < rows; from += PORTION) {
    const to = Math.min(rows, from + PORTION);
    await database
      .prepare(
        `with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to - 1})
          insert into ${into} from n where true`,
      )
      .run();
  }
}

/** Days with totals, and apps in each: three years of 20 apps. */
const TOTAL_DAYS = 1_100;
const APPS = 20;

export async function insertManyRows(
  { accounts, jobs, acts }: Size,
  now_ms: number,
): Promise<void> {
  const today = utcDayOf(now_ms);
  const db = (rows: number, into: string) => insert(env.DB, rows, into);
  const directory = (rows: number, into: string) => insert(env.DIRECTORY, rows, into);
  await db(
    accounts,
    `accounts (id, identity_id, plan, plan_version, created_at_ms, line, credits, reserved, updated_at_ms, suspended_at_ms)
      select ${account("i")}, ${identity("i")}, iif(i % 2, 'pro', 'free'), iif(i % 2, 1 + i % 3, 0), ${now_ms} - i * 1000,
        9, i % 997 * iif(i % 50, 1, 0), 0, ${now_ms} - 90000000, iif(i < ${accounts} / 2, ${now_ms}, null)`,
  );
  const created = `(${now_ms} - 89 * ${DAY_MS} + cast(i * (89.0 * ${DAY_MS} / ${jobs}) as integer))`;
  await db(
    jobs,
    `jobs (account_id, id, app_slug, action, status, reserved, actual_cost, refunded, step, spent, failure, failure_reason,
        created_at_ms, updated_at_ms, expires_at_ms, allowance_path, started_by_json, line)
      select ${account(`i % ${accounts}`)}, ${idAt(created)}, 'app' || (i % ${APPS}), 'draw', 'completed', 2, i % 101, 0, 0, null,
        null, null, ${created}, ${created}, ${created} + 60000, null, null, 9`,
  );
  await db(accounts, `grants select ${account("i")}, 'demo', 100, ${now_ms} - i`);
  await db(accounts, `account_days select ${account("i")}, ${today} - i % 2, 'app1'`);
  await db(
    accounts,
    `archive_heads select ${account("i")}, 9, 'hash', ${now_ms}, iif(i % 2, 60, null)`,
  );
  await db(
    accounts / 2,
    `differences select ${account("i")}, 'account', 'balance', 1, 2, ${now_ms} - i`,
  );
  await db(
    TOTAL_DAYS * APPS,
    `daily_totals (day, app_slug, granted, reserved, settled, refunded, job_refunded, purchased, adjusted, taken_back,
        forfeited, expired, jobs, failed, active_accounts)
      select ${today} - i / ${APPS}, 'app' || (i % ${APPS}), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1`,
  );
  await db(TOTAL_DAYS * 10, `daily_owed select ${today} - i / 10, 'c' || (i % 10), 1, 1, 1`);
  await db(
    TOTAL_DAYS * 20,
    `daily_revenue select ${today} - i / 20, 'package' || (i % 20), 'eur', 1, 1, 0`,
  );
  await directory(
    accounts,
    `users (id, name, email, email_verified, created_at_ms, person_id)
      select ${identity("i")}, 'Person', 'person' || i || '@example.com', 1, ${now_ms} - i, 'person ' || i`,
  );
  await directory(
    accounts,
    `sessions (secret_hash, id, user_id, created_at_ms, expires_at_ms)
      select 'hash ' || i, 'session ' || i, ${identity("i")}, 1, ${now_ms} - ${accounts} / 2 + i`,
  );
  const acted = `(${now_ms} - 100 * ${DAY_MS} + i * 1000)`;
  await directory(
    acts,
    `audit select ${idAt(acted)}, ${acted}, iif(i % 2, 'app_key:' || (i % 20), 'user_operator'), 'account.suspend',
      ${identity("i % 100")}, 'reason', 'request ' || i, '{}', null, null`,
  );
  await directory(acts, `audit_outcomes select ${idAt(acted)}, 'done', ${acted}, null`);
  await env.DIRECTORY.prepare("delete from unkept").run();
  for (const slug of ["demo", ...Array.from({ length: APPS }, (_, at) => `app${at}`)]) {
    await env.DIRECTORY.prepare(
      "insert into apps (slug, name, starter_credits, created_at_ms, daily_starter_budget) values (?1, ?1, 1, 1, 100)",
    )
      .bind(slug)
      .run();
  }
}

export const SOMEBODY = "user_00000007";
