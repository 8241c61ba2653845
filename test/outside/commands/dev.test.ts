/** `npm run dev` as a developer starts, repeats and kills it. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { exitCode, freePort } from "../../../src/commands/local_worker.ts";
import { commandLineOf, familyOf, survivorsOf } from "./processes.ts";

const WAITING = { timeout: 100_000, interval: 200 };

let folder: string;
let env_file: string;
/** The stores of one server after another. */
let state: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-dev-"));
  env_file = join(folder, "settings");
  state = join(folder, "state");
  await writeFile(env_file, await developmentSettings(), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Dev {
  readonly npm: ChildProcess;
  readonly output: () => string;
}

const started: number[] = [];
afterAll(() => {
  for (const pid of survivorsOf(started)) process.kill(pid, "SIGKILL");
});

function npmRunDev(args: readonly string[]): Dev {
  const npm = spawn("npm", ["run", "dev", "--", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  npm.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  npm.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return { npm, output: () => output };
}

async function isServing(port: number): Promise<boolean> {
  const url = `http://localhost:${port}/.well-known/jwks.json`;
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The status of a page opened by a person. Node's `fetch` would send the headers of a script. */
function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject);
  });
}

/** A running server, and all its processes. */
interface RunningDev extends Dev {
  readonly port: number;
  readonly family: readonly number[];
}

async function runningDev(more: readonly string[] = []): Promise<RunningDev> {
  const port = await freePort();
  const dev = npmRunDev([
    `--port=${port}`,
    `--persist-to=${state}`,
    `--env-file=${env_file}`,
    "--inspector-port=0",
    ...more,
  ]);
  await vi.waitFor(async () => expect(await isServing(port), dev.output()).toBe(true), WAITING);
  const family = [...familyOf(dev.npm.pid ?? 0)];
  started.push(...family);
  // At least npm, dev, the leader of the process group, Wrangler and its runtime.
  expect(family.length).toBeGreaterThanOrEqual(5);
  return { ...dev, port, family };
}

async function expectEnded({ port, family }: RunningDev): Promise<void> {
  await vi.waitFor(() => expect(survivorsOf(family)).toEqual([]), WAITING);
  expect(await isServing(port)).toBe(false);
}

// A start takes seconds, so these tests use one server. The last of them ends it.
describe("npm run dev with new settings", () => {
  let dev: RunningDev;
  beforeAll(async () => {
    dev = await runningDev(["--ip=0.0.0.0"]);
  });

  it("npm run dev prints the pages and the operator, who can open the console at once", async () => {
    const { port, output } = dev;
    const url = `http://localhost:${port}`;
    await vi.waitFor(() => expect(output()).toContain("Passbook is ready."), WAITING);
    for (const place of ["signin", "account", "console", "docs"]) {
      expect(output()).toContain(`${url}/${place}`);
    }
    expect(output()).not.toContain("Rate Limit");
    expect(output()).not.toContain(`0.0.0.0:${port}/`);
    const operator = /for operators: (\S+@\S+)/.exec(output())?.[1] ?? "";
    const body = new URLSearchParams({ email: operator });
    const init = { method: "POST", body, redirect: "manual" } as const;
    const signed_in = await fetch(`${url}/signin/dev`, init);
    const cookies = signed_in.headers.getSetCookie().map((it) => it.split(";")[0]);
    const headers = { Cookie: cookies.join("; ") };
    expect(await statusOf(`${url}/console`, headers)).toBe(200);
  });

  it("a second npm run dev names the running server and a command for another one, and starts nothing", async () => {
    const attempts = [
      [`--port=${dev.port}`, `--persist-to=${state}`],
      [`--port=${await freePort()}`, `--persist-to=${state}`],
      [`--port=${dev.port}`, `--persist-to=${join(folder, "other")}`],
    ].map(async (args) => {
      const { npm, output } = npmRunDev([...args, `--env-file=${env_file}`]);
      return { code: await exitCode(npm), output: output() };
    });
    for (const { code, output } of await Promise.all(attempts)) {
      expect(code).toBe(1);
      expect(output).toContain(String(dev.port));
      expect(output).toMatch(/npm run dev -- --port \d+ --persist-to \S+/);
      expect(output).not.toContain("Ready");
    }
    expect(await isServing(dev.port)).toBe(true);
  });

  it("killing npm with SIGTERM ends every process of npm run dev", async () => {
    dev.npm.kill("SIGTERM");
    await expectEnded(dev);
  });
});

describe("npm run dev that is killed", () => {
  it.each(["npm", "dev itself"])(
    "killing %s with SIGKILL ends every process of npm run dev",
    { tags: ["slow"] },
    async (which) => {
      const dev = await runningDev();
      const is_dev = (pid: number) => /^\S*node \S*run\.js dev/.test(commandLineOf(pid));
      const victim = which === "npm" ? dev.npm.pid : dev.family.find(is_dev);
      if (victim === undefined) throw new Error("there is no such process");
      process.kill(victim, "SIGKILL");
      await expectEnded(dev);
    },
  );
});

describe("npm run dev with wrong settings", () => {
  it("npm run dev lists all wrong settings before anything starts, without their values", async () => {
    const broken = join(folder, "broken");
    const secret = "s3cret-s3cret";
    const providers = JSON.stringify([{ preset: "github", client_secret: secret }]);
    const settings = (await developmentSettings()).replace(/^ENCRYPTION_KEYS=.*$/m, "");
    await writeFile(
      broken,
      `${settings}SIGNIN_PROVIDERS='${providers}'\nALOWED_ORIGINS=${secret}\n`,
    );
    const dev = npmRunDev([
      `--env-file=${broken}`,
      `--persist-to=${join(folder, "unused")}`,
      "--var=PAT_TTL_DAYS:0",
    ]);
    expect(await exitCode(dev.npm)).toBe(1);
    expect(dev.output()).toContain("ALOWED_ORIGINS is not a setting and has no effect");
    expect(dev.output()).toContain("3 settings are wrong");
    expect(dev.output()).toContain("SIGNIN_PROVIDERS, entry 1, client_id: is missing");
    expect(dev.output()).toContain("npm run -s keys -- create ENCRYPTION_KEYS");
    expect(dev.output()).toContain("PAT_TTL_DAYS: must be at least 1");
    expect(dev.output()).not.toContain(secret);
    expect(dev.output()).not.toContain("migrations");
  });
});

describe("npm run dev without DEV_SIGNIN=true", () => {
  for (const [line, tags] of [
    ["DEV_SIGNIN=false", []],
    ["", ["slow"]],
  ] as const) {
    const title = `npm run dev says that settings with (${line}) run as in production`;
    it(title, { tags: [...tags] }, async () => {
      const file = join(folder, "production");
      const settings = (await developmentSettings()).replace("DEV_SIGNIN=true", line);
      await writeFile(file, settings);
      const dev = npmRunDev([`--env-file=${file}`, `--persist-to=${join(folder, "unused")}`]);
      expect(await exitCode(dev.npm)).toBe(1);
      expect(dev.output()).toContain("DEV_SIGNIN is not true, so this runs as in production");
      expect(dev.output()).toContain("BASE_URL: is required unless DEV_SIGNIN is true");
      expect(dev.output()).toContain(file);
    });
  }
});

describe("a Node that cannot read TypeScript", () => {
  it.each(["20.19.0", "22.17.1", "23.5.0"])(
    "Node %s gets one sentence about the version that the commands need",
    async (version) => {
      const older = `Object.defineProperty(process, "versions", { value: { node: "${version}" } })`;
      const preload = `data:text/javascript,${encodeURIComponent(older)}`;
      const child = spawn("node", ["--import", preload, "src/commands/run.js", "dev"]);
      let output = "";
      child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
      expect(await exitCode(child)).toBe(1);
      expect(output.trim().split("\n")).toHaveLength(1);
      expect(output).toContain(`need Node 22.18 or newer, but this is ${version}`);
    },
  );
});
