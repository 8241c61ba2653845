import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../src/commands/development_settings.ts";
import { freePort, startLocalWorker, type LocalWorker } from "../../src/commands/local_worker.ts";
import { launchBrowser } from "../support/outside/chromium.ts";

const SCREENSHOTS = ".scratch/docs";

let directory: string;
let passbook: LocalWorker;
let browser: Browser;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "passbook-docs-"));
  const env_file = join(directory, "settings.env");
  await writeFile(env_file, await developmentSettings());
  const persist_to = join(directory, "state");
  passbook = await startLocalWorker({ port: await freePort(), persist_to, env_file });
  browser = await launchBrowser();
  await mkdir(SCREENSHOTS, { recursive: true });
});

afterAll(async () => {
  await browser?.close();
  await passbook?.stop();
  await rm(directory, { recursive: true, force: true });
});

describe("/static", () => {
  it.each([
    ["passbook.css", "text/css", 24],
    ["times.js", "text/javascript", 3],
    ["live.js", "text/javascript", 3],
  ])("has %s, small, for browsers to keep", async (name, type, most_kib) => {
    const file = await fetch(`${passbook.url}/static/${name}?v=1`);
    expect(file.status).toBe(200);
    const { headers } = file;
    expect(headers.get("Content-Type")).toContain(type);
    expect(headers.get("Cache-Control")).toBe("public, max-age=86400");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect((await file.arrayBuffer()).byteLength).toBeLessThan(most_kib * 1024);
  });

  it("has what the pages name", async () => {
    const page = await (await fetch(`${passbook.url}/signin`)).text();
    const [, address = ""] = /href="(\/static\/passbook\.css\?v=[^"]*)"/.exec(page) ?? [];
    expect((await fetch(`${passbook.url}${address}`)).status).toBe(200);
    expect((await fetch(`${passbook.url}/static/nothing.css`)).status).toBe(404);
  });
});

describe("/docs", () => {
  it("shows the whole document, from this host alone and without breaking its policy", async () => {
    const page = await browser.newPage();
    const problems: string[] = [];
    const hosts = new Set<string>();
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => hosts.add(new URL(request.url()).origin));
    await page.goto(`${passbook.url}/docs`);
    await page.getByText("Create a job and reserve its estimate").click();
    await page.getByText("Idempotency-Key").first().waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, "light.png"), fullPage: false });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.screenshot({ path: join(SCREENSHOTS, "phone.png"), fullPage: false });
    expect(problems).toEqual([]);
    expect([...hosts].filter((origin) => origin !== passbook.url && origin !== "null")).toEqual([]);
    const document = (await (await fetch(`${passbook.url}/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const count = Object.values(document.paths).flatMap((item) => Object.keys(item)).length;
    expect(await page.locator(".opblock").count()).toBe(count);
    await page.close();
  });

  it("has a strict policy, and the document may be read from anywhere", async () => {
    const docs = await fetch(`${passbook.url}/docs`);
    expect(docs.status).toBe(200);
    const policy = docs.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    const document = await fetch(`${passbook.url}/openapi.json`);
    expect(document.headers.get("Content-Type")).toContain("application/json");
    expect(document.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(document.headers.get("X-Content-Type-Options")).toBe("nosniff");
  });

  it("leaves every other address to the Worker", async () => {
    const answer = await fetch(`${passbook.url}/_headers`);
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: "not_found" }]);
    expect((await fetch(`${passbook.url}/docs.html`, { redirect: "manual" })).status).toBe(404);
  });
});
