/**
 * An account with very many entries lives on under a storage limit that is much smaller than its history: jobs go on, and
 * the statement of its first month is complete. `npm run check:slow` makes three million entries.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { SERVICE } from "../../../src/account/contract.ts";
import {
  change,
  countRowsRead,
  evict,
  query,
  repeatAlarm,
  useSettings,
} from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { IS_SLOW_CHECK } from "../support/histories.ts";
import { archiveNow } from "./archived.ts";

const ADA = "ada";
const session = { kind: "holder" } as const;
const DAY_MS = 24 * 60 * 60 * 1000;

const MONTHS = IS_SLOW_CHECK ? 60 : 3;
const JOBS_OF_MONTH = IS_SLOW_CHECK ? 25_000 : 2_500;
const LIMIT_BYTES = IS_SLOW_CHECK ? 20_000_000 : 2_000_000;

/** What a statement shows at once. */
const PAGE = 1_000;

const account = (identity_id = ADA) => env.ACCOUNT.getByName(identity_id);
const app = { slug: "demo", starter_credits: 1_000_000_000, is_registered: true };
const job = { app_slug: "demo", policy: DEFAULT_POLICY, action: "draw", cost_estimate: 3 };

async function createAndComplete(identity_id = ADA): Promise<void> {
  const request = { ...job, ttl_seconds: 60, metadata_json: null };
  const created = await account(identity_id).createJob(session, request, null);
  const job_id = created.ok ? created.value.value.job_id : expect.fail(created.refusal.code);
  const end = { job_id, actual_cost: 2, metadata_json: null };
  await account(identity_id).completeJob(session, end, null);
}

/** Adds completed jobs with two entries each, a millisecond apart, as many calls would. */
async function addJobs(count: number): Promise<void> {
  const more = `with recursive
    more (n) as (select 1 union all select n + 1 from more where n < ${count}),
    last as (select * from entries order by line desc limit 1),
    made as (select n, line, balance_after, bought_after, at_ms + n as at_ms,
      substr(printf('%012x', at_ms + n), 1, 8) || '-' || substr(printf('%012x', at_ms + n), 9)
        || '-7000-8000-000000000000' as id from more, last)`;
  await query(
    ADA,
    `insert into jobs (id, status, app_slug, action, cost_estimate, reserved, actual_cost, created_at_ms,
       updated_at_ms, expires_at_ms, line, metadata_json)
     ${more} select id, 'completed', 'demo', 'draw', 3, 3, 2, at_ms, at_ms, at_ms + 60000, line + 2 * n,
       '{"picture":"a cat in a boat"}' from made`,
  );
  await change(
    ADA,
    `insert into entries (line, kind, amount, balance_after, reserved_after, job_id, app_slug, at_ms,
       open_jobs, recent_after_job_id, recent_jobs, previous_line, bought_after)
     ${more} select line + 2 * n - 1, 'reserve', -3, balance_after - 2 * n - 1, 3, id, 'demo', at_ms,
       1, id, 1, null, bought_after from made
     union all select line + 2 * n, 'settle', 1, balance_after - 2 * n, 0, id, 'demo', at_ms,
       0, id, 0, line + 2 * n - 1, bought_after from made order by 1`,
  );
}

/** The read model has everything, as if it had followed. */
async function deliver(): Promise<void> {
  const [newest] = await query<Record<string, number>>(
    ADA,
    "select line, balance_after, reserved_after, at_ms from entries order by line desc limit 1",
  );
  const values = ["line", "balance_after", "reserved_after", "at_ms"].map((name) => newest?.[name]);
  await env.DB.prepare("update accounts set line = ?, credits = ?, reserved = ?, updated_at_ms = ?")
    .bind(...values)
    .run();
}

const sizeOf = () => runInDurableObject(account(), (_, state) => state.storage.sql.databaseSize);

/** Rows that creating and completing a job reads in an object that has just woken. */
async function rowsOfCreate(identity_id: string): Promise<number> {
  // The read model has everything before, so that no row is read for it.
  await repeatAlarm(identity_id);
  await evict(identity_id);
  const rowsRead = await countRowsRead(identity_id);
  await createAndComplete(identity_id);
  const rows = rowsRead();
  vi.restoreAllMocks();
  return rows;
}

it(
  `an account with ${MONTHS * JOBS_OF_MONTH * 2} entries lives on in ${LIMIT_BYTES / 1_000_000} MB, and the statement of its first month is complete`,
  { tags: ["history"], timeout: 3_600_000 },
  async () => {
    passTime(60 * 60 * 1000);
    const started_at_ms = Date.now();
    await account().wallet(session, { app });
    await account("grace").wallet(session, { app });
    await createAndComplete("grace");
    await createAndComplete();
    await useSettings(ADA, {
      ARCHIVE_AFTER_DAYS: "1",
      ACCOUNT_STORAGE_BYTES: String(LIMIT_BYTES),
    });
    await repeatAlarm(ADA);
    let largest = 0;
    let added = 0;
    for (let month = 0; month < MONTHS; month += 1) {
      await addJobs(JOBS_OF_MONTH);
      await deliver();
      added += await sizeOf();
      await archiveNow(ADA);
      passTime(30 * DAY_MS);
      await vi.waitFor(async () => {
        await repeatAlarm(ADA);
        expect(await sizeOf()).toBeLessThan(LIMIT_BYTES / 2);
      }, 60_000);
      // Jobs go on.
      await createAndComplete();
      largest = Math.max(largest, await sizeOf());
    }
    const entries = MONTHS * (JOBS_OF_MONTH * 2 + 2) + 4;
    const read = await account().readArchived();
    expect(read?.line).toBe(entries);
    expect(largest).toBeLessThan(LIMIT_BYTES / 2);
    expect(added).toBeGreaterThan(LIMIT_BYTES);
    // Delivery in the background reads some rows, too, sooner or later.
    const rows_of_young = await rowsOfCreate("grace");
    expect(rows_of_young).toBeLessThan(30);
    expect(await rowsOfCreate(ADA)).toBeLessThan(30);

    const first_month = { from_ms: 0, to_ms: started_at_ms + 25 * DAY_MS };
    let line = 2 + 2 + JOBS_OF_MONTH * 2;
    let before_line: number | null = null;
    let credits = 0;
    do {
      const page: Awaited<ReturnType<ReturnType<typeof account>["readStatement"]>> =
        await account().readStatement(SERVICE, {
          ...first_month,
          before_line,
          limit: PAGE,
        });
      if (!page.ok) throw new Error(page.refusal.code);
      for (const row of page.value.rows) {
        expect(row.line).toBe(line);
        line -= 1;
        credits += row.amount;
      }
      const jobs = new Set(page.value.rows.flatMap(({ job_id }) => job_id ?? []));
      expect(page.value.jobs.length).toBe(jobs.size);
      before_line = page.value.next;
    } while (before_line !== null);
    expect(line).toBe(0);
    expect(credits).toBe(1_000_000_000 - (JOBS_OF_MONTH + 1) * 2);
    expect(await account().compare()).toMatchObject({ differences: [] });
  },
);
