import { describe, expect, it, vi } from "vitest";
import { evict, fireAlarm, query } from "../support/account_object.ts";
import { signIn, signInWithCredits } from "../support/passbook.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 10 };
const KEY = { "Idempotency-Key": "order-66" };

describe("Idempotency-Key", () => {
  it("gives the first answer again, marked as replayed, and does nothing twice", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    expect(first.headers.get("Idempotency-Replayed")).toBeNull();
    await evict(ada.identity_id);
    const second = await ada.post("/api/jobs", JOB, KEY);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(90);
  });

  it("protects complete and fail as well", async () => {
    const ada = await signInWithCredits();
    for (const [path, rest] of [
      ["/api/jobs/complete", { actual_cost: 3 }],
      ["/api/jobs/fail", {}],
    ] as const) {
      const { job_id } = (await ada.post("/api/jobs", JOB)).body;
      const first = await ada.post(path, { job_id, ...rest }, KEY);
      const second = await ada.post(path, { job_id, ...rest }, KEY);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.text).toBe(first.text);
    }
  });

  it("with another body is 422 and changes nothing", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", JOB, KEY);
    const other = await ada.post("/api/jobs", { ...JOB, cost_estimate: 11 }, KEY);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(90);
  });

  it("does not mind another order of fields or white space", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    const same = `{ "cost_estimate": 10,\n "action": "draw", "app": "demo" }`;
    expect((await ada.post("/api/jobs", same, KEY)).text).toBe(first.text);
  });

  it("is the caller's own, and the endpoint's own", async () => {
    const ada = await signInWithCredits("demo", "ada@example.com");
    const bob = await signInWithCredits("demo", "bob@example.com");
    const first = await ada.post("/api/jobs", JOB, KEY);
    const second = await bob.post("/api/jobs", JOB, KEY);
    expect(second.body.job_id).not.toBe(first.body.job_id);
    const { job_id } = first.body;
    expect((await ada.post("/api/jobs/fail", { job_id }, KEY)).status).toBe(200);
  });

  it("of a refused request may be tried again", async () => {
    const ada = await signIn();
    expect((await ada.post("/api/jobs", JOB, KEY)).status).toBe(402);
    await ada.get("/api/wallet?app=demo");
    expect((await ada.post("/api/jobs", JOB, KEY)).status).toBe(200);
  });

  it("is kept for 24 hours, then forgotten, and cleaned away within two days", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    const day_ms = 24 * 60 * 60 * 1000;
    const start_ms = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start_ms + day_ms - 60_000 });
    const within = await (await signIn()).post("/api/jobs", JOB, KEY);
    expect(within.body.job_id).toBe(first.body.job_id);
    vi.setSystemTime(start_ms + day_ms + 1_000);
    const after = await (await signIn()).post("/api/jobs", JOB, KEY);
    expect(after.body.job_id).not.toBe(first.body.job_id);
    // Days that are over go whole, when the last answer of the day is out of reach.
    vi.setSystemTime(start_ms + 3 * day_ms);
    await fireAlarm(ada.identity_id);
    expect(await query(ada.identity_id, "select * from idempotency")).toEqual([]);
  });

  it("is cleaned away in bounded portions where very many are due", async () => {
    const ada = await signInWithCredits();
    await query(
      ada.identity_id,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 11000)
       insert into idempotency (day, endpoint, key, fingerprint, answer_json, created_at_ms)
       select 0, 'jobs.create', 'key-' || i, '', '{}', 0 from n`,
    );
    const left = async () =>
      (await query<{ n: number }>(ada.identity_id, "select count(*) as n from idempotency"))[0]?.n;
    // An hour ahead, so that no alarm comes due by itself between two looks.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60 * 60 * 1000 });
    const counts: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      await fireAlarm(ada.identity_id);
      counts.push(await left());
    }
    expect(counts).toEqual([6_000, 1_000, 0]);
  });

  it("forgotten but not yet cleaned away, is used anew", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 60 * 60 * 1000 });
    const later = await signIn();
    const second = await later.post("/api/jobs", { ...JOB, cost_estimate: 11 }, KEY);
    expect(second.status).toBe(200);
    expect(second.body.job_id).not.toBe(first.body.job_id);
  });

  it.each(["", " ", "with space", "x".repeat(256)])("refuses the key %j", async (key) => {
    const ada = await signInWithCredits();
    const answer = await ada.post("/api/jobs", JOB, { "Idempotency-Key": key });
    expect(answer.status).toBe(400);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
  });
});
