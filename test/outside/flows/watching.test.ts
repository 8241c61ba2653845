/** Two browsers and a command line on one account, through lost connections, an eviction and a deploy. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createClient, type AccountEvent, type PassbookClient } from "../../../src/client/index.ts";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { launchBrowser } from "../support/chromium.ts";
import { fillSignIn } from "../support/pages_in_browser.ts";
import { startTestWorker } from "../support/test_worker.ts";

const JOBS = 200;
const JOBS_AT_ONCE = 4;
const STARTER_CREDITS = 1_000;
/** The entries of a new account: its opening and its starter credits. */
const FIRST_LINES = 2;
const SLOW_POLL = { timeout: 120_000, interval: 500 };
const EMAIL = "ada@example.com";

let folder: string;
let port: number;
let worker: LocalWorker;
let browser: Browser;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-watching-"));
  const settings = `${await developmentSettings()}\nDEFAULT_STARTER_CREDITS=${STARTER_CREDITS}\n`;
  await writeFile(join(folder, "settings"), settings);
  port = await freePort();
  worker = await release();
  browser = await launchBrowser();
});

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await browser?.close();
  await worker?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the Worker again on the same state and port, with empty memory. */
function release(): Promise<LocalWorker> {
  const persist_to = join(folder, "state");
  return startTestWorker({ port, persist_to, env_file: join(folder, "settings") });
}

async function signIn(): Promise<string> {
  const body = new URLSearchParams({ email: EMAIL, redirect_to: "http://localhost:3000/" });
  const init = { method: "POST", body, redirect: "manual" } as const;
  const landed = await fetch(`${worker.url}/signin/dev`, init);
  return new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
}

async function openAccount(): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${worker.url}/signin`);
  await fillSignIn(page, EMAIL);
  await page.waitForURL(`${worker.url}/account`);
  return page;
}

/** The numbers of the entries of events. */
const linesOf = (events: readonly AccountEvent[]): number[] =>
  events.flatMap((event) => ("line" in event ? [event.line] : []));

interface Watching {
  readonly events: AccountEvent[];
  readonly process: ChildProcess;
  /** Its error output. */
  problems(): string;
}

/** `passbook watch --json`, from the first entry on. */
function watch(token: string): Watching {
  const events: AccountEvent[] = [];
  let [rest, problems] = ["", ""];
  const child = spawn(process.execPath, ["src/cli/main.ts", "watch", "--json", "--after", "0"], {
    env: { PATH: process.env["PATH"], PASSBOOK_URL: worker.url, PASSBOOK_TOKEN: token },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  child.stderr.on("data", (chunk: Buffer) => (problems += chunk.toString()));
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    events.push(...lines.map((line) => JSON.parse(line) as AccountEvent));
  });
  return { events, process: child, problems: () => problems };
}

/** Retries one job until it is settled; its idempotency keys make it happen once. */
async function runJob({ jobs }: PassbookClient, number: number): Promise<void> {
  const untilMs = Date.now() + SLOW_POLL.timeout;
  const keyed = () => ({ idempotencyKey: crypto.randomUUID(), untilMs });
  const job = { app: "demo", action: `draw ${number}`, costEstimate: 5 };
  const { job_id: jobId } = await jobs.create(job, keyed());
  if (fails(number)) await jobs.fail({ jobId }, keyed());
  else await jobs.complete({ jobId, actualCost: costOf(number) }, keyed());
}

const fails = (number: number): boolean => number % 10 === 0;
const costOf = (number: number): number => (fails(number) ? 0 : number % 7);

/** The balance and the held credits that a page shows. */
async function readBalance(page: Page): Promise<{ credits: number; held: string }> {
  const [credits, held] = ["[data-credits]", "[data-held]"].map((part) =>
    page.locator(part).textContent(),
  );
  return {
    credits: Number(((await credits) ?? "").replaceAll(",", "")),
    held: (await held) ?? "",
  };
}

describe("two browsers and a command line that watch one account", { tags: ["slow"] }, () => {
  it("two browsers and a command line end with the same balance and get each entry once, in order", async () => {
    const token = await signIn();
    const client = createClient({ baseUrl: worker.url, token });
    await client.wallet({ app: "demo" });
    const watching = watch(token);
    const pages = [await openAccount(), await openAccount()] as const;
    await vi.waitFor(() => expect(watching.events.length).toBeGreaterThan(0), SLOW_POLL);

    let next = 0;
    let settled = 0;
    const work = async (): Promise<void> => {
      while (next < JOBS) {
        next += 1;
        await runJob(client, next);
        settled += 1;
      }
    };
    const working = Promise.all(Array.from({ length: JOBS_AT_ONCE }, work));
    const until = (count: number) =>
      vi.waitFor(() => expect(settled).toBeGreaterThanOrEqual(count), {
        ...SLOW_POLL,
        interval: 5,
      });

    await until(30);
    await pages[0].context().setOffline(true);
    await until(70);
    await worker.stop();
    worker = await release();
    await until(120);
    await pages[0].context().setOffline(false);
    await working;

    const costs = Array.from({ length: JOBS }, (_, at) => costOf(at + 1));
    const credits = STARTER_CREDITS - costs.reduce((total, cost) => total + cost, 0);
    const newest_line = FIRST_LINES + 2 * JOBS;
    expect((await client.wallet()).account.credits).toBe(credits);
    const [newest] = (await client.ledger.list({ limit: 1 })).entries;
    expect(newest).toMatchObject({ line: newest_line, balance_after: credits });
    for (const page of pages) {
      const shown = { credits, held: "Nothing held" };
      await vi.waitFor(async () => expect(await readBalance(page)).toEqual(shown), SLOW_POLL);
    }
    const { events } = watching;
    await vi.waitFor(() => expect(linesOf(events).at(-1)).toBe(newest_line), SLOW_POLL);
    expect(linesOf(events)).toEqual(Array.from({ length: newest_line }, (_, at) => at + 1));
    expect(events.at(-1)).toMatchObject({ credits, held: 0 });

    watching.process.kill("SIGINT");
    await vi.waitFor(() => expect(watching.process.exitCode).toBe(0), SLOW_POLL);
    expect(watching.problems()).toBe("");
  }, 600_000);
});
