/** Two builds of the Worker on one state: a release, its way back, and the minutes in which both run. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import { deviceLogin, signIn, type Person } from "../../bench/people.ts";
import { runSettings } from "../../bench/settings.ts";
import {
  addMigration,
  build,
  copySources,
  releasedRevision,
  startBuilds,
  type Build,
  type RunningBuilds,
} from "./builds.ts";

/** Three bundles and a dozen starts of the runtime. */
const SLOW = { tags: ["slow"], timeout: 240_000 };
const FOLDER = resolve(".wrangler/builds");
const APP = "bench";
const CAP = 30;

const builds: Record<string, Build> = {};
let settings: Record<string, string> = {};
let folder = "";
let port = 0;
let running: RunningBuilds | undefined;

beforeAll(async () => {
  settings = { ...(await runSettings()), DEFAULT_STARTER_CREDITS: "100" };
  const copies = {
    released: copySources(join(FOLDER, "released"), releasedRevision()),
    current: copySources(join(FOLDER, "current"), null),
    additive: copySources(join(FOLDER, "additive"), null),
    breaking: copySources(join(FOLDER, "breaking"), null),
  };
  addMigration(copies.additive, 1);
  addMigration(copies.breaking, 2);
  for (const [name, copy] of Object.entries(copies)) builds[name] = await build(copy);
}, 240_000);
afterEach(async () => {
  await running?.runtime.dispose();
  running = undefined;
  await rm(folder, { recursive: true, force: true });
});
afterAll(() => rm(FOLDER, { recursive: true, force: true }));

/** Puts a build on the state, in place of the one before. `objects`: another build whose objects still run. */
async function release(name: string, objects?: string): Promise<void> {
  await running?.runtime.dispose();
  const is_new = running === undefined;
  if (is_new) {
    folder = await mkdtemp(join(tmpdir(), "passbook-builds-"));
    port = await freePort();
  }
  const worker = builds[name];
  const older = objects === undefined ? undefined : builds[objects];
  if (worker === undefined) throw new Error(`there is no build ${name}`);
  running = await startBuilds({
    worker,
    ...(older === undefined ? {} : { objects: older }),
    persist_to: folder,
    port,
    settings,
    is_new,
  });
}

const url = (): string => running?.url ?? "";

interface Reply {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: Record<string, unknown> & {
    readonly job_id: string;
    readonly credits: number;
    readonly code: string;
  };
}

async function call(
  proof: readonly string[],
  path: string,
  body?: object,
  key?: string,
): Promise<Reply> {
  const [authorization = ""] = proof;
  const response = await fetch(`${url()}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      Authorization: authorization.slice("Authorization: ".length),
      "Content-Type": "application/json",
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const replayed = response.headers.get("Idempotency-Replayed") === "true";
  return { status: response.status, replayed, body: (await response.json()) as Reply["body"] };
}

const job = (cost_estimate: number): object => ({ app: APP, action: "draw", cost_estimate });

interface InFlight {
  readonly identity_id: string;
  readonly session: readonly string[];
  /** A token with a cap of {@link CAP} in total. */
  readonly capped: readonly string[];
  /** A started job of the token, which holds 20 of the cap. */
  readonly capped_job: string;
  /** A started job of the holder's session that holds 10. */
  readonly session_job: string;
}

/** A person with 100 credits, a capped token, keys that were used, and two started jobs. */
async function openWork(email: string): Promise<InFlight> {
  const person: Person = await signIn(url(), email);
  expect((await call(person.session, `/api/wallet?app=${APP}`)).status).toBe(200);
  const limits = { scopes: ["read", "write"], cap: { credits: CAP, period: "total" } };
  const capped = await deviceLogin(url(), person, limits);
  const first = await call(capped, "/api/jobs", job(20), "create-capped");
  const second = await call(person.session, "/api/jobs", job(10), "create-session");
  expect([first.status, second.status, second.body.credits]).toEqual([200, 200, 70]);
  const { identity_id, session } = person;
  return {
    identity_id,
    session,
    capped,
    capped_job: first.body.job_id,
    session_job: second.body.job_id,
  };
}

/** The other build keeps every promise of the first: keys, the cap and what is held. */
async function continueWork({ session, capped, capped_job, session_job }: InFlight): Promise<void> {
  const retried = await call(capped, "/api/jobs", job(20), "create-capped");
  expect({ ...retried, job_id: retried.body.job_id }).toMatchObject({
    status: 200,
    replayed: true,
    job_id: capped_job,
  });
  expect(await call(capped, "/api/jobs", job(11), "create-capped-2")).toMatchObject({
    status: 402,
  });
  expect((await call(session, "/api/jobs", job(10), "create-session")).replayed).toBe(true);
  const completed = await call(
    session,
    "/api/jobs/complete",
    { job_id: session_job, actual_cost: 4 },
    "complete",
  );
  expect(completed).toMatchObject({ status: 200, replayed: false, body: { credits: 76 } });
  const settled = await call(
    capped,
    "/api/jobs/complete",
    { job_id: capped_job, actual_cost: 18 },
    "complete",
  );
  expect(settled).toMatchObject({ status: 200, body: { credits: 78 } });
}

/** After the step back nothing is charged twice, the cap holds, and the ledger is the balance. */
async function finishWork({ session, capped, capped_job }: InFlight): Promise<void> {
  const again = await call(
    capped,
    "/api/jobs/complete",
    { job_id: capped_job, actual_cost: 18 },
    "complete",
  );
  expect(again).toMatchObject({ status: 200, replayed: true, body: { credits: 78 } });
  expect((await call(capped, "/api/jobs", job(13))).status).toBe(402);
  const last = await call(capped, "/api/jobs", job(12));
  expect(last).toMatchObject({ status: 200, body: { credits: 66 } });
  const failed = await call(capped, "/api/jobs/fail", { job_id: last.body.job_id });
  expect(failed).toMatchObject({ status: 200, body: { credits: 78 } });
  const { body } = await call(session, "/api/ledger?limit=200");
  const entries = body["entries"] as { amount: number; balance_after: number }[];
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(78);
  expect(entries[0]?.balance_after).toBe(78);
}

/** Waits until D1 has the account as it is, and the day's totals with each entry once. */
async function expectReadModel({ identity_id }: InFlight): Promise<void> {
  const database = await running?.runtime.getD1Database("DB", "worker");
  await vi.waitFor(
    async () => {
      const account = await database
        ?.prepare("select credits, reserved from accounts where identity_id = ?")
        .bind(identity_id)
        .first();
      expect(account).toEqual({ credits: 78, reserved: 0 });
      const totals = await database
        ?.prepare(
          "select sum(granted) as granted, sum(settled) as settled, sum(jobs) as jobs from daily_totals",
        )
        .first();
      expect(totals).toEqual({ granted: 100, settled: 22, jobs: 3 });
    },
    { timeout: 60_000, interval: 500 },
  );
}

describe("a release that is taken back", SLOW, () => {
  it.each([
    ["the newest release and this build", "released", "current"],
    ["this build and a next one that only adds to the data", "current", "additive"],
  ])(
    "%s keep each other's keys, caps, holds and totals, there and back",
    async (_, older, newer) => {
      await release(older);
      const work = await openWork("ada@example.com");
      await release(newer);
      await continueWork(work);
      await release(older);
      await finishWork(work);
      await expectReadModel(work);
    },
  );

  it("this build refuses data that a next one changed, and the next one continues it", async () => {
    await release("current");
    const work = await openWork("ada@example.com");
    await release("breaking");
    await continueWork(work);
    await release("current");
    for (const answer of [
      await call(work.session, "/api/wallet"),
      await call(work.capped, "/api/jobs", job(1), "create-capped-3"),
      await call(
        work.capped,
        "/api/jobs/complete",
        { job_id: work.capped_job, actual_cost: 18 },
        "complete",
      ),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: "newer_data" } });
    }
    await release("breaking");
    await finishWork(work);
    await expectReadModel(work);
  });
});

describe("the minutes in which a new Worker calls objects of an older build", SLOW, () => {
  it.each([
    ["a new Worker and the released objects", "current", "released"],
    ["the released Worker and new objects", "released", "current"],
  ])("%s serve every step of a job", async (_, worker, objects) => {
    await release(worker, objects);
    const work = await openWork("ada@example.com");
    await continueWork(work);
    await finishWork(work);
    await expectReadModel(work);
  });
});
