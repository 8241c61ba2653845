import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import {
  allow,
  authorize,
  deny,
  formOf,
  pageAddress,
  queryOf,
  registerDemo,
  responseTo,
  serveDocuments,
  signedInBrowser,
} from "../../support/authorizations.ts";
import { CLAUDE } from "../../support/client_documents.ts";
import { RESOURCE } from "../../support/oauth_clients.ts";
import { registerResource } from "../../support/registrations.ts";
import { openBrowser, type Browser } from "../../support/browser.ts";
import { earlyInAMinute, passTime } from "../../support/clock.ts";
import { registerApp } from "../../support/directory_outage.ts";
import { BASE_URL, forgetEnvironments, type Answer } from "../../support/passbook.ts";

const OF_CLAUDE = { client_id: CLAUDE.client_id, redirect_uri: CLAUDE.redirect_uris[0] };
const OTHER_SITE = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
const MINUTE_MS = 60_000;

/** The allowances of the browser's person, as the API lists them. */
async function tokensOf(browser: Browser): Promise<readonly Record<string, unknown>[]> {
  return (await browser.get("/api/tokens", { Accept: "application/json" })).body.tokens;
}

async function setSuggestedCap(credits: number): Promise<void> {
  await env.DIRECTORY.prepare("update apps set suggested_cap_json = ?")
    .bind(JSON.stringify({ credits, period: "month" }))
    .run();
  forgetEnvironments();
}

/** Gives the browser's person the starter credits of an unregistered app in development: 100. */
async function getCredits(browser: Browser): Promise<void> {
  await browser.get("/api/wallet?app=studio", { Accept: "application/json", Origin: BASE_URL });
}

/** The first sentence below the title. */
const sentenceOf = (page: Answer): string =>
  (/<p class="money">(.*?)<\/p>/s.exec(page.text)?.[1] ?? "").replaceAll(/<[^>]*>/g, "");

describe("the consent page", () => {
  it("the page names the client, its request, the account, and the address to which the person returns", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await getCredits(browser);
    const page = await authorize(browser, { scope: "openid profile email write offline_access" });
    expect(page.status).toBe(200);
    for (const words of [
      "Connect Demo web?",
      "registered with Passbook",
      "demo.example",
      "ada@example.com",
      "You have 100 credits",
      "run jobs and pay for them with your credits",
      "see your name",
      "see your e-mail address",
      "stay connected after you sign out here",
    ]) {
      expect(page.text, words).toContain(words);
    }
    expect(page.text).not.toContain("<script>");
    expect(page.text).not.toContain("style=");
  });

  it("limits that the client suggests are filled in, and the person decides", async () => {
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    const suggested = { caps: [{ credits: 37, period: "month" }], apps: ["claude.ai"] };
    const authorization_details = JSON.stringify([{ type: "passbook_spending", ...suggested }]);
    const page = await authorize(browser, { ...OF_CLAUDE, authorization_details });
    expect(page.status).toBe(200);
    const form = formOf(page);
    expect(Object.values(form)).toContain("37");
    expect(Object.values(form)).not.toContain("50");
    expect(sentenceOf(page)).toMatch(
      /^It can spend at most 37 credits a month, in claude\.ai only, until \d+ \w+( \d{4})?, or until you sign out here\.$/,
    );
    await allow(browser, page);
    expect(await tokensOf(browser)).toMatchObject([{ apps: ["claude.ai"], caps: suggested.caps }]);
  });

  it("a client that nobody registered acts as its own host; other apps that it asks for are only shown, and the person may pick them", async () => {
    await registerDemo();
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    const authorization_details = JSON.stringify([
      { type: "passbook_spending", apps: ["claude.ai", "demo"] },
    ]);
    const asking = { ...OF_CLAUDE, authorization_details };
    const page = await authorize(browser, asking);
    expect(formOf(page)).toMatchObject({ reach: "some", app: "claude.ai" });
    expect(page.text).toContain("It asks for An app.");
    await allow(browser, page);
    expect(await tokensOf(browser)).toMatchObject([{ apps: ["claude.ai"] }]);
    await allow(browser, await authorize(browser, asking), { app: "demo" });
    expect(await tokensOf(browser)).toMatchObject([{ apps: ["demo"] }]);
    await allow(browser, await authorize(browser, asking), { reach: "all" });
    expect(await tokensOf(browser)).toMatchObject([{ apps: null }]);
  });

  it("a client whose host is the name of a registered app cannot connect", async () => {
    await registerDemo();
    serveDocuments([CLAUDE]);
    await registerApp("claude.ai", {});
    forgetEnvironments();
    const page = await authorize(await signedInBrowser(), OF_CLAUDE);
    expect([page.status, page.text.includes("This app cannot be connected")]).toEqual([400, true]);
  });

  it("a registered client that asks for other limits later shows the old and the new ones, also if it is remembered", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allow(browser, await authorize(browser), { credits: "40", period: "month" });
    const asking = (limits: object) => ({
      authorization_details: JSON.stringify([{ type: "passbook_spending", ...limits }]),
    });
    const same = asking({ caps: [{ credits: 40, period: "month" }], apps: ["demo"] });
    expect(responseTo(await authorize(browser, same))?.["code"]).toMatch(/^pb_ac_/);
    const more = asking({ caps: [{ credits: 900, period: "month" }] });
    expect(responseTo(await authorize(browser, { ...more, prompt: "none" }))).toMatchObject({
      error: "consent_required",
    });
    const page = await authorize(browser, more);
    expect(formOf(page)).toMatchObject({ credits: "40", period: "month" });
    expect(page.text).toContain("It asks for 900 credits a month.");
    expect(page.text).toMatch(
      /So far:<\/strong> It can spend at most 40 credits a month, in An app only, until \d+ \w+/,
    );
    await allow(browser, page, { credits: "100" });
    expect(await tokensOf(browser)).toMatchObject([{ caps: [{ credits: 100, period: "month" }] }]);
    const less = await authorize(browser, asking({ caps: [{ credits: 5, period: "month" }] }));
    expect(formOf(less)).toMatchObject({ credits: "5", period: "month" });
  });

  it("a page about less than a client can already spend says what it can spend", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allow(browser, await authorize(browser), { credits: "40" });
    const page = await authorize(browser, { scope: "openid", prompt: "consent" });
    expect(sentenceOf(page)).toMatch(/^It can spend at most 40 credits in total, in An app only,/);
    await registerResource("demo", "mcp", RESOURCE);
    forgetEnvironments();
    const tool = await authorize(browser, { scope: "tools", resource: RESOURCE });
    expect(sentenceOf(tool)).toMatch(/^It can spend nothing, until/);
    expect(tool.text).toContain("You can stop it at any time in your account.");
    const reading = await authorize(await signedInBrowser("grace@example.com"), { scope: "read" });
    expect(sentenceOf(reading)).toMatch(/^It can read, and spend nothing, in An app only, until/);
  });

  it("a limit that the client wishes beyond the suggested one is only shown", async () => {
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    await getCredits(browser);
    const wish = { caps: [{ credits: 1_000_000_000_000, period: "day" }], expires_in: 864_000_000 };
    const authorization_details = JSON.stringify([{ type: "passbook_spending", ...wish }]);
    const page = await authorize(browser, { ...OF_CLAUDE, authorization_details });
    expect(formOf(page)).toMatchObject({ credits: "50", period: "total", days: "30" });
    expect(page.text).toContain("It asks for 1,000,000,000,000 credits a day (UTC).");
    await allow(browser, page);
    expect(await tokensOf(browser)).toMatchObject([{ caps: [{ credits: 50, period: "total" }] }]);
  });

  it("a shorter lifetime that the client wishes is chosen to the second, and the person may choose another", async () => {
    serveDocuments([CLAUDE]);
    await registerDemo();
    for (const client of [OF_CLAUDE, {}]) {
      const browser = await signedInBrowser();
      const authorization_details = JSON.stringify([
        { type: "passbook_spending", expires_in: 5_401 },
      ]);
      const page = await authorize(browser, { ...client, authorization_details });
      expect(page.text).toContain("in 5,401 seconds, as it asks");
      const now_ms = Date.now();
      await allow(browser, page);
      const [token] = await tokensOf(browser);
      const lifetime_ms = Date.parse(String(token?.["expires_at"])) - now_ms;
      expect(Math.floor(lifetime_ms / 60_000)).toBe(90);
    }
    const forged = await signedInBrowser("grace@example.com");
    const plain = await authorize(forged, OF_CLAUDE);
    expect((await allow(forged, plain, { days: "asked" })).status).toBe(400);
  });

  it("a client without a limit is asked about once more, and stays without one", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const page = await authorize(browser);
    expect(formOf(page)).toMatchObject({ credits: "50", period: "total" });
    const again = await allow(browser, page, { credits: "" });
    expect(again.status).toBe(400);
    expect(again.text).toContain("You set no limit.");
    expect(formOf(again)).not.toHaveProperty("no_limit");
    expect((await allow(browser, again)).status).toBe(400);
    await allow(browser, again, { no_limit: "yes" });
    expect(await tokensOf(browser)).toMatchObject([{ caps: [] }]);
    // The person decided about it before.
    const later = await authorize(browser, { prompt: "consent" });
    expect(formOf(later)).toMatchObject({ credits: "", no_limit: "yes" });
  });

  it.each(["Passbook", "passbook ", "An App", "ＡＮ  ＡＰＰ"])(
    "a client that nobody registered cannot call itself %j",
    async (client_name) => {
      await registerDemo();
      serveDocuments([{ ...CLAUDE, client_name }]);
      for (const prompt of ["consent", "none"]) {
        const page = await authorize(await signedInBrowser(), { ...OF_CLAUDE, prompt });
        expect([page.status, page.headers.get("Location")]).toEqual([400, null]);
        expect(page.text).toContain("This app uses another’s name");
      }
    },
  );

  it("a client that nobody registered is shown with the whole path of its document", async () => {
    const client_id = "https://cdn.example.com/gh/any/one.json";
    serveDocuments([{ ...CLAUDE, client_id }]);
    const { text } = await authorize(await signedInBrowser(), { ...OF_CLAUDE, client_id });
    expect(text).toContain("cdn.example.com");
    expect(text).toContain("/gh/any/one.json");
  });

  it.each([
    "no JSON",
    "[]",
    JSON.stringify([{ type: "passbook_spending", cap: 5 }]),
    JSON.stringify([{ type: "another" }]),
  ])("suggested limits that cannot be read are refused: %s", async (authorization_details) => {
    await registerDemo();
    const answer = await authorize(await signedInBrowser(), { authorization_details });
    expect(responseTo(answer)).toMatchObject({
      error: "invalid_request",
      error_description: expect.stringMatching(/^authorization_details must be/),
    });
  });

  it("a name in a client's document cannot add markup", async () => {
    serveDocuments([{ ...CLAUDE, client_name: "<b>Ada's bank</b>" }]);
    const { text } = await authorize(await signedInBrowser(), OF_CLAUDE);
    expect(text).toContain("&lt;b&gt;Ada&#39;s bank&lt;/b&gt;");
    expect(text).not.toContain("<b>");
  });

  it("a registered client starts with its app, the limit that the app suggests, and at most the balance", async () => {
    await registerDemo();
    await setSuggestedCap(500);
    const browser = await signedInBrowser();
    expect(formOf(await authorize(browser))).toMatchObject({ credits: "500", period: "month" });
    await getCredits(browser);
    const form = formOf(await authorize(browser));
    expect(form).toMatchObject({ credits: "100", period: "month", reach: "some", app: "demo" });
  });

  it("a client without a registration starts with a small limit and thirty days", async () => {
    serveDocuments([CLAUDE]);
    const form = formOf(await authorize(await signedInBrowser(), OF_CLAUDE));
    expect(form).toMatchObject({ credits: "50", period: "total", app: "claude.ai", days: "30" });
  });

  it("a client that only signs people in gets no form for limits", async () => {
    await registerDemo();
    const page = await authorize(await signedInBrowser(), { scope: "openid email" });
    expect(Object.keys(formOf(page)).toSorted()).toEqual(["days", "request"]);
    expect(page.text).not.toContain("How much it can spend");
  });

  it("upstream tokens are a separate choice, which is off, and only for a client whose app may get them", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const asking = { scope: "openid write upstream" };
    const without = await authorize(browser, asking);
    expect(without.text).not.toContain("Act as me at");
    await allow(browser, without, { upstream: "yes" });
    expect((await tokensOf(browser))[0]?.["scopes"]).toEqual(["openid", "write"]);
    await env.DIRECTORY.prepare("update apps set upstream_providers_json = '[\"acme\"]'").run();
    const fresh = await signedInBrowser("grace@example.com", { DIRECTORY: env.DIRECTORY });
    const page = await authorize(fresh, asking);
    expect(page.text).toContain("Act as me at acme");
    expect(formOf(page)).not.toHaveProperty("upstream");
    await allow(fresh, page);
    expect((await tokensOf(fresh))[0]?.["scopes"]).not.toContain("upstream");
    const again = await authorize(fresh, asking);
    expect(again.text).toContain("Let Demo web do more?");
    await allow(fresh, again, { upstream: "yes" });
    expect((await tokensOf(fresh))[0]?.["scopes"]).toContain("upstream");
  });

  it("a person without a session signs in and returns to the same request", async () => {
    await registerDemo();
    const browser = openBrowser();
    const location = new URL((await authorize(browser)).headers.get("Location") ?? "");
    const redirect_to = location.searchParams.get("redirect_to") ?? "";
    expect(redirect_to).toBe(pageAddress());
    const landed = await browser.post("/signin/dev", { email: "ada@example.com", redirect_to });
    expect(landed.headers.get("Location")).toBe(redirect_to);
    expect((await browser.get(redirect_to)).text).toContain("Connect Demo web?");
  });

  it("a person can use another account", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const page = await authorize(browser);
    const back = /action="\/signout"[\s\S]*?value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    expect(back.replaceAll("&amp;", "&")).toBe(pageAddress());
  });
});

describe("allowing a client", () => {
  it("the client gets a code, state and iss by a 303 without a referrer", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const answer = await allow(browser, await authorize(browser));
    expect(answer.status).toBe(303);
    const code = expect.stringMatching(/^pb_ac_/);
    expect(responseTo(answer)).toEqual({ code, state: "state-1", iss: BASE_URL });
    expect(answer.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.headers.get("Location")).not.toContain("token=");
  });

  it("no code reaches the log", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    vi.spyOn(Math, "random").mockReturnValue(0);
    const lines = (["log", "info", "warn", "error"] as const).map((level) =>
      vi.spyOn(console, level).mockReturnValue(),
    );
    const { code } = responseTo(await allow(browser, await authorize(browser))) ?? {};
    const logged = JSON.stringify(lines.flatMap(({ mock }) => mock.calls));
    expect(code).toMatch(/^pb_ac_/);
    expect(logged).toContain("/oauth/authorize/allow");
    expect(logged).not.toContain(code);
  });

  it("the allowance has the chosen limits", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const page = await authorize(browser);
    await allow(browser, page, { credits: "40", period: "month", days: "7" });
    const [token] = await tokensOf(browser);
    expect(token).toMatchObject({
      kind: "code",
      client: { id: "demo~web", host: null },
      label: "Demo web",
      scopes: ["openid", "write"],
      apps: ["demo"],
      caps: [{ credits: 40, period: "month", spent: 0 }],
    });
    const expires_at = Date.parse(String(token?.["expires_at"]));
    expect(Math.round((expires_at - Date.now()) / (24 * 60 * MINUTE_MS))).toBe(7);
  });

  it.each([
    ["credits", "-1", "Enter a whole number of credits"],
    ["credits", "ten", "Enter a whole number of credits"],
    ["days", "400", "Choose when the access ends"],
    ["other_apps", "No App", "is not a valid app name"],
  ])(
    "a form with the %s %s is shown again, and nothing is allowed",
    async (name, value, problem) => {
      await registerDemo();
      const browser = await signedInBrowser();
      const page = await allow(browser, await authorize(browser), { [name]: value });
      expect(page.status).toBe(400);
      expect(page.text).toContain(problem);
      expect(page.text).toContain("Error: Connect Demo web?");
      expect(await tokensOf(browser)).toEqual([]);
      expect(
        responseTo(
          await allow(browser, page, {
            [name]: { days: "7", credits: "5", other_apps: "" }[name] ?? "",
          }),
        ),
      ).not.toBe(null);
    },
  );

  it("a person who denies is sent back with access_denied, and nothing is allowed", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const answer = await deny(browser, await authorize(browser));
    expect(responseTo(answer)).toMatchObject({
      error: "access_denied",
      state: "state-1",
      iss: BASE_URL,
    });
    expect(await tokensOf(browser)).toEqual([]);
  });

  it("a person who denies a client without a registration is sent back at once", async () => {
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    const answer = await deny(browser, await authorize(browser, OF_CLAUDE));
    expect(responseTo(answer, OF_CLAUDE.redirect_uri)?.["error"]).toBe("access_denied");
  });
});

describe("a form that did not come from the shown page", () => {
  it.each(["allow", "deny"])("the form %s of another site is refused", async (act) => {
    await registerDemo();
    const browser = await signedInBrowser();
    const form = formOf(await authorize(browser));
    const answer = await browser.post(`/oauth/authorize/${act}`, form, OTHER_SITE);
    expect([answer.status, answer.headers.get("Location")]).toEqual([403, null]);
    expect(await tokensOf(browser)).toEqual([]);
  });

  it.each([
    ["no request", () => ""],
    ["an invented request", () => btoa(`{"query":"${queryOf()}"}`)],
    ["a changed request", (sealed: string) => `${sealed.slice(0, -4)}AAAA`],
  ])("a form with %s is refused", async (_name, change) => {
    await registerDemo();
    const browser = await signedInBrowser();
    const page = await authorize(browser);
    const request = change(formOf(page)["request"] ?? "");
    const answer = await allow(browser, page, { request });
    expect([answer.status, answer.headers.get("Location")]).toEqual([400, null]);
    expect(await tokensOf(browser)).toEqual([]);
  });

  it("a page of another session is shown again before it counts", async () => {
    await registerDemo();
    const page = await authorize(await signedInBrowser("grace@example.com"));
    const ada = await signedInBrowser();
    const answer = await allow(ada, page);
    expect(answer.text).toContain("You have signed in again since this page was shown");
    expect(answer.text).toContain("ada@example.com");
    expect(await tokensOf(ada)).toEqual([]);
    expect(responseTo(await allow(ada, answer))?.["code"]).toBeDefined();
  });

  it("a page that was open for too long is shown again before it counts", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const page = await authorize(browser);
    passTime(16 * MINUTE_MS);
    const answer = await allow(browser, page);
    expect(answer.text).toContain("This page was open for too long");
    expect(await tokensOf(browser)).toEqual([]);
    expect(responseTo(await deny(browser, page))?.["error"]).toBe("access_denied");
  });

  it("a client that lost the address meanwhile gets nothing there", async () => {
    await registerDemo();
    const browser = await signedInBrowser("ada@example.com", { DIRECTORY: env.DIRECTORY });
    const page = await authorize(browser);
    await env.DIRECTORY.prepare("update oauth_clients set redirect_uris_json = '[]'").run();
    passTime(2 * MINUTE_MS);
    const answer = await allow(browser, page);
    expect([answer.status, answer.headers.get("Location")]).toEqual([400, null]);
    expect(await tokensOf(browser)).toEqual([]);
  });

  it("a person who has signed out signs in first", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const page = await authorize(browser);
    await browser.post("/signout");
    const answer = await allow(browser, page);
    expect(new URL(answer.headers.get("Location") ?? "").pathname).toBe("/signin");
  });

  it(
    "more than thirty decisions of one person in a minute are refused",
    { tags: "slow" },
    async () => {
      await registerDemo();
      await earlyInAMinute();
      const browser = await signedInBrowser();
      const page = await authorize(browser);
      const statuses: number[] = [];
      for (let count = 0; count < 31; count += 1) statuses.push((await deny(browser, page)).status);
      expect(statuses.filter((status) => status === 303)).toHaveLength(30);
      expect(statuses.at(-1)).toBe(429);
    },
  );
});
