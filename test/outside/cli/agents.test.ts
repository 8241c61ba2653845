/** What the command line does for agents: tokens, commands with a budget, jobs, and checks of a client's document. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { goThrough } from "../../worker/oauth/conformance/passbook_target.ts";
import { openVisitor } from "../../worker/oauth/conformance/visitor.ts";
import { installPackage, type Installed } from "../support/installed.ts";
import { startTestWorker } from "../support/test_worker.ts";

let directory: string;
let installed: Installed;
let passbook: LocalWorker;
let program: string;

beforeAll(async () => {
  installed = await installPackage();
  program = join(installed.folder, "node_modules/.bin/passbook");
  directory = await mkdtemp(join(tmpdir(), "passbook-agents-"));
  const env_file = join(directory, "settings.env");
  await writeFile(env_file, await developmentSettings());
  const persist_to = join(directory, "state");
  passbook = await startTestWorker({ port: await freePort(), persist_to, env_file });
  await connect("agent", "agent@example.com");
});

afterAll(async () => {
  await passbook?.stop();
  await installed?.remove();
  await rm(directory, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const environment = (home: string, more: object = {}): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  XDG_CONFIG_HOME: join(directory, home),
  ...more,
});

function passbookOf(home: string, args: readonly string[], more: object = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, [...args], { env: environment(home, more) }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** The text that a program has printed when it matches. */
function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((found) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const [, match] = pattern.exec(text) ?? [];
        if (match !== undefined) found(match);
      });
    }
  });
}

/** Connects this machine, with 50 credits a month, for a person who has used the app and so has credits. */
async function connect(home: string, email: string): Promise<void> {
  const body = new URLSearchParams({ email, redirect_to: "http://localhost:3000/" });
  const init = { method: "POST", body, redirect: "manual" } as const;
  const landed = await fetch(`${passbook.url}/signin/dev`, init);
  const session = new URL(landed.headers.get("Location") ?? "").searchParams.get("token");
  const headers = { Authorization: `Bearer ${session}` };
  await fetch(`${passbook.url}/api/wallet?app=sketch`, { headers });
  const args = ["connect", "--json", "--url", passbook.url, "--budget", "50/month"];
  const child = spawn(program, args, { env: environment(home), stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((exited) => child.once("exit", exited));
  const address = await printed(child, /Open\s+(\S+)/);
  await fetch(await goThrough(openVisitor(passbook.url, fetch), address, email));
  expect(await ended).toBe(0);
}

const fileOf = (home: string): string => join(directory, home, "passbook/credentials.json");

/** As if ten minutes had passed for the saved access token. */
async function expire(home: string): Promise<void> {
  const login = JSON.parse(await readFile(fileOf(home), "utf8"));
  login.connection.expires_at = new Date(0).toISOString();
  await writeFile(fileOf(home), JSON.stringify(login));
}

const useOf = (token: string) =>
  fetch(`${passbook.url}/api/tokens`, { headers: { Authorization: `Bearer ${token}` } });

describe("a token for another program", () => {
  it("`token` prints a valid token only, and renews it", async () => {
    const { stdout } = await passbookOf("agent", ["token"]);
    expect(stdout).toMatch(/^pb_at_\S+\n$/);
    await expire("agent");
    const renewed = await passbookOf("agent", ["token", "--json"]);
    expect((await useOf(JSON.parse(renewed.stdout).token)).status).toBe(200);
    expect((await passbookOf("nobody", ["token"])).code).toBe(3);
    const given = await passbookOf("nobody", ["token"], {
      PASSBOOK_TOKEN: "pb_pat_x",
      PASSBOOK_URL: passbook.url,
    });
    expect(given.stdout).toBe("pb_pat_x\n");
  });

  it("programs that renew the tokens at once share one renewal, and none ends the connection", async () => {
    await expire("agent");
    const many = Array.from({ length: 6 }, () => passbookOf("agent", ["token"]));
    const tokens = new Set((await Promise.all(many)).map(({ stdout }) => stdout.trim()));
    expect([...tokens]).toEqual([expect.stringMatching(/^pb_at_/)]);
    expect(await passbookOf("agent", ["wallet"])).toMatchObject({ code: 0 });
  });

  it("`exchange` prints a token with a total budget, which ends when the machine signs out", async () => {
    await connect("short", "short@example.com");
    const args = ["exchange", "--budget", "5", "--budget", "3/day", "--expires", "30m"];
    const { stdout } = await passbookOf("short", args);
    expect(stdout).toMatch(/^pb_pat_\S+\n$/);
    const token = stdout.trim();
    const own = { PASSBOOK_TOKEN: token, PASSBOOK_URL: passbook.url };
    const listed = JSON.parse((await passbookOf("nobody", ["tokens", "--json"], own)).stdout);
    const [current] = listed.tokens as { caps: object[]; scopes: string[]; expires_at: string }[];
    expect(current?.caps).toMatchObject([
      { credits: 5, period: "total" },
      { credits: 3, period: "day" },
    ]);
    expect(current?.scopes).toEqual(["read", "write"]);
    const left_ms = Date.parse(current?.expires_at ?? "") - Date.now();
    expect(left_ms).toBeGreaterThan(29 * 60_000);
    expect(left_ms).toBeLessThanOrEqual(30 * 60_000);
    const below = await passbookOf("nobody", ["exchange", "--read-only", "--json"], own);
    expect(JSON.parse(below.stdout)).toMatchObject({ scopes: ["read"] });
    const wider = await passbookOf("nobody", ["exchange", "--budget", "6"], own);
    expect(wider).toMatchObject({ code: 1, stderr: expect.stringContaining("above one") });
    await passbookOf("short", ["logout"]);
    expect((await useOf(token)).status).toBe(401);
  });

  it("`exchange` without a budget, for longer than a day, or from another kind of token exits with 2", async () => {
    for (const [args, reason] of [
      [[], "--budget 5"],
      [["--budget", "5", "--expires", "2d"], "at most 1d"],
      [["--budget", "five"], "500/month"],
    ] as const) {
      const ended = await passbookOf("agent", ["exchange", ...args]);
      expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(reason) });
    }
    const other = { PASSBOOK_TOKEN: "ey.a.b", PASSBOOK_URL: passbook.url };
    const ended = await passbookOf("nobody", ["exchange", "--budget", "5"], other);
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("pb_pat_") });
  });
});

describe("`passbook run`", () => {
  const run = (...command: string[]): string[] => ["run", "--budget", "5", "--", ...command];

  it("the command has a token of its own, whose jobs stop at its budget, and the token ends with it", async () => {
    const script = [
      "id=$(passbook jobs create --app sketch --action draw --cost-estimate 4)",
      'passbook jobs complete "$id" --actual-cost 3',
      "passbook jobs create --app sketch --action draw --cost-estimate 3 --json",
      "passbook jobs create --app sketch --action draw --cost-estimate 3",
      "echo token $PASSBOOK_TOKEN $PASSBOOK_URL",
    ].join("\n");
    const path = { PATH: `${join(installed.folder, "node_modules/.bin")}:${process.env["PATH"]}` };
    const ended = await passbookOf("agent", run("sh", "-c", script), path);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("Completed; 3 credits were charged.");
    const { code, approval } = JSON.parse(/^\{.*\}$/m.exec(ended.stderr)?.[0] ?? "{}");
    expect({ code, approval }).toEqual({
      code: "token_budget_exceeded",
      approval: expect.any(String),
    });
    expect(ended.stderr).toMatch(/Allow this one job: \S+\/approve\/\S+/);
    const [, token = "", url] = /token (\S+) (\S+)/.exec(ended.stdout) ?? [];
    expect([token.slice(0, 7), url]).toEqual(["pb_pat_", passbook.url]);
    expect((await useOf(token)).status).toBe(401);
  });

  it("the exit code and the options of the command are its own", async () => {
    expect((await passbookOf("agent", run("sh", "-c", "exit 7"))).code).toBe(7);
    const echoed = await passbookOf("agent", run("echo", "--json", "--version"));
    expect(echoed.stdout).toBe("--json --version\n");
    const missing = await passbookOf("agent", run("no-such-program"));
    expect(missing).toMatchObject({
      code: 127,
      stderr: expect.stringContaining("no-such-program"),
    });
  });

  it("a signal reaches the command, and the token is revoked before the program ends", async () => {
    const script =
      "trap 'echo stopped; exit 5' TERM; echo ready $PASSBOOK_TOKEN; while :; do sleep 0.05; done";
    const child = spawn(program, run("sh", "-c", script), {
      env: environment("agent"),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = new Promise<number | null>((exited) => child.once("exit", exited));
    const token = await printed(child, /ready (\S+)\n/);
    expect((await useOf(token)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toBe(5);
    expect((await useOf(token)).status).toBe(401);
  });

  it("a command that a signal ended makes the program end by the same signal", async () => {
    const child = spawn(program, run("sh", "-c", "kill -KILL $$"), { env: environment("agent") });
    const ended = new Promise<unknown>((exited) => child.once("exit", (_, it) => exited(it)));
    expect(await ended).toBe("SIGKILL");
  });
});

it("the commands of docs/agents.md run as written", async () => {
  const page = await readFile("docs/agents.md", "utf8");
  const commands = [...page.matchAll(/^```sh\n([^]*?)^```/gm)]
    .map(([, block = ""]) => block)
    .join("")
    .replace("http://localhost:8787", passbook.url);
  const shell = spawn("bash", ["-ec", commands], {
    cwd: installed.folder,
    env: environment("guide"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  shell.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const ended = new Promise((exited) => shell.once("close", exited));
  const address = await printed(shell, /Open\s+(\S+)/);
  await fetch(await goThrough(openVisitor(passbook.url, fetch), address, "ada@example.com"));
  expect(await ended, stdout).toBe(0);
  expect(stdout).toContain("Completed; 3 credits were charged. The balance is 97 credits.");
  expect(stdout).toMatch(/"room":5\b/);
  expect(stdout).toContain('"action":"draw a lighthouse"');
  expect(stdout).toContain("The document is valid.");
});

describe("`passbook jobs`", () => {
  it("creates a job and prints its id, and fails one at a cost", async () => {
    const args = ["--app", "sketch", "--action", "draw", "--cost-estimate", "6"];
    const { stdout } = await passbookOf("agent", [
      "jobs",
      "create",
      ...args,
      "--ttl-seconds",
      "90",
    ]);
    expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    const fail = ["jobs", "fail", stdout.trim(), "--cost", "2", "--reason", "Half done"];
    const failed = await passbookOf("agent", fail);
    expect(failed.stdout).toContain("Failed; 2 credits were kept.");
    const shown = await passbookOf("agent", ["job", stdout.trim(), "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ actual_cost: 2, failure_reason: "Half done" });
  });

  it("names the option that is missing", async () => {
    for (const [args, missing] of [
      [["create", "--action", "draw", "--cost-estimate", "6"], "--app"],
      [["create", "--app", "sketch", "--cost-estimate", "6"], "--action"],
      [["complete", "x"], "--actual-cost"],
      [["complete", "x", "--actual-cost", "1.5"], "whole number"],
    ] as const) {
      const ended = await passbookOf("agent", ["jobs", ...args]);
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(missing) });
    }
  });
});

it("`connect` looks for the service before it shows an address, and exits with 1 without one", async () => {
  const nobody = `http://localhost:${await freePort()}`;
  const ended = await passbookOf("nobody", ["connect", "--url", nobody]);
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain(`No Passbook answers at ${nobody}`);
  expect(ended.stderr).not.toContain("Open");
});

describe("`passbook check-client`", () => {
  let server: Server;
  let origin: string;
  let document: object;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? "";
      const type = path === "/page" ? "text/html" : "application/json";
      if (path === "/moved") return void response.writeHead(302, { Location: "/client" }).end();
      response.writeHead(200, { "Content-Type": type });
      response.end(path === "/large" ? "x".repeat(6_000) : JSON.stringify(document));
    });
    await new Promise<void>((listening) => server.listen(0, "localhost", listening));
    origin = `http://localhost:${(server.address() as { port: number }).port}`;
  });

  afterAll(() => void server.close());

  it("says what the service reads from a valid document", async () => {
    const redirect_uris = ["http://localhost:3000/callback", "cursor://x/callback"];
    document = { client_id: `${origin}/client`, client_name: "Lantern", redirect_uris };
    const ended = await passbookOf("nobody", ["check-client", `${origin}/client`]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("Lantern");
    expect(ended.stdout).toContain("http://localhost:3000/callback");
    expect(ended.stdout).not.toContain("cursor");
  });

  it("names each rule that a document breaks, and exits with 1", async () => {
    document = { client_id: `${origin}/other`, redirect_uris: [], grant_types: [] };
    const ended = await passbookOf("nobody", ["check-client", `${origin}/client`, "--json"]);
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout)).toEqual({
      valid: false,
      problems: [
        expect.stringContaining("client_id must be"),
        expect.stringContaining("redirect_uris has no address"),
        expect.stringContaining("grant_types must"),
      ],
    });
  });

  it.each([
    ["/page", "Content-Type"],
    ["/moved", "is a redirect"],
    ["/large", "more than 5120 bytes"],
    ["/", "The address must be"],
  ])("%s breaks a rule: %s", async (path, rule) => {
    const ended = await passbookOf("nobody", ["check-client", `${origin}${path}`]);
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining(rule) });
  });

  it("a server that is not there is named", async () => {
    const address = `http://localhost:${await freePort()}/client`;
    const ended = await passbookOf("nobody", ["check-client", address]);
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining("Check that it runs") });
    expect((await passbookOf("nobody", ["check-client", "no address"])).code).toBe(2);
  });
});
