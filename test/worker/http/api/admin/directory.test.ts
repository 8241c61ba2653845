/** The daily copy of the directory, and its rebuild after a loss. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { upkeepOf } from "../../../../../src/services.ts";
import { keysIn, loseDirectory } from "../../../support/lost_directory.ts";
import { environmentWith, send, signIn, signInWithCredits } from "../../../support/passbook.ts";
import { operatorOnPages, SETTINGS, signInOperator, type Operator } from "./operators.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const REDIRECTS = ["https://sketch.example.com/callback"];

const runSchedule = () => upkeepOf(environmentWith(SETTINGS))();

const passDays = (days: number) =>
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + days * DAY_MS });

async function registerEverything(olga: Operator) {
  const sketch = "/api/admin/apps/sketch";
  const saved = [
    await olga.send("PUT", sketch, {
      name: "Sketch",
      starter_credits: 7,
      origins: [],
      daily_starter_budget: null,
    }),
    await olga.send("PUT", "/api/admin/plans/gold", {
      name: "Gold",
      recurring: [{ credits: 10, every: "month", rollover_max: 0, app_slugs: null }],
    }),
    await olga.send("PUT", `${sketch}/clients/web`, {
      name: "Web",
      redirect_uris: REDIRECTS,
      public: false,
    }),
    await olga.send("PUT", `${sketch}/resources/mcp`, {
      uri: "https://mcp.sketch.example.com/mcp",
      scopes: [],
    }),
    await olga.send("PUT", `${sketch}/webhooks/main`, {
      url: "https://sketch.example.com/hook",
      events: ["job.completed"],
    }),
  ];
  for (const { status, text } of saved) expect(status, text).toBeLessThan(300);
  const { body } = await olga.send("POST", `${sketch}/keys`, { label: "server" });
  return body.key as string;
}

async function copy(olga: Operator) {
  let cursor: string | undefined;
  for (;;) {
    const { status, body } = await olga.send("POST", "/api/admin/directory/copy", { cursor });
    expect(status).toBe(200);
    if (body.next_cursor === undefined) return body;
    cursor = body.next_cursor;
  }
}

/** Rebuilds, and sums the rows by table. */
async function rebuild(olga: Operator, wanted: { readonly copy?: string } = {}) {
  const restored: Record<string, number> = {};
  const decide: unknown[] = [];
  let cursor: string | undefined;
  for (;;) {
    const body = { cursor, ...wanted };
    const answer = await olga.send("POST", "/api/admin/directory/rebuild", body);
    expect(answer.status).toBe(200);
    const { table, restored: rows, next_cursor } = answer.body;
    restored[table] = (restored[table] ?? 0) + rows;
    decide.push(...answer.body.decide);
    if (next_cursor === undefined) return { restored, decide, copy: answer.body.copy };
    cursor = next_cursor;
  }
}

const rowsOf = async (table: string) =>
  (await env.DIRECTORY.prepare(`select * from ${table}`).run()).results;

/** The operator signs in to the empty directory. */
const comeBack = async () => operatorOnPages(await signIn("olga@example.com", SETTINGS), SETTINGS);

describe("the rebuild of a lost directory", () => {
  it("a rebuild gives back apps with their keys, clients, resources, webhooks, plans and the audit log, once", async () => {
    const olga = await signInOperator();
    const key = await registerEverything(olga);
    const tables = ["apps", "app_keys", "oauth_clients", "resources", "webhooks", "plans"];
    const before = await Promise.all(tables.map(rowsOf));
    expect((await copy(olga)).rows).toBeGreaterThan(6);
    const audited = (await rowsOf("audit")).length;
    await loseDirectory();

    const back = await comeBack();
    expect(back.person.identity_id).toBe(olga.person.identity_id);
    const first = await rebuild(back);
    expect(await Promise.all(tables.map(rowsOf))).toEqual(before);
    expect(first).toMatchObject({ decide: [], restored: { apps: 1, app_keys: 1, webhooks: 1 } });
    // The record of the copy's own end is younger than the copy.
    expect(first.restored["audit"]).toBeGreaterThanOrEqual(audited - 1);
    const again = await rebuild(back);
    expect(Object.values(again.restored).every((rows) => rows === 0)).toBe(true);
    expect(again.decide).toEqual([]);

    const headers = { Authorization: `Bearer ${key}` };
    expect((await send("GET", "/api/jobs", { headers }, SETTINGS)).status).toBe(200);
    const { entries } = (await back.get("/api/admin/audit?act=app.save")).body;
    expect(entries).toMatchObject([{ subject: "sketch", actor: olga.person.identity_id }]);
  });

  it("the schedule's copy of the new directory is not what a rebuild takes", async () => {
    const olga = await signInOperator();
    await registerEverything(olga);
    await copy(olga);
    await loseDirectory();
    await env.DIRECTORY.prepare("delete from directory_copy").run();
    passDays(2);
    await runSchedule();
    const back = await comeBack();
    expect((await rebuild(back)).restored).toMatchObject({ apps: 1, app_keys: 1 });
    // After a copy by an operator, the schedule goes on.
    const copies = async () => (await keysIn("directory/v1/complete/")).length;
    await copy(back);
    const known = await copies();
    passDays(2);
    await runSchedule();
    expect(await copies()).toBe(known + 1);
  });

  it("a rebuild gives everybody back who has not signed in yet, and ends the looks into the archive", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const bob = await signIn("bob@example.com");
    await loseDirectory();
    const back = await comeBack();
    // Somebody signs in while the rebuild is under way.
    expect((await signIn("bob@example.com")).identity_id).toBe(bob.identity_id);
    const { restored, copy: none } = await rebuild(back);
    expect(none).toBeNull();
    expect(restored["users"]).toBe(1);
    const read = vi.spyOn(Object.getPrototypeOf(env.ARCHIVE), "list");
    expect((await signIn()).identity_id).toBe(ada.identity_id);
    expect((await signIn("cleo@example.com")).identity_id).not.toBe(ada.identity_id);
    expect(read).not.toHaveBeenCalled();
    expect((await rowsOf("users")).length).toBe(4);
    expect(olga.person.identity_id).toBe(back.person.identity_id);
  });

  it("a record that was saved in the new directory stays, and is listed for a person to decide", async () => {
    const olga = await signInOperator();
    await registerEverything(olga);
    await copy(olga);
    await loseDirectory();
    const back = await comeBack();
    const app = {
      name: "Sketch again",
      starter_credits: 1,
      origins: [],
      daily_starter_budget: null,
    };
    expect((await back.send("PUT", "/api/admin/apps/sketch", app)).status).toBe(200);
    const { decide } = await rebuild(back);
    expect(decide).toEqual([{ why: "newer_record", subject: "apps sketch" }]);
    expect(await rowsOf("apps")).toMatchObject([{ name: "Sketch again" }]);
  });

  it("a record that was deleted in the new directory stays deleted when the rebuild is repeated", async () => {
    const olga = await signInOperator();
    await registerEverything(olga);
    await copy(olga);
    await loseDirectory();
    const back = await comeBack();
    await rebuild(back);
    const sketch = "/api/admin/apps/sketch";
    for (const path of ["clients/web", "resources/mcp", "webhooks/main"]) {
      expect((await back.send("DELETE", `${sketch}/${path}`)).status).toBe(200);
    }
    expect((await back.send("DELETE", "/api/admin/plans/gold")).status).toBe(200);
    const { restored } = await rebuild(back);
    expect(restored).toMatchObject({ oauth_clients: 0, resources: 0, webhooks: 0, plans: 0 });
    for (const path of [`${sketch}/clients`, `${sketch}/webhooks`, "/api/admin/plans"]) {
      expect((await back.get(path)).text).not.toMatch(/"id":"(web|main|gold)"/);
    }
    expect(await rowsOf("apps")).toHaveLength(1);
  });

  it("a person who was deleted after the copy stays a pseudonym in the audit log", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const path = `/api/admin/accounts/${ada.identity_id}/credits`;
    const headers = { "Idempotency-Key": "gift" };
    const gift = { amount: 5, reason: "a gift to Ada" };
    expect((await olga.send("POST", path, gift, headers)).status).toBe(200);
    await copy(olga);
    const account = `/api/admin/accounts/${ada.identity_id}`;
    const request = { confirm: ada.identity_id, reason: "requested" };
    const deleted = await olga.send("DELETE", account, request);
    expect(deleted.status).toBe(200);
    await runSchedule();
    await loseDirectory();
    await rebuild(await comeBack());
    const text = JSON.stringify(await rowsOf("audit"));
    expect(text).not.toContain(ada.identity_id);
    expect(text).not.toContain("a gift to Ada");
    expect(text).toContain("deleted_");
    expect((await rowsOf("users")).length).toBe(1);
    expect((await signIn()).identity_id).not.toBe(ada.identity_id);
  });

  it("a person whose sign-in method another person has, or whose key is missing, is listed and changes nobody", async () => {
    await signInOperator();
    const ada = await signIn();
    const bob = await signIn("bob@example.com");
    const unreadable = `people/v1/users/${bob.identity_id}`;
    const file = JSON.parse((await (await env.ARCHIVE.get(unreadable))?.text()) ?? "");
    await loseDirectory();
    const back = await comeBack();
    await env.ARCHIVE.put(unreadable, JSON.stringify({ ...file, key_id: "retired" }));
    // Another person took Ada's method, in a directory that was not known to lack people.
    await env.DIRECTORY.exec(
      "insert into directory_marker (one, id, is_whole) values (1, 'it', 1)",
    );
    const other = await signIn();
    expect(other.identity_id).not.toBe(ada.identity_id);
    const { decide } = await rebuild(back);
    expect(decide).toHaveLength(2);
    expect(decide).toEqual(
      expect.arrayContaining([
        { why: "person_taken", subject: ada.identity_id },
        { why: "person_unreadable", subject: bob.identity_id },
      ]),
    );
    expect((await signIn()).identity_id).toBe(other.identity_id);
  });

  it("a file of the copy that is missing or was changed is named, and the others are restored", async () => {
    const olga = await signInOperator();
    await registerEverything(olga);
    const { copy: copy_id } = await copy(olga);
    const pages = `directory/v1/pages/${copy_id}`;
    const [plans = ""] = await keysIn(`${pages}/plans/`);
    const [webhooks = ""] = await keysIn(`${pages}/webhooks/`);
    await env.ARCHIVE.delete(plans);
    const bytes = new Uint8Array((await (await env.ARCHIVE.get(webhooks))?.arrayBuffer()) ?? []);
    await env.ARCHIVE.put(webhooks, bytes.with(20, (bytes[20] ?? 0) ^ 1));
    await loseDirectory();
    const { decide, restored } = await rebuild(await comeBack(), { copy: copy_id });
    expect(decide).toEqual([
      { why: "page_missing", subject: "plans 1" },
      { why: "page_damaged", subject: webhooks },
    ]);
    expect(restored).toMatchObject({ plans: 0, webhooks: 0, apps: 1 });
  });

  it("only an operator with the role admin copies and rebuilds, and without the bucket both are 404", async () => {
    const settings = { OPERATORS: "olga@example.com=support" };
    const olga = operatorOnPages(await signIn("olga@example.com", settings), settings);
    const without = { ...SETTINGS, ARCHIVE: undefined };
    const there = operatorOnPages(await signIn("olga@example.com", without), without);
    for (const path of ["/api/admin/directory/copy", "/api/admin/directory/rebuild"]) {
      expect((await olga.send("POST", path)).body).toMatchObject({ code: "role_required" });
      expect((await there.send("POST", path)).status).toBe(404);
    }
  });
});

describe("the daily copy of the directory", () => {
  const complete = () => keysIn("directory/v1/complete/");

  it("the schedule makes a copy each day, and deletes those that are older than 30 days, but never the newest", async () => {
    const olga = await signInOperator();
    const age = async () => {
      const { figures } = (await olga.get("/api/admin/health")).body;
      return figures.find(({ name }: { readonly name: string }) => name === "directory_copy_age");
    };
    expect(await age()).toMatchObject({ status: "warning", reason: "not_run_yet" });
    await runSchedule();
    await runSchedule();
    expect(await complete()).toHaveLength(1);
    expect(await age()).toMatchObject({ status: "ok" });
    passDays(3);
    expect(await age()).toMatchObject({ status: "warning" });
    await runSchedule();
    const [oldest, second] = await complete();
    passDays(31);
    const bucket = Object.getPrototypeOf(env.ARCHIVE);
    vi.spyOn(console, "error").mockReturnValue();
    const down = vi.spyOn(bucket, "put").mockRejectedValue(new Error("R2 is down"));
    await runSchedule().catch(() => {});
    expect(await complete()).toEqual([second]);
    down.mockRestore();
    await runSchedule();
    await runSchedule();
    expect(await complete()).not.toContain(oldest);
    expect(await complete()).not.toContain(second);
    expect(await complete()).toHaveLength(1);
    const [, , , copy_id] = (await complete())[0]?.split(/[/.]/) ?? [];
    for (const key of await keysIn("directory/v1/pages/")) expect(key).toContain(`/${copy_id}/`);
  });

  it("a long table is copied in portions, while it changes, and a copy that is not complete does not count", async () => {
    const olga = await signInOperator();
    const insert = (from: number) =>
      env.DIRECTORY.prepare(
        `with recursive counted(n) as (select ?1 union all select n + 1 from counted where n < ?1 + 12999)
          insert into audit (id, at_ms, actor, act, subject, request_id, details_json)
          select printf('0190%012d', n), n, 'someone', 'app.save', 'sketch', 'r', '{}' from counted`,
      )
        .bind(from)
        .run();
    await insert(1);
    const first = (await olga.send("POST", "/api/admin/directory/copy")).body;
    expect(first.next_cursor).toBe(first.copy);
    expect(await complete()).toEqual([]);
    const cursor = first.copy;
    const second = (await olga.send("POST", "/api/admin/directory/copy", { cursor })).body;
    expect(second.next_cursor).toBeUndefined();
    expect(await complete()).toHaveLength(1);
    await loseDirectory();
    const { restored, decide } = await rebuild(await comeBack());
    expect(restored["audit"]).toBeGreaterThanOrEqual(13_000);
    expect(decide).toEqual([]);
  });

  it("a new encryption key has all people sealed again, after which the old key is not needed", async () => {
    const keys = JSON.parse(env.ENCRYPTION_KEYS) as { keys: { kid: string; k: string }[] };
    const k = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
    const added = {
      kty: "oct",
      kid: "new",
      k: k.replaceAll("+", "-").replaceAll("/", "_").replace("=", ""),
    };
    const ada = await signIn();
    await runSchedule();
    const sets = (list: readonly object[]) => ({
      ...SETTINGS,
      ENCRYPTION_KEYS: JSON.stringify({ ...keys, keys: list }),
    });
    const rotated = sets([added, ...keys.keys]);
    passDays(2);
    await upkeepOf(environmentWith(rotated))();
    await upkeepOf(environmentWith(rotated))();
    await loseDirectory();
    expect((await signIn("ada@example.com", sets([added]))).identity_id).toBe(ada.identity_id);
  });
});
