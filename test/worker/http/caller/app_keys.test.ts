import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { dump, query } from "../../support/account_object.ts";
import { expectInvariants } from "../../account/invariants.ts";
import { dropConstraints } from "../../support/directory_outage.ts";
import { openAppServer, rows, type AppServer } from "./app_server.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { environmentWith, send, signIn, type SignedIn } from "../../support/passbook.ts";
import { expectOnEach, ROUTES } from "../../support/routes.ts";

const MINUTE_MS = 60_000;
const JOB = { app: "demo", action: "draw", cost_estimate: 10 };

let server: AppServer;
let ada: SignedIn;
beforeEach(async () => {
  server = await openAppServer("demo");
  ada = await signIn();
  await wallet(ada, "demo");
});

/** The holder's own request, in the same isolate as the operator's. */
function asHolder(person: SignedIn, method: string, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${person.token}`, "Content-Type": "application/json" };
  const init = { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return send(method, path, init, server.operator.settings);
}
const wallet = (person: SignedIn, app: string) => asHolder(person, "GET", `/api/wallet?app=${app}`);
const startJob = async (person: SignedIn, app = "demo"): Promise<string> =>
  (await asHolder(person, "POST", "/api/jobs", { ...JOB, app })).body.job_id;

const BY_APP = new Set([
  "GET /api/app",
  "GET /api/ledger",
  "GET /api/events",
  "POST /api/jobs/progress",
  "GET /api/wallet",
  "GET /api/jobs",
  "GET /api/jobs/:id",
  "POST /api/jobs",
  "POST /api/jobs/complete",
  "POST /api/jobs/fail",
  "POST /api/jobs/batch",
  "POST /api/jobs/complete/batch",
]);
/** Routes that need no caller, or do not exist without payments: they ignore a key. */
const WITHOUT_CALLER = new Set([
  "POST /api/device/start",
  "GET /api/device/poll",
  "POST /api/checkout",
]);

describe("an app's key on every route", () => {
  it("an app's key has no effect on any other route", async () => {
    const others = ROUTES.filter(({ method, path }) => {
      const name = `${method} ${path}`;
      return !BY_APP.has(name) && !WITHOUT_CALLER.has(name);
    });
    const before = await dump(ada.identity_id);
    await expectOnEach(others, async ({ method, path }, network) => {
      // The app has webhooks of its own. These are another's.
      const address = path.replace(/:\w+/g, "018f0000-0000-7000-8000-000000000000");
      const headers = {
        Authorization: `Bearer ${server.key}`,
        "Passbook-Identity": ada.identity_id,
        "Content-Type": "application/json",
        ...network,
      };
      const init = { headers, ...(method === "GET" ? {} : { body: "{}" }) };
      const response = await send(method, address, init, server.operator.settings);
      if (path === "/api/socialMe") expect(response.status).toBe(400);
      else if (path.startsWith("/api/")) {
        expect(response).toMatchObject({ status: 403, body: { code: "scope" } });
      } else {
        // Pages authenticate only by cookies.
        expect(response.text).not.toContain(ada.identity_id);
        expect(response.text).not.toContain(server.key);
      }
      expect(await dump(ada.identity_id)).toBe(before);
    });
  });

  it("an app's key can read the wallet and sees only its own app", async () => {
    await wallet(ada, "other");
    const { status, body } = await server.in(ada.identity_id).get("/api/wallet");
    expect(status).toBe(200);
    expect(body.account).toMatchObject({ identity_id: ada.identity_id, credits: 200 });
    expect(body.apps.map(({ slug }: { slug: string }) => slug)).toEqual(["demo"]);
    const foreign = await server.in(ada.identity_id).get("/api/wallet?app=other");
    expect(foreign).toMatchObject({ status: 403, body: { code: "scope" } });
  });

  it("an app's key creates, reads, lists, completes and fails its own app's jobs", async () => {
    const it_ = server.in(ada.identity_id);
    const { body } = await it_.post("/api/jobs", JOB);
    const { job_id } = body;
    expect((await it_.get(`/api/jobs/${job_id}`)).body.id).toBe(job_id);
    expect((await it_.get("/api/jobs")).body.jobs).toHaveLength(1);
    const completed = await it_.post("/api/jobs/complete", { job_id, actual_cost: 7 });
    expect(completed).toMatchObject({ status: 200, body: { credits: 93 } });
    const second = await it_.post("/api/jobs", JOB);
    const failed = await it_.post("/api/jobs/fail", { job_id: second.body.job_id });
    expect(failed).toMatchObject({ status: 200, body: { credits: 93 } });
    await expectInvariants(ada.identity_id);
  });

  it("an app's key has no access to another app's jobs", async () => {
    const job_id = await startJob(ada, "other");
    const it_ = server.in(ada.identity_id);
    const before = await dump(ada.identity_id);
    expect(await it_.get(`/api/jobs/${job_id}`)).toMatchObject({
      status: 404,
      body: { code: "job_not_found" },
    });
    for (const [path, body] of [
      ["/api/jobs/complete", { job_id, actual_cost: 1 }],
      ["/api/jobs/fail", { job_id }],
    ] as const) {
      const response = await it_.post(path, body);
      expect(response).toMatchObject({ status: 400, body: { code: "job_unknown" } });
    }
    expect((await it_.get("/api/jobs")).body.jobs).toEqual([]);
    expect((await it_.get("/api/jobs?app=other")).body.jobs).toEqual([]);
    const created = await it_.post("/api/jobs", { ...JOB, app: "other" });
    expect(created).toMatchObject({ status: 403, body: { code: "scope" } });
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("an app's key has no access to an account that is not open for the app, and opens none", async () => {
    const bob = await signIn("bob@example.com");
    await wallet(bob, "other");
    const before = await dump(bob.identity_id);
    for (const identity_id of [bob.identity_id, "user_nobody"]) {
      const it_ = server.in(identity_id);
      const job_id = "018f0000-0000-7000-8000-000000000000";
      for (const response of [
        await it_.get("/api/wallet"),
        await it_.get("/api/wallet?app=demo"),
        await it_.get("/api/jobs"),
        await it_.get(`/api/jobs/${job_id}`),
        await it_.post("/api/jobs", JOB),
        await it_.post("/api/jobs/complete", { job_id, actual_cost: 0 }),
        await it_.post("/api/jobs/fail", { job_id }),
      ]) {
        expect(response).toMatchObject({ status: 404, body: { code: "account_unknown" } });
      }
    }
    expect(await dump(bob.identity_id)).toBe(before);
    const tables = "select name from sqlite_master where name in ('account', 'apps')";
    expect(await query("user_nobody", tables)).toEqual([]);
  });

  it("an app's key does not receive the holder's starter grant", async () => {
    const bob = await signIn("bob@example.com");
    // The holder opens the wallet while the app grants nothing.
    await openAppServer("late", { starter_credits: 0 }, server.operator);
    await wallet(bob, "late");
    const late = await openAppServer("late", { starter_credits: 50 }, server.operator);
    const { body } = await late.in(bob.identity_id).get("/api/wallet?app=late");
    expect(body).toMatchObject({ account: { credits: 0 }, app_grant: { granted: false } });
    expect((await wallet(bob, "late")).body.account.credits).toBe(50);
  });

  it("a request with an app's key must name the account", async () => {
    const headers = { Authorization: `Bearer ${server.key}` };
    const { settings } = server.operator;
    const response = await send("GET", "/api/wallet", { headers }, settings);
    expect(response).toMatchObject({ status: 400, body: { code: "identity_required" } });
    for (const name of ["x".repeat(256), "a b"]) {
      const odd = { ...headers, "Passbook-Identity": name };
      expect(await send("GET", "/api/wallet", { headers: odd }, settings)).toMatchObject({
        status: 404,
        body: { code: "account_unknown" },
      });
    }
  });

  it("an app's key is refused in a cookie, in a query, with another scheme, or if truncated", async () => {
    const { settings } = server.operator;
    const identity = { "Passbook-Identity": ada.identity_id };
    const { key } = server;
    for (const headers of [
      { Cookie: `passbook_session=${key}; passbook_token=${key}`, ...identity },
      { Authorization: `Basic ${key}`, ...identity },
      { Authorization: `Bearer ${key.slice(0, -1)}`, ...identity },
      { Authorization: `Bearer ${key.slice("pb_app_".length)}`, ...identity },
      { "Passbook-Key": key, ...identity },
    ]) {
      const response = await send("GET", "/api/wallet", { headers }, settings);
      expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
      expect(response.text).not.toContain(key);
    }
    const path = `/api/wallet?token=${key}&key=${key}&access_token=${key}`;
    const in_query = await send("GET", path, { headers: identity }, settings);
    expect(in_query.status).toBe(400);
    expect(in_query.text).not.toContain(key);
  });

  it("an app's idempotency keys are separate from the holder's", async () => {
    const it_ = server.in(ada.identity_id);
    const headers = { "Idempotency-Key": "guessable" };
    const held = await send(
      "POST",
      "/api/jobs",
      {
        headers: {
          Authorization: `Bearer ${ada.token}`,
          "Content-Type": "application/json",
          ...headers,
        },
        body: JSON.stringify({ ...JOB, cost_estimate: 1 }),
      },
      server.operator.settings,
    );
    expect(held.status).toBe(200);
    const first = await it_.post("/api/jobs", JOB, headers);
    const again = await it_.post("/api/jobs", JOB, headers);
    expect(first.status).toBe(200);
    expect(first.body.job_id).not.toBe(held.body.job_id);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
  });
});

describe("the lifetime of an app's key", () => {
  it("only the hash of an app's key is stored", async () => {
    expect(server.key).toMatch(/^pb_app_test_[A-Za-z0-9_-]{43}$/);
    const everything = JSON.stringify([
      await rows("select * from app_keys"),
      await rows("select * from audit"),
      (await server.operator.get("/api/admin/apps/demo/keys")).body,
    ]);
    expect(everything).not.toContain(server.key);
    expect(everything).toContain(server.key_id);
  });

  it("a revoked app key stops working within a minute, even in an isolate that cached it", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const elsewhere = environmentWith({ ...server.operator.settings, ELSEWHERE: "1" });
    const headers = {
      Authorization: `Bearer ${server.key}`,
      "Passbook-Identity": ada.identity_id,
    };
    const get = (settings: object) => send("GET", "/api/jobs", { headers }, settings);
    expect((await get(elsewhere)).status).toBe(200);
    const path = `/api/admin/apps/demo/keys/${server.key_id}`;
    expect((await server.operator.send("DELETE", path)).status).toBe(200);
    expect((await get(server.operator.settings)).status).toBe(401);
    vi.setSystemTime(Date.now() + MINUTE_MS);
    expect((await get(elsewhere)).status).toBe(401);
  });

  it("a request with an app's key makes one object call and no query to a store", async () => {
    const { environment, hops } = countedEnvironment();
    const headers = {
      Authorization: `Bearer ${server.key}`,
      "Passbook-Identity": ada.identity_id,
    };
    await send("GET", "/api/jobs", { headers }, environment);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    expect((await send("GET", "/api/jobs", { headers }, environment)).status).toBe(200);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });

  it("the first request of a day with an app's key writes the day of its last use, and later requests write nothing", async () => {
    const headers = {
      Authorization: `Bearer ${server.key}`,
      "Passbook-Identity": ada.identity_id,
    };
    const lastUse = async () =>
      (await server.operator.get("/api/admin/apps/demo/keys")).body.keys[0].last_used_at;
    await env.DIRECTORY.batch([
      env.DIRECTORY.prepare("create table written (at_ms integer)"),
      env.DIRECTORY.prepare(
        "create trigger count_written after update on app_keys begin insert into written values (new.last_used_at_ms); end",
      ),
    ]);
    const written = async () => (await rows("select * from written")).length;
    expect([await lastUse(), await written()]).toEqual([null, 0]);
    const { environment, hops } = countedEnvironment();
    const other_isolate = { ...environment };
    const get = async (isolate: Env) => {
      Object.assign(hops, { account: 0, d1: 0, kv: 0 });
      expect((await send("GET", "/api/jobs", { headers }, isolate)).status).toBe(200);
      return [hops.d1, await written()];
    };
    const today = new Date().toISOString().slice(0, 10);
    // A new isolate reads the registry. Only the first one of the day also changes the key's row.
    expect(await get(environment)).toEqual([2, 1]);
    expect(await lastUse()).toBe(`${today}T00:00:00.000Z`);
    expect(await get(environment)).toEqual([0, 1]);
    expect(await get(other_isolate)).toEqual([2, 1]);
    expect(await get(other_isolate)).toEqual([0, 1]);
    const tomorrow_ms = Date.parse(`${today}T00:00:00.000Z`) + 24 * 60 * MINUTE_MS;
    vi.useFakeTimers({ toFake: ["Date"], now: tomorrow_ms });
    expect(await get(environment)).toEqual([2, 2]);
    vi.useRealTimers();
    expect(await lastUse()).toBe(new Date(tomorrow_ms).toISOString());
  });

  it("a write of a key's last use that fails does not affect the request, and is tried again after a minute", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    let tried = 0;
    const DIRECTORY = new Proxy(env.DIRECTORY, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name !== "prepare") return typeof member === "function" ? member.bind(target) : member;
        return (sql: string) => {
          if (!sql.startsWith("update")) return target.prepare(sql);
          tried += 1;
          if (tried === 1) throw new Error("D1_ERROR: out of reach");
          return target.prepare(sql);
        };
      },
    });
    const settings = environmentWith({ DIRECTORY });
    const app = { Authorization: `Bearer ${server.key}`, "Passbook-Identity": ada.identity_id };
    const get = async () =>
      expect((await send("GET", "/api/jobs", { headers: app }, settings)).status).toBe(200);
    // Noon, so that the day does not end during the test.
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(Date.now()).setUTCHours(36, 0, 0, 0) });
    await get();
    expect(warned).toHaveBeenCalledWith({ event: "app_key_use_write_failed" });
    vi.setSystemTime(Date.now() + MINUTE_MS - 1);
    await get();
    expect(tried).toBe(1);
    vi.setSystemTime(Date.now() + 1);
    await get();
    expect(tried).toBe(2);
    expect((await rows("select last_used_at_ms from app_keys"))[0]?.["last_used_at_ms"]).not.toBe(
      null,
    );
  });

  it("many invented app keys cause one read of the registry and are limited per network", async () => {
    const { environment, hops } = countedEnvironment();
    const known = {
      Authorization: `Bearer ${server.key}`,
      "Passbook-Identity": ada.identity_id,
    };
    await send("GET", "/api/jobs", { headers: known }, environment);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    const keys: string[] = [];
    const limiter = {
      limit: async ({ key }: { key: string }) => ({ success: keys.push(key) < 9 }),
    };
    const settings = environmentWith({ ...environment, LIMIT_APP_KEY_UNKNOWN: limiter });
    await send("GET", "/api/jobs", { headers: known }, settings);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1) {
      const headers = {
        Authorization: `Bearer pb_app_${String(index).padStart(43, "A")}`,
        "Passbook-Identity": ada.identity_id,
        "CF-Connecting-IP": "192.0.2.7",
      };
      statuses.push((await send("GET", "/api/jobs", { headers }, settings)).status);
    }
    expect(statuses).toEqual([...Array<number>(8).fill(401), ...Array<number>(4).fill(429)]);
    expect(hops).toEqual({ account: 0, d1: 1, kv: 0 });
    expect(new Set(keys)).toEqual(new Set(["192.0.2.7"]));
  });

  it("a request with an app's key counts for the app and its network, not for the holder", async () => {
    const keys: string[] = [];
    const counting = (name: string) => ({
      limit: async ({ key }: { key: string }) => ({ success: keys.push(`${name} ${key}`) > 0 }),
    });
    const settings = {
      ...server.operator.settings,
      LIMIT_APP: counting("app"),
      LIMIT_WRITES: counting("writes"),
      LIMIT_AUTHENTICATED: counting("authenticated"),
    };
    const headers = {
      Authorization: `Bearer ${server.key}`,
      "Passbook-Identity": ada.identity_id,
      "CF-Connecting-IP": "192.0.2.8",
      "Content-Type": "application/json",
    };
    await send("POST", "/api/jobs", { headers, body: JSON.stringify(JOB) }, settings);
    expect(keys).toEqual(["app demo 192.0.2.8", `writes app demo ${ada.identity_id}`]);
  });
});

describe("an app that settles its jobs itself", () => {
  it('with settle "app", the holder cannot settle a job, even in a race with the app', async () => {
    for (let round = 0; round < 5; round += 1) {
      const job_id = await startJob(ada);
      const holder = () => asHolder(ada, "POST", "/api/jobs/complete", { job_id, actual_cost: 0 });
      const giver_up = () => asHolder(ada, "POST", "/api/jobs/fail", { job_id });
      const app = server.in(ada.identity_id);
      const responses = await Promise.all([
        holder(),
        giver_up(),
        app.post("/api/jobs/complete", { job_id, actual_cost: 9 }),
        holder(),
        giver_up(),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([403, 403, 200, 403, 403]);
      expect(responses[0]?.body.code).toBe("app_settles");
    }
    expect((await wallet(ada, "demo")).body.account.credits).toBe(100 - 5 * 9);
    await expectInvariants(ada.identity_id);
  });

  it('with settle "app", only the app can settle an expired job', async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { body } = await asHolder(ada, "POST", "/api/jobs", { ...JOB, ttl_seconds: 60 });
    vi.setSystemTime(Date.now() + MINUTE_MS);
    const settle = { job_id: body.job_id, actual_cost: 4 };
    const late = await asHolder(ada, "POST", "/api/jobs/complete", settle);
    expect(late).toMatchObject({ status: 403, body: { code: "app_settles" } });
    const settled = await server.in(ada.identity_id).post("/api/jobs/complete", settle);
    expect(settled).toMatchObject({ status: 200, body: { credits: 96 } });
  });

  it("a job keeps the policy that it was created with", async () => {
    const under_app = await startJob(ada);
    await openAppServer("demo", { settle: "holder" }, server.operator);
    const under_holder = await startJob(ada);
    const end = (job_id: string) =>
      asHolder(ada, "POST", "/api/jobs/complete", { job_id, actual_cost: 1 });
    expect((await end(under_app)).status).toBe(403);
    expect((await end(under_holder)).status).toBe(200);
    await openAppServer("demo", { settle: "app" }, server.operator);
    expect((await end(under_app)).status).toBe(403);
  });

  it("the holder can cancel a job of an app that settles itself, and the app can still settle it", async () => {
    await openAppServer("demo", { on_expiry: "charge" }, server.operator);
    const { job_id } = (await asHolder(ada, "POST", "/api/jobs", JOB)).body;
    const app = server.in(ada.identity_id);
    const by_app = await app.post("/api/jobs/cancel", { job_id });
    expect(by_app).toMatchObject({ status: 403, body: { code: "scope" } });
    const cancelled = await asHolder(ada, "POST", "/api/jobs/cancel", { job_id });
    const ended = { status: "failed", failure: "cancelled", reserved: 10, actual_cost: 10 };
    expect(cancelled).toMatchObject({ status: 200, body: { job: ended, credits: 90 } });
    const late = await app.post("/api/jobs/complete", { job_id, actual_cost: 3 });
    expect(late).toMatchObject({ status: 200, body: { credits: 97 } });
  });

  it("an expired job is charged or refunded as its policy said at creation", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const start = async () =>
      (await asHolder(ada, "POST", "/api/jobs", { ...JOB, ttl_seconds: 60 })).body.job_id;
    const refunded = await start();
    await openAppServer("demo", { on_expiry: "charge" }, server.operator);
    const charged = await start();
    const charged_and_settled = await start();
    vi.setSystemTime(Date.now() + MINUTE_MS);
    const app = server.in(ada.identity_id);
    const read = async (id: string) => (await app.get(`/api/jobs/${id}`)).body;
    const timed_out = { status: "failed", failure: "expired", reserved: 10 };
    expect(await read(refunded)).toMatchObject({ ...timed_out, actual_cost: 0 });
    expect(await read(charged)).toMatchObject({ ...timed_out, actual_cost: 10 });
    expect((await wallet(ada, "demo")).body.account.credits).toBe(80);
    const settle = { job_id: charged_and_settled, actual_cost: 3 };
    expect((await app.post("/api/jobs/complete", settle)).body.credits).toBe(87);
    expect((await app.post("/api/jobs/complete", settle)).status).toBe(400);
    await expectInvariants(ada.identity_id);
  });

  it("no job is created for an app whose stored policy is invalid", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    await dropConstraints();
    await env.DIRECTORY.exec("update apps set settle = 'nobody' where slug = 'demo'");
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const init = { headers, body: JSON.stringify(JOB) };
    const response = await send("POST", "/api/jobs", init, { ...server.operator.settings });
    expect(response).toMatchObject({ status: 503, body: { code: "unavailable" } });
  });

  it("no job is created while the app's policy cannot be read", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const DIRECTORY = {
      prepare: () => {
        throw new Error("D1_ERROR: out of reach");
      },
    };
    const before = await dump(ada.identity_id);
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const init = { headers, body: JSON.stringify(JOB) };
    const response = await send("POST", "/api/jobs", init, { DIRECTORY });
    expect(response).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(await dump(ada.identity_id)).toBe(before);
  });
});
