/** Two builds of the Worker on one state: a release, its rollback, and the minutes in which both run. */
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  addMigration,
  build,
  copySources,
  releasedRevision,
  renameMethod,
  type Build,
} from "./builds.ts";
import { openStage, type Stage } from "./stage.ts";
import {
  call,
  continueWork,
  expectReadModel,
  finishWork,
  job,
  openWork,
} from "./work_in_progress.ts";

/** Five bundles and a dozen starts of the runtime. */
const SLOW = { tags: ["slow"], timeout: 240_000 };
const FOLDER = resolve(".wrangler/builds");

const builds: Record<string, Build> = {};
let stage: Stage;

beforeAll(async () => {
  const copies = {
    released: copySources(join(FOLDER, "released"), releasedRevision()),
    current: copySources(join(FOLDER, "current"), null),
    additive: copySources(join(FOLDER, "additive"), null),
    breaking: copySources(join(FOLDER, "breaking"), null),
    renaming: copySources(join(FOLDER, "renaming"), null),
  };
  addMigration(copies.additive, 1);
  addMigration(copies.breaking, 2);
  renameMethod(copies.renaming, "createJob", "http/api/jobs/create.ts");
  for (const [name, copy] of Object.entries(copies)) builds[name] = await build(copy);
}, 240_000);
beforeEach(async () => {
  stage = await openStage(builds);
});
afterEach(() => stage.close());
afterAll(() => rm(FOLDER, { recursive: true, force: true }));

describe("a release that is taken back", SLOW, () => {
  it.each([
    ["the newest release and this build", "released", "current"],
    ["this build and a next one that only adds to the data", "current", "additive"],
  ])(
    "%s keep each other's keys, caps, holds and totals, there and back",
    async (_, older, newer) => {
      await stage.release(older);
      const work = await openWork(stage, "ada@example.com");
      await stage.release(newer);
      await continueWork(stage, work);
      await stage.release(older);
      await finishWork(stage, work);
      await expectReadModel(stage, work);
    },
  );

  it("this build refuses data that a next one changed, and the next one continues it", async () => {
    await stage.release("current");
    const work = await openWork(stage, "ada@example.com");
    await stage.release("breaking");
    await continueWork(stage, work);
    await stage.release("current");
    const completion = { job_id: work.capped_job, actual_cost: 18 };
    for (const answer of [
      await call(stage, work.session, "/api/wallet"),
      await call(stage, work.capped, "/api/jobs", job(1), "create-capped-3"),
      await call(stage, work.capped, "/api/jobs/complete", completion, "complete"),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: "newer_data" } });
    }
    await stage.release("breaking");
    await finishWork(stage, work);
    await expectReadModel(stage, work);
  });
});

describe("the minutes in which a new Worker calls objects of an older build", SLOW, () => {
  it.each([
    ["a new Worker and the released objects", "current", "released"],
    ["the released Worker and new objects", "released", "current"],
  ])("%s serve every step of a job", async (_, worker, objects) => {
    await stage.release(worker, objects);
    const work = await openWork(stage, "ada@example.com");
    await continueWork(stage, work);
    await finishWork(stage, work);
    await expectReadModel(stage, work);
  });

  it.each([
    ["a new Worker calls a method that older objects lack", "renaming", "current"],
    ["an older Worker calls a method that new objects have no more", "current", "renaming"],
  ])(
    "if %s, the request gets 503 with Retry-After and nothing is lost",
    async (_, worker, objects) => {
      await stage.release("current");
      const work = await openWork(stage, "ada@example.com");
      await stage.release(worker, objects);
      const refused = await call(stage, work.session, "/api/jobs", job(10), "create-session");
      expect(refused).toMatchObject({ status: 503, body: { code: "unavailable" } });
      expect(Number(refused.retry_after)).toBeGreaterThan(0);
      expect(await call(stage, work.session, "/api/wallet")).toMatchObject({
        status: 200,
        body: { account: { credits: 70 } },
      });
      // The Worker and its objects are of one build again, so a retry of the request succeeds.
      await stage.release("renaming");
      await continueWork(stage, work);
      await stage.release("current");
      await finishWork(stage, work);
      await expectReadModel(stage, work);
    },
  );
});
