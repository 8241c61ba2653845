/** `passbook-client/testing` and docs/testing.md, with the package as an app installs it. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import type { Passbook, StartPassbook } from "../../../src/client/testing/index.ts";
import { exitCode, freePort } from "../../../src/commands/local_worker.ts";
import { familyOf, survivorsOf } from "../commands/processes.ts";
import { launchBrowser, unpackBrowser } from "../support/chromium.ts";
import { blocksOf } from "../support/guide.ts";
import { installPackage, type Installed } from "../support/installed.ts";

const run = promisify(execFile);

let installed: Installed;
let startPassbook: (options?: StartPassbook) => Promise<Passbook>;
let passbook: Passbook;

beforeAll(async () => {
  installed = await installPackage();
  const modules = join(installed.folder, "node_modules");
  for (const name of ["miniflare", "vitest"]) {
    await symlink(resolve("node_modules", name), join(modules, name));
  }
  const entry = join(modules, "passbook-client/client/testing/index.js");
  ({ startPassbook } = (await import(pathToFileURL(entry).href)) as {
    startPassbook: typeof startPassbook;
  });
  passbook = await startPassbook({
    apps: ["sketch", { slug: "farm", settle: "app" }],
    people: ["ada@example.com"],
    credits: 100,
  });
}, 240_000);
afterAll(async () => {
  await passbook?.stop();
  await installed?.remove();
});

const clientOf = async (kit: Passbook, email = "ada@example.com") =>
  createClient({ baseUrl: kit.url, token: await kit.tokenOf(email) });

const JOB = { app: "sketch", action: "render", costEstimate: 40, ttlSeconds: 60 };

function post(path: string, body: object, headers: Record<string, string> = {}) {
  return fetch(passbook.url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** The code block of docs/testing.md whose first line names this file. */
function exampleOf(file: string): string {
  const blocks = blocksOf("docs/testing.md", "js|python");
  const block = blocks.find((code) => new RegExp(`^(//|#) ${file}\\n`).test(code));
  if (block === undefined) throw new Error(`docs/testing.md has no ${file}`);
  return block;
}

describe("the kit for testing", () => {
  it("advancing the clock expires a job at its own time, and months later tokens have ended", async () => {
    await passbook.reset();
    const ada = await clientOf(passbook);
    const { job_id } = await ada.jobs.create(JOB);
    await passbook.advance(3_600);
    const later = await clientOf(passbook);
    const job = await later.jobs.get(job_id);
    expect(job).toMatchObject({ status: "failed", failure: "expired" });
    // Its alarm fires at its time, and not when the clock has arrived; a busy machine takes a moment for it.
    const late_ms = Date.parse(job.updated_at) - Date.parse(job.expires_at);
    expect(late_ms).toBeGreaterThanOrEqual(0);
    expect(late_ms).toBeLessThan(60_000);
    expect((await later.wallet()).account.credits).toBe(100);
    const now = await passbook.advance(60 * 86_400);
    expect(now.getTime()).toBeGreaterThan(Date.now() + 60 * 86_400_000);
    await expect(later.wallet()).rejects.toMatchObject({ code: "token_expired" });
  });

  it("a reset deletes jobs, sets the clock back, and keeps the apps, their keys and the people", async () => {
    const key = passbook.keyOf("sketch");
    await (await clientOf(passbook)).jobs.create(JOB);
    const old_token = await passbook.tokenOf("ada@example.com");
    await passbook.advance(7_200);
    await passbook.reset();
    expect(passbook.keyOf("sketch")).toBe(key);
    const ada = await clientOf(passbook);
    expect(await ada.jobs.list()).toMatchObject({ jobs: [] });
    expect((await ada.wallet()).account.credits).toBe(100);
    expect(passbook.events.received).toEqual([]);
    const old = createClient({ baseUrl: passbook.url, token: old_token });
    await expect(old.sessionToken()).rejects.toMatchObject({ status: 401 });
    const now = await passbook.advance(0);
    expect(Math.abs(now.getTime() - Date.now())).toBeLessThan(60_000);
  });

  it("the service of the package is ready in all its parts, with a bucket for the archive", async () => {
    const ready = await fetch(`${passbook.url}/readyz`);
    const { checks } = (await ready.json()) as { checks: Record<string, boolean> };
    expect(Object.keys(checks)).toContain("archive");
    expect(Object.values(checks)).not.toContain(false);
  });

  it("a repeated seed changes nothing, and gives the same identities and keys", async () => {
    await passbook.reset();
    const body = { apps: ["sketch"], people: [{ email: "ada@example.com", credits: 100 }] };
    const [first, second] = [await post("/dev/seed", body), await post("/dev/seed", body)];
    const [one, other] = [await first.json(), await second.json()] as {
      apps: unknown;
      people: { identity_id: string }[];
    }[];
    expect(other?.apps).toEqual(one?.apps);
    expect(other?.people[0]?.identity_id).toBe(one?.people[0]?.identity_id);
    const ada = await clientOf(passbook);
    expect((await ada.wallet()).account.credits).toBe(100);
    expect((await ada.ledger.list({ kind: "adjustment" })).entries).toHaveLength(1);
  });

  it("two kits run at once with their own data, and stopping one leaves none of its processes", async () => {
    const before = familyOf(process.pid);
    const other = await startPassbook({ apps: ["sketch"], people: ["ada@example.com"] });
    const started = familyOf(process.pid).filter((pid) => !before.includes(pid));
    try {
      expect(other.url).not.toBe(passbook.url);
      expect(await other.give("ada@example.com", 7)).toBe(7);
      expect((await (await clientOf(passbook)).wallet()).account.credits).toBe(100);
    } finally {
      await other.stop();
    }
    expect(started.length).toBeGreaterThan(0);
    await vi.waitFor(() => expect(survivorsOf(started)).toEqual([]), 10_000);
  });

  it("the endpoints of development refuse pages of other sites, other hosts and mistyped fields", async () => {
    const clock = { advance_seconds: 1 };
    expect((await post("/dev/clock", clock, { Origin: "https://evil.example" })).status).toBe(403);
    expect((await post("/dev/clock", clock, { Origin: "http://localhost:4173" })).status).toBe(200);
    const rebound = await post("/dev/reset", {}, { "Sec-Fetch-Site": "cross-site" });
    expect(rebound.status).toBe(403);
    expect((await post("/dev/clock", { advance: 1 })).status).toBe(400);
    expect((await post("/dev/clock", { advance_seconds: -1 })).status).toBe(400);
    expect((await post("/dev/seed", { persons: [] })).status).toBe(400);
  });

  it("a page of any port of this machine may sign people in, and one of another host may not", async () => {
    const signIn = (back: string) =>
      fetch(`${passbook.url}/signin?redirect_to=${encodeURIComponent(back)}`);
    expect((await signIn("http://127.0.0.1:51234/")).status).toBe(200);
    expect((await signIn("https://evil.example/")).status).toBe(400);
  });

  it("an unregistered app is named in the log, and refused with STRICT_APPS", async () => {
    const lines: string[] = [];
    const strict = await startPassbook({
      apps: ["sketch"],
      people: ["ada@example.com"],
      credits: 100,
      settings: { STRICT_APPS: "true" },
    });
    try {
      const ada = await clientOf(strict);
      const misspelt = { ...JOB, app: "sketchh" };
      await expect(ada.jobs.create(misspelt)).rejects.toMatchObject({ code: "app_not_registered" });
      await expect(ada.wallet({ app: "sketchh" })).rejects.toMatchObject({ status: 403 });
      const { results } = await ada.jobs.createMany([misspelt, JOB]);
      expect(results[0]).toMatchObject({ code: "app_not_registered" });
      expect(results[1]).toMatchObject({ credits: 60 });
    } finally {
      await strict.stop();
    }
    const lax = await startPassbook({
      people: ["ada@example.com"],
      onLog: ({ message }) => lines.push(message),
    });
    try {
      await (await clientOf(lax)).wallet({ app: "sketchh" });
      await vi.waitFor(
        () => expect(lines.join()).toMatch(/app_not_registered[^}]*sketchh/),
        10_000,
      );
    } finally {
      await lax.stop();
    }
  });
});

describe("passbook dev", () => {
  const start = (...args: readonly string[]) => {
    const command = join(installed.folder, "node_modules/passbook-client/cli/main.js");
    return running(process.execPath, [command, "dev", ...args]);
  };
  const running = (command: string, args: readonly string[]) => {
    const dev = spawn(command, args, { stdio: "pipe", cwd: installed.folder });
    let output = "";
    for (const stream of [dev.stdout, dev.stderr]) {
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    }
    return { dev, ended: exitCode(dev), output: () => output };
  };

  it("passbook dev serves apps and people of the demo, with --strict-apps no others, and a signal ends all its processes", async () => {
    const { dev, ended, output } = start("--port", "0", "--seed", "demo", "--strict-apps");
    await vi.waitFor(() => expect(output()).toContain("bob@example.com"), 60_000);
    const url = /http:\/\/localhost:\d+/.exec(output())?.[0] ?? "";
    const [, key = ""] = /render-farm: (pb_app_test_\S+)/.exec(output()) ?? [];
    const app = await fetch(`${url}/api/app`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await app.json()).toMatchObject({ slug: "render-farm" });
    const form = new URLSearchParams({
      email: "bob@example.com",
      redirect_to: "http://localhost/",
    });
    const signed_in = await fetch(`${url}/signin/dev`, {
      method: "POST",
      body: form,
      redirect: "manual",
    });
    const token = new URL(signed_in.headers.get("Location") ?? "").searchParams.get("token");
    const headers = { Authorization: `Bearer ${token}` };
    const misspelt = await fetch(`${url}/api/wallet?app=render-form`, { headers });
    expect(await misspelt.json()).toMatchObject({ code: "app_not_registered" });
    expect((await fetch(`${url}/api/wallet?app=render-farm`, { headers })).status).toBe(200);
    const family = familyOf(dev.pid ?? 0);
    dev.kill("SIGTERM");
    await ended;
    await vi.waitFor(() => expect(survivorsOf(family)).toEqual([]), 10_000);
  });

  it("passbook dev ends if npx, which runs it, is killed in the background", async () => {
    const { dev, output } = running("npx", ["--no", "--", "passbook", "dev", "--port", "0"]);
    await vi.waitFor(() => expect(output()).toContain("Passbook is ready."), 60_000);
    const family = familyOf(dev.pid ?? 0);
    expect(family.length).toBeGreaterThan(2);
    dev.kill("SIGKILL");
    await vi.waitFor(() => expect(survivorsOf(family)).toEqual([]), 10_000);
  });

  it("passbook dev names a free way out if its port is taken, and refuses a wrong option", async () => {
    const port = new URL(passbook.url).port;
    const taken = start("--port", port);
    expect(await taken.ended).toBe(2);
    expect(taken.output()).toContain(`passbook dev --port ${Number(port) + 1}`);
    const wrong = start("--seed", "everything");
    expect(await wrong.ended).toBe(2);
    expect(wrong.output()).toContain("demo");
  });
});

describe("examples/render-farm", () => {
  const servers = [
    ["TypeScript", "node", "server.ts"],
    ["Python", "python3", "server.py"],
  ] as const;

  it.each(servers)(
    "in a browser, the render farm in %s signs a person in, renders, and shows the balance of its webhook",
    async (_, program, file) => {
      await passbook.reset();
      const farm = join(installed.folder, "render-farm");
      await cp("examples/render-farm", farm, { recursive: true });
      const port = String(await freePort());
      const env = {
        PATH: `${resolve("node_modules/.bin")}:${process.env["PATH"]}`,
        PYTHONPATH: resolve("clients/python"),
        PYTHONDONTWRITEBYTECODE: "1",
        PASSBOOK_URL: passbook.url,
        PASSBOOK_APP: "farm",
        PASSBOOK_APP_KEY: passbook.keyOf("farm"),
        PORT: port,
      };
      const server = spawn(program, [file], { cwd: farm, env, stdio: "pipe" });
      let output = "";
      for (const stream of [server.stdout, server.stderr]) {
        stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
      }
      const browser = await launchBrowser();
      try {
        await vi.waitFor(() => expect(output).toContain("Listening"), 30_000);
        const page = await browser.newPage();
        await page.goto(`http://localhost:${port}/`);
        await page.getByText("Sign in").click();
        await page.getByLabel("E-mail").fill("ada@example.com");
        await page.keyboard.press("Enter");
        await page.getByText("100 credits, 0 held").waitFor();
        await page.reload();
        await page.getByText("100 credits, 0 held").waitFor();
        await page.getByRole("button", { name: "Render" }).click();
        await page.getByText("5 of 5 frames").waitFor();
        await page.getByText("80 credits, 0 held").waitFor();
      } finally {
        await browser.close();
        server.kill();
      }
    },
  );
});

describe("docs/testing.md", () => {
  const vitest = async (file: string) => {
    await writeFile(join(installed.folder, file), exampleOf(file));
    const command = resolve("node_modules/vitest/vitest.mjs");
    const args = [command, "run", "--reporter=json", "--root", installed.folder, file];
    const { stdout } = await run(process.execPath, args, { cwd: installed.folder });
    return JSON.parse(stdout.slice(stdout.indexOf("{"))) as { numPassedTests: number };
  };

  it("the example for Vitest passes as it is written", async () => {
    expect((await vitest("render.test.js")).numPassedTests).toBe(3);
  });

  it("the example for Playwright passes with this machine's browser", async () => {
    const folder = join(installed.folder, "node_modules/playwright");
    await mkdir(folder, { recursive: true });
    await symlink(
      resolve("node_modules/playwright-core"),
      join(installed.folder, "node_modules/playwright-core"),
    );
    const launch = {
      executablePath: await unpackBrowser(),
      args: ["--no-sandbox", "--disable-gpu"],
    };
    await writeFile(
      join(folder, "package.json"),
      '{ "name": "playwright", "type": "module", "exports": "./index.js" }',
    );
    await writeFile(
      join(folder, "index.js"),
      `import { chromium as own } from "playwright-core";
export const chromium = { launch: () => own.launch(${JSON.stringify(launch)}) };`,
    );
    expect((await vitest("page.test.js")).numPassedTests).toBe(1);
  });

  it("the example for pytest passes, and needs only Node and the npm package", async () => {
    await writeFile(join(installed.folder, "test_render.py"), exampleOf("test_render.py"));
    const env = {
      PATH: `${resolve("node_modules/.bin")}:${process.env["PATH"]}`,
      PYTHONPATH: resolve("clients/python"),
      PYTHONDONTWRITEBYTECODE: "1",
    };
    const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_render.py"];
    const { stdout } = await run("python3", args, { cwd: installed.folder, env });
    expect(stdout).toContain("3 passed");
    const elsewhere = [
      "-c",
      "from passbook_client.testing import start_passbook; start_passbook()",
    ];
    const missing = run("python3", elsewhere, { cwd: "/", env });
    await expect(missing).rejects.toThrow(/npm install --save-dev passbook-client miniflare/);
  });
});

describe("the package", () => {
  it("the runtime and the package take less than 200 MB", () => {
    const names = [
      "miniflare",
      "workerd",
      "@cloudflare/workerd-linux-64",
      "sharp",
      "@img",
      "undici",
    ];
    const folders = [...names, "ws", "youch"].map((name) => resolve("node_modules", name));
    const own = join(installed.folder, "node_modules/passbook-client");
    // One call, which counts once the program that two packages share.
    const listed = execFileSync("du", ["-sckL", ...folders, own], { encoding: "utf8" });
    expect(Number(/(\d+)\ttotal/.exec(listed)?.[1])).toBeLessThan(200_000);
  });
});
