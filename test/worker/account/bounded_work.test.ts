/** Each operation reads a bounded number of rows, however long the account's history is. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { v7 as uuidv7 } from "uuid";
import { describe, expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import {
  IDEMPOTENCY_CLEANUP_ROWS,
  CLOCK_SKEW_MS,
  OPEN_JOBS_MAX,
  RECENT_JOBS_MAX,
} from "../../../src/domain/limits.ts";
import { EXPIRY_PORTION_JOBS } from "../../../src/account/jobs/expiry.ts";
import { firstIdAt, LIST_SCAN_ROWS } from "../../../src/account/jobs/lists.ts";
import { change, countRowsRead, evict, fireAlarm, query } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";

const ADA = "ada";
const DAY_MS = 24 * 60 * 60 * 1000;
const session = { kind: "holder" } as const;
const account = () => env.ACCOUNT.getByName(ADA);

const JOB = {
  app_slug: "demo",
  policy: DEFAULT_POLICY,
  action: "draw",
  cost_estimate: 1,
  metadata_json: null,
};
const create = (ttl_seconds = 30 * 24 * 60 * 60) =>
  account().createJob(session, { ...JOB, ttl_seconds }, null);

async function createdId(ttl_seconds?: number): Promise<string> {
  const answer = await create(ttl_seconds);
  return answer.ok ? answer.value.value.job_id : expect.fail("refused");
}

/** Creates an account with an old started job and many later jobs that have ended. Returns the old job's id. */
async function prepare(jobs: number): Promise<string> {
  await account().wallet(session, { app: { slug: "demo", starter_credits: 1_000_000 } });
  const abandoned = await createdId();
  await createdId();
  // Inserts the rows of `jobs` completed jobs by SQL, because creating them one by one takes too long.
  await query(
    ADA,
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${jobs})
     insert into jobs select '${abandoned.slice(0, 14)}' || printf('%09d', i), 'completed', 'demo',
       'draw', 1, 1, 1, 0, null, 0, null, null, null, null, null, null, created_at_ms, updated_at_ms, expires_at_ms, 4, '{"a":"b"}', null, null, 0, 0, null, null, settle, on_expiry, max_overage_percent,
       null, null, null
     from jobs, n where id = '${abandoned}'`,
  );
  await query(
    ADA,
    `insert into long_jobs select expires_at_ms, id from jobs where status = 'started'`,
  );
  await change(
    ADA,
    `update entries set recent_jobs = 0, recent_after_job_id = (select max(id) from jobs)
     where line = (select max(line) from entries)`,
  );
  await fireAlarm(ADA);
  return abandoned;
}

describe("with 100,000 jobs since one that is still started", () => {
  it("waking, creating, completing and failing a job read few rows after 100,000 jobs", async () => {
    await prepare(100_000);
    const few = RECENT_JOBS_MAX + 50;
    await evict(ADA);
    const rows = await countRowsRead(ADA);
    await account().wallet(session, { app: null });
    expect(rows()).toBeLessThan(few);
    const job_id = await createdId();
    expect(rows()).toBeLessThan(few);
    await account().completeJob(session, { job_id, actual_cost: 1, metadata_json: null }, null);
    expect(rows()).toBeLessThan(few);
    await account().failJob(
      session,
      { job_id: await createdId(), refund: true, reason: null, metadata_json: null },
      null,
    );
    expect(rows()).toBeLessThan(2 * few);
    await fireAlarm(ADA);
    expect(rows()).toBeLessThan(3 * few);
  });

  it("a list without a match reads a bounded number of jobs and returns a cursor", async () => {
    await prepare(100_000);
    const rows = await countRowsRead(ADA);
    const filters = [
      { app_slug: "other" },
      { status: "failed" },
      { app_slug: "other", status: "completed" },
    ] as const;
    for (const filter of filters) {
      const page = await account().listJobs(session, { ...filter, limit: 50 });
      expect(page).toMatchObject({ value: { rows: [], next: expect.any(String) } });
      expect(rows()).toBeLessThan(3 * LIST_SCAN_ROWS);
    }
    await account().listJobs(session, { limit: 50 });
    expect(rows()).toBeLessThan(300);
  });

  it("a list of a range of creation times reads only the jobs of that range", async () => {
    const abandoned = await prepare(100_000);
    // Job ids never go back within an isolate, and an earlier test may have moved the clock forward.
    const id_ms = Number.parseInt(abandoned.replaceAll("-", "").slice(0, 12), 16);
    passTime(Math.max(0, id_ms - Date.now()) + 3_600_000);
    const recent = await createdId();
    const rows = await countRowsRead(ADA);
    const now_ms = Date.now();
    const page = await account().listJobs(session, { from_ms: now_ms, limit: 50 });
    expect(page).toMatchObject({ value: { rows: [{ id: recent }], next: null } });
    expect(rows()).toBeLessThan(50);
    const none = { from_ms: now_ms - 1_800_000, to_ms: now_ms - 900_000, limit: 50 };
    expect(await account().listJobs(session, none)).toMatchObject({ value: { rows: [] } });
    expect(rows()).toBeLessThan(100);
  });

  it("a list of started jobs finds one that started 100,000 jobs ago", async () => {
    const abandoned = await prepare(100_000);
    const recent = await createdId();
    const rows = await countRowsRead(ADA);
    const page = await account().listJobs(session, { status: "started", limit: 50 });
    const ids = page.ok ? page.value.rows.map(({ id }) => id) : [];
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([3, recent, abandoned]);
    expect(page).toMatchObject({ value: { next: null } });
    expect(rows()).toBeLessThan(RECENT_JOBS_MAX + 50);
  });
});

it("an account whose many jobs have all ended reads few rows when it wakes", async () => {
  await account().wallet(session, { app: { slug: "demo", starter_credits: 1_000_000 } });
  for (let lives = 0; lives < 200; lives += 1) {
    await account().failJob(
      session,
      { job_id: await createdId(), refund: true, reason: null, metadata_json: null },
      null,
    );
  }
  await createdId();
  await fireAlarm(ADA);
  await evict(ADA);
  const rows = await countRowsRead(ADA);
  await account().wallet(session, { app: null });
  expect(rows()).toBeLessThan(100);
});

describe("a list with filters", () => {
  it("the pages of a filtered list contain every match exactly once", async () => {
    await account().wallet(session, { app: { slug: "demo", starter_credits: 1_000_000 } });
    const first = await createdId();
    await prepare(3 * LIST_SCAN_ROWS);
    await account().failJob(
      session,
      { job_id: first, refund: true, reason: null, metadata_json: null },
      null,
    );
    const found: string[] = [];
    let before_id: string | undefined;
    let pages = 0;
    do {
      const page = await account().listJobs(session, { status: "failed", before_id, limit: 5 });
      if (!page.ok) expect.fail("refused");
      found.push(...page.value.rows.map(({ id }) => id));
      before_id = page.value.next ?? undefined;
      pages += 1;
    } while (before_id !== undefined);
    expect(found).toEqual([first]);
    expect(pages).toBe(4);
  });
});

describe("a job that outlasts the recent ones", () => {
  it(
    "a job that outlasts the recent ones costs two rows once, is listed as started, and still expires",
    { tags: "slow" },
    async () => {
      await account().wallet(session, { app: { slug: "demo", starter_credits: 1_000_000 } });
      const lasting = await createdId(3_600);
      const anchor = await createdId();
      for (let index = 0; index < RECENT_JOBS_MAX + 5; index += 1) {
        const job_id = await createdId();
        await account().completeJob(session, { job_id, actual_cost: 1, metadata_json: null }, null);
      }
      const long = await query<{ job_id: string }>(ADA, "select job_id from long_jobs order by 1");
      expect(long).toEqual([{ job_id: lasting }, { job_id: anchor }]);
      const page = await account().listJobs(session, { status: "started", limit: 5 });
      expect(page.ok && page.value.rows.map(({ id }) => id)).toEqual([anchor, lasting]);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
      const read = await account().readJob(session, lasting);
      expect(read).toMatchObject({ value: { status: "failed", failure: "expired" } });
      expect(await query(ADA, "select job_id from long_jobs")).toEqual([{ job_id: anchor }]);
    },
  );
});

describe("10,000 jobs that run out at once", () => {
  it("10,000 jobs that expire at once end in portions, and each reads as expired as soon as it is overdue", async () => {
    await account().wallet(session, { app: { slug: "demo", starter_credits: 1_000_000 } });
    const last = await createdId(60);
    await query(
      ADA,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${OPEN_JOBS_MAX - 1})
       insert into jobs select printf('00000000-0000-7000-8000-%012d', i), status, app_slug, action,
         1, 1, 0, 0, null, 0, null, null, null, null, null, null, created_at_ms, updated_at_ms, expires_at_ms, 3, null, null, null, 0, 0, null, null,
         settle, on_expiry, max_overage_percent, null, null, null from jobs, n`,
    );
    await query(ADA, "insert into long_jobs select expires_at_ms, id from jobs");
    await change(
      ADA,
      `update entries set open_jobs = ${OPEN_JOBS_MAX}, recent_jobs = 0,
         recent_after_job_id = (select max(id) from jobs),
         balance_after = ${1_000_000 - OPEN_JOBS_MAX}, reserved_after = ${OPEN_JOBS_MAX}
       where line = 3`,
    );
    await fireAlarm(ADA);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    const started = async () =>
      (
        await query<{ n: number }>(ADA, "select count(*) as n from jobs where status = 'started'")
      )[0]?.n;
    const rows = await countRowsRead(ADA);
    const read = await account().readJob(session, last);
    expect(read).toMatchObject({ value: { status: "failed", failure: "expired" } });
    expect(rows()).toBeLessThan(40 * EXPIRY_PORTION_JOBS);
    const left = (await started()) ?? 0;
    expect(left).toBeGreaterThanOrEqual(OPEN_JOBS_MAX - EXPIRY_PORTION_JOBS - 1);
    // An operation on an overdue job expires that job first, wherever it is in the queue.
    const turn = "00000000-0000-7000-8000-000000009999";
    const late = await account().failJob(
      session,
      { job_id: turn, refund: true, reason: null, metadata_json: null },
      null,
    );
    expect(late).toMatchObject({ refusal: { code: "job_ended" } });
    for (let portions = 0; portions < 60 && ((await started()) ?? 0) > 0; portions += 1) {
      expect(await fireAlarm(ADA)).toBe(true);
    }
    const wallet = await account().wallet(session, { app: null });
    expect(wallet).toMatchObject({ value: { account: { credits: 1_000_000 } } });
    expect(await query(ADA, "select * from long_jobs")).toEqual([]);
    const [newest] = await query(ADA, "select * from entries order by line desc limit 1");
    expect(newest).toMatchObject({ open_jobs: 0, reserved_after: 0 });
  });
});

describe("500,000 idempotency keys", () => {
  const MORE = 500_000;
  const job = { ...JOB, cost_estimate: 0, ttl_seconds: 60 };

  async function keep(at_ms: number): Promise<void> {
    await query(
      ADA,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MORE})
       insert into idempotency_keys select ${Math.floor(at_ms / DAY_MS)}, 'holder', 'jobs.create',
         'key-' || i, '', '{}', ${at_ms} from n`,
    );
  }

  it("with 500,000 idempotency keys, a wake-up, a request with a key and an alarm read few rows", async () => {
    await account().wallet(session, { app: { slug: "demo", starter_credits: 0 } });
    await fireAlarm(ADA);
    await keep(Date.now());
    await evict(ADA);
    const rows = await countRowsRead(ADA);
    const used = await account().createJob(session, job, { key: "key-7", fingerprint: "x" });
    expect(used).toMatchObject({ refusal: { code: "idempotency_key_reused" } });
    const made = await account().createJob(session, job, { key: "new", fingerprint: "x" });
    expect(made).toMatchObject({ value: { replayed: false } });
    expect(rows()).toBeLessThan(50);
    await runInDurableObject(account(), (instance) => instance.alarm());
    expect(rows()).toBeLessThan(50);
  });

  it("an idempotency key sets no alarm of its own: a later alarm of the account deletes it", async () => {
    await account().wallet(session, { app: null });
    const guard = { key: "a", fingerprint: "x" };
    await account().adjustCredits({ amount: 5, note: "a gift" }, guard);
    expect(await fireAlarm(ADA)).toBe(true);
    expect(await fireAlarm(ADA)).toBe(false);
    expect(await query(ADA, "select key from idempotency_keys")).toEqual([{ key: "a" }]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * DAY_MS });
    await account().adjustCredits({ amount: 5, note: "a gift" }, null);
    await fireAlarm(ADA);
    expect(await query(ADA, "select key from idempotency_keys")).toEqual([]);
  });

  it("the alarm deletes idempotency keys in portions once they are a day old", async () => {
    await account().wallet(session, { app: null });
    const start_ms = Date.now();
    const left = async () =>
      (await query<{ n: number }>(ADA, "select count(*) as n from idempotency_keys"))[0]?.n ?? 0;
    await keep(start_ms);
    const end_of_day_ms = (Math.floor(start_ms / DAY_MS) + 1) * DAY_MS;
    vi.useFakeTimers({ toFake: ["Date"], now: end_of_day_ms + DAY_MS });
    await runInDurableObject(account(), (instance) => instance.alarm());
    expect(await left()).toBe(MORE);
    // A key stays for the clock skew: a request whose clock is behind may still use it.
    vi.setSystemTime(end_of_day_ms + DAY_MS + CLOCK_SKEW_MS);
    const rows = await countRowsRead(ADA);
    for (let portions = 1; portions <= 3; portions += 1) {
      rows();
      expect(await fireAlarm(ADA)).toBe(true);
      expect(rows()).toBeLessThan(5 * IDEMPOTENCY_CLEANUP_ROWS);
      expect(await left()).toBe(MORE - portions * IDEMPOTENCY_CLEANUP_ROWS);
    }
    await query(ADA, `delete from idempotency_keys where key < 'key-999'`);
    const job_of_today = { ...job, cost_estimate: 0 };
    const made = await account().createJob(session, job_of_today, { key: "a", fingerprint: "x" });
    await fireAlarm(ADA);
    expect(await query(ADA, "select key from idempotency_keys")).toEqual([{ key: "a" }]);
    const again = await account().createJob(session, job_of_today, { key: "a", fingerprint: "x" });
    expect(again).toEqual({ ok: true, value: { ...(made.ok && made.value), replayed: true } });
  });
});

describe("with 2,000 purchases of which nothing is used", () => {
  it("a job that uses bought credits reads few rows, and each entry names what the rest is worth", async () => {
    await account().wallet(session, { app: null });
    const bought = { package_id: "small", package_name: "Small", credits: 10, currency: "eur" };
    const ids = { checkout_session_id: "cs_1", payment_intent_id: "pi_1" };
    await account().recordPurchase({ ...ids, ...bought, paid_minor: 100 });
    // Further purchases by SQL, as one of all their credits.
    const owned = 2_000 * 10;
    await query(
      ADA,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1999)
       insert into base_payments select i + 1, 'cs', 10, 'eur', 100, 10, 10 * i from n`,
    );
    await change(
      ADA,
      `update entries set balance_after = ${owned}, bought_after = ${owned},
         paid_json = '{"eur":[${owned},${10 * owned},0]}'
       where line = (select max(line) from entries)`,
    );
    const rows = await countRowsRead(ADA);
    for (const actual_cost of [1, 25]) {
      await evict(ADA);
      rows();
      const create_job = { ...JOB, cost_estimate: 25, ttl_seconds: 60 };
      const created = await account().createJob(session, create_job, null);
      const job_id = created.ok ? created.value.value.job_id : expect.fail("refused");
      const request = { job_id, actual_cost, metadata_json: null };
      expect((await account().completeJob(session, request, null)).ok).toBe(true);
      expect(rows()).toBeLessThan(60);
    }
    const [newest] = await query<{ paid_json: string }>(
      ADA,
      "select paid_json from entries order by line desc limit 1",
    );
    const left = owned - 26;
    expect(newest?.paid_json).toBe(`{"eur":[${left},${10 * left},0]}`);
  });

  it("a full page that ends where the scan ended has a next page, which begins after it", async () => {
    const count = LIST_SCAN_ROWS + 100;
    await prepare(count);
    // The scan begins with the two started jobs.
    const last_scanned = count - (LIST_SCAN_ROWS - 2) + 1;
    const matches = [2_000, 1_999, last_scanned, 1];
    const numbers = matches.map((number) => `'%${String(number).padStart(9, "0")}'`);
    const isMatch = numbers.map((pattern) => `id like ${pattern}`).join(" or ");
    await query(
      ADA,
      `update jobs set status = 'failed' where status = 'completed' and (${isMatch})`,
    );
    const filter = { status: "failed", limit: 3 } as const;
    const first = await account().listJobs(session, filter);
    if (!first.ok) expect.fail("refused");
    const before_id = first.value.next ?? expect.fail("there is no next page");
    const second = await account().listJobs(session, { ...filter, before_id });
    if (!second.ok) expect.fail("refused");
    const ids = [...first.value.rows, ...second.value.rows].map(({ id }) => Number(id.slice(14)));
    expect(ids).toEqual(matches);
    expect(second.value.next).toBeNull();
  });

  it("a list of jobs before a time does not scan the jobs after it", async () => {
    await prepare(LIST_SCAN_ROWS);
    const rows = await countRowsRead(ADA);
    const to_ms = Date.now() - 3_600_000;
    const page = await account().listJobs(session, { to_ms, limit: 50 });
    expect(page).toMatchObject({ value: { rows: [], next: null } });
    expect(rows()).toBeLessThan(100);
  });
});

it.each([0, 1, 0xffff, 0x1_0000, 0x0193_abcd_ffff, 0x0193_abce_0000])(
  "the first id of millisecond %i is after those of the millisecond before, and before its own",
  (at_ms) => {
    const first = firstIdAt(at_ms);
    expect(first < uuidv7({ msecs: at_ms })).toBe(true);
    expect(first > uuidv7({ msecs: Math.max(0, at_ms - 1) })).toBe(at_ms > 0);
  },
);
