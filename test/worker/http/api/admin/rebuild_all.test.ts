import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { REBUILD_PAGE_PEOPLE } from "../../../../../src/operator/rebuild_accounts.ts";
import { fireAlarm, query } from "../../../support/account_object.ts";
import { signIn, signInWithCredits } from "../../../support/passbook.ts";
import { operatorOnPages, SETTINGS, signInOperator, type Operator } from "./operators.ts";

const key = (name: string) => ({ "Idempotency-Key": name });
const listed = async () =>
  (await env.DB.prepare("select * from accounts order by identity_id").all()).results;

/** Signs in a person and delivers the account to D1. */
async function delivered(email: string) {
  const person = await signInWithCredits("demo", email);
  await fireAlarm(person.identity_id);
  return person;
}

/** Rebuilds all pages of accounts in order. */
async function rebuildAll(olga: Operator) {
  const pages = [];
  let cursor: string | undefined;
  do {
    const { status, body } = await olga.send("POST", "/api/admin/rebuild", { cursor });
    expect(status).toBe(200);
    pages.push(body);
    cursor = body.next_cursor;
  } while (cursor !== undefined);
  return pages;
}

describe("rebuilding all accounts", () => {
  it("rebuilding restores every account that D1 lost, page by page, and a second run changes nothing", async () => {
    const olga = await signInOperator();
    const people = REBUILD_PAGE_PEOPLE + 3;
    for (let person = 0; person < people; person += 1) await delivered(`p${person}@example.com`);
    const before = await listed();
    await env.DB.exec("delete from accounts where identity_id > 'user_4'");
    const lost = people - (await listed()).length;
    expect(lost).toBeGreaterThan(0);
    const pages = await rebuildAll(olga);
    const all = people + 1;
    const [first, last] = pages;
    expect(pages).toHaveLength(2);
    expect(first).toMatchObject({ people: all, checked: REBUILD_PAGE_PEOPLE, failed: [] });
    expect(last).toEqual({
      checked: all - REBUILD_PAGE_PEOPLE,
      repaired: expect.any(Number),
      failed: [],
    });
    expect(first.repaired + last.repaired).toBe(lost);
    expect(await listed()).toEqual(before);
    expect(await rebuildAll(olga)).toMatchObject([{ repaired: 0 }, { repaired: 0 }]);
    expect(await listed()).toEqual(before);
  });

  it("rebuilding repairs an account that has an older state in D1", async () => {
    const olga = await signInOperator();
    const ada = await delivered("ada@example.com");
    const older = await env.DB.prepare("select * from accounts").first();
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 7 });
    await fireAlarm(ada.identity_id);
    const newest = await listed();
    expect(newest).toMatchObject([{ credits: 93, reserved: 7 }]);
    const { line, credits, reserved, updated_at_ms } = older ?? {};
    await env.DB.prepare(
      "update accounts set line = ?, credits = ?, reserved = ?, updated_at_ms = ?",
    )
      .bind(line, credits, reserved, updated_at_ms)
      .run();
    expect((await listed())[0]).toMatchObject({ credits: 100, reserved: 0 });
    expect(await rebuildAll(olga)).toMatchObject([{ repaired: 1 }]);
    expect(await listed()).toEqual(newest);
  });

  it("rebuilding creates no object for people who never opened their account", async () => {
    const olga = await signInOperator();
    await signIn("never-opened@example.com");
    await env.DIRECTORY.exec(
      "insert into users (id, created_at_ms, person_id) values ('user_unreached', 1, 'person')",
    );
    expect(await rebuildAll(olga)).toMatchObject([{ people: 3, checked: 3, repaired: 0 }]);
    const tables = "select name from sqlite_master where name not like '\\_cf%' escape '\\'";
    expect(await query("user_unreached", tables)).toEqual([]);
    expect(await listed()).toEqual([]);
  });

  it("a rebuild repeated with its key repairs the page again with one audit record, and another page needs another key", async () => {
    const olga = await signInOperator();
    await delivered("ada@example.com");
    await env.DB.exec("delete from accounts");
    const send = (body?: object) => olga.send("POST", "/api/admin/rebuild", body, key("a"));
    expect((await send({})).body).toEqual({ people: 2, checked: 2, repaired: 1, failed: [] });
    expect((await send()).body).toMatchObject({ checked: 2, repaired: 0 });
    expect((await send({ cursor: "user_" })).body.code).toBe("idempotency_key_reused");
    const { body } = await olga.get("/api/admin/audit?act=accounts.rebuild");
    expect(body.entries).toMatchObject([{ subject: "all", details: { outcome: "done" } }]);
  });

  it("rebuilding gets 503 while D1 is unavailable, so that a client retries the page", async () => {
    const olga = await signInOperator();
    await delivered("ada@example.com");
    await env.DB.exec("alter table accounts rename to unreachable");
    const failed = await olga.send("POST", "/api/admin/rebuild", {});
    await env.DB.exec("alter table unreachable rename to accounts");
    expect([failed.status, failed.body.code]).toEqual([503, "unavailable"]);
    expect(failed.headers.get("Retry-After")).not.toBeNull();
    const { body } = await olga.get("/api/admin/audit?act=accounts.rebuild");
    expect(body.entries).toMatchObject([{ details: { outcome: "refused" } }]);
  });

  it("rebuilding names the accounts that cannot be repaired, and repairs the others", async () => {
    const olga = await signInOperator();
    const ada = await delivered("ada@example.com");
    await delivered("bob@example.com");
    await env.DB.exec("delete from accounts");
    const broken = {
      checkOperator: () => Promise.resolve({ ok: true }),
      repair: () => Promise.reject(new Error("broken")),
    };
    const ACCOUNT = new Proxy(env.ACCOUNT, {
      get: (target, name) =>
        name === "getByName"
          ? (id: string) => (id === ada.identity_id ? broken : target.getByName(id))
          : Reflect.get(target, name),
    });
    const watched = operatorOnPages(olga.person, { ...SETTINGS, ACCOUNT });
    const { body } = await watched.send("POST", "/api/admin/rebuild", {});
    expect(body).toMatchObject({ checked: 3, repaired: 1, failed: [ada.identity_id] });
  });

  it.each([{ cursor: 5 }, { cursor: "x".repeat(255) }, { curser: "user_" }, { all: true }])(
    "rebuilding refuses the body %o",
    async (body) => {
      const olga = await signInOperator();
      const refused = await olga.send("POST", "/api/admin/rebuild", body);
      expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
    },
  );
});
