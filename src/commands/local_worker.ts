/** Running the Worker on this machine: migrations first, then `wrangler dev`. */
import { spawn, type ChildProcess } from "node:child_process";
import http from "node:http";
import https from "node:https";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { withoutRoutes } from "./routeless_config.ts";
import { migratedDatabases, readWorkerConfig } from "./wrangler_config.ts";

/** Wrangler must not ask questions, report usage, or look for a Cloudflare colo when it runs for us. */
const ENVIRONMENT = {
  ...process.env,
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** Applies D1's migrations to the local databases under `persist_to` (Wrangler's default if null). */
export async function applyMigrations(persist_to: string | null): Promise<void> {
  // One after the other: both keep their books under the same folder.
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
      // On a terminal it would ask for confirmation and wait.
      env: { ...ENVIRONMENT, CI: "true" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  migrations.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  migrations.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  if ((await exitCode(migrations)) !== 0) {
    throw new Error(`the local database ${database} could not be migrated:\n${output}`);
  }
}

/**
 * Starts `wrangler dev` with these arguments, kept (`keeper.ts`): `kill` on what is returned ends all
 * of it, and so does the end of this process, even by SIGKILL.
 */
export async function startWrangler(
  given: readonly string[],
  output: "inherit" | "pipe",
): Promise<ChildProcess> {
  const args = await withoutRoutes(given);
  const keeper = fileURLToPath(new URL("keeper.ts", import.meta.url));
  return spawn(process.execPath, [keeper, "wrangler", "dev", ...args], {
    // Where our output is a terminal, so is the output that is passed on to it.
    env: process.stdout.isTTY ? { ...ENVIRONMENT, FORCE_COLOR: "1" } : ENVIRONMENT,
    // The keeper's standard input ends with this process. Its own session: what a terminal sends
    // to us comes through us.
    stdio: ["pipe", output, output],
    detached: true,
  });
}

/** The exit code of a child once it ended; 1 where a signal ended it. */
export function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** A port of the loopback interface that nothing listens on now. */
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
  /** Everything the Worker and Wrangler printed so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface LocalWorkerOptions {
  readonly port: number;
  readonly persist_to: string;
  /** A file of `NAME=value` lines; it takes the place of `.dev.vars`. */
  readonly env_file: string;
  /** Another entry than wrangler.toml's, for tests that need a door of their own. */
  readonly script?: string;
  /** PEM files to serve https with; without, it is http. */
  readonly certificate?: { readonly key_path: string; readonly certificate_path: string };
}

/** Starts a Worker with state of its own and waits until it answers. */
export async function startLocalWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  await applyMigrations(options.persist_to);
  return startMigratedWorker(options);
}

/** Starts a Worker on databases that are migrated already, and waits until it answers. */
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
  const answers = waitUntilAnswering(`${url}/.well-known/jwks.json`);
  const outcome = await Promise.race([answers, ended.then(() => "ended" as const)]);
  if (outcome === "answers") return { url, log: () => log, stop };
  await stop();
  throw new Error(`the Worker did not start:\n${log}`);
}

async function waitUntilAnswering(url: string): Promise<"answers" | "silent"> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (await isAnswering(url)) return "answers";
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return "silent";
}

/** Whose certificate it is does not matter: only this machine is asked, and nothing told. */
function isAnswering(url: string): Promise<boolean> {
  const get = url.startsWith("https:") ? https.get : http.get;
  return new Promise((resolve) => {
    const request = get(url, { timeout: 2_000, rejectUnauthorized: false }, (response) => {
      response.resume();
      // A Worker whose BASE_URL is elsewhere answers that it is not at home here.
      resolve((response.statusCode ?? 500) < 500);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}
