import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../../../src/commands/bundle.ts";
import { freePort } from "../../../src/commands/local_worker.ts";
import { createJob, completeJob, takeCounts, untilQuiet } from "../../bench/lives.ts";
import { openWallet, signIn } from "../../bench/people.ts";
import { bundleWorker, readWorkerConfig, startWorker } from "../../bench/platform.ts";
import { writeQueueConfig } from "../../bench/queue_config.ts";
import { runSettings } from "../../bench/settings.ts";

let directory = "";
beforeAll(() => {
  mkdirSync(".wrangler", { recursive: true });
  directory = mkdtempSync(resolve(".wrangler", "queue-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("the build", () => {
  it(
    "the build works without the queue and with its blocks uncommented",
    { tags: ["slow"] },
    async () => {
      await bundle([], join(directory, "straight"));
      expect(readWorkerConfig("wrangler.toml").queues.producers ?? []).toEqual([]);
      const config = await writeQueueConfig(directory);
      await bundle([`--config=${config}`], join(directory, "queue"));
      const { producers, consumers } = readWorkerConfig(config).queues;
      expect(producers).toMatchObject([{ binding: "PROJECTIONS", queue: "passbook-projections" }]);
      expect(consumers).toMatchObject([
        {
          queue: "passbook-projections",
          max_batch_size: 100,
          max_concurrency: 1,
          dead_letter_queue: "passbook-projections-dead",
        },
        { queue: "passbook-projections-dead" },
      ]);
    },
  );

  it("with the queue bound, changes reach D1 through the queue", { tags: ["slow"] }, async () => {
    const config = await writeQueueConfig(directory);
    const built = join(directory, "bound");
    await bundleWorker(config, built);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const runtime = await startWorker({
      config,
      bundle: built,
      persist_to: join(directory, "stores"),
      port,
      settings: { ...(await runSettings()), BASE_URL: url },
      around: await readFile("test/bench/workers/counted.js", "utf8"),
      fresh: true,
      inspector_port: null,
    });
    try {
      const ada = await signIn(url, "ada@example.com");
      await openWallet(url, ada);
      await takeCounts(url);
      const manner = { name: "session", proof: ada.session, keyed: false };
      await completeJob(url, manner, await createJob(url, manner));
      // The queue waits some seconds for more messages before it calls the consumer.
      let counted = await untilQuiet(url, true);
      for (let tries = 0; counted.queue_batches === 0 && tries < 5; tries += 1) {
        const { queue_batches } = await untilQuiet(url, false);
        counted = { ...counted, queue_batches };
      }
      expect(counted.queue_messages).toBeGreaterThan(0);
      expect(counted.queue_batches).toBeGreaterThan(0);
      const database = await runtime.getD1Database("DB");
      const { results } = await database.prepare("select status, actual_cost from jobs").all();
      expect(results).toEqual([{ status: "completed", actual_cost: 2 }]);
    } finally {
      await runtime.dispose();
    }
  });
});
