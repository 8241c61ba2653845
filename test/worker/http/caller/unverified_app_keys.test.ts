/** App keys while the directory cannot be read: work in progress settles, and nothing else is allowed. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { BUILD } from "../../../../src/account/sql/migrate.ts";
import { change, countRowsWritten, dump, evict, query } from "../../support/account_object.ts";
import { expectInvariants } from "../../account/invariants.ts";
import { openDirectory, type Directory } from "../../support/directory_outage.ts";
import {
  environmentWith,
  send,
  signIn,
  type Answer,
  type SignedIn,
} from "../../support/passbook.ts";
import { operatorOnPages, type Operator } from "../api/admin/operators.ts";
import { openAppServer, type AppServer } from "./app_server.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const JOB = { app: "demo", action: "draw", cost_estimate: 10 };
const UNAVAILABLE = { status: 503, body: { code: "unavailable" } };
const JOB_OF_NOBODY = { job_id: "018f0000-0000-7000-8000-000000000000" };
const UNKNOWN_KEY = `pb_app_${"A".repeat(43)}`;

let server: AppServer;
let ada: SignedIn;
let directory: Directory;
let isolate: Env;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(console, "warn").mockReturnValue();
  vi.spyOn(console, "error").mockReturnValue();
  server = await openAppServer("demo");
  directory = openDirectory();
  isolate = newIsolate();
  ada = await signIn();
  await asHolder("GET", "/api/wallet?app=demo");
});

/** An isolate whose cache of the directory is empty. */
const newIsolate = (): Env => directory.environment(server.operator.settings);

function asHolder(method: string, path: string, body?: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
  return send(method, path, { headers, body: body ? JSON.stringify(body) : null }, isolate);
}

interface AppRequest {
  readonly body?: object;
  readonly key?: string;
  readonly identity_id?: string;
  readonly idempotency_key?: string;
  readonly isolate?: Env;
}

/** A request of the app's server. */
function ask(path: string, request: AppRequest = {}): Promise<Answer> {
  const { body, key = server.key, identity_id = ada.identity_id, idempotency_key } = request;
  const headers = {
    Authorization: `Bearer ${key}`,
    "Passbook-Identity": identity_id,
    "Content-Type": "application/json",
    ...(idempotency_key === undefined ? {} : { "Idempotency-Key": idempotency_key }),
  };
  const init = { headers, body: body ? JSON.stringify(body) : null };
  return send(body ? "POST" : "GET", path, init, request.isolate ?? isolate);
}

async function startJob(): Promise<string> {
  const created = await ask("/api/jobs", { body: JOB });
  expect(created.status).toBe(200);
  return created.body.job_id;
}

const complete = (job_id: string, request: Omit<AppRequest, "body"> = {}, actual_cost = 4) =>
  ask("/api/jobs/complete", { ...request, body: { job_id, actual_cost } });
const fail = (job_id: string, request: Omit<AppRequest, "body"> = {}) =>
  ask("/api/jobs/fail", { ...request, body: { job_id } });

function wait(duration_ms: number): void {
  vi.setSystemTime(Date.now() + duration_ms);
}

/** Makes the directory fail, and expires the copies with which isolates verify keys. */
function breakDirectory(): void {
  directory.state = "fails";
  wait(MINUTE_MS);
}

const knownKeys = (): Promise<{ app_slug: string; accepted_at_ms: number }[]> =>
  query(ada.identity_id, "select * from app_keys");

async function revokeKey(operator: Operator = server.operator): Promise<void> {
  const path = `/api/admin/apps/demo/keys/${server.key_id}`;
  expect((await operator.send("DELETE", path)).status).toBe(200);
}

describe("an app's key that the account accepted within the last hour, while the directory fails", () => {
  it("an unverified app key completes and fails its app's jobs, single and in a batch", async () => {
    const jobs = [await startJob(), await startJob(), await startJob()] as const;
    breakDirectory();
    expect(await complete(jobs[0])).toMatchObject({ status: 200, body: { credits: 76 } });
    expect(await fail(jobs[1])).toMatchObject({ status: 200, body: { credits: 86 } });
    const settled = { jobs: [{ job_id: jobs[2], actual_cost: 30 }] };
    const batch = await ask("/api/jobs/complete/batch", { body: settled });
    expect(batch).toMatchObject({ status: 200, body: { credits: 66 } });
    await expectInvariants(ada.identity_id);
  });

  it("an unverified app key also settles from an isolate that never read the directory, and after the object woke", async () => {
    const job_id = await startJob();
    breakDirectory();
    await evict(ada.identity_id);
    expect((await complete(job_id, { isolate: newIsolate() })).status).toBe(200);
  });

  it("an unverified app key settles while the directory does not respond at all", async () => {
    const job_id = await startJob();
    breakDirectory();
    directory.state = "hangs";
    expect((await complete(job_id)).status).toBe(200);
  });

  it("a retry with an Idempotency-Key gets the first response, across the start and the end of the outage", async () => {
    const [before, during] = [await startJob(), await startJob()];
    const key = { idempotency_key: "once" };
    const first = await complete(before, key);
    breakDirectory();
    const again = await complete(before, key);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    const settled = await complete(during, key);
    directory.state = "answers";
    wait(MINUTE_MS);
    const replayed = await complete(during, key);
    expect(replayed.text).toBe(settled.text);
    expect(replayed.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await asHolder("GET", "/api/wallet")).body.account.credits).toBe(92);
    await expectInvariants(ada.identity_id);
  });

  it("an unverified app key reads and reports on its app's jobs, and cannot raise a reserve", async () => {
    const job_id = await startJob();
    breakDirectory();
    const report = (step: number, more: object) =>
      ask("/api/jobs/progress", { body: { job_id, step, ...more } });
    expect(await report(1, { reserve: 11 })).toMatchObject(UNAVAILABLE);
    expect((await report(1, { spent: 4, reserve: 9, ttl_seconds: 7_200 })).status).toBe(200);
    expect((await ask(`/api/jobs/${job_id}`)).body).toMatchObject({ spent: 4, reserved: 9 });
    const unknown = await ask(`/api/jobs/${JOB_OF_NOBODY.job_id}`);
    expect(unknown).toMatchObject({ status: 404, body: { code: "job_not_found" } });
    wait(HOUR_MS - MINUTE_MS);
    expect(await ask(`/api/jobs/${job_id}`)).toMatchObject(UNAVAILABLE);
    expect(await report(2, { spent: 5 })).toMatchObject(UNAVAILABLE);
    await expectInvariants(ada.identity_id);
  });

  it("an unverified app key creates and lists nothing, and does not read the wallet", async () => {
    const job_id = await startJob();
    breakDirectory();
    const before = await dump(ada.identity_id);
    for (const response of [
      await ask("/api/jobs", { body: JOB }),
      await ask("/api/jobs/batch", { body: { jobs: [JOB] } }),
      await ask("/api/jobs"),
      await ask("/api/wallet"),
      await ask("/api/jobs/cancel", { body: { job_id } }),
    ]) {
      expect(response).toMatchObject(UNAVAILABLE);
      expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
    }
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("the account itself lets an unverified app key only follow and settle jobs", async () => {
    const job_id = await startJob();
    const [known] = await query<{ key_hash: string }>(
      ada.identity_id,
      "select key_hash from app_keys",
    );
    const caller = { kind: "unverified_app", key_hash: known?.key_hash ?? "" } as const;
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const policy = { settle: "app", on_expiry: "refund", max_overage_percent: null } as const;
    const job = {
      app_slug: "demo",
      action: "draw",
      cost_estimate: 1,
      ttl_seconds: 60,
      metadata_json: null,
      policy,
    };
    for (const answer of [
      await account.wallet(caller, { app: null }),
      await account.createJob(caller, job, null),
      await account.deleteAccount(caller),
      await account.revokeAllowance(caller, { id: job_id }),
    ]) {
      expect(answer).toMatchObject({ ok: false, refusal: { code: "unavailable" } });
    }
    expect((await complete(job_id)).status).toBe(200);
  });

  it("an unverified app key has no access to the jobs of another app", async () => {
    await openAppServer("other", {}, server.operator);
    const created = await asHolder("POST", "/api/jobs", { ...JOB, app: "other" });
    await startJob();
    breakDirectory();
    const before = await dump(ada.identity_id);
    const { job_id } = created.body;
    for (const response of [await complete(job_id), await fail(job_id)]) {
      expect(response).toMatchObject({ status: 400, body: { code: "job_unknown" } });
    }
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("50 concurrent requests of an unverified app key settle each job once, at its cost", async () => {
    const jobs = await Promise.all(Array.from({ length: 8 }, startJob));
    breakDirectory();
    const responses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const job_id = jobs[index % jobs.length] ?? "";
        return index % 3 === 0 ? fail(job_id) : complete(job_id);
      }),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(jobs.length);
    expect(statuses.filter((status) => status === 400)).toHaveLength(50 - jobs.length);
    const settled = await query<{ status: string; actual_cost: number }>(
      ada.identity_id,
      "select status, actual_cost from jobs",
    );
    const spent: number[] = settled.map(({ status }) => (status === "completed" ? 4 : 0));
    expect(settled.map(({ actual_cost }) => actual_cost)).toEqual(spent);
    const { credits } = (await asHolder("GET", "/api/wallet")).body.account;
    expect(credits).toBe(100 - spent.reduce((sum, cost) => sum + cost, 0));
    await expectInvariants(ada.identity_id);
  });

  it("50 concurrent retries under one Idempotency-Key settle a job once while the directory fails", async () => {
    const job_id = await startJob();
    breakDirectory();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => complete(job_id, { idempotency_key: "once" })),
    );
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 200, body: { credits: 96 } });
    await expectInvariants(ada.identity_id);
  });
});

describe("an app's key that the account does not know, while the directory fails", () => {
  it("an app key that no account ever accepted gets 503 everywhere, and creates nothing", async () => {
    const job_id = await startJob();
    breakDirectory();
    const before = await dump(ada.identity_id);
    for (const identity_id of [ada.identity_id, "user_nobody"]) {
      const stranger = { key: UNKNOWN_KEY, identity_id };
      expect(await complete(job_id, stranger)).toMatchObject(UNAVAILABLE);
      expect(await fail(job_id, { ...stranger, isolate: newIsolate() })).toMatchObject(UNAVAILABLE);
    }
    expect(await dump(ada.identity_id)).toBe(before);
    expect(await query("user_nobody", "select name from sqlite_master")).toEqual([]);
  });

  it("an invented app key cannot find out that an account's data is of a newer build", async () => {
    await startJob();
    breakDirectory();
    await change(ada.identity_id, `update data_format set oldest_build = ${BUILD + 1}`);
    const { job_id } = JOB_OF_NOBODY;
    const known = await complete(job_id, { key: UNKNOWN_KEY, isolate: newIsolate() });
    const nobody = { key: UNKNOWN_KEY, isolate: newIsolate(), identity_id: "user_nobody" };
    expect(known.text).toBe((await complete(job_id, nobody)).text);
    expect(known).toMatchObject(UNAVAILABLE);
  });

  it("an app key that only another account accepted gets 503", async () => {
    const bob = await signIn("bob@example.com");
    const created = await send(
      "POST",
      "/api/jobs",
      {
        headers: { Authorization: `Bearer ${bob.token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ ...JOB, cost_estimate: 0 }),
      },
      isolate,
    );
    await startJob();
    breakDirectory();
    const { job_id } = created.body;
    expect(await complete(job_id, { identity_id: bob.identity_id })).toMatchObject(UNAVAILABLE);
  });

  it("a refused request of an app key does not make the account know the key", async () => {
    const { job_id } = (await asHolder("POST", "/api/jobs", JOB)).body;
    const other = await openAppServer("other", {}, server.operator);
    expect((await complete(job_id, { key: other.key })).status).toBe(404);
    expect(await knownKeys()).toEqual([]);
    breakDirectory();
    expect(await complete(job_id, { key: other.key })).toMatchObject(UNAVAILABLE);
  });

  it("an unverified app key settles until an hour after the account accepted it, and not longer", async () => {
    const jobs = [await startJob(), await startJob()] as const;
    directory.state = "fails";
    wait(HOUR_MS - 1);
    expect((await complete(jobs[0])).status).toBe(200);
    wait(1);
    expect(await complete(jobs[1])).toMatchObject(UNAVAILABLE);
  });

  it("an unverified app key settles for at least 50 minutes after the account last accepted it", async () => {
    const first = await startJob();
    wait(10 * MINUTE_MS - 1);
    const last = await startJob();
    directory.state = "fails";
    wait(50 * MINUTE_MS);
    expect((await complete(first)).status).toBe(200);
    wait(1);
    expect(await complete(last)).toMatchObject(UNAVAILABLE);
  });

  it("settling while the directory fails does not extend the hour", async () => {
    const jobs = [await startJob(), await startJob()] as const;
    directory.state = "fails";
    wait(HOUR_MS / 2);
    expect((await complete(jobs[0])).status).toBe(200);
    wait(HOUR_MS / 2);
    expect(await complete(jobs[1])).toMatchObject(UNAVAILABLE);
  });
});

describe("a revoked app key", () => {
  it("a revoked app key gets 401 while the directory works, even if the account accepted it a moment ago", async () => {
    const job_id = await startJob();
    await revokeKey();
    const before = await dump(ada.identity_id);
    wait(MINUTE_MS);
    for (const at of [isolate, newIsolate()]) {
      for (const response of [
        await complete(job_id, { isolate: at }),
        await fail(job_id, { isolate: at }),
      ]) {
        expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
      }
    }
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("a revoked app key settles only where no isolate has read of the revocation, only while the directory fails, and for at most the hour", async () => {
    const jobs = [await startJob(), await startJob()] as const;
    await revokeKey();
    wait(MINUTE_MS);
    expect((await complete(jobs[0])).status).toBe(401);
    breakDirectory();
    expect(await complete(jobs[0])).toMatchObject(UNAVAILABLE);
    expect((await complete(jobs[0], { isolate: newIsolate() })).status).toBe(200);
    directory.state = "answers";
    expect((await complete(jobs[1], { isolate: newIsolate() })).status).toBe(401);
    directory.state = "fails";
    wait(HOUR_MS);
    expect(await complete(jobs[1], { isolate: newIsolate() })).toMatchObject(UNAVAILABLE);
  });

  it("after a failed read and a revocation in the same isolate, a key is looked up again", async () => {
    const job_id = await startJob();
    isolate = newIsolate();
    directory.state = "fails";
    expect((await ask("/api/jobs")).status).toBe(503);
    directory.state = "answers";
    await revokeKey(operatorOnPages(server.operator.person, isolate));
    expect((await complete(job_id)).status).toBe(401);
  });
});

/** A directory whose first read of the registry waits for `release`. */
function withHeldRead(): { readonly DIRECTORY: D1Database; readonly release: () => void } {
  let is_first = true;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const held = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        const member = Reflect.get(target, name) as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => {
          const result = Reflect.apply(member, target, values);
          if (name === "bind") return held(result as D1PreparedStatement);
          return Promise.resolve(result).then((rows) => released.then(() => rows));
        };
      },
    });
  const DIRECTORY = new Proxy(env.DIRECTORY, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name !== "prepare") return typeof member === "function" ? member.bind(target) : member;
      return (text: string) => {
        const is_held = is_first && text.includes("app_keys");
        if (is_held) is_first = false;
        return is_held ? held(target.prepare(text)) : target.prepare(text);
      };
    },
  });
  return { DIRECTORY, release };
}

describe("a directory that works", () => {
  it("a key that is revoked during a slow read of the directory is looked up again", async () => {
    const job_id = await startJob();
    const { DIRECTORY, release } = withHeldRead();
    isolate = environmentWith({ ...server.operator.settings, DIRECTORY });
    const settled = complete(job_id);
    wait(1);
    await revokeKey(operatorOnPages(server.operator.person, isolate));
    release();
    expect((await settled).status).toBe(401);
  });
});

describe("the rules of an account for an unverified app key", () => {
  it("the key of a disconnected app still settles its jobs", async () => {
    const job_id = await startJob();
    await env.ACCOUNT.getByName(ada.identity_id).setAppAccess(
      { kind: "holder" },
      "demo",
      "disconnected",
    );
    breakDirectory();
    expect((await complete(job_id)).status).toBe(200);
    const unknown = await complete("018f0000-0000-7000-8000-000000000000");
    expect(unknown).toMatchObject({ status: 404, body: { code: "account_unknown" } });
  });

  it("an unverified app key settles its jobs in a suspended account", async () => {
    const job_id = await startJob();
    await env.ACCOUNT.getByName(ada.identity_id).suspend();
    breakDirectory();
    expect((await complete(job_id)).status).toBe(200);
  });

  it("a deleted account knows no app key, and responds as for a key that it never knew", async () => {
    const job_id = await startJob();
    await env.ACCOUNT.getByName(ada.identity_id).deleteAccount({ kind: "holder" });
    expect(await knownKeys()).toEqual([]);
    breakDirectory();
    const refused = await complete(job_id);
    expect(refused).toMatchObject(UNAVAILABLE);
    expect((await complete(job_id, { key: UNKNOWN_KEY })).text).toBe(refused.text);
  });

  it("a limit of overage applies to an unverified app key", async () => {
    await openAppServer("demo", { max_overage_percent: 0 }, server.operator);
    isolate = newIsolate();
    const job_id = await startJob();
    breakDirectory();
    const refused = await complete(job_id, {}, 11);
    expect(refused).toMatchObject({ status: 400, body: { code: "overage_limit" } });
  });
});

describe("what the account remembers of app keys", () => {
  it("a life of a job with an app's key writes 4 rows, and one more in ten minutes", async () => {
    const rows = await countRowsWritten(ada.identity_id);
    const live = async () => {
      const before = rows();
      expect((await complete(await startJob(), {}, 0)).status).toBe(200);
      return rows() - before;
    };
    expect([await live(), await live()]).toEqual([5, 4]);
    wait(10 * MINUTE_MS);
    expect([await live(), await live()]).toEqual([5, 4]);
  });

  it("an account forgets the app keys of the hours before when it accepts another key", async () => {
    await startJob();
    wait(HOUR_MS);
    const other = await openAppServer("demo", {}, server.operator);
    expect((await ask("/api/jobs", { key: other.key })).status).toBe(200);
    expect(await knownKeys()).toEqual([
      expect.objectContaining({ app_slug: "demo", accepted_at_ms: Date.now() }),
    ]);
  });

  it("unverified app keys that were valid count together for a network, and the writes of each key in each account", async () => {
    const other = await openAppServer("other", {}, server.operator);
    const keys: string[] = [];
    const limiter = {
      limit: async ({ key }: { key: string }) => ({ success: keys.push(key) < 1000 }),
    };
    const LIMITS = { LIMIT_APP: limiter, LIMIT_WRITES: limiter, LIMIT_APP_KEY_UNKNOWN: limiter };
    isolate = directory.environment({ ...server.operator.settings, ...LIMITS });
    const job_id = await startJob();
    breakDirectory();
    keys.length = 0;
    await complete(job_id);
    await complete(job_id, { key: other.key });
    const [app, writes, other_app, other_writes] = keys;
    expect(keys).toHaveLength(4);
    expect(app).toMatch(/^\(unverified\) /);
    expect(other_app).toBe(app);
    expect(writes).toContain(ada.identity_id);
    expect(other_writes).not.toBe(writes);
  });
});

describe("invented app keys while the directory fails", () => {
  /** An isolate whose limiter of unknown app keys lets this many requests pass. */
  const limitedIsolate = (unknown_keys: number): Env => {
    let left = unknown_keys;
    const LIMIT_APP_KEY_UNKNOWN = { limit: async () => ({ success: (left -= 1) >= 0 }) };
    return directory.environment({ ...server.operator.settings, LIMIT_APP_KEY_UNKNOWN });
  };
  const inventedKey = (index: number): string => `pb_app_${String(index).padStart(43, "x")}`;

  it("invented app keys reach accounts only as often as the limit of unknown app keys allows", async () => {
    const job_id = await startJob();
    breakDirectory();
    const cold = limitedIsolate(3);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        complete(job_id, { isolate: cold, key: inventedKey(index) }),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(17);
  });

  it("invented app keys do not keep an app's key from settling where the isolate knew it", async () => {
    isolate = limitedIsolate(0);
    const job_id = await startJob();
    breakDirectory();
    expect((await complete(job_id, { key: inventedKey(1) })).status).not.toBe(200);
    wait(20 * MINUTE_MS);
    expect((await complete(job_id)).status).toBe(200);
  });

  it("an app's key that settled a job in an isolate is not counted as unknown there for a minute", async () => {
    const jobs = [await startJob(), await startJob(), await startJob()] as const;
    breakDirectory();
    const cold = limitedIsolate(1);
    expect((await complete(jobs[0], { isolate: cold })).status).toBe(200);
    expect((await complete(jobs[1], { isolate: cold })).status).toBe(200);
    wait(MINUTE_MS);
    expect((await complete(jobs[2], { isolate: cold })).status).toBe(429);
  });
});
