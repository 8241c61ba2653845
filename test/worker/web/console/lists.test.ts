import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { utcDayOf } from "../../../../src/domain/calendar.ts";
import { fireAlarm } from "../../support/account_object.ts";
import { getToken } from "../../support/device_logins.ts";
import { signIn, signInWithCredits } from "../../support/passbook.ts";
import { untouchable } from "../../readmodel/outage.ts";
import { saveApp } from "../../http/caller/app_server.ts";
import { SETTINGS } from "../../http/api/admin/operators.ts";
import { consoleAndAda, openConsole, pageOf, words } from "./pages.ts";

const HOSTILE = `<script>alert(1)</script>"'&`;
const ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;";

async function startJob(ada: Awaited<ReturnType<typeof signIn>>, job: object = {}) {
  const body = { app: "demo", action: "draw", cost_estimate: 10, ...job };
  return (await ada.post("/api/jobs", body)).body.job_id as string;
}

/** Settings with a read model that cannot be read. */
const read_model_down = { ...SETTINGS, DB: untouchable() };

describe("the overview", () => {
  it("the overview adds up the days of the range for all apps or one app", async () => {
    const { ada, open } = await consoleAndAda();
    const job_id = await startJob(ada, { cost_estimate: 30 });
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 20 });
    await ada.post("/api/jobs/fail", { job_id: await startJob(ada, { app: "draw" }) });
    await fireAlarm(ada.identity_id);
    const ten_days_ago = utcDayOf(Date.now()) - 10;
    await env.DB.prepare(
      `insert into daily_totals (day, app_slug, granted, reserved, settled, refunded, job_refunded, purchased, adjusted, taken_back, forfeited, expired, jobs, failed, active_accounts)
         values (?1, '*', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), (?1, 'demo', 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1)`,
    )
      .bind(ten_days_ago)
      .run();
    const all = words((await open("/console?days=30")).text);
    for (const text of [
      "Spent on jobs 25",
      "Held for jobs 40",
      "Failed jobs 1",
      "Jobs 3",
      "Starter credits 100",
    ]) {
      expect(all).toContain(text);
    }
    expect(all).toContain("Demo 25 100 2 0 0 % Draw 0 0 1 1 100 %");
    expect(words((await open("/console?days=7")).text)).toContain("Spent on jobs 20");
    const one = words((await open("/console?days=30&app=draw")).text);
    expect(one).toContain("Draw, last 30 days");
    expect(one).toContain("Spent on jobs 0 credits");
    expect(one).toContain("Failed jobs 1 ");
  });

  it("the overview has each day's numbers in a table and says how old they are", async () => {
    const { open } = await consoleAndAda();
    const { text } = await open("/console?days=7");
    expect(text.match(/<th scope="row">/g)).toHaveLength(7);
    expect(text).toMatch(/role="img"><title>Starter credits by day, [^<]+ The table below has/);
    expect(words(text)).toMatch(/read at \d\d:\d\d:\d\d UTC/);
    expect(words(text)).toMatch(
      /The newest change that they include was made on [-\d]+ at [:\d]+ UTC\./,
    );
  });

  it("the overview ignores an invalid range or app", async () => {
    const { open } = await openConsole();
    const text = words((await open("/console?days=1000&app=NO!")).text);
    expect(text).toContain("All apps, last 30 days");
    expect(text).toContain("They include no account yet.");
    expect(text).toContain("There was no activity in these days.");
  });
});

describe("the accounts", () => {
  it("accounts are found by id, identity and the start of an e-mail address", async () => {
    const { ada, open } = await consoleAndAda();
    const { id } = (await ada.get("/api/wallet")).body.account;
    for (const q of [id, ada.identity_id, "ADA@"]) {
      const { text } = await open(`/console/accounts?q=${q}`);
      expect(text, q).toContain(`href="${pageOf(ada)}"`);
      expect(text, q).toContain(`href="${pageOf(ada)}#ledger"`);
      expect(words(text), q).toContain("Free 100 0");
    }
    const odd = await open("/console/accounts?q=nobody&sort=odd&cursor=odd&limit=0");
    expect(words(odd.text)).toContain("No account matches “nobody”");
    const none = words((await open("/console/accounts?q=eve")).text);
    expect(none).toContain("No account matches “eve”");
    expect(none).toContain("Show all accounts");
  });

  it("accounts are sorted, and the next page continues where the last ended", async () => {
    const { open } = await consoleAndAda();
    const bob = await signInWithCredits("demo", "bob@example.com");
    await startJob(bob);
    await fireAlarm(bob.identity_id);
    const found: string[] = [];
    let path = "/console/accounts?sort=credits&limit=1";
    for (let page = 0; page < 5 && path !== ""; page += 1) {
      const { text } = await open(path);
      found.push(...[...text.matchAll(/>(\w+)@example\.com</g)].map(([, name = ""]) => name));
      const [, next = ""] = /<a href="([^"]*cursor[^"]*)" rel="next">/.exec(text) ?? [];
      path = next === "" ? "" : `${next.replaceAll("&amp;", "&")}&limit=1`;
      if (page > 0) expect(text).toContain("First page");
    }
    expect(found).toEqual(["ada", "bob"]);
  });

  it("a search finds people who have no account yet", async () => {
    const { open } = await openConsole();
    const newcomer = await signIn("newcomer@example.com");
    const { text } = await open("/console/accounts?q=newco");
    expect(text).toContain(`href="${pageOf(newcomer)}"`);
    expect(words(text)).toContain("not listed yet");
  });
});

describe("the jobs", () => {
  it("the console lists jobs of all accounts by app, status and identity", async () => {
    const { ada, open } = await consoleAndAda();
    const bob = await signInWithCredits("draw", "bob@example.com");
    await startJob(ada, { action: "adas-job" });
    const failed = await startJob(bob, { app: "draw", action: "bobs-job" });
    await bob.post("/api/jobs/fail", { job_id: failed, reason: "out of <b>paper</b>" });
    for (const { identity_id } of [ada, bob]) await fireAlarm(identity_id);
    const shown = async (query: string) => {
      const { text } = await open(`/console/jobs${query}`);
      return ["adas-job", "bobs-job"].filter((action) => text.includes(action));
    };
    expect(await shown("")).toEqual(["adas-job", "bobs-job"]);
    expect(await shown("?app=draw&status=&identity_id=")).toEqual(["bobs-job"]);
    expect((await open("/console/jobs?app=draw")).text).toContain(
      "out of &lt;b&gt;paper&lt;/b&gt;",
    );
    expect(await shown("?status=started")).toEqual(["adas-job"]);
    expect(await shown(`?identity_id=${bob.identity_id}`)).toEqual(["bobs-job"]);
    const none = words((await open("/console/jobs?app=demo&status=failed")).text);
    expect(none).toContain("No jobs match. Show all jobs");
    const { text } = await open("/console/jobs?app=draw");
    expect(text).toContain('<option value="draw" selected="">');
  });

  it("the next page of jobs continues where the last ended and keeps the filters", async () => {
    const { ada, open } = await consoleAndAda();
    for (let count = 0; count < 3; count += 1) await startJob(ada, { action: `job-${count}` });
    await fireAlarm(ada.identity_id);
    const first = await open("/console/jobs?app=demo&limit=2");
    const [, next = ""] = /<a href="([^"]*)" rel="next">/.exec(first.text) ?? [];
    expect(next).toMatch(/^\/console\/jobs\?app=demo&amp;cursor=/);
    const second = await open(next.replaceAll("&amp;", "&"));
    expect(second.text).toContain("job-0");
    expect(second.text).not.toContain("job-1");
    expect(second.text).toContain('<a href="/console/jobs?app=demo">First page</a>');
  });
});

describe("the audit log", () => {
  it("the audit log shows and filters by actor, action and subject", async () => {
    const { olga, ada, open, fill } = await consoleAndAda();
    await saveApp(olga, "sketch", { starter_credits: 7 });
    await fill(pageOf(ada, "/suspend"), { reason: "chargebacks" });
    await fill(pageOf(ada, "/restore"), { reason: "cleared" });
    const all = words((await open("/console/audit")).text);
    for (const text of ["App saved", "starter credits: 7", "chargebacks", "olga@example.com"]) {
      expect(all).toContain(text);
    }
    const shown = async (query: string) => {
      const text = words((await open(`/console/audit?${query}`)).text);
      return ["App saved name:", "chargebacks", "cleared"].filter((one) => text.includes(one));
    };
    expect(await shown("act=account.suspend")).toEqual(["chargebacks"]);
    expect(await shown(`subject=${ada.identity_id}`)).toEqual(["chargebacks", "cleared"]);
    expect(await shown("subject=sketch")).toEqual(["App saved name:"]);
    expect(await shown(`actor=${olga.person.identity_id}`)).toHaveLength(3);
    expect(await shown("actor=nobody")).toEqual([]);
    const first = await open("/console/audit?limit=1");
    expect(first.text).toMatch(/href="\/console\/audit\?cursor=[0-9a-f-]{36}" rel="next"/);
  });
});

describe("one account", () => {
  it("an account's page shows the object's state, with held credits separately", async () => {
    const { ada, open } = await consoleAndAda();
    await startJob(ada, { cost_estimate: 40, metadata: { description: "A fox in the snow" } });
    await getToken(ada, { scopes: ["read"] }, { client_name: "Build agent" });
    const text = words((await open(pageOf(ada))).text);
    for (const part of [
      "60 credits available",
      "40 more held for running jobs",
      "A fox in the snow · Demo",
      "Held",
      "−40",
      "Starter credits",
      "Build agent",
      "Can read in all apps",
      ada.identity_id,
      "Active: its holder and their apps can use it.",
      "No operator has changed this account.",
    ]) {
      expect(text).toContain(part);
    }
  });

  it("an account's page says how many of its entries the read model has", async () => {
    const { ada, open } = await consoleAndAda();
    expect(words((await open(pageOf(ada))).text)).toContain(
      "Lists and charts include all 2 of its ledger entries",
    );
    await startJob(ada);
    expect(words((await open(pageOf(ada))).text)).toContain(
      "include 2 of its 3 ledger entries so far",
    );
    await fireAlarm(ada.identity_id);
    expect(words((await open(pageOf(ada))).text)).toContain("include all 3 of its ledger entries");
  });

  it("an account's page shows all ledger entries, page by page", async () => {
    const { ada, open } = await consoleAndAda();
    const jobs = Array.from({ length: 60 }, () => ({
      app: "demo",
      action: "draw",
      cost_estimate: 1,
    }));
    await ada.post("/api/jobs/batch", { jobs });
    let shown = 0;
    const balances: string[] = [];
    let path = pageOf(ada);
    while (path !== "") {
      shown += 1;
      const { text } = await open(path.replaceAll("&amp;", "&"));
      const [, table = ""] = text.split('<table class="statement">');
      const rows = table.slice(0, table.indexOf("</table>")).split("<tr").slice(2);
      balances.push(...rows.map((row) => words(`<body${row}`).trim().split(" ").at(-1) ?? ""));
      const [, older = ""] = /<a href="([^"]*before=[^"]*)#ledger" rel="next">/.exec(text) ?? [];
      path = older;
    }
    expect(balances).toEqual([...Array.from({ length: 61 }, (_, at) => String(40 + at)), "0"]);
    expect(shown).toBe(3);
  });

  it("an unknown identity gets a page with a link and creates no storage", async () => {
    const { open } = await openConsole();
    const { status, text } = await open("/console/accounts/user_nobody");
    expect(status).toBe(404);
    expect(text).toContain('href="/console"');
  });
});

describe("text from users and apps", () => {
  it("names, reasons and metadata are escaped on every page of the console", async () => {
    const { olga, ada, open, fill } = await consoleAndAda();
    await env.DIRECTORY.prepare("update users set name = ? where email = 'ada@example.com'")
      .bind(HOSTILE)
      .run();
    await saveApp(olga, "demo", { name: HOSTILE });
    await startJob(ada, { action: HOSTILE, metadata: { description: HOSTILE } });
    await getToken(ada, {}, { client_name: HOSTILE });
    const reason = { direction: "give", amount: "5", reason: HOSTILE, confirmed: "yes" };
    expect((await fill(pageOf(ada, "/credits"), reason)).status).toBe(303);
    await fill(pageOf(ada, "/suspend"), { reason: HOSTILE });
    await fireAlarm(ada.identity_id);
    for (const path of [
      "/console",
      "/console/accounts",
      `/console/accounts?q=${encodeURIComponent(HOSTILE)}`,
      pageOf(ada),
      "/console/jobs",
      `/console/jobs?identity_id=${encodeURIComponent(HOSTILE)}`,
      "/console/audit",
      `/console/audit?actor=${encodeURIComponent(HOSTILE)}`,
      "/console/apps",
      "/console/apps/demo",
    ]) {
      const { status, text } = await open(path);
      expect(status, path).toBe(200);
      expect(text, path).not.toContain("<script>alert");
      expect(text, path).toContain(ESCAPED);
    }
    const typed = { direction: HOSTILE, amount: HOSTILE, reason: HOSTILE };
    const refused = await fill(pageOf(ada, "/credits"), typed);
    expect(refused.text).not.toContain("<script>alert");
    expect(refused.text).toContain(ESCAPED);
  });
});

describe("while the read model is unavailable", () => {
  it("without the read model, lists say so, and accounts can still be found, shown and changed", async () => {
    const { ada, open, fill } = await consoleAndAda();
    for (const path of ["/console", "/console/accounts", "/console/jobs"]) {
      const { status, text } = await open(path, read_model_down);
      expect(status, path).toBe(200);
      expect(words(text), path).toContain("Lists and totals are not available right now");
    }
    const found = await open("/console/accounts?q=ada", read_model_down);
    expect(found.text).toContain(`href="${pageOf(ada)}"`);
    const page = words((await open(pageOf(ada), read_model_down)).text);
    expect(page).toContain("100 credits available");
    expect(page).toContain(
      "The database of lists and charts is not responding, so they may not show this account.",
    );
    const give = { direction: "give", amount: "5", reason: "why", confirmed: "yes" };
    expect((await fill(pageOf(ada, "/credits"), give, read_model_down)).status).toBe(303);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(105);
  });
});

describe("the filters of the list of accounts", () => {
  it("the console filters accounts by state, app and e-mail domain, and marks suspended and new ones", async () => {
    const { olga, open } = await openConsole();
    const ada = await signInWithCredits("demo", "ada@example.com");
    const bob = await signInWithCredits("draw", "bob@throwaway.example");
    const path = `/api/admin/accounts/${bob.identity_id}/suspend`;
    await olga.send("POST", path, { reason: "fraud" });
    for (const { identity_id } of [ada, bob]) await fireAlarm(identity_id);
    for (const [query, shown, hidden] of [
      ["state=suspended", "bob@", "ada@"],
      ["app=demo", "ada@", "bob@"],
      ["domain=throwaway.example", "bob@", "ada@"],
    ] as const) {
      const { text } = await open(`/console/accounts?${query}`);
      expect(text, query).toContain(shown);
      expect(text, query).not.toContain(hidden);
    }
    const { text } = await open("/console/accounts");
    expect(text.match(/class="tag">suspended/g)).toHaveLength(1);
    expect(text.match(/class="tag is-new">new/g)).toHaveLength(2);
  });

  it("the next page and the sort links keep all filters, and a sort link starts on the first page", async () => {
    const { open } = await openConsole();
    for (const name of ["ada", "bob", "cleo"]) {
      const { identity_id } = await signInWithCredits("demo", `${name}@wave.example`);
      await fireAlarm(identity_id);
    }
    const filters = "state=active&app=demo&domain=wave.example&created_from=2026-01-01";
    const of = (path: string) => `href="${path.replaceAll("&", "&amp;")}`;
    const { text } = await open(`/console/accounts?sort=credits&order=asc&${filters}&limit=2`);
    expect(text).toContain(of(`/console/accounts?sort=credits&order=asc&${filters}&cursor=`));
    expect(text).toContain(of(`/console/accounts?sort=credits&${filters}"`));
    expect(text).toContain(of(`/console/accounts?${filters}"`));
    expect(text).toMatch(/aria-sort="ascending" class="amount"><a [^>]+>Credits/);
    const [, next = ""] = /<a href="([^"]*)" rel="next">/.exec(text) ?? [];
    const second = await open(next.replaceAll("&amp;", "&"));
    expect(second.text.match(/id="account-/g)).toHaveLength(1);
    expect(second.text).toContain(of(`/console/accounts?sort=credits&${filters}"`));
    const future = await open("/console/accounts?created_from=2999-01-01");
    expect(future.text).not.toContain('id="account-');
    expect(future.text).toContain('value="2999-01-01"');
  });

  it("a sort link turns the order of its column round", async () => {
    const { open } = await openConsole();
    const found = async (query: string) => {
      const { text } = await open(`/console/accounts${query}`);
      return [...text.matchAll(/>(\w+)@example\.com</g)].map(([, name]) => name);
    };
    const ada = await signInWithCredits("demo", "ada@example.com");
    await startJob(ada);
    const bob = await signInWithCredits("demo", "bob@example.com");
    for (const { identity_id } of [ada, bob]) await fireAlarm(identity_id);
    expect(await found("?sort=credits")).toEqual(["bob", "ada"]);
    expect(await found("?sort=credits&order=asc")).toEqual(["ada", "bob"]);
    const { text } = await open("/console/accounts");
    expect(text).toMatch(/aria-sort="descending"><a href="\/console\/accounts\?order=asc">Since/);
    expect(await found("?order=asc")).toEqual((await found("")).toReversed());
  });
});

describe("the list of apps", () => {
  it("the list of apps shows the starter credits of today next to the daily limit, and says when they are used up", async () => {
    const { olga, open } = await openConsole();
    await saveApp(olga, "sketch", { starter_credits: 100, daily_starter_budget: 250 });
    for (const [name, text] of [
      ["ada", "100 of 250"],
      ["bob", "200 of 250 used up"],
    ] as const) {
      const { identity_id } = await signInWithCredits("sketch", `${name}@example.com`);
      await fireAlarm(identity_id);
      expect(words((await open("/console/apps")).text)).toContain(text);
    }
    expect(words((await open("/console/apps", read_model_down)).text)).toContain("– of 250");
    expect(words((await open("/console")).text)).toContain("An app 0 200 0 0 0 %");
  });
});

it.each([
  ["/console/accounts", "20"],
  ["/console/accounts?app=demo", "20"],
  ["/console/accounts?sort=credits", "120"],
  ["/console/accounts?state=suspended", "120"],
  ["/console/jobs", "120"],
  ["/console/jobs?identity_id=user_1", "20"],
])(
  "the list %s looks for new rows every %s seconds, less often if it reads a whole table",
  async (path, seconds) => {
    const { open } = await openConsole();
    expect((await open(path)).text).toContain(`data-live-poll="${seconds}"`);
  },
);
