/** Old entries and ended jobs of a large account leave its object for the archive, and every read still has them. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ACCOUNT_FULL_BYTES, ARCHIVE_AFTER_DAYS } from "../../../src/domain/limits.ts";
import { gunzip, gzip } from "../../../src/archive/bytes.ts";
import { accountFolder, jobsFolder } from "../../../src/domain/archive_segment.ts";
import { query, repeatAlarm, useSettings } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { signInOperator } from "../http/api/admin/operators.ts";
import { moodOfR2 } from "./archive_faults.ts";
import { accountId, archiveNow, prove } from "./archived.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const JOB = { app: "demo", action: "draw", cost_estimate: 3, metadata: { first: true } };

let ada: SignedIn;
let opened_at_ms = 0;
/** The size that the object's storage reports. */
let bytes = ACCOUNT_FULL_BYTES / 2;

beforeEach(async () => {
  // The Worker's clock is ahead of real time, so that no alarm fires by itself.
  passTime(60 * 60 * 1000);
  bytes = ACCOUNT_FULL_BYTES / 2;
  opened_at_ms = Date.now();
  ada = await signInWithCredits();
  await runInDurableObject(env.ACCOUNT.getByName(ada.identity_id), (_, state) => {
    const prototype = Object.getPrototypeOf(state.storage.sql);
    vi.spyOn(prototype, "databaseSize", "get").mockImplementation(() => bytes);
  });
});

/** Creates and completes jobs. @returns their ids */
async function work(jobs: number): Promise<string[]> {
  ada = await signIn();
  const ids: string[] = [];
  for (let done = 0; done < jobs; done += 1) {
    passTime(1_000);
    const created = await ada.post("/api/jobs", JOB);
    const job_id = String(created.body.job_id);
    const end = { job_id, actual_cost: 2, metadata: { second: done } };
    const key = { "Idempotency-Key": `end-${job_id}` };
    expect(await ada.post("/api/jobs/complete", end, key)).toMatchObject({ status: 200 });
    ids.push(job_id);
  }
  return ids;
}

/** Lets what runs in the background end. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 100));

interface Left {
  readonly entries: number;
  readonly jobs: number;
  readonly forward: number | null;
}

async function counts(): Promise<Left> {
  const [row] = await query<Left>(
    ada.identity_id,
    `select (select count(*) from entries) as entries, (select count(*) from jobs) as jobs,
      (select line from balance_forward) as forward`,
  );
  return row ?? expect.fail("no row");
}

/** Lets time pass until everything may leave, and waits until it did. */
async function leave(expected: Partial<Left>, age_ms = ARCHIVE_AFTER_DAYS.usual * DAY_MS) {
  passTime(age_ms + DAY_MS);
  await vi.waitFor(async () => {
    // What reads brought back leaves again after an hour.
    passTime(61 * 60 * 1000);
    await repeatAlarm(ada.identity_id);
    expect(await counts()).toMatchObject(expected);
  }, 10_000);
  // The session has ended meanwhile.
  ada = await signIn();
}

const pages = async (path: string, name: string): Promise<Record<string, unknown>[]> => {
  const found: Record<string, unknown>[] = [];
  for (let cursor = ""; ;) {
    const { status, body } = await ada.get(`${path}${cursor}`);
    expect(status).toBe(200);
    found.push(...(body[name] as Record<string, unknown>[]));
    if (typeof body.next_cursor !== "string" && typeof body.next_cursor !== "number") return found;
    cursor = `&cursor=${encodeURIComponent(String(body.next_cursor))}`;
  }
};

const rowsOfStatement = async () => {
  const month = new Date(opened_at_ms).toISOString().slice(0, 7);
  const csv = await ada.getOwn(`/account/statement.csv?month=${month}`);
  const page = await ada.getOwn(`/account/statement?month=${month}`);
  expect([csv.status, page.status]).toEqual([200, 200]);
  // The month may be over meanwhile.
  const text = page.text.replace("Balance at the end", "Balance");
  return { csv: csv.text, rows: /<dl class="sums">[\s\S]*?<\/dl>/.exec(text)?.[0] };
};

/** Everything that the holder can read of the past. */
const reads = async () => ({
  entries: await pages("/api/ledger?limit=3", "entries"),
  reserves: await pages("/api/ledger?limit=2&kind=reserve", "entries"),
  jobs: await pages("/api/jobs?limit=2", "jobs"),
  completed: await pages("/api/jobs?limit=2&status=completed", "jobs"),
  statement: await rowsOfStatement(),
});

const account = () => env.ACCOUNT.getByName(ada.identity_id);

/** An account whose first six jobs have left. */
async function withOldRows(): Promise<{ readonly ids: string[] }> {
  const ids = await work(6);
  await archiveNow(ada.identity_id);
  ids.push(...(await work(2)));
  await archiveNow(ada.identity_id);
  await leave(LEFT);
  return { ids };
}

/** Entry 14 ends the first segment. It stays as the beginning, and so does its job. */
const LEFT = { entries: 5, jobs: 3, forward: 14 };

describe("leaving", () => {
  it("old entries and jobs leave the object, and lists, the statement and the export read on from the archive", async () => {
    await work(6);
    await archiveNow(ada.identity_id);
    await work(2);
    const head = await archiveNow(ada.identity_id);
    ada = await signIn();
    const before = await reads();
    expect(before.entries).toHaveLength(18);
    await leave(LEFT);
    expect(await reads()).toEqual(before);
    // What came back is the same, and the account and its archive still prove themselves.
    expect(await counts()).toMatchObject({ entries: 18, jobs: 8 });
    expect(await account().compare()).toMatchObject({ line: 18, differences: [] });
    expect(await prove(await accountId(ada.identity_id), head)).toMatchObject({ problems: [] });
    // An hour later it is gone again.
    passTime(61 * 60 * 1000);
    await repeatAlarm(ada.identity_id);
    expect(await counts()).toEqual(LEFT);
    expect(await account().compare()).toMatchObject({ line: 18, differences: [] });
    await work(1);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100 - 9 * 2);
    const data = JSON.parse((await ada.getOwn("/account/data.json")).text);
    expect([data.ledger.length, data.jobs.length]).toEqual([20, 9]);
  });

  it("nothing leaves below half of the storage, before the age, or without a segment that has it", async () => {
    await work(6);
    await archiveNow(ada.identity_id);
    await work(2);
    bytes = ACCOUNT_FULL_BYTES / 2 - 1;
    passTime((ARCHIVE_AFTER_DAYS.usual + 1) * DAY_MS);
    await repeatAlarm(ada.identity_id);
    await settle();
    expect(await counts()).toMatchObject({ entries: 18, forward: null });
    bytes = ACCOUNT_FULL_BYTES / 2;
    passTime(-2 * DAY_MS);
    await repeatAlarm(ada.identity_id);
    await settle();
    expect(await counts()).toMatchObject({ entries: 18, forward: null });
    await leave(LEFT, 2 * DAY_MS);
  });

  it("a failing, an empty and a changed bucket delete nothing", async () => {
    await work(6);
    await archiveNow(ada.identity_id);
    await work(2);
    await archiveNow(ada.identity_id);
    passTime((ARCHIVE_AFTER_DAYS.usual + 1) * DAY_MS);
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const tried = async () => {
      passTime(20 * 60 * 1000);
      await repeatAlarm(ada.identity_id);
      await settle();
      expect(await counts()).toEqual({ entries: 18, jobs: 8, forward: null });
    };
    const r2 = moodOfR2();
    r2.mood = "fails before";
    await tried();
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ event: "archive_failed" }));
    r2.mood = "well";
    const folder = accountFolder(await accountId(ada.identity_id));
    const { objects } = await env.ARCHIVE.list({ prefix: folder });
    const [first] = objects;
    const key = first?.key ?? expect.fail("no segment");
    const bytes_before = new Uint8Array((await (await env.ARCHIVE.get(key))?.arrayBuffer()) ?? []);
    await env.ARCHIVE.delete(key);
    await tried();
    // The same segment with one other amount.
    const text = await gunzip(bytes_before);
    await env.ARCHIVE.put(key, await gzip(text.replace('"amount":100', '"amount":101')));
    await tried();
    await env.ARCHIVE.put(key, bytes_before.slice(0, -20));
    await tried();
    await env.ARCHIVE.put(key, bytes_before);
    await leave(LEFT);
  });

  it("a file of jobs that the bucket lost deletes no job", async () => {
    await work(6);
    await archiveNow(ada.identity_id);
    await work(2);
    await archiveNow(ada.identity_id);
    vi.spyOn(console, "warn").mockReturnValue();
    const bucket = Object.getPrototypeOf(env.ARCHIVE);
    const { put } = bucket;
    const lost = vi.spyOn(bucket, "put").mockImplementation(async function (
      this: unknown,
      ...args: unknown[]
    ) {
      const stored: unknown = await Reflect.apply(put, this, args);
      if (String(args[0]).startsWith("jobs/")) await env.ARCHIVE.delete(String(args[0]));
      return stored;
    } as never);
    await leave({ entries: 5, jobs: 8, forward: 14 });
    lost.mockRestore();
    passTime(20 * 60 * 1000);
    await leave(LEFT, 0);
  });
});

it("operators see accounts that use half and 80% of their storage, with the account's id", async () => {
  const olga = await signInOperator();
  const figures = async () => {
    const { body } = await olga.get("/api/admin/health");
    const all = body.figures as { name: string; status: string; value: number; reason: string }[];
    return ["half_full_accounts", "filling_accounts"].map((name) => {
      const { status, value, reason } = all.find((it) => it.name === name) ?? expect.fail(name);
      return [status, value, reason];
    });
  };
  bytes = ACCOUNT_FULL_BYTES * 0.49;
  await work(1);
  await archiveNow(ada.identity_id);
  expect(await figures()).toEqual([
    ["ok", 0, null],
    ["ok", 0, null],
  ]);
  const account_id = await accountId(ada.identity_id);
  for (const [percent, filling] of [
    [51, ["ok", 0, null]],
    [83, ["warning", 1, `${account_id} 83%`]],
  ] as const) {
    bytes = Math.ceil((ACCOUNT_FULL_BYTES * percent) / 100);
    await work(1);
    await archiveNow(ada.identity_id);
    expect(await figures()).toEqual([["ok", 1, `${account_id} ${percent}%`], filling]);
  }
});

describe("acts on what left", () => {
  it("a job that left is refunded once, and stays in the account with its refund", async () => {
    const { ids } = await withOldRows();
    const [job_id = ""] = ids;
    const refund = { job_id, amount: 2, note: "sorry" };
    const guard = { key: "k", fingerprint: "f" };
    for (const replayed of [false, true]) {
      const refunded = await account().refundJob(refund, guard);
      expect(refunded).toMatchObject({ ok: true, value: { replayed, value: { credits: 86 } } });
    }
    const again = await account().refundJob({ ...refund, amount: 1 }, null);
    expect(again).toMatchObject({ ok: false });
    await leave({ entries: 2, jobs: 2, forward: 18 }, 0);
    expect(await account().compare()).toMatchObject({ differences: [] });
    const shown = await ada.get(`/api/jobs/${job_id}`);
    expect(shown.body).toMatchObject({ id: job_id, refunded: 2 });
    // Its first entries left, and its history has them.
    const own = await pages(`/api/ledger?job_id=${job_id}&limit=10`, "entries");
    expect(own.map(({ kind }) => kind)).toEqual(["job_refund", "settle", "reserve"]);
    // What leaves later takes the refunded job along only if it is in a file.
    await work(3);
    await archiveNow(ada.identity_id);
    await work(1);
    const head = await archiveNow(ada.identity_id);
    await leave({ forward: 25 });
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({ refunded: 2 });
    expect(await prove(await accountId(ada.identity_id), head)).toMatchObject({ problems: [] });
  });

  it("a late retry of a completion gets its first response, though the job has left", async () => {
    await useSettings(ada.identity_id, { ARCHIVE_AFTER_DAYS: "0" });
    const ids = await work(6);
    await archiveNow(ada.identity_id);
    await work(2);
    await archiveNow(ada.identity_id);
    await leave(LEFT, -DAY_MS + 60_000);
    const [job_id = ""] = ids;
    const end = { job_id, actual_cost: 2, metadata: { second: 0 } };
    const retried = await ada.post("/api/jobs/complete", end, {
      "Idempotency-Key": `end-${job_id}`,
    });
    expect(retried).toMatchObject({ status: 200, body: { credits: 98 } });
    expect(retried.headers.get("Idempotency-Replayed")).toBe("true");
    const other = await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 });
    expect(other).toMatchObject({ status: 400, body: { code: "job_ended" } });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100 - 8 * 2);
  });

  it("while the archive cannot be read, old rows are 503 and new jobs go on", async () => {
    const { ids } = await withOldRows();
    vi.spyOn(console, "error").mockReturnValue();
    const r2 = moodOfR2();
    r2.mood = "fails before";
    expect(await ada.get(`/api/jobs/${ids[0]}`)).toMatchObject({ status: 503 });
    expect(await ada.get("/api/jobs?limit=50")).toMatchObject({ status: 503 });
    expect(await ada.get("/api/jobs?limit=2")).toMatchObject({ status: 200 });
    const unknown = await ada.get("/api/jobs/ffffffff-0000-7000-8000-000000000000");
    expect(unknown.status).toBe(404);
    await work(1);
    r2.mood = "well";
    expect(await ada.get(`/api/jobs/${ids[0]}`)).toMatchObject({ status: 200 });
  });

  it("rows of a changed file in the archive are not used", async () => {
    const { ids } = await withOldRows();
    vi.spyOn(console, "error").mockReturnValue();
    const folder = jobsFolder(await accountId(ada.identity_id));
    const [file] = (await env.ARCHIVE.list({ prefix: folder })).objects;
    const key = file?.key ?? expect.fail("no file of jobs");
    const text = await gunzip(
      new Uint8Array((await (await env.ARCHIVE.get(key))?.arrayBuffer()) ?? []),
    );
    await env.ARCHIVE.put(key, await gzip(text.replaceAll('"actual_cost":2', '"actual_cost":0')));
    expect(await ada.get(`/api/jobs/${ids[0]}`)).toMatchObject({ status: 503 });
  });

  it("the read model is rebuilt, even an empty one, and the deletion of the person deletes every file", async () => {
    await withOldRows();
    const account_id = await accountId(ada.identity_id);
    const shown = () => env.DB.prepare("select line, credits from accounts").all();
    const before = (await shown()).results;
    const totals = () => env.DB.prepare("select sum(settled) as settled from daily_totals").all();
    const days = (await totals()).results;
    for (const table of ["accounts", "jobs", "grants", "daily_totals", "account_days"]) {
      await env.DB.prepare(`delete from ${table}`).run();
    }
    await account().rebuild();
    await vi.waitFor(async () => {
      await repeatAlarm(ada.identity_id);
      expect((await shown()).results).toEqual(before);
    });
    expect((await totals()).results).toEqual(days);
    expect(await account().repair()).toBe("nothing_missing");
    await account().deleteAccount({ kind: "holder" } as const);
    for (let alarms = 0; alarms < 4; alarms += 1) await repeatAlarm(ada.identity_id);
    for (const folder of [accountFolder(account_id), jobsFolder(account_id)]) {
      expect((await env.ARCHIVE.list({ prefix: folder })).objects).toEqual([]);
    }
    expect(await counts()).toEqual({ entries: 0, jobs: 0, forward: null });
  });
});
