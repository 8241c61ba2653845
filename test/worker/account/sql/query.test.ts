import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/durable-sqlite";
import { unionAll } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { atMost, value } from "../../../../src/account/sql/parameters.ts";
import { account, entries, allowances } from "../../../../src/account/sql/schema.ts";
import { query, type AccountDatabase, type Builder } from "../../../../src/account/sql/query.ts";
import { signIn, signInWithCredits } from "../../support/passbook.ts";

function inAccount<Value>(identity_id: string, work: (database: AccountDatabase) => Value) {
  return runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, { storage }) =>
    work(drizzle(storage)),
  );
}

describe("a prepared query", () => {
  it.each([
    ["booleans and nulls", (database: Builder) => database.select().from(account)],
    ["many rows", (database: Builder) => database.select().from(entries)],
    ["no rows", (database: Builder) => database.select().from(allowances)],
    [
      "columns under other names",
      (database: Builder) => database.select({ credits: entries.balance_after }).from(entries),
    ],
    [
      "two selects in one",
      (database: Builder) =>
        unionAll(database.select().from(account), database.select().from(account)),
    ],
  ])("a prepared query returns %s as Drizzle does", async (_, build) => {
    const bind = query<ReturnType<ReturnType<typeof build>["prepare"]>>(build);
    const { identity_id } = await signInWithCredits();
    await inAccount(identity_id, (database) => {
      const own = build(database).prepare();
      expect(bind(database).all()).toEqual(own.all());
      expect(bind(database).get()).toEqual(own.get());
      expect(bind(database).values()).toEqual(own.values());
      expect(bind(database).getQuery()).toEqual(own.getQuery());
    });
  });

  it("a prepared query stores values as their columns do and returns them", async () => {
    const none = {
      app_slug: null,
      signin_method: null,
      app_slugs_json: null,
      last_used_at_ms: null,
      revoked_at_ms: null,
      parent_id: null,
      parent_family_id: null,
      client_id: null,
      client_host: null,
      resource: null,
    };
    const approval = { session_id: "session", ends_with_session: true };
    const use = { caps_json: "[]", stored_bytes: 0 };
    const times = { created_at_ms: 1, expires_at_ms: 2 };
    const is = { label: "token", kind: "device", path: "first", scopes: "read upstream" } as const;
    const given = { ...none, ...approval, ...use, ...times, ...is, id: "first" };
    const insert = query((database) =>
      database
        .insert(allowances)
        .values({ ...given, id: value("id") })
        .returning(),
    );
    const { identity_id } = await signInWithCredits();
    await inAccount(identity_id, (database) => {
      expect(insert(database).get({ id: "first" })).toEqual(given);
      expect(insert(database).all({ id: "second" })).toEqual([{ ...given, id: "second" }]);
      expect(database.select().from(allowances).all()).toHaveLength(2);
      expect(() => insert(database).get()).toThrow("id");
    });
  });

  it.each([
    ["a number", atMost(1), /limit 1$/],
    ["a parameter", atMost("rows"), /limit \? \+ 0$/],
  ])(
    "a limit given as %s bounds a query's rows, without a bare parameter in its SQL",
    async (_, bound, form) => {
      const some = query((database) => database.select().from(entries).limit(bound));
      const { identity_id } = await signInWithCredits();
      await inAccount(identity_id, (database) => {
        expect(database.select().from(entries).all().length).toBeGreaterThan(1);
        expect(some(database).all({ rows: 1 })).toHaveLength(1);
        // If the limit is a bare parameter, SQLite plans the query again at each run.
        expect(some(database).getQuery().sql).toMatch(form);
      });
    },
  );

  it("a prepared query is built once, and runs where it was bound, even if it is bound elsewhere later", async () => {
    let built = 0;
    const readIdentity = query((database) => {
      built += 1;
      return database.select({ identity_id: account.identity_id }).from(account);
    });
    const people = [await signIn("ada@example.com"), await signIn("bob@example.com")];
    for (const person of people) await person.get("/api/wallet");
    for (const { identity_id } of people) {
      await inAccount(identity_id, (database) => {
        const bound = readIdentity(database);
        readIdentity({ $client: {} as DurableObjectStorage });
        expect(bound.get()).toEqual({ identity_id });
      });
    }
    expect(built).toBe(1);
  });

  it("a query with joined tables is refused, because its rows would be mapped differently", async () => {
    const joined = query((database) =>
      database.select().from(entries).leftJoin(account, eq(account.singleton, entries.line)),
    );
    const { identity_id } = await signInWithCredits();
    await inAccount(identity_id, (database) => {
      expect(() => joined(database)).toThrow("a query's rows have no parts");
    });
  });

  it("a query that runs while it is built fails and changes nothing", async () => {
    const runsEarly = query((database) => {
      database.delete(entries).run();
      return database.select().from(entries);
    });
    const { identity_id } = await signInWithCredits();
    await inAccount(identity_id, (database) => {
      expect(() => runsEarly(database)).toThrow(TypeError);
      expect(database.select().from(entries).all()).not.toEqual([]);
    });
  });
});
