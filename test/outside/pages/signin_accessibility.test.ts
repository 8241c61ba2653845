/** Accessibility of the sign-in and account pages: axe-core, keyboard, small and dark screens. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../support/chromium.ts";
import { expectForEverybody, fillSignIn } from "../support/pages_in_browser.ts";
import { startFamily, type Family } from "./family.ts";

let family: Family;
let browser: Browser;

beforeAll(async () => {
  family = await startFamily({ DEV_SIGNIN: "true" });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await family?.stop();
});

/** The path of every page and state. The account's pages need a signed-in person. */
const places = {
  "the sign-in page": "/signin",
  "a sign-in that failed": "/signin/callback/real?code=old&state=old",
  "an address that is not allowed": "/signin?redirect_to=https://evil.test/",
  "a long address that is not allowed": `/signin?redirect_to=https://${"evil-".repeat(12)}.test/${"a".repeat(90)}`,
  "an unknown address": "/nowhere",
  "the page after signing out": "/signin?notice=signed_out",
  "the account": "/account",
  "the account with news": "/account/security?notice=linked",
} as const;

async function signInByForm(page: Page): Promise<void> {
  await page.goto(`${family.passbook}/signin`);
  await fillSignIn(page, "ada@example.com");
  await page.waitForURL(`${family.passbook}/account`);
}

describe("the pages of signing in", { tags: ["slow"] }, () => {
  it("the sign-in and account pages have no accessibility violation and do not scroll sideways", async () => {
    const page = await browser.newPage();
    const refused: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) refused.push(message.text());
    });
    for (const [place, path] of Object.entries(places)) {
      if (path === "/account") await signInByForm(page);
      await page.goto(family.passbook + path);
      await expectForEverybody(page, place);
    }
    expect(refused).toEqual([]);
    await page.close();
  });
});

describe("an invalid e-mail address", { tags: ["slow"] }, () => {
  it("an invalid e-mail address stays in its field, which shows the problem in colour and text", async () => {
    const page = await browser.newPage();
    await page.goto(`${family.passbook}/signin`);
    // Like a browser that does not validate the field.
    await page.locator("main form").evaluate((form: HTMLFormElement) => (form.noValidate = true));
    await fillSignIn(page, "ada@");
    const field = page.getByLabel("E-mail address");
    await page.getByRole("alert").waitFor();
    expect(await field.inputValue()).toBe("ada@");
    const words = await page.getByRole("alert").evaluate((it) => getComputedStyle(it).color);
    const border = await field.evaluate((it) => getComputedStyle(it).borderTopColor);
    expect(border).toBe(words);
    await expectForEverybody(page, "the form");
    await page.close();
  });
});

describe("sign-in with only the keyboard", { tags: ["slow"] }, () => {
  it("the keyboard reaches every sign-in method in order with a visible focus", async () => {
    const page = await browser.newPage();
    await page.goto(`${family.passbook}/signin`);
    const reached: string[] = [];
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press("Tab");
      const focused = page.locator(":focus");
      reached.push((await focused.textContent()) || (await focused.getAttribute("id")) || "");
      const outline = await focused.evaluate((element) => getComputedStyle(element).outlineStyle);
      expect(outline).toBe("solid");
    }
    expect(reached).toEqual(["Continue with Real ID", "Continue with Mock", "email", "Sign in"]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.type("ada@example.com");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${family.passbook}/account`);
    await page.close();
  });
});
