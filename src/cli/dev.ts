/** `passbook dev`: the whole service on this machine, for the developer of an app. */
import { createServer } from "node:net";
import { PassbookError } from "../client/index.ts";
import { startService, type RunningService, type ServiceLog } from "../client/testing/service.ts";
import { plain } from "./output.ts";
import { onceOrphaned } from "./parent_watch.ts";
import type { GlobalOptions } from "./session.ts";

export interface DevOptions extends GlobalOptions {
  readonly port: number;
  readonly strictApps?: true;
  readonly seed?: "demo";
  readonly withParent?: true;
}

/** The apps and people of `--seed demo`. */
const DEMO = {
  apps: [
    { slug: "sketch", name: "Sketch" },
    { slug: "render-farm", name: "Render farm", settle: "app" },
  ],
  people: ["ada@example.com", "bob@example.com"],
  credits: 1_000,
};

const OPERATOR = "operator@example.com";

interface Seeded {
  readonly apps: readonly { readonly slug: string; readonly key: string }[];
  readonly people: readonly { readonly email: string; readonly identity_id: string }[];
}

/** Serves until a signal arrives, also one that came while the service started. */
export async function serveDevelopment(options: DevOptions): Promise<void> {
  const strict = options.strictApps === true;
  const stopped = untilStopped(options.withParent === true || isStartedByNpx());
  const service = await start(options, strict);
  try {
    const seeded = options.seed === undefined ? null : await seed(service.url);
    const text =
      options.json === true
        ? JSON.stringify({ url: service.url, ...seeded })
        : describe(service.url, strict, seeded);
    process.stdout.write(`${text}\n`);
    await stopped;
  } finally {
    await service.stop();
  }
}

async function start({ port }: DevOptions, strict: boolean): Promise<RunningService> {
  if (await isTaken(port)) {
    const message = `Port ${port} is taken by another program. Stop it, or name another one: passbook dev --port ${port + 1}`;
    throw new PassbookError("invalid_argument", message);
  }
  const settings = { OPERATORS: OPERATOR, ...(strict ? { STRICT_APPS: "true" } : {}) };
  try {
    return await startService({ port, settings, rateLimits: true, onLog: print });
  } catch (error) {
    // A missing runtime or an old Node: the message says what to install.
    throw new PassbookError("invalid_argument", error instanceof Error ? error.message : "Failed.");
  }
}

/** Whether another program listens on the port. The runtime's own message does not say so. */
function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once("error", () => resolve(true))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(false)));
  });
}

async function seed(url: string): Promise<Seeded> {
  const response = await fetch(`${url}/dev/seed`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(DEMO),
  });
  return (await response.json()) as Seeded;
}

/**
 * Successful requests would hide the lines that a developer must see, and so would those of a loop that waits for `/readyz`:
 * the check that failed has a line of its own.
 */
function print({ level, message }: ServiceLog): void {
  if ((level !== "warn" && level !== "error") || message.includes("route: '/readyz'")) return;
  process.stderr.write(`${message.split("\n").map(plain).join("\n")}\n`);
}

function describe(url: string, strict: boolean, seeded: Seeded | null): string {
  const lines = [
    "Passbook is ready. Its data is in memory: it ends with this program.",
    `  Service   ${url}   (the baseUrl of your clients)`,
    `  Sign in   ${url}/signin   any e-mail address, no password; ${OPERATOR} is an operator`,
    `  API docs  ${url}/docs`,
    "  Origins   every page of this machine may sign people in",
    strict
      ? "  Apps      only registered ones; others get 403 app_not_registered"
      : "  Apps      every slug works; unregistered ones are named here (--strict-apps refuses them)",
  ];
  for (const { slug, key } of seeded?.apps ?? []) lines.push(`  Key       ${slug}: ${key}`);
  for (const { email } of seeded?.people ?? []) {
    lines.push(`  Person    ${email}: ${DEMO.credits} credits`);
  }
  return lines.join("\n");
}

/** `npx` passes no signal on to the command that it runs. */
const isStartedByNpx = (): boolean => process.env["npm_command"] === "exec";

/** Resolves at a signal; with `with_parent` also when the program that started this one has ended. */
function untilStopped(with_parent: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (with_parent) onceOrphaned(resolve);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, resolve);
  });
}
