/** Running the Worker on this machine: migrations first, then `wrangler dev`. */
import { spawn, type ChildProcess } from "node:child_process";
import http from "node:http";
import https from "node:https";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { withoutRoutes } from "./routeless_config.ts";
import { migratedDatabases, readWorkerConfig } from "./wrangler_config.ts";

/** Wrangler must not prompt, report usage, or look up a Cloudflare location. */
const ENVIRONMENT = {
  ...process.env,
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** Applies D1's migrations to the local databases under `persist_to` (Wrangler's default if null). */
export async function applyMigrations(persist_to: string | null): Promise<void> {
  // One after the other: both write to the same folder.
  const where = persist_to === null ? [] : ["--persist-to", persist_to];
  for (const database of migratedDatabases(readWorkerConfig())) {
    await migrate(database, where);
  }
}

async function migrate(database: string, where: readonly string[]): Promise<void> {
  const migrations = spawn(
    "wrangler",
    ["d1", "migrations", "apply", database, "--local", ...where],
    {
      // On a terminal Wrangler would wait for a confirmation.
      env: { ...ENVIRONMENT, CI: "true" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  migrations.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  migrations.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  if ((await exitCode(migrations)) !== 0) {
    throw new Error(`The local database ${database} could not be migrated:\n${output}`);
  }
}

/**
 * Starts `wrangler dev` in its own process group (`process_group.ts`). `kill` on the returned process ends the whole
 * group, and so does the end of this process, even by SIGKILL.
 */
export async function startWrangler(
  given: readonly string[],
  output: "inherit" | "pipe",
): Promise<ChildProcess> {
  const args = await withoutRoutes(given);
  const process_group = fileURLToPath(new URL("process_group.ts", import.meta.url));
  return spawn(process.execPath, [process_group, "wrangler", "dev", ...args], {
    // Output that is passed on to a terminal keeps its colours.
    env: process.stdout.isTTY ? { ...ENVIRONMENT, FORCE_COLOR: "1" } : ENVIRONMENT,
    // Its standard input closes when this process ends. Detached, so that signals of the terminal reach it only
    // through this process.
    stdio: ["pipe", output, output],
    detached: true,
  });
}

/** The exit code of a child process; 1 if a signal ended it. */
export function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** A free port of the loopback interface. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

export interface LocalWorker {
  readonly url: string;
  /** The output of the Worker and of Wrangler so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface LocalWorkerOptions {
  readonly port: number;
  readonly persist_to: string;
  /** A file of `NAME=value` lines, used instead of `.dev.vars`. */
  readonly env_file: string;
  /** The entry file, if not that of wrangler.toml: tests add their own RPC methods. */
  readonly script?: string;
  /** PEM files for https; http without them. */
  readonly certificate?: { readonly key_path: string; readonly certificate_path: string };
}

/** Starts a Worker with its own state, and waits until it responds. */
export async function startLocalWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  await applyMigrations(options.persist_to);
  return startMigratedWorker(options);
}

/** Starts a Worker on databases that are already migrated, and waits until it responds. */
export async function startMigratedWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  const { certificate } = options;
  const url = `${certificate === undefined ? "http" : "https"}://localhost:${options.port}`;
  const child = await startWrangler(
    [
      ...(options.script === undefined ? [] : [options.script]),
      ...(certificate === undefined
        ? []
        : [
            "--local-protocol=https",
            `--https-key-path=${certificate.key_path}`,
            `--https-cert-path=${certificate.certificate_path}`,
          ]),
      `--port=${options.port}`,
      "--inspector-port=0",
      `--persist-to=${options.persist_to}`,
      `--env-file=${options.env_file}`,
      "--show-interactive-dev-session=false",
    ],
    "pipe",
  );
  let log = "";
  child.stdout?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const ended = exitCode(child);
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  const responds = waitUntilResponding(`${url}/.well-known/jwks.json`);
  const outcome = await Promise.race([responds, ended.then(() => "ended" as const)]);
  if (outcome === "responds") return { url, log: () => log, stop };
  await stop();
  throw new Error(`The Worker did not start:\n${log}`);
}

async function waitUntilResponding(url: string): Promise<"responds" | "silent"> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (await isResponding(url)) return "responds";
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return "silent";
}

/** The certificate is not verified: the request goes to this machine and carries no secret. */
function isResponding(url: string): Promise<boolean> {
  const get = url.startsWith("https:") ? https.get : http.get;
  return new Promise((resolve) => {
    const request = get(url, { timeout: 2_000, rejectUnauthorized: false }, (response) => {
      response.resume();
      // A Worker with the BASE_URL of another host responds with 421.
      resolve((response.statusCode ?? 500) < 500);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}
