import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import type { CardMode, StripeDouble } from "../../worker/payments/stripe_double.ts";
import { expectForEverybody, usePages } from "../support/pages_in_browser.ts";
import { startStripe } from "../support/stripe_server.ts";

let stripe: StripeDouble;
let close: (() => void) | undefined;
/** How the next card that is saved behaves. */
let next_card: CardMode = "pays";

const pages = usePages("top-up", async () => {
  const { settings, ...server } = await startStripe(cardPage);
  ({ stripe, close } = server);
  return settings;
});

afterAll(() => close?.());

/** Stripe's page that saves a card: one link saves it, the other goes back. Null for other addresses. */
function cardPage({ pathname, searchParams }: URL, double: StripeDouble): Response | null {
  const [, id] = /^\/c\/pay\/(\w+)$/.exec(pathname) ?? [];
  const session = id === undefined ? undefined : double.sessions.get(id);
  if (id === undefined || session === undefined) return null;
  if (searchParams.has("save")) {
    double.savesCard(id, next_card);
    return Response.redirect(session.success_url.replace("{CHECKOUT_SESSION_ID}", id), 303);
  }
  const page = `<!doctype html><title>Checkout</title><h1>Save a card</h1>
    <a href="${pathname}?save=yes">Save</a> <a href="${session.cancel_url}">Back</a>`;
  return new Response(page, { headers: { "Content-Type": "text/html" } });
}

async function lookAt(page: Page, name: string): Promise<void> {
  await pages.picture(page, name);
  await expectForEverybody(page, name);
}

const SOON = { timeout: 20_000, interval: 300 };

/** Whether the page, opened again, says so. */
async function shows(page: Page, text: string): Promise<boolean> {
  await page.goto(`${pages.url}/account/top-up`);
  return (await page.getByText(text).count()) === 1;
}

async function saveCard(page: Page, button: string): Promise<void> {
  await page.getByRole("button", { name: button }).click();
  await page.getByRole("heading", { name: "Save a card" }).waitFor();
  await page.getByRole("link", { name: "Save" }).click();
}

/** Sets automatic top-up up with a detour, is topped up, and meets a bank that asks. `look` is called at each page. */
async function topUp(email: string, look: typeof lookAt): Promise<void> {
  next_card = "pays";
  const page = await pages.signIn(email);
  await page.goto(`${pages.url}/account`);
  await page.getByRole("link", { name: "Automatic top-up" }).click();
  await page.getByRole("heading", { name: "Automatic top-up" }).waitFor();
  await look(page, "first");
  await page.getByLabel("At most in a calendar month").fill("1");
  await page.getByRole("button", { name: "Save a card at Stripe" }).click();
  await page.getByText("Nothing was saved.").waitFor();
  await look(page, "problem");
  await page.getByLabel("At most in a calendar month").fill("50.00");
  await page.getByRole("button", { name: "Save a card at Stripe" }).click();
  await page.getByRole("link", { name: "Back" }).click();
  await page.getByLabel("At most in a calendar month").fill("50.00");
  await saveCard(page, "Save a card at Stripe");
  await page.getByText("Automatic top-up is on.").waitFor();
  // A new account has fewer credits than the threshold.
  await expect.poll(() => shows(page, "Your balance is high enough."), SOON).toBe(true);
  await look(page, "on");
  next_card = "authentication_required";
  await page.getByLabel("When fewer credits are available than").fill("100000");
  await page.getByLabel("At most in a calendar month").fill("9999");
  await saveCard(page, "Save with another card");
  await expect
    .poll(() => shows(page, "Your bank wants you to confirm payments yourself."), SOON)
    .toBe(true);
  await look(page, "off");
  await page.goto(`${pages.url}/account/jobs`);
  await page.getByRole("link", { name: "See how to go on" }).waitFor();
  await look(page, "notice");
  await page.getByRole("link", { name: "See how to go on" }).click();
  await page.getByRole("button", { name: "Leave it off" }).click();
  await page.getByText("Automatic top-up is off.").waitFor();
  await page.goto(`${pages.url}/account/jobs`);
  expect(await page.getByRole("link", { name: "See how to go on" }).count()).toBe(0);
  expect(stripe.charged()).not.toEqual([]);
}

describe("automatic top-up in a browser", () => {
  it("a person sets automatic top-up up, is topped up, and sees why it was switched off", () =>
    topUp("topper@example.com", async () => {}));

  it("the pages of automatic top-up have no accessibility violation", { tags: ["slow"] }, () =>
    topUp("looker@example.com", lookAt),
  );
});
