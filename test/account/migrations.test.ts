import { env } from "cloudflare:workers";
import { applyD1Migrations, reset, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import migrations from "../../drizzle/account/migrations.js";
import { FIRST_POLICY } from "../../src/domain/app_policy.ts";
import { signInWithCredits } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";
import { evict, query } from "../support/account_object.ts";

interface TableRow {
  readonly name: string;
  readonly sql: string;
}

const TABLES = `select name, sql from sqlite_master where type in ('table', 'index', 'view')
  and name not like 'sqlite_%' and name not like '\\_cf%' escape '\\' and name not like '%migrations%'
  and sql is not null order by name`;

function entries(): { readonly tag: string; readonly when: number }[] {
  return (migrations as { journal: { entries: { tag: string; when: number }[] } }).journal.entries;
}

const REQUEST = {
  app_slug: "demo",
  policy: FIRST_POLICY,
  action: "draw",
  cost_estimate: 0,
  ttl_seconds: 60,
  metadata_json: null,
};
const ENDING = { job_id: "a-job", actual_cost: 7, metadata_json: null };

/** Wakes an object with one more migration at a time; `afterStep` sees it in between. */
async function migrateStepByStep(
  identity_id: string,
  afterStep: (count: number) => Promise<void> = async () => undefined,
): Promise<void> {
  const all = [...entries()];
  try {
    for (let count = 1; count <= all.length; count += 1) {
      entries().splice(0, entries().length, ...all.slice(0, count));
      await runInDurableObject(env.ACCOUNT.getByName(identity_id), () => undefined);
      await afterStep(count);
      await evict(identity_id);
    }
  } finally {
    entries().splice(0, entries().length, ...all);
  }
}

describe("the account's migrations", () => {
  it("each from its predecessor give the schema that all at once give", async () => {
    const whole = await signInWithCredits("demo", "whole@example.com");
    const expected = await query<TableRow>(whole.identity_id, TABLES);

    await migrateStepByStep("step by step");
    expect(await query<TableRow>("step by step", TABLES)).toEqual(expected);
  });

  it("count the jobs that were started before they were counted", async () => {
    await migrateStepByStep("older", async (count) => {
      if (count !== 1) return;
      for (const [id, status] of [
        ["a", "completed"],
        ["b", "started"],
        ["c", "started"],
      ]) {
        await query(
          "older",
          `insert into jobs values ('${id}', '${status}', 'demo', 'draw', 1, 0, null, 0, 0, 9e15, 1, null)`,
        );
      }
      await query(
        "older",
        "insert into entries values (1, 'reserve', -1, 99, 'c', 'demo', 0, 'b', 0)",
      );
    });
    expect(await query("older", "select open_jobs from entries")).toEqual([{ open_jobs: 2 }]);
  });

  it("tell of each older line what was held then, and find what is still started", async () => {
    await migrateStepByStep("older", async (count) => {
      if (count !== 3) return;
      for (const [id, status, reserved] of [
        ["a", "completed", 10],
        ["b", "failed", 20],
        ["c", "completed", 30],
        ["d", "started", 40],
        ["e", "failed", 50],
      ]) {
        await query(
          "older",
          `insert into jobs values ('${id}', '${status}', 'demo', 'draw', ${reserved}, 0, null, 0, 0, 9e15,
             1, null, null)`,
        );
      }
      const lines = [
        ["open", 0, null, 0],
        ["grant", 500, null, 0],
        ["reserve", -10, "a", 10],
        ["reserve", -20, "b", 30],
        ["reserve", -30, "c", 60],
        ["settle", -5, "a", 50],
        // A failure whose reserve is kept, a time-out, and the late settlement after it.
        ["settle", 0, "b", 30],
        ["refund", 30, "c", 0],
        ["reserve", -40, "d", 40],
        ["settle", -7, "c", 40],
        ["reserve", -50, "e", 90],
        ["refund", 50, "e", 40],
      ] as const;
      for (const [index, [kind, amount, job_id]] of lines.entries()) {
        const job = job_id === null ? "null" : `'${job_id}'`;
        await query(
          "older",
          `insert into entries values (${index + 1}, '${kind}', ${amount}, 0, ${job}, 'demo', 0, null, 0)`,
        );
      }
    });
    const held = await query<{ reserved_after: number }>(
      "older",
      "select reserved_after from entries order by line",
    );
    expect(held.map((line) => line.reserved_after)).toEqual([
      0, 0, 10, 30, 60, 50, 30, 0, 40, 40, 90, 40,
    ]);
    expect(await query("older", "select job_id from long_jobs")).toEqual([{ job_id: "d" }]);
    const newest = await query(
      "older",
      "select recent_after_job_id, recent_jobs from entries where line = 12",
    );
    expect(newest).toEqual([{ recent_after_job_id: "e", recent_jobs: 0 }]);
  });

  it("keep answers that an earlier release kept for retries, each in a row of its own", async () => {
    const job = { id: "a-job", status: "completed", app_slug: "demo" };
    const kept = {
      "jobs.create": { job_id: "a-job", credits: 90 },
      "jobs.complete": { job, credits: 93 },
    };
    const row = (endpoint: keyof typeof kept) =>
      `values ('${endpoint}', 'a-key', 'the-same', null, '${JSON.stringify(kept[endpoint])}', ${Date.now()})`;
    await migrateStepByStep("older", async (count) => {
      if (count !== 13) return;
      await query("older", `insert into kept_answers ${row("jobs.create")}`);
      await query("older", `insert into kept_answers_before ${row("jobs.complete")}`);
    });
    const [account, session] = [env.ACCOUNT.getByName("older"), { personal_token_id: null }];
    const ask = (key: string, fingerprint: string) =>
      Promise.all([
        account.createJob(session, REQUEST, { key, fingerprint }),
        account.completeJob(session, ENDING, { key, fingerprint }),
      ]);
    expect(await ask("a-key", "the-same")).toEqual([
      { ok: true, value: { value: kept["jobs.create"], replayed: true } },
      { ok: true, value: { value: kept["jobs.complete"], replayed: true } },
    ]);
    const reused = { ok: false, refusal: { code: "idempotency_key_reused" } };
    expect(await ask("a-key", "another")).toEqual([reused, reused]);
    expect((await ask("new-key", "the-same"))[0]).toMatchObject({ value: { replayed: false } });
  });

  it("leave an account as it was when its object wakes again", async () => {
    const ada = await signInWithCredits();
    await evict(ada.identity_id);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("make one written row of one logical row: text-keyed tables have no hidden index", async () => {
    const ada = await signInWithCredits();
    const tables = await query<TableRow>(ada.identity_id, TABLES);
    const hidden = tables.filter(
      ({ sql }) =>
        /^create table/i.test(sql) &&
        !/integer primary key/i.test(sql) &&
        !/without rowid|integer primary key/i.test(sql),
    );
    expect(hidden).toEqual([]);
  });
});

describe.each([
  ["read model", () => env.DB, () => env.TEST_D1_MIGRATIONS],
  ["directory", () => env.DIRECTORY, () => env.TEST_DIRECTORY_MIGRATIONS],
] as const)("the migrations of D1, %s", (_, databaseOf, migrationsOf) => {
  async function schema(): Promise<unknown[]> {
    return (await databaseOf().prepare(TABLES).all()).results;
  }

  it("each from its predecessor give the schema that all at once give", async () => {
    const expected = await schema();
    await reset();
    for (const migration of migrationsOf()) await applyD1Migrations(databaseOf(), [migration]);
    expect(await schema()).toEqual(expected);
  });

  it("keep the balances that an older read model showed, until its objects say theirs", async () => {
    await reset();
    const [first, ...rest] = env.TEST_D1_MIGRATIONS;
    if (first === undefined) expect.fail("no migrations");
    await applyD1Migrations(env.DB, [first]);
    await env.DB.exec(`insert into accounts values ('x', 'ada', 'free', 5, 1);
insert into grants values ('x', 'demo', 100, 5);
insert into jobs values ('x', 'a', 'demo', 'draw', 'completed', 10, 7, null, 0, 0, 0, '{}', 4);
insert into jobs values ('x', 'b', 'demo', 'draw', 'started', 30, 0, null, 0, 0, 0, null, 5);`);
    await applyD1Migrations(env.DB, rest);
    expect(await env.DB.prepare("select * from accounts").first()).toEqual({
      id: "x",
      days_json: "[]",
      identity_id: "ada",
      plan: "free",
      created_at_ms: 5,
      line: 0,
      credits: 63,
      reserved: 30,
      updated_at_ms: 5,
    });
    expect((await env.DB.prepare("select id, line from jobs order by id").all()).results).toEqual([
      { id: "a", line: 4 },
      { id: "b", line: 5 },
    ]);
  });

  it("leave no text-keyed table with a hidden index", async () => {
    const { results } = await databaseOf().prepare(TABLES).all<TableRow>();
    const hidden = results.filter(
      ({ sql }) => /^create table/i.test(sql) && !/without rowid|integer primary key/i.test(sql),
    );
    expect(hidden).toEqual([]);
  });
});
