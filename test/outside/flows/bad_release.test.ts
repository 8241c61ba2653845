/** A bad release and a good one after it: two builds of the Worker, one after the other, on the same state. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { developmentSettings } from "../../../src/commands/development_settings.ts";
import { freePort, type LocalWorker } from "../../../src/commands/local_worker.ts";
import { startTestWorker } from "../support/test_worker.ts";

/** The platform retries a failing alarm six times, after 2, 4, 8, 16, 32 and 64 seconds. */
const ALARM_TRIES = 7;
const GIVEN_UP = { timeout: 240_000, interval: 2_000 };
/** The platform's retries take two minutes of real time. */
const SLOW = { tags: ["slow"], timeout: 400_000 };
const DELIVERED = { timeout: 60_000, interval: 500 };

let folder: string;
let env_file: string;
let worker: LocalWorker | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "passbook-release-"));
  env_file = join(folder, "settings");
  await writeFile(env_file, `${await developmentSettings()}\nOPERATORS=root@example.com\n`);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Replaces the running build of the Worker; the state stays. */
async function release(script?: string): Promise<void> {
  await worker?.stop();
  worker = await startTestWorker({
    port: await freePort(),
    persist_to: join(folder, "state"),
    env_file,
    ...(script === undefined ? {} : { script }),
  });
}

interface Person {
  readonly token: string;
  readonly cookies: string;
  readonly identity_id: string;
}

async function signIn(email: string): Promise<Person> {
  const body = new URLSearchParams({ email, redirect_to: "http://localhost:3000/" });
  const options = { method: "POST", body, redirect: "manual" } as const;
  const answer = await fetch(`${worker?.url}/signin/dev`, options);
  const token = new URL(answer.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  const [, payload = ""] = token.split(".");
  const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub: string };
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  return { token, cookies: cookies.join("; "), identity_id: sub };
}

interface Answers {
  readonly account: { readonly credits: number };
  readonly job_id: string;
  readonly jobs: readonly object[];
  readonly accounts: readonly object[];
}

/** An operator's request, as a page of the console sends it. */
async function asOperator({ cookies }: Person, path: string): Promise<Answers> {
  const headers = { Cookie: cookies, "Sec-Fetch-Site": "same-origin" };
  const answer = await fetch(`${worker?.url}${path}`, { headers });
  expect(answer.status, path).toBe(200);
  return answer.json() as Promise<Answers>;
}

async function call(token: string, path: string, body?: object): Promise<Answers> {
  const answer = await fetch(`${worker?.url}${path}`, {
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  expect(answer.status, path).toBe(200);
  return answer.json() as Promise<Answers>;
}

async function startJob(token: string, more: object): Promise<string> {
  await call(token, "/api/wallet?app=demo");
  const job = { app: "demo", action: "draw", cost_estimate: 40, ...more };
  return (await call(token, "/api/jobs", job)).job_id;
}

/** Signs in again, because the earlier token has expired or is about to. */
async function readCredits(email: string): Promise<number> {
  const { token } = await signIn(email);
  return (await call(token, "/api/wallet")).account.credits;
}

async function readAlarm(identity_id: string): Promise<{ runs: number; armed_at_ms: number }> {
  const answer = await fetch(`${worker?.url}/test/alarm?identity_id=${identity_id}`);
  return answer.json() as Promise<{ runs: number; armed_at_ms: number }>;
}

describe("a release whose alarms fail until the platform gives up", () => {
  it(
    "the release after a bad one delivers the undelivered entries and expires the overdue jobs",
    SLOW,
    async () => {
      await release("test/worker/account/worker_of_a_bad_release.ts");
      const ada = await signIn("ada@example.com");
      const bob = await signIn("bob@example.com");
      const lasting = await startJob(ada.token, {});
      const running_out = await startJob(bob.token, { ttl_seconds: 60 });
      await vi.waitFor(async () => {
        const given_up = { runs: ALARM_TRIES, armed_at_ms: null };
        expect(await readAlarm(ada.identity_id)).toEqual(given_up);
        expect(await readAlarm(bob.identity_id)).toEqual(given_up);
      }, GIVEN_UP);

      await release();
      const operator = await signIn("root@example.com");
      const projectedJobs = async ({ identity_id }: Person) =>
        (await asOperator(operator, `/api/admin/jobs?identity_id=${identity_id}`)).jobs;
      expect(await projectedJobs(ada)).toEqual([]);
      expect(await projectedJobs(bob)).toEqual([]);
      // One request wakes each object, and no further request follows. Ada's writes no entry.
      expect(await readCredits("ada@example.com")).toBe(60);
      expect(await readCredits("bob@example.com")).toBe(100);
      await vi.waitFor(async () => {
        const started = expect.objectContaining({ id: lasting, status: "started" });
        expect(await projectedJobs(ada)).toEqual([started]);
        const ended = { id: running_out, status: "failed", failure: "expired", actual_cost: 0 };
        expect(await projectedJobs(bob)).toEqual([expect.objectContaining(ended)]);
      }, DELIVERED);
      const { accounts } = await asOperator(operator, `/api/admin/accounts?q=${ada.identity_id}`);
      expect(accounts).toEqual([expect.objectContaining({ credits: 60, held: 40 })]);
    },
  );
});
