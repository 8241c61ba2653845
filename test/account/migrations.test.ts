import { env } from "cloudflare:workers";
import { applyD1Migrations, reset, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import migrations from "../../drizzle/account/migrations.js";
import { signInWithCredits } from "../http/passbook.ts";
import { expectInvariants } from "./invariants.ts";
import { evict, query } from "./object.ts";

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

describe("the account's migrations", () => {
  it("each from its predecessor give the schema that all at once give", async () => {
    const whole = await signInWithCredits("demo", "whole@example.com");
    const expected = await query<TableRow>(whole.identity_id, TABLES);

    // One step at a time: the object sees only the migrations up to this one, then is evicted.
    const all = [...entries()];
    try {
      for (let count = 1; count <= all.length; count += 1) {
        entries().splice(0, entries().length, ...all.slice(0, count));
        await runInDurableObject(env.ACCOUNT.getByName("step by step"), () => undefined);
        await evict("step by step");
      }
    } finally {
      entries().splice(0, entries().length, ...all);
    }
    expect(await query<TableRow>("step by step", TABLES)).toEqual(expected);
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
        !/without rowid/i.test(sql),
    );
    expect(hidden).toEqual([]);
  });
});

describe("D1's migrations", () => {
  async function schema(): Promise<unknown[]> {
    return (await env.DB.prepare(TABLES).all()).results;
  }

  it("each from its predecessor give the schema that all at once give", async () => {
    const expected = await schema();
    await reset();
    for (const migration of env.TEST_D1_MIGRATIONS) await applyD1Migrations(env.DB, [migration]);
    expect(await schema()).toEqual(expected);
  });

  it("leave no text-keyed table with a hidden index", async () => {
    const { results } = await env.DB.prepare(TABLES).all<TableRow>();
    const hidden = results.filter(
      ({ sql }) => /^create table/i.test(sql) && !/without rowid/i.test(sql),
    );
    expect(hidden).toEqual([]);
  });
});
