import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { sign, type StripeDouble, type StripeEvent } from "../../worker/payments/stripe_double.ts";
import { expectForEverybody, SCREENS, usePages } from "../support/pages_in_browser.ts";
import { startStripe } from "../support/stripe_server.ts";

let stripe: StripeDouble;
let close: (() => void) | undefined;

const pages = usePages("checkout", async () => {
  const { settings, ...server } = await startStripe(checkoutPage);
  ({ stripe, close } = server);
  return settings;
});

afterAll(() => close?.());

/** Stripe's checkout page, which has two links: to pay and to go back. Null for other addresses. */
function checkoutPage({ pathname }: URL, { sessions }: StripeDouble): Response | null {
  const [, id] = /^\/c\/pay\/(\w+)$/.exec(pathname) ?? [];
  const session = id === undefined ? undefined : sessions.get(id);
  if (id === undefined || session === undefined) return null;
  const back = session.success_url.replace("{CHECKOUT_SESSION_ID}", id).replaceAll("&", "&amp;");
  const cancel_url = session.cancel_url.replaceAll("&", "&amp;");
  const page = `<!doctype html><title>Checkout</title><h1>Checkout</h1>
    <a href="${back}">Pay</a> <a href="${cancel_url}">Back to the shop</a>`;
  return new Response(page, { headers: { "Content-Type": "text/html" } });
}

async function deliver(event: StripeEvent): Promise<void> {
  const body = JSON.stringify(event);
  const headers = { "Stripe-Signature": await sign(body, Date.now()) };
  const answer = await fetch(`${pages.url}/webhooks/stripe`, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
}

async function lookAt(page: Page, name: string): Promise<void> {
  await pages.picture(page, name);
  await expectForEverybody(page, name);
}

/** The button that buys a package. */
const buy = (page: Page, name: string) =>
  page.getByRole("listitem").filter({ hasText: name }).getByRole("button", { name: "Buy" });

const sessionOf = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";

/** Buys credits with a detour, and has them refunded. `look` is called at each page. */
async function buyAndRefund(email: string, look: typeof lookAt): Promise<void> {
  const page = await pages.signIn(email);
  const back = encodeURIComponent("http://localhost:3000/studio");
  await page.goto(`${pages.url}/account?return_to=${back}`);
  await page.getByRole("button", { name: "Buy for 33.33 EUR" }).waitFor();
  await look(page, "account");
  await buy(page, "whole project").click();
  await page.getByRole("heading", { name: "Checkout" }).waitFor();
  const id = sessionOf(page);
  await page.getByRole("link", { name: "Back to the shop" }).click();
  await page.getByRole("heading", { name: "Checkout cancelled" }).waitFor();
  await look(page, "cancelled");
  await page.goBack();
  const following = page.waitForResponse((answer) => answer.url().includes("/api/events"));
  await page.getByRole("link", { name: "Pay" }).click();
  await page.getByRole("heading", { name: "Waiting for your payment" }).waitFor();
  await following;
  await look(page, "waiting");
  const loaded = await page.evaluate(() => performance.timeOrigin);
  await deliver(stripe.completes(id));
  await page.getByRole("heading", { name: "Thank you, your credits have arrived" }).waitFor();
  expect(await page.getByText("Your balance is 1,000.").isVisible()).toBe(true);
  expect(await page.evaluate(() => performance.timeOrigin)).toBe(loaded);
  expect(await page.getByRole("link", { name: "Check again" }).count()).toBe(0);
  const way_back = page.getByRole("link", { name: "Back to localhost:3000" });
  expect(await way_back.getAttribute("href")).toBe("http://localhost:3000/studio?result=bought");
  await look(page, "paid");
  await deliver(stripe.refunds(id, 3_333));
  await page.reload();
  await page.getByText("The payment was refunded later, and credits were taken back.").waitFor();
  await page.getByRole("link", { name: "Go to your account" }).click();
  await page.getByText("refunded, 1,000 credits taken back").waitFor();
  await look(page, "account-with-purchases");
  await page.goto(`${pages.url}/account/purchases`);
  await page.getByText("33.33 EUR").waitFor();
  await look(page, "purchases");
  await page.goto(`${pages.url}/account/statement`);
  await look(page, "statement");
}

describe("buying credits", () => {
  it("the buyer goes to the checkout and back and sees the credits when they arrive", () =>
    buyAndRefund("buyer@example.com", async () => {}));

  it("the pages of a purchase have no accessibility violation", { tags: ["slow"] }, () =>
    buyAndRefund("looker@example.com", lookAt),
  );

  it("buying credits works with only the keyboard", { tags: ["slow"] }, async () => {
    const page = await pages.signIn("keys@example.com");
    const button = buy(page, "A little something");
    for (let presses = 0; presses < 30; presses += 1) {
      if (await button.evaluate((element) => element === document.activeElement)) break;
      await page.keyboard.press("Tab");
    }
    const outline = await button.evaluate((element) => getComputedStyle(element).outlineStyle);
    expect(outline).toBe("solid");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Checkout" }).waitFor();
  });

  it(
    "buying credits works without scripts, with the link to check again",
    { tags: ["slow"] },
    async () => {
      const page = await pages.signIn("silent@example.com", {
        ...SCREENS.wide,
        javaScriptEnabled: false,
      });
      await buy(page, "A little something").click();
      await page.getByRole("heading", { name: "Checkout" }).waitFor();
      const id = sessionOf(page);
      await page.getByRole("link", { name: "Pay" }).click();
      await page.getByRole("heading", { name: "Waiting for your payment" }).waitFor();
      await deliver(stripe.completes(id));
      await page.getByRole("link", { name: "Check again" }).click();
      await page.getByRole("heading", { name: "Thank you, your credits have arrived" }).waitFor();
    },
  );
});
