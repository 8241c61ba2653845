/** The console's pages about money: the month, an account's purchases and ledger, and a job with its refund. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SETTINGS } from "../../http/api/admin/operators.ts";
import { openStripe, SELLING } from "../../payments/till.ts";
import { fireAlarm } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { signIn, type SignedIn } from "../../support/passbook.ts";
import { consoleAndAda, hiddenFields, openConsole, pageOf, words } from "./pages.ts";

const DAY_MS = 86_400_000;

async function jobThatCost6(ada: SignedIn): Promise<string> {
  const body = { app: "demo", action: "draw", cost_estimate: 10 };
  const { job_id } = (await ada.post("/api/jobs", body)).body;
  await ada.post("/api/jobs/complete", { job_id, actual_cost: 6 });
  return job_id;
}

async function buy(ada: SignedIn): Promise<void> {
  const account = env.ACCOUNT.getByName(ada.identity_id);
  const payment = { checkout_session_id: "cs_1", payment_intent_id: "pi_1" };
  const package_ = { package_id: "small", package_name: "Small", credits: 40 };
  await account.recordPurchase({ ...payment, ...package_, paid_minor: 123_450, currency: "eur" });
  const reversal = { payment_intent_id: "pi_1", source_id: "re_1", state: "withheld" } as const;
  await account.recordReversal({ ...reversal, amount_minor: 100 });
  await fireAlarm(ada.identity_id);
}

describe("the console's page of a job", () => {
  it("an operator refunds a job in parts from its page, which refuses what is too high or has no reason", async () => {
    const { open, submit, ada } = await consoleAndAda();
    const job_id = await jobThatCost6(ada);
    const path = pageOf(ada, `/jobs/${job_id}`);
    const send = (amount: string, reason: string) => {
      const form = { amount, reason, key: crypto.randomUUID(), confirmed: "yes" };
      return submit(`${path}/refund`, form);
    };
    const too_high = await send("7", "why");
    expect([too_high.status, words(too_high.text)]).toEqual([
      400,
      expect.stringContaining("At most 6 credits"),
    ]);
    const without_reason = await send("", "");
    expect([without_reason.status, words(without_reason.text)]).toEqual([
      400,
      expect.stringContaining("The reason must not be empty."),
    ]);
    const part = await send("4", "why");
    expect([part.status, part.headers.get("Location")]).toEqual([303, `${path}?notice=refunded`]);
    expect((await send("", "the rest")).status).toBe(303);
    expect(words((await open("/console/audit")).text)).toMatch(
      /Job refunded job id: \S+ · refunded: \d+ → \d+ · credits: \d+ → \d+/,
    );
    const after = words((await open(`${path}?notice=refunded`)).text);
    expect(after).toContain("The credits were given back.");
    expect(after).toContain("Refunded 6 credits");
    expect(after).not.toContain("Refund this job");
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
  });

  it("a refund is reviewed first, with the new balance, and what was reviewed is given back", async () => {
    const { submit, ada } = await consoleAndAda();
    const job_id = await jobThatCost6(ada);
    const path = pageOf(ada, `/jobs/${job_id}`);
    const form = { amount: "", reason: "a fault", key: crypto.randomUUID() };
    const review = await submit(`${path}/refund`, form);
    expect(review.status).toBe(200);
    expect(words(review.text)).toContain("Give back 6 credits?");
    expect(words(review.text)).toMatch(/Balance now 94 Given back \+6 After 100/);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(94);
    const confirmed = hiddenFields(review.text);
    expect(confirmed).toMatchObject({ amount: "6", reason: "a fault", confirmed: "yes" });
    expect((await submit(`${path}/refund`, confirmed)).status).toBe(303);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    // The form is sent again: it is done once.
    expect((await submit(`${path}/refund`, confirmed)).status).toBe(303);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    const late = await submit(`${path}/refund`, { ...form, amount: "1" });
    expect([late.status, words(late.text)]).toEqual([
      400,
      expect.stringContaining("At most 0 credits"),
    ]);
  });

  it("the review of a refund says that credits which came back after their end and ended again expire at once", async () => {
    const { olga, ada } = await consoleAndAda();
    const account = `/api/admin/accounts/${ada.identity_id}`;
    const gift = { amount: 10, reason: "a gift", expires_at: new Date(Date.now() + DAY_MS) };
    await olga.send("POST", `${account}/credits`, gift, { "Idempotency-Key": "gift" });
    const slow = { app: "demo", action: "draw", cost_estimate: 10, ttl_seconds: 30 * 86_400 };
    const { job_id: late } = (await ada.post("/api/jobs", slow)).body;
    passTime(2 * DAY_MS);
    const later = await signIn("ada@example.com");
    await later.post("/api/jobs/fail", { job_id: late });
    const job_id = await jobThatCost6(later);
    passTime(8 * DAY_MS);
    const { submit } = await openConsole();
    const form = { amount: "", reason: "a fault", key: crypto.randomUUID() };
    const review = await submit(pageOf(ada, `/jobs/${job_id}/refund`), form);
    expect(words(review.text)).toMatch(/After 106 .* expire at once, and the balance stays lower/);
    await submit(pageOf(ada, `/jobs/${job_id}/refund`), hiddenFields(review.text));
    const { body } = await (await signIn("ada@example.com")).get("/api/wallet");
    expect(body.account.credits).toBe(100);
  });

  it("a job of another account is not found, and nonsense is not either", async () => {
    const { open, ada, olga } = await consoleAndAda();
    const job_id = await jobThatCost6(ada);
    expect((await open(pageOf(olga.person, `/jobs/${job_id}`))).status).toBe(404);
    expect((await open(pageOf(ada, "/jobs/nonsense"))).status).toBe(404);
  });

  it("every list of jobs in the console links to the job", async () => {
    const { open, ada } = await consoleAndAda();
    const job_id = await jobThatCost6(ada);
    const started = { app: "demo", action: "run", cost_estimate: 1 };
    const { job_id: running } = (await ada.post("/api/jobs", started)).body;
    await fireAlarm(ada.identity_id);
    const links = (id: string) => `href="${pageOf(ada, `/jobs/${id}`)}"`;
    expect((await open("/console/jobs")).text).toContain(links(job_id));
    const account = (await open(pageOf(ada))).text;
    expect(account).toContain(links(job_id));
    expect(account).toContain(links(running));
  });
});

describe("the console's page of an account", () => {
  it("purchases show the money with a link to Stripe's dashboard, in test mode for a test key", async () => {
    const { open, ada } = await consoleAndAda();
    await buy(ada);
    const plain = (await open(pageOf(ada))).text;
    expect(words(plain)).toContain("1,234.50 EUR 1.00 EUR returned");
    expect(plain).not.toContain("dashboard.stripe.com");
    openStripe();
    const selling = { ...SETTINGS, ...SELLING };
    expect((await open(pageOf(ada), selling)).text).toContain(
      'href="https://dashboard.stripe.com/test/payments/pi_1"',
    );
    const live = { ...selling, STRIPE_SECRET_KEY: "rk_live_" + "a".repeat(24) };
    expect((await open(pageOf(ada), live)).text).toContain(
      'href="https://dashboard.stripe.com/payments/pi_1"',
    );
  });

  it("the ledger can be filtered by kind, app, job and day", async () => {
    const { open, ada } = await consoleAndAda();
    const job_id = await jobThatCost6(ada);
    await buy(ada);
    const today = new Date().toISOString().slice(0, 10);
    const rowsFor = async (query: string) =>
      [
        ...(await open(`${pageOf(ada)}?${query}`)).text.matchAll(
          /class="what"[^>]*>\s*([^<]+?)\s*</g,
        ),
      ].map(([, name]) => name);
    expect(await rowsFor("kind=purchase")).toEqual(["Credits bought"]);
    expect(await rowsFor(`job=${job_id}`)).toHaveLength(2);
    expect(await rowsFor("app=demo&kind=grant")).toEqual(["Starter credits"]);
    expect(await rowsFor(`first=${today}&last=${today}&kind=purchase`)).toHaveLength(1);
    expect(await rowsFor("first=2020-01-01&last=2020-01-02")).toEqual([]);
    const none = words((await open(`${pageOf(ada)}?kind=debt`)).text);
    expect(none).toContain("No entries match. Show all entries");
  });
});

describe("the console's page of money", () => {
  it("the page shows a month's sales and credits, with CSV of each list", async () => {
    const { open, ada } = await consoleAndAda();
    await jobThatCost6(ada);
    await buy(ada);
    const { text } = await open("/console/money");
    expect(words(text)).toContain("small 1 1,234.50 EUR 1.00 EUR 1,233.50 EUR");
    expect(words(text)).toContain("Demo 100 6 0 6");
    expect(words(text)).toContain("133 credits in all balances");
    const links = [...text.matchAll(/href="(\/console\/money\.csv[^"]+)"/g)].map(([, path = ""]) =>
      path.replaceAll("&amp;", "&"),
    );
    expect(links).toHaveLength(4);
    const month = new Date().toISOString().slice(0, 7);
    expect(words(text)).toMatch(
      new RegExp(
        `own, ${month} .* Change Bought Given At the start 0 0 Starters and plans 0 \\+100 Purchases \\+40 0 .* So far 39 94 `,
      ),
    );
    for (const path of links) {
      const { status, headers } = await open(path);
      expect([status, headers.get("Content-Type")]).toEqual([200, "text/csv; charset=utf-8"]);
    }
    expect((await open(links[1] ?? "")).text).toContain('"small","eur",1,123450,100');
  });

  it("a period without activity says so, and a wrong period becomes this month", async () => {
    const { open } = await consoleAndAda();
    const past = words((await open("/console/money?first=2020-01-01&last=2020-01-31")).text);
    expect(past).toContain("Sales, 2020-01-01 to 2020-01-31");
    expect(past).toContain("Nobody paid, and nothing was returned, on these days.");
    const month = new Date().toISOString().slice(0, 7);
    for (const query of [
      "first=2026-02-30",
      "month=nonsense",
      "first=2026-02-02&last=2026-01-01",
    ]) {
      const { status, text } = await open(`/console/money?${query}`);
      expect([status, words(text)]).toEqual([200, expect.stringContaining(`Sales, ${month}-01`)]);
    }
  });
});

it("a download of a period that the API refuses is that of the default period", async () => {
  const { open } = await consoleAndAda();
  for (const period of [
    "from=2020-01-01&to=2019-01-01",
    "from=2020-01-01&to=2022-01-01",
    "from=2020-01-01",
  ]) {
    const { status, headers } = await open(`/console/money.csv?list=by_app&${period}`);
    expect(status, period).toBe(200);
    expect(headers.get("Content-Disposition"), period).not.toContain("2020");
  }
});
