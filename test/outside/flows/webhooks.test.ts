/** Webhooks end to end: many accounts, a receiver that fails in every way, and a Worker that restarts. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { forEach, signIn, type Person } from "../../bench/people.ts";
import { startTestWorker } from "../support/test_worker.ts";

const OPERATOR = "olga@example.com";
const ACCOUNTS = 100;
const ROUNDS = 5;
/** Each is two events, so that all accounts have 10,000, and one for the starter credits of each. */
const JOBS_A_ROUND = 10;
const EVENTS_EACH = 1 + ROUNDS * JOBS_A_ROUND * 2;
const APP = "paint";
/** Longer than the ten-minute pause after a fourth failed attempt, which a slow restart on a busy machine can cause. */
const WAIT_MS = 13 * 60_000;

interface Delivered {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly identity_id: string;
    readonly line: number;
    readonly credits: number;
    readonly held: number;
  };
}

let folder: string;
let file: string;
let port: number;
let worker: LocalWorker;
let receiver: ChildProcess | null = null;
let receiver_port: number;
let secret: string;

function startWorker(): Promise<LocalWorker> {
  const persist_to = join(folder, "state");
  return startTestWorker({ port, persist_to, env_file: join(folder, "settings") });
}

async function startReceiver(): Promise<void> {
  const args = ["test/outside/flows/webhook_receiver.js", String(receiver_port), file, secret];
  receiver = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  await new Promise((resolve) => receiver?.once("spawn", resolve));
}

async function killReceiver(): Promise<void> {
  const ended = new Promise((resolve) => receiver?.once("exit", resolve));
  receiver?.kill("SIGKILL");
  await ended;
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers = lines.map((line) => line.split(": ", 2) as [string, string]);
  return { "Content-Type": "application/json", ...Object.fromEntries(headers) };
}

async function call(
  proof: readonly string[],
  method: string,
  path: string,
  body?: object,
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into it freely
): Promise<any> {
  const response = await fetch(worker.url + path, {
    method,
    headers: headersOf(proof),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Creates and completes a round's jobs. */
async function runJobs({ session }: Person, round: number): Promise<void> {
  const job = { app: APP, action: "draw", cost_estimate: 5 };
  const jobs = Array.from({ length: JOBS_A_ROUND }, () => job);
  const { results } = await call(session, "POST", "/api/jobs/batch", { jobs });
  const ended = results.map(({ job_id }: { job_id: string }, at: number) => ({
    job_id,
    actual_cost: (at + round) % 6,
  }));
  await call(session, "POST", "/api/jobs/complete/batch", { jobs: ended });
}

function readDelivered(): Delivered[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Delivered);
}

/** The events that wait for their next attempt. */
async function readWaiting(): Promise<unknown> {
  const { cookie } = await signIn(worker.url, OPERATOR);
  const path = `/api/admin/apps/${APP}/webhooks/main/deliveries`;
  return (await call(cookie, "GET", path)).deliveries;
}

/** The delivered events of each account, by identity. */
function byAccount(delivered: readonly Delivered[]): ReadonlyMap<string, readonly Delivered[]> {
  return Map.groupBy(delivered, ({ data }) => data.identity_id);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-webhooks-"));
  file = join(folder, "delivered");
  const settings = await developmentSettings();
  await writeFile(join(folder, "settings"), `${settings}\nOPERATORS=${OPERATOR}\n`);
  [port, receiver_port] = [await freePort(), await freePort()];
  worker = await startWorker();
  const { cookie } = await signIn(worker.url, OPERATOR);
  const app = { name: "Paint", starter_credits: 1_000, origins: [], daily_starter_budget: null };
  await call(cookie, "PUT", `/api/admin/apps/${APP}`, app);
  const url = `http://localhost:${receiver_port}/hook`;
  const events = ["job.created", "job.completed", "credits.granted"];
  const path = `/api/admin/apps/${APP}/webhooks/main`;
  ({ secret } = await call(cookie, "PUT", path, { url, events }));
  await startReceiver();
});

afterAll(async () => {
  receiver?.kill("SIGKILL");
  await worker?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("webhooks", { tags: ["slow"], timeout: WAIT_MS + 300_000 }, () => {
  it("every event of every account arrives in order, whatever the receiver and the Worker do", async () => {
    const emails = Array.from({ length: ACCOUNTS }, (_, at) => `person-${at}@example.com`);
    const people = await forEach(emails, (email) => signIn(worker.url, email));
    await forEach(people, ({ session }) => call(session, "GET", `/api/wallet?app=${APP}`));
    for (let round = 0; round < ROUNDS; round += 1) {
      await forEach(people, (person) => runJobs(person, round));
      if (round === 1 || round === 3) await killReceiver();
      if (round >= 2 && round < 4) {
        await worker.stop();
        worker = await startWorker();
      }
      if (round === 1 || round === 3) await startReceiver();
    }
    const until_ms = Date.now() + WAIT_MS;
    const count = () => new Set(readDelivered().map(({ id }) => id)).size;
    while (count() < ACCOUNTS * EVENTS_EACH && Date.now() < until_ms) {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
    // If events are missing, the failure shows which of them wait, and for how long.
    expect(count() < ACCOUNTS * EVENTS_EACH ? await readWaiting() : []).toEqual([]);
    const accounts = byAccount(readDelivered());
    for (const { identity_id, session } of people) {
      const delivered = accounts.get(identity_id) ?? [];
      const lines = delivered.map(({ data }) => data.line);
      // An event comes again only directly after itself.
      expect(lines).toEqual(lines.toSorted((one, other) => one - other));
      expect(new Set(delivered.map(({ id }) => id)).size).toBe(EVENTS_EACH);
      expect([...new Set(lines)]).toEqual(Array.from({ length: EVENTS_EACH }, (_, at) => at + 2));
      const { account } = await call(session, "GET", "/api/wallet");
      expect(delivered.at(-1)?.data).toMatchObject({ credits: account.credits, held: 0 });
    }
    expect(worker.log()).not.toContain(secret);
  });

  it("the reference library accepts what we sign, and refuses it after a change", async () => {
    const requests: { headers: Record<string, string>; body: string }[] = [];
    const own_port = await freePort();
    const { createServer } = await import("node:http");
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        requests.push({ headers: request.headers as Record<string, string>, body });
        response.writeHead(200).end("ok");
      });
    }).listen(own_port, "127.0.0.1");
    const { cookie } = await signIn(worker.url, OPERATOR);
    const path = `/api/admin/apps/${APP}/webhooks/other`;
    const url = `http://localhost:${own_port}/`;
    const made = await call(cookie, "PUT", path, { url, events: ["job.created"] });
    expect(await call(cookie, "POST", `${path}/test`, {})).toMatchObject({ status: 200 });
    server.close();
    const [{ headers, body } = { headers: {}, body: "" }] = requests;
    const verifier = new Webhook(made.secret);
    expect(verifier.verify(body, headers)).toMatchObject({ type: "ping" });
    const altered = [
      () => verifier.verify(`${body} `, headers),
      () => verifier.verify(body, { ...headers, "webhook-id": "another" }),
      () => verifier.verify(body, { ...headers, "webhook-timestamp": "1" }),
      () => new Webhook(secret).verify(body, headers),
    ];
    for (const verify of altered) expect(verify).toThrow();
  });
});
