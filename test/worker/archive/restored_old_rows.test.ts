/** An account whose old rows have left for the archive is restored to an earlier time. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ACCOUNT_FULL_BYTES, ARCHIVE_AFTER_DAYS } from "../../../src/domain/limits.ts";
import { accountFolder, jobsFolder, restoreFolder } from "../../../src/domain/archive_segment.ts";
import { query, repeatAlarm, useSettings } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { accountOf, begin, expectSound, giveRecovery, now, restore } from "../support/recovery.ts";
import { signInOperator } from "../http/api/admin/operators.ts";
import { accountId, archiveNow, segmentNames } from "./archived.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let ada: SignedIn;
/** The size that the object's storage reports. */
let bytes = 0;

beforeEach(async () => {
  // The Worker's clock is ahead of real time, so that no alarm fires by itself.
  passTime(60 * 60 * 1000);
  bytes = 0;
  await giveRecovery();
  ada = await signInWithCredits();
  await runInDurableObject(accountOf(ada), (_, state) => {
    const prototype = Object.getPrototypeOf(state.storage.sql);
    vi.spyOn(prototype, "databaseSize", "get").mockImplementation(() => bytes);
  });
});

/** Jobs that cost 2 credits each, in segments of their own. */
async function work(jobs: number): Promise<void> {
  for (let done = 0; done < jobs; done += 1) {
    passTime(1_000);
    const job = { app: "demo", action: "draw", cost_estimate: 3 };
    const { job_id } = (await ada.post("/api/jobs", job)).body;
    const ended = await ada.post("/api/jobs/complete", { job_id, actual_cost: 2 });
    expect(ended.status).toBe(200);
  }
  await archiveNow(ada.identity_id);
}

/** Sessions have ended meanwhile. */
async function passAge(): Promise<void> {
  passTime((ARCHIVE_AFTER_DAYS.usual + 1) * DAY_MS);
  ada = await signIn();
}

const forward = async () =>
  (await query<{ line: number }>(ada.identity_id, "select line from balance_forward"))[0]?.line;

const counts = () =>
  query(
    ada.identity_id,
    "select (select count(*) from entries) as entries, (select count(*) from jobs) as jobs",
  );

/** The storage is half full, so what is old leaves. */
async function leave(until: number): Promise<void> {
  bytes = ACCOUNT_FULL_BYTES / 2;
  await vi.waitFor(async () => {
    // What a read brought back leaves again after an hour.
    passTime(61 * 60 * 1000);
    await repeatAlarm(ada.identity_id);
    expect(await forward()).toBe(until);
  }, 10_000);
  ada = await signIn();
}

const ledger = async () =>
  (await ada.get("/api/ledger?limit=100")).body.entries as { line: number }[];

const jobs = async () => (await ada.get("/api/jobs?limit=100")).body.jobs as object[];

describe("restoring an account whose old rows leave", () => {
  it("rows that left after the time come back once, and leave again", async () => {
    await work(6);
    await work(2);
    await passAge();
    const before = { entries: await ledger(), jobs: await jobs() };
    const to = now();
    await accountOf(ada).adjustCredits({ amount: -40, note: "by mistake" }, null);
    await leave(18);
    expect(await counts()).toMatchObject([{ entries: 2 }]);
    bytes = 0;
    expect((await restore(await signInOperator(), ada, to)).body.now).toMatchObject({
      line: 20,
      credits: 84,
    });
    // In the object, as at the time.
    expect(await forward()).toBeUndefined();
    expect(await counts()).toEqual([{ entries: 20, jobs: 8 }]);
    const after = await ledger();
    expect(after.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, at) => 20 - at));
    expect(after.slice(2)).toEqual(before.entries);
    expect(await jobs()).toEqual(before.jobs);
    await expectSound(await signInOperator(), ada);
    await leave(18);
    expect(await ledger()).toEqual(after);
    expect(await jobs()).toEqual(before.jobs);
    await expectSound(await signInOperator(), ada);
  });

  it("a time whose entries have left is refused with the earliest possible one, which can be restored", async () => {
    await useSettings(ada.identity_id, { ARCHIVE_AFTER_DAYS: "0" });
    const too_early = now();
    await work(6);
    await work(2);
    await leave(14);
    const held = await counts();
    const refused = await restore(await signInOperator(), ada, too_early);
    expect(refused).toMatchObject({ status: 409, body: { code: "recovery_refused" } });
    const [, earliest = ""] = /Choose (\S+) or later/.exec(refused.body.error) ?? [];
    expect(Date.parse(earliest)).toBeGreaterThan(Date.parse(too_early));
    expect(await counts()).toEqual(held);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(84);
    bytes = 0;
    const restored = await restore(await signInOperator(), ada, earliest);
    expect(restored.body.now).toMatchObject({ line: 19, credits: 88 });
    const lines = (await ledger()).map(({ line }) => line);
    expect(lines).toEqual(Array.from({ length: 19 }, (_, at) => 19 - at));
    await expectSound(await signInOperator(), ada);
  });

  it("until a restore is finished, the earlier storage writes no segment into the archive's chain", async () => {
    await work(1);
    const account_id = await accountId(ada.identity_id);
    await accountOf(ada).adjustCredits({ amount: 1, note: "-" }, null);
    const to = now();
    await work(1);
    const names = await segmentNames(account_id);
    vi.spyOn(console, "warn").mockReturnValue();
    await begin(ada, to);
    await accountOf(ada).requestArchive();
    await repeatAlarm(ada.identity_id);
    const failing = "select failing_since_ms from archive where failing_since_ms is not null";
    await vi.waitFor(async () => expect(await query(ada.identity_id, failing)).toHaveLength(1));
    expect(await segmentNames(account_id)).toEqual(names);
    expect((await restore(await signInOperator(), ada, to)).status).toBe(200);
    await expectSound(await signInOperator(), ada);
  });

  it("the deletion of a restored person deletes every file, also those of a restore that was not finished", async () => {
    await work(6);
    await work(2);
    await passAge();
    const to = now();
    await leave(14);
    expect((await restore(await signInOperator(), ada, to)).status).toBe(200);
    await leave(18);
    const later = now();
    await begin(ada, later);
    const account_id = await accountId(ada.identity_id);
    const folders = [accountFolder, jobsFolder, restoreFolder].map((of) => of(account_id));
    const files = () =>
      Promise.all(
        folders.map(async (prefix) => (await env.ARCHIVE.list({ prefix })).objects.length),
      );
    for (const found of await files()) expect(found).toBeGreaterThan(0);
    await accountOf(ada).deleteAccount({ kind: "holder" } as const);
    await vi.waitFor(async () => {
      await repeatAlarm(ada.identity_id);
      expect(await files()).toEqual([0, 0, 0]);
    });
    expect(await counts()).toEqual([{ entries: 0, jobs: 0 }]);
  });
});
