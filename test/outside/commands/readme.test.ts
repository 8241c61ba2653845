/**
 * Runs every command of README.md and CONTRIBUTING.md as written, in a fresh copy of the checked-in files, without
 * the modules and settings of this checkout. A new command there fails until it is listed here.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { exitCode, freePort } from "../../../src/commands/local_worker.ts";
import { familyOf, survivorsOf } from "./processes.ts";

/** Tracked files, and new files that git does not ignore. */
const CHECKED_IN = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
const PATIENCE_MS = 300_000;
const PORT_AS_WRITTEN = 8787;

/** Commands that this test cannot run, with the reason. */
const NOT_RUN_HERE: Readonly<Record<string, string>> = {
  "npm ci && npm run check": "this very test is a part of it",
  "npm test": "this very test is a part of it",
  "npx vitest run --project worker test/worker/http/api/jobs/jobs.test.ts":
    "the run that this test is in includes it",
  "npx wrangler login": "it signs in at Cloudflare with a browser",
  "npm run deploy -- --secrets passbook-secrets.vars":
    "it asks Cloudflare; commands/deploy runs it against a stand-in",
  "npm run fuzz": "the suite asks the same of fewer requests, openapi/generated",
  "npm run soak": "soak.test.ts runs a short one",
  "npm run load": "load.test.ts runs a short one",
  "npm run mutate": "it runs the tests of pure rules again for each mutant",
  "npm run bench": "it measures for an hour",
  "npm run faults": "it runs the simulator again for each of its faults",
  "npm run price": "it counts for a quarter of an hour",
  "npm run size": "npm run check weighs the bundle by it; it times starts",
  "npm run check": "this very test is a part of it",
  "npm run -s trace -- <file>": "commands/trace runs it with a log entry",
  "npm run check:slow": "this very test is a part of it",
  "npx --no passbook login --url http://localhost:8787": "cli/cli runs it",
};

const SIGNING_IN =
  "export PASSBOOK_TOKEN=$(curl -s -o /dev/null -w '%{redirect_url}' http://localhost:8787/signin/dev " +
  "-d email=ada@example.com -d redirect_to=http://localhost:3000/ | sed 's/.*token=//')";

interface Ran {
  readonly code: number;
  readonly said: string;
}

let folder: string;
let clone: string;
let port: number;
let token = "";
const started: number[] = [];

/** The environment of a new terminal, without variables that npm or this run has set. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|VITEST|NODE_ENV|NODE_OPTIONS|INIT_CWD|TEST$|MODE$|PROD$|DEV$|SSR$|BASE_URL$)/.test(
        name,
      ),
  );
  const path = (process.env["PATH"] ?? "").split(":");
  const PATH = path.filter((part) => !part.includes("node_modules")).join(":");
  return { ...Object.fromEntries(own), PATH };
}

/** Runs a line in a shell. */
async function type(line: string, cwd: string): Promise<Ran> {
  const shell = spawn("bash", ["-c", line], {
    cwd,
    env: ownEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  shell.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  shell.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return { code: await exitCode(shell), said };
}

async function succeed(line: string, cwd = clone): Promise<string> {
  const { code, said } = await type(line, cwd);
  expect(code, `${line}\n${said}`).toBe(0);
  return said;
}

/** The commands that both files show, in shell blocks, tables and text. */
function writtenCommands(): string[] {
  const text = `${readFileSync("README.md", "utf8")}\n${readFileSync("CONTRIBUTING.md", "utf8")}`;
  const lines = [...text.matchAll(/^```sh\n([^`]*)^```/gm)]
    .flatMap(([, block = ""]) => block.replaceAll(/ *\\\n */g, " ").split("\n"))
    .map((line) => line.replace(/ {2,}#.*$/, "").trim())
    .filter((line) => line !== "");
  const quoted = [...text.matchAll(/`((?:npm|npx|node|passbook) [^`…]*)`/g)].map(
    ([, line = ""]) => line,
  );
  return [...new Set([...lines, ...quoted])];
}

const RUN: Readonly<Record<string, () => Promise<void>>> = {
  "npm ci && npm run demo": async () => {
    expect(await succeed("npm ci && npm run demo")).toContain(
      "Every response is what the spec says.",
    );
  },
  "npm run package": async () => {
    await succeed("npm run package");
    expect(existsSync(join(clone, "dist/passbook-client-0.1.0.tgz"))).toBe(true);
  },
  "npm install /path/to/passbook/dist/passbook-client-0.1.0.tgz": async () => {
    mkdirSync(join(folder, "app"));
    await succeed(
      `npm install ${join(clone, "dist/passbook-client-0.1.0.tgz")}`,
      join(folder, "app"),
    );
    expect(existsSync(join(folder, "app/node_modules/passbook-client"))).toBe(true);
  },
  // From here on wrangler.toml has an address for production. Commands on this machine work as before.
  "npm run deploy -- --dry-run": async () => {
    const unset = await type("npm run deploy -- --dry-run", clone);
    expect(unset).toMatchObject({
      code: 1,
      said: expect.stringContaining("BASE_URL: is required"),
    });
    const config = join(clone, "wrangler.toml");
    const base_url = 'BASE_URL = "https://passbook.example.com"';
    expect(readFileSync("README.md", "utf8")).toContain(base_url);
    const routes = '"passbook.example.com", custom_domain = true }]';
    const settings = readFileSync(config, "utf8")
      .replace("[vars]\n", `[vars]\n${base_url}\n`)
      .replace(`# routes = [{ pattern = ${routes}`, `routes = [{ pattern = ${routes}`);
    expect(settings.split("\n")).toContain(`routes = [{ pattern = ${routes}`);
    writeFileSync(config, settings);
    expect(await succeed("npm run deploy -- --dry-run")).toContain("The code bundles");
    expect(await succeed("npm run demo")).toContain("Every response is what the spec says.");
  },
  "npm run dev": async () => {
    const more = port === PORT_AS_WRITTEN ? "" : ` -- --port=${port} --inspector-port=0`;
    const dev: ChildProcess = spawn("bash", ["-c", `npm run dev${more}`], {
      cwd: clone,
      env: ownEnvironment(),
      stdio: "ignore",
    });
    started.push(dev.pid ?? 0);
    await vi.waitFor(
      async () => {
        const url = `http://localhost:${port}/.well-known/jwks.json`;
        expect((await fetch(url)).status).toBe(200);
      },
      { timeout: 100_000, interval: 200 },
    );
    started.push(...familyOf(dev.pid ?? 0));
    expect(existsSync(join(clone, ".dev.vars"))).toBe(true);
  },
  [SIGNING_IN]: async () => {
    const line = SIGNING_IN.replaceAll(`localhost:${PORT_AS_WRITTEN}`, `localhost:${port}`);
    token = (await succeed(`${line} && echo "$PASSBOOK_TOKEN"`)).trim();
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  },
  "node render.mjs": async () => {
    const [, program = ""] = /^```js\n([^`]*)^```/m.exec(readFileSync("README.md", "utf8")) ?? [];
    const app = join(folder, "app");
    const here = program.replaceAll(`localhost:${PORT_AS_WRITTEN}`, `localhost:${port}`);
    writeFileSync(join(app, "render.mjs"), here);
    expect(await succeed(`PASSBOOK_TOKEN=${token} node render.mjs`, app)).toBe("done 76\n");
  },
  "npm run simulate": async () => {
    expect(await succeed("npm run simulate")).toMatch(/^seed 1: \d+ steps, \d+ actions, history /m);
  },
  "npm run openapi": async () => {
    const document = "docs/openapi.json";
    await succeed("npm run openapi");
    expect(readFileSync(join(clone, document), "utf8")).toBe(readFileSync(document, "utf8"));
  },
  "npm run -s keys -- create SIGNING_KEYS": async () => {
    expect(await succeed("npm run -s keys -- create SIGNING_KEYS")).toContain('"kty":"OKP"');
  },
  "npm run build": async () => {
    await succeed("npm run build");
    expect(existsSync(join(clone, ".wrangler/build"))).toBe(true);
  },
  "npm run migrations": async () => {
    const migration = "drizzle/account/0000_initial.sql";
    await succeed("npm run migrations");
    expect(readFileSync(join(clone, migration), "utf8")).toBe(readFileSync(migration, "utf8"));
  },
};

/** Whether the port is free. A developer's own service may use it. */
async function isFree(wanted: number): Promise<boolean> {
  return fetch(`http://localhost:${wanted}/`).then(
    () => false,
    () => true,
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-readme-"));
  clone = join(folder, "passbook");
  const files = execFileSync("git", CHECKED_IN, { encoding: "utf8" }).split("\0");
  for (const file of files.filter((it) => it !== "" && existsSync(it))) {
    mkdirSync(join(clone, dirname(file)), { recursive: true });
    cpSync(file, join(clone, file));
  }
  port = (await isFree(PORT_AS_WRITTEN)) ? PORT_AS_WRITTEN : await freePort();
});
afterAll(async () => {
  // Wrangler may have started another runtime.
  const family = started.flatMap((pid) => familyOf(pid));
  for (const pid of survivorsOf([...new Set(family)])) process.kill(pid, "SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

describe("README.md and CONTRIBUTING.md", () => {
  it("README.md and CONTRIBUTING.md show exactly the commands that this test runs or excludes with a reason", () => {
    const known = [...Object.keys(RUN), ...Object.keys(NOT_RUN_HERE)];
    expect(writtenCommands().toSorted()).toEqual(known.toSorted());
  });

  // Each one installs all packages again.
  it.each(Object.keys(RUN))(
    "a fresh copy runs `%s`",
    { tags: ["slow"], timeout: PATIENCE_MS },
    (line) => RUN[line]?.(),
  );
});
