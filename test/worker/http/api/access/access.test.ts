/** `GET /api/access`: everything that may act on an account, what it spent, and when it was last used. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ACCESS_SCAN_MAX_LINES } from "../../../../../src/account/access.ts";
import { change, countRowsWritten } from "../../../support/account_object.ts";
import { passTime } from "../../../support/clock.ts";
import {
  getToken,
  holderOf,
  postForm,
  tokenId,
  type TokenHolder,
} from "../../../support/device_logins.ts";
import { exchange, total } from "../../../support/exchanges.ts";
import { connect, refresh, RESOURCE, withToken } from "../../../support/oauth_clients.ts";
import {
  BASE_URL,
  forgetEnvironments,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../../support/passbook.ts";
import { openResource } from "../../../support/registrations.ts";
import { openAppServer } from "../../caller/app_server.ts";

let ada: SignedIn;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-02-10T12:00:00Z") });
  ada = await signInWithCredits("demo");
});

const access = async () => (await ada.getOwn("/api/access")).body;

type Posting = Pick<TokenHolder, "post">;

async function start(by: Posting, cost_estimate: number, app = "demo"): Promise<string> {
  return (await by.post("/api/jobs", { app, action: "draw", cost_estimate })).body.job_id;
}

async function spend(by: Posting, actual_cost: number, app = "demo"): Promise<string> {
  const job_id = await start(by, actual_cost, app);
  await by.post("/api/jobs/complete", { job_id, actual_cost });
  return job_id;
}

describe("an app whose page starts a job of another app", () => {
  const PAGE = "https://lantern.example";
  const open = async () => {
    const sketch = await openAppServer("sketch", { settle: "holder" });
    const { operator } = sketch;
    await openAppServer("lantern", { settle: "holder", origins: [PAGE] as never }, operator);
    forgetEnvironments();
    const { token } = (
      await send("GET", "/api/sessionToken", { headers: { Cookie: ada.cookies, Origin: PAGE } })
    ).body;
    return { page: holderOf(token), server: sketch };
  };

  it("is listed, and what it spends counts for it and not for the job's app", async () => {
    const { page, server } = await open();
    await ada.getOwn("/api/wallet?app=sketch");
    await spend(page, 45, "sketch");
    vi.setSystemTime(Date.now() + 60_000);
    await spend(server.in(ada.identity_id), 5, "sketch");
    const { apps } = await access();
    expect(apps).toMatchObject([
      { slug: "sketch", spent_this_month: 5, last_used_at: "2027-02-10T12:01:00.000Z" },
      { slug: "lantern", spent_this_month: 45, last_used_at: "2027-02-10T12:00:00.000Z" },
      { slug: "demo", spent_this_month: 0 },
    ]);
  });

  it("can be stopped", async () => {
    const { page } = await open();
    const jobs = [{ app: "sketch", action: "draw", cost_estimate: 1 }];
    expect((await page.post("/api/jobs/batch", { jobs })).status).toBe(200);
    const headers = { Cookie: ada.cookies, Origin: BASE_URL, "Content-Type": "application/json" };
    const path = "/api/access/apps/lantern/stop";
    const stopped = await send("POST", path, { headers, body: "{}" });
    expect(stopped.body.app).toMatchObject({ slug: "lantern", state: "stopped" });
    expect((await page.post("/api/jobs/batch", { jobs })).body.code).toBe("app_stopped");
  });
});

describe("everything with access", () => {
  it("an account has its apps, connections, tokens and browsers in four lists", async () => {
    const token = await getToken(
      ada,
      { caps: [{ credits: 50, period: "month" }] },
      { client_name: "Laptop" },
    );
    await spend(token, 12);
    await spend(ada, 5);
    await connect(ada);
    const { apps, connections, tokens, browsers } = await access();
    expect(apps).toEqual([
      {
        slug: "demo",
        name: "demo",
        icon: null,
        host: null,
        state: "open",
        last_used_at: "2027-02-10T12:00:00.000Z",
        spent_this_month: 5,
        started_jobs: 0,
      },
    ]);
    expect(connections).toMatchObject([
      {
        client_id: expect.any(String),
        host: "client.example.com",
        registered: false,
        resource: null,
        children: [],
      },
    ]);
    expect(tokens).toMatchObject([
      {
        label: "Laptop",
        caps: [{ credits: 50, period: "month", spent: 12, approved: 0, room: 38 }],
        spent_this_month: 12,
        current: false,
      },
    ]);
    expect(browsers).toMatchObject([
      { current: true, started_at: "2027-02-10T12:00:00.000Z", place: null },
    ]);
  });

  it("an app that the account was never opened for is not listed, and a stopped one is stopped", async () => {
    const capped = await getToken(ada, { caps: [{ credits: 5, period: "total" }] });
    await start(capped, 0, "other");
    await postForm(ada, "/account/access/stop", { app: "demo" });
    expect((await access()).apps).toMatchObject([{ slug: "demo", state: "stopped" }]);
  });

  it("each list has the newest use first", async () => {
    await spend(ada, 1, "older");
    const old = await getToken(ada, {}, { client_name: "Old" });
    await getToken(ada, {}, { client_name: "Unused" });
    passTime(60_000);
    await spend(ada, 1, "newer");
    const fresh = await getToken(ada, {}, { client_name: "Fresh" });
    await old.get("/api/wallet");
    passTime(1000);
    await fresh.get("/api/wallet");
    const { apps, tokens } = await access();
    expect(apps.map(({ slug }: { slug: string }) => slug)).toEqual(["newer", "older", "demo"]);
    const labels = tokens.map(({ label }: { label: string }) => label);
    expect(labels).toEqual(["Fresh", "Old", "Unused"]);
  });

  it("an exchanged token is listed below its parent, and its spending counts in the parent", async () => {
    const token = await getToken(ada, {}, { client_name: "Laptop" });
    const exchanged = await exchange(token.token, total(30), { client_id: "" });
    const child = holderOf(exchanged.body.access_token);
    await spend(token, 4);
    await spend(child, 7);
    const { tokens } = await access();
    expect(tokens).toMatchObject([
      { spent_this_month: 11, children: [{ spent_this_month: 7, caps: [{ spent: 7 }] }] },
    ]);
    expect(tokens).toHaveLength(1);
  });
});

describe("what was spent this month", () => {
  it("only jobs that ended in the month count, at what they cost without refunds of operators", async () => {
    const token = await getToken(ada);
    await spend(token, 3);
    const over_the_end = await start(token, 9);
    passTime(20 * 24 * 60 * 60 * 1000);
    expect((await access()).tokens[0].spent_this_month).toBe(0);
    await token.post("/api/jobs/complete", { job_id: over_the_end, actual_cost: 8 });
    const refunded = await spend(token, 6);
    await env.ACCOUNT.getByName(ada.identity_id).refundJob(
      { job_id: refunded, amount: 2, note: "too dark" },
      null,
    );
    await start(token, 5);
    const failed = await start(token, 5);
    await token.post("/api/jobs/fail", { job_id: failed });
    expect((await access()).tokens[0].spent_this_month).toBe(8 + 6 - 2);
  });

  it("a job that its own session settles counts for the token that started it", async () => {
    const token = await getToken(ada);
    const job_id = await start(token, 9);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 9 });
    const { apps, tokens } = await access();
    expect([apps[0].spent_this_month, tokens[0].spent_this_month]).toEqual([0, 9]);
  });

  it("an account with too many entries this month says that it does not know", async () => {
    await spend(ada, 4);
    const newest = "(select line from entries order by line desc limit 1)";
    const many = ACCESS_SCAN_MAX_LINES;
    await change(
      ada.identity_id,
      `with recursive more(n) as (select 1 union all select n + 1 from more where n < ${many})
       insert into entries (line, kind, amount, balance_after, at_ms)
       select n + ${newest}, 'plan', 0, 96, ${Date.now()} from more`,
    );
    const { apps } = await access();
    expect(apps).toMatchObject([{ spent_this_month: null, last_used_at: null }]);
  });

  it("a job writes no row for these lists", async () => {
    await spend(ada, 1);
    const rows_written = await countRowsWritten(ada.identity_id);
    await spend(ada, 1);
    const before = rows_written();
    await access();
    expect(rows_written()).toBe(before);
  });
});

describe("when a connection was last used", () => {
  it("a connection for a resource is used when it is refreshed", async () => {
    await openResource(RESOURCE);
    const { refresh_token } = await connect(ada, { resource: RESOURCE });
    expect((await access()).connections).toMatchObject([
      { resource: RESOURCE, last_used_at: null },
    ]);
    passTime(60_000);
    const used_at = new Date().toISOString();
    await refresh(refresh_token, { resource: RESOURCE });
    expect((await access()).connections[0].last_used_at).toBe(used_at);
  });
});

describe("callers of the list", () => {
  const refused = { status: 403, body: { code: "scope" } };

  it("only our own pages and a personal token without limits see the list", async () => {
    const whole = await getToken(ada);
    const seen = await whole.get("/api/access");
    expect(seen).toMatchObject({ status: 200, body: { browsers: [{ current: false }] } });
    expect(seen.body.tokens).toMatchObject([{ current: true }]);
    expect((await ada.getOwn("/api/access")).status).toBe(200);
    expect(await ada.get("/api/access")).toMatchObject(refused);
    for (const limits of [
      { scopes: ["read"] },
      { apps: ["demo"] },
      { caps: [{ credits: 5, period: "total" }] },
    ]) {
      expect(await (await getToken(ada, limits)).get("/api/access")).toMatchObject(refused);
    }
    const { access_token } = await connect(ada);
    expect(await withToken(access_token, "GET", "/api/access")).toMatchObject(refused);
    const child = await exchange(whole.token, { expires_in: 3600 }, { client_id: "" });
    expect(await holderOf(child.body.access_token).get("/api/access")).toMatchObject(refused);
    const app_page = { Cookie: ada.cookies, Origin: "http://localhost:3000" };
    expect(await send("GET", "/api/access", { headers: app_page })).toMatchObject(refused);
    expect((await send("GET", "/api/access", { headers: { Origin: BASE_URL } })).status).toBe(401);
  });

  it("nobody sees what has access to another person's account", async () => {
    await getToken(ada, {}, { client_name: "Secret plan" });
    const bob = await signIn("bob@example.com");
    expect((await bob.getOwn("/api/access")).body).toMatchObject({
      apps: [],
      connections: [],
      tokens: [],
      browsers: [{ current: true }],
    });
  });

  it("the list of tokens is for our own pages, and a token sees itself and what was exchanged from it", async () => {
    const token = await getToken(ada, {}, { client_name: "Laptop" });
    await getToken(ada, {}, { client_name: "Other" });
    await exchange(token.token, total(5), { client_id: "" });
    expect(await ada.get("/api/tokens")).toMatchObject(refused);
    expect((await ada.getOwn("/api/tokens")).body.tokens).toHaveLength(3);
    const { tokens } = (await token.get("/api/tokens")).body;
    const id = await tokenId(token);
    const parents = tokens.map((one: { parent_id: string | null }) => one.parent_id);
    expect(new Set(parents)).toEqual(new Set([id, null]));
  });
});
