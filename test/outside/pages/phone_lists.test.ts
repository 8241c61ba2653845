import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { expectForEverybody, SCREENS, usePages } from "../support/pages_in_browser.ts";

const ROW_MAX_PX = 60;
const OPERATOR = "olga@example.com";
const HOLDER = "bartholomew.featherstonehaugh@engineering.contoso-international.example";
const ACTION = "image.generate.variations.high-resolution.watercolour";
const APP = "Paint for architects and illustrators of the north";
const DESCRIPTION =
  "Mountains in the morning, in the style of the nineteenth century, four variations";
const FAILURE = "The renderer ran out of memory while it drew the third of four variations";
const REASON = "Goodwill after the outage of 21 November, agreed with the holder by telephone";

const pages = usePages("phone_lists", { OPERATORS: OPERATOR });

/** An account with long names, whose jobs ended in each way, and of which an operator changed everything. */
beforeAll(async () => {
  const olga = await pages.signIn(OPERATOR);
  const act = async (method: string, path: string, data: object): Promise<void> => {
    const headers = { Origin: pages.url, "Idempotency-Key": crypto.randomUUID() };
    const done = await olga.request.fetch(`${pages.url}/api/admin${path}`, {
      method,
      headers,
      data,
    });
    expect(done.status(), await done.text()).toBe(200);
  };
  await act("PUT", "/apps/paint", {
    name: APP,
    starter_credits: 9_999_999,
    origins: ["https://paint.example", "https://*.paint.example"],
    daily_starter_budget: null,
    reason: REASON,
  });
  const { identity_id, send } = await openAccount(HOLDER);
  const paid: string[] = [];
  for (const ending of ["complete", "fail", "none", "complete"]) {
    const { job_id = "" } = await send("POST", "/api/jobs", {
      app: "paint",
      action: ACTION,
      cost_estimate: 1_234_567,
      metadata: { description: DESCRIPTION },
    });
    if (ending === "complete") paid.push(job_id);
    if (ending === "fail") await send("POST", "/api/jobs/fail", { job_id, reason: FAILURE });
    if (ending === "complete") {
      await send("POST", "/api/jobs/complete", { job_id, actual_cost: 1_234_567 });
    }
  }
  const account = `/accounts/${identity_id}`;
  await act("POST", `${account}/jobs/${paid[0]}/refund`, { amount: 3, reason: REASON });
  await act("POST", `${account}/credits`, { amount: 1_234_567, reason: REASON });
  const { identity_id: other } = await openAccount("bob@example.com");
  await act("POST", "/accounts/suspend", { identity_ids: [identity_id, other], reason: REASON });
  await act("POST", `${account}/restore`, { reason: REASON });
});

/** A person who has used the app. */
async function openAccount(email: string) {
  const page = await pages.signIn(email);
  const answer = await page.request.get(`${pages.url}/api/sessionToken`);
  const { token } = (await answer.json()) as { token: string };
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const send = async (method: string, path: string, data?: object) => {
    const body = data === undefined ? {} : { body: JSON.stringify(data) };
    const response = await fetch(pages.url + path, { method, headers, ...body });
    return (await response.json()) as Record<string, string>;
  };
  const { identity_id } = await send("GET", "/api/me");
  await send("GET", "/api/wallet?app=paint");
  return { identity_id, send };
}

/** The heights of all rows of a page's list that are not names of days. */
const rowHeights = (page: Page): Promise<readonly number[]> =>
  page
    .locator("table.list > tbody > tr, .jobs > li, .movements > li:not(.day)")
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));

const LISTS = [
  { who: OPERATOR, path: "/console/jobs", rows: 4, opened: [APP, FAILURE, "1,234,567"] },
  { who: OPERATOR, path: "/console/accounts", rows: 2, opened: ["1,234,567", "user_"] },
  {
    who: OPERATOR,
    path: "/console/audit",
    rows: 5,
    opened: [REASON, HOLDER, OPERATOR, "2 accounts"],
  },
  { who: HOLDER, path: "/account/statement", rows: 6, opened: [FAILURE] },
  { who: HOLDER, path: "/account/jobs", rows: 4, opened: [] },
];

describe("lists on a phone", () => {
  it.each(LISTS)(
    "a row of $path is at most 60 px high on a phone, and shows the rest when it is opened",
    { tags: ["slow"] },
    async ({ who, path, rows, opened }) => {
      const page = await pages.signIn(who, SCREENS.phone);
      await expect
        .poll(
          async () => {
            await page.goto(pages.url + path);
            return (await rowHeights(page)).length;
          },
          { timeout: 20_000, interval: 500 },
        )
        .toBeGreaterThanOrEqual(rows);
      expect(Math.max(...(await rowHeights(page)))).toBeLessThanOrEqual(ROW_MAX_PX);
      await pages.picture(page, path.slice(1).replace("/", "-"));
      await expectForEverybody(page, path);
      const toggles = page.locator("table.list .more summary, summary.movement");
      for (const toggle of await toggles.all()) await toggle.click();
      for (const text of opened) {
        expect(await page.getByRole("main").innerText(), text).toContain(text);
      }
      await pages.picture(page, `${path.slice(1).replace("/", "-")}-opened`);
      await expectForEverybody(page, `${path}, opened`);
    },
  );

  it("a table's rows are folded on a phone and a tablet only", { tags: ["slow"] }, async () => {
    const page = await pages.signIn(OPERATOR);
    await page.goto(`${pages.url}/console/audit`);
    const reason = page.getByText(REASON).first();
    const toggle = page.locator(".more summary").first();
    expect(await reason.isVisible()).toBe(true);
    expect(await toggle.isVisible()).toBe(false);
    await page.setViewportSize({ width: 768, height: 900 });
    expect(await reason.isVisible()).toBe(false);
    // The keyboard opens a row too.
    await toggle.focus();
    await page.keyboard.press("Enter");
    expect(await reason.isVisible()).toBe(true);
  });
});
