import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { signedIn } from "../../../src/cli/session.ts";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { goThrough } from "../../worker/oauth/conformance/passbook_target.ts";
import { openVisitor } from "../../worker/oauth/conformance/visitor.ts";
import { launchBrowser } from "../support/chromium.ts";
import { installPackage, type Installed } from "../support/installed.ts";
import { startStripe, type StripeServer } from "../support/stripe_server.ts";
import { startTestWorker } from "../support/test_worker.ts";

let directory: string;
let installed: Installed;
let passbook: LocalWorker;
let till: StripeServer;
let browser: Browser;
let program: string;

beforeAll(async () => {
  installed = await installPackage();
  program = join(installed.folder, "node_modules/.bin/passbook");
  directory = await mkdtemp(join(tmpdir(), "passbook-cli-"));
  const env_file = join(directory, "settings.env");
  const settings = `${await developmentSettings()}DEVICE_POLL_INTERVAL_SECONDS=1\n`;
  till = await startStripe();
  const lines = Object.entries({ OPERATORS: "olga@example.com", ...till.settings });
  const more = lines.map(([name, value]) => `${name}='${value}'\n`).join("");
  await writeFile(env_file, settings + more);
  const persist_to = join(directory, "state");
  passbook = await startTestWorker({ port: await freePort(), persist_to, env_file });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await passbook?.stop();
  till?.close();
  await installed?.remove();
  await rm(directory, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function environment(home: string, more: object = {}): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], XDG_CONFIG_HOME: join(directory, home), ...more };
}

/** Runs the program with piped output. */
function passbookOf(home: string, args: readonly string[], more: object = {}): Promise<Ended> {
  const options = { env: environment(home, more) };
  return new Promise((resolve) => {
    execFile(program, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** The environment of a person who signed in as `email`. */
async function signedInAs(email: string) {
  const body = new URLSearchParams({ email, redirect_to: "http://localhost:3000/" });
  const init = { method: "POST", body, redirect: "manual" } as const;
  const landed = await fetch(`${passbook.url}/signin/dev`, init);
  const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  return { PASSBOOK_URL: passbook.url, PASSBOOK_TOKEN: token };
}

/** Writes this text as the credentials file. */
async function saveCredentials(home: string, text: string): Promise<string> {
  const folder = join(directory, home, "passbook");
  execFileSync("mkdir", ["-p", folder]);
  await writeFile(join(folder, "credentials.json"), text);
  return join(folder, "credentials.json");
}

/** Signs a local user in on the page of a device login, and approves its code. */
async function approve(shown: string, email: string, admin: boolean): Promise<void> {
  const address = /Open\s+(\S+)/.exec(shown)?.[1] ?? "";
  const code = /Enter\s+([A-Z-]{9})/.exec(shown)?.[1] ?? "";
  const page = await browser.newPage();
  await page.goto(address);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/four letters/).fill(code.slice(-4));
  if (admin) {
    await page.getByText("More rights").click();
    await page.getByLabel("Let it operate the service as me").check();
  } else {
    // Without a limit, so that the command line learns who signed in.
    await page.getByLabel("Largest number of credits", { exact: true }).fill("");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByLabel("No limit").check();
  }
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "Device connected" }).waitFor();
  await page.context().close();
}

/** Runs the login `command`, approves its code, and returns what it printed. */
async function logInBy(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  email: string,
  admin = false,
): Promise<Ended> {
  const child = spawn(command, [...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr, approving] = ["", "", false];
  let failure: unknown = null;
  const watch = (): void => {
    const shown = stdout + stderr;
    if (approving || !/Enter\s+[A-Z-]{9}/.test(shown)) return;
    approving = true;
    approve(shown, email, admin).catch((error: unknown) => {
      failure = error;
      child.kill();
    });
  };
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    watch();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    watch();
  });
  const code = await new Promise<number>((resolve) => {
    child.on("exit", (exited) => resolve(exited ?? -1));
  });
  if (failure !== null) throw failure;
  return { code, stdout, stderr };
}

const has_pty = existsSync("/usr/bin/script") && process.platform === "linux";

describe("passbook", () => {
  it("the command line signs in with piped output, runs every command that reads, and signs out", async () => {
    const home = "piped";
    const before_login = { url: "http://localhost:1", token: "pb_pat_old", label: "Old" };
    await saveCredentials(home, JSON.stringify(before_login));
    const args = ["login", "--json", "--url", passbook.url, "--name", "Piped"];
    const login = await logInBy(program, args, environment(home), "ada@example.com");
    expect(login.code).toBe(0);
    expect(JSON.parse(login.stdout)).toMatchObject({ url: passbook.url, email: "ada@example.com" });
    expect(login.stderr).not.toContain("\u001B");
    expect(login.stderr).toContain("The token “Old”, which this replaces, was not revoked");

    const file = join(directory, home, "passbook/credentials.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { token } = JSON.parse(await readFile(file, "utf8"));

    expect((await passbookOf(home, ["whoami"])).stdout).toContain("ada@example.com, plan free");
    const wallet = await passbookOf(home, ["wallet", "--app", "demo", "--json"]);
    expect(JSON.parse(wallet.stdout)).toMatchObject({ account: { credits: 100 } });
    const start = (action: string) =>
      fetch(`${passbook.url}/api/jobs`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ app: "demo", action, cost_estimate: 7 }),
      });
    await start("dr\u001B[31maw");
    const jobs = await passbookOf(home, ["jobs", "--status", "started"]);
    expect(jobs.stdout).toMatch(/^CREATED +STATUS +RESERVED/);
    // Control characters in text from other people do not reach the terminal.
    expect(jobs.stdout).toContain("dr�[31maw");
    const [job] = JSON.parse((await passbookOf(home, ["jobs", "--json"])).stdout).jobs;
    const before = await passbookOf(home, ["jobs", "--to", job.created_at]);
    expect(before.stdout).toBe("No jobs.\n");
    expect((await passbookOf(home, ["job", job.id])).stdout).toMatch(/reserved +7/);
    const cancel = await passbookOf(home, ["jobs", "cancel", job.id]);
    expect(cancel).toMatchObject({ code: 1, stdout: "" });
    expect(cancel.stderr).toContain("on the page /account/access or /account/jobs");
    const failing = ["jobs", "fail", job.id, "--reason", "out of\u001B[31m paper"];
    expect(await passbookOf(home, failing)).toMatchObject({
      code: 0,
      stdout: "Failed; nothing was charged. The balance is 100 credits.\n",
    });
    expect((await passbookOf(home, ["job", job.id])).stdout).toMatch(
      /failure_reason +out of�\[31m paper/,
    );
    const ledger = await passbookOf(home, ["ledger", "--kind", "reserve", "--job", job.id]);
    expect(ledger.stdout).toMatch(/reserve +-7 +93 +demo/);
    expect((await passbookOf(home, ["tokens"])).stdout).toContain("Piped (this one)");
    const access = (await passbookOf(home, ["access"])).stdout;
    expect(access).toMatch(/^app +demo .*^token +Piped \(this one\) .*^browser /ms);
    await start("draw");
    const allowed_at = `You can allow it again only in the browser: ${passbook.url}/account/access\n`;
    expect(await passbookOf(home, ["access", "stop", "demo"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Stopped .*\. Started jobs that may still finish: 1\. /),
    });
    const expired = await passbookOf(home, ["access", "stop", "demo", "--expire-jobs"]);
    expect(expired.stdout).toMatch(/^Stopped [^.]*\. You/);
    expect(expired.stdout).toContain(allowed_at);
    expect((await passbookOf(home, ["access"])).stdout).toMatch(/^app \(stopped\) +demo /m);
    const never = await passbookOf(home, ["access", "stop", "never"]);
    expect(never).toMatchObject({ code: 1, stdout: "" });
    const other = await passbookOf(home, ["tokens", "revoke", crypto.randomUUID()]);
    expect(other).toMatchObject({ code: 1, stdout: "" });
    expect(other.stderr).toContain(`Revoke others on ${passbook.url}/account/access`);

    expect((await passbookOf(home, ["logout"])).code).toBe(0);
    expect(await readFile(file, "utf8")).not.toContain(token);
    const next = await passbookOf(home, ["whoami"]);
    expect(next).toMatchObject({ code: 3, stderr: expect.stringContaining(passbook.url) });
    const after = await passbookOf(home, ["wallet", "--url", passbook.url], {
      PASSBOOK_TOKEN: token,
    });
    expect(after).toMatchObject({ code: 3, stdout: "" });
    expect(after.stderr).toContain("passbook login");
  });

  it.skipIf(!has_pty)(
    "signs in on a terminal, with a spinner (needs util-linux's script)",
    async () => {
      const home = "terminal";
      const command = `${program} login --no-browser --url ${passbook.url}`;
      const env = environment(home, { TERM: "xterm" });
      const login = await logInBy("script", ["-qec", command, "/dev/null"], env, "bob@example.com");
      expect(login.code).toBe(0);
      expect(login.stdout).toContain("Waiting for you to approve it");
      expect(login.stdout).toContain("\r\u001B[K");
      expect(login.stdout).toContain("as bob@example.com");
      expect((await passbookOf(home, ["whoami"])).code).toBe(0);
    },
  );

  it("the command line connects with a budget through the browser, renews its tokens while other processes do so too, and disconnects", async () => {
    const home = "connected";
    const args = ["connect", "--json", "--url", passbook.url, "--budget", "50/month"];
    const child = spawn(program, args, { env: environment(home), stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    const ended = new Promise<number | null>((exited) => child.once("exit", exited));
    const address = await new Promise<string>((found) => {
      child.stderr.on("data", (chunk: Buffer) => {
        const [, url] = /Open\s+(\S+)/.exec(chunk.toString()) ?? [];
        if (url !== undefined) found(url);
      });
    });
    const back = await goThrough(openVisitor(passbook.url, fetch), address, "con@example.com");
    expect(back.host).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await (await fetch(back)).text()).toContain("You can close this window");
    expect(await ended).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      url: passbook.url,
      caps: [{ credits: 50, period: "month", spent: 0 }],
    });
    const file = join(directory, home, "passbook/credentials.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const expire = async (): Promise<void> => {
      const login = JSON.parse(await readFile(file, "utf8"));
      login.connection.expires_at = new Date(0).toISOString();
      await saveCredentials(home, JSON.stringify(login));
    };
    const saved = JSON.parse(await readFile(file, "utf8"));
    await expire();
    // Tokens of the same second are equal.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await passbookOf(home, ["wallet"])).toMatchObject({ code: 0 });
    const renewed = JSON.parse(await readFile(file, "utf8"));
    expect(renewed.token).not.toBe(saved.token);
    expect(renewed.connection.refresh_token).not.toBe(saved.connection.refresh_token);

    vi.stubEnv("XDG_CONFIG_HOME", join(directory, home));
    await expire();
    const watching = await signedIn({});
    await (await signedIn({})).wallet();
    await expire();
    await (await signedIn({})).wallet();
    expect(await watching.wallet()).toMatchObject({ apps: [] });
    vi.unstubAllEnvs();

    expect((await passbookOf(home, ["logout"])).code).toBe(0);
    await saveCredentials(home, JSON.stringify(renewed));
    expect(await passbookOf(home, ["wallet"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("Run: passbook connect"),
    });
  });

  it("each kind of error has its own exit code", async () => {
    const home = "nobody";
    const url = ["--url", passbook.url];
    expect(await passbookOf(home, ["wallet"])).toMatchObject({ code: 3 });
    expect(await passbookOf(home, ["login"])).toMatchObject({ code: 2 });
    expect(await passbookOf(home, ["watch"])).toMatchObject({ code: 3 });
    expect(await passbookOf(home, ["fly"])).toMatchObject({ code: 2 });
    expect(await passbookOf(home, ["jobs", "--status", "done"])).toMatchObject({ code: 2 });
    expect(await passbookOf(home, ["login", "--url", "http://example.com"])).toMatchObject({
      code: 2,
    });
    expect(await passbookOf(home, ["--help"])).toMatchObject({ code: 0 });
    expect(await passbookOf(home, ["--version"])).toMatchObject({ code: 0, stdout: "0.1.0\n" });
    const forged = await passbookOf(home, ["wallet", "--json", ...url], { PASSBOOK_TOKEN: "x" });
    expect(forged.code).toBe(3);
    expect(JSON.parse(forged.stderr)).toMatchObject({ code: "unauthorized" });
    const nobody = ["wallet", "--url", `http://localhost:${await freePort()}`];
    expect(await passbookOf(home, nobody, { PASSBOOK_TOKEN: "x" })).toMatchObject({ code: 4 });
  });

  it("a saved token is sent only to the service that issued it", async () => {
    const home = "moved";
    const login = { url: "https://passbook.example.com", token: "pb_pat_x" };
    await saveCredentials(home, JSON.stringify(login));
    const elsewhere = await passbookOf(home, ["wallet", "--url", passbook.url]);
    expect(elsewhere).toMatchObject({ code: 3, stdout: "" });
    expect(elsewhere.stderr).toContain(`passbook login --url ${passbook.url}`);
  });

  it.each([
    ["--url", ["wallet", "--url", "notaurl"], {}],
    ["--url", ["login", "--url", "notaurl"], {}],
    ["--url", ["login", "--url", ""], {}],
    ["PASSBOOK_URL", ["wallet"], { PASSBOOK_URL: "passbook.example.com" }],
    ["PASSBOOK_URL", ["jobs"], { PASSBOOK_URL: "http://example.com", PASSBOOK_TOKEN: "x" }],
  ])(
    "an invalid address in %s exits with 2 and an error that names it: %j %j",
    async (name, args, more) => {
      const ended = await passbookOf("nobody", [...args, "--json"], more);
      expect(ended).toMatchObject({ code: 2, stdout: "" });
      const { error, code } = JSON.parse(ended.stderr);
      expect(code).toBe("invalid_argument");
      expect(error).toContain(`${name} must be the service's address, such as https://`);
    },
  );

  it.each([
    [[]],
    [["fly"]],
    [["jobs", "--limit", "0"]],
    [["jobs", "--limit", "201"]],
    [["jobs", "--status", "done"]],
    [["job"]],
    [["watch", "--after", "-1"]],
    [["watch", "--after", "soon"]],
    [["admin", "credits", "ada", "0x10", "--reason", "case 1"]],
    [["admin", "credits", "ada", "abc", "--reason", "case 1"]],
    [["admin", "credits", "ada", "1.5", "--reason", "case 1"]],
    [["admin", "credits", "ada", "5"]],
    [["admin", "apps", "set", "demo", "--starter-credits", "many"]],
  ])("the usage error %j exits with 2, as text or as JSON", async (args) => {
    const text = await passbookOf("nobody", args);
    expect(text).toMatchObject({ code: 2, stdout: "" });
    expect(text.stderr).toMatch(/Run with --help|Usage/);
    const json = await passbookOf("nobody", [...args, "--json"]);
    expect(json).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(json.stderr)).toMatchObject({ code: "invalid_argument" });
  });

  it("the command line ends without an error when the reader of its output closes the pipe", async () => {
    const ada = await signedInAs("eve@example.com");
    const line = `"${program}" wallet --app demo --json | true; echo "\${PIPESTATUS[0]}"`;
    const run = promisify(execFile)("bash", ["--norc", "-c", line], {
      env: environment("nobody", ada),
    });
    expect(await run).toMatchObject({ stdout: "0\n", stderr: "" });
  });

  it("passbook watch prints changes until Ctrl-C, as a table or as JSON", async () => {
    const eve = await signedInAs("gus@example.com");
    const home = environment("nobody", eve);
    await passbookOf("nobody", ["wallet", "--app", "demo"], eve);
    const watch = async (...args: string[]): Promise<Ended> => {
      const child = spawn(program, ["watch", ...args], { env: home });
      let [stdout, stderr] = ["", ""];
      const ended = new Promise<number>((resolve) => {
        child.on("exit", (code) => resolve(code ?? -1));
      });
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      child.stdout.on("data", (chunk: Buffer) => {
        stdout += chunk.toString();
        if (/grant\b.*\n/.test(stdout)) child.kill("SIGINT");
      });
      return { code: await ended, stdout, stderr };
    };
    const people = await watch("--after", "0");
    expect(people).toMatchObject({ code: 0, stderr: "" });
    expect(people.stdout).toMatch(/^AT +LINE +KIND +AMOUNT +CREDITS +HELD +APP +JOB\n/);
    expect(people.stdout).toMatch(/Z +2 +grant +\+100 +100 +0 +demo\n$/);
    const programs = await watch("--json", "--after", "1");
    expect(programs).toMatchObject({ code: 0, stderr: "" });
    const lines = programs.stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { line: 2, kind: "grant", amount: 100, credits: 100, held: 0, job: null },
    ]);
  });

  it("the error about an invalid PASSBOOK_TOKEN says how to sign in", async () => {
    const more = { PASSBOOK_URL: passbook.url, PASSBOOK_TOKEN: "x" };
    const { stderr } = await passbookOf("nobody", ["wallet"], more);
    expect(stderr).toMatch(/PASSBOOK_TOKEN.* unset it and run: passbook login/);
  });

  it.each(["not json", '{ "url": "notaurl", "token": "x" }', '{ "token": "x" }'])(
    "logout deletes the damaged credentials file %s",
    async (text) => {
      const file = await saveCredentials("damaged", text);
      const before = await passbookOf("damaged", ["wallet"]);
      expect(before).toMatchObject({ code: 3, stderr: expect.stringContaining("passbook logout") });
      expect(await passbookOf("damaged", ["logout"])).toMatchObject({ code: 0 });
      expect(existsSync(file)).toBe(false);
    },
  );

  it("logout deletes the token although the service cannot be reached, and says which token to revoke", async () => {
    const url = "http://localhost:1";
    const login = { url, token: "pb_pat_secret", label: "Laptop" };
    const file = await saveCredentials("unreachable", JSON.stringify(login));
    const logout = await passbookOf("unreachable", ["logout"]);
    expect(logout).toMatchObject({ code: 4, stdout: "" });
    for (const words of ["deleted on this machine", "“Laptop”", `${url}/account/access`]) {
      expect(logout.stderr).toContain(words);
    }
    expect(await readFile(file, "utf8")).not.toContain("pb_pat_secret");
    const again = await passbookOf("unreachable", ["logout"]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("not signed in") });
  });

  it("the error about a missing response names the address and the cause", async () => {
    const url = `http://localhost:${await freePort()}`;
    const more = { PASSBOOK_URL: url, PASSBOOK_TOKEN: "x" };
    const { code, stderr } = await passbookOf("nobody", ["wallet"], more);
    expect(code).toBe(4);
    expect(stderr).toContain(`${url} gave no response: no server is listening there.`);
  });

  it("the error about too few credits names the page that sells them, and with --json has the whole response", async () => {
    const ada = await signedInAs("till@example.com");
    const job = ["--app", "demo", "--action", "film", "--cost-estimate", "5000"];
    const refused = await passbookOf("nobody", ["jobs", "create", ...job], ada);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(` Buy credits: ${passbook.url}/`);
    const json = await passbookOf("nobody", ["--json", "jobs", "create", ...job], ada);
    expect(JSON.parse(json.stderr)).toMatchObject({
      code: "insufficient_credits",
      required: 5000,
      topup_url: expect.stringContaining(passbook.url),
    });
  });

  it("the error about https at a server of plain http says so", async () => {
    const url = passbook.url.replace("http:", "https:");
    const more = { PASSBOOK_URL: url, PASSBOOK_TOKEN: "x" };
    const { stderr } = await passbookOf("nobody", ["wallet"], more);
    expect(stderr).toContain(`${url} gave no response: that server speaks http, not https.`);
  });

  it("the command line uses plain http for a container, except in production", async () => {
    const more = { PASSBOOK_URL: "http://passbook-container:8787", PASSBOOK_TOKEN: "x" };
    const { code, stderr } = await passbookOf("nobody", ["wallet"], more);
    expect(code).toBe(4);
    expect(stderr).toContain("http://passbook-container:8787 gave no response");
    const production = await passbookOf("nobody", ["wallet"], { ...more, NODE_ENV: "production" });
    expect(production.code).toBe(2);
  });

  it("passbook tokens revoke refuses a token in place of its id", async () => {
    const gil = await signedInAs("gil@example.com");
    const { code, stderr } = await passbookOf("nobody", ["tokens", "revoke", "pb_pat_x"], gil);
    expect(code).toBe(2);
    expect(stderr).toContain("This is a token, not the id of a token");
    expect(stderr).not.toContain("pb_pat_x");
  });

  it(
    "login --admin signs an operator in, and says if the approved token may not operate the service",
    { tags: "slow" },
    async () => {
      const args = ["login", "--admin", "--url", passbook.url];
      const olga = await logInBy(program, args, environment("olga"), "olga@example.com", true);
      expect(olga).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("Tick   “Let it operate"),
      });
      expect(await passbookOf("olga", ["admin", "apps"])).toMatchObject({ code: 0 });
      expect((await passbookOf("olga", ["whoami"])).stdout).toContain("operator");

      // The same person without the checkbox.
      const plain = await logInBy(program, args, environment("plain"), "olga@example.com");
      expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining("may not operate") });
      const refused = await passbookOf("plain", ["admin", "apps"]);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain("passbook login --admin");
      expect((await passbookOf("plain", ["whoami"])).stdout).not.toContain("operator");
    },
  );
});

describe("passbook admin", { tags: "slow" }, () => {
  let operator: Awaited<ReturnType<typeof signedInAs>>;

  /** A person with 100 credits, their requests, and the commands about them: `ID` stands for their identity. */
  async function open(email: string) {
    const person = await signedInAs(email);
    await passbookOf("nobody", ["wallet", "--app", "demo"], person);
    const me = await passbookOf("nobody", ["whoami", "--json"], person);
    const { identity_id } = JSON.parse(me.stdout);
    const post = async (path: string, body: object): Promise<Record<string, string>> => {
      const headers = {
        Authorization: `Bearer ${person.PASSBOOK_TOKEN}`,
        "Content-Type": "application/json",
      };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`${passbook.url}/api${path}`, init)).json() as never;
    };
    const operate = (line: string): Promise<Ended> =>
      passbookOf("nobody", ["admin", ...line.replace("ID", identity_id).split(" ")], operator);
    const read = async (line: string) => JSON.parse((await operate(`--json ${line}`)).stdout);
    /** Buys 1000 credits. The payment service sends no webhook. */
    const buy = async (): Promise<string> => {
      const buying = { package: "large", return_to: "http://localhost:3000/" };
      const { url = "" } = await post("/checkout", buying);
      const checkout = url.split("/").at(-1) ?? "";
      till.stripe.completes(checkout);
      return checkout;
    };
    return { person, identity_id, post, operate, read, buy };
  }

  beforeAll(async () => {
    const login = ["login", "--admin", "--json", "--url", passbook.url];
    await logInBy(program, login, environment("operating"), "olga@example.com", true);
    const file = join(directory, "operating/passbook/credentials.json");
    const { token } = JSON.parse(await readFile(file, "utf8"));
    operator = { PASSBOOK_URL: passbook.url, PASSBOOK_TOKEN: token };
  });

  const DONE = { code: 0, stdout: "Done.\n", stderr: "" };

  it("an operator registers an app, and changes the settings that the command names", async () => {
    const { operate, read } = await open("ada@example.com");
    const unsaid = await operate("apps set sketch --name Sketch");
    expect(unsaid).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--starter-credits"),
    });
    const saved = await operate("apps set sketch --name Sketch --starter-credits 70");
    expect(saved.stdout).toMatch(/^Done\.\n[^]*starter_credits +70\n/);
    const providers = "--upstream-provider google github";
    await operate(`apps set sketch --max-overage 25 --daily-starter-budget 900 ${providers}`);
    expect((await operate("apps")).stdout).toMatch(
      /^SLUG +NAME [^]*\nsketch +Sketch .* 25 .* google github/,
    );
    await operate("apps set sketch --name Renamed");
    expect((await read("apps")).apps).toMatchObject([
      {
        name: "Renamed",
        max_overage_percent: 25,
        daily_starter_budget: 900,
        upstream_providers: ["google", "github"],
      },
    ]);
    // The last argument is empty.
    await operate("apps set sketch --max-overage none --upstream-provider ");
    const [{ max_overage_percent, upstream_providers }] = (await read("apps")).apps;
    expect({ max_overage_percent, upstream_providers }).toEqual({
      max_overage_percent: null,
      upstream_providers: [],
    });
    const changed = await operate("apps change sketch --max-overage 50");
    expect(changed.stdout).toMatch(/^Done\.\n[^]*max_overage_percent +50\n/);
    const unknown = await operate("apps change film --max-overage 50");
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("film is not registered"),
    });
    const wrong = await operate("apps set sketch --max-overage lots");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("--max-overage") });
  });

  it("a secret is the first line of a response, and a save without one keeps omitted settings", async () => {
    const { operate, read } = await open("ada@example.com");
    await operate("apps set film --name Film --starter-credits 0");
    const callback = "https://film.example.com/callback";
    const home = "https://film.example.com/";
    const addresses = `--redirect ${callback} --post-logout-redirect-uri ${home}`;
    const client = await operate(`apps set-client film web --name Film ${addresses}`);
    expect(client.stdout).toMatch(
      /^pb_cs_[\w-]{43}\n\nStore it now: it is shown only once\.\n[^]*client_id +film~web\n/,
    );
    expect(await read("apps set-client film web --pkce-optional")).toMatchObject({
      client: {
        name: "Film",
        redirect_uris: [callback],
        post_logout_redirect_uris: [home],
        pkce_optional: true,
        version: 2,
      },
    });
    const uri = "https://mcp.film.example.com";
    await operate(`apps set-resource film mcp --uri ${uri} --charges`);
    expect(await read("apps set-resource film mcp --scope cut")).toMatchObject({
      resource: { uri, scopes: ["cut"], charges: true, version: 2 },
    });
    const replaced = await operate("apps replace-client-secret film web --now");
    expect(replaced.stdout).toMatch(/^pb_cs_[\w-]{43}\n\nStore it now/);
    expect((await operate("apps clients film")).stdout).toMatch(/^NAME [^]*\nFilm .* film~web\n$/);
    for (const name of ["read-oauth-client", "readOAuthClient"]) {
      expect((await operate(`${name} film web`)).stdout).toMatch(/^FIELD +VALUE\nid +web\n/);
    }
    expect(await operate("apps delete-client film web")).toMatchObject(DONE);
    expect((await operate("apps clients film")).stdout).toBe("No clients.\n");
  });

  it("an operator changes an account, and reads its ledger and its jobs", async () => {
    const { person, identity_id, operate, read } = await open("fay@example.com");
    const given = await read("credits ID 16 --reason outage");
    expect(given).toMatchObject({ credits: 116, entry: { amount: 16 } });
    expect((await operate("credits ID --reason outage -- -6")).stdout).toMatch(
      /^Done\. The balance is 110 credits\.\n[^]* adjustment +-6 +110 +outage\n$/,
    );
    expect(await read("plan ID gold --reason outage")).toMatchObject({ account: { plan: "gold" } });
    const ledger = await operate("ledger ID --kind adjustment");
    expect(ledger.stdout).toMatch(/adjustment +-6 +110 +outage\n.*adjustment +16 +116/);
    expect(ledger.stdout.split("\n")).toHaveLength(4);
    expect((await operate("ledger ID --limit 1")).stdout).toMatch(/\n\nMore: --cursor \d+\n$/);
    const too_much = await operate("credits ID --reason chargeback --json -- -115");
    expect(too_much).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(too_much.stderr)).toMatchObject({ code: "balance_below_zero" });
    const owed = await read("credits ID --reason chargeback --below-zero -- -115");
    expect(owed).toMatchObject({ credits: -5, entry: { amount: -115 } });
    expect(await operate("suspend ID --reason outage")).toMatchObject(DONE);
    const some = await operate("suspend ID nobody --reason outage --public-reason Outage");
    expect(some.code).toBe(1);
    expect(some.stdout).toMatch(/^1 of 2 accounts are suspended\.\nnobody: /);
    expect((await read("account ID")).account.suspended_public_reason).toBe("Outage");
    expect(await operate("restore ID --reason outage")).toMatchObject(DONE);
    expect((await operate("account ID")).stdout).toMatch(/\ncredits +-5\n[^]*\n\nSESSIONS\n/);
    const refused = await passbookOf("nobody", ["admin", "ledger", identity_id], person);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
  });

  it("an operator books credits that were paid elsewhere, and the month's liability has their price", async () => {
    const { operate, read } = await open("ivy@example.com");
    const paid = "credits ID 40 --reason invoice-7 --bought --paid-minor 1999 --currency chf";
    expect(await read(paid)).toMatchObject({ credits: 140, entry: { amount: 40 } });
    for (const wrong of ["--paid-minor 0", "--paid-minor 5"]) {
      expect((await operate(`credits ID 40 --reason invoice-8 ${wrong}`)).code).not.toBe(0);
    }
    // Changes reach the read model a second later.
    await operate("rebuild ID");
    const month = await read(`money --month ${new Date().toISOString().slice(0, 7)}`);
    expect(month.liability).toContainEqual({ currency: "chf", credits: 40, amount_minor: 1999 });
  });

  it("an operator finds the request that somebody's id names", async () => {
    const { person, operate, read } = await open("jon@example.com");
    const headers = { Authorization: `Bearer ${person.PASSBOOK_TOKEN}` };
    const response = await fetch(`${passbook.url}/api/jobs/nothing`, { headers });
    const request_id = response.headers.get("Passbook-Request-Id") ?? "";
    const found = await operate(`requests --request ${request_id}`);
    expect(found.stdout).toMatch(/GET +\/api\/jobs\/:id +404 +job_not_found +session /);
    const { source, requests } = await read("requests --account jon@example.com");
    expect(source).toBe("memory");
    expect(requests).toContainEqual(expect.objectContaining({ route: "/api/wallet", status: 200 }));
  });

  it("an operator repairs the read model, books missing payments, and reads the health figures", async () => {
    const { identity_id, operate, read, buy } = await open("hal@example.com");
    const all = await operate("rebuild --all");
    const checked = /Checked \d+ of \d+, repaired \d+\.\n$/;
    expect(all.code).toBe(0);
    expect(all.stdout).toMatch(new RegExp(`^Done\\. ${checked.source}`));
    expect(all.stderr).toMatch(new RegExp(`^${checked.source}`));
    expect(await read("rebuild --all")).toMatchObject({ repaired: 0, failed: [] });
    expect(await operate("rebuild ID")).toMatchObject(DONE);
    for (const wrong of ["rebuild", "rebuild --cursor user_", "rebuild ID --all"]) {
      expect((await operate(wrong)).code).toBe(2);
    }
    const checkout = await buy();
    const reconciled = await operate("reconcile");
    const [done, , , row = ""] = reconciled.stdout.split("\n");
    expect(done).toMatch(/^Done\. Checked \d+ payments, booked 1 that were missing\.$/);
    expect(`Done. ${reconciled.stderr}`).toBe(`${done}\n`);
    expect(row.split(/ +/)).toEqual(
      expect.arrayContaining(["checkouts", "1000", checkout, identity_id]),
    );
    expect(await read("reconcile")).toMatchObject({ booked: [], not_booked: [] });
    const unknown = await operate("reconcile --cursor refunds:re_unknown");
    expect(unknown.stderr).toContain("passbook admin reconcile --cursor refunds:re_unknown");
    // Local development has no schedule, which is a warning.
    const health = await operate("health");
    expect(health).toMatchObject({ code: 5, stderr: "" });
    expect(health.stdout).toMatch(/schedule_age +warning +1800 +seconds +not_run_yet/);
    expect(health.stdout).toContain("docs/alerts.md");
    expect(await read("health")).toMatchObject({ status: "warning" });
  });

  it("an operator writes and downloads the archive, and anybody verifies it without the service", async () => {
    const { identity_id, operate, read, post } = await open("kay@example.com");
    await post("/jobs", { app: "demo", action: "draw", cost_estimate: 10 });
    const written = await operate("archive now ID");
    expect(written).toMatchObject({ code: 0, stdout: "The archive has the entries 1 to 3.\n" });
    const copy = join(directory, "copy");
    const fetched = await operate(`archive download ID ${copy}`);
    expect(fetched.stdout).toContain("Fetched 1 segments of 1 accounts.");
    expect((await operate("differences --check ID")).stdout).toContain("found 0 differences");
    expect((await operate("restore-account ID")).code).toBe(2);
    expect(
      (await operate("restore-account ID --from-archive --to 2026-11-21T10:00:00Z")).code,
    ).toBe(2);
    const intact = await operate("restore-account ID --from-archive");
    expect(intact).toMatchObject({ code: 1 });
    expect(intact.stdout).toContain("The account has its storage.");
    // Another machine: no address, no token.
    const verify = (...more: readonly string[]) =>
      passbookOf("stranger", ["archive", "verify", copy, ...more]);
    const sound = await verify();
    expect(sound).toMatchObject({ code: 0, stderr: "" });
    expect(sound.stdout).toMatch(new RegExp(`${identity_id} +1 +3 +90 +10 .+ sound`));
    const then = JSON.parse((await verify("--json", "--at", "2020-01-01T00:00:00Z")).stdout);
    expect(then).toMatchObject({
      ok: true,
      accounts: [{ identity_id, entries: 3, balance: { line: 0, credits: 0, at: null } }],
    });
    expect((await verify("--at", "yesterday")).code).toBe(2);
    expect((await passbookOf("stranger", ["archive", "verify", directory])).code).toBe(2);
    const [{ account_id }] = then.accounts;
    const folder = join(copy, "ledger/v1", account_id);
    const file = join(folder, "000000000001-000000000003.jsonl.gz");
    const bytes = await readFile(file);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const damaged = await verify();
    expect(damaged.code).toBe(5);
    expect(damaged.stdout).toContain(`${account_id}: 000000000001-000000000003.jsonl.gz`);
    // A further segment, which the head ends, and then without it.
    await post("/jobs", { app: "demo", action: "draw", cost_estimate: 10 });
    expect((await operate("archive now")).stdout).toMatch(/^\d+ accounts write/);
    await vi.waitFor(async () => {
      expect((await read(`archive download --all ${copy}`)).segments).toBeGreaterThan(1);
      expect((await verify()).code).toBe(0);
    }, 30_000);
    await rm(join(folder, "000000000004-000000000004.jsonl.gz"));
    expect((await verify()).stdout).toContain("entries 4 to 4 are missing at the end");
    for (const wrong of ["archive download ID", "archive download --all a b"]) {
      expect((await operate(wrong)).code).toBe(2);
    }
  });

  it("an operator refunds a job once for each key, and reads its entries, the purchases and the money", async () => {
    const { identity_id, post, operate, read, buy } = await open("gus@example.com");
    const metadata = { refunded: 99 };
    const drawing = { app: "demo", action: "draw", cost_estimate: 10, metadata };
    const { job_id = "" } = await post("/jobs", drawing);
    await post("/jobs/complete", { job_id, actual_cost: 6 });
    const refund = `refund ID ${job_id} --reason blank`;
    const some = await operate(`${refund} --amount 2 --key gus-1`);
    expect(some.stdout).toMatch(/^Done\. The balance is 96 credits\.\n[^]* job_refund +\+2 +96 /);
    expect(await operate(`${refund} --amount 2 --key gus-1`)).toEqual(some);
    expect(await read(refund)).toMatchObject({ credits: 100, entry: { amount: 4 } });
    const over = await operate(`--json ${refund}`);
    expect(over).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(over.stderr)).toMatchObject({ code: "refund_limit" });
    for (const wrong of [`refund ID ${job_id}`, `${refund} --amount few`, `${refund} --amount 0`]) {
      expect((await operate(wrong)).code).toBe(2);
    }
    const job = await operate(`job ID ${job_id}`);
    expect(job.stdout).toMatch(/\nrefunded +6\n[^]* job_refund +\+4 +100 .*blank/);
    // An app's metadata does not look like fields of the job.
    expect(job.stdout).toMatch(/\nmetadata +\{"refunded":99\}\n/);

    expect(await operate("purchases ID")).toMatchObject({ stdout: "No purchases.\n" });
    await buy();
    await operate("reconcile");
    expect((await operate("purchases ID")).stdout).toMatch(
      /^AT .* PACKAGE +PACKAGE NAME +CREDITS .*\n.* large .* 1000 .*\d\.\d\d [A-Z]{3} /,
    );
    // Changes reach the read model a second later.
    await operate("rebuild ID");
    const money = await operate("money");
    expect(money.stdout).toMatch(/^FIELD +VALUE\ncredits +\d+\nheld +\d+\naccounts +\d+\n/);
    expect(money.stdout).toMatch(/\nBY APP\nAPP +GRANTED +SETTLED +REFUNDED +JOB REFUNDED\ndemo /);
    const month = await operate("money --month 2020-01");
    expect(month.stdout).toMatch(
      /^FIELD +VALUE\nmonth +2020-01\n\nFIELD +BOUGHT +GIVEN\nopening +0 +0\ngranted +0 +0\n/,
    );
    const none = await operate("money --csv by_app --from 2020-01-01 --to 2020-02-01");
    expect(none.stdout).toBe('"app","granted","settled","refunded","job_refunded"\r\n');
    const balances = await operate("money --csv accounts");
    expect(balances.stdout).toContain(`\r\n"${identity_id}",1100,0\r\n`);
    expect((await operate("money --csv jobs")).code).toBe(2);
    expect((await operate("audit --csv --act job.refund")).stdout).toMatch(/^"at","actor",/);
  });
});
