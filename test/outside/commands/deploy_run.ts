/** Runs `npm run deploy` as an operator does, against the test double of Cloudflare. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { exitCode } from "../../../src/commands/local_worker.ts";
import type { CloudflareDouble, InventedReadiness } from "./cloudflare_double.ts";

export const HOST = "passbook.example.com";
export const ADDRESS = `BASE_URL = "https://${HOST}"`;
export const ROUTES = `routes = [{ pattern = "${HOST}", custom_domain = true }]`;

/** A deployment runs Wrangler many times. */
export const PATIENCE_MS = 900_000;

/** Responses to `/readyz`. */
export const READY: InventedReadiness = {
  status: 200,
  body: { ok: true, checks: { directory: true } },
};
export const NOT_READY: InventedReadiness = {
  status: 503,
  body: { ok: false, checks: { directory: true, account: false } },
};

export interface Run {
  readonly code: number;
  readonly said: string;
}

/** Runs `npm run deploy` with a configuration file. */
export async function deployTo(
  cloudflare: CloudflareDouble,
  config: string,
  ...args: readonly string[]
): Promise<Run> {
  const child = spawn("node", ["src/commands/run.js", "deploy", `--config=${config}`, ...args], {
    env: {
      ...process.env,
      CLOUDFLARE_API_BASE_URL: cloudflare.url,
      CLOUDFLARE_API_TOKEN: "token-of-the-operator",
      CLOUDFLARE_ACCOUNT_ID: "account",
      // The address of the deployed Worker leads to the test double too.
      NODE_OPTIONS: `--import=${rerouted(cloudflare)}`,
      WRANGLER_WRITE_LOGS: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [code, output, errors] = await Promise.all([
    exitCode(child),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, said: `${output}${errors}` };
}

/** A module that reroutes requests for the Worker's host and for the metrics, and skips the command's pauses of whole seconds. */
function rerouted(cloudflare: CloudflareDouble): string {
  const source = `const before = globalThis.fetch;
const later = globalThis.setTimeout;
if (process.argv[1]?.endsWith("run.js"))
  globalThis.setTimeout = (run, ms, ...more) => later(run, ms === 3000 || ms === 30000 ? 1 : ms, ...more);
globalThis.fetch = (input, init) => {
  const host = ["https://${HOST}", "https://api.cloudflare.com"].find((it) => String(input).startsWith(it + "/"));
  return host === undefined ? before(input, init) : before(String(input).replace(host, "${cloudflare.url}"), init);
};`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** A Worker with an object and two rate limits. It has no databases, so a deployment runs Wrangler only a few times. */
export async function writeSmallWorker(folder: string, name = "passbook"): Promise<string> {
  await writeFile(
    join(folder, "worker.js"),
    `import { DurableObject } from "cloudflare:workers";
export class Account extends DurableObject {}
export default { fetch: () => new Response() };`,
  );
  const config = join(folder, `${name}.toml`);
  await writeFile(
    config,
    `name = "${name}"
main = "worker.js"
compatibility_date = "2026-10-20"
${ROUTES}

[vars]
${ADDRESS}

[[durable_objects.bindings]]
name = "ACCOUNT"
class_name = "Account"

[exports.Account]
type = "durable-object"
storage = "sqlite"

[[ratelimits]]
name = "LIMIT_WRITES"
namespace_id = "1"
simple = { limit = 1, period = 10 }

[[ratelimits]]
name = "LIMIT_DEVICE_POLL"
namespace_id = "2"
simple = { limit = 1, period = 10 }
`,
  );
  return config;
}
