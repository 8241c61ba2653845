/**
 * Many accounts write to an archive that fails, hangs, loses responses, and gets writes twice and out of order, while objects are
 * evicted and alarms repeat. In the end the archive has byte for byte the entries of the objects, and any change of it is found.
 * `npm run check:slow` writes a million entries.
 */
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { gunzip, sha256 } from "../../../src/archive/bytes.ts";
import { proveArchive, type StoredSegment } from "../../../src/domain/archive_chain.ts";
import {
  accountFolder,
  rangeOfName,
  rowLine,
  type ArchiveHead,
} from "../../../src/domain/archive_segment.ts";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { evict, fireAlarm, query, repeatAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { IS_SLOW_CHECK } from "../support/histories.ts";
import { moodOfR2, type R2Mood } from "./archive_faults.ts";
import { accountId, archivedRows, archiveNow, prove, storedSegments } from "./archived.ts";

const ACCOUNTS = IS_SLOW_CHECK ? 200 : 8;
const ENTRIES = IS_SLOW_CHECK ? 5_000 : 1_500;
/** Batches of jobs between which something fails. */
const STEPS = 6;
const BATCH_MAX = 100;

const session = { kind: "holder" } as const;
const MOODS: readonly R2Mood[] = ["well", "fails before", "fails after", "hangs", "twice", "late"];

/** Numbers that look random and are the same in every run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const job = {
  app_slug: "demo",
  policy: DEFAULT_POLICY,
  action: "draw",
  ttl_seconds: 3_600,
  metadata_json: null,
};

/** Creates and completes jobs until the account has about this many more entries. */
async function work(identity_id: string, entries: number, random: () => number): Promise<void> {
  const account = env.ACCOUNT.getByName(identity_id);
  for (let left = Math.ceil(entries / 2); left > 0; left -= BATCH_MAX) {
    const count = Math.min(left, BATCH_MAX);
    const jobs = Array.from({ length: count }, () => ({ ...job, cost_estimate: 5 }));
    const created = await account.createJobs(session, jobs, null);
    if (!created.ok) throw new Error("refused");
    const requests = created.value.value.results.flatMap((result) =>
      "job_id" in result
        ? [
            {
              job_id: String(result.job_id),
              actual_cost: Math.floor(random() * 7),
              metadata_json: null,
            },
          ]
        : [],
    );
    // Some jobs stay started, and expire.
    await account.completeJobs(session, requests.slice(Math.floor(random() * 3)), null);
  }
}

/** One flipped bit, one missing segment and two exchanged ones are each found, and named. */
async function expectChangesFound(
  account_id: string,
  head: ArchiveHead,
  random: () => number,
): Promise<void> {
  const files = await storedSegments(account_id);
  const at = Math.floor(random() * (files.length - 1));
  const [one, next] = [files[at], files[at + 1]];
  if (one === undefined || next === undefined) throw new Error("too few segments");
  const problemsOf = async (changed: readonly StoredSegment[]): Promise<string> => {
    const archived = { account_id, files: () => changed, head, until_ms: Infinity };
    return (await proveArchive(archived)).problems.join("; ");
  };
  const bytes = await readBytes(account_id, one.name);
  const place = Math.floor(random() * bytes.length);
  bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(random() * 8));
  const text = await gunzip(bytes).catch(() => null);
  const flipped = { ...one, sha256: await sha256(bytes), text };
  expect(await problemsOf(files.with(at, flipped))).toContain(one.name);
  const first = rangeOfName(one.name)?.first ?? 0;
  expect(await problemsOf(files.toSpliced(at, 1))).toContain(`entries ${first} to`);
  const exchanged = [
    { ...next, name: one.name },
    { ...one, name: next.name },
  ];
  expect(await problemsOf(files.toSpliced(at, 2, ...exchanged))).toContain(one.name);
}

async function readBytes(account_id: string, name: string): Promise<Uint8Array> {
  const stored = await env.ARCHIVE.get(accountFolder(account_id) + name);
  return new Uint8Array((await stored?.arrayBuffer()) ?? []);
}

it(
  `the archive of ${ACCOUNTS} accounts with ${ENTRIES} entries each equals the objects, whatever fails meanwhile`,
  { tags: ["history"], timeout: 3_600_000 },
  async () => {
    passTime(60 * 60 * 1000);
    const random = numbersFrom(33);
    const pick = <Value>(values: readonly Value[]): Value =>
      values[Math.floor(random() * values.length)] as Value;
    const r2 = moodOfR2();
    vi.spyOn(console, "warn").mockReturnValue();
    const people = Array.from({ length: ACCOUNTS }, (_, at) => `person_${at}`);
    const app = { slug: "demo", starter_credits: 1_000_000, is_registered: true };
    for (const who of people) await env.ACCOUNT.getByName(who).wallet(session, { app });
    for (let step = 0; step < STEPS; step += 1) {
      for (const who of people) {
        r2.mood = pick(MOODS);
        await work(who, ENTRIES / STEPS, random);
        if (random() < 0.5) await env.ACCOUNT.getByName(who).requestArchive();
        await fireAlarm(who);
        if (random() < 0.3) await repeatAlarm(who);
        // The platform evicts no object that waits for R2.
        if (r2.mood !== "hangs" && random() < 0.5) await evict(who);
        r2.mood = "well";
        if (random() < 0.5) await r2.arrive();
        passTime(20 * 60 * 1000);
      }
    }
    await r2.arrive();
    for (const who of people) {
      const head = await archiveNow(who);
      const account_id = await accountId(who);
      const proof = await prove(account_id, head);
      expect(proof.problems, who).toEqual([]);
      const entries = await query<Record<string, unknown>>(
        who,
        "select * from entries order by line",
      );
      const newest = entries.at(-1);
      expect(proof.newest).toMatchObject({
        line: newest?.["line"],
        credits: newest?.["balance_after"],
        held: newest?.["reserved_after"],
        started_jobs: newest?.["open_jobs"],
      });
      const text = (rows: readonly Readonly<Record<string, unknown>>[]): string =>
        rows.map((row) => rowLine({ table: "entries", row })).join("\n");
      const archived = archivedRows(await storedSegments(account_id), "entries");
      expect(text(archived) === text(entries), who).toBe(true);
      expect(entries.length).toBeGreaterThan(ENTRIES * 0.9);
      await expectChangesFound(account_id, head, random);
    }
  },
);
