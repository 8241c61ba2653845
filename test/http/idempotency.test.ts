import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { DAY_MS } from "../../src/domain/day.ts";
import {
  IDEMPOTENCY_DROP_LINES,
  IDEMPOTENCY_REACH_MS,
  IDEMPOTENCY_TABLE_LINES,
} from "../../src/domain/limits.ts";
import { dump, evict, fireAlarm, query } from "../support/account_object.ts";
import { BASE_URL, send, signIn, signInWithCredits } from "../support/passbook.ts";
import worker from "../../src/worker.ts";
import { signInOperator } from "./admin/operators.ts";

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

  it("of an end that comes after the job's time ran out gives the same again", async () => {
    await signInWithCredits();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const created = await (await signIn()).post("/api/jobs", { ...JOB, ttl_seconds: 60 }, KEY);
    vi.setSystemTime(Date.now() + 61_000);
    const ada = await signIn();
    const end = { job_id: created.body.job_id, actual_cost: 7 };
    const first = await ada.post("/api/jobs/complete", end, KEY);
    expect(first.body).toMatchObject({ job: { status: "completed" }, credits: 93 });
    await evict(ada.identity_id);
    expect((await ada.post("/api/jobs/complete", end, KEY)).text).toBe(first.text);
    // The line that the time-out wrote on the way is nobody's answer.
    const lines = await query<{ kind: string; kept_key: string | null }>(
      ada.identity_id,
      "select kind, kept_key from entries where job_id is not null order by line",
    );
    expect(lines.map(({ kind, kept_key }) => [kind, kept_key !== null])).toEqual([
      ["reserve", true],
      ["refund", false],
      ["settle", true],
    ]);
  });

  it("is told to nobody, in no other answer, export, stream or table of D1", async () => {
    const operator = await signInOperator();
    const ada = await signInWithCredits();
    const headers = { Upgrade: "websocket", Authorization: `Bearer ${ada.token}` };
    const watch = new Request(new URL("/api/events", BASE_URL), { headers });
    const streamed = await worker.fetch(watch, env, createExecutionContext());
    const said: unknown[] = [];
    streamed.webSocket?.addEventListener("message", ({ data }) => said.push(data));
    streamed.webSocket?.accept();
    onTestFinished(() => streamed.webSocket?.close());
    const { job_id } = (await ada.post("/api/jobs", JOB, KEY)).body;
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 }, KEY);
    await vi.waitFor(() => expect(said).toHaveLength(3));
    await fireAlarm(ada.identity_id);
    const texts = [JSON.stringify(said)];
    const pages = ["", "/jobs", "/statement", "/statement.csv", "/data.json"];
    for (const page of pages.map((it) => `/account${it}`)) {
      const shown = await send("GET", page, { headers: { Cookie: ada.cookies } });
      expect(shown.status).toBe(200);
      texts.push(shown.text);
    }
    const own = ["/api/wallet", "/api/ledger", "/api/jobs", `/api/jobs/${job_id}`];
    for (const path of own) texts.push((await ada.get(path)).text);
    const theirs = `/api/admin/accounts/${ada.identity_id}`;
    for (const path of [theirs, `${theirs}/ledger`, `${theirs}/jobs`]) {
      texts.push((await operator.send("GET", path)).text);
    }
    for (const table of ["accounts", "grants", "jobs", "daily_totals"]) {
      texts.push(JSON.stringify((await env.DB.prepare(`select * from ${table}`).all()).results));
    }
    expect(texts.join()).toContain(job_id);
    expect(texts.filter((text) => /order-66|kept_key/.test(text))).toEqual([]);
  });

  it("of a refused request may be tried again", async () => {
    const ada = await signIn();
    expect((await ada.post("/api/jobs", JOB, KEY)).status).toBe(402);
    await ada.get("/api/wallet?app=demo");
    expect((await ada.post("/api/jobs", JOB, KEY)).status).toBe(200);
  });

  it("is kept for 24 hours, then forgotten", async () => {
    const ada = await signInWithCredits();
    const first = await ada.post("/api/jobs", JOB, KEY);
    const start_ms = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start_ms + DAY_MS - 60_000 });
    const within = await (await signIn()).post("/api/jobs", JOB, KEY);
    expect(within.body.job_id).toBe(first.body.job_id);
    vi.setSystemTime(start_ms + DAY_MS + 1_000);
    const after = await (await signIn()).post("/api/jobs", JOB, KEY);
    expect(after.body.job_id).not.toBe(first.body.job_id);
    expect((await (await signIn()).post("/api/jobs", JOB, KEY)).body).toEqual(after.body);
  });

  describe("kept in a row, as that of a batch,", () => {
    const tables = (identity_id: string) =>
      Promise.all(
        ["kept_answers", "kept_answers_before"].map(async (table) => {
          const rows = await query<{ key: string }>(identity_id, `select key from ${table}`);
          return rows.map(({ key }) => key);
        }),
      );
    const keep = async (key: string) => {
      const ada = await signIn();
      const answer = await ada.post("/api/jobs/batch", { jobs: [JOB] }, { "Idempotency-Key": key });
      return answer.body.results?.[0].job_id;
    };
    /** As if so many lines had been written since the tables last changed places. */
    const grow = (identity_id: string) =>
      query(identity_id, `update account set kept_since_line = -${IDEMPOTENCY_TABLE_LINES}`);

    it("is kept for 24 hours at least, while tables change places", async () => {
      const { identity_id } = await signInWithCredits();
      const start_ms = Date.now();
      vi.useFakeTimers({ toFake: ["Date"], now: start_ms });
      const first = await keep("first");
      await grow(identity_id);
      vi.setSystemTime(start_ms + DAY_MS - 1_000);
      const second = await keep("second");
      expect(await tables(identity_id)).toEqual([["second"], ["first"]]);
      expect(await keep("first")).toBe(first);
      await grow(identity_id);
      vi.setSystemTime(start_ms + DAY_MS - 1_000 + IDEMPOTENCY_REACH_MS - 1);
      const third = await keep("third");
      expect(await tables(identity_id)).toEqual([["second", "third"], ["first"]]);
      vi.setSystemTime(start_ms + DAY_MS - 1_000 + IDEMPOTENCY_REACH_MS);
      await keep("fourth");
      expect(await tables(identity_id)).toEqual([["fourth"], ["second", "third"]]);
      expect(await keep("third")).toBe(third);
      expect(await keep("second")).not.toBe(second);
    });

    it("is answered for a day though the tables change places by a clock that is ahead", async () => {
      const { identity_id } = await signInWithCredits();
      const start_ms = Date.now();
      vi.useFakeTimers({ toFake: ["Date"], now: start_ms });
      await grow(identity_id);
      await keep("first");
      vi.setSystemTime(start_ms + IDEMPOTENCY_REACH_MS - 1_000);
      const kept = await keep("kept");
      vi.setSystemTime(start_ms + IDEMPOTENCY_REACH_MS);
      await grow(identity_id);
      await keep("second");
      vi.setSystemTime(start_ms + IDEMPOTENCY_REACH_MS + DAY_MS + 28_000);
      await grow(identity_id);
      await keep("third");
      vi.setSystemTime(start_ms + IDEMPOTENCY_REACH_MS + DAY_MS - 2_000);
      expect(await keep("kept")).toBe(kept);
    });

    it("stays where it is in an account of few lines", async () => {
      const { identity_id } = await signInWithCredits();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
      await keep("first");
      vi.setSystemTime(Date.now() + 40 * DAY_MS);
      await keep("second");
      expect(await tables(identity_id)).toEqual([["first", "second"], []]);
    });

    it("is emptied in portions before its table goes, where very many are in it", async () => {
      const { identity_id } = await signInWithCredits();
      const start_ms = Date.now();
      vi.useFakeTimers({ toFake: ["Date"], now: start_ms });
      await keep("first");
      await query(identity_id, `update account set kept_since_line = -${IDEMPOTENCY_DROP_LINES}`);
      vi.setSystemTime(start_ms + DAY_MS);
      await keep("second");
      await query(
        identity_id,
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < 10999)
         insert into kept_answers_before select 'x', i, '', null, '{}', 0 from n`,
      );
      await grow(identity_id);
      const left = async () => (await tables(identity_id))[1]?.length;
      await fireAlarm(identity_id);
      expect(await left()).toBe(11_000);
      vi.setSystemTime(start_ms + DAY_MS + IDEMPOTENCY_REACH_MS);
      await keep("third");
      expect((await tables(identity_id))[0]).toEqual(["second", "third"]);
      const counts: unknown[] = [];
      for (let round = 0; round < 3; round += 1) {
        await fireAlarm(identity_id);
        counts.push(await left());
      }
      expect(counts).toEqual([6_000, 1_000, 0]);
      await keep("fourth");
      expect(await tables(identity_id)).toEqual([["fourth"], ["second", "third"]]);
    });

    it("leaves the tables as they were where its transaction fails", async () => {
      const { identity_id } = await signInWithCredits();
      vi.spyOn(console, "error").mockReturnValue();
      const first = await keep("first");
      await grow(identity_id);
      const before = await dump(identity_id);
      const trigger = "before update on account begin select raise(abort, 'no'); end";
      await query(identity_id, `create trigger broken ${trigger}`);
      await keep("second");
      await query(identity_id, "drop trigger broken");
      expect(await dump(identity_id)).toBe(before);
      expect(await keep("first")).toBe(first);
    });

    it("goes to a table like the one that the migrations made", async () => {
      const { identity_id } = await signInWithCredits();
      const shape = () =>
        query(
          identity_id,
          "select name, sql from sqlite_master where name like 'kept_answers%' order by name",
        );
      const shapes = await shape();
      await grow(identity_id);
      await keep("first");
      expect(await tables(identity_id)).toEqual([["first"], []]);
      const quoted = (rows: unknown) => JSON.stringify(rows).replaceAll(/`|\\"/g, "");
      expect(quoted(await shape())).toBe(quoted(shapes));
    });
  });

  it("forgotten, is used anew", async () => {
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
