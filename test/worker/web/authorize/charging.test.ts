import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { AppServer } from "../../http/caller/app_server.ts";
import {
  allow,
  authorize,
  formOf,
  responseTo,
  serveDocuments,
  signedInBrowser,
  VERIFIER,
} from "../../support/authorizations.ts";
import { openBrowser, type Browser } from "../../support/browser.ts";
import { openChargingApp, setCharges, toCharge } from "../../support/charging.ts";
import { CLAUDE } from "../../support/client_documents.ts";
import { oauthServices, post, RESOURCE, withToken } from "../../support/oauth_clients.ts";
import { forgetEnvironments, type Answer } from "../../support/passbook.ts";
import { registerClient } from "../../support/registrations.ts";

const [CLAUDE_URI = ""] = CLAUDE.redirect_uris;
const OF_CLAUDE = {
  client_id: CLAUDE.client_id,
  redirect_uri: CLAUDE_URI,
  resource: RESOURCE,
  scope: "tools",
};

const read = async (browser: Browser, path: string) =>
  (await browser.get(path, { Accept: "application/json" })).body;

const words = (html: string): string => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

/** The tokens of the code in the response to the consent form. */
async function tokensOf(answer: Answer): Promise<Answer["body"]> {
  const { code = "" } = responseTo(answer, CLAUDE_URI) ?? {};
  const client = { client_id: CLAUDE.client_id, redirect_uri: CLAUDE_URI };
  const form = { grant_type: "authorization_code", code, code_verifier: VERIFIER, ...client };
  return (await post("/oauth/token", form)).body;
}

/** The app with the resource that charges, and a person who has never used it. */
async function openPage(): Promise<{ server: AppServer; browser: Browser; page: Answer }> {
  const server = await openChargingApp();
  forgetEnvironments();
  serveDocuments([CLAUDE]);
  const browser = await signedInBrowser("newcomer@example.com");
  return { server, browser, page: await authorize(browser, OF_CLAUDE) };
}

/** What an app's key sees of a person's account. */
async function seenByKey(server: AppServer, browser: Browser): Promise<number> {
  const { identity_id } = (await read(browser, "/api/wallet")).account;
  return (await server.in(identity_id).get("/api/wallet")).status;
}

describe("the consent for a resource that charges", () => {
  it("says first how much it can cost, lists the right, and asks for a limit", async () => {
    const { page } = await openPage();
    expect(page.status).toBe(200);
    const text = words(page.text);
    expect(text).toMatch(
      /It can spend at most 50 credits in total , in An app only , until \d+ \w+/,
    );
    expect(text).toContain("use An app at mcp.example.com as you (tools)");
    expect(text).toContain(
      "pay An app with your credits for what it does: An app decides what each use costs",
    );
    expect(page.text.indexOf("It can spend")).toBeLessThan(page.text.indexOf("Who asks"));
    expect(page.text).not.toContain("Which apps it can use");
    expect(Object.values(formOf(page))).toContain("50");
  });

  it("starts with the limit that the resource's app suggests, and not the client's app", async () => {
    await openChargingApp();
    await registerClient("other", "web", {
      public: 1,
      redirect_uris_json: JSON.stringify([CLAUDE_URI]),
    });
    const cap = JSON.stringify({ credits: 20, period: "day" });
    await env.DIRECTORY.prepare("update apps set suggested_cap_json = ? where slug = 'sketch'")
      .bind(cap)
      .run();
    forgetEnvironments();
    const browser = await signedInBrowser();
    const page = await authorize(browser, { ...OF_CLAUDE, client_id: "other~web" });
    expect(words(page.text)).toContain(
      "It can spend at most 20 credits a day (UTC) , in An app only",
    );
  });

  it("a person who has never used the app gets its starter credits, and the app's key gets nothing", async () => {
    const { server, browser, page } = await openPage();
    expect(await seenByKey(server, browser)).toBe(404);
    const { access_token, scope } = await tokensOf(await allow(browser, page));
    expect(scope).toBe("tools charge");
    expect(await read(browser, "/api/wallet")).toMatchObject({
      account: { credits: 100 },
      apps: [{ slug: "sketch", granted: true }],
    });
    expect(await seenByKey(server, browser)).toBe(404);
    const [connection] = (await read(browser, "/api/tokens")).tokens;
    expect(connection).toMatchObject({
      apps: ["sketch"],
      caps: [{ credits: 50, period: "total" }],
      scopes: ["tools", "charge"],
    });
    const { body } = await toCharge(access_token);
    const job = { app: "sketch", action: "draw", cost_estimate: 50 };
    const charged = await withToken(body.access_token, "POST", "/api/jobs", job);
    expect(charged.status).toBe(200);
    expect(await seenByKey(server, browser)).toBe(404);
    // Connecting again gives no second grant.
    await allow(browser, await authorize(browser, OF_CLAUDE));
    expect((await read(browser, "/api/wallet")).account.credits).toBe(50);
  });

  it("a day's starter budget bounds these grants too, and a refused person gets none", async () => {
    await openChargingApp();
    await env.DIRECTORY.exec("update apps set daily_starter_budget = 100 where slug = 'sketch'");
    forgetEnvironments();
    serveDocuments([CLAUDE]);
    const credits: number[] = [];
    for (const email of ["one@example.com", "two@example.com"]) {
      const browser = await signedInBrowser(email);
      await allow(browser, await authorize(browser, OF_CLAUDE));
      credits.push((await read(browser, "/api/wallet")).account.credits);
    }
    expect(credits).toEqual([100, 0]);
  });

  it("a limit that is left empty is asked about once more, and the page keeps saying where it counts", async () => {
    const { browser, page } = await openPage();
    const empty = Object.fromEntries(
      Object.keys(formOf(page))
        .filter((name) => name.startsWith("credits"))
        .map((name) => [name, ""]),
    );
    expect(Object.keys(empty)).not.toEqual([]);
    const again = await allow(browser, page, empty);
    expect(again.status).toBe(400);
    expect((await read(browser, "/api/tokens")).tokens).toEqual([]);
    const unlimited = await allow(browser, again, { ...empty, no_limit: "yes" });
    expect(responseTo(unlimited, CLAUDE_URI)).toMatchObject({ code: expect.any(String) });
    expect((await read(browser, "/api/tokens")).tokens).toMatchObject([
      { apps: ["sketch"], caps: [] },
    ]);
  });

  it("a client cannot have the charges counted for another app", async () => {
    const { browser } = await openPage();
    const details = [{ type: "passbook_spending", apps: ["other"] }];
    const authorization_details = JSON.stringify(details);
    const page = await authorize(browser, { ...OF_CLAUDE, authorization_details });
    await allow(browser, page, { app: "other", reach: "all" });
    expect((await read(browser, "/api/tokens")).tokens).toMatchObject([{ apps: ["sketch"] }]);
  });

  it("a client that was connected before the resource charged must ask the person again", async () => {
    const server = await openChargingApp();
    await setCharges(false);
    forgetEnvironments();
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    const before = await authorize(browser, OF_CLAUDE);
    expect(words(before.text)).not.toContain("credits in total ,");
    const { scope } = await tokensOf(await allow(browser, before));
    expect(scope).toBe("tools");
    expect((await read(browser, "/api/tokens")).tokens).toMatchObject([{ apps: null, caps: [] }]);
    await setCharges(true);
    forgetEnvironments();
    const page = await authorize(browser, OF_CLAUDE);
    expect(words(page.text)).toMatch(
      /It also wants to use An app at \S+ as you pay An app with your credits/,
    );
    expect(words(page.text)).toContain("It can spend at most 50 credits in total");
    const { access_token } = await tokensOf(await allow(browser, page));
    expect((await toCharge(access_token)).status).toBe(200);
    expect((await read(browser, "/api/tokens")).tokens).toMatchObject([
      { apps: ["sketch"], caps: [{ credits: 50 }] },
    ]);
    expect(server.key).toBeDefined();
  });

  it("a remembered consent does not count for another app that registered the address since", async () => {
    await openChargingApp();
    await registerClient("sketch", "web", {
      redirect_uris_json: JSON.stringify([CLAUDE_URI]),
    });
    forgetEnvironments();
    const browser = await signedInBrowser();
    const of_web = { ...OF_CLAUDE, client_id: "sketch~web" };
    await allow(browser, await authorize(browser, of_web));
    expect(responseTo(await authorize(browser, of_web), CLAUDE_URI)).not.toBeNull();
    await env.DIRECTORY.exec("update resources set app_slug = 'other'");
    oauthServices().apps.forget();
    forgetEnvironments();
    const page = await authorize(browser, of_web);
    expect(words(page.text)).toMatch(
      /It also wants to use An app at \S+ as you pay An app with your credits/,
    );
  });

  it("the account page says that uses cost credits, shows the limit and changes it", async () => {
    const { browser, page } = await openPage();
    await allow(browser, page);
    const list = await browser.get("/account/access");
    expect(words(list.text)).toContain("Each use can cost you credits, in An app.");
    expect(words(list.text)).toContain("0 of 50 credits");
    expect((await openBrowser().get("/account/access")).status).toBe(303);
  });
});
