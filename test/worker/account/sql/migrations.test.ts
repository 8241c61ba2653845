import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openBrowser } from "../../support/browser.ts";
import { send, signIn, signInWithCredits } from "../../support/passbook.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
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
  /** Settings under which every account is one that was never used, and whose migration fails. */
  async function withoutMigration(more: object = {}) {
    const account = env.ACCOUNT.getByName(`user_${crypto.randomUUID()}`);
    const run = (sql: string) =>
      runInDurableObject(account, (_, state) => void state.storage.sql.exec(sql));
    // The migration creates a table of this name, and fails.
    await run("create table entries (wrong text)");
    const settings = { ...more, ACCOUNT: { getByName: () => account } };
    return { settings, mend: () => run("drop table entries") };
  }

  it("a first use of an account whose migration fails is 503, and works once the migration does", async () => {
    const { token, cookies } = await signIn();
    const { settings, mend } = await withoutMigration();
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ app: "demo", action: "draw", cost_estimate: 1 });
    for (const answer of [
      await send("GET", "/api/wallet?app=demo", { headers }, settings),
      await send("POST", "/api/jobs", { headers, body }, settings),
      await send("GET", "/api/events", { headers }, settings),
      await send("GET", "/api/tokens", { headers }, settings),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
      expect(answer.headers.get("Retry-After")).toBe("5");
    }
    const page = { Cookie: cookies, Accept: "text/html" };
    expect((await send("GET", "/account", { headers: page }, settings)).status).toBe(503);
    await mend();
    const opened = await send("GET", "/api/wallet?app=demo", { headers }, settings);
    expect(opened.body.account.credits).toBe(100);
  });

  it("a sign-in that is the first use of an account whose migration fails is 503", async () => {
    const acme = openProviderDouble("acme");
    const { settings } = await withoutMigration(connect(acme));
    const browser = openBrowser(settings);
    const back = acme.approve(await browser.start("acme"), { sub: "subject-of-ada" });
    const answer = await browser.get(back.href);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("Retry-After")).toBe("5");
  });

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
