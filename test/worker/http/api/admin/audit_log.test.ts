/** The audit log: its filters, what each action changed, and its CSV. */
import { firstIdOf } from "../../../../../src/domain/calendar.ts";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { send, signInWithCredits } from "../../../support/passbook.ts";
import { consoleAndAda, openConsole, words } from "../../../web/console/pages.ts";
import { SETTINGS, signInOperator } from "./operators.ts";

const REASON = { reason: "why" };
const APP = { name: "Sketch", starter_credits: 5, origins: [], daily_starter_budget: null };

async function people() {
  const olga = await signInOperator();
  const ada = await signInWithCredits();
  const account = `/api/admin/accounts/${ada.identity_id}`;
  const entriesOf = async (query = "") => (await olga.get(`/api/admin/audit${query}`)).body.entries;
  const act = (path: string, body: object, key: string = crypto.randomUUID()) =>
    olga.send("POST", `${account}/${path}`, body, { "Idempotency-Key": key });
  return { olga, ada, entriesOf, act };
}

describe("the audit log", () => {
  it("a record has the changed fields with their values before and after", async () => {
    const { olga, entriesOf, act } = await people();
    await act("credits", { amount: -30, ...REASON });
    await act("plan", { plan: "gold", ...REASON });
    await act("plan", { plan: "free", ...REASON });
    await act("signout", REASON);
    expect((await entriesOf()).map(({ changed }: { changed: unknown }) => changed)).toEqual([
      null,
      { plan: { from: "gold", to: "free" } },
      { plan: { from: "free", to: "gold" } },
      { credits: { from: 100, to: 70 } },
    ]);
    await olga.send("PUT", "/api/admin/apps/sketch", APP);
    const changes = { ...APP, starter_credits: 7, settle: "app", version: 1 };
    await olga.send("PUT", "/api/admin/apps/sketch", changes);
    await olga.send("PUT", "/api/admin/apps/sketch", { ...changes, version: 1 });
    await olga.send("PUT", "/api/admin/apps/sketch", { ...changes, version: 2 });
    expect(await entriesOf("?subject=sketch")).toMatchObject([
      { changed: {}, details: { outcome: "done" } },
      { changed: null, details: { outcome: "refused" } },
      {
        changed: { starter_credits: { from: 5, to: 7 }, settle: { from: "holder", to: "app" } },
      },
      { changed: null, details: { name: "Sketch", outcome: "done" } },
    ]);
  });

  it("a retry whose first outcome was not logged adds what the first request changed", async () => {
    const { entriesOf, act } = await people();
    await act("credits", { amount: 5, ...REASON }, "one");
    await env.DIRECTORY.prepare("delete from audit_outcomes").run();
    expect(await entriesOf()).toMatchObject([{ changed: null, details: { outcome: "unknown" } }]);
    await act("credits", { amount: 5, ...REASON }, "one");
    expect(await entriesOf()).toMatchObject([
      { changed: { credits: { from: 100, to: 105 } }, details: { outcome: "done" } },
    ]);
  });

  it("filters by time, half-open, and by act", async () => {
    const { entriesOf, act } = await people();
    await act("suspend", REASON);
    await act("restore", REASON);
    const times = ["2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z"];
    for (const [index, name] of ["suspend", "restore"].entries()) {
      const at_ms = Date.parse(times[index] ?? "");
      await env.DIRECTORY.prepare("update audit set id = ?, at_ms = ? where act = ?")
        .bind(`${firstIdOf(at_ms)}-7000-8000-000000000000`, at_ms, `account.${name}`)
        .run();
    }
    const actsOf = async (query: string) =>
      (await entriesOf(`?${query}`)).map((it: { act: string }) => it.act.replace("account.", ""));
    expect(await actsOf(`from=${times[0]}&to=${times[1]}`)).toEqual(["suspend"]);
    expect(await actsOf(`from=${times[1]}`)).toEqual(["restore"]);
    expect(await actsOf(`to=${times[0]}`)).toEqual([]);
    expect(await actsOf("act=account.suspend")).toEqual(["suspend"]);
  });

  it("a time that does not exist is refused", async () => {
    const { olga } = await people();
    const { status, body } = await olga.get("/api/admin/audit?from=2026-02-30T00:00:00Z");
    expect([status, body.code]).toEqual([400, "invalid_request"]);
  });

  it("Accept: text/csv gives all records of the filter, with e-mail addresses and without formulas", async () => {
    const { olga, ada, act } = await people();
    await act("suspend", { reason: "=HYPERLINK(0)" });
    await act("restore", REASON);
    const csvOf = (query: string) => {
      const headers = { Cookie: olga.person.cookies, Accept: "text/csv" };
      return send("GET", `/api/admin/audit${query}`, { headers }, SETTINGS);
    };
    const { status, headers, text } = await csvOf("?subject=ada@example.com&limit=1");
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toContain("text/csv");
    const [names, ...rows] = text.trim().split("\r\n");
    expect(names).toContain('"at","actor","actor_email","act","subject","subject_email","reason"');
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain(
      `"olga@example.com","account.restore","${ada.identity_id}","ada@example.com","why","done"`,
    );
    expect(rows[1]).toContain(`"'=HYPERLINK(0)"`);
    expect((await csvOf("?act=account.plan")).text.trim().split("\r\n")).toHaveLength(1);
    expect((await csvOf("?actor=nobody@example.com")).body.code).toBe("account_unknown");
  });

  it("CSV has the records of several pages", async () => {
    const { olga } = await people();
    const row = env.DIRECTORY.prepare(
      "insert into audit (id, at_ms, actor, act, subject, request_id, details_json) values (?, ?, 'user_1', 'account.suspend', 'user_2', 'r', '{}')",
    );
    const ids = Array.from(
      { length: 450 },
      (_, at) => `019a0000-0000-7000-8000-${String(at).padStart(12, "0")}`,
    );
    await env.DIRECTORY.batch(ids.map((id, at) => row.bind(id, at)));
    const headers = { Cookie: olga.person.cookies, Accept: "text/csv" };
    const { text } = await send("GET", "/api/admin/audit", { headers }, SETTINGS);
    expect(ids.filter((id) => text.includes(id))).toHaveLength(450);
  });
});

describe("the console's audit log", () => {
  it("shows what changed instead of every field, and filters by days that include the last one", async () => {
    const { olga, open } = await consoleAndAda();
    await olga.send("PUT", "/api/admin/apps/sketch", APP);
    await olga.send("PUT", "/api/admin/apps/sketch", { ...APP, starter_credits: 7, version: 1 });
    const { text } = await open("/console/audit");
    expect(words(text)).toContain("App saved starter credits: 5 → 7 sketch");
    const today = new Date().toISOString().slice(0, 10);
    expect((await open(`/console/audit?from=${today}&to=${today}`)).text).toContain("5 → 7");
    expect((await open("/console/audit?to=2020-01-01")).text).toContain("No actions match");
    const link = `/console/audit.csv?act=app.save&amp;from=${today}`;
    const filtered = await open(`/console/audit?act=app.save&from=${today}`);
    expect(filtered.text).toContain(link);
    const csv = await open(link.replace("&amp;", "&"));
    expect(csv.headers.get("Content-Disposition")).toContain("audit.csv");
    expect(csv.text).toContain("app.save");
  });

  it("folds the records of one request on several accounts into one row", async () => {
    const { open } = await openConsole();
    const row = env.DIRECTORY.prepare(
      "insert into audit (id, at_ms, actor, act, subject, reason, request_id, details_json) values (?, 0, 'user_1', ?, ?, 'fraud', ?, '{}')",
    );
    await env.DIRECTORY.batch([
      row.bind("019a0000-0000-7000-8000-000000000001", "account.suspend", "user_a", "one"),
      row.bind("019a0000-0000-7000-8000-000000000002", "account.suspend", "user_b", "two"),
      row.bind("019a0000-0000-7000-8000-000000000003", "account.suspend", "user_c", "two"),
      row.bind("019a0000-0000-7000-8000-000000000004", "account.suspend", "user_d", "two"),
    ]);
    const { text } = await open("/console/audit");
    expect(text.match(/<tr>/g)).toHaveLength(1 + 2);
    expect(words(text)).toContain("3 accounts user_d");
  });
});
