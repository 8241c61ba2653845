import { spawn, type ChildProcess } from "node:child_process";
import { globSync, readFileSync, existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { installPackage, type Installed } from "../support/installed.ts";
import { launchBrowser } from "../support/chromium.ts";
import { buildReactModules, type ReactModules } from "../support/react_modules.ts";
import { startTestWorker } from "../support/test_worker.ts";

let directory: string;
let installed: Installed;
let passbook: LocalWorker;
let browser: Browser;
let site: Server;
let modules: ReactModules;
let app: string;

beforeAll(async () => {
  installed = await installPackage();
  await cp("examples", installed.folder, { recursive: true });
  directory = await mkdtemp(join(tmpdir(), "passbook-examples-"));
  const [port, app_port] = [await freePort(), await freePort()];
  app = `http://localhost:${app_port}`;
  const env_file = join(directory, "settings.env");
  const settings = (await developmentSettings()).replace("http://localhost:5173", app);
  await writeFile(env_file, `${settings}DEVICE_POLL_INTERVAL_SECONDS=1\n`);
  passbook = await startTestWorker({ port, persist_to: join(directory, "state"), env_file });
  const page = join(installed.folder, "web/index.html");
  const html = await readFile(page, "utf8");
  await writeFile(page, html.replace("http://localhost:8787", passbook.url));
  site = await serveFiles(app_port);
  modules = await buildReactModules();
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  site?.close();
  await passbook?.stop();
  await installed?.remove();
  await rm(directory, { recursive: true, force: true });
});

/** Serves the web example as any server of files does. */
async function serveFiles(port: number): Promise<Server> {
  const types: Record<string, string> = { ".js": "text/javascript", ".html": "text/html" };
  const server = createServer((asked, response) => {
    const { pathname } = new URL(asked.url ?? "/", "http://localhost");
    const name = pathname === "/" ? "/index.html" : pathname;
    const folder = pathname.startsWith("/node_modules/") ? "" : "web";
    const file = join(installed.folder, folder, name);
    response.writeHead(existsSync(file) ? 200 : 404, {
      "Content-Type": types[extname(file)] ?? "text/plain",
    });
    response.end(existsSync(file) ? readFileSync(file) : "Not found");
  });
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  return server;
}

/** A browser in which the content network of the example's import map serves React from this repository. */
async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  await context.route("https://esm.sh/**", (route) => {
    const { pathname } = new URL(route.request().url());
    const name = /^\/(react|react-dom)@/.exec(pathname)?.[1];
    const body = modules.get(name === undefined ? pathname : `/${name}.js`) ?? "";
    const headers = { "Access-Control-Allow-Origin": "*" };
    return route.fulfill({ contentType: "text/javascript", headers, body });
  });
  return context;
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Waits until the output of a child process matches `pattern`. */
function heard(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = "";
  return new Promise((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match !== null) resolve(match);
    };
    child.stdout?.on("data", listen);
    child.stderr?.on("data", listen);
    child.once("exit", () => reject(new Error(`it ended:\n${text}`)));
  });
}

function start(script: string, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [join(installed.folder, script)], {
    env: { ...process.env, PASSBOOK_URL: passbook.url, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

describe("the examples", () => {
  it("each example has under 100 lines, the web example's script under 60, and the render farm under 140", () => {
    const files = globSync("examples/**/*.{js,mjs,html,ts,py}");
    expect(files).toHaveLength(11);
    for (const file of files) {
      const most = file.includes("render-farm") ? 140 : 100;
      expect(readFileSync(file, "utf8").split("\n").length).toBeLessThan(most);
    }
    expect(readFileSync("examples/web/app.js", "utf8").split("\n").length).toBeLessThan(60);
  });

  for (const [by, tags] of [
    ["token", []],
    ["cookies", ["slow"]],
  ] as const) {
    it(
      `the web example signs in, runs a job and aborts one, by ${by}`,
      { tags: [...tags] },
      async () => {
        const context = await newContext();
        const page = await context.newPage();
        await page.goto(by === "cookies" ? `${app}/?cookies` : app);
        await page.getByText("You are not signed in.").waitFor();
        await page.getByRole("button", { name: "Sign in" }).click();
        await signIn(page, `${by}@example.com`);
        await page.getByText("100 credits").waitFor();
        // The page has removed the parameters of the sign-in from the URL.
        expect(page.url()).not.toMatch(/token|state/);
        await page.getByRole("button", { name: "Draw" }).click();
        await page.getByText("Here is a lighthouse. It cost 7 credits.").waitFor();
        await page.getByText("93 credits").waitFor();
        const refunded = page.waitForResponse(`${passbook.url}/api/jobs/fail`);
        await page.getByRole("button", { name: "Draw" }).click();
        await page.getByRole("button", { name: "Stop" }).click();
        await page.getByText("Nothing was charged: stopped").waitFor();
        await page.getByText("93 credits").waitFor();
        // A stop during the reserve is refunded after the message. Leaving the page would cut off that request.
        await refunded;
        if (by === "cookies") {
          await page.reload();
          await page.getByText("93 credits").waitFor();
        }
        await context.close();
      },
    );
  }

  it("the web example refuses a token of a sign-in that this browser did not start", async () => {
    const context = await newContext();
    const page = await context.newPage();
    await page.goto(`${app}/?token=planted&passbook_state=guessed`);
    await page.getByText("This browser did not start that sign-in.").waitFor();
    expect(page.url()).not.toContain("planted");
    await context.close();
  });

  it("the server example runs a job for a person with a token, and nothing without one", async () => {
    const form = new URLSearchParams({ email: "s@example.com", redirect_to: app });
    const landed = await fetch(`${passbook.url}/signin/dev`, {
      method: "POST",
      body: form,
      redirect: "manual",
    });
    const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
    const port = await freePort();
    const server = start("server/server.mjs", { PORT: String(port), PAGE_ORIGIN: app });
    try {
      await heard(server, /Listening/);
      const ask = async (words: string, headers: Record<string, string>) => {
        const init = { method: "POST", body: JSON.stringify({ words }), headers };
        const response = await fetch(`http://localhost:${port}/render`, init);
        return [response.status, await response.json()];
      };
      let warnings = "";
      server.stderr?.on("data", (chunk: Buffer) => (warnings += chunk.toString()));
      const mine = { Authorization: `Bearer ${token}` };
      // More than eleven on one connection, so that Node would warn of leaked listeners.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const options = { port, path: "/render", method: "POST", headers: mine, agent };
      const askOnOne = (): Promise<void> =>
        new Promise((resolve) => {
          const asking = request(options, (response) => response.resume().once("end", resolve));
          asking.end(JSON.stringify({ words: "" }));
        });
      await Promise.all(Array.from({ length: 12 }, askOnOne));
      agent.destroy();
      expect(await ask("a fox", mine)).toEqual([200, { result: "~ a fox ~", credits: 91 }]);
      expect(await ask("", mine)).toMatchObject([400, {}]);
      expect(await ask("a fox", {})).toMatchObject([401, {}]);
      expect(await ask("a fox", { Authorization: "Bearer forged" })).toMatchObject([
        401,
        { code: "unauthorized" },
      ]);
      expect(await ask("a fox", mine)).toEqual([200, { result: "~ a fox ~", credits: 82 }]);
      expect(warnings).toBe("");
    } finally {
      server.kill();
    }
  });

  it("the command line example signs in by device login, and pays for its work", async () => {
    const tool = start("cli/render.mjs", {});
    const done = heard(tool, /It cost 12 credits; 88 are left/);
    const [, address = "", code = ""] = await heard(tool, /Open (\S+) and enter ([A-Z-]{9})/);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(address);
    await signIn(page, "cli@example.com");
    await page.getByLabel("Code").fill(code);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel(/four letters/).fill(code.slice(-4));
    await page.getByRole("button", { name: "Approve" }).click();
    await done;
    await context.close();
  });
});
