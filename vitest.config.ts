import { resolve } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { Response } from "miniflare";
import { defineConfig } from "vitest/config";
import { developmentSettings } from "./src/commands/development_settings.ts";
import { prepareAssets } from "./src/commands/static_assets.ts";
import { turns } from "./test/mutants/workerd_turns.ts";
import { memoryFolder } from "./test/outside/support/memory_folder.ts";

// Stores are in temporary folders. Node and the processes that it starts create those in TMPDIR.
const in_memory = memoryFolder();
if (in_memory !== null) process.env["TMPDIR"] = in_memory;

// Tests have their own settings and keys, independent of a developer's .dev.vars.
const settings = Object.fromEntries(
  (await developmentSettings())
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [name = "", ...value] = line.split("=");
      return [name, value.join("=").replace(/^'|'$/g, "")];
    }),
);

// The Worker's configuration names the folder of the static files.
await prepareAssets();

// Tests start Wrangler some hundred times: Node keeps what it compiled, which is a quarter of each start.
process.env["NODE_COMPILE_CACHE"] ??= resolve("node_modules/.cache/node-compile");

// `npm run mutate` names what it wants in a file.
const { MUTANTS } = process.env;
const mutants = MUTANTS === undefined ? null : turns(MUTANTS);

export default defineConfig({
  test: {
    // Only the output of failing tests is shown.
    silent: "passed-only",
    tags: [
      { name: "slow", description: "`npm run check:slow` runs it, `npm test` does not." },
      { name: "history", description: "`npm test` runs a part, `npm run check:slow` all of it." },
    ],
    coverage: { provider: "istanbul", include: ["src/**"], exclude: ["src/commands/**"] },
    projects: [
      {
        plugins: [
          mutants?.plugin,
          cloudflareTest(async () => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                ...settings,
                TEST_D1_MIGRATIONS: await readD1Migrations("drizzle/readmodel"),
                TEST_DIRECTORY_MIGRATIONS: await readD1Migrations("drizzle/directory"),
                TEST_GENERATED_REQUESTS: process.env["GENERATED_REQUESTS"] ?? "1000",
                TEST_SLOW: process.env["TEST_SLOW"] ?? "false",
                TEST_MONTH_JOBS: process.env["MONTH_JOBS"] ?? "5000",
              },
              // Real queues, consumed by the Worker. Not bound as PROJECTIONS, since most tests deliver directly.
              queueProducers: { TEST_PROJECTIONS: "passbook-projections" },
              queueConsumers: {
                "passbook-projections": {
                  maxBatchSize: 100,
                  maxBatchTimeout: 0.05,
                  maxRetries: 2,
                  deadLetterQueue: "passbook-projections-dead",
                },
                "passbook-projections-dead": { maxBatchSize: 100, maxBatchTimeout: 0.05 },
              },
              // No test reaches the network.
              outboundService: async (request) =>
                mutants !== null && request.url.startsWith("http://mutants.test/")
                  ? Response.json(await mutants.respond(request))
                  : new Response(`not reachable in tests: ${request.url}`, { status: 599 }),
            },
          })),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          setupFiles: [
            "./test/worker/setup.ts",
            ...(mutants === null ? [] : ["./test/mutants/in_workerd.ts"]),
          ],
          // Random histories take long on a busy machine. The limit only ends tests that hang.
          testTimeout: 180_000,
          // One workerd for many files; `test/worker/setup.ts` gives each test empty stores.
          isolate: false,
          // One for each of two cores, since these tests compute.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          deps: {
            optimizer: {
              ssr: {
                enabled: true,
                include: [
                  "drizzle-orm",
                  "drizzle-orm/d1",
                  "drizzle-orm/durable-sqlite",
                  "drizzle-orm/sqlite-core",
                  "fast-check",
                  "hono",
                  "hono/body-limit",
                  "hono/cors",
                  "hono/html",
                  "hono/http-exception",
                  "hono/jsx/jsx-dev-runtime",
                  "hono/jsx/jsx-runtime",
                  "hono/route",
                  "hono/router/trie-router",
                  "hono/tiny",
                  "hono/utils/cookie",
                  "hono/validator",
                  "jose",
                  "oauth4webapi",
                  "standardwebhooks",
                  "stripe",
                  "uuid",
                  "zod",
                  "zod/mini",
                ],
              },
            },
          },
        },
      },
      {
        test: {
          name: "outside",
          include: ["test/outside/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          globalSetup: [
            "./test/outside/support/migrated_stores.ts",
            "./test/outside/support/unpacked_browser.ts",
          ],
          // One process for many files: a process of its own imports for a second what all files need.
          isolate: false,
          // More than two cores, since these tests wait for processes and browsers half of their time.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
    ],
  },
});
