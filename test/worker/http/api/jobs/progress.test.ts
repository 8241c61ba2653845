import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { JOB_STEPS_MAX } from "../../../../../src/domain/limits.ts";
import { change, dump, evict, fireAlarm, query } from "../../../support/account_object.ts";
import { getToken } from "../../../support/device_logins.ts";
import { send, signInWithCredits, type Answer, type SignedIn } from "../../../support/passbook.ts";
import { openAppServer } from "../../caller/app_server.ts";
import { expectInvariants } from "../../../account/invariants.ts";

let ada: SignedIn;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  ada = await signInWithCredits("demo");
});
afterEach(async () => {
  await expectInvariants(ada.identity_id);
});

const credits = async (): Promise<number> => (await ada.get("/api/wallet")).body.account.credits;

async function start(cost_estimate: number, more: object = {}): Promise<string> {
  const job = { app: "demo", action: "render", cost_estimate, ...more };
  return (await ada.post("/api/jobs", job)).body.job_id;
}

const report = (job_id: string, step: number, more: object = {}): Promise<Answer> =>
  ada.post("/api/jobs/progress", { job_id, step, ...more });

/** Signs in again, because a session token is valid for 15 minutes. */
async function wait(seconds: number): Promise<void> {
  vi.setSystemTime(Date.now() + seconds * 1000);
  ada = await signInWithCredits("demo");
}

const entriesOf = async (job_id: string): Promise<(readonly [string, number])[]> => {
  const { body } = await ada.get(`/api/ledger?job_id=${job_id}`);
  return body.entries.map(({ kind, amount }: { kind: string; amount: number }) => [kind, amount]);
};

describe("progress of a job", () => {
  it("a worker killed after it spent 40 of 100 credits costs 40 at expiry, and 60 go back, once", async () => {
    const job_id = await start(100, { ttl_seconds: 60 });
    const reported = await report(job_id, 1, { spent: 40 });
    expect(reported).toMatchObject({
      status: 200,
      body: {
        job: { id: job_id, status: "started", reserved: 100, step: 1, spent: 40 },
        credits: 0,
      },
    });
    await wait(61);
    await evict(ada.identity_id);
    await fireAlarm(ada.identity_id);
    for (let times = 0; times < 2; times += 1) {
      await fireAlarm(ada.identity_id);
      expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({
        status: "failed",
        failure: "expired",
        actual_cost: 40,
        spent: 40,
      });
      expect(await credits()).toBe(60);
    }
    expect(await entriesOf(job_id)).toEqual([
      ["settle", 60],
      ["reserve", -100],
    ]);
  });

  it("a late completion after such an expiry pays its full price, to which the kept credits count", async () => {
    const job_id = await start(100, { ttl_seconds: 60 });
    await report(job_id, 1, { spent: 40 });
    await wait(61);
    const completed = await ada.post("/api/jobs/complete", { job_id, actual_cost: 70 });
    expect(completed.body).toMatchObject({
      job: { status: "completed", actual_cost: 70 },
      credits: 30,
    });
    const again = await ada.post("/api/jobs/complete", { job_id, actual_cost: 70 });
    expect(again.body.code).toBe("job_ended");
    expect(await credits()).toBe(30);
  });

  it.each([
    ["refund", undefined, 0, 100],
    ["charge", undefined, 100, 0],
    ["charge", 40, 40, 60],
    ["charge", 0, 0, 100],
    ["refund", 100, 100, 0],
  ])(
    "with on_expiry %s and spent %s, an expired job of 100 credits costs %i",
    async (on_expiry, spent, cost, left) => {
      const server = await openAppServer("demo", { on_expiry, settle: "app" });
      const act = server.in(ada.identity_id);
      const job = { app: "demo", action: "render", cost_estimate: 100, ttl_seconds: 60 };
      const { job_id } = (await act.post("/api/jobs", job)).body;
      const by_holder = await report(job_id, 1, { spent: 0 });
      expect(by_holder).toMatchObject({ status: 403, body: { code: "app_settles" } });
      const step = { job_id, step: 1, ttl_seconds: 90, ...(spent === undefined ? {} : { spent }) };
      expect((await act.post("/api/jobs/progress", step)).status).toBe(200);
      await wait(91);
      expect(await credits()).toBe(left);
      expect((await ada.get(`/api/jobs/${job_id}`)).body.actual_cost).toBe(cost);
    },
  );

  it("a cancelled job and a job of a deleted account cost what they spent", async () => {
    const [cancelled, left] = [await start(30), await start(50)];
    await report(cancelled, 1, { spent: 10 });
    await report(left, 1, { spent: 20 });
    const answer = await ada.post("/api/jobs/cancel", { job_id: cancelled });
    expect(answer.body).toMatchObject({ job: { actual_cost: 10 }, credits: 40 });
    const failed = await ada.post("/api/jobs/fail", { job_id: left });
    expect(failed.body).toMatchObject({ job: { actual_cost: 0 }, credits: 90 });
  });

  it("a reserve is raised and lowered by entries for the difference, and counts at the end", async () => {
    const job_id = await start(40);
    expect((await report(job_id, 1, { reserve: 70 })).body).toMatchObject({
      job: { reserved: 70 },
      credits: 30,
    });
    expect((await report(job_id, 2, { reserve: 50, spent: 50 })).body.credits).toBe(50);
    const completed = await ada.post("/api/jobs/complete", { job_id, actual_cost: 45 });
    expect(completed.body).toMatchObject({ job: { reserved: 50, actual_cost: 45 }, credits: 55 });
    expect(await entriesOf(job_id)).toEqual([
      ["settle", 5],
      ["refund", 20],
      ["reserve", -30],
      ["reserve", -40],
    ]);
  });

  it("a reserve that the balance does not cover is 402, and the job is unchanged", async () => {
    const job_id = await start(40);
    const before = await dump(ada.identity_id);
    const refused = await report(job_id, 1, { reserve: 101, spent: 10, ttl_seconds: 600 });
    expect(refused).toMatchObject({
      status: 402,
      body: { code: "insufficient_credits", credits: 60, held: 40, required: 61 },
    });
    expect(await dump(ada.identity_id)).toBe(before);
    expect((await report(job_id, 1, { reserve: 100 })).body.credits).toBe(0);
  });

  it("a job cannot have spent more than it holds", async () => {
    const job_id = await start(40);
    for (const terms of [{ spent: 41 }, { spent: 31, reserve: 30 }]) {
      const refused = await report(job_id, 1, terms);
      expect(refused).toMatchObject({ status: 400, body: { code: "spent_limit" } });
    }
    await report(job_id, 1, { spent: 35 });
    const lowered = await report(job_id, 2, { reserve: 34 });
    expect(lowered).toMatchObject({ status: 400, body: { code: "spent_limit", limit: 34 } });
  });

  it("the expiry moves to so many seconds after the report", async () => {
    const job_id = await start(40, { ttl_seconds: 60 });
    await wait(50);
    const reported = await report(job_id, 1, { ttl_seconds: 3_600 });
    expect(reported.body.job.expires_at).toBe(new Date(Date.now() + 3_600_000).toISOString());
    await wait(3_599);
    expect(await credits()).toBe(60);
    await wait(2);
    await fireAlarm(ada.identity_id);
    expect(await credits()).toBe(100);
    for (const ttl_seconds of [59, 2_592_001, 1.5]) {
      expect((await report(job_id, 2, { ttl_seconds })).body.code).toBe("invalid_request");
    }
  });

  it("a job that is not recent any more expires at the time that its last report says", async () => {
    const job_id = await start(40, { ttl_seconds: 600 });
    await start(0, { ttl_seconds: 2_592_000 });
    await change(
      ada.identity_id,
      `update entries set recent_after_job_id = '${job_id}', recent_jobs = 1
       where line = (select max(line) from entries);
       insert into long_jobs select expires_at_ms, id from jobs where id = '${job_id}'`,
    );
    await report(job_id, 1, { ttl_seconds: 60 });
    await wait(61);
    expect(await credits()).toBe(100);
  });
});

describe("the steps of a job", () => {
  it("a report shows how far the work is, may go back, and adds no entry if it changes no money", async () => {
    const job_id = await start(40);
    const ledger = async () => (await query(ada.identity_id, "select line from entries")).length;
    const before = await ledger();
    const first = await report(job_id, 1, { done: 0.4, message: "Frame 40 of 100" });
    expect(first.body.job).toMatchObject({ step: 1, done: 0.4, message: "Frame 40 of 100" });
    expect((await report(job_id, 2, { done: 0.1 })).body.job).toMatchObject({
      done: 0.1,
      message: "Frame 40 of 100",
    });
    expect((await report(job_id, 3, { message: "" })).body.job).toMatchObject({
      done: 0.1,
      message: null,
    });
    await report(job_id, 4, { reserve: 40 });
    expect(await ledger()).toBe(before);
    expect((await report(job_id, 4, { reserve: 40 })).headers.get("Idempotency-Replayed")).toBe(
      "true",
    );
    await report(job_id, 5, { spent: 3 });
    await report(job_id, 6, { ttl_seconds: 90 });
    expect(await ledger()).toBe(before + 2);
    const listed = (await ada.get("/api/jobs?limit=1")).body.jobs[0];
    expect(listed).toMatchObject({ id: job_id, step: 6, done: 0.1 });
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 7 });
    expect((await report(job_id, 6, { ttl_seconds: 90 })).body.job.status).toBe("started");
    await expectInvariants(ada.identity_id);
  });

  it("a fraction outside 0 to 1, and a message that is too long or no text, change nothing", async () => {
    const job_id = await start(40);
    for (const terms of [
      { done: 1.01 },
      { done: -0.1 },
      { done: "0.4" },
      { message: "x".repeat(201) },
      { message: "\ud800" },
      { message: 7 },
    ]) {
      expect((await report(job_id, 1, terms)).body.code).toBe("invalid_request");
    }
    expect((await report(job_id, 1, { done: 1, message: "x".repeat(200) })).status).toBe(200);
  });

  it("the holder sees the progress of a started job on its page and in lists", async () => {
    const job_id = await start(40);
    await report(job_id, 1, { done: 0.456, message: "<b>Frame 45</b>" });
    const headers = { Cookie: ada.cookies };
    for (const path of [`/account/jobs/${job_id}`, "/account/jobs"]) {
      const page = (await send("GET", path, { headers })).text;
      expect(page).toContain("45% – &lt;b&gt;Frame 45&lt;/b&gt;");
      expect(page).toMatch(/<progress max="1" value="0.456" aria-label="Progress">/);
    }
    await ada.post("/api/jobs/fail", { job_id });
    expect((await send("GET", `/account/jobs/${job_id}`, { headers })).text).not.toContain(
      "Frame 45",
    );
  });

  it("a repeated step gets its first response byte for byte, even after the job has ended", async () => {
    const job_id = await start(40, { metadata: { title: "one" } });
    const first = await report(job_id, 3, { reserve: 60, spent: 5 });
    expect(first.headers.get("Idempotency-Replayed")).toBeNull();
    await start(10);
    const again = await report(job_id, 3, { spent: 5, reserve: 60 });
    expect(again.text).toBe(first.text);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    vi.setSystemTime(Date.now() + 5_000);
    const metadata = { title: "two" };
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 7, metadata });
    expect((await report(job_id, 3, { spent: 5, reserve: 60 })).text).toBe(first.text);
    expect((await report(job_id, 4)).body.code).toBe("job_ended");
    expect(await credits()).toBe(83);
  });

  it("the response of a step that the job's expiry followed stays the same over a late completion", async () => {
    const job_id = await start(40, { ttl_seconds: 60, metadata: { title: "one" } });
    const first = await report(job_id, 1, { spent: 5 });
    await wait(61);
    expect((await report(job_id, 1, { spent: 5 })).text).toBe(first.text);
    for (const title of ["two", "three"]) {
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 7, metadata: { title } });
      expect((await report(job_id, 1, { spent: 5 })).text).toBe(first.text);
    }
  });

  it("an older step is 409 with the job's step, and a repeated step with another body 422", async () => {
    const job_id = await start(40);
    await report(job_id, 5, { spent: 5 });
    const before = await dump(ada.identity_id);
    expect(await report(job_id, 4, { spent: 6 })).toMatchObject({
      status: 409,
      body: { code: "step_too_old", step: 5 },
    });
    expect(await report(job_id, 5, { spent: 6 })).toMatchObject({
      status: 422,
      body: { code: "idempotency_key_reused" },
    });
    expect(await dump(ada.identity_id)).toBe(before);
    expect((await report(job_id, 1_000_000, { spent: 6 })).status).toBe(200);
    for (const step of [0, -1, 1.5, 2 ** 53, "1"]) {
      const answer = await ada.post("/api/jobs/progress", { job_id, step });
      expect(answer.body.code).toBe("invalid_request");
    }
  });

  it("complete and fail with a step before the job's are 409 and change nothing, and with its own or a later one end it", async () => {
    for (const [path, more] of [
      ["/api/jobs/complete", { actual_cost: 5 }],
      ["/api/jobs/fail", { cost: 5 }],
    ] as const) {
      for (const step of [3, 4, undefined]) {
        const job_id = await start(10);
        await report(job_id, 3, { spent: 1 });
        const before = await dump(ada.identity_id);
        const old = await ada.post(path, { job_id, step: 2, ...more });
        expect(old).toMatchObject({ status: 409, body: { code: "step_too_old", step: 3 } });
        expect((await ada.post(path, { job_id, step: 0, ...more })).status).toBe(409);
        expect(await dump(ada.identity_id)).toBe(before);
        const ended = await ada.post(path, { job_id, step, ...more });
        expect(ended).toMatchObject({ status: 200, body: { job: { actual_cost: 5, step: 3 } } });
      }
      const job_id = await start(0);
      for (const step of [-1, 1.5, 2 ** 53, "1", null]) {
        expect((await ada.post(path, { job_id, step, ...more })).body.code).toBe("invalid_request");
      }
    }
    expect(await credits()).toBe(70);
  });

  it("a run that lost its job can neither fail it nor complete it late, and its successor is paid", async () => {
    const [lost, kept] = [await start(30, { ttl_seconds: 60 }), await start(30)];
    for (const job_id of [lost, kept]) await report(job_id, 1_000_000, { spent: 20 });
    const failed = await ada.post("/api/jobs/fail", { job_id: kept, step: 1 });
    expect(failed.body.code).toBe("step_too_old");
    const paid = await ada.post("/api/jobs/complete", {
      job_id: kept,
      step: 1_000_000,
      actual_cost: 25,
    });
    expect(paid.body).toMatchObject({ job: { status: "completed", actual_cost: 25 } });
    await wait(61);
    const late = { job_id: lost, actual_cost: 1 };
    const refused = await ada.post("/api/jobs/complete", { ...late, step: 999_999 });
    expect(refused.body.code).toBe("step_too_old");
    const { body } = await ada.post("/api/jobs/complete", { ...late, step: 1_000_000 });
    expect(body).toMatchObject({ job: { status: "completed", actual_cost: 1 }, credits: 74 });
  });

  it("each item of a batch has its own step, and the batch with an old one is replayed as it was", async () => {
    const [old, current] = [await start(10), await start(10)];
    await report(old, 2);
    await report(current, 2);
    const jobs = [
      { job_id: old, actual_cost: 4, step: 1 },
      { job_id: current, actual_cost: 4, step: 2 },
    ];
    const key = { "Idempotency-Key": "batch" };
    const first = await ada.post("/api/jobs/complete/batch", { jobs }, key);
    expect(first.body.results).toMatchObject([
      { code: "step_too_old", step: 2 },
      { job: { id: current, status: "completed" } },
    ]);
    const again = await ada.post("/api/jobs/complete/batch", { jobs }, key);
    expect([again.text, again.headers.get("Idempotency-Replayed")]).toEqual([first.text, "true"]);
  });

  it("an end that is repeated with its key gets its first response, and with another step 422", async () => {
    for (const [path, more] of [
      ["/api/jobs/complete", { actual_cost: 5 }],
      ["/api/jobs/fail", { cost: 5 }],
    ] as const) {
      const job_id = await start(10);
      await report(job_id, 2);
      const end = { job_id, step: 2, ...more };
      const key = { "Idempotency-Key": "end" };
      const first = await ada.post(path, end, key);
      const again = await ada.post(path, end, key);
      expect([again.status, again.text]).toEqual([200, first.text]);
      const other = await ada.post(path, { ...end, step: 3 }, key);
      expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
    }
  });

  it("an app sees the balance after a step of a job that is older than its access, and not that of a step before it", async () => {
    const credits_of = (answer: Answer): unknown => answer.body.credits;
    const agent = await getToken(ada, { caps: [{ credits: 50, period: "month" }] });
    const studio = (await openAppServer("studio", { starter_credits: 0 })).in(ada.identity_id);
    const job = { app: "studio", action: "render", cost_estimate: 20 };
    const { job_id } = (await agent.post("/api/jobs", job)).body;
    const before = await studio.post("/api/jobs/progress", { job_id, step: 1 });
    await ada.get("/api/wallet?app=studio");
    const again = await studio.post("/api/jobs/progress", { job_id, step: 1 });
    expect([credits_of(before), again.status, credits_of(again)]).toEqual([null, 200, null]);
    const after = await studio.post("/api/jobs/progress", { job_id, step: 2 });
    const after_again = await studio.post("/api/jobs/progress", { job_id, step: 2 });
    expect(credits_of(after)).toBe(await credits());
    expect(after_again.text).toBe(after.text);
  });

  it("the same step of another run is too old, not a replay", async () => {
    const job_id = await start(40);
    const first = await report(job_id, 1_000_000, { run: "one" });
    const again = await report(job_id, 1_000_000, { run: "one" });
    expect([again.text, again.headers.get("Idempotency-Replayed")]).toEqual([first.text, "true"]);
    for (const run of ["two", undefined]) {
      const other = await report(job_id, 1_000_000, { run });
      expect(other).toMatchObject({
        status: 409,
        body: { code: "step_too_old", step: 1_000_000 },
      });
    }
    expect((await report(job_id, 1_000_001, { run: "two" })).status).toBe(200);
    for (const run of ["", "a b", "x".repeat(65), 1]) {
      expect((await report(job_id, 1_000_002, { run })).body.code).toBe("invalid_request");
    }
  });

  it("a job takes a bounded number of steps, and can still be completed after the last one", async () => {
    const job_id = await start(40);
    await report(job_id, 1);
    const setCount = (count: number): Promise<void> =>
      change(
        ada.identity_id,
        `update jobs set progress_json = json_set(progress_json, '$.count', ${count})`,
      );
    await setCount(JOB_STEPS_MAX - 1);
    expect((await report(job_id, 2)).status).toBe(200);
    expect(await report(job_id, 3)).toMatchObject({
      status: 400,
      body: { code: "limit_reached" },
    });
    expect((await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 })).status).toBe(200);
    await setCount(2);
  });

  it("an unknown job and a job of another account get the same response", async () => {
    const job_id = await start(40);
    const eve = await signInWithCredits("demo", "eve@example.com");
    const step = { step: 1, spent: 1 };
    const foreign = await eve.post("/api/jobs/progress", { job_id, ...step });
    const unknown = await eve.post("/api/jobs/progress", { job_id: crypto.randomUUID(), ...step });
    expect([foreign.status, foreign.text]).toEqual([400, unknown.text]);
  });
});
