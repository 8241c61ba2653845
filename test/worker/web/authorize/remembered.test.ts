import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import {
  allow,
  authorize,
  CALLBACK,
  formOf,
  registerDemo,
  responseTo,
  serveDocuments,
  signedInBrowser,
  VERIFIER,
} from "../../support/authorizations.ts";
import { CLAUDE } from "../../support/client_documents.ts";
import { openBrowser, type Browser } from "../../support/browser.ts";
import { passTime } from "../../support/clock.ts";
import { connect as connectProvider, openProviderDouble } from "../../support/provider_double.ts";
import { send, type Answer } from "../../support/passbook.ts";

const OF_CLAUDE = { client_id: CLAUDE.client_id, redirect_uri: CLAUDE.redirect_uris[0] };
const SECOND_MS = 1_000;

async function tokensOf(browser: Browser): Promise<readonly Record<string, unknown>[]> {
  return (await browser.get("/api/tokens", { Accept: "application/json" })).body.tokens;
}

async function allowDemo(browser: Browser, scope = "openid write"): Promise<void> {
  const answer = await allow(browser, await authorize(browser, { scope }), { credits: "40" });
  expect(responseTo(answer)?.["code"]).toMatch(/^pb_ac_/);
}

/** Signs in at the page that an answer redirects to, and opens the address that follows. */
async function signInAt(browser: Browser, answer: Answer): Promise<Answer> {
  const location = new URL(answer.headers.get("Location") ?? "");
  expect(location.pathname).toBe("/signin");
  expect((await browser.get(location.href)).text).toContain("Sign in again");
  const redirect_to = location.searchParams.get("redirect_to") ?? "";
  const signed_in = await browser.post("/signin/dev", { email: "ada@example.com", redirect_to });
  return browser.get(signed_in.headers.get("Location") ?? "");
}

describe("a connection that exists", () => {
  it("a registered client with the same scopes gets a code without a page, and no second cap", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser);
    for (const changes of [{}, { prompt: "none" }, { scope: "openid" }]) {
      expect(responseTo(await authorize(browser, changes))?.["code"]).toMatch(/^pb_ac_/);
    }
    const tokens = await tokensOf(browser);
    expect(tokens).toMatchObject([{ caps: [{ credits: 40, period: "total", spent: 0 }] }]);
  });

  it.each([
    ["http://127.0.0.1/callback", "http://127.0.0.1:6666/callback"],
    ["http://localhost:5001/callback", "http://localhost:5001/callback"],
    ["com.example.app:/callback", "com.example.app:/callback"],
    ["https://localhost:5001/callback", "https://localhost:5001/callback"],
    ["https://127.0.0.1/callback", "https://127.0.0.1/callback"],
    ["https://[::1]:5001/callback", "https://[::1]:5001/callback"],
  ])(
    "a public client that is registered with %s needs consent every time, and its former consent is no code for %s",
    async (registered, redirect_uri) => {
      await registerDemo({ redirect_uris_json: JSON.stringify([registered, CALLBACK]) });
      const browser = await signedInBrowser();
      const first = await authorize(browser, { redirect_uri: registered });
      await allow(browser, first);
      const silent = await authorize(browser, { redirect_uri, prompt: "none" });
      expect(responseTo(silent, redirect_uri)).toMatchObject({ error: "consent_required" });
      const page = await authorize(browser, { redirect_uri });
      expect(page.status).toBe(200);
      expect(page.text).toContain("Allow only if you have just started Demo web on this device");
      // The address on the web of the same client still suffices.
      expect(responseTo(await authorize(browser))?.["code"]).toMatch(/^pb_ac_/);
    },
  );

  it("a client with a secret is remembered also on the person's own machine", async () => {
    const redirect_uri = "http://localhost:5001/callback";
    await registerDemo({ public: 0, redirect_uris_json: JSON.stringify([redirect_uri]) });
    const browser = await signedInBrowser();
    const page = await authorize(browser, { redirect_uri });
    expect(page.text).not.toContain("Allow only if you have just started");
    await allow(browser, page);
    const silent = await authorize(browser, { redirect_uri: redirect_uri.replace("5001", "6666") });
    expect(responseTo(silent, "http://localhost:6666/callback")?.["code"]).toMatch(/^pb_ac_/);
  });

  it.each(["consent", "select_account"])("prompt=%s shows the page again", async (prompt) => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser);
    const page = await authorize(browser, { prompt });
    expect(page.status).toBe(200);
    expect(page.text).toContain("It is connected already");
    expect(page.text).toContain('value="40"');
    await allow(browser, page, { credits: "60" });
    expect(await tokensOf(browser)).toMatchObject([{ caps: [{ credits: 60, period: "total" }] }]);
  });

  it("a client that requests more shows what is added, and keeps its cap with what is spent", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser, "openid read");
    expect(responseTo(await authorize(browser, { prompt: "none" }))?.["error"]).toBe(
      "consent_required",
    );
    const page = await authorize(browser);
    expect(page.text).toContain("Let Demo web do more?");
    const [, added = "", kept = ""] = page.text.split("<h2>");
    expect(added).toContain("pay for them with your credits");
    expect(kept).toContain("see your balance");
    await allow(browser, page, { credits: "70" });
    const tokens = await tokensOf(browser);
    expect(tokens).toHaveLength(1);
    expect(tokens[0]).toMatchObject({
      scopes: ["openid", "read", "write"],
      caps: [{ credits: 70 }],
    });
  });

  it("a client without a registration needs consent every time, and gets no second cap", async () => {
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    await allow(browser, await authorize(browser, OF_CLAUDE));
    const page = await authorize(browser, OF_CLAUDE);
    expect(page.status).toBe(200);
    expect(page.text).toContain("It is connected already");
    expect(responseTo(await allow(browser, page), OF_CLAUDE.redirect_uri)).not.toBeNull();
    expect(await tokensOf(browser)).toHaveLength(1);
  });

  it.each(["openid", "openid read"])(
    "a page about %s only does not end the limits of a client that also spends",
    async (scope) => {
      serveDocuments([CLAUDE]);
      const browser = await signedInBrowser();
      const limits = { credits: "40", reach: "some", app: "demo" };
      await allow(browser, await authorize(browser, OF_CLAUDE), limits);
      await allow(browser, await authorize(browser, { ...OF_CLAUDE, scope }));
      expect(await tokensOf(browser)).toMatchObject([{ caps: [{ credits: 40 }], apps: ["demo"] }]);
    },
  );

  it("a client that could only sign people in starts with a small limit when it wants to spend", async () => {
    await registerDemo();
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    await allow(browser, await authorize(browser, { ...OF_CLAUDE, scope: "openid" }));
    const page = await authorize(browser, OF_CLAUDE);
    expect(formOf(page)).toMatchObject({ credits: "50", period: "total" });
    await allow(browser, await authorize(browser, { scope: "openid" }));
    expect(formOf(await authorize(browser))).toMatchObject({ reach: "some", app: "demo" });
  });

  it("a connection that has expired needs consent again", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allow(browser, await authorize(browser), { days: "7" });
    passTime(8 * 24 * 60 * 60 * SECOND_MS);
    expect((await authorize(browser)).text).toContain("Connect Demo web?");
  });

  it("the page of a second consent shows what is spent of the limits", async () => {
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    await allow(browser, await authorize(browser, OF_CLAUDE), { period: "month" });
    const page = await authorize(browser, OF_CLAUDE);
    expect(page.text).toContain("0 of 50 credits a month are spent");
  });

  it("a connection that the holder ended needs consent again", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser);
    const [{ id } = {}] = await tokensOf(browser);
    await browser.post("/account/access/revoke", { id: String(id) });
    expect((await authorize(browser)).text).toContain("Connect Demo web?");
  });
});

describe("a sign-in that a client requires again", () => {
  it.each([{ prompt: "login" }, { max_age: "1" }])(
    "a request with %j continues after a second sign-in only",
    async (changes) => {
      await registerDemo();
      const browser = await signedInBrowser();
      await allowDemo(browser);
      passTime(2 * SECOND_MS);
      const answer = await authorize(browser, changes);
      expect(responseTo(answer)).toBeNull();
      const location = new URL(answer.headers.get("Location") ?? "");
      const skipped = await browser.get(location.searchParams.get("redirect_to") ?? "");
      expect(responseTo(skipped)).toBeNull();
      const landed = await signInAt(browser, answer);
      expect(responseTo(landed)?.["code"]).toMatch(/^pb_ac_/);
    },
  );

  it.each([
    ["openid", {}, "prompt=login", "login"],
    ["openid", {}, "max_age=1", "login"],
    [
      "openid",
      { authorization_parameters: { prompt: "consent" } },
      "prompt=login",
      "consent login",
    ],
    [
      "openid",
      { authorization_parameters: { prompt: "select_account login" } },
      "max_age=1",
      "login",
    ],
    ["openid", {}, "prompt=consent", null],
    ["profile", {}, "prompt=login", null],
    ["profile", {}, "max_age=1", null],
    ["profile", {}, "max_age=60", null],
  ])(
    "a provider with the scope %s and the settings %j that a request with %s reaches gets the prompt %s",
    async (scope, overrides, asked, prompt) => {
      await registerDemo();
      const acme = openProviderDouble("acme", { scope, ...overrides });
      const settings = connectProvider(acme);
      for (const browser of [openBrowser(settings), await signedInBrowser(undefined, settings)]) {
        const is_signed_in = browser.cookies.size > 0;
        passTime(100 * SECOND_MS);
        const answer = await authorize(browser, Object.fromEntries([asked.split("=")]));
        if (is_signed_in && prompt === null && asked === "prompt=consent") continue;
        const signin = new URL(answer.headers.get("Location") ?? "");
        const page = await browser.get(signin.href);
        const href = /href="(\/signin\/acme[^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&");
        const started = await browser.get(href ?? "", { "Sec-Fetch-Site": "same-origin" });
        const at_provider = started.headers.get("Location") ?? "";
        expect(new URL(at_provider).searchParams.get("prompt")).toBe(prompt);
        const back = await browser.get(acme.approve(at_provider, { sub: "ada" }).href);
        const landed = await browser.get(back.headers.get("Location") ?? "");
        // Only a provider that was asked for a new sign-in proves one.
        if (asked === "prompt=consent" || prompt !== null) {
          expect(landed.text).toContain("Connect Demo web?");
        } else {
          expect(responseTo(landed)).toMatchObject({ error: "login_required", state: "state-1" });
        }
      }
    },
  );

  it("a session of a provider that proves no sign-in is never new enough, and suffices for other requests", async () => {
    await registerDemo();
    const acme = openProviderDouble("acme", { scope: "profile" });
    const browser = openBrowser(connectProvider(acme));
    const max_age = { max_age: "10000" };
    // The first request starts the session. The next ones find it.
    for (let requests = 0; requests < 3; requests += 1) {
      const asked = await authorize(browser, max_age);
      const signin = new URL(asked.headers.get("Location") ?? "");
      expect(signin.pathname).toBe("/signin");
      const page = await browser.get(signin.href);
      const href = /href="(\/signin\/acme[^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&");
      const started = await browser.get(href ?? "", { "Sec-Fetch-Site": "same-origin" });
      const at_provider = started.headers.get("Location") ?? "";
      const back = await browser.get(acme.approve(at_provider, { sub: "ada" }).href);
      const landed = await browser.get(back.headers.get("Location") ?? "");
      expect(responseTo(landed)).toMatchObject({ error: "login_required", state: "state-1" });
    }
    const silent = await authorize(browser, { ...max_age, prompt: "none" });
    expect(responseTo(silent)).toMatchObject({ error: "login_required" });
    expect((await authorize(browser)).text).toContain("Connect Demo web?");
  });

  it("a session that is new enough suffices, also without a page", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser);
    const changes = { prompt: "none", max_age: "10000" };
    expect(responseTo(await authorize(browser, changes))?.["code"]).toBeDefined();
  });

  it("a request without a page gets no page if the person connects too often", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser);
    let answer = await authorize(browser, { prompt: "none" });
    for (let sent = 0; sent < 40 && responseTo(answer)?.["code"] !== undefined; sent += 1) {
      answer = await authorize(browser, { prompt: "none" });
    }
    expect(responseTo(answer)).toMatchObject({
      error: "temporarily_unavailable",
      state: "state-1",
    });
  });

  it("a request without a page gets login_required if the session is too old", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser);
    passTime(20 * SECOND_MS);
    const answer = await authorize(browser, { prompt: "none", max_age: "10" });
    expect(responseTo(answer)?.["error"]).toBe("login_required");
  });

  it("a request without a page gets login_required for an ID token of another person", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    await allowDemo(browser);
    const hintAbout = (sub: string) => `e30.${btoa(JSON.stringify({ sub }))}.x`;
    const ask = (sub: string) =>
      authorize(browser, { prompt: "none", id_token_hint: hintAbout(sub) });
    expect(responseTo(await ask("user_other"))?.["error"]).toBe("login_required");
    const me = await browser.get("/api/me", { Accept: "application/json" });
    expect(responseTo(await ask(me.body.identity_id))?.["code"]).toBeDefined();
  });

  it("the tokens of a silent authorization name the same person and sign-in, those after a second sign-in a later one", async () => {
    await registerDemo();
    const browser = await signedInBrowser();
    const first = await claimsOf(await allow(browser, await authorize(browser)));
    passTime(5 * SECOND_MS);
    const silent = await claimsOf(await authorize(browser, { prompt: "none" }));
    expect(silent).toEqual(first);
    const again = await signInAt(browser, await authorize(browser, { prompt: "login" }));
    const later = await claimsOf(again);
    expect(later.sub).toBe(first.sub);
    expect(later.auth_time).toBeGreaterThan(first.auth_time);
  });
});

/** The person and the time of the sign-in, in the ID token that a client gets for its code. */
async function claimsOf(answer: Answer): Promise<{ sub: string; auth_time: number }> {
  const form = {
    grant_type: "authorization_code",
    code: responseTo(answer)?.["code"] ?? "",
    client_id: "demo~web",
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
  };
  const { status, body } = await send("POST", "/oauth/token", { body: new URLSearchParams(form) });
  expect(status).toBe(200);
  const { sub, auth_time } = decodeJwt<{ sub: string; auth_time: number }>(body.id_token);
  return { sub, auth_time };
}
