import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { dump, query } from "../../../support/account_object.ts";
import { connect, openProviderDouble } from "../../../support/provider_double.ts";
import { openBrowser, tokenOf } from "../../../support/browser.ts";
import {
  environmentWith,
  forgetEnvironments,
  send,
  signIn,
  signInWithCredits,
} from "../../../support/passbook.ts";

async function registerApp(slug: string, starter_credits: number, origins: string[] = []) {
  await env.DIRECTORY.prepare(
    "insert into apps (slug, name, starter_credits, origins_json, created_at_ms) values (?, ?, ?, ?, 0)",
  )
    .bind(slug, slug, starter_credits, JSON.stringify(origins))
    .run();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("GET /api/wallet", () => {
  it("the first wallet opens an account with a UUID, the free plan and no credits", async () => {
    const ada = await signIn();
    const { status, body } = await ada.get("/api/wallet");
    expect(status).toBe(200);
    expect(body).toEqual({
      account: {
        id: expect.stringMatching(UUID),
        identity_id: ada.identity_id,
        plan: "free",
        credits: 0,
      },
      held: 0,
      bought: 0,
      lots: [],
      next_expiry: null,
      topup: null,
      apps: [],
      app_grant: null,
    });
  });

  it("the wallet shows how many credits the started jobs of the account hold", async () => {
    const ada = await signInWithCredits();
    const job = { app: "demo", action: "draw", cost_estimate: 30 };
    const { body: created } = await ada.post("/api/jobs", job);
    await ada.post("/api/jobs", { ...job, cost_estimate: 12 });
    const wallet = await ada.get("/api/wallet");
    expect(wallet.body).toMatchObject({ held: 42, account: { credits: 58 } });
    await ada.post("/api/jobs/complete", { job_id: created.job_id, actual_cost: 5 });
    const after = await ada.get("/api/wallet");
    expect(after.body).toMatchObject({ held: 12, account: { credits: 83 } });
  });

  it("the wallet returns the same account every time", async () => {
    const ada = await signIn();
    const first = await ada.get("/api/wallet");
    expect((await ada.get("/api/wallet")).text).toBe(first.text);
  });

  it("the wallet grants an app's starter credits once, and only that response has granted true", async () => {
    const ada = await signIn();
    const first = await ada.get("/api/wallet?app=demo");
    const grant = { slug: "demo", starter_credits: 100, granted: true };
    expect(first.body.app_grant).toEqual(grant);
    expect(first.body.apps).toEqual([{ ...grant, granted_at: expect.stringMatching(RFC3339) }]);
    const second = await ada.get("/api/wallet?app=demo");
    expect(second.body.app_grant).toEqual({ ...grant, granted: false });
    expect(second.body.apps).toEqual(first.body.apps);
    expect(second.body.account.credits).toBe(100);
  });

  it("the wallet grants the starter credits of each app separately", async () => {
    const ada = await signIn();
    await ada.get("/api/wallet?app=one");
    const { body } = await ada.get("/api/wallet?app=two");
    expect(body.account.credits).toBe(200);
    expect(body.apps.map((app: { slug: string }) => app.slug)).toEqual(["one", "two"]);
  });

  it("the wallet grants the starter_credits of a registered app", async () => {
    await registerApp("atelier", 750);
    const environment = environmentWith({});
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const { body } = await send("GET", "/api/wallet?app=atelier", { headers }, environment);
    expect(body.account.credits).toBe(750);
  });

  it("outside development, an unregistered slug gets no starter credits", async () => {
    const acme = openProviderDouble("acme");
    const settings = { ...connect(acme), DEV_SIGNIN: "false", BASE_URL: "https://id.family.test" };
    await registerApp("atelier", 750);
    const token = tokenOf(await openBrowser(settings).signIn(acme, { sub: "ada" }));
    const headers = { Authorization: `Bearer ${token}` };
    const invented = await send("GET", "/api/wallet?app=invented", { headers }, settings);
    expect(invented.body).toMatchObject({ account: { credits: 0 }, app_grant: { granted: false } });
    const registered = await send("GET", "/api/wallet?app=atelier", { headers }, settings);
    expect(registered.body.account.credits).toBe(750);
  });

  it("an unregistered slug gets only DEFAULT_STARTER_CREDITS", async () => {
    const environment = environmentWith({ DEFAULT_STARTER_CREDITS: "0" });
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const { body } = await send("GET", "/api/wallet?app=invented", { headers }, environment);
    expect(body.account.credits).toBe(0);
    expect(body.app_grant).toEqual({ slug: "invented", starter_credits: 0, granted: false });
    expect(body.apps).toEqual([]);
  });

  it("an unregistered slug without a grant is stored only with its first job", async () => {
    const environment = environmentWith({ DEFAULT_STARTER_CREDITS: "0" });
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const get = (path: string) => send("GET", path, { headers }, environment);
    await get("/api/wallet");
    const before = await dump(ada.identity_id);
    for (const slug of ["invented", "another"]) await get(`/api/wallet?app=${slug}`);
    expect(await dump(ada.identity_id)).toBe(before);
    const body = JSON.stringify({ app: "invented", action: "draw", cost_estimate: 0 });
    expect((await send("POST", "/api/jobs", { headers, body }, environment)).status).toBe(200);
    const { apps } = (await get("/api/wallet")).body;
    expect(apps.map(({ slug }: { slug: string }) => slug)).toEqual(["invented"]);
  });

  it("200 unregistered apps leave the room of registered ones, and jobs of more are still created", async () => {
    await registerApp("atelier", 5);
    forgetEnvironments();
    const ada = await signInWithCredits("demo");
    await query(
      ada.identity_id,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 199)
       insert into apps (slug, starter_credits, created_at_ms, access, is_registered, opened_after_line)
         select 'app-' || i, 0, 0, 'open', 0, 0 from n`,
    );
    const refused = await ada.get("/api/wallet?app=one-more");
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "limit_reached", of: "unregistered_apps", limit: 200 },
    });
    expect(refused.body.error).toContain("200 apps that are not registered");
    const job = { app: "one-more", action: "draw", cost_estimate: 1 };
    expect((await ada.post("/api/jobs", job)).status).toBe(200);
    const stored = await query(ada.identity_id, "select slug from apps where slug = 'one-more'");
    expect(stored).toEqual([]);
    const registered = await ada.get("/api/wallet?app=atelier");
    expect(registered.body.app_grant).toMatchObject({ slug: "atelier", granted: true });
    await registerApp("app-7", 5);
    forgetEnvironments();
    expect((await ada.get("/api/wallet?app=app-7")).status).toBe(200);
    expect((await ada.get("/api/wallet?app=one-more")).status).toBe(200);
    // A job notes the registration as the wallet does.
    await registerApp("app-8", 0);
    forgetEnvironments();
    expect((await ada.post("/api/jobs", { ...job, app: "app-8" })).status).toBe(200);
    expect((await ada.get("/api/wallet?app=two-more")).status).toBe(200);
  });

  it("the wallet shows the current starter amount of an app until the grant is made", async () => {
    const before = environmentWith({ DEFAULT_STARTER_CREDITS: "0" });
    const after = environmentWith({ DEFAULT_STARTER_CREDITS: "40" });
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ app: "later", action: "draw", cost_estimate: 0 });
    await send("POST", "/api/jobs", { headers, body }, before);
    const seen = await send("GET", "/api/wallet", { headers }, after);
    expect(seen.body.apps).toEqual([
      { slug: "later", starter_credits: 40, granted: false, granted_at: null },
    ]);
    const granted = await send("GET", "/api/wallet?app=later", { headers }, after);
    expect(granted.body.app_grant).toEqual({ slug: "later", starter_credits: 40, granted: true });
  });

  it.each(["", "Demo", "a b", "-x", "a".repeat(65), "ä", "a/b", "a&app=b", "%00"])(
    "the wallet refuses the slug %j and changes nothing",
    async (slug) => {
      const ada = await signInWithCredits();
      const before = await dump(ada.identity_id);
      const response = await ada.get(`/api/wallet?app=${slug}`);
      expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(await dump(ada.identity_id)).toBe(before);
    },
  );

  it("an account has at most 1,000 apps", async () => {
    const ada = await signInWithCredits("demo");
    await query(
      ada.identity_id,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 999)
       insert into apps (slug, starter_credits, created_at_ms, access, is_registered, opened_after_line)
         select 'app-' || i, 0, 0, 'open', 1, 0 from n`,
    );
    const refused = await ada.get("/api/wallet?app=one-more");
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "limit_reached", of: "apps", limit: 1_000 },
    });
    expect((await ada.get("/api/wallet?app=demo")).status).toBe(200);
  });

  it("an internal error gets 500 with a request id and no details", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const ada = await signIn();
    const broken = environmentWith({
      ACCOUNT: {
        getByName: () => ({
          wallet: () => Promise.reject(new Error("no such table: secret_things")),
        }),
      },
    });
    const headers = { Authorization: `Bearer ${ada.token}` };
    const response = await send("GET", "/api/wallet", { headers }, broken);
    expect(response.status).toBe(500);
    expect(response.body).toEqual({
      error: expect.stringContaining("request id"),
      code: "internal",
    });
    expect(response.text + JSON.stringify(logged.mock.calls)).not.toContain("secret_things");
  });

  it("an unavailable store gets 503 with Retry-After", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signIn();
    const overloaded = Object.assign(new Error("overloaded"), { overloaded: true });
    const broken = environmentWith({
      ACCOUNT: { getByName: () => ({ wallet: () => Promise.reject(overloaded) }) },
    });
    const headers = { Authorization: `Bearer ${ada.token}` };
    const response = await send("GET", "/api/wallet", { headers }, broken);
    expect(response).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(response.headers.get("Retry-After")).toBe("5");
  });
});

describe("GET /api/ledger", () => {
  it("the ledger lists every change newest first, page by page", async () => {
    const ada = await signInWithCredits();
    const job = await ada.post("/api/jobs", { app: "demo", action: "a", cost_estimate: 30 });
    await ada.post("/api/jobs/fail", { job_id: job.body.job_id });
    const first = await ada.get("/api/ledger?limit=3");
    expect(first.body.entries).toEqual([
      entry(4, "refund", 30, 100, job.body.job_id, "demo"),
      entry(3, "reserve", -30, 70, job.body.job_id, "demo"),
      entry(2, "grant", 100, 100, null, "demo"),
    ]);
    const second = await ada.get(`/api/ledger?limit=3&cursor=${first.body.next_cursor}`);
    expect(second.body).toEqual({ entries: [entry(1, "open", 0, 0, null, null)] });
  });

  it("the ledger is empty before the account is opened, and reading it opens nothing", async () => {
    const ada = await signIn();
    expect((await ada.get("/api/ledger")).body).toEqual({ entries: [] });
    expect(await query(ada.identity_id, "select * from entries")).toEqual([]);
  });

  it.each(["limit=0", "limit=201", "limit=x", "cursor=0", "cursor=-1", "cursor=x", "cursor="])(
    "the ledger refuses the query %s",
    async (parameters) => {
      const ada = await signIn();
      expect((await ada.get(`/api/ledger?${parameters}`)).status).toBe(400);
    },
  );

  function entry(
    line: number,
    kind: string,
    amount: number,
    balance_after: number,
    job_id: string | null,
    app: string | null,
  ) {
    const at = expect.stringMatching(RFC3339);
    const by = job_id === null ? null : { kind: "browser", id: null, name: null };
    const terms = kind === "grant" ? { expires_at: null, app_slugs: null, bought: false } : null;
    const of_lot = { lot_id: null, terms };
    return { line, kind, amount, balance_after, job_id, app, by, note: null, ...of_lot, at };
  }
});
