/** Deleting an account with the keyboard, without scripts, on small and dark screens. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { expectForEverybody, SCREENS, usePages } from "../support/pages_in_browser.ts";

const pages = usePages("deletion");

/** The deletion page of a person with credits and a running job. */
async function openDeletion(email: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await pages.signIn(email, options);
  const headers = { Origin: pages.url };
  await page.request.get(`${pages.url}/api/wallet?app=demo`, { headers });
  const data = { app: "demo", action: "draw", cost_estimate: 30 };
  await page.request.post(`${pages.url}/api/jobs`, { headers, data });
  await page.getByRole("link", { name: "delete your account" }).click();
  await page.waitForURL(`${pages.url}/account/delete`);
  return page;
}

async function look(page: Page, name: string): Promise<void> {
  await pages.picture(page, name);
  await expectForEverybody(page, name);
}

describe("deleting an account", () => {
  it("the account is deleted with only the keyboard, on pages without accessibility violation", async () => {
    const page = await openDeletion("ada@example.com");
    await look(page, "ask");
    const reached: string[] = [];
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press("Tab");
      const focused = page.locator(":focus");
      reached.push((await focused.getAttribute("id")) ?? (await focused.innerText()));
      const outline = await focused.evaluate((element) => getComputedStyle(element).outlineStyle);
      expect(outline).toBe("solid");
      if (reached.at(-1) === "confirmation") await page.keyboard.type("remove");
    }
    expect(reached).toEqual([
      "download your data",
      "confirmation",
      "Delete my account",
      "Keep my account",
    ]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    // The field with the problem has the focus and is marked as invalid.
    const field = page.getByLabel("Type delete to confirm");
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator(":focus").getAttribute("id")).toBe("confirmation");
    await look(page, "wrong-word");
    await page.keyboard.type("delete");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your account is deleted" }).waitFor();
    await look(page, "farewell");
    await page.getByRole("link", { name: "Go to the sign-in page" }).press("Enter");
    await page.waitForURL(`${pages.url}/signin`);
  });
});

it("an account can be deleted without scripts", { tags: ["slow"] }, async () => {
  const options = { ...SCREENS.wide, javaScriptEnabled: false };
  const page = await openDeletion("scripts-off@example.com", options);
  await page.locator("#confirmation").fill("delete");
  await page.getByRole("button", { name: "Delete my account" }).click();
  await page.getByRole("heading", { name: "Your account is deleted" }).waitFor();
  await page.goto(`${pages.url}/account`);
  await page.waitForURL(/\/signin\?/);
});
