import { describe, expect, it, vi } from "vitest";
import { change, query } from "../../../support/account_object.ts";
import { signIn, signInWithCredits, type SignedIn } from "../../../support/passbook.ts";

async function start(person: SignedIn, fields: object = {}): Promise<string> {
  const body = { app: "demo", action: "draw", cost_estimate: 30, ...fields };
  const response = await person.post("/api/jobs", body);
  expect(response.status).toBe(200);
  return response.body.job_id;
}

async function credits(person: SignedIn): Promise<number> {
  return (await person.get("/api/wallet")).body.account.credits;
}

/** Lets `seconds` pass and signs the person in again, because the token may have expired. */
async function wait(seconds: number, email?: string): Promise<SignedIn> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
  return signIn(email);
}

/** Moves the clock past all ids and signs in. Ids never go back, and other tests move the clock forward. */
async function afterAllIds(): Promise<SignedIn> {
  const id = await start(await signInWithCredits("demo", "bob@example.com"));
  const made_at_ms = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  await wait((made_at_ms - Date.now()) / 1000 + 1);
  return signInWithCredits();
}

describe("POST /api/jobs", () => {
  it("creating a job reserves the estimate and returns the job's UUID and the remaining credits", async () => {
    const ada = await signInWithCredits();
    const { status, body } = await ada.post("/api/jobs", {
      app: "demo",
      action: "draw",
      cost_estimate: 30,
    });
    expect(status).toBe(200);
    expect(body).toEqual({ job_id: expect.stringMatching(/^[0-9a-f-]{36}$/), credits: 70 });
    expect(await credits(ada)).toBe(70);
  });

  it("a new job is started, with its reserve, no cost and a deadline one day ahead", async () => {
    const ada = await signInWithCredits();
    const id = await start(ada, { metadata: { description: "A cat", previewUrl: "https://x/y" } });
    const { status, body } = await ada.get(`/api/jobs/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      app_slug: "demo",
      action: "draw",
      status: "started",
      reserved: 30,
      actual_cost: 0,
      failure: null,
      metadata: { description: "A cat", previewUrl: "https://x/y" },
    });
    expect(body.updated_at).toBe(body.created_at);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(86_400_000);
  });

  it("a job created without metadata has null metadata", async () => {
    const ada = await signInWithCredits();
    const { body } = await ada.get(`/api/jobs/${await start(ada)}`);
    expect(body.metadata).toBeNull();
  });

  it("a job may reserve exactly the whole balance, and a job of 0 is accepted at balance zero", async () => {
    const ada = await signInWithCredits();
    await start(ada, { cost_estimate: 100 });
    await start(ada, { cost_estimate: 0 });
    expect(await credits(ada)).toBe(0);
  });

  it("creating a job that the balance does not cover gets 402 and creates no job", async () => {
    const ada = await signInWithCredits();
    const response = await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 101 });
    expect(response).toMatchObject({ status: 402, body: { code: "insufficient_credits" } });
    expect((await ada.get("/api/jobs")).body.jobs).toEqual([]);
    expect(await credits(ada)).toBe(100);
  });

  it("the 402 of a job has the available, held and required credits", async () => {
    const ada = await signInWithCredits();
    await start(ada, { cost_estimate: 30 });
    const body = { app: "demo", action: "a", cost_estimate: 101 };
    const numbers = { code: "insufficient_credits", credits: 70, held: 30, required: 101 };
    const refused = await ada.post("/api/jobs", body);
    expect(refused).toMatchObject({ status: 402, body: numbers });
    const batch = await ada.post("/api/jobs/batch", {
      jobs: [body, { ...body, cost_estimate: 1 }],
    });
    expect(batch.body.results).toMatchObject([numbers, { credits: 69 }]);
  });

  it("creating a job with estimate 0 gets 402 if the balance is below zero", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 101 });
    const response = await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 0 });
    expect(response.status).toBe(402);
  });

  it("an account has at most 10,000 started jobs, since all may expire at the same time", async () => {
    const ada = await signInWithCredits();
    await start(ada, { cost_estimate: 1 });
    const job_id = await start(ada, { cost_estimate: 1 });
    await change(ada.identity_id, "update entries set open_jobs = 10000 where line = 4");
    const body = { app: "demo", action: "draw", cost_estimate: 0 };
    const refused = await ada.post("/api/jobs", body);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "limit_reached", of: "started_jobs", limit: 10_000 },
    });
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 });
    expect(await query(ada.identity_id, "select open_jobs from entries where line = 5")).toEqual([
      { open_jobs: 9_999 },
    ]);
  });

  it("creating a job opens the account, and a refused job does not", async () => {
    const ada = await signIn();
    await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 1 });
    expect(await query(ada.identity_id, "select * from account")).toEqual([]);
    await start(ada, { cost_estimate: 0 });
    expect(await query(ada.identity_id, "select * from account")).toHaveLength(1);
  });
});

describe("POST /api/jobs/complete", () => {
  it("completing refunds the part of the reserve that exceeds the cost", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    const { status, body } = await ada.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      job: { id: job_id, status: "completed", reserved: 30, actual_cost: 10 },
      credits: 90,
    });
  });

  it("completing charges the part of the cost that exceeds the reserve, even below zero", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    const { body } = await ada.post("/api/jobs/complete", { job_id, actual_cost: 1_000 });
    expect(body).toMatchObject({ job: { actual_cost: 1_000 }, credits: -900 });
  });

  it("completing merges metadata shallowly, and new keys win", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { metadata: { kept: 1, nested: { a: 1 }, changed: "old" } });
    const metadata = { nested: { b: 2 }, changed: "new", added: [1] };
    const { body } = await ada.post("/api/jobs/complete", { job_id, actual_cost: 1, metadata });
    const merged = { kept: 1, nested: { b: 2 }, changed: "new", added: [1] };
    expect(body.job.metadata).toEqual(merged);
    expect((await ada.get(`/api/jobs/${job_id}`)).body.metadata).toEqual(merged);
  });

  it("completing refuses metadata that is too large after merging and settles nothing", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { metadata: { a: "x".repeat(10_000) } });
    const metadata = { b: "x".repeat(10_000) };
    const response = await ada.post("/api/jobs/complete", { job_id, actual_cost: 1, metadata });
    expect(response).toMatchObject({ status: 400, body: { code: "metadata_too_large" } });
    expect((await ada.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
    expect(await credits(ada)).toBe(70);
  });

  it("settling a job that has ended gets 400 and changes nothing", async () => {
    const ada = await signInWithCredits();
    const completed = await start(ada);
    await ada.post("/api/jobs/complete", { job_id: completed, actual_cost: 1 });
    const failed = await start(ada);
    await ada.post("/api/jobs/fail", { job_id: failed });
    const before = await ada.get("/api/jobs");
    for (const job_id of [completed, failed]) {
      const response = await ada.post("/api/jobs/complete", { job_id, actual_cost: 5 });
      expect(response).toMatchObject({ status: 400, body: { code: "job_ended" } });
    }
    expect((await ada.get("/api/jobs")).text).toBe(before.text);
    expect(await credits(ada)).toBe(99);
  });

  it("completing accepts the job's id in any case", async () => {
    const ada = await signInWithCredits();
    const job_id = (await start(ada)).toUpperCase();
    expect((await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 })).status).toBe(200);
  });

  it("completing refuses a cost that would take the balance out of its range", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { cost_estimate: 0 });
    await change(
      ada.identity_id,
      `update entries set balance_after = ${1 - Number.MAX_SAFE_INTEGER} where line = 3`,
    );
    const response = await ada.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    expect(response).toMatchObject({ status: 400, body: { code: "balance_limit" } });
  });
});

describe("POST /api/jobs/fail", () => {
  it.each([[{}], [{ refund: true }]])("failing with %j refunds the whole reserve", async (rest) => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    const { status, body } = await ada.post("/api/jobs/fail", { job_id, ...rest });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      job: { id: job_id, status: "failed", failure: "reported", reserved: 30, actual_cost: 0 },
      credits: 100,
    });
  });

  it("failing with refund false charges the reserve as the job's cost", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    const { body } = await ada.post("/api/jobs/fail", { job_id, refund: false });
    expect(body).toMatchObject({ job: { status: "failed", actual_cost: 30 }, credits: 70 });
  });

  it("failing stores the reason and merges the metadata, and a retry returns the same response", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { metadata: { kept: 1, changed: "old" } });
    const body = { job_id, reason: "The model ran out of memory.", metadata: { changed: "new" } };
    const key = { "Idempotency-Key": "fail-1" };
    const failed = await ada.post("/api/jobs/fail", body, key);
    expect(failed).toMatchObject({
      status: 200,
      body: {
        job: {
          status: "failed",
          failure: "reported",
          failure_reason: "The model ran out of memory.",
          metadata: { kept: 1, changed: "new" },
        },
        credits: 100,
      },
    });
    expect((await ada.post("/api/jobs/fail", body, key)).text).toBe(failed.text);
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toEqual(failed.body.job);
    expect((await ada.get("/api/jobs")).body.jobs).toEqual([failed.body.job]);
  });

  it("failure_reason is null without a reason, and for completed and expired jobs", async () => {
    const ada = await signInWithCredits();
    const failed = await ada.post("/api/jobs/fail", { job_id: await start(ada) });
    expect(failed.body.job.failure_reason).toBeNull();
    const job_id = await start(ada);
    const done = await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 });
    expect(done.body.job.failure_reason).toBeNull();
    const expired = await start(ada, { ttl_seconds: 60 });
    const later = await wait(61);
    expect((await later.get(`/api/jobs/${expired}`)).body).toMatchObject({
      failure: "expired",
      failure_reason: null,
    });
  });

  it("failing refuses metadata that is too large after merging, and the job stays started", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { metadata: { a: "x".repeat(9_000) } });
    const metadata = { b: "x".repeat(9_000) };
    const response = await ada.post("/api/jobs/fail", { job_id, metadata });
    expect(response).toMatchObject({ status: 400, body: { code: "metadata_too_large" } });
    expect((await ada.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
  });

  it.each([
    ["of 501 characters", { reason: "x".repeat(501) }],
    ["that is empty", { reason: "" }],
    ["with half a character", { reason: "\ud800" }],
    ["that is null", { reason: null }],
  ])("failing refuses a reason %s, and the job stays started", async (_, fields) => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    const response = await ada.post("/api/jobs/fail", { job_id, ...fields });
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect((await ada.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
  });

  it("settling a job that has ended gets 400 and changes nothing", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 });
    const response = await ada.post("/api/jobs/fail", { job_id });
    expect(response).toMatchObject({ status: 400, body: { code: "job_ended" } });
    expect(await credits(ada)).toBe(99);
  });
});

describe("a job whose time runs out", () => {
  it("a job whose time runs out fails with a full refund and the failure expired", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { ttl_seconds: 60 });
    const later = await wait(60);
    const { body } = await later.get(`/api/jobs/${job_id}`);
    expect(body).toMatchObject({ status: "failed", failure: "expired", actual_cost: 0 });
    expect(await credits(later)).toBe(100);
  });

  it("a job stays started until its time runs out", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { ttl_seconds: 60 });
    const later = await wait(59);
    expect((await later.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
  });

  it("the reserve of an expired job is available to the next job", async () => {
    const ada = await signInWithCredits();
    await start(ada, { cost_estimate: 100, ttl_seconds: 60 });
    const later = await wait(61);
    await start(later, { cost_estimate: 100 });
  });

  it("an expired job can still be completed, once, and is charged in full", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { ttl_seconds: 60 });
    const later = await wait(61);
    const body = { job_id, actual_cost: 25 };
    const settled = await later.post("/api/jobs/complete", body);
    expect(settled.body).toMatchObject({
      job: { status: "completed", failure: null, actual_cost: 25 },
      credits: 75,
    });
    expect((await later.post("/api/jobs/complete", body)).status).toBe(400);
    expect(await credits(later)).toBe(75);
  });

  it("an expired job cannot be failed", async () => {
    const ada = await signInWithCredits();
    const job_id = await start(ada, { ttl_seconds: 60 });
    const later = await wait(61);
    expect((await later.post("/api/jobs/fail", { job_id })).status).toBe(400);
  });
});

describe("GET /api/jobs", () => {
  it("jobs are listed newest first, page by page, without gaps or duplicates", async () => {
    const ada = await signInWithCredits();
    const made: string[] = [];
    for (let index = 0; index < 7; index += 1) made.push(await start(ada, { cost_estimate: 1 }));
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await ada.get(`/api/jobs?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.jobs.map((job: { id: string }) => job.id));
      cursor = body.next_cursor ?? "";
    } while (cursor !== "");
    expect(seen).toEqual(made.toReversed());
  });

  it("a list of jobs has 50 jobs by default and at most 200", async () => {
    const ada = await signInWithCredits();
    for (let index = 0; index < 51; index += 1) await start(ada, { cost_estimate: 0 });
    expect((await ada.get("/api/jobs")).body.jobs).toHaveLength(50);
    expect((await ada.get("/api/jobs?limit=200")).body.jobs).toHaveLength(51);
    expect((await ada.get("/api/jobs?limit=1")).body.jobs).toHaveLength(1);
  });

  it("jobs are filtered by app and by status", async () => {
    const ada = await signInWithCredits();
    const done = await start(ada, { app: "one", cost_estimate: 1 });
    await ada.post("/api/jobs/complete", { job_id: done, actual_cost: 1 });
    const running = await start(ada, { app: "one", cost_estimate: 1 });
    const other = await start(ada, { app: "two", cost_estimate: 1 });
    const ids = async (parameters: string) =>
      (await ada.get(`/api/jobs?${parameters}`)).body.jobs.map((job: { id: string }) => job.id);
    expect(await ids("app=one")).toEqual([running, done]);
    expect(await ids("status=started")).toEqual([other, running]);
    expect(await ids("app=one&status=completed")).toEqual([done]);
    expect(await ids("app=three")).toEqual([]);
  });

  it("jobs are filtered by creation time, from inclusive and to exclusive", async () => {
    const ada = await afterAllIds();
    const first = await start(ada, { cost_estimate: 1 });
    const later = await wait(10);
    const second = await start(later, { cost_estimate: 1, app: "other" });
    const listed = async (filters: string) =>
      (await later.get(`/api/jobs?${filters}`)).body.jobs.map((job: { id: string }) => job.id);
    const at = (await later.get(`/api/jobs/${second}`)).body.created_at as string;
    expect(await listed(`from=${at}`)).toEqual([second]);
    expect(await listed(`to=${at}`)).toEqual([first]);
    expect(await listed(`from=${encodeURIComponent(at.replace("Z", "+00:00"))}`)).toEqual([second]);
    expect(await listed(`from=2000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z`)).toEqual([
      second,
      first,
    ]);
    expect(await listed(`from=${at}&app=demo`)).toEqual([]);
    expect(await listed(`from=${at}&status=started`)).toEqual([second]);
    expect(await listed(`to=${at}&cursor=${second}`)).toEqual([first]);
    expect(await listed(`to=1969-12-31T23:59:59Z`)).toEqual([]);
  });

  it("jobs are filtered by creation time even if the clock went back", async () => {
    const ada = await afterAllIds();
    const first = await start(ada, { cost_estimate: 1 });
    await change(ada.identity_id, "update jobs set created_at_ms = created_at_ms + 30000");
    const at = (await ada.get(`/api/jobs/${first}`)).body.created_at as string;
    const listed = async (filters: string) =>
      (await ada.get(`/api/jobs?${filters}`)).body.jobs.map((job: { id: string }) => job.id);
    expect(await listed(`from=${at}`)).toEqual([first]);
    expect(await listed(`to=${at}`)).toEqual([]);
  });

  it.each(["from=yesterday", "to=2026-13-01T00:00:00Z", "from=2026-11-21"])(
    "a list of jobs refuses the query %s",
    async (query) => {
      const ada = await signInWithCredits();
      const response = await ada.get(`/api/jobs?${query}`);
      expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    },
  );

  it("the list of jobs is empty before the account is opened", async () => {
    const ada = await signIn();
    expect((await ada.get("/api/jobs")).body).toEqual({ jobs: [] });
  });

  it("jobs are listed in the order of creation even if the clock went back", async () => {
    const ada = await signInWithCredits();
    const first = await start(ada, { cost_estimate: 1 });
    // Simulates an object that ran on a machine whose clock was years ahead.
    await change(ada.identity_id, `update jobs set id = '02000000-0000-7000-8000-000000000000'`);
    const second = await start(ada, { cost_estimate: 1 });
    expect(second > "02000000-0000-7000-8000-000000000000").toBe(true);
    expect(first < second).toBe(true);
  });

  it.each([
    "limit=0",
    "limit=201",
    "limit=-1",
    "limit=1.5",
    "limit=1e2",
    "limit=",
    "limit=x",
    "status=done",
    "status=",
    "app=NO",
    "cursor=x",
    "limit=1&limit=2",
  ])("a list of jobs refuses the query %s", async (parameters) => {
    const ada = await signIn();
    const response = await ada.get(`/api/jobs?${parameters}`);
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  it("a list of expired or cancelled jobs is refused, and the error names the field that says why a job failed", async () => {
    const ada = await signIn();
    for (const status of ["expired", "cancelled"]) {
      const { body } = await ada.get(`/api/jobs?status=${status}`);
      expect(body.error).toContain("is failed, and its `failure` says why");
    }
  });
});

describe("GET /api/jobs/{id}", () => {
  it.each(["018f0000-0000-7000-8000-000000000000", "x", "1%20or%201=1"])(
    "reading the unknown job %s gets 404",
    async (id) => {
      const ada = await signIn();
      const response = await ada.get(`/api/jobs/${id}`);
      expect(response).toMatchObject({ status: 404, body: { code: "job_not_found" } });
    },
  );
});
