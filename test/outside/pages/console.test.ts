import { globSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  expectForEverybody,
  layoutShifts,
  SCREENS,
  usePages,
} from "../support/pages_in_browser.ts";

/** Of the document. `docs.test.ts` limits the styles, which the browser keeps. */
const PAGE_MAX_BYTES = 60 * 1024;
const OPERATOR = "olga@example.com";

const VIEWER = "vera@example.com";

const pages = usePages("console", { OPERATORS: `${OPERATOR}, ${VIEWER}=viewer` });

interface Person {
  readonly identity_id: string;
  get(path: string): Promise<Record<string, never>>;
  send(method: string, path: string, body: object): Promise<Record<string, never>>;
}

/** A signed-in person as a client of the API. */
async function client(page: Page): Promise<Person> {
  const answer = await page.request.get(`${pages.url}/api/sessionToken`, { maxRetries: 2 });
  const { token } = (await answer.json()) as { token: string };
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const send = async (method: string, path: string, body?: object) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return (await fetch(pages.url + path, init)).json() as Promise<Record<string, never>>;
  };
  const get = (path: string) => send("GET", path);
  const { identity_id } = await get("/api/me");
  return { identity_id: String(identity_id), get, send };
}

let ada: Person;
/** A job of hers that cost credits, so that its page has the form that refunds it. */
let paid_job: string;

/** Three people with jobs, a registered app, and a month of totals. */
beforeAll(async () => {
  const olga = await pages.signIn(OPERATOR);
  // Operators need the session cookie and our own origin; a session token is not accepted.
  const saved = await olga.request.put(`${pages.url}/api/admin/apps/paint`, {
    headers: { Origin: pages.url },
    data: {
      name: "Paint",
      starter_credits: 120,
      origins: ["https://paint.example", "https://*.paint.example"],
      daily_starter_budget: 5_000,
    },
  });
  expect(saved.status(), await saved.text()).toBe(200);
  const changed = await olga.request.put(`${pages.url}/api/admin/apps/paint`, {
    headers: { Origin: pages.url },
    data: {
      name: "Paint",
      starter_credits: 120,
      origins: ["https://paint.example", "https://*.paint.example"],
      daily_starter_budget: 6_000,
      version: 1,
      reason: "more people sign in",
    },
  });
  expect(changed.status(), await changed.text()).toBe(200);
  ada = await client(await pages.signIn("ada@example.com"));
  paid_job = await work(ada, "paint", 6);
  const quick = Array.from({ length: 60 }, () => ({
    app: "paint",
    action: "image.look",
    cost_estimate: 0,
  }));
  await ada.send("POST", "/api/jobs/batch", { jobs: quick });
  for (const name of ["bob", "carla"]) {
    await work(await client(await pages.signIn(`${name}@example.com`)), "voice", 2);
  }
  fillTotals();
});

/** Returns the id of the first job, which is completed. */
async function work(person: Person, app: string, count: number): Promise<string> {
  await person.get(`/api/wallet?app=${app}`);
  let first = "";
  for (let index = 0; index < count; index += 1) {
    const metadata = { description: "Mountains in the morning, watercolour" };
    const job = { app, action: "image.generate", cost_estimate: 10 + index, metadata };
    const { job_id } = await person.send("POST", "/api/jobs", job);
    if (index === 0) first = String(job_id);
    if (index % 3 === 2) continue;
    const ending = index % 4 === 3 ? "fail" : "complete";
    const body = ending === "fail" ? { job_id } : { job_id, actual_cost: 7 + index };
    await person.send("POST", `/api/jobs/${ending}`, body);
  }
  return first;
}

/** About the totals of one day. */
const TOTALS = {
  granted: 900,
  reserved: 5_200,
  settled: 4_100,
  refunded: 700,
  purchased: 1_500,
  jobs: 310,
  failed: 14,
  active_accounts: 41,
};

/** Daily totals of the days before today, as deliveries write them. */
function fillTotals(): void {
  const today = Math.floor(Date.now() / 86_400_000);
  for (const file of globSync(join(pages.state, "v3/d1/**/*.sqlite"))) {
    const database = new DatabaseSync(file);
    try {
      const columns = database
        .prepare("select name from pragma_table_info('daily_totals')")
        .all()
        .map(({ name }) => String(name));
      if (columns.length === 0) continue;
      const insert = database.prepare(
        `insert into daily_totals (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      );
      for (let back = 1; back < 89; back += 1) {
        // One day of the last week had a burst.
        const wave = (1 + Math.sin(back / 3) ** 2) * (back === 4 ? 8 : 1);
        const of = (scale: number) => Math.round(scale * wave * (1 - back / 120));
        for (const [app_slug, share] of [
          ["*", 0],
          ["paint", 0.7],
          ["voice", 0.3],
        ] as const) {
          const day: Record<string, string | number> = { day: today - back, app_slug };
          for (const [name, scale] of Object.entries(TOTALS)) day[name] = of(scale * share);
          if (app_slug === "*") day["active_accounts"] = of(TOTALS.active_accounts);
          insert.run(...columns.map((name) => day[name] ?? 0));
        }
      }
    } finally {
      database.close();
    }
  }
}

const places = () => {
  const account = `/console/accounts/${ada.identity_id}`;
  return {
    overview: "/console?days=90",
    "overview-app": "/console?app=paint&days=7",
    accounts: "/console/accounts",
    "accounts-sorted": "/console/accounts?sort=credits&order=asc",
    "accounts-unselected": "/console/accounts?selection=none",
    "suspend-many": `/console/accounts/suspend?id=${ada.identity_id}&id=nobody`,
    "accounts-none": "/console/accounts?q=nobody",
    account,
    credits: `${account}/credits`,
    plan: `${account}/plan`,
    suspend: `${account}/suspend`,
    export: `${account}/export`,
    delete: `${account}/delete`,
    job: `${account}/jobs/${paid_job}`,
    differences: "/console/differences",
    plans: "/console/plans",
    "new-plan": "/console/plans/plan",
    operators: "/console/operators",
    help: "/console/help",
    manual: "/console/help/operate",
    alerts: "/console/help/alerts",
    money: "/console/money",
    "money-none": "/console/money?month=2020-01",
    jobs: "/console/jobs",
    "jobs-none": "/console/jobs?app=paint&status=failed&identity_id=nobody",
    requests: "/console/requests",
    "requests-found": "/console/requests?app=paint",
    audit: "/console/audit",
    "audit-none": "/console/audit?from=2020-01-01&to=2020-01-02",
    apps: "/console/apps",
    "new-app": "/console/new-app",
    app: "/console/apps/paint",
    unknown: "/console/accounts/nobody",
  };
};

describe("the console", () => {
  it(
    "the console pages have no accessibility violation, stay within their size and load nothing from other hosts",
    { tags: ["slow"] },
    async () => {
      const page = await pages.signIn(OPERATOR);
      for (const [place, path] of Object.entries(places())) {
        const hosts = new Set<string>();
        const meet = (answer: { url(): string }): void =>
          void hosts.add(new URL(answer.url()).origin);
        page.on("response", meet);
        const answer = await page.goto(pages.url + path);
        await page.waitForTimeout(150);
        page.off("response", meet);
        await pages.picture(page, place);
        await expectForEverybody(page, place);
        expect((await answer?.body())?.byteLength, place).toBeLessThan(PAGE_MAX_BYTES);
        expect([...hosts], place).toEqual([new URL(pages.url).origin]);
      }
    },
  );

  it(
    "the console of a viewer has no accessibility violation and stays within its size",
    { tags: ["slow"] },
    async () => {
      const page = await pages.signIn(VIEWER);
      const { account, app, suspend } = places();
      for (const [place, path] of Object.entries({ account, app, suspend })) {
        const answer = await page.goto(pages.url + path);
        expect((await answer?.body())?.byteLength, place).toBeLessThan(PAGE_MAX_BYTES);
        await pages.picture(page, `viewer-${place}`);
        await expectForEverybody(page, place);
      }
    },
  );

  // Separate from the test above, which changes the window's size.
  it.each(Object.entries(SCREENS))(
    "the console pages have no layout shift (%s)",
    { tags: ["slow"] },
    async (_, screen) => {
      const page = await pages.signIn(OPERATOR, screen);
      for (const [place, path] of Object.entries(places())) {
        await page.goto(pages.url + path);
        expect(await layoutShifts(page), place).toEqual([]);
      }
    },
  );
});

const find = async (page: Page, email: string): Promise<void> => {
  await page.getByRole("searchbox", { name: "Search", exact: true }).fill(email);
  await page.getByRole("button", { name: "Search" }).click();
  // The only hit opens at once.
  await page.getByRole("heading", { name: email }).waitFor();
};

/** The balance in the account's object. */
const balanceOf = async (person: Person): Promise<unknown> =>
  (await person.get("/api/wallet"))["account"]?.["credits"];

describe("a support case", () => {
  it("an operator finds a person, reads the ledger, gives credits and sees the audit record", async () => {
    const dora = await client(await pages.signIn("dora@example.com"));
    await work(dora, "voice", 1);
    const page = await pages.signIn(OPERATOR);
    await page.getByRole("link", { name: "Console" }).click();
    await find(page, "dora@example.com");
    await page.getByText("Charged 7 credits of 10 held").waitFor();
    await page.getByRole("link", { name: "Give or take credits" }).click();
    await page.getByLabel("Give credits").check();
    await page.getByLabel("Number of credits").fill("7 or so");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("alert").waitFor();
    await pages.picture(page, "credits-wrong");
    await expectForEverybody(page, "a form with errors");
    expect(await page.getByLabel("Number of credits").inputValue()).toBe("7 or so");
    expect(await page.getByLabel("Give credits").isChecked()).toBe(true);
    await page.getByRole("alert").getByRole("link").first().click();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("amount");
    await page.getByLabel("Number of credits").fill("7");
    await page.getByLabel("Reason").fill("The picture came out blank");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByText("The picture came out blank").waitFor();
    await pages.picture(page, "credits-review");
    await expectForEverybody(page, "the review");
    await page.getByRole("button", { name: "Give 7 credits" }).dblclick();
    await page.getByText("The credits were given.").waitFor();
    await pages.picture(page, "account-given");
    expect(await balanceOf(dora)).toBe(100);
    await page.getByRole("link", { name: "All actions" }).click();
    await page.getByText("The picture came out blank").waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await pages.picture(page, "audit-case");
  });

  it("a double click on 'Add a key' shows one key, once", async () => {
    const page = await pages.signIn(OPERATOR);
    await page.goto(`${pages.url}/console/apps/paint`);
    await page.getByLabel("Label").fill("render server");
    await page.getByRole("button", { name: "Add a key" }).dblclick();
    const secret = page.locator(".secret");
    await secret.waitFor();
    expect(await secret.inputValue()).toMatch(/^pb_app_test_[\w-]{43}$/);
    await page.getByRole("button", { name: "Copy" }).click();
    const selected = await secret.evaluate((field: HTMLTextAreaElement) =>
      field.value.slice(field.selectionStart, field.selectionEnd),
    );
    expect(selected).toBe(await secret.inputValue());
    await pages.picture(page, "key");
    await expectForEverybody(page, "a new key");
    await page.goto(`${pages.url}/console/apps/paint`);
    expect(await secret.count()).toBe(0);
    await page.getByRole("link", { name: /^Revoke render server/ }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("The key was revoked.").waitFor();
  });

  it("the reason of a refusal, a new secret and a notice have the focus when the page opens, also without scripts", async () => {
    const page = await pages.signIn(OPERATOR, { ...SCREENS.phone, javaScriptEnabled: false });
    const focused = page.locator(":focus");
    await page.goto(`${pages.url}/console/apps/paint`);
    expect(await focused.count()).toBe(0);
    await page.getByLabel("Label").fill(" ");
    await page.getByRole("button", { name: "Add a key" }).click();
    await expect.poll(() => focused.getAttribute("role")).toBe("alert");
    expect(await focused.innerText()).toContain("Nothing was changed yet.");
    await pages.picture(page, "refused-focus");
    await page.getByLabel("Label").fill("mail server");
    await page.getByRole("button", { name: "Add a key" }).click();
    await expect.poll(() => focused.innerText()).toContain("It is shown only once.");
    await page.goto(`${pages.url}/console/apps/paint`);
    await page.getByRole("link", { name: /^Revoke mail server/ }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => focused.innerText()).toContain("The key was revoked.");
    await page.goto(`${pages.url}/account/tokens/new`);
    await page.getByLabel("Name", { exact: true }).fill("");
    await page.getByRole("button", { name: "Make the token" }).click();
    await expect.poll(() => focused.getAttribute("role")).toBe("alert");
    expect(await focused.innerText()).toContain("Nothing has access yet.");
  });

  it("an operator suspends an account with only the keyboard", async () => {
    const holder = await pages.signIn("emil@example.com");
    const emil = await client(holder);
    await work(emil, "voice", 1);
    const page = await pages.signIn(OPERATOR);
    await page.goto(`${pages.url}/console`);
    /** Presses Tab until the named element has a visible focus. */
    const tabTo = async (name: string | RegExp): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press("Tab");
        const [text, outline] = await page.evaluate(() => {
          const element = document.activeElement as HTMLInputElement | null;
          const label = element?.labels?.[0]?.textContent ?? element?.textContent ?? "";
          return [label.trim(), element === null ? "" : getComputedStyle(element).outlineStyle];
        });
        if (typeof name === "string" ? text === name : name.test(text)) {
          expect(outline, text).toBe("solid");
          return;
        }
      }
      throw new Error(`no way to ${String(name)} with the keyboard`);
    };
    await tabTo("Search");
    await page.keyboard.type("emil@example.com");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "emil@example.com" }).waitFor();
    await tabTo("Skip to the content");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "main");
    await tabTo("Suspend");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Suspend the account" }).waitFor();
    await tabTo("Reason");
    await page.keyboard.type("Chargebacks");
    await tabTo("Text for the holder");
    await page.keyboard.type("Your bank took three payments back.");
    await tabTo("Suspend");
    await page.keyboard.press("Enter");
    await page.getByText("The account is suspended.").waitFor();
    expect((await emil.get("/api/wallet"))["code"]).toBe("suspended");
    await pages.picture(page, "suspended");
    await expectForEverybody(page, "a suspended account");
    await holder.goto(`${pages.url}/account`);
    await holder.getByText("“Your bank took three payments back.”").waitFor();
    await pages.picture(holder, "suspended-holder");
    await expectForEverybody(holder, "the page of a suspended person");
  });

  it("an operator tries a handler with a sample, and reads what its receiver responded", async () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      received.push(String(request.headers["webhook-test"]));
      response.writeHead(500).end("no such table: jobs");
    });
    await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void receiver.close());
    const { port } = receiver.address() as AddressInfo;
    const page = await pages.signIn(OPERATOR);
    const saved = await page.request.put(`${pages.url}/api/admin/apps/paint/webhooks/main`, {
      headers: { Origin: pages.url },
      data: { url: `http://127.0.0.1:${port}/hook`, events: ["job.completed"] },
    });
    expect(saved.status(), await saved.text()).toBe(200);
    await page.goto(`${pages.url}/console/apps/paint/webhooks/main`);
    await page.getByLabel("Event", { exact: true }).selectOption("job.completed");
    await page.getByRole("button", { name: "Send a test" }).click();
    const problem = page.getByRole("status");
    await problem.getByText("did not accept the test: status 500").waitFor();
    expect(await problem.innerText()).toContain("no such table: jobs");
    expect(received).toEqual(["true"]);
    expect(await page.getByLabel("Event", { exact: true }).inputValue()).toBe("job.completed");
    await pages.picture(page, "webhook-tested");
    await expectForEverybody(page, "a tested webhook");
  });

  it("an operator registers an app on a phone without scripts, after mistakes that the form names by line", async () => {
    const page = await pages.signIn(OPERATOR, { ...SCREENS.phone, javaScriptEnabled: false });
    await page.goto(`${pages.url}/console/apps`);
    await page.getByRole("link", { name: "Register an app" }).click();
    await page.getByLabel("Slug").fill("sketch");
    await page.getByLabel("Name", { exact: true }).fill("Sketch");
    await page.getByLabel("Colour").fill("blue");
    await page.getByLabel("Suggested limit, in credits").fill("500");
    await page.getByLabel("Period of the suggested limit").selectOption("total");
    const domains = page.getByLabel("E-mail domains");
    await domains.fill("mailinator.com\nexample\nguerrillamail.com");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByRole("link", { name: "Line 2: “example” must be an e-mail domain" }).waitFor();
    expect(await domains.inputValue()).toBe("mailinator.com\nexample\nguerrillamail.com");
    await pages.picture(page, "new-app-problems-phone");
    await domains.fill("mailinator.com\nguerrillamail.com");
    await page.getByLabel("Colour").fill("#0b6e4f");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("The app’s settings were saved.").waitFor();
    expect(await page.getByLabel("Colour").inputValue()).toBe("#0b6e4f");
    expect(await page.getByLabel("Period of the suggested limit").inputValue()).toBe("total");
    expect(await domains.inputValue()).toBe("mailinator.com\nguerrillamail.com");
    await pages.picture(page, "app-phone");
  });

  it("saving one group of settings asks before it discards what was changed in another", async () => {
    const page = await pages.signIn(OPERATOR);
    await page.goto(`${pages.url}/console/apps/paint`);
    const name = page.getByLabel("Name", { exact: true });
    const starters = page.getByRole("textbox", { name: "Starter credits", exact: true });
    await name.fill("Paint it");
    await starters.fill("77");
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void (asked.length === 2 ? dialog.accept() : dialog.dismiss());
    });
    const save = page.getByRole("button", { name: "Save look" });
    await save.click({ noWaitAfter: true });
    await vi.waitFor(() => expect(asked).toEqual(["confirm"]));
    expect([await name.inputValue(), await starters.inputValue()]).toEqual(["Paint it", "77"]);
    await save.click();
    await page.getByText("The app’s settings were saved.").waitFor();
    expect(asked).toHaveLength(2);
    expect(await name.inputValue()).toBe("Paint it");
    // With nothing else changed, nobody is asked.
    await name.fill("Paint");
    const saved = page.waitForResponse((response) => response.request().method() === "POST");
    await save.click();
    expect((await saved).status()).toBe(303);
    expect(asked).toHaveLength(2);
    // What a page shows again with its problem was typed too.
    await starters.fill("many");
    await page.getByRole("button", { name: "Save starter credits" }).click();
    await page.getByRole("alert").waitFor();
    await name.fill("Paint it");
    await save.click({ noWaitAfter: true });
    await vi.waitFor(() => expect(asked).toHaveLength(3));
  });

  it(
    "the form of an app has no accessibility violation while it shows problems",
    { tags: ["slow"] },
    async () => {
      const page = await pages.signIn(OPERATOR, SCREENS.phone);
      await page.goto(`${pages.url}/console/new-app`);
      await page.getByLabel("E-mail domains").fill("mailinator.com\nexample");
      await page.getByRole("button", { name: "Register" }).click();
      await page
        .getByRole("link", { name: "Line 2: “example” must be an e-mail domain" })
        .waitFor();
      await expectForEverybody(page, "a form with problems");
    },
  );

  for (const [name, screen, tags] of [
    ["with scripts", {}, []],
    ["without scripts", { ...SCREENS.phone, javaScriptEnabled: false }, ["slow"]],
  ] as const) {
    const title = `an operator selects accounts, confirms, and suspends them for one reason, ${name}`;
    it(title, { tags: [...tags] }, async () => {
      const people = [];
      const domain = `${name.replace(" ", "-")}.example`;
      for (const person of ["ida", "jan"]) {
        people.push(await client(await pages.signIn(`${person}@${domain}`)));
      }
      for (const person of people) await work(person, "voice", 1);
      const page = await pages.signIn(OPERATOR, screen);
      const list = `${pages.url}/console/accounts?domain=${domain}`;
      await vi.waitFor(
        async () => {
          await page.goto(list);
          expect(await page.getByRole("checkbox", { name: /^Select .*@/ }).count()).toBe(2);
        },
        { timeout: 15_000, interval: 500 },
      );
      await page.getByRole("button", { name: "Suspend selected" }).click();
      await page.getByText("No account is selected.").waitFor();
      expect(page.url()).toContain(`domain=${domain}`);
      if (name === "with scripts") {
        // Without the problem, both rows are above the bar on a phone.
        await page.goto(list);
        await page.getByLabel("Select all on this page").check();
        await page.getByText("2 selected").waitFor();
        await pages.picture(page, "selected");
        await expectForEverybody(page, "a selection");
      } else {
        expect(await page.getByLabel("Select all on this page").isVisible()).toBe(false);
        for (const person of ["ida", "jan"]) {
          await page.getByLabel(`Select ${person}@${domain}`).check();
        }
        await pages.picture(page, "selected-phone");
      }
      await page.getByRole("button", { name: "Suspend selected" }).click();
      await page.getByRole("heading", { name: "Suspend 2 accounts" }).waitFor();
      await pages.picture(page, `suspend-many-${name.replace(" ", "-")}`);
      await page.getByLabel("Reason").fill("Wave of 21 November");
      await page.getByRole("button", { name: "Suspend 2 accounts" }).click();
      await page.getByRole("heading", { name: "2 accounts suspended" }).waitFor();
      await pages.picture(page, `suspended-many-${name.replace(" ", "-")}`);
      if (name === "with scripts") await expectForEverybody(page, "the results");
      for (const person of people) {
        expect((await person.get("/api/wallet"))["code"]).toBe("suspended");
      }
    });
  }

  it("an operator takes credits without scripts", { tags: ["slow"] }, async () => {
    const fay = await client(await pages.signIn("fay@example.com"));
    await work(fay, "voice", 1);
    const page = await pages.signIn(OPERATOR, { ...SCREENS.phone, javaScriptEnabled: false });
    await page.goto(`${pages.url}/console`);
    await find(page, "fay@example.com");
    await page.getByRole("link", { name: "Give or take credits" }).click();
    await page.getByLabel("Take credits away").check();
    await page.getByLabel("Number of credits").fill("200");
    await page.getByLabel("Reason").fill("Bought with a stolen card");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("button", { name: "Take 200 credits" }).click();
    await page.getByText("Tick the box").first().waitFor();
    await pages.picture(page, "below-zero-phone");
    await page.getByLabel(/even though the balance/).check();
    await page.getByRole("button", { name: "Take 200 credits" }).click();
    await page.getByText("The credits were taken.").waitFor();
    expect(await balanceOf(fay)).toBe(-107);
    await page.getByRole("link", { name: "Sign out everywhere" }).click();
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await page.getByText("All sessions were ended.").waitFor();
    // A popover, which needs no script.
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Jobs", exact: true }).click();
    await page.getByLabel("Status").selectOption("failed");
    await page.getByLabel("App").selectOption("paint");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("cell", { name: "Failed" }).first().waitFor();
  });
});

describe("a non-operator", () => {
  it("a non-operator sees why the console is closed and a link to their account", async () => {
    const page = await pages.signIn("gus@example.com");
    expect(await page.getByRole("link", { name: "Console" }).count()).toBe(0);
    await page.goto(`${pages.url}/console`);
    await page.getByRole("heading", { name: "This page is for operators only" }).waitFor();
    await pages.picture(page, "not-operator");
    await expectForEverybody(page, "not an operator");
    await page.getByRole("link", { name: "Go to your account" }).click();
    await page.waitForURL(`${pages.url}/account`);
  });
});
