/** The clients of other languages and libraries, against one Worker: React's hooks in a real browser, and Python. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { transformWithOxc } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type PassbookClient } from "../../../src/client/index.ts";
import {
  PassbookProvider,
  useJobs,
  useSignIn,
  useWallet,
} from "../../../src/client/react/index.ts";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { launchBrowser } from "../support/chromium.ts";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting_proxy.ts";
import { fillSignIn } from "../support/pages_in_browser.ts";
import { buildReactModules } from "../support/react_modules.ts";
import { IMPORT_MAP, serveReactSite, type ReactSite } from "../support/react_site.ts";
import { startTestWorker } from "../support/test_worker.ts";
import { runPythonTests } from "./python.ts";

let directory: string;
let worker: LocalWorker;
let proxy: CuttingProxy;
let site: ReactSite;
let app: string;
let browser: Browser;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-clients-"));
  const [port, app_port] = [await freePort(), await freePort()];
  app = `http://localhost:${app_port}`;
  const env_file = join(directory, "settings.env");
  await writeFile(env_file, (await developmentSettings()).replace("http://localhost:5173", app));
  const persist_to = join(directory, "state");
  [worker, site, browser] = await Promise.all([
    startTestWorker({ port, persist_to, env_file }),
    buildReactModules().then((modules) => serveReactSite(app_port, modules)),
    launchBrowser(),
  ]);
  proxy = await openCuttingProxy(port);
  const script = await readFile("test/outside/clients/page.js", "utf8");
  site.pages.set("/", pageOf({}, script));
  site.pages.set("/cookies", pageOf({ cookies: true }, script));
  site.pages.set("/kept", pageOf({ kept: "sessionStorage" }, script));
  site.pages.set("/shared", pageOf({ kept: "localStorage" }, script));
  site.pages.set("/hydrated", pageOf({ hydrate: true }, script, '<p id="wallet">loading</p>'));
});

afterAll(async () => {
  await browser?.close();
  site?.stop();
  proxy?.stop();
  await worker?.stop();
  await rm(directory, { recursive: true, force: true });
});

function pageOf(settings: object, script: string, root = ""): string {
  const values = JSON.stringify({ baseUrl: proxy.url, ...settings });
  return `<!doctype html>${IMPORT_MAP}<div id="root">${root}</div>
<script>settings = ${values}</script><script type="module">${script}</script>`;
}

/** The client of the same person, outside of the browser. */
async function clientOf(email: string): Promise<PassbookClient> {
  const body = new URLSearchParams({ email, redirect_to: app });
  const init = { method: "POST", body, redirect: "manual" } as const;
  const landed = await fetch(`${proxy.url}/signin/dev`, init);
  const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  return createClient({ baseUrl: proxy.url, token });
}

/** Waits until the element has exactly this text. */
function shows(page: Page, id: string, text: string): Promise<void> {
  const exact = new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
  return page.locator(`#${id}`).filter({ hasText: exact }).waitFor();
}

async function signIn(page: Page, path: string, email: string): Promise<void> {
  await page.goto(`${app}${path}`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await fillSignIn(page, email);
  await shows(page, "wallet", "100 credits, 0 held");
}

/** The paths of the page's requests to the API from now on. */
function recordRequests(page: Page): { path: string; token: string | undefined; open: boolean }[] {
  const requests: ReturnType<typeof recordRequests> = [];
  page.on("request", (request) => {
    const { pathname: path } = new URL(request.url());
    if (request.method() === "OPTIONS" || !path.startsWith("/api/")) return;
    const sent = { path, token: request.headers()["authorization"], open: true };
    requests.push(sent);
    const close = (ended: unknown): void => {
      if (ended === request) sent.open = false;
    };
    page.on("requestfinished", close).on("requestfailed", close);
  });
  return requests;
}

const JOB = { app: "sketch", costEstimate: 30 };

/** The machine may be busy. */
const SLOW = { timeout: 20_000 };

describe("the React hooks", () => {
  it("components in strict mode share one stream, which shows each change and survives lost connections, a remount and the end of its token", async () => {
    const context = await browser.newContext();
    await context.clock.install();
    const page = await context.newPage();
    const requests = recordRequests(page);
    const streams = (): typeof requests => requests.filter(({ path }) => path === "/api/events");
    await signIn(page, "/", "ada@example.com");
    expect(page.url()).not.toMatch(/token|state/);
    await shows(page, "other-wallet", "100 credits, 0 held");
    await shows(page, "jobs", "no jobs");
    expect(streams()).toHaveLength(1);
    expect(requests.filter(({ path }) => path === "/api/wallet")).toHaveLength(1);
    expect(requests.filter(({ path }) => path === "/api/jobs")).toHaveLength(2);

    const ada = await clientOf("ada@example.com");
    const one = await ada.jobs.create({ ...JOB, action: "one" });
    await shows(page, "wallet", "70 credits, 30 held");
    await shows(page, "started", "one started 0");
    await ada.jobs.complete({ jobId: one.job_id, actualCost: 20 });
    await shows(page, "other-wallet", "80 credits, 0 held");
    await shows(page, "jobs", "one completed 20");
    await shows(page, "started", "no jobs");
    expect(streams()).toHaveLength(1);

    // Entries that happen while the connection is lost.
    proxy.cut();
    const two = await ada.jobs.create({ ...JOB, action: "two", costEstimate: 10 });
    proxy.cut();
    await ada.jobs.create({ ...JOB, action: "three", costEstimate: 5 });
    await ada.jobs.fail({ jobId: two.job_id });
    await page.clock.runFor("00:20");
    await shows(page, "wallet", "75 credits, 5 held");
    await shows(page, "jobs", "three started 0, two failed 0, one completed 20");
    expect(streams().filter(({ open }) => open)).toHaveLength(1);

    // After the last component, the stream ends. A later one shows what happened meanwhile.
    await page.getByRole("button", { name: "Hide" }).click();
    await page.clock.runFor("00:02");
    await expect.poll(() => streams().filter(({ open }) => open), SLOW).toHaveLength(0);
    const four = await ada.jobs.create({ ...JOB, action: "four", costEstimate: 5 });
    await page.getByRole("button", { name: "Show" }).click();
    await shows(page, "wallet", "70 credits, 10 held");
    await shows(page, "jobs", "four started 0, three started 0, two failed 0, more");
    // A report of progress has no entry, and the page shows it all the same.
    await ada.jobs.progress({ jobId: four.job_id, step: 1, done: 0.25 });
    await shows(page, "jobs", "four started 0 25%, three started 0, two failed 0, more");

    // Session tokens live 15 minutes.
    const { token } = streams().at(-1) ?? {};
    await page.clock.fastForward("14:30");
    await expect.poll(() => requests.map(({ path }) => path), SLOW).toContain("/api/sessionToken");
    proxy.cut();
    await page.clock.runFor("00:20");
    await expect.poll(() => streams().at(-1)?.token, SLOW).not.toBe(token);
    await ada.jobs.create({ ...JOB, action: "five", costEstimate: 5 });
    await shows(page, "wallet", "65 credits, 15 held");

    // A job that leaves a full list makes room for an older one.
    const six = await ada.jobs.create({ ...JOB, action: "six", costEstimate: 0 });
    await shows(page, "started", "six started 0, five started 0, four started 0 25%, more");
    await ada.jobs.complete({ jobId: six.job_id, actualCost: 0 });
    await shows(page, "started", "five started 0, four started 0 25%, three started 0");

    await page.getByRole("button", { name: "Sign out" }).click();
    await shows(page, "wallet", "signed_out");
    await shows(page, "jobs", "signed_out");
    // The token is forgotten, so a retry sends nothing.
    const count = requests.length;
    await page.getByRole("button", { name: "Retry" }).click();
    await shows(page, "person", "signed_out ");
    expect(requests).toHaveLength(count);
    await context.close();
  });

  it("a page with cookies shows the new person after another one signs in", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, "/cookies", "bob@example.com");
    const bob = await clientOf("bob@example.com");
    await bob.jobs.create({ ...JOB, action: "bobs" });
    await shows(page, "jobs", "bobs started 0");
    // In another tab.
    const form = { email: "carol@example.com" };
    await page.request.post(`${proxy.url}/signin/dev`, { form, headers: { Origin: proxy.url } });
    proxy.cut();
    await shows(page, "wallet", "100 credits, 0 held");
    await shows(page, "jobs", "no jobs");
    const carol = await clientOf("carol@example.com");
    await shows(page, "person", (await carol.me()).identity_id);
    await context.close();
  });

  it("a page with storage keeps its person over reloads in its tab only, until the person signs out", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, "/kept", "erna@example.com");
    const stored = () => page.evaluate("Object.values({ ...sessionStorage })");
    expect(await stored()).toEqual([await page.evaluate("newest")]);
    for (let times = 0; times < 2; times += 1) {
      await page.reload();
      await shows(page, "wallet", "100 credits, 0 held");
    }
    const tab = await context.newPage();
    await tab.goto(`${app}/kept`);
    await shows(tab, "wallet", "signed_out");
    await page.getByRole("button", { name: "Sign out" }).click();
    await shows(page, "wallet", "signed_out");
    expect(await stored()).toEqual([]);
    await page.reload();
    await shows(page, "wallet", "signed_out");
    await context.close();
  });

  it("tabs with one storage share the person, and a sign-out in one of them ends the others' requests", async () => {
    const context = await browser.newContext();
    const [page, tab] = [await context.newPage(), await context.newPage()];
    await signIn(page, "/shared", "fred@example.com");
    await tab.goto(`${app}/shared`);
    await shows(tab, "wallet", "100 credits, 0 held");
    await page.getByRole("button", { name: "Sign out" }).click();
    await shows(page, "wallet", "signed_out");
    proxy.cut();
    await shows(tab, "wallet", "signed_out");
    await context.close();
  });

  it("a page whose kept token has expired is signed out, forgets the token, and signs in again", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, "/kept", "gina@example.com");
    const entry = await page.evaluate<[string, string]>("Object.entries(sessionStorage)[0]");
    const [head, claims = "", signature] = entry[1].split(".");
    const expired = { ...JSON.parse(atob(claims)), exp: 1 };
    const old = [head, btoa(JSON.stringify(expired)), signature].join(".");
    await page.evaluate(`sessionStorage.setItem("${entry[0]}", "${old}")`);
    await page.reload();
    await shows(page, "wallet", "signed_out");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: /Continue as/ }).click();
    await shows(page, "wallet", "100 credits, 0 held");
    await context.close();
  });

  it("a refused page shows the error, and retries when it is asked to", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const body = '{ "error": "This account is suspended.", "code": "suspended" }';
    await page.route("**/api/wallet*", (route) =>
      route.fulfill({
        status: 403,
        body,
        headers: { "Access-Control-Allow-Origin": app, "Access-Control-Allow-Credentials": "true" },
      }),
    );
    await page.goto(`${app}/cookies`);
    await shows(page, "person", "error suspended");
    await shows(page, "jobs", "error");
    await page.unroute("**/api/wallet*");
    await page.getByRole("button", { name: "Retry" }).click();
    await shows(page, "wallet", "signed_out");
    await page.goto(`${app}/?token=planted&passbook_state=guessed`);
    await shows(page, "person", "signed_out signin_failed");
    expect(page.url()).not.toContain("planted");
    await context.close();
  });

  it("the example in docs/apps.md signs in and shows the balance, also after a reload", async () => {
    const [, jsx = ""] = /```jsx\n(.*?)```/s.exec(await readFile("docs/apps.md", "utf8")) ?? [];
    const jsx_options = { runtime: "classic", pragma: "createElement" } as const;
    const { code } = await transformWithOxc(jsx, "example.jsx", { jsx: jsx_options });
    const script = code.replace("https://passbook.example.com", proxy.url);
    site.pages.set("/docs", pageOf({}, `import { createElement } from "react";\n${script}`));
    const page = await browser.newPage();
    await page.goto(`${app}/docs`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await fillSignIn(page, "dora@example.com");
    await page.getByText("100 credits, 0 held").waitFor();
    await page.reload();
    await page.getByText("100 credits, 0 held").waitFor();
    await page.close();
  });

  it("a server renders the loading state without a request, and the browser continues from it", async () => {
    const sent: string[] = [];
    const client = createClient({
      baseUrl: proxy.url,
      cookies: true,
      fetch: async (url) => {
        sent.push(url);
        throw new Error("a server must not send requests");
      },
    });
    const Wallet = () => {
      const statuses = new Set([useWallet().status, useJobs().status, useSignIn().status]);
      return createElement("p", { id: "wallet" }, [...statuses].join());
    };
    const html = renderToString(createElement(PassbookProvider, { client }, createElement(Wallet)));
    expect(html).toBe('<p id="wallet">loading</p>');
    expect(sent).toEqual([]);

    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(`${app}/hydrated`);
    await shows(page, "wallet", "signed_out");
    expect(problems.filter((problem) => !problem.includes("favicon"))).toEqual([]);
    await page.close();
  });
});

describe("the Python client", () => {
  it("the Python client keeps its promises against a running service, also over a faulty network", async () => {
    // One test needs httpx, which a machine may not have.
    const { said, has_httpx } = await runPythonTests(worker.url);
    expect(said).toMatch(/Ran \d\d tests in .*\n\nOK( \(skipped=1\))?\n$/);
    expect(said.includes("skipped")).toBe(!has_httpx);
  });
});
