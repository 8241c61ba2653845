import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { accountFolder } from "../../../src/domain/archive_segment.ts";
import { gzip } from "../../../src/archive/bytes.ts";
import { AccountDatabase } from "../../../src/account/sql/database.ts";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { change, evict, fireAlarm, query, readAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { upkeepOf } from "../../../src/services.ts";
import { postForm } from "../support/device_logins.ts";
import { environmentWith, signInWithCredits } from "../support/passbook.ts";
import { expectInvariants } from "../account/invariants.ts";
import { moodOfD1 } from "../account/sync/d1_faults.ts";
import { moodOfR2 } from "./archive_faults.ts";
import {
  accountId,
  archivedRows,
  archiveNow,
  archiveState,
  prove,
  segmentNames,
  storedSegments,
} from "./archived.ts";

const ADA = "ada";
const session = { kind: "holder" } as const;
const DAY_MS = 24 * 60 * 60 * 1000;
const accountOf = (identity_id = ADA) => env.ACCOUNT.getByName(identity_id);

/** Moves the Worker's clock ahead of real time, so that no alarm fires by itself during a test. */
beforeEach(() => passTime(60 * 60 * 1000));

async function open(identity_id = ADA): Promise<void> {
  const app = { slug: "demo", starter_credits: 1_000_000, is_registered: true };
  await accountOf(identity_id).wallet(session, { app });
}

async function createJob(cost_estimate = 1, identity_id = ADA): Promise<string> {
  const job = {
    app_slug: "demo",
    policy: DEFAULT_POLICY,
    action: "draw",
    ttl_seconds: 3_600,
    metadata_json: '{"a":1}',
    cost_estimate,
  };
  const created = await accountOf(identity_id).createJob(session, job, null);
  return created.ok ? created.value.value.job_id : expect.fail("refused");
}

async function work(jobs: number, identity_id = ADA): Promise<void> {
  for (let done = 0; done < jobs; done += 1) {
    const job_id = await createJob(3, identity_id);
    const settled = { job_id, actual_cost: 2, metadata_json: '{"b":2}' };
    await accountOf(identity_id).completeJob(session, settled, null);
  }
}

/** Adds entries in one statement, as a thousand plan changes would. */
async function addEntries(count: number, identity_id = ADA): Promise<void> {
  await change(
    identity_id,
    `insert into entries (line, kind, amount, balance_after, reserved_after, at_ms, open_jobs, recent_after_job_id, recent_jobs)
     with recursive more (n) as (select 1 union all select n + 1 from more where n < ${count})
     select line + n, 'plan', 0, balance_after, reserved_after, at_ms, open_jobs, recent_after_job_id, recent_jobs
     from more, (select * from entries order by line desc limit 1)`,
  );
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 100));

describe("writing", () => {
  it("the archive has every entry and job of the account, column by column, in a chain that the heads end", async () => {
    await open();
    await work(3);
    const started = await createJob(7);
    const first = await archiveNow(ADA);
    await work(2);
    const head = await archiveNow(ADA);
    const account_id = await accountId(ADA);
    const files = await storedSegments(account_id);
    expect(files.map(({ name }) => name)).toEqual([
      "000000000001-000000000009.jsonl.gz",
      "000000000010-000000000013.jsonl.gz",
    ]);
    expect(first).toEqual({ line: 9, sha256: files[0]?.sha256 });
    expect(head).toEqual({ line: 13, sha256: files[1]?.sha256 });
    expect(archivedRows(files, "entries")).toEqual(
      await query(ADA, "select * from entries order by line"),
    );
    const jobs = new Map(archivedRows(files, "jobs").map((row) => [row["id"], row]));
    const stored = await query<{ id: string; is_capped: number }>(ADA, "select * from jobs");
    expect([...jobs.values()]).toEqual(stored.map((job) => ({ ...job, is_capped: false })));
    expect(jobs.get(started)).toMatchObject({ status: "started", metadata_json: '{"a":1}' });
    expect(await prove(account_id, head)).toMatchObject({
      problems: [],
      identity_id: ADA,
      newest: { line: 13, credits: 1_000_000 - 5 * 2 - 7, held: 7, started_jobs: 1 },
    });
    const heads = await env.DB.prepare("select account_id, line, sha256 from archive_heads").all();
    expect(heads.results).toEqual([{ account_id, ...head }]);
    await expectInvariants(ADA);
  });

  it("the archive has an account's purchases with their refunds", async () => {
    await open();
    const bought = {
      checkout_session_id: "cs_1",
      payment_intent_id: "pi_1",
      package_id: "small",
      package_name: "Small",
      credits: 100,
      paid_minor: 500,
      currency: "eur",
    };
    await accountOf().recordPurchase(bought);
    await accountOf().recordReversal({
      payment_intent_id: "pi_1",
      source_id: "re_1",
      amount_minor: 250,
      state: "lost",
    });
    await archiveNow(ADA);
    const files = await storedSegments(await accountId(ADA));
    for (const table of ["purchases", "purchase_entries", "purchase_reversals", "apps"]) {
      const stored = await query<object>(ADA, `select * from ${table}`);
      expect(stored.length, table).toBeGreaterThan(0);
      expect(archivedRows(files, table).length, table).toBe(stored.length);
    }
    expect(archivedRows(files, "purchases")).toMatchObject([{ taken_back: 50 }]);
  });

  it("an account writes a segment when it has a thousand new entries, and not before", async () => {
    await open();
    await addEntries(997);
    await accountOf().changePlan({ plan: "studio", note: "-" }, null);
    await fireAlarm(ADA);
    // Entry 1,000 is the first that fills a segment.
    await vi.waitFor(async () => expect(await archiveState(ADA)).toMatchObject({ line: 1_000 }));
    await addEntries(998);
    await accountOf().changePlan({ plan: "free", note: "-" }, null);
    await fireAlarm(ADA);
    await settle();
    expect(await archiveState(ADA)).toMatchObject({ line: 1_000 });
    await accountOf().changePlan({ plan: "studio", note: "-" }, null);
    await fireAlarm(ADA);
    await vi.waitFor(async () => expect(await archiveState(ADA)).toMatchObject({ line: 2_000 }));
  });

  it("the jobs of a segment are read a hundred at a time", async () => {
    await open();
    await work(120);
    await fireAlarm(ADA);
    const reads = vi.spyOn(AccountDatabase.prototype, "rows");
    await archiveNow(ADA);
    const of_jobs = reads.mock.calls.filter(([table]) => table === "jobs");
    reads.mockRestore();
    // 241 entries.
    expect(of_jobs).toHaveLength(3);
    expect(archivedRows(await storedSegments(await accountId(ADA)), "jobs")).toHaveLength(120);
  });

  it("an entry waits at most ARCHIVE_MAX_AGE_DAYS if the account is used", async () => {
    await open();
    passTime(6 * DAY_MS);
    await work(1);
    await fireAlarm(ADA);
    await settle();
    expect(await archiveState(ADA)).toBeUndefined();
    passTime(2 * DAY_MS);
    await work(1);
    await fireAlarm(ADA);
    await vi.waitFor(async () => expect(await archiveState(ADA)).toMatchObject({ line: 6 }));
    await work(1);
    await fireAlarm(ADA);
    await settle();
    expect(await archiveState(ADA)).toMatchObject({ line: 6 });
  });

  it("a thousand jobs with large metadata become several segments, so that none is larger than memory allows", async () => {
    await open();
    const metadata_json = JSON.stringify({ text: "x".repeat(15_000) });
    for (let batch = 0; batch < 6; batch += 1) {
      const job = { app_slug: "demo", policy: DEFAULT_POLICY, action: "draw", ttl_seconds: 3_600 };
      const jobs = Array.from({ length: 60 }, () => ({ ...job, metadata_json, cost_estimate: 1 }));
      const created = await accountOf().createJobs(session, jobs, null);
      expect(created.ok).toBe(true);
    }
    const head = await archiveNow(ADA);
    const files = await storedSegments(await accountId(ADA));
    expect(files).toHaveLength(2);
    for (const { text } of files) expect(text?.length).toBeLessThan(4.1 * 1024 * 1024);
    expect((await prove(await accountId(ADA), head)).problems).toEqual([]);
  });
});

describe("failures", () => {
  it("a job is created, completed and delivered while R2 does not respond", async () => {
    await open();
    await fireAlarm(ADA);
    const r2 = moodOfR2();
    r2.mood = "hangs";
    await accountOf().requestArchive();
    await fireAlarm(ADA);
    await vi.waitFor(() => expect(r2.writes).toBe(1));
    const job_id = await createJob(5);
    passTime(2 * 60 * 60 * 1000);
    await fireAlarm(ADA);
    // The same alarm expired the job and delivered both entries.
    const [job] = await query<{ status: string }>(
      ADA,
      `select status from jobs where id = '${job_id}'`,
    );
    expect(job).toEqual({ status: "failed" });
    const [row] = (await env.DB.prepare("select line from accounts").all()).results;
    expect(row).toEqual({ line: 4 });
    r2.mood = "well";
    await vi.waitFor(async () => expect(await archiveState(ADA)).toMatchObject({ line: 2 }));
  });

  for (const mood of ["fails before", "fails after"] as const) {
    it(`a write that ${mood} R2 stores it is repeated with the same entries, and the chain is whole`, async () => {
      await open();
      await work(2);
      const r2 = moodOfR2();
      r2.mood = mood;
      vi.spyOn(console, "warn").mockReturnValue();
      await accountOf().requestArchive();
      await fireAlarm(ADA);
      await vi.waitFor(async () =>
        expect((await archiveState(ADA))?.failing_since_ms).toBeGreaterThan(0),
      );
      expect(await archiveState(ADA)).toMatchObject({ line: 0, pending_line: 6 });
      expect(await readAlarm(ADA)).toBeGreaterThan(Date.now());
      // The account goes on, and its object is evicted.
      await work(1);
      await evict(ADA);
      r2.mood = "well";
      passTime(60_000);
      await fireAlarm(ADA);
      await vi.waitFor(async () => expect(await archiveState(ADA)).toMatchObject({ line: 6 }));
      const head = await archiveNow(ADA);
      const account_id = await accountId(ADA);
      expect(await segmentNames(account_id)).toEqual([
        "000000000001-000000000006.jsonl.gz",
        "000000000007-000000000008.jsonl.gz",
      ]);
      expect((await prove(account_id, head)).problems).toEqual([]);
    });
  }

  it("a segment of which D1 does not know is written once, and noted when D1 responds again", async () => {
    await open();
    const d1 = moodOfD1();
    const prototype = Object.getPrototypeOf(env.DB.prepare("select 1"));
    const run = vi.spyOn(prototype, "run").mockRejectedValue(new Error("D1_ERROR"));
    vi.spyOn(console, "warn").mockReturnValue();
    d1.mood = "fails before";
    await accountOf().requestArchive();
    await fireAlarm(ADA);
    await vi.waitFor(async () =>
      expect((await archiveState(ADA))?.failing_since_ms).toBeGreaterThan(0),
    );
    run.mockRestore();
    d1.mood = "well";
    const head = await archiveNow(ADA);
    expect(await segmentNames(await accountId(ADA))).toHaveLength(1);
    expect((await env.DB.prepare("select line from archive_heads").all()).results).toEqual([
      { line: head.line },
    ]);
  });

  it("a foreign segment in an account's folder is never replaced, and operators see the conflict", async () => {
    await open();
    const account_id = await accountId(ADA);
    const key = `${accountFolder(account_id)}000000000001-000000000002.jsonl.gz`;
    await env.ARCHIVE.put(key, await gzip("something else\n"));
    vi.spyOn(console, "warn").mockReturnValue();
    // The isolate counts failures at most once a minute.
    passTime(2 * 60 * 60 * 1000);
    await accountOf().requestArchive();
    await fireAlarm(ADA);
    await vi.waitFor(async () => {
      const { results } = await env.DIRECTORY.prepare("select kind, reason from failures").all();
      expect(results).toEqual([{ kind: "failed_archive", reason: "archive_conflict" }]);
    });
    expect(await archiveState(ADA)).toMatchObject({ line: 0 });
    const stored = await storedSegments(account_id);
    expect(stored.map(({ text }) => text)).toEqual(["something else\n"]);
  });
});

describe("what a stranger finds", () => {
  async function threeSegments() {
    await open();
    for (let segment = 0; segment < 3; segment += 1) {
      await work(2);
      await archiveNow(ADA);
    }
    const account_id = await accountId(ADA);
    const read = await accountOf().readArchived();
    const folder = accountFolder(account_id);
    const names = await segmentNames(account_id);
    expect((await prove(account_id, read?.head ?? null)).problems).toEqual([]);
    return {
      account_id,
      head: read?.head ?? null,
      keys: names.map((name) => folder + name),
      names,
    };
  }

  const bytesOf = async (key: string) =>
    new Uint8Array((await (await env.ARCHIVE.get(key))?.arrayBuffer()) ?? []);

  it("one flipped bit in any segment is found and the segment named", async () => {
    const { account_id, head, keys, names } = await threeSegments();
    for (const [at, key] of keys.entries()) {
      const bytes = await bytesOf(key);
      const damaged = bytes.slice();
      // The field of gzip's header for the operating system: the text stays the same.
      damaged[9] = (damaged[9] ?? 0) ^ 1;
      await env.ARCHIVE.put(key, damaged);
      const { problems } = await prove(account_id, head);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(names[at]);
      const middle = Math.floor(bytes.length / 2);
      damaged[middle] = (damaged[middle] ?? 0) ^ 0x10;
      await env.ARCHIVE.put(key, damaged);
      expect((await prove(account_id, head)).problems.join()).toContain(names[at]);
      await env.ARCHIVE.put(key, bytes);
    }
    expect((await prove(account_id, head)).problems).toEqual([]);
  });

  it("a missing segment is found wherever it is, and its entries are named", async () => {
    const { account_id, head, keys } = await threeSegments();
    const missing = ["entries 1 to 6 are missing", "entries 7 to 10", "entries 11 to 14"];
    for (const [at, key] of keys.entries()) {
      const bytes = await bytesOf(key);
      await env.ARCHIVE.delete(key);
      const { problems } = await prove(account_id, head);
      expect(problems[0]).toContain(missing[at]);
      await env.ARCHIVE.put(key, bytes);
    }
  });

  it("exchanged segments, exchanged lines and a changed amount are found, even if the hashes are made to fit", async () => {
    const { account_id, head, keys, names } = await threeSegments();
    const [, second = "", third = ""] = keys;
    const [two, three] = [await bytesOf(second), await bytesOf(third)];
    await env.ARCHIVE.put(second, three);
    await env.ARCHIVE.put(third, two);
    expect((await prove(account_id, head)).problems.join()).toContain(names[1]);
    await env.ARCHIVE.put(second, two);
    await env.ARCHIVE.put(third, three);
    const text = (await storedSegments(account_id))[2]?.text ?? "";
    const lines = text.split("\n");
    const at = lines.flatMap((line, index) => (line.includes('"entries"') ? [index] : []));
    const [one = 0, other = 0] = at;
    const exchanged = lines
      .with(one, lines[other] ?? "")
      .with(other, lines[one] ?? "")
      .join("\n");
    await env.ARCHIVE.put(third, await gzip(exchanged));
    // Somebody who can change the service's head too still cannot change the sums.
    expect((await prove(account_id, null)).problems.join()).toContain(`${names[2]} has entry`);
    await env.ARCHIVE.put(third, await gzip(text.replace('"amount":-3', '"amount":-2')));
    expect((await prove(account_id, null)).problems).toEqual([
      expect.stringMatching(/^entry 11 says a balance of \d+, but it must be \d+$/),
      expect.stringMatching(/^job [\w-]+ costs 2 credits, but its entries take 1$/),
    ]);
  });

  it("the archive says what a balance was at any time", async () => {
    await open();
    await work(1);
    const then_ms = Date.now();
    passTime(60_000);
    await work(4);
    const head = await archiveNow(ADA);
    const { at_time, newest } = await prove(await accountId(ADA), head, then_ms);
    expect(at_time).toMatchObject({ line: 4, credits: 1_000_000 - 2 });
    expect(newest).toMatchObject({ line: 12, credits: 1_000_000 - 10 });
  });
});

describe("deletion", () => {
  it("deleting an account deletes its segments and head, even one that was being written", async () => {
    await open();
    await work(2);
    await archiveNow(ADA);
    await work(1);
    const account_id = await accountId(ADA);
    const r2 = moodOfR2();
    r2.mood = "hangs";
    await accountOf().requestArchive();
    await fireAlarm(ADA);
    await vi.waitFor(() => expect(r2.writes).toBe(1));
    await accountOf().deleteAccount(session);
    r2.mood = "well";
    await vi.waitFor(async () => {
      await fireAlarm(ADA);
      const [row] = await query<{ erasure: string }>(ADA, "select erasure from account");
      expect(row?.erasure).toBe("done");
    });
    expect(await segmentNames(account_id)).toEqual([]);
    expect((await env.DB.prepare("select * from archive_heads").all()).results).toEqual([]);
    expect(await query(ADA, "select * from archive")).toEqual([]);
  });

  it("a segment that arrives after the erasure is deleted when the schedule repeats the deletion", async () => {
    const ada = await signInWithCredits();
    await archiveNow(ada.identity_id);
    const account_id = await accountId(ada.identity_id);
    const page = await postForm(ada, "/account/delete", { confirmation: "delete" });
    expect(page.status).toBe(200);
    await vi.waitFor(async () => {
      await fireAlarm(ada.identity_id);
      const [row] = await query<{ erasure: string }>(
        ada.identity_id,
        "select erasure from account",
      );
      expect(row?.erasure).toBe("done");
    });
    await vi.waitFor(async () => expect(await segmentNames(account_id)).toEqual([]));
    const late = `${accountFolder(account_id)}000000000003-000000000004.jsonl.gz`;
    await env.ARCHIVE.put(late, "late");
    passTime(2 * 60 * 60 * 1000);
    await upkeepOf(environmentWith({}))();
    expect(await segmentNames(account_id)).toEqual([]);
  });

  it("a deletion waits for an archive that does not respond", async () => {
    await open();
    await archiveNow(ADA);
    const account_id = await accountId(ADA);
    await accountOf().deleteAccount(session);
    const r2 = moodOfR2();
    r2.mood = "fails before";
    vi.spyOn(console, "error").mockReturnValue();
    await fireAlarm(ADA);
    passTime(60_000);
    await fireAlarm(ADA);
    expect(await query(ADA, "select erasure from account")).toEqual([{ erasure: "forgetting" }]);
    r2.mood = "well";
    expect(await segmentNames(account_id)).toHaveLength(1);
    passTime(60_000);
    await fireAlarm(ADA);
    expect(await query(ADA, "select erasure from account")).toEqual([{ erasure: "done" }]);
    expect(await segmentNames(account_id)).toEqual([]);
  });
});
