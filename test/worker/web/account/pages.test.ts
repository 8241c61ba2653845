import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { change, query } from "../../support/account_object.ts";
import { getToken } from "../../support/device_logins.ts";
import { passTime } from "../../support/clock.ts";
import {
  BASE_URL,
  send,
  signIn,
  signInWithCredits,
  type Answer,
  type SignedIn,
} from "../../support/passbook.ts";

/** Opens a page with a person's cookies. */
function open(person: SignedIn, path: string, settings: object = {}): Promise<Answer> {
  return send("GET", path, { headers: { Cookie: person.cookies, Accept: "text/html" } }, settings);
}

function submit(person: SignedIn, path: string, form: Record<string, string>): Promise<Answer> {
  const headers = { Cookie: person.cookies, Origin: BASE_URL, Accept: "text/html" };
  return send("POST", path, { headers, body: new URLSearchParams(form) });
}

async function startJob(person: SignedIn, job: object = {}): Promise<string> {
  const body = { app: "demo", action: "draw", cost_estimate: 10, ...job };
  return (await person.post("/api/jobs", body)).body.job_id;
}

/** The text of a page, without its markup. */
const words = (html: string): string => html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

/** The rows of a statement, as text. */
const rowsOf = (html: string): string[] =>
  html
    .split(/<li id="(?:job|entry)-/)
    .slice(1)
    .map((row) => words(`<li ${row.split(/<li class="day"|<\/li>/)[0]}`).trim());

const DAY_MS = 24 * 60 * 60 * 1000;

/** Adds reports of progress that change no credits to a job. */
async function addReports({ identity_id }: SignedIn, job_id: string, count: number): Promise<void> {
  await query(
    identity_id,
    `with recursive more (number) as (select 1 union all select number + 1 from more where number < ${count})
    insert into entries (line, kind, amount, balance_after, reserved_after, job_id, previous_line,
      app_slug, at_ms, open_jobs, recent_after_job_id, recent_jobs)
    select line + number, 'reserve', 0, balance_after, reserved_after, '${job_id}',
      iif(number = 1, (select line from jobs where id = '${job_id}'), line + number - 1),
      app_slug, at_ms, open_jobs, recent_after_job_id, recent_jobs
    from more, (select * from entries order by line desc limit 1) as newest`,
  );
  await change(
    identity_id,
    `update jobs set line = (select max(line) from entries) where id = '${job_id}'`,
  );
}

describe("the account page", () => {
  it("the account page shows held credits separately from spending", async () => {
    const ada = await signInWithCredits();
    await startJob(ada, { cost_estimate: 5 });
    const job_id = await startJob(ada, { cost_estimate: 7 });
    expect(words((await open(ada, "/account")).text)).toContain("12 held for 2 running jobs");
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 6 });
    const text = words((await open(ada, "/account")).text);
    expect(text).toContain("89 credits");
    expect(text).toContain("5 held for 1 running job");
    expect(text).toContain("6 credits in the last 30 days");
    expect(text).toContain("Since your account was opened.");
    expect(text).toContain("Demo 1 job 6");
  });

  it("the account page shows what expires when, in the order of use, and the statement what has expired", async () => {
    const ada = await signInWithCredits();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const give = async (amount: number, days: number, app_slugs: readonly string[] | null) => {
      const expires_at_ms = Date.now() + days * 86_400_000;
      const terms = { expires_at_ms, app_slugs, bought: false };
      await account.adjustCredits({ amount, note: "a trial", terms }, null);
    };
    expect((await open(ada, "/account")).text).not.toContain("Jobs use what expires first");
    await give(30, 9, null);
    await give(20, 2, ["demo"]);
    const job_id = await startJob(ada, { cost_estimate: 5 });
    const text = words((await open(ada, "/account")).text);
    expect(text).toContain(
      "Jobs use what expires first; then credits for their own app before credits for all; then given credits before bought ones; then the oldest.",
    );
    expect(text).toMatch(
      /15 credits until .*, only in Demo · a trial. 5 more held: these do not expire.*30 credits until/,
    );
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    passTime(3 * 86_400_000);
    const later = await signIn("ada@example.com");
    expect(words((await open(later, "/account")).text)).toContain("130 credits");
    expect(words((await open(later, "/account/statement")).text)).toContain("Credits expired");
    const csv = (await open(later, "/account/statement.csv")).text.split("\r\n");
    expect(csv[0]).toMatch(/,"lot_id","expires_at","credits","balance"$/);
    expect(csv[1]).toMatch(/,"Credits expired","a trial",.*,"[0-9a-f-]{36}",,-15,130$/);
  });

  it("the account page says where the first credits come from, and shows a chart after the first job", async () => {
    const ada = await signInWithCredits();
    const before = (await open(ada, "/account")).text;
    expect(words(before)).toContain(
      "You got 100 starter credits from Demo. When an app runs a job",
    );
    expect(before).not.toContain("chart-line");
    await ada.get("/api/wallet?app=sketch");
    const two = words((await open(ada, "/account")).text);
    expect(two).toContain("You got 200 starter credits from Demo and Sketch.");
    await startJob(ada);
    const after = (await open(ada, "/account")).text;
    expect(after).toContain("chart-line");
    expect(words(after)).not.toContain("starter credits. When");
  });

  it("the chart of an account that is minutes old begins when it was opened", async () => {
    const ada = await signInWithCredits();
    await startJob(ada);
    passTime(5 * 60 * 1000);
    const { text } = await open(ada, "/account");
    // The line begins within the first ten of 640 points: some time passes before the first entry.
    expect(text).toMatch(/class="chart-line" d="M\d(\.\d)? /);
    expect(text.match(/<div class="chart-times".*?<\/div>/s)?.[0].match(/<time/g)).toHaveLength(3);
  });

  it("the account page of a new account says what to do next", async () => {
    const text = words((await open(await signIn(), "/account")).text);
    expect(text).toContain("You get your first credits when you open an app");
    expect(text).toContain("No app has run a job for you yet");
    expect(text).toContain(
      "Only this browser can use your account, with the apps in which you signed in here. Nothing else has access.",
    );
    expect(text).toContain("enter the code that it shows");
  });

  it("the account page shows the names of apps and plans", async () => {
    const ada = await signInWithCredits("demo-studio");
    await env.DIRECTORY.prepare(
      "insert into apps (slug, name, starter_credits, created_at_ms) values ('zine', 'The Zine', 5, 0)",
    ).run();
    await change(ada.identity_id, "update account set plan = 'pro-plus'");
    const fresh = { DIRECTORY: env.DIRECTORY };
    await send(
      "GET",
      "/api/wallet?app=zine",
      {
        headers: { Authorization: `Bearer ${ada.token}` },
      },
      fresh,
    );
    const text = words((await open(ada, "/account", fresh)).text);
    for (const name of ["The Zine", "Demo studio", "Pro plus"]) expect(text).toContain(name);
    expect(text).not.toContain("pro-plus");
  });

  it("a job's image is shown only on its page, over https, and is requested without a referrer", async () => {
    const ada = await signInWithCredits();
    const shown = await startJob(ada, {
      metadata: { description: "<b>Cat</b>", previewUrl: "https://p.test/a" },
    });
    const { text, headers } = await open(ada, `/account/jobs/${shown}`);
    const [picture = "", ...more] = text.match(/<img[^>]*>/g) ?? [];
    expect(more).toEqual([]);
    expect(picture).toContain('src="https://p.test/a"');
    expect(picture).toContain('referrerpolicy="no-referrer"');
    expect(picture).toMatch(/width="\d+" height="\d+" loading="lazy"/);
    expect(text).toContain("&lt;b&gt;Cat&lt;/b&gt;");
    expect(headers.get("Content-Security-Policy")).toContain("img-src 'self' https:;");
    for (const previewUrl of ["javascript:alert(1)", "http://p.test/b"]) {
      const id = await startJob(ada, { metadata: { previewUrl } });
      expect((await open(ada, `/account/jobs/${id}`)).text).not.toContain("<img");
    }
    for (const path of [
      "/account",
      "/account/jobs",
      "/account/statement",
      "/account/access",
      "/signin",
      "/device",
      "/nowhere",
    ]) {
      const page = await open(ada, path);
      expect(page.text).not.toContain("p.test");
      const policy = page.headers.get("Content-Security-Policy") ?? "";
      expect(policy).toContain("img-src 'self';");
      expect(policy).not.toContain("unsafe");
    }
  });

  it("the account page works while the app registry cannot be read", async () => {
    const ada = await signInWithCredits();
    const broken = {
      DIRECTORY: new Proxy(env.DIRECTORY, {
        get(database, name) {
          if (name !== "prepare") return Reflect.get(database, name);
          return (query: string) => {
            if (query.includes('from "apps"')) throw new Error("D1_ERROR: down");
            return database.prepare(query);
          };
        },
      }),
    };
    expect((await open(ada, "/account", broken)).status).toBe(200);
  });

  it("the charts cover thirty days and start with the balance before them", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    // Ids are never older than the last one, and another test file may have set the clock forward.
    const made_at_ms = Number.parseInt(job_id.replaceAll("-", "").slice(0, 12), 16);
    passTime(made_at_ms - Date.now() + 31 * DAY_MS);
    const later = await signIn();
    const { text } = await open(later, "/account");
    expect(text).toContain("Balance from 90 to 90 credits");
    expect(text).not.toContain("in the last 30 days</span>");
  });
});

describe("the jobs page", () => {
  it("the jobs page shows a job's failure reason as text", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    await ada.post("/api/jobs/fail", { job_id, reason: "out of <b>paper</b>" });
    for (const path of ["/account", "/account/jobs"]) {
      expect((await open(ada, path)).text).toContain("out of &lt;b&gt;paper&lt;/b&gt;");
    }
  });

  it("the jobs page filters, pages, and ignores invalid filters", async () => {
    const ada = await signInWithCredits("demo");
    for (let count = 0; count < 26; count += 1) {
      await startJob(ada, { cost_estimate: 0, metadata: { description: `Number ${count}.` } });
    }
    const first = await open(ada, "/account/jobs?status=started&app=demo");
    expect(first.text.match(/class="job"/g)).toHaveLength(24);
    const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const second = await open(ada, next);
    expect(words(second.text)).toContain("Number 0.");
    expect(second.text.match(/class="job"/g)).toHaveLength(2);
    const none = await open(ada, "/account/jobs?status=failed");
    expect(words(none.text)).toContain("No jobs match");
    const nonsense = await open(ada, "/account/jobs?status=x&app=../&before=1");
    expect(nonsense.status).toBe(200);
    expect(nonsense.text.match(/class="job"/g)).toHaveLength(24);
  });
});

describe("a job's page", () => {
  it("a job's page shows its cost, its app, its metadata and each of its entries", async () => {
    const ada = await signInWithCredits();
    const metadata = { description: "A cat", style: "<i>ink</i>" };
    const job_id = await startJob(ada, { metadata });
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 7 });
    const { text } = await open(ada, `/account/jobs/${job_id}`);
    for (const part of ["A cat", "\u22127 credits", "10 were held while it ran.", "Demo", job_id]) {
      expect(words(text)).toContain(part);
    }
    expect(words(text)).toMatch(
      /Balance after .* 7 credits charged, 3 no longer held 93 .* 10 held 90/,
    );
    expect(text).toContain("&lt;i&gt;ink&lt;/i&gt;");
    expect(text).not.toContain("/account/jobs/cancel");
  });

  it("a job's page says why the job failed", async () => {
    const ada = await signInWithCredits();
    const reported = await startJob(ada);
    await ada.post("/api/jobs/fail", { job_id: reported, reason: "out of <b>paper</b>" });
    const silent = await startJob(ada);
    await ada.post("/api/jobs/fail", { job_id: silent });
    const overdue = await startJob(ada, { ttl_seconds: 60 });
    passTime(61_000);
    const page = async (id: string) => (await open(ada, `/account/jobs/${id}`)).text;
    expect(await page(reported)).toContain("out of &lt;b&gt;paper&lt;/b&gt;");
    expect(words(await page(silent))).toContain("Failed: The app did not say why.");
    expect(words(await page(silent))).toContain("You were not charged.");
    expect(words(await page(overdue))).toContain("Timed out: The app did not finish it in time.");
  });

  it("a started job can be cancelled on its page, and cancelling it again changes nothing", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    expect((await open(ada, `/account/jobs/${job_id}`)).text).toContain("Yes, cancel it now");
    const cancelled = await submit(ada, "/account/jobs/cancel", { job_id });
    const back = cancelled.headers.get("Location") ?? "";
    expect(back).toBe(`/account/jobs/${job_id}?notice=job_cancelled`);
    const text = words((await open(ada, back)).text);
    expect(text).toContain("Cancelled. The job ended now");
    expect(text).toContain("You were not charged. Cancelled by the account&#39;s holder.");
    expect((await open(ada, "/account/jobs")).text).toContain(`state-failed">Cancelled<`);
    expect((await submit(ada, "/account/jobs/cancel", { job_id })).status).toBe(303);
    const done = await startJob(ada);
    await ada.post("/api/jobs/complete", { job_id: done, actual_cost: 1 });
    const refused = await submit(ada, "/account/jobs/cancel", { job_id: done });
    expect(refused.headers.get("Location")).toBe(`/account/jobs/${done}?notice=job_ended`);
  });

  it("another person's job, an unknown id and nonsense get the same page", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    const bob = await signIn("bob@example.com");
    for (const id of [job_id, crypto.randomUUID(), "nonsense"]) {
      const answer = await open(bob, `/account/jobs/${id}`);
      expect(answer.status).toBe(404);
      expect(words(answer.text)).toContain("Job not found");
    }
  });
});

describe("the statement", () => {
  it("the statement shows what each job cost in one row, with its entries in the details", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada, { metadata: { description: "A cat" } });
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 7 });
    const failed = await startJob(ada);
    await ada.post("/api/jobs/fail", { job_id: failed, reason: "out of ink" });
    const kept = await startJob(ada);
    await ada.post("/api/jobs/fail", { job_id: kept, refund: false });
    const late = await startJob(ada, { ttl_seconds: 60 });
    passTime(61_000);
    await ada.post("/api/jobs/complete", { job_id: late, actual_cost: 4 });
    await startJob(ada, { metadata: { description: "A dog" } });
    const { text } = await open(ada, "/account/statement");
    const rows = rowsOf(text);
    expect(rows).toEqual([
      expect.stringMatching(
        /^D A dog [\d:]+ · Running · Demo 10 held , balance 69 .* 10 held 69 Open this job/,
      ),
      expect.stringMatching(
        /^D draw [\d:]+ · Done · Demo \u22124 , balance 79 .* 4 credits charged 79 .* 10 no longer held 83 .* 10 held 73/,
      ),
      expect.stringMatching(
        /^D draw [\d:]+ · Failed: The app did not say why. · Demo \u221210 , balance 83 .* 10 credits charged 83/,
      ),
      expect.stringMatching(
        /^D draw [\d:]+ · Failed, not charged: out of ink · Demo 0 , balance 93 /,
      ),
      expect.stringMatching(
        /^D A cat [\d:]+ · Done · Demo \u22127 , balance 93 .* 7 credits charged, 3 no longer held 93 .* 10 held 90/,
      ),
      expect.stringMatching(
        /^D Starter credits [\d:]+ · Demo \+100 , balance 100 .* Starter credits \+100 100$/,
      ),
      expect.stringMatching(/^Account opened [\d:]+ , balance 0 .* Account opened 0$/),
    ]);
    expect(words(text)).toContain("Balance 69 Held 10 Spent \u221221 Added +100 At the start 0");
    expect(words(text)).toContain(
      "The balance and the held credits are 79 together: those at the start",
    );
  });

  it("a job that reports its progress is one row, which says what it holds and then what it cost", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    for (const [step, terms] of [
      { reserve: 30, spent: 4 },
      { reserve: 25 },
      { spent: 5 },
    ].entries()) {
      await ada.post("/api/jobs/progress", { job_id, step: step + 1, ...terms });
    }
    const row = async () => rowsOf((await open(ada, "/account/statement")).text)[0];
    expect(await row()).toMatch(
      / · Running · Demo 25 held .* Balance after [\w, :]+ 5 no longer held 75 [\w, :]+ 20 more held 70 [\w, :]+ 10 held 90/,
    );
    const page = words((await open(ada, `/account/jobs/${job_id}`)).text);
    expect(page).toContain("25 held The job is running.");
    expect(page).toContain("If it times out, you pay 5 credits.");
    expect(page).toContain("The job ends now, and you pay 5 credits.");
    await ada.post("/api/jobs/cancel", { job_id });
    expect(await row()).toMatch(
      / · Failed: .* \u22125 .* 5 credits charged, 20 no longer held 95 /,
    );
    const csv = (await open(ada, "/account/statement.csv")).text.split("\r\n").slice(1, 5);
    expect(
      csv.map((line) => line.split(",").slice(2, 3).concat(line.split(",").slice(-2))),
    ).toEqual([
      [`"Charged 5 credits of 25 held"`, "20", "95"],
      [`"No longer held"`, "5", "75"],
      [`"Held"`, "-20", "70"],
      [`"Held"`, "-10", "90"],
    ]);
  });

  it("a month in which long jobs report their progress ten thousand times loses none of its other changes", async () => {
    const ada = await signInWithCredits();
    await env.ACCOUNT.getByName(ada.identity_id).adjustCredits(
      { amount: 5_000, note: "a gift", allow_negative: false },
      null,
    );
    const ended = await startJob(ada);
    const running = await startJob(ada);
    for (const [job_id, steps] of [
      [ended, 9_000],
      [running, 3_000],
    ] as const) {
      await ada.post("/api/jobs/progress", { job_id, step: 1 });
      await addReports(ada, job_id, steps);
    }
    await ada.post("/api/jobs/complete", { job_id: ended, actual_cost: 4 });
    await ada.post("/api/jobs/progress", { job_id: running, step: 2, reserve: 7 });
    await ada.post("/api/jobs/progress", { job_id: running, step: 3, spent: 7 });

    const { text } = await open(ada, "/account/statement");
    expect(words(text)).toContain("Balance 5,089 Held 7 Spent \u22124 Added +5,100");
    expect(rowsOf(text)).toHaveLength(5);
    expect(text).not.toContain('rel="next"');
    const csv = (await open(ada, "/account/statement.csv")).text.trimEnd().split("\r\n").slice(1);
    const changes = csv.map((line) => line.split(",").slice(-2).map(Number));
    expect(changes.reduce((sum, [credits = 0]) => sum + credits, 0)).toBe(5_089);
    expect(changes.map(([credits]) => credits)).toEqual([3, 6, -10, -10, 5_000, 100, 0]);
    const job = words((await open(ada, `/account/jobs/${running}`)).text);
    expect(job).toMatch(/Balance after [\w, :]+ 3 no longer held 5,089 [\w, :]+ 10 held/);
    const { body } = await open(ada, "/account/data.json");
    expect(body.ledger).toHaveLength(7);
    expect((await open(ada, "/account")).text).toContain("chart-line");
  });

  it("the CSV file of a month has every entry, also of one with more than ten thousand", async () => {
    const ada = await signInWithCredits();
    await change(
      ada.identity_id,
      `with recursive more (number) as (select 1 union all select number + 1 from more where number < 10500)
      insert into entries (line, kind, amount, balance_after, at_ms)
      select newest.line + number, 'adjustment', 1, newest.balance_after + number, newest.at_ms
      from more, (select * from entries order by line desc limit 1) as newest`,
    );
    const csv = (await open(ada, "/account/statement.csv")).text.trimEnd().split("\r\n").slice(1);
    expect(csv.map((line) => Number(line.split(",")[0]))).toEqual(
      Array.from({ length: 10_502 }, (_, at) => 10_502 - at),
    );
    const page = words((await open(ada, "/account/statement")).text);
    expect(page).toContain("Balance 10,600 Spent 0 Added +10,600");
  });

  it("a job that is refunded in the same month shows its net cost in one row", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada);
    await ada.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    const refund = { job_id, amount: 6, note: "a blurry image" };
    await env.ACCOUNT.getByName(ada.identity_id).refundJob(refund, null);
    const [row] = rowsOf((await open(ada, "/account/statement")).text);
    expect(row).toMatch(
      / · Partly refunded: 6 of 10 · Demo \u22124 , balance 96 .* 6 refunded by the operator: a blurry image 96 /,
    );
    const page = words((await open(ada, `/account/jobs/${job_id}`)).text);
    expect(page).toContain("\u22124 credits It cost 10 credits, and 6 were given back.");
    expect(words((await open(ada, "/account/jobs")).text)).toMatch(/ Partly refunded \u22124 /);
  });

  it("every list says that a job was refunded, also the month in which it cost something", async () => {
    const ada = await signInWithCredits();
    const metadata = { description: "A cat" };
    const job_id = await startJob(ada, { metadata });
    await ada.post("/api/jobs/fail", { job_id, refund: false });
    const month = new Date().toISOString().slice(0, 7);
    passTime(32 * DAY_MS);
    await env.ACCOUNT.getByName(ada.identity_id).refundJob(
      { job_id, amount: 10, note: "late" },
      null,
    );
    const later = await signIn();
    for (const list of ["/account", "/account/jobs"]) {
      expect(words((await open(later, list)).text)).toMatch(/A cat Demo · [^\u2212]*? Refunded 0 /);
    }
    const [row] = rowsOf((await open(later, "/account/statement")).text);
    expect(row).toMatch(
      /^D A cat [\d:]+ · Refunded: 10 of 10 · began in an earlier month · Demo \+10 , balance 100 /,
    );
    const [then] = rowsOf((await open(later, `/account/statement?month=${month}`)).text);
    expect(then).toMatch(/^D A cat [\d:]+ · Refunded in a later month · Failed: .* \u221210 /);
  });

  it("a job that ends in a later month costs nothing in the month in which it began", async () => {
    const ada = await signInWithCredits();
    const job_id = await startJob(ada, { ttl_seconds: 2_592_000 });
    const month = new Date().toISOString().slice(0, 7);
    // Ids are never older than the last one, and another test file may have set the clock forward.
    const begun_ms = Number.parseInt(job_id.replaceAll("-", "").slice(0, 12), 16);
    passTime(begun_ms - Date.now() + 29 * DAY_MS);
    if (new Date().toISOString().slice(0, 7) === month) passTime(2 * DAY_MS);
    const later = await signIn();
    await later.post("/api/jobs/complete", { job_id, actual_cost: 6 });
    const [now] = rowsOf((await open(later, "/account/statement")).text);
    expect(now).toMatch(/ · Done · began in an earlier month · Demo \u22126 /);
    const then = await open(later, `/account/statement?month=${month}`);
    expect(rowsOf(then.text)[0]).toMatch(/ · Ended in a later month · Demo 10 held /);
    expect(words(then.text)).toContain("Balance at the end 90 Held 10 Spent 0 Added +100");
    expect(words(then.text)).toContain("The balance and the held credits are 100 together");
  });

  it("each month's statement starts with the closing balance of the month before", async () => {
    const ada = await signInWithCredits();
    const month = new Date().toISOString().slice(0, 7);
    passTime(40 * DAY_MS);
    const later = await signIn();
    const job_id = await startJob(later);
    await later.post("/api/jobs/complete", { job_id, actual_cost: 1 });
    const now = await open(later, "/account/statement");
    expect(words(now.text)).toContain("Balance 99 Spent \u22121 Added 0 At the start 100");
    const then = await open(later, `/account/statement?month=${month}`);
    expect(words(then.text)).toContain("Balance at the end 100 Spent 0 Added +100 At the start 0");
    expect(ada.identity_id).toBe(later.identity_id);
    const future = await open(later, "/account/statement?month=2999-01");
    expect(words(future.text)).toContain("Your credits did not change in this month.");
  });

  it("the statement filters by app and by kind, and adds up only what matches", async () => {
    const ada = await signInWithCredits();
    await ada.get("/api/wallet?app=other");
    for (const app of ["demo", "other", "demo"]) {
      const job_id = await startJob(ada, { app });
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 3 });
    }
    const one = await open(ada, "/account/statement?app=demo&kind=jobs");
    expect(rowsOf(one.text)).toHaveLength(2);
    expect(words(one.text)).toContain("Spent \u22126 Added 0 ");
    expect(words(one.text)).not.toContain("At the start");
    const starter = await open(ada, "/account/statement?kind=starter");
    expect(rowsOf(starter.text)).toHaveLength(2);
    const none = await open(ada, "/account/statement?kind=purchases");
    expect(words(none.text)).toContain("Nothing here matches the filter.");
    const nonsense = await open(ada, "/account/statement?kind=x&app=../&before=-1");
    expect(rowsOf(nonsense.text)).toHaveLength(6);
  });

  it("the statement of a long month has pages, and a page stays small", async () => {
    const ada = await signInWithCredits();
    for (let count = 0; count < 51; count += 1) {
      const metadata = { description: `Number ${count} of a series of long descriptions` };
      const job_id = await startJob(ada, { cost_estimate: 0, metadata });
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 0 });
    }
    const first = await open(ada, "/account/statement?kind=jobs");
    expect(rowsOf(first.text)).toHaveLength(50);
    expect(new TextEncoder().encode(first.text).byteLength).toBeLessThan(60 * 1024);
    const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const last = await open(ada, next);
    expect(rowsOf(last.text)).toHaveLength(1);
    expect(last.text).not.toContain('rel="next"');
    expect(last.text).toContain("Newest of");
  });

  it("the CSV has all entries of the month and no cell that a spreadsheet runs as a formula", async () => {
    const ada = await signInWithCredits();
    for (let count = 0; count < 51; count += 1) {
      await startJob(ada, { cost_estimate: 1, metadata: { description: '=HYPERLINK("x")' } });
    }
    await startJob(ada, { metadata: { description: "A, b" } });
    const { text, headers } = await open(ada, "/account/statement.csv");
    expect(headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(headers.get("Content-Disposition")).toMatch(
      /^attachment; filename="statement-\d{4}-\d{2}\.csv"$/,
    );
    expect(headers.get("Cache-Control")).toBe("no-store");
    const rows = text.trimEnd().split("\r\n");
    expect(rows).toHaveLength(1 + 2 + 52);
    expect(rows[1]).toMatch(
      /^54,"[^"]+Z","Held","A, b · Demo","demo","[0-9a-f-]{36}","browser",,,,,-10,39$/,
    );
    expect(rows[2]).toContain(`,"'=HYPERLINK(""x"") · Demo",`);
    expect(rows.at(-1)).toMatch(/^1,.*"Account opened",,,,,,,,,0,0$/);
  });
});

describe("a person's data", () => {
  it("the data download contains everything about the person as JSON", async () => {
    const ada = await signInWithCredits();
    await getToken(ada, {}, { client_name: "Laptop" });
    for (let count = 0; count < 201; count += 1) await startJob(ada, { cost_estimate: 0 });
    const { body, headers } = await open(ada, "/account/data.json");
    expect(headers.get("Content-Disposition")).toContain("attachment");
    expect(body.person).toMatchObject({ email: "ada@example.com" });
    expect(body.account).toMatchObject({ identity_id: ada.identity_id, credits: 100 });
    expect(body.personal_tokens).toMatchObject([{ label: "Laptop" }]);
    expect(body.sessions).toHaveLength(1);
    expect(body.jobs).toHaveLength(201);
    expect(body.ledger.map(({ line }: { line: number }) => line)).toEqual(
      Array.from({ length: 203 }, (_, at) => 203 - at),
    );
  });
});

describe("signed-in browsers", () => {
  it("a person can end their own sessions but not another person's", async () => {
    const ada = await signIn();
    const elsewhere = await signIn();
    const bob = await signIn("bob@example.com");
    const page = await open(ada, "/account/access");
    expect(page.text.match(/name="session_id"/g)).toHaveLength(1);
    const session_id = /name="session_id" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    await submit(bob, "/account/end-session", { session_id });
    expect((await open(elsewhere, "/account")).status).toBe(200);
    const ended = await submit(ada, "/account/end-session", { session_id });
    expect(ended.headers.get("Location")).toBe("/account/access?notice=session_ended");
    const gone = await open(elsewhere, "/account");
    expect(gone.status).toBe(303);
    expect((await open(ada, "/account")).status).toBe(200);
  });

  it("a session can be ended only from our own pages", async () => {
    const ada = await signIn();
    const answer = await send("POST", "/account/end-session", {
      headers: { Cookie: ada.cookies, Origin: "https://evil.test" },
      body: new URLSearchParams({ session_id: "x" }),
    });
    expect(answer.status).toBe(403);
  });
});

describe("every page of the account", () => {
  const pages = ["", "/jobs", "/jobs/x", "/statement", "/statement.csv", "/data.json"];

  it.each(pages)("%s redirects a signed-out browser to sign-in", async (path) => {
    const answer = await send("GET", `/account${path}`, { headers: { Accept: "text/html" } });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toContain("/signin?redirect_to=");
  });
});

describe("the service's name and colour", () => {
  const settings = { SERVICE_NAME: "Atelier <Pass>", SERVICE_ACCENT: "#7A1FA2" };

  it("every page has the service's name and colour", async () => {
    const ada = await signIn();
    for (const path of ["/signin", "/account", "/account/statement", "/device", "/nowhere"]) {
      const { text } = await open(ada, path, settings);
      if (text === "") continue;
      expect(text).toContain("· Atelier &lt;Pass&gt;</title>");
      expect(text).toContain('href="/theme.css?v=7a1fa2"');
      expect(text).not.toContain("Passbook");
      expect(text).not.toMatch(/ style=|<style/);
    }
  });

  it("the theme and the icon can be cached", async () => {
    const theme = await send("GET", "/theme.css?v=7a1fa2", {}, settings);
    expect(theme.text).toContain("light-dark(#7a1fa2,");
    expect(theme.headers.get("Cache-Control")).toContain("immutable");
    const stale = await send("GET", "/theme.css?v=old", {}, settings);
    expect(stale.headers.get("Cache-Control")).not.toContain("immutable");
    const icon = await send("GET", "/favicon.svg", {}, settings);
    expect(icon.headers.get("Content-Type")).toBe("image/svg+xml");
    expect(icon.text).toContain("#7a1fa2");
  });

  it.each([
    ["SERVICE_ACCENT", { SERVICE_ACCENT: "red" }],
    ["SERVICE_ACCENT", { SERVICE_ACCENT: "#123456;}" }],
    ["SERVICE_NAME", { SERVICE_NAME: " " }],
    ["SERVICE_NAME", { SERVICE_NAME: "x".repeat(41) }],
  ])("startup refuses an invalid %s", async (variable, wrong) => {
    const answer = await send("GET", "/api/wallet", {}, wrong);
    expect(answer).toMatchObject({
      status: 500,
      body: { error: expect.stringContaining(variable) },
    });
  });

  it("the paths of static files change with each release", async () => {
    const RELEASE = { id: "7b1c", tag: "", timestamp: "" };
    const { text } = await send("GET", "/signin", {}, { RELEASE });
    expect(text).toContain('href="/static/passbook.css?v=7b1c"');
  });
});
