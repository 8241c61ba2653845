/** A bad release and the good one after it, on one state: two builds of the Worker, one after another. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { developmentSettings } from "../../src/commands/development_settings.ts";
import { freePort, startLocalWorker, type LocalWorker } from "../../src/commands/local_worker.ts";

/** The platform tries a failing alarm six times more, after 2, 4, 8, 16, 32 and 64 seconds. */
const ALARM_TRIES = 7;
const GIVEN_UP = { timeout: 240_000, interval: 2_000 };
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

/** Puts a build of the Worker on the one state, in place of the one before. */
async function release(script?: string): Promise<void> {
  await worker?.stop();
  worker = await startLocalWorker({
    port: await freePort(),
    persist_to: join(folder, "state"),
    env_file,
    ...(script === undefined ? {} : { script }),
  });
}

async function signIn(email: string): Promise<{ token: string; identity_id: string }> {
  const body = new URLSearchParams({ email, redirect_to: "http://localhost:3000/" });
  const options = { method: "POST", body, redirect: "manual" } as const;
  const answer = await fetch(`${worker?.url}/signin/dev`, options);
  const token = new URL(answer.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  const [, payload = ""] = token.split(".");
  const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub: string };
  return { token, identity_id: sub };
}

interface Answers {
  readonly account: { readonly credits: number };
  readonly job_id: string;
  readonly jobs: readonly object[];
  readonly accounts: readonly object[];
}

async function call(token: string, path: string, body?: object): Promise<Answers> {
  const answer = await fetch(`${worker?.url}${path}`, {
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  expect(answer.status, path).toBe(200);
  return answer.json() as Promise<Answers>;
}

async function readAlarm(identity_id: string): Promise<{ rung: number; armed_at_ms: number }> {
  const answer = await fetch(`${worker?.url}/test/alarm?identity_id=${identity_id}`);
  return answer.json() as Promise<{ rung: number; armed_at_ms: number }>;
}

describe("a release whose alarms throw until the platform gives them up", () => {
  it("loses nothing: the next release delivers what is owed and ends what ran out", async () => {
    await release("test/account/worker_of_a_bad_release.ts");
    const ada = await signIn("ada@example.com");
    await call(ada.token, "/api/wallet?app=demo");
    const job = { app: "demo", action: "draw", cost_estimate: 40, ttl_seconds: 60 };
    const { job_id } = await call(ada.token, "/api/jobs", job);
    await vi.waitFor(async () => {
      const given_up = { rung: ALARM_TRIES, armed_at_ms: null };
      expect(await readAlarm(ada.identity_id)).toEqual(given_up);
    }, GIVEN_UP);

    await release();
    const operator = await signIn("root@example.com");
    const path = `/api/admin/jobs?identity_id=${ada.identity_id}`;
    expect((await call(operator.token, path)).jobs).toEqual([]);
    const back = await signIn("ada@example.com");
    expect(back.identity_id).toBe(ada.identity_id);
    // One touch wakes the object; nobody touches it again.
    expect((await call(back.token, "/api/wallet")).account.credits).toBe(100);
    await vi.waitFor(async () => {
      const { jobs } = await call(operator.token, path);
      const ended = { id: job_id, status: "failed", failure: "expired", actual_cost: 0 };
      expect(jobs).toEqual([expect.objectContaining(ended)]);
    }, DELIVERED);
    const { accounts } = await call(operator.token, `/api/admin/accounts?q=${ada.identity_id}`);
    expect(accounts).toEqual([expect.objectContaining({ credits: 100, reserved: 0 })]);
  }, 400_000);
});
