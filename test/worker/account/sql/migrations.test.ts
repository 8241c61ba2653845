import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { signInWithCredits } from "../../support/passbook.ts";
import { expectInvariants } from "../invariants.ts";
import { evict, query } from "../../support/account_object.ts";

interface TableRow {
  readonly name: string;
  readonly sql: string;
}

const TABLES = `select name, sql from sqlite_master where type = 'table'
  and name not like 'sqlite_%' and name not like '\\_cf%' escape '\\' and name not like '%migrations%'
  and sql is not null order by name`;

/** Tables with a text key but without WITHOUT ROWID: SQLite writes each of their rows twice, and each write costs. */
function writtenTwice(tables: readonly TableRow[]): readonly string[] {
  const both = /without rowid|integer primary key/i;
  return tables.filter(({ sql }) => !both.test(sql)).map(({ name }) => name);
}

describe("the account's migration", () => {
  it("an account is unchanged when its object wakes again", async () => {
    const ada = await signInWithCredits();
    await evict(ada.identity_id);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });

  it("an account's text-keyed tables have no hidden index", async () => {
    const ada = await signInWithCredits();
    const tables = await query<TableRow>(ada.identity_id, TABLES);
    expect(tables.length).toBeGreaterThan(5);
    expect(writtenTwice(tables)).toEqual([]);
  });
});

it.each([
  ["read model", () => env.DB],
  ["directory", () => env.DIRECTORY],
] as const)("text-keyed tables of the %s have no hidden index", async (_, databaseOf) => {
  const { results } = await databaseOf().prepare(TABLES).all<TableRow>();
  expect(results.length).toBeGreaterThan(2);
  expect(writtenTwice(results)).toEqual([]);
});
