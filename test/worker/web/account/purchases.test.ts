/** Prices on the buttons, the list of purchases with their receipts, and the way back to the app. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import worker from "../../../../src/worker.ts";
import type { StripeDouble } from "../../payments/stripe_double.ts";
import { deliver, openCheckout, openStripe, PACKAGES, SELLING } from "../../payments/till.ts";
import { change } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { BASE_URL, environmentWith, send, signIn, type SignedIn } from "../../support/passbook.ts";

/** Settings of a new isolate, which knows no price yet. */
const isolate = (changes: object = {}) => ({ ...SELLING, ...changes });

function open(person: SignedIn, path: string, settings: object = SELLING) {
  return send("GET", path, { headers: { Cookie: person.cookies, Accept: "text/html" } }, settings);
}

const words = (html: string): string => html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

async function buy(stripe: StripeDouble, person: SignedIn, package_id = "small"): Promise<string> {
  const id = await openCheckout(person, package_id);
  await deliver(stripe.completes(id));
  return id;
}

const asksForPrices = (stripe: StripeDouble): number =>
  stripe.asked.filter(({ url }) => url.includes("/v1/prices/")).length;

describe("prices on the buttons", () => {
  it("the buttons have Stripe's prices, which are read once for many page views", async () => {
    const stripe = openStripe();
    const settings = isolate();
    const ada = await signIn();
    for (let view = 0; view < 3; view += 1) {
      const { text } = await open(ada, "/account", settings);
      expect(text).toContain("Buy for 5.00 EUR");
      expect(text).toContain("Buy for 33.33 EUR");
    }
    expect(asksForPrices(stripe)).toBe(2);
  });

  it("a price of the settings is shown without a request to Stripe", async () => {
    const stripe = openStripe();
    const priced = PACKAGES.map((it) => ({ ...it, price_text: "€5 plus VAT" }));
    const settings = isolate({ CREDIT_PACKAGES: JSON.stringify(priced) });
    expect((await open(await signIn(), "/account", settings)).text).toContain(
      "Buy for €5 plus VAT",
    );
    expect(stripe.asked).toEqual([]);
  });

  it.each([
    ["responds with an error", () => Promise.resolve(new Response("down", { status: 500 }))],
    ["is unreachable", () => Promise.reject(new TypeError("no connection"))],
    ["responds with nonsense", () => Promise.resolve(new Response("[]"))],
  ])(
    "while Stripe %s, the buttons have no price, and it is asked again after a minute",
    async (_, respond) => {
      const settings = isolate();
      const ada = await signIn();
      const asked = vi.spyOn(globalThis, "fetch").mockImplementation(respond);
      for (let view = 0; view < 2; view += 1) {
        const { status, text } = await open(ada, "/account", settings);
        expect(status).toBe(200);
        expect(text).toContain(">Buy</button>");
      }
      expect(asked).toHaveBeenCalledTimes(2);
      openStripe();
      passTime(61_000);
      expect((await open(await signIn(), "/account", settings)).text).toContain("Buy for 5.00 EUR");
    },
  );

  it("while Stripe does not respond, the page does not wait for it", async () => {
    const ada = await signIn();
    let release = (): void => {};
    const silence = new Promise<void>((resolve) => (release = resolve));
    vi.spyOn(globalThis, "fetch").mockImplementation(() => silence.then(() => new Response("{}")));
    const context = createExecutionContext();
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    const request = new Request(`${BASE_URL}/account`, { headers });
    const response = await worker.fetch(request, environmentWith(isolate()), context);
    expect(await response.text()).toContain(">Buy</button>");
    release();
    await waitOnExecutionContext(context);
  });

  it("a price that Stripe does not have, or that is not fixed, is not asked for again", async () => {
    const stripe = openStripe();
    delete stripe.prices["price_large"];
    const settings = isolate();
    const ada = await signIn();
    const { text } = await open(ada, "/account", settings);
    expect([text.includes("Buy for 5.00 EUR"), text.includes(">Buy</button>")]).toEqual([
      true,
      true,
    ]);
    passTime(61_000);
    await open(ada, "/account", settings);
    expect(asksForPrices(stripe)).toBe(2);
  });
});

describe("purchases and receipts", () => {
  it("the account page lists purchases with amount and currency, and what a refund took back", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    await buy(stripe, ada, "small");
    const large = await buy(stripe, ada, "large");
    await deliver(stripe.refunds(large, 1_000));
    const { text } = await open(ada, "/account");
    const section = words(text.slice(text.indexOf('id="purchases"')));
    expect(section).toContain("+1,000 credits Large");
    expect(section).toContain("refunded, 301 credits taken back 33.33 EUR Receipt");
    expect(section).toContain("5.00 EUR");
    expect((await open(ada, "/account", {})).text).not.toContain("/account/receipt");
  });

  it("a purchase passes its payment to the operator's contact", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await buy(stripe, ada);
    const contact = { SUPPORT_URL: "https://example.com/help" };
    for (const path of ["/account", "/account/purchases"]) {
      expect((await open(ada, path, contact)).text).toContain(
        `href="https://example.com/help?purchase=pi_${id}">Something wrong?`,
      );
      expect((await open(ada, path, {})).text).not.toContain("Something wrong?");
    }
  });

  it("activity stands before what is for sale, unless the person came to buy", async () => {
    const settings = isolate();
    const ada = await signIn();
    const order = (html: string) => html.indexOf('id="buy"') - html.indexOf('id="recent-jobs"');
    const { text } = await open(ada, "/account", settings);
    expect(order(text)).toBeGreaterThan(0);
    expect(text).toContain('<a href="#buy">Buy credits</a>');
    const query = new URLSearchParams({ return_to: "http://localhost:3000/studio" });
    const came = await open(ada, `/account?${query.toString()}`, settings);
    expect(order(came.text)).toBeLessThan(0);
  });

  it("a receipt is Stripe's, and only of the person's own payments", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await buy(stripe, ada);
    const path = `/account/receipt?payment=pi_${id}`;
    const receipt = await open(ada, path);
    expect(receipt.headers.get("Location")).toBe(`https://pay.stripe.com/receipts/${id}`);
    const calls = stripe.asked.length;
    expect((await open(await signIn("bob@example.com"), path)).status).toBe(404);
    expect((await open(ada, "/account/receipt?payment=../refunds")).status).toBe(404);
    expect(stripe.asked.length).toBe(calls);
  });

  it.each([
    "http://pay.stripe.com/receipts/1",
    "https://stripe.com.evil.example/1",
    "https://evilstripe.com/1",
    "https://pay.stripe.com:8443/1",
    "https://user@pay.stripe.com/1",
    "javascript:alert(1)",
    null,
  ])("a receipt at %s is not followed", async (receipt_url) => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await buy(stripe, ada);
    Object.assign(stripe.charges.get(`ch_${id}`) ?? {}, { receipt_url });
    const answer = await open(ada, `/account/receipt?payment=pi_${id}`);
    expect(answer.headers.get("Location")).toBe("/account?notice=no_receipt");
  });

  it("while Stripe is down, the receipt's link leads to a message", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await buy(stripe, ada);
    vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("down", { status: 500 }));
    const answer = await open(ada, `/account/receipt?payment=pi_${id}`);
    const page = await open(ada, answer.headers.get("Location") ?? "");
    expect(words(page.text)).toContain("Stripe did not give the receipt.");
  });

  it("all purchases have pages, newest first, each purchase once, and none after the last purchase", async () => {
    openStripe();
    const ada = await signIn();
    await ada.get("/api/wallet");
    await change(
      ada.identity_id,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
       insert into purchases (checkout_session_id, payment_intent_id, package_id, package_name,
         credits, paid_minor, currency, taken_back, refunded_minor, created_at_ms) select 'cs_' || i, 'pi_' || i, 'small', 'No ' || i, 100, 500, 'eur', 0, 0, 7 + i / 10
       from n`,
    );
    const shown: string[] = [];
    let path: string | null = "/account/purchases";
    let pages = 0;
    for (; path !== null && pages < 5; pages += 1) {
      const page: { text: string } = await open(ada, path);
      shown.push(...[...page.text.matchAll(/payment=pi_(\d+)/g)].map(([, number = ""]) => number));
      path = /href="([^"]+)" rel="next"/.exec(page.text)?.[1] ?? null;
    }
    expect(pages).toBe(2);
    expect(shown).toHaveLength(100);
    expect(new Set(shown).size).toBe(100);
    const ages = shown.map((number) => Math.floor(Number(number) / 10));
    expect(ages).toEqual(ages.toSorted((one, other) => other - one));
    const overview = (await open(ada, "/account")).text;
    expect(overview.match(/payment=pi_/g)).toHaveLength(3);
    expect(overview).toContain('href="/account/purchases"');
  });
});

describe("the way back to the app", () => {
  const APP = "http://localhost:3000/studio?draft=7";

  it("a person who came from an app buys credits and gets a link back to the app's page", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const query = new URLSearchParams({ return_to: APP }).toString();
    const page = await open(ada, `/account?${query}`);
    expect(page.text).toContain("Back to localhost:3000");
    const headers = { Cookie: ada.cookies, Origin: BASE_URL };
    const body = new URLSearchParams({ package: "small", return_to: APP });
    await send("POST", "/account/buy", { headers, body }, SELLING);
    const [session] = [...stripe.sessions.values()];
    for (const address of [session?.cancel_url, session?.success_url]) {
      const back = new URL((address ?? "").replace("{CHECKOUT_SESSION_ID}", "cs_1"));
      const paid = await open(ada, `${back.pathname}${back.search}`);
      expect(paid.text).toContain('href="http://localhost:3000/studio?draft=7"');
    }
    const back = new URL((session?.success_url ?? "").replace("{CHECKOUT_SESSION_ID}", "cs_1"));
    const waiting = await open(ada, `${back.pathname}${back.search}`);
    const again = /href="(\/account\/paid[^"]+)"/.exec(waiting.text)?.[1]?.replaceAll("&amp;", "&");
    expect(again).toContain(encodeURIComponent(APP));
  });

  it.each(["https://evil.example/", "javascript:alert(1)", `${APP}${"x".repeat(3_000)}`])(
    "a way back to %s is refused with a page, and leads nowhere after a purchase",
    async (return_to) => {
      openStripe();
      const ada = await signIn();
      const query = new URLSearchParams({ return_to, checkout: "cancelled" }).toString();
      const refused = await open(ada, `/account?${query}`);
      expect(refused.status).toBe(400);
      expect(words(refused.text)).toContain("This link leads back to an unknown address");
      expect(refused.text).not.toContain(`href="${return_to.slice(0, 20)}`);
      const headers = { Cookie: ada.cookies, Origin: BASE_URL };
      const body = new URLSearchParams({ package: "small", return_to });
      const bought = await send("POST", "/account/buy", { headers, body }, SELLING);
      expect(bought.status).toBe(400);
      const { status, text } = await open(ada, `/account/paid?${query}`);
      expect(status).toBe(200);
      expect(text).not.toContain("Back to");
    },
  );
});
