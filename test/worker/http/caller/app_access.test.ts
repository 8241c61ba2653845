/** The rights of an app's key in accounts that the holder opened for the app, did not open, or in which they stopped the app. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { decodeJwt } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { expectInvariants } from "../../account/invariants.ts";
import { change, query } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { narrow } from "../../support/exchanges.ts";
import { fromOwnPage, getToken, tokenId } from "../../support/device_logins.ts";
import { send, signIn, type SignedIn } from "../../support/passbook.ts";
import { personalToken } from "../api/admin/operators.ts";
import { openAppServer, type AppServer } from "./app_server.ts";
import { withToken } from "../../support/allowances.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 10 };

let server: AppServer;
let ada: SignedIn;
beforeEach(async () => {
  server = await openAppServer("demo", { settle: "holder" });
  ada = await signIn();
});

const inAccount = () => server.in(ada.identity_id);
const settings = () => server.operator.settings;

/** A call of the holder's session or of a personal token, in the operator's isolate. */
function by(token: string, method: string, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const init = { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return send(method, path, init, settings());
}

async function tokenWith(limits: object): Promise<string> {
  const holder = await personalToken(ada, limits, settings() as Record<string, unknown>);
  return holder?.token ?? "";
}

function onPage(path: string, fields: Record<string, string>) {
  const init = { headers: fromOwnPage(ada), body: new URLSearchParams(fields) };
  return send("POST", path, init, settings());
}

/** The status and code of an attempt to create a job with the app's key. */
async function outcome() {
  const { status, body } = await inAccount().post("/api/jobs", JOB);
  return [status, body.code ?? "created"];
}

const CREATED = [200, "created"];
const UNKNOWN = [404, "account_unknown"];

async function tablesOf(identity_id: string): Promise<{ count: number; bytes: number }> {
  return runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, state) => {
    const [row] = state.storage.sql
      .exec<{ count: number }>(
        "select count(*) as count from sqlite_master where name not like '\\_cf%' escape '\\'",
      )
      .toArray();
    return { count: row?.count ?? -1, bytes: state.storage.sql.databaseSize };
  });
}

describe("opening an account for an app", () => {
  it("the holder's session opens an account for an app by reading the wallet or by creating a job", async () => {
    expect(await outcome()).toEqual(UNKNOWN);
    await by(ada.token, "GET", "/api/wallet?app=demo");
    expect(await outcome()).toEqual(CREATED);

    const bob = await signIn("bob@example.com");
    expect((await by(bob.token, "POST", "/api/jobs", { ...JOB, cost_estimate: 0 })).status).toBe(
      200,
    );
    const created = await server
      .in(bob.identity_id)
      .post("/api/jobs", { ...JOB, cost_estimate: 0 });
    expect(created.status).toBe(200);
  });

  it("a personal token without a cap opens an account for an app, and a read-only token does not", async () => {
    const capped = await tokenWith({ scopes: ["read", "write"], caps: [{ credits: 50 }] });
    await by(capped, "GET", "/api/wallet?app=demo");
    const reader = await tokenWith({ scopes: ["read"] });
    expect((await by(reader, "GET", "/api/wallet?app=demo")).status).toBe(200);
    expect(await outcome()).toEqual(UNKNOWN);
    const writer = await tokenWith({ scopes: ["read", "write"], apps: ["demo"] });
    await by(writer, "GET", "/api/wallet?app=demo");
    expect(await outcome()).toEqual(CREATED);
  });

  it("a capped token cannot open an account for an app, neither through the wallet nor by creating a job", async () => {
    const capped = await tokenWith({ apps: ["demo"], caps: [{ credits: 50 }] });
    expect((await by(capped, "GET", "/api/wallet?app=demo")).status).toBe(200);
    expect((await by(capped, "POST", "/api/jobs", JOB)).status).toBe(200);
    expect(await outcome()).toEqual(UNKNOWN);
    expect((await inAccount().get("/api/wallet")).body.code).toBe("account_unknown");
    expect((await inAccount().get("/api/jobs")).body.code).toBe("account_unknown");
    await expectInvariants(ada.identity_id);
  });
});

describe("ending an app's own jobs", () => {
  it("an app's key completes and fails a capped token's jobs in an account that is not open for the app", async () => {
    const capped = await tokenWith({ apps: ["demo"], caps: [{ credits: 50 }] });
    await by(capped, "GET", "/api/wallet?app=demo");
    const first = (await by(capped, "POST", "/api/jobs", JOB)).body.job_id;
    const second = (await by(capped, "POST", "/api/jobs", JOB)).body.job_id;
    const third = (await by(capped, "POST", "/api/jobs", JOB)).body.job_id;
    const app = inAccount();
    expect((await app.post("/api/jobs/complete", { job_id: first, actual_cost: 4 })).status).toBe(
      200,
    );
    expect((await app.post("/api/jobs/fail", { job_id: second })).status).toBe(200);
    const batch = { jobs: [{ job_id: third, actual_cost: 1 }] };
    expect(
      (await app.post("/api/jobs/complete/batch", batch)).body.results[0].job.actual_cost,
    ).toBe(1);
    // Its own job, whose end is refused, shows that the account exists.
    const again = await app.post("/api/jobs/complete/batch", batch);
    expect(again).toMatchObject({ status: 200, body: { results: [{ code: "job_ended" }] } });
    await expectInvariants(ada.identity_id);
  });

  it("the responses to an app's key have no balance unless the account is open for the app", async () => {
    const capped = await tokenWith({ apps: ["demo"], caps: [{ credits: 50 }] });
    await by(ada.token, "GET", "/api/wallet?app=other");
    const created = async () => (await by(capped, "POST", "/api/jobs", JOB)).body.job_id;
    const [first, second, third, fourth, fifth] = [
      await created(),
      await created(),
      await created(),
      await created(),
      await created(),
    ];
    const app = inAccount();
    const complete = (job_id: string) =>
      app.post("/api/jobs/complete", { job_id, actual_cost: 4 }, { "Idempotency-Key": job_id });
    const completed = await complete(first);
    expect(completed.body).toMatchObject({ job: { actual_cost: 4 }, credits: null });
    expect((await complete(first)).text).toBe(completed.text);
    expect((await app.post("/api/jobs/fail", { job_id: second })).body.credits).toBeNull();
    const unknown = { job_id: "018f0000-0000-7000-8000-000000000000", actual_cost: 1 };
    const batch = { jobs: [{ job_id: third, actual_cost: 1 }, unknown] };
    const { body } = await app.post("/api/jobs/complete/batch", batch);
    const results = [{ credits: null }, { code: "account_unknown" }];
    expect(body).toMatchObject({ results, credits: null });

    await by(ada.token, "GET", "/api/wallet?app=demo");
    expect((await complete(fourth)).body.credits).toEqual(expect.any(Number));
    await onPage("/account/access/stop", { app: "demo" });
    expect((await complete(fifth)).body).toMatchObject({ job: { id: fifth }, credits: null });
  });

  it("an app's key settles a job that was created before the holder first opened the wallet", async () => {
    server = await openAppServer("demo", { settle: "app" }, server.operator);
    const job = { ...JOB, cost_estimate: 0 };
    const { job_id } = (await by(ada.token, "POST", "/api/jobs", job)).body;
    const done = await inAccount().post("/api/jobs/complete", { job_id, actual_cost: 0 });
    expect(done.status).toBe(200);
  });

  it("an unknown or foreign job reveals nothing about an account that is not open for the app", async () => {
    const other = (
      await by(ada.token, "POST", "/api/jobs", { ...JOB, app: "other", cost_estimate: 0 })
    ).body.job_id;
    for (const job_id of [other, "018f0000-0000-7000-8000-000000000000"]) {
      const app = inAccount();
      const ending = { job_id, actual_cost: 0 };
      for (const response of [
        await app.post("/api/jobs/complete", ending),
        await app.post("/api/jobs/fail", { job_id }),
        await app.post("/api/jobs/complete/batch", { jobs: [ending] }),
        await app.post("/api/jobs/complete/batch", { jobs: [{ job_id, actual_cost: -1 }] }),
      ]) {
        expect([response.status, response.body.code]).toEqual(UNKNOWN);
      }
    }
  });

  it("an app's key cannot settle a capped token's job for more than the cap allows", async () => {
    const capped = await tokenWith({ apps: ["demo"], caps: [{ credits: 50 }] });
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const { job_id } = (await by(capped, "POST", "/api/jobs", JOB)).body;
    const complete = (actual_cost: number) =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost });
    const refused = await complete(51);
    expect([refused.status, refused.body.code]).toEqual([402, "token_budget_exceeded"]);
    expect((await complete(50)).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });

  it("the job of a capped token that has ended costs at most its reserve", async () => {
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: 50 }] });
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const { job_id } = (await by(capped.token, "POST", "/api/jobs", JOB)).body;
    await capped.revoke(await tokenId(capped));
    const complete = (actual_cost: number) =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost });
    expect((await complete(11)).body.code).toBe("scope");
    expect((await complete(10)).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });

  it.each(["revoked", "deleted"])(
    "the job of a token without a cap may cost more than its reserve after the token is %s",
    async (ending) => {
      const token = await getToken(ada, { apps: ["demo"] });
      await by(ada.token, "GET", "/api/wallet?app=demo");
      const { job_id } = (await by(token.token, "POST", "/api/jobs", JOB)).body;
      await token.revoke(await tokenId(token));
      if (ending === "deleted") await change(ada.identity_id, "delete from allowances");
      const completed = await inAccount().post("/api/jobs/complete", { job_id, actual_cost: 11 });
      expect(completed).toMatchObject({ status: 200, body: { credits: 89 } });
      await expectInvariants(ada.identity_id);
    },
  );

  it("the job of a narrower token without a cap of its own costs no more than its parent's cap allows", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const parent = await getToken(ada, { caps: [{ credits: 50 }] });
    const child = await narrow(parent.token, { apps: ["demo"] }, { client_id: "" });
    const { job_id } = (await by(child.access_token, "POST", "/api/jobs", JOB)).body;
    const complete = (actual_cost: number) =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost });
    expect(await complete(51)).toMatchObject({
      status: 402,
      body: { code: "token_budget_exceeded" },
    });
    expect((await complete(50)).status).toBe(200);
  });
});

describe("jobs of a narrower token without a cap of its own that has ended", () => {
  it.each(["revoked", "expired"] as const)(
    "the job of a %s child costs and holds at most its reserve, because its parent has a cap",
    async (ending) => {
      await by(ada.token, "GET", "/api/wallet?app=demo");
      const parent = await getToken(ada, { caps: [{ credits: 50 }] });
      // From here on, time passes only as the test says.
      passTime(0);
      const limits = { apps: ["demo"], expires_in: 3_600 };
      const child = await narrow(parent.token, limits, { client_id: "" });
      const job = { ...JOB, ttl_seconds: 7_200 };
      const { job_id } = (await by(child.access_token, "POST", "/api/jobs", job)).body;
      if (ending === "revoked") {
        const [row] = await query<{ id: string }>(
          ada.identity_id,
          "select id from allowances where parent_id is not null",
        );
        await env.ACCOUNT.getByName(ada.identity_id).revokeAllowance({ kind: "holder" }, row!);
      } else {
        passTime(3_600_000);
        const step = { job_id, step: 1, reserve: 11 };
        const raised = await inAccount().post("/api/jobs/progress", step);
        expect([raised.status, raised.body.code]).toEqual([403, "scope"]);
      }
      const complete = (actual_cost: number) =>
        inAccount().post("/api/jobs/complete", { job_id, actual_cost });
      expect((await complete(11)).body.code).toBe("scope");
      expect((await complete(10)).status).toBe(200);
      await expectInvariants(ada.identity_id);
    },
  );
});

it("a late job of a narrower token that has ended needs room in its parent's cap of today", async () => {
  passTime(0);
  await by(ada.token, "GET", "/api/wallet?app=demo");
  const parent = await getToken(ada, { caps: [{ credits: 10, period: "day" }] });
  const child = await narrow(parent.token, { expires_in: 3_600 }, { client_id: "" });
  const job = { ...JOB, ttl_seconds: 60 };
  const { job_id } = (await by(child.access_token, "POST", "/api/jobs", job)).body;
  passTime(60_000);
  const kept = { ...JOB, ttl_seconds: 172_800 };
  expect((await by(parent.token, "POST", "/api/jobs", kept)).status).toBe(200);
  const complete = (actual_cost: number) =>
    inAccount().post("/api/jobs/complete", { job_id, actual_cost });
  expect((await complete(10)).body.code).toBe("token_budget_exceeded");
  passTime(DAY_MS);
  expect((await complete(10)).status).toBe(200);
  await expectInvariants(ada.identity_id);
});

describe("jobs of a capped token that has ended", () => {
  const CAP = 10;

  /** Jobs that each reserve the whole cap, one after another: each expires before the next. */
  async function expiredJobs(token: string, count: number): Promise<string[]> {
    const job_ids: string[] = [];
    for (let left = count; left > 0; left -= 1) {
      const job = { ...JOB, cost_estimate: CAP, ttl_seconds: 60 };
      job_ids.push((await by(token, "POST", "/api/jobs", job)).body.job_id);
      passTime(61_000);
    }
    return job_ids;
  }

  it("all jobs of an ended capped token together cost at most the cap, including jobs that expired before the token ended", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: CAP }] });
    const job_ids = await expiredJobs(capped.token, 3);
    await capped.revoke(await tokenId(capped));
    const outcomes = [];
    for (const job_id of job_ids) {
      const response = await inAccount().post("/api/jobs/complete", { job_id, actual_cost: CAP });
      outcomes.push([response.status, response.body.code]);
    }
    const refused = [402, "token_budget_exceeded"];
    expect(outcomes).toEqual([[200, undefined], refused, refused]);
    expect((await by(ada.token, "GET", "/api/wallet")).body.account.credits).toBe(90);
    await expectInvariants(ada.identity_id);
  });

  it("jobs of an ended capped token count against its cap after other tokens are issued", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: CAP }] });
    const [first, second] = await expiredJobs(capped.token, 2);
    await capped.revoke(await tokenId(capped));
    await getToken(ada);
    const complete = (job_id = "") =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost: CAP });
    expect((await complete(first)).status).toBe(200);
    expect((await complete(second)).body.code).toBe("token_budget_exceeded");
  });

  it("no new cap period begins after a capped token is revoked", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const cap = { credits: CAP, period: "total" };
    const capped = await getToken(ada, { apps: ["demo"], caps: [cap] });
    const [first, second] = await expiredJobs(capped.token, 2);
    await capped.revoke(await tokenId(capped));
    const complete = (job_id = "") =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost: CAP });
    expect((await complete(first)).status).toBe(200);
    passTime(31 * DAY_MS);
    expect((await complete(second)).body.code).toBe("token_budget_exceeded");
    await expectInvariants(ada.identity_id);
  });

  it("no new cap period begins after a capped token expires", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const cap = { credits: CAP, period: "total" };
    const capped = await getToken(ada, { apps: ["demo"], caps: [cap] });
    const [first, second] = await expiredJobs(capped.token, 2);
    const complete = (job_id = "") =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost: CAP });
    passTime(91 * DAY_MS);
    expect((await complete(first)).status).toBe(200);
    passTime(31 * DAY_MS);
    expect((await complete(second)).body.code).toBe("token_budget_exceeded");
    await expectInvariants(ada.identity_id);
  });

  it("a job of an expired capped token costs at most its reserve", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: 50 }] });
    const { job_id } = (await by(capped.token, "POST", "/api/jobs", JOB)).body;
    passTime(91 * DAY_MS);
    const complete = (actual_cost: number) =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost });
    expect((await complete(11)).body.code).toBe("scope");
    expect((await complete(10)).status).toBe(200);
  });

  /** Issues a token so long after another one expired that the row of that one is deleted. */
  async function forgetTokens(): Promise<void> {
    passTime(125 * DAY_MS);
    const { token } = await getToken(await signIn());
    const { jti } = decodeJwt(token.slice("pb_pat_".length));
    expect(await query(ada.identity_id, "select id from allowances")).toEqual([{ id: jti }]);
  }

  it("a job of a capped token costs no more than it was charged once the token's row is deleted", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: CAP }] });
    const [job_id] = await expiredJobs(capped.token, 1);
    await forgetTokens();
    const complete = (actual_cost: number) =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost });
    expect((await complete(1)).body.code).toBe("scope");
    expect((await complete(0)).body.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("what the holder approved and the job held is charged also after the token's row is deleted", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: CAP }] });
    const job = { ...JOB, cost_estimate: CAP + 2, ttl_seconds: 60 };
    const { approval, approval_url } = (await by(capped.token, "POST", "/api/jobs", job)).body;
    await onPage(`${new URL(approval_url).pathname}/approve`, {});
    const approved = { ...job, cost_estimate: CAP + 1, approval };
    const { job_id } = (await by(capped.token, "POST", "/api/jobs", approved)).body;
    await forgetTokens();
    const complete = (actual_cost: number) =>
      inAccount().post("/api/jobs/complete", { job_id, actual_cost });
    expect((await complete(CAP + 2)).body.code).toBe("scope");
    expect((await complete(CAP + 1)).body.credits).toBe(100 - CAP - 1);
    await expectInvariants(ada.identity_id);
  });

  it("settling a job of an ended capped token does not list the token again", async () => {
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: 50 }] });
    await capped.revoke(await tokenId(capped));
    expect((await capped.get("/api/wallet")).status).toBe(401);
    expect((await ada.getOwn("/api/tokens")).body.tokens).toEqual([]);
  });

  it("the started jobs of a capped token expire when the token ends", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const capped = await getToken(ada, { apps: ["demo"], caps: [{ credits: 50 }] });
    const { job_id } = (await by(capped.token, "POST", "/api/jobs", JOB)).body;
    await capped.revoke(await tokenId(capped));
    expect((await ada.get(`/api/jobs/${job_id}`)).body.failure).toBe("expired");
  });
});

describe("a job of a capped token that only its app may settle", () => {
  const WEEK_MS = 7 * DAY_MS;
  let capped: string;
  beforeEach(async () => {
    server = await openAppServer("demo", { settle: "app" }, server.operator);
    capped = await tokenWith({ scopes: ["read", "write"], caps: [{ credits: 50 }] });
    await by(capped, "GET", "/api/wallet?app=demo");
  });

  async function start(cost_estimate: number, ttl_seconds = 60): Promise<string> {
    const job = { ...JOB, cost_estimate, ttl_seconds };
    return (await by(capped, "POST", "/api/jobs", job)).body.job_id;
  }

  const complete = async (job_id: string, actual_cost: number) => {
    const done = await inAccount().post("/api/jobs/complete", { job_id, actual_cost });
    return [done.status, done.body.code];
  };
  const room = async () => (await by(capped, "GET", "/api/wallet")).body.room;

  /** What the app may do with a job, and the refusal if it raises the job's reserve. */
  async function expectFollowed(job_id: string, raising: [number, string]): Promise<void> {
    const app = inAccount();
    const read = await app.get(`/api/jobs/${job_id}`);
    expect(read).toMatchObject({ status: 200, body: { id: job_id, status: "started" } });
    const step = { job_id, step: read.body.step + 1 };
    for (const reserve of [11, 1_000_000]) {
      const raised = await app.post("/api/jobs/progress", { ...step, reserve });
      expect([raised.status, raised.body.code]).toEqual(raising);
    }
    const terms = { ...step, spent: 4, reserve: 8, ttl_seconds: 120 };
    const reported = await app.post("/api/jobs/progress", terms);
    expect(reported).toMatchObject({ status: 200, body: { job: { spent: 4, reserved: 8 } } });
    const back = await app.post("/api/jobs/progress", { job_id, step: step.step + 1, reserve: 8 });
    expect(back.status).toBe(200);
  }

  it("the app reads and reports on it where the account was never opened, and cannot raise its reserve", async () => {
    const job_id = await start(10);
    await expectFollowed(job_id, UNKNOWN as [number, string]);
    passTime(100_000);
    const shown = await inAccount().get(`/api/jobs/${job_id}`);
    expect(shown.body.status).toBe("started");
    expect(await complete(job_id, 8)).toEqual([200, undefined]);
    const foreign = (await by(capped, "POST", "/api/jobs", { ...JOB, app: "other" })).body.job_id;
    for (const id of [foreign, "018f0000-0000-7000-8000-000000000000"]) {
      const read = await inAccount().get(`/api/jobs/${id}`);
      expect([read.status, read.body.code]).toEqual(UNKNOWN);
    }
    await expectInvariants(ada.identity_id);
  });

  it("the app reads and reports on its jobs after the holder stopped it, and in a suspended account", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const job_id = await start(10);
    await onPage("/account/access/stop", { app: "demo" });
    await expectFollowed(job_id, UNKNOWN as [number, string]);
    await onPage("/account/access/allow", { app: "demo" });
    const path = `/api/admin/accounts/${ada.identity_id}/suspend`;
    await server.operator.send("POST", path, { reason: "fraud" });
    await expectFollowed(job_id, [403, "suspended"]);
    expect(await complete(job_id, 8)).toEqual([200, undefined]);
  });

  it("a repeated report has the balance of its own time, which an app does not get before the account is opened for it", async () => {
    const app = inAccount();
    const job_id = await start(10);
    const report = { job_id, step: 1, spent: 4 };
    const first = await app.post("/api/jobs/progress", report);
    expect(first).toMatchObject({ status: 200, body: { credits: null } });
    await by(ada.token, "GET", "/api/wallet?app=demo");
    expect(await complete(job_id, 8)).toEqual([200, undefined]);
    expect((await app.post("/api/jobs/progress", report)).text).toBe(first.text);
  });

  it("after it expired it keeps its room in the cap for seven days, so that the app is paid", async () => {
    const job_id = await start(50);
    passTime(61_000);
    expect((await by(ada.token, "GET", "/api/wallet")).body.account.credits).toBe(100);
    expect(await room()).toBe(0);
    const { body } = await by(capped, "GET", "/api/tokens");
    expect(body.tokens[0].caps[0]).toMatchObject({ spent: 50, room: 0 });
    const next = await by(capped, "POST", "/api/jobs", { ...JOB, cost_estimate: 1 });
    expect([next.status, next.body.code]).toEqual([402, "token_budget_exceeded"]);
    passTime(WEEK_MS - 62_000);
    expect(await complete(job_id, 51)).toEqual([402, "token_budget_exceeded"]);
    expect(await complete(job_id, 40)).toEqual([200, undefined]);
    ada = await signIn();
    capped = await tokenWith({ scopes: ["read", "write"], caps: [{ credits: 50 }] });
    expect((await by(ada.token, "GET", "/api/wallet")).body.account.credits).toBe(60);
    await expectInvariants(ada.identity_id);
  });

  it("after seven days its late completion needs room in the cap again", async () => {
    const job_id = await start(50);
    passTime(61_000 + WEEK_MS);
    expect(await room()).toBe(50);
    const other = await start(20);
    expect(await complete(job_id, 31)).toEqual([402, "token_budget_exceeded"]);
    expect(await complete(job_id, 30)).toEqual([200, undefined]);
    expect(await complete(other, 20)).toEqual([200, undefined]);
    expect(await room()).toBe(0);
    await expectInvariants(ada.identity_id);
  });

  it("an operator's refund ends what it claims, and nothing comes back to the cap a second time", async () => {
    const job_id = await start(50);
    await inAccount().post("/api/jobs/progress", { job_id, step: 1, spent: 20 });
    passTime(61_000);
    expect(await room()).toBe(0);
    const path = `/api/admin/accounts/${ada.identity_id}/jobs/${job_id}/refund`;
    const refund = { amount: 5, reason: "late" };
    const key = { "Idempotency-Key": "refund" };
    expect((await server.operator.send("POST", path, refund, key)).status).toBe(200);
    expect(await room()).toBe(35);
    passTime(WEEK_MS);
    expect(await room()).toBe(35);
    await expectInvariants(ada.identity_id);
  });

  it("it keeps its room after the holder cancels it, and gives it back when the app completes it for less", async () => {
    const job_id = await start(50);
    await by(ada.token, "POST", "/api/jobs/cancel", { job_id });
    expect(await room()).toBe(0);
    expect(await complete(job_id, 0)).toEqual([200, undefined]);
    expect(await room()).toBe(50);
    await expectInvariants(ada.identity_id);
  });
});

describe("a suspended account", () => {
  it("in a suspended account an app's key cannot create jobs, and can settle started jobs", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const app = inAccount();
    const { job_id } = (await app.post("/api/jobs", JOB)).body;
    const path = `/api/admin/accounts/${ada.identity_id}/suspend`;
    expect((await server.operator.send("POST", path, { reason: "fraud" })).status).toBe(200);
    for (const response of [
      await app.post("/api/jobs", JOB),
      await app.post("/api/jobs/batch", { jobs: [JOB] }),
    ]) {
      expect([response.status, response.body.code]).toEqual([403, "suspended"]);
    }
    expect((await app.get("/api/jobs")).body.jobs).toHaveLength(1);
    expect((await app.post("/api/jobs/complete", { job_id, actual_cost: 4 })).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });
});

describe("an app on the page of access", () => {
  it("a stopped app settles its jobs but creates none until the holder allows it again", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const { job_id } = (await inAccount().post("/api/jobs", JOB)).body;
    const done = await onPage("/account/access/stop", { app: "demo" });
    expect([done.status, done.headers.get("Location")]).toEqual([
      303,
      "/account/access?notice=app_stopped",
    ]);
    expect(await outcome()).toEqual(UNKNOWN);
    // A wallet request does not allow the app again, because the app's own page could send it.
    await by(ada.token, "GET", "/api/wallet?app=demo");
    await by(ada.token, "POST", "/api/jobs", JOB);
    expect(await outcome()).toEqual(UNKNOWN);
    const ended = await inAccount().post("/api/jobs/complete", { job_id, actual_cost: 10 });
    expect(ended.status).toBe(200);
    await onPage("/account/access/allow", { app: "demo" });
    expect(await outcome()).toEqual(CREATED);
  });

  it("a holder can allow only an app that the account already has", async () => {
    const response = await onPage("/account/access/allow", { app: "never" });
    expect(response.status).toBe(404);
    const nonsense = await onPage("/account/access/allow", { app: "Not a slug" });
    expect(nonsense.status).toBe(400);
  });

  it("a page of another origin can neither stop nor allow an app", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const headers = { Cookie: ada.cookies, Origin: "http://localhost:3000" };
    const body = new URLSearchParams({ app: "demo" });
    for (const path of ["/account/access/stop", "/account/access/allow"]) {
      expect((await send("POST", path, { headers, body }, settings())).status).toBe(403);
    }
    expect(await outcome()).toEqual(CREATED);
  });

  it("a personal token cannot allow an app, and one with limits cannot stop one either", async () => {
    await by(ada.token, "GET", "/api/wallet?app=demo");
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const scope = { refusal: { code: "scope" } };
    const request = { slug: "demo", started_jobs: "keep" } as const;
    const limited = withToken(await tokenId(await getToken(ada, { scopes: ["read"] })));
    expect(await account.stopApp(limited, request)).toMatchObject(scope);
    const whole = withToken(await tokenId(await getToken(ada)));
    expect(await account.allowApp(whole, "demo")).toMatchObject(scope);
    expect(await outcome()).toEqual(CREATED);
  });
});

describe("an identity that an app invented", () => {
  it("no call of an app's key creates storage for an invented identity", async () => {
    const nobody = server.in("user_invented");
    const job_id = "018f0000-0000-7000-8000-000000000000";
    for (const response of [
      await nobody.get("/api/wallet"),
      await nobody.get("/api/wallet?app=demo"),
      await nobody.get("/api/jobs"),
      await nobody.get(`/api/jobs/${job_id}`),
      await nobody.post("/api/jobs", JOB),
      await nobody.post("/api/jobs/batch", { jobs: [JOB] }),
      await nobody.post("/api/jobs/complete", { job_id, actual_cost: 0 }),
      await nobody.post("/api/jobs/complete/batch", { jobs: [{ job_id, actual_cost: 0 }] }),
      await nobody.post("/api/jobs/fail", { job_id }),
    ]) {
      expect([response.status, response.body.code]).toEqual(UNKNOWN);
    }
    const { count, bytes } = await tablesOf("user_invented");
    // One page: an empty database.
    expect([count, bytes <= 4096]).toEqual([0, true]);
    expect((await tablesOf(ada.identity_id)).count).toBeGreaterThan(5);
  });
});
