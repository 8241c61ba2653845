import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { awaitToken, startDevice, type DeviceOptions } from "../../worker/support/device_client.ts";
import { expectForEverybody, fillSignIn, SCREENS, usePages } from "../support/pages_in_browser.ts";

const PHONE: BrowserContextOptions = { ...SCREENS.phone, isMobile: true };
const OPERATOR = "olga@example.com";

const pages = usePages("device", { DEVICE_POLL_INTERVAL_SECONDS: "1", OPERATORS: OPERATOR });

beforeAll(() => registerApp("demo", "Demo"));

/** Registers an app as its operator does. */
async function registerApp(slug: string, name: string): Promise<void> {
  const { request } = await pages.signIn(OPERATOR);
  const saved = await request.put(`${pages.url}/api/admin/apps/${slug}`, {
    headers: { Origin: pages.url },
    data: { name, starter_credits: 100, origins: [], daily_starter_budget: 5_000 },
  });
  expect(saved.status(), await saved.text()).toBe(200);
}

function device(client_name: string): DeviceOptions {
  return {
    base_url: pages.url,
    client_name,
    app: "demo",
    user_agent: "node",
    fetch: (url, init) => fetch(url, init),
    wait: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
  };
}

async function look(page: Page, name: string): Promise<void> {
  await pages.picture(page, name);
  await expectForEverybody(page, name);
}

/** Opens the page of a login as a person who signs in first. */
async function openSignedIn(
  page: Page,
  login: { verification_uri_complete: string },
  email: string,
) {
  await page.goto(login.verification_uri_complete);
  await fillSignIn(page, email);
  await page.getByRole("heading", { name: "Connect this device?" }).waitFor();
}

async function tokensOf(token: string): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${pages.url}/api/tokens`, { headers })).json();
}

const lastLetters = (page: Page) => page.getByLabel(/Enter the four letters/);

describe("making a token in a browser", () => {
  it("a person makes a token, copies it, and sees it only once", async () => {
    const page = await pages.signIn("maker@example.com");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${pages.url}/account/access`);
    await page.getByRole("link", { name: "Make a token" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Nightly build");
    await look(page, "token-form");
    await page.getByRole("button", { name: "Make the token" }).click();
    await page.getByRole("alert").waitFor();
    await look(page, "token-form-problem");
    await page.getByRole("alert").getByRole("link").click();
    await page.getByLabel("Demo").check();
    await page.getByLabel("Only these apps").check();
    await page.getByLabel("Largest number of credits", { exact: true }).fill("40");
    await page.getByRole("button", { name: "Make the token" }).click();
    await page.getByRole("heading", { name: "Your new token" }).waitFor();
    const token = await page.getByLabel("Nightly build").inputValue();
    expect(await tokensOf(token)).toMatchObject({
      tokens: [{ apps: ["demo"], caps: [{ credits: 40, period: "total" }] }],
    });
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
    await page.evaluate(() => document.querySelector("textarea")?.replaceChildren("pb_pat_…"));
    await look(page, "token-made");
    expect(pages.log()).not.toContain(token);
    await page.getByRole("link", { name: "Done" }).click();
    expect(await page.content()).not.toContain(token);
  });

  it("a token can be made and revoked without scripts", { tags: ["slow"] }, async () => {
    const page = await pages.signIn("plain@example.com", {
      ...SCREENS.phone,
      javaScriptEnabled: false,
    });
    await page.goto(`${pages.url}/account/tokens/new`);
    await page.getByLabel("Name", { exact: true }).fill("Plain");
    await page.getByLabel("All apps").check();
    await page.getByRole("button", { name: "Make the token" }).click();
    expect(await page.getByLabel("Plain").inputValue()).toMatch(/^pb_pat_/);
    expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(0);
    await page.getByRole("link", { name: "Done" }).click();
    await page.getByRole("link", { name: "Revoke Plain" }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Revoked. It stopped here at once.").waitFor();
  });
});

describe("approving a device in a browser", () => {
  it("a person signs in, compares the code, approves, and the device gets a working token", async () => {
    const options = device("Build agent");
    const login = await startDevice(options);
    const collecting = awaitToken(options, login);
    const page = await pages.openPage();
    await page.goto(login.verification_uri_complete);
    expect(new URL(page.url()).pathname).toBe("/signin");
    await fillSignIn(page, "ada@example.com");
    expect(page.url()).toBe(login.verification_uri_complete);
    const facts = await page.locator("dl.facts").innerText();
    for (const words of ["Build agent", "Demo (demo)", "Node.js", "just now"])
      expect(facts).toContain(words);
    const sentence = page.locator(".money");
    expect(await sentence.innerText()).toMatch(
      /^It can spend at most 50 credits in total, in Demo only, until \d+ \w+( \d{4})?\.$/,
    );
    const choices = page.getByText("– change");
    expect(await page.getByLabel("Only these apps").isVisible()).toBe(false);
    await look(page, "confirm-folded");
    await choices.click();
    expect(await page.getByLabel("Only these apps").isChecked()).toBe(true);
    expect(await page.getByLabel("Demo").isChecked()).toBe(true);
    await page.getByText("More rights").click();
    expect(await page.getByLabel(/Act as me at/).isChecked()).toBe(false);
    await look(page, "confirm");
    // The sentence follows the fields.
    const credits = page.getByLabel("Largest number of credits", { exact: true });
    await credits.fill("1200");
    await page.getByLabel("Period", { exact: true }).selectOption("month");
    await page.getByLabel("All apps").check();
    expect(await sentence.innerText()).toContain(
      "It can spend at most 1,200 credits a month, in all apps, until",
    );
    await page.getByLabel("Only these apps").check();
    await page.getByLabel("Read only").check();
    expect(await sentence.innerText()).toContain("It can read, and spend nothing, in Demo only,");
    await page.getByLabel("Read and spend").check();
    await credits.fill("");
    expect(await sentence.innerText()).toContain("It can spend all your credits, in Demo only,");
    await credits.fill("50");
    await page.getByLabel("Period", { exact: true }).selectOption("total");

    await lastLetters(page).fill(login.user_code.slice(-4).toLowerCase());
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    await look(page, "approved");
    const outcome = await collecting;
    expect(outcome.kind).toBe("token");
    const token = outcome.kind === "token" ? outcome.token : "";
    const headers = { Authorization: `Bearer ${token}` };
    const wallet = await fetch(`${pages.url}/api/wallet?app=demo`, { headers });
    expect(await wallet.json()).toMatchObject({ account: { credits: 100 } });
    expect(await tokensOf(token)).toMatchObject({
      tokens: [
        { scopes: ["read", "write"], apps: ["demo"], caps: [{ credits: 50, period: "total" }] },
      ],
    });
    for (const secret of [token, login.device_code]) expect(pages.log()).not.toContain(secret);

    await page.goto(login.verification_uri_complete);
    await page.getByRole("heading", { name: "This code was already used" }).waitFor();
    await look(page, "used");
  });

  it("a denied request is reported to the device", async () => {
    const options = device("Unasked-for");
    const login = await startDevice(options);
    const page = await pages.openPage();
    await openSignedIn(page, login, "bob@example.com");
    await look(page, "confirm");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("heading", { name: "Request denied" }).waitFor();
    await look(page, "denied");
    expect(await awaitToken(options, login)).toEqual({ kind: "denied" });
  });

  it(
    "an approval form with problems keeps every choice and shows each problem at its field",
    { tags: "slow" },
    async () => {
      for (const [name, options, email] of [
        ["wide", SCREENS.wide, "frida@example.com"],
        ["phone", PHONE, "hugo@example.com"],
      ] as const) {
        const asking = device("Careful");
        const login = await startDevice(asking);
        const collecting = awaitToken(asking, login);
        const page = await pages.openPage(options);
        await openSignedIn(page, login, email);
        await page.getByText("– change").click();
        await page.getByLabel("Read only").check();
        await page.getByText("Other apps").click();
        await page.getByLabel("App names").fill("dmeo!");
        await page.getByLabel("Largest number of credits", { exact: true }).fill("25 or so");
        await page.getByLabel("Period", { exact: true }).selectOption("month");
        await lastLetters(page).fill("XXXX");
        await page.getByRole("button", { name: "Approve" }).click();
        await page.getByRole("alert").waitFor();
        await look(page, `errors-${name}`);
        expect(await page.getByLabel("Read only").isChecked()).toBe(true);
        expect(await page.getByLabel("Demo").isChecked()).toBe(true);
        expect(await page.getByLabel("App names").inputValue()).toBe("dmeo!");
        expect(await page.getByLabel("Period", { exact: true }).inputValue()).toBe("month");
        const credits = page.getByLabel("Largest number of credits", { exact: true });
        expect(await credits.inputValue()).toBe("25 or so");
        const described = (await credits.getAttribute("aria-describedby")) ?? "";
        expect(await page.locator(`#${described.split(" ")[0]}`).innerText()).toContain(
          "whole number",
        );
        await page.getByRole("alert").getByRole("link").first().click();
        await page.getByLabel("App names").fill("draw");
        await credits.fill("25");
        await lastLetters(page).fill(login.user_code);
        await page.getByRole("button", { name: "Approve" }).click();
        await page.getByRole("heading", { name: "Device connected" }).waitFor();
        const outcome = await collecting;
        expect(await tokensOf(outcome.kind === "token" ? outcome.token : "")).toMatchObject({
          tokens: [
            { scopes: ["read"], apps: ["demo", "draw"], caps: [{ credits: 25, period: "month" }] },
          ],
        });
      }
    },
  );

  it("clicks by themselves approve nothing, even double clicks on a malicious link", async () => {
    const login = await startDevice(device("Lure"));
    const page = await pages.openPage();
    await page.goto(`${pages.url}/signin`);
    await fillSignIn(page, "iris@example.com");
    await page.goto("about:blank");
    const lure = `<h1>Win</h1><a href="${login.verification_uri_complete}">Here</a>`;
    await page.route("http://elsewhere.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: lure }),
    );
    await page.goto("http://elsewhere.example/");
    await page.getByRole("link", { name: "Here" }).dblclick();
    await page.getByRole("heading", { name: "Connect a device" }).waitFor();
    expect(await page.getByLabel("Code").inputValue()).toBe(login.user_code);
    await look(page, "lured");
    await page.getByRole("button", { name: "Continue" }).dblclick();
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.dblclick();
    await page.getByRole("alert").waitFor();
    await approve.dblclick();
    const query = new URLSearchParams({ device_code: login.device_code });
    const polled = await fetch(`${pages.url}/api/device/poll?${query.toString()}`);
    expect(polled.status).toBe(202);
  });

  it("approving with limits works with only the keyboard", async () => {
    const options = device("Keyboard");
    const login = await startDevice(options);
    const collecting = awaitToken(options, login);
    const page = await pages.openPage();
    await page.goto(login.verification_uri);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("Tab");
    await page.keyboard.type("carol@example.com");
    await press("Enter");
    await page.getByRole("heading", { name: "Connect a device" }).waitFor();
    await look(page, "enter");
    await press("Tab");
    await page.keyboard.type(login.user_code.toLowerCase().replace("-", " "));
    await press("Enter");
    await page.getByRole("heading", { name: "Connect this device?" }).waitFor();

    // In tab order: the letters, access, credits, period, more limits, the fold of apps (Demo is ticked), other apps.
    await press("Tab");
    await page.keyboard.type(login.user_code.slice(-4));
    await press("Tab", "Tab");
    await page.keyboard.type("30");
    await press("Tab", "Tab", "Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("– change");
    await press("Enter", "Tab", "Tab", "Tab", "Enter", "Tab");
    await page.keyboard.type("draw");
    await look(page, "limits");
    await press("Enter");
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    const outcome = await collecting;
    const token = outcome.kind === "token" ? outcome.token : "";
    expect(await tokensOf(token)).toMatchObject({
      tokens: [
        { label: "Keyboard", apps: ["demo", "draw"], caps: [{ credits: 30, period: "total" }] },
      ],
    });

    await press("Tab", "Enter");
    await page.getByRole("heading", { name: "Access", exact: true }).waitFor();
    await look(page, "tokens");
    // Skips the navigation with its skip link.
    await press("Tab", "Enter");
    await press("Tab", "Tab", "Enter");
    await page.getByRole("heading", { name: "Revoke “Keyboard”?" }).waitFor();
    await look(page, "revoke");
    await press("Tab", "Enter");
    await press("Tab", "Enter");
    await page.getByText("Revoked. It stopped here at once.").waitFor();
    await page.getByText("No device or program has a token.").waitFor();
    const headers = { Authorization: `Bearer ${token}` };
    const wallet = await fetch(`${pages.url}/api/wallet`, { headers });
    expect(wallet.status).toBe(401);
  });

  it("the device pages fit a phone", { tags: ["slow"] }, async () => {
    const login = await startDevice(device("A client with a rather long name, as some have"));
    const page = await pages.openPage(PHONE);
    await page.goto(login.verification_uri);
    await fillSignIn(page, "dora@example.com");
    await look(page, "enter-phone");
    await page.getByLabel("Code").fill("BCDF-GHJK");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("heading", { name: "Unknown code" }).waitFor();
    expect(await page.getByLabel("Code").inputValue()).toBe("BCDF-GHJK");
    await look(page, "unknown-phone");
    await page.getByLabel("Code").fill(login.user_code);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("heading", { name: "Connect this device?" }).waitFor();
    await look(page, "confirm-phone");
  });
});

describe("approving one job in a browser", () => {
  it("the holder opens an agent's link, sees the job and its limit, and approves it", async () => {
    const page = await pages.signIn("kira@example.com");
    await page.request.get(`${pages.url}/api/wallet?app=demo`, { headers: { Origin: pages.url } });
    const options = device("Film agent");
    const login = await startDevice(options);
    const approved = await page.request.post(`${pages.url}/api/device/complete`, {
      headers: { Origin: pages.url },
      data: { user_code: login.user_code, caps: [{ credits: 20, period: "month" }] },
    });
    expect(approved.status(), await approved.text()).toBe(200);
    const collected = await awaitToken(options, login);
    if (collected.kind !== "token") return expect.fail(collected.kind);
    const create = async (more: object = {}) => {
      const response = await fetch(`${pages.url}/api/jobs`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${collected.token}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ app: "demo", action: "render a film", cost_estimate: 30, ...more }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    };
    const refused = await create();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(refused.body["approval_url"] ?? "");
    await page.getByText("20 credits a month: 0 spent, 20 left").waitFor();
    await pages.picture(page, "job-approval");
    await page.setViewportSize(SCREENS.phone.viewport);
    await pages.picture(page, "job-approval-phone");
    await page.setViewportSize(SCREENS.wide.viewport);
    await expectForEverybody(page, "job-approval");
    await page.getByRole("button", { name: "Approve" }).press("Enter");
    await page.getByRole("heading", { name: "You approved this job" }).waitFor();
    await look(page, "job-approved");
    expect(await create({ approval: refused.body["approval"] })).toMatchObject({ status: 200 });
    await page.reload();
    await page.getByRole("heading", { name: "This approval was used" }).waitFor();
  });
});

// The last test, because it uses up the attempts of this network.
describe("approving a device too often", { tags: ["slow"] }, () => {
  it("after too many attempts, the approval continues with the same choices", async () => {
    const login = await startDevice(device("Patient"));
    const page = await pages.openPage(PHONE);
    await openSignedIn(page, login, "jana@example.com");
    await page.getByLabel("Read only").check();
    // The limit is ten a minute, and a new minute may start in between.
    for (let attempt = 0; attempt < 24; attempt += 1) {
      if (await page.getByRole("heading", { name: "Too many attempts" }).isVisible()) break;
      const loaded = page.waitForEvent("load");
      await page.getByRole("button", { name: "Approve" }).click();
      await loaded;
    }
    await page.getByRole("heading", { name: "Too many attempts" }).waitFor();
    await look(page, "too-many");
    expect(await page.locator('input[name="access"]').inputValue()).toBe("read");
  });
});
