/** Releases whose accounts do not work, deployed with `npm run deploy`: real builds, one after another on one state. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { signIn } from "../../bench/people.ts";
import { openCloudflare, type CloudflareDouble } from "../commands/cloudflare_double.ts";
import { deployTo, PATIENCE_MS, writeSmallWorker } from "../commands/deploy_run.ts";
import { addMigration, build, copySources, renameMethod, replaceIn, type Build } from "./builds.ts";
import { openStage, type Stage } from "./stage.ts";
import {
  call,
  continueWork,
  expectReadModel,
  finishWork,
  job,
  openWork,
  type Reply,
} from "./work_in_progress.ts";

/** Four bundles, and three deployments. */
const SLOW = { tags: ["slow"], timeout: PATIENCE_MS };
const FOLDER = resolve(".wrangler/refused_releases");

const builds: Record<string, Build> = {};
let stage: Stage;
let cloudflare: CloudflareDouble;
let folder = "";

beforeAll(async () => {
  const names = ["good", "throwing migration", "throwing constructor", "removed method"] as const;
  const [good, migration, constructor, method] = names.map((name) =>
    copySources(join(FOLDER, name.replace(" ", "_")), null),
  ) as [string, string, string, string];
  addMigration(migration, 1, "ALTER TABLE `no_such_table` ADD `added` integer;");
  replaceIn(
    join(constructor, "src/account/object.ts"),
    "this.#instance = new Instance(ctx, env, () => this.openCardCharges());",
    'throw new Error("a defect of this release");',
  );
  renameMethod(method, "exercise");
  for (const [index, copy] of [good, migration, constructor, method].entries())
    builds[names[index] ?? ""] = await build(copy);
}, 240_000);
beforeEach(async () => {
  stage = await openStage(builds);
  cloudflare = await openCloudflare();
  folder = await mkdtemp(join(tmpdir(), "passbook-refused-release-"));
});
afterEach(async () => {
  await stage.close();
  await cloudflare.close();
  await rm(folder, { recursive: true, force: true });
});
afterAll(() => rm(FOLDER, { recursive: true, force: true }));

interface Seen {
  readonly readiness: { readonly status: number; readonly body: unknown };
  readonly wallet: Reply;
  readonly retry: Reply;
  /** The first use of an account: its object has no tables yet. */
  readonly newcomer: Reply;
}

describe("npm run deploy, with real builds", SLOW, () => {
  it.each([
    ["throwing migration", 503],
    ["throwing constructor", 503],
    // Only the canary calls the removed method, so accounts work until the rollback.
    ["removed method", 200],
  ])(
    "npm run deploy takes back a release with a %s, and the earlier build continues every account",
    async (bad, accounts) => {
      const readyz = new URL("/readyz", stage.url);
      await stage.release("good");
      expect((await fetch(readyz)).status).toBe(200);
      const work = await openWork(stage, "ada@example.com");
      const newcomer = await signIn(stage.url, "newcomer@example.com");

      const earlier = cloudflare.deployEarlier(readyz);
      const seen: Seen[] = [];
      cloudflare.ready(readyz);
      cloudflare.follow(async (version) => {
        await stage.release(version === earlier ? "good" : bad);
        if (version === earlier) return;
        const readiness = await fetch(readyz);
        seen.push({
          readiness: { status: readiness.status, body: await readiness.json() },
          wallet: await call(stage, work.session, "/api/wallet"),
          retry: await call(stage, work.capped, "/api/jobs", job(20), "create-capped"),
          newcomer: await call(stage, newcomer.session, "/api/wallet"),
        });
      });
      const run = await deployTo(cloudflare, await writeSmallWorker(folder), "--discard-secrets");

      expect(seen).toEqual([
        {
          readiness: {
            status: 503,
            body: {
              ok: false,
              checks: {
                directory: true,
                read_model: true,
                // These builds have no bucket, which is only a warning.
                archive: false,
                codes: true,
                keys: true,
                account: false,
              },
            },
          },
          wallet: expect.objectContaining({ status: accounts }),
          retry: expect.objectContaining({ status: accounts }),
          newcomer: expect.objectContaining({
            status: accounts,
            retry_after: accounts === 503 ? "5" : null,
          }),
        },
      ]);
      expect(run.code).toBe(1);
      expect(run.said).toContain("The new release is not ready: archive, account.");
      expect(run.said).toContain(
        `Rolled back to version ${earlier}, which was live before. It is ready.`,
      );
      expect(cloudflare.live()).toBe(earlier);

      if (bad === "throwing migration") {
        await vi.waitFor(() =>
          expect(stage.log()).toMatch(
            /account_migration_failed.*migration: 'added'.*no such table: no_such_table/s,
          ),
        );
      }

      await continueWork(stage, work);
      await finishWork(stage, work);
      await expectReadModel(stage, work);
    },
  );
});
