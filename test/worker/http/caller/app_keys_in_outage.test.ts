/** App keys while the directory cannot be read: the keys that an isolate knew work for 15 minutes from its copy of the registry. */
import { env } from "cloudflare:workers";
import { createExecutionContext } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { dump, query } from "../../support/account_object.ts";
import worker from "../../../../src/worker.ts";
import { expectInvariants } from "../../account/invariants.ts";
import { openDirectory, type Directory } from "../../support/directory_outage.ts";
import {
  BASE_URL,
  environmentWith,
  send,
  signIn,
  type Answer,
  type SignedIn,
} from "../../support/passbook.ts";
import { operatorOnPages, type Operator } from "../api/admin/operators.ts";
import { openAppServer, type AppServer } from "./app_server.ts";

const MINUTE_MS = 60_000;
const COPY_MS = 15 * MINUTE_MS;
const JOB = { app: "demo", action: "draw", cost_estimate: 10 };
const UNAVAILABLE = { status: 503, body: { code: "unavailable" } };
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

async function revokeKey(operator: Operator = server.operator): Promise<void> {
  const path = `/api/admin/apps/demo/keys/${server.key_id}`;
  expect((await operator.send("DELETE", path)).status).toBe(200);
}

describe("an app's key that the isolate knew when the directory failed", () => {
  it("the key starts, reads, reports on and ends jobs for 15 minutes from the copy of the registry", async () => {
    const [completed, failed, late] = [await startJob(), await startJob(), await startJob()];
    directory.state = "fails";
    wait(COPY_MS - 1);
    expect((await ask("/api/wallet")).status).toBe(200);
    const report = { job_id: completed, step: 1, spent: 4, reserve: 11 };
    expect((await ask("/api/jobs/progress", { body: report })).status).toBe(200);
    expect((await ask(`/api/jobs/${completed}`)).body).toMatchObject({ spent: 4, reserved: 11 });
    expect((await complete(completed)).status).toBe(200);
    expect((await fail(failed)).status).toBe(200);
    expect((await ask("/api/jobs", { body: JOB })).status).toBe(200);
    wait(1);
    expect(await complete(late)).toMatchObject(UNAVAILABLE);
    await expectInvariants(ada.identity_id);
  });

  it("the key works while the directory does not respond at all", async () => {
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
    expect((await complete(before, key)).text).toBe(first.text);
    const settled = await complete(during, key);
    directory.state = "answers";
    wait(MINUTE_MS);
    const replayed = await complete(during, key);
    expect(replayed.text).toBe(settled.text);
    expect(replayed.headers.get("Idempotency-Replayed")).toBe("true");
    await expectInvariants(ada.identity_id);
  });

  it("a stream that the key opens during the outage stays open", async () => {
    await startJob();
    breakDirectory();
    const headers = { Authorization: `Bearer ${server.key}`, "Passbook-Identity": ada.identity_id };
    const url = new URL("/api/events", BASE_URL).href;
    const request = new Request(url, { headers: { ...headers, Upgrade: "websocket" } });
    const opened = await worker.fetch(request, environmentWith(isolate), createExecutionContext());
    expect(opened.status).toBe(101);
    const socket = opened.webSocket;
    socket?.accept();
    const first = await new Promise((resolve) => socket?.addEventListener("message", resolve));
    expect(JSON.parse(String((first as MessageEvent).data))).toMatchObject({ kind: "snapshot" });
    socket?.close();
  });

  it("a job that expired during a longer outage is completed after it, at its full price", async () => {
    const created = await ask("/api/jobs", { body: { ...JOB, ttl_seconds: 600 } });
    directory.state = "fails";
    wait(2 * COPY_MS);
    expect(await complete(created.body.job_id)).toMatchObject(UNAVAILABLE);
    directory.state = "answers";
    wait(MINUTE_MS);
    const late = await complete(created.body.job_id);
    expect(late).toMatchObject({ status: 200, body: { job: { actual_cost: 4 }, credits: 96 } });
    await expectInvariants(ada.identity_id);
  });
});

describe("an app's key that the isolate does not know, while the directory fails", () => {
  it("an unknown key gets 503 with and without a copy of the registry, and creates nothing", async () => {
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

  it("the key gets 503 from an isolate that never read the directory", async () => {
    const job_id = await startJob();
    breakDirectory();
    const refused = await complete(job_id, { isolate: newIsolate() });
    expect(refused).toMatchObject(UNAVAILABLE);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  });

  it("invented keys cause only as many look-ups as the limit of unknown app keys allows, and the known key works", async () => {
    let left = 3;
    const LIMIT_APP_KEY_UNKNOWN = { limit: async () => ({ success: (left -= 1) >= 0 }) };
    isolate = directory.environment({ ...server.operator.settings, LIMIT_APP_KEY_UNKNOWN });
    left = 100;
    const job_id = await startJob();
    breakDirectory();
    left = 3;
    const inventedKey = (index: number): string => `pb_app_${String(index).padStart(43, "x")}`;
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => complete(job_id, { key: inventedKey(index) })),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(17);
    expect((await complete(job_id)).status).toBe(200);
  });
});

describe("a revoked app key", () => {
  it("a revoked app key gets 401 while the directory works, and 503 during an outage where an isolate has read of it", async () => {
    const job_id = await startJob();
    await revokeKey();
    const before = await dump(ada.identity_id);
    wait(MINUTE_MS);
    for (const at of [isolate, newIsolate()]) {
      expect(await complete(job_id, { isolate: at })).toMatchObject({ status: 401 });
      expect(await fail(job_id, { isolate: at })).toMatchObject({ status: 401 });
    }
    breakDirectory();
    expect(await complete(job_id)).toMatchObject(UNAVAILABLE);
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("a revoked app key works in an isolate that could not read of the revocation, until the directory responds", async () => {
    const jobs = [await startJob(), await startJob()] as const;
    await revokeKey();
    directory.state = "fails";
    wait(MINUTE_MS);
    expect((await complete(jobs[0])).status).toBe(200);
    directory.state = "answers";
    wait(MINUTE_MS);
    expect((await complete(jobs[1])).status).toBe(401);
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
