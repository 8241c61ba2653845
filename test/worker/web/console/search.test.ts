/** The search field of the console: whatever an operator has in hand leads to its page. */
import { beforeEach, describe, expect, it } from "vitest";
import { openCheckout, openStripe, SELLING } from "../../payments/till.ts";
import { fireAlarm } from "../../support/account_object.ts";
import { signInWithCredits, type SignedIn } from "../../support/passbook.ts";
import { registerClient } from "../../support/registrations.ts";
import { saveApp } from "../../http/caller/app_server.ts";
import { SETTINGS } from "../../http/api/admin/operators.ts";
import { openConsole, type ConsoleBrowser } from "./pages.ts";

let browser: ConsoleBrowser;
let ada: SignedIn;
beforeEach(async () => {
  browser = await openConsole();
  ada = await signInWithCredits("demo");
});

/** Where the search leads; null: it shows a list. */
async function find(q: string, settings?: object): Promise<string | null> {
  const { headers } = await browser.open(
    `/console/search?q=${encodeURIComponent(q)}`,
    settings ?? SETTINGS,
  );
  return headers.get("Location");
}

const account = () => `/console/accounts/${ada.identity_id}`;

describe("the search", () => {
  it("is in the header of every page, as a form that needs no script", async () => {
    for (const path of ["/console", "/console/accounts", "/console/apps", account()]) {
      const { text } = await browser.open(path);
      expect(text).toContain('<form method="get" action="/console/search"');
      expect(text).toMatch(/<input[^>]*id="search"[^>]*name="q"/);
    }
  });

  it("a job's id opens the job, in capital letters too", async () => {
    const job = { app: "demo", action: "draw", cost_estimate: 5 };
    const { job_id } = (await ada.post("/api/jobs", job)).body;
    await fireAlarm(ada.identity_id);
    expect(await find(job_id)).toBe(`${account()}/jobs/${job_id}`);
    expect(await find(` ${job_id.toUpperCase()} `)).toBe(`${account()}/jobs/${job_id}`);
  });

  it("an identity, an account's id and an address open the account", async () => {
    await fireAlarm(ada.identity_id);
    const { id } = (await ada.get("/api/wallet")).body.account;
    for (const q of [ada.identity_id, id, "ada@example.com", "ADA@EXAMPLE.COM", "ada@"]) {
      expect(await find(q)).toBe(account());
    }
  });

  it("an app's slug and the start of its name open the app, and a client's id its clients", async () => {
    await saveApp(browser.olga, "sketch", { name: "Magic Sketch" });
    await registerClient("sketch", "web");
    expect(await find("sketch")).toBe("/console/apps/sketch");
    expect(await find("magic")).toBe("/console/apps/sketch");
    expect(await find("sketch~web")).toBe("/console/apps/sketch/oauth");
  });

  it("the id of a request finds the act of an operator", async () => {
    const done = await browser.olga.send("PUT", "/api/admin/apps/sketch", {
      name: "Sketch",
      starter_credits: 1,
      origins: [],
      daily_starter_budget: null,
    });
    const request_id = done.headers.get("Passbook-Request-Id") ?? "";
    const path = await find(request_id);
    expect(path).toBe(`/console/audit?request_id=${request_id}`);
    expect((await browser.open(path ?? "")).text).toContain("App saved");
  });

  it("a payment's and a checkout's id open the buyer's purchases; one of another service finds nothing", async () => {
    const stripe = openStripe();
    const settings = { ...SETTINGS, ...SELLING };
    const checkout = await openCheckout(ada);
    stripe.completes(checkout);
    const payment = String(stripe.sessions.get(checkout)?.["payment_intent"]);
    expect(await find(checkout, settings)).toBe(`${account()}#purchases`);
    expect(await find(payment, settings)).toBe(`${account()}#purchases`);
    expect(await find("pi_of_somebody_else", settings)).toBeNull();
  });

  it("several hits are a list by kind", async () => {
    const bob = await signInWithCredits("demo", "adam@example.com");
    for (const person of [ada, bob]) await fireAlarm(person.identity_id);
    await saveApp(browser.olga, "adagio", { name: "Adagio" });
    const { status, text } = await browser.open("/console/search?q=ada");
    expect(status).toBe(200);
    expect(text.indexOf("Accounts</h2>")).toBeLessThan(text.indexOf("Apps</h2>"));
    for (const link of [
      account(),
      `/console/accounts/${bob.identity_id}`,
      "/console/apps/adagio",
    ]) {
      expect(text).toContain(`href="${link}"`);
    }
  });

  it("nothing found says what can be searched for, and shows the text as text", async () => {
    const { status, text } = await browser.open("/console/search?q=%3Cb%3Enobody");
    expect(status).toBe(200);
    expect(text).toContain("Nothing was found.");
    expect(text).toContain("&lt;b&gt;nobody");
    expect(text).not.toContain("<b>nobody");
    expect((await browser.open("/console/search")).text).toContain("Type what you have");
  });
});
