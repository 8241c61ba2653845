import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countedEnvironment } from "../../support/bindings.ts";
import { registerApp } from "../../support/directory_outage.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { APP, BACK, openBrowser, subjectOf, tokenOf } from "../../support/browser.ts";
import { BASE_URL, send } from "../../support/passbook.ts";

const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };

async function count(table: string): Promise<number> {
  const row = await env.DIRECTORY.prepare(`select count(*) as n from ${table}`).first<{
    n: number;
  }>();
  return row?.n ?? 0;
}

async function users(): Promise<Record<string, unknown>[]> {
  return (await env.DIRECTORY.prepare("select * from users order by created_at_ms").all()).results;
}

describe("signing in with a provider", () => {
  it("a sign-in sends the browser to the provider with PKCE, state, nonce and one redirect address", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const authorization_url = new URL(await browser.start("acme"));
    expect(authorization_url.origin + authorization_url.pathname).toBe(
      "https://acme.test/authorize",
    );
    expect(Object.fromEntries(authorization_url.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "client-of-acme",
      redirect_uri: "http://passbook.localhost/signin/callback/acme",
      scope: "openid email profile",
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it("starting a sign-in writes to no store and sends no request to the provider", async () => {
    const acme = openProviderDouble("acme");
    await openBrowser(connect(acme)).start("acme");
    expect(acme.requests).toEqual([]);
    for (const table of ["users", "identities", "sessions"]) expect(await count(table)).toBe(0);
  });

  it("a sign-in returns a token that the API accepts", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const landed = await openBrowser(settings).signIn(acme, ADA, `${BACK}?keep=1#part`);
    expect(landed.status).toBe(303);
    const back = new URL(landed.headers.get("Location") ?? "");
    expect(back.origin + back.pathname).toBe(BACK);
    expect(back.searchParams.get("keep")).toBe("1");
    expect(back.hash).toBe("#part");
    const headers = { Authorization: `Bearer ${tokenOf(landed)}` };
    expect(await send("GET", "/api/wallet", { headers }, settings)).toMatchObject({ status: 200 });
  });

  it("the redirect with the token is not cached and sends no referrer", async () => {
    const acme = openProviderDouble("acme");
    const landed = await openBrowser(connect(acme)).signIn(acme, ADA);
    expect(landed.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(landed.headers.get("Cache-Control")).toBe("no-store");
  });

  it("a sign-in sets HttpOnly cookies, the session only for this host", async () => {
    const acme = openProviderDouble("acme");
    const settings = {
      ...connect(acme),
      DEV_SIGNIN: "false",
      BASE_URL: "https://id.family.test",
      COOKIE_DOMAIN: "family.test",
    };
    const landed = await openBrowser(settings).signIn(acme, ADA);
    for (const [name, domain] of [
      ["__Host-passbook_session", undefined],
      ["__Secure-passbook_token", "Domain=family.test"],
    ]) {
      const cookie = landed.headers.getSetCookie().find((value) => value.startsWith(`${name}=`));
      for (const attribute of ["HttpOnly", "Secure", "SameSite=None", "Path=/"]) {
        expect(cookie?.split("; ")).toContain(attribute);
      }
      expect(cookie?.split("; ").find((it) => it.startsWith("Domain="))).toBe(domain);
    }
  });

  it("the flow cookie is only for this host and is removed at the end", async () => {
    const acme = openProviderDouble("acme");
    const settings = {
      ...connect(acme),
      DEV_SIGNIN: "false",
      BASE_URL: "https://id.family.test",
      COOKIE_DOMAIN: "family.test",
    };
    const browser = openBrowser(settings);
    const started = await browser.get(`/signin/acme?redirect_to=${encodeURIComponent(BACK)}`, {
      "Sec-Fetch-Site": "same-origin",
    });
    const [flow = ""] = started.headers.getSetCookie();
    expect(flow).toMatch(/^__Host-passbook_signin=/);
    expect(flow.split("; ").slice(1).toSorted()).toEqual(
      ["HttpOnly", "Max-Age=600", "Path=/", "SameSite=Lax", "Secure"].toSorted(),
    );
    await browser.get(acme.approve(started.headers.get("Location") ?? "", ADA).href);
    expect([...browser.cookies.keys()].toSorted()).toEqual([
      "__Host-passbook_session",
      "__Secure-passbook_token",
    ]);
  });

  it("a sign-in without redirect_to ends on the account page", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const started = await browser.get("/signin/acme");
    const back = acme.approve(started.headers.get("Location") ?? "", ADA);
    const landed = await browser.get(back.href);
    expect(landed.headers.get("Location")).toBe("http://passbook.localhost/account");
  });

  it("a second sign-in finds the same person and updates name and e-mail address", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const first = await openBrowser(settings).signIn(acme, ADA);
    const changed = { ...ADA, name: "Ada L.", email: "ada@new.example" };
    const second = await openBrowser(settings).signIn(acme, changed);
    expect(subjectOf(tokenOf(second))).toBe(subjectOf(tokenOf(first)));
    expect(await users()).toMatchObject([{ name: "Ada L.", email: "ada@new.example" }]);
  });

  it("two simultaneous first sign-ins create one user", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const landings = await Promise.all(
      [1, 2, 3, 4].map(() => openBrowser(settings).signIn(acme, ADA)),
    );
    expect(new Set(landings.map((landed) => subjectOf(tokenOf(landed)))).size).toBe(1);
    expect(await count("users")).toBe(1);
    expect(await count("identities")).toBe(1);
    expect(await count("sessions")).toBe(4);
  });

  it("the user-info endpoint is queried if the ID token has no e-mail address", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    acme.misbehave({
      claims: ({ iss, aud, iat, exp, nonce, sub }) => ({ iss, aud, iat, exp, nonce, sub }),
    });
    await openBrowser(settings).signIn(acme, ADA);
    expect(await users()).toMatchObject([
      { name: "Ada", email: "ada@example.com", email_verified: 1 },
    ]);
  });

  it("a provider without ID tokens and with numeric user ids works", async () => {
    const hub = openProviderDouble("hub", {
      scope: "read:user",
      jwks_uri: null,
      profile: { subject: "data.id", name: "data.name" },
    });
    const settings = connect(hub);
    const person = { sub: "-", data: { id: 4711, name: "Ada" } };
    const first = await openBrowser(settings).signIn(hub, person);
    const second = await openBrowser(settings).signIn(hub, person);
    expect(subjectOf(tokenOf(second))).toBe(subjectOf(tokenOf(first)));
    const row = await env.DIRECTORY.prepare("select subject from identities").first();
    expect(row).toEqual({ subject: "4711" });
  });
});

describe("a preset", () => {
  it.each([
    ["github", "https://github.com/login/oauth/authorize", {}, "select_account"],
    [
      "google",
      "https://accounts.google.com/o/oauth2/v2/auth",
      { access_type: "offline", prompt: "consent" },
      "consent select_account",
    ],
    ["x", "https://x.com/i/oauth2/authorize", {}, null],
  ])("the preset for %s needs only a client", async (preset, address, parameters, again) => {
    const entry = { preset, client_id: "our-id", client_secret: "our-secret" };
    const browser = openBrowser({ SIGNIN_PROVIDERS: JSON.stringify([entry]) });
    const authorization_url = new URL(await browser.start(preset));
    expect(authorization_url.origin + authorization_url.pathname).toBe(address);
    expect(Object.fromEntries(authorization_url.searchParams)).toMatchObject({
      client_id: "our-id",
      redirect_uri: `http://passbook.localhost/signin/callback/${preset}`,
      code_challenge_method: "S256",
      ...parameters,
    });
    expect(authorization_url.href).not.toContain("our-secret");
    const required = `${BASE_URL}/oauth/authorize?new_sign_in=required`;
    const repeated = new URL(await browser.start(preset, required));
    expect(repeated.searchParams.get("prompt")).toBe(again);
  });
});

describe("the sign-in page", () => {
  it("the sign-in page has a link for each provider with the address to return to", async () => {
    const settings = connect(openProviderDouble("acme"), openProviderDouble("zeta"));
    const page = await openBrowser(settings).get(`/signin?redirect_to=${encodeURIComponent(BACK)}`);
    const back = encodeURIComponent(BACK);
    expect(page.text).toContain(`href="/signin/acme?redirect_to=${back}"`);
    expect(page.text).toContain(`href="/signin/zeta?redirect_to=${back}"`);
    expect(page.text).toContain("Continue with Acme");
    expect(page.text).toContain(new URL(APP).host);
  });

  it("a signed-in person confirms before an app gets a new token", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const page = await browser.get(`/signin?redirect_to=${encodeURIComponent(BACK)}`);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining("Continue as Ada") });
    expect(page.text).toContain(`Continue to ${new URL(APP).host}`);
    const again = await browser.post("/signin/continue", { redirect_to: BACK });
    expect(again.status).toBe(303);
    expect(again.headers.get("Referrer-Policy")).toBe("no-referrer");
    const headers = { Authorization: `Bearer ${tokenOf(again)}` };
    expect(await send("GET", "/api/wallet", { headers }, settings)).toMatchObject({ status: 200 });
  });

  it("continuing needs our own page's form and an allowed address", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    await browser.signIn(acme, ADA);
    for (const Origin of [APP, "https://evil.test", "null"]) {
      const answer = await browser.post("/signin/continue", { redirect_to: BACK }, { Origin });
      expect([answer.status, tokenOf(answer)]).toEqual([403, null]);
    }
    const elsewhere = await browser.post("/signin/continue", { redirect_to: "https://evil.test/" });
    expect([elsewhere.status, tokenOf(elsewhere)]).toEqual([400, null]);
    const stranger = await openBrowser().post("/signin/continue", { redirect_to: BACK });
    expect(stranger.headers.get("Location")).toBe(
      `/signin?redirect_to=${encodeURIComponent(BACK)}`,
    );
  });

  it("a signed-in person can use another account", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    await browser.signIn(acme, ADA);
    const page = await browser.get(`/signin?redirect_to=${encodeURIComponent(BACK)}`);
    const [, again = ""] = /action="\/signout".*?value="([^"]+)"/s.exec(page.text) ?? [];
    const left = await browser.post("/signout", { redirect_to: again });
    const choose = await browser.get(left.headers.get("Location") ?? "");
    expect(choose.text).toContain(`/signin/acme?redirect_to=${encodeURIComponent(BACK)}`);
  });

  it("the sign-in page names the app if exactly one app has the origin", async () => {
    const registered = { starter_credits: 0, origins_json: JSON.stringify([APP]) };
    const titleOf = async (settings: object) => {
      const path = `/signin?redirect_to=${encodeURIComponent(BACK)}`;
      const { text } = await send("GET", path, {}, settings);
      return /<h1>(.*?)<\/h1>/.exec(text)?.[1];
    };
    expect(await titleOf({ SERVICE_NAME: "One" })).toBe("Sign in to localhost:3000");
    await registerApp("paint", registered);
    expect(await titleOf({ SERVICE_NAME: "Two" })).toBe("Sign in to An app");
    await registerApp("other", registered);
    expect(await titleOf({ SERVICE_NAME: "Three" })).toBe("Sign in to localhost:3000");
  });

  it("the sign-in page shows the icon and the colour of the app, and none if the app is not known", async () => {
    const icon_hash = "0".repeat(32);
    const open = async (settings: object) =>
      (await send("GET", `/signin?redirect_to=${encodeURIComponent(BACK)}`, {}, settings)).text;
    expect(await open({ SERVICE_NAME: "One" })).not.toContain("app-head");
    await registerApp("paint", { origins_json: JSON.stringify([APP]) });
    await env.DIRECTORY.prepare("update apps set icon_hash = ?, color = '#7b1fa2'")
      .bind(icon_hash)
      .run();
    const text = await open({ SERVICE_NAME: "Two" });
    expect(text).toContain('<rect width="1" height="1" fill="#7b1fa2">');
    expect(text).toContain(`src="/app-icons/${icon_hash}" alt="" width="48" height="48"`);
  });

  it("opening the sign-in page without a cookie does not query D1", async () => {
    const { environment, hops } = countedEnvironment();
    const open = () =>
      send("GET", `/signin?redirect_to=${encodeURIComponent(BACK)}`, {}, environment);
    await open();
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    for (let times = 0; times < 5; times += 1) expect((await open()).status).toBe(200);
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
  });

  it("the sign-in page without redirect_to sends a signed-in browser to its account", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    await browser.signIn(acme, ADA);
    const again = await browser.get("/signin");
    expect(again.headers.get("Location")).toBe("http://passbook.localhost/account");
  });

  it("a signed-in person signs in again on the page that a client requires, and gets a new session", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    await browser.signIn(acme, ADA);
    const page = `${BASE_URL}/oauth/authorize?new_sign_in=required`;
    const query = new URLSearchParams({ redirect_to: page }).toString();
    const { status, text } = await browser.get(`/signin?${query}`);
    expect(status).toBe(200);
    expect(text).toContain("Sign in again");
    expect(text).toContain("/signin/acme?redirect_to=");
    const before = browser.cookies.get("passbook_session");
    const landed = await browser.signIn(acme, ADA, page);
    expect(landed.headers.get("Location")).toMatch(`${BASE_URL}/oauth/authorize?new_sign_in=`);
    expect(browser.cookies.get("passbook_session")).not.toBe(before);
  });

  it("the sign-in page says so if sign-in is not set up", async () => {
    const settings = { DEV_SIGNIN: "false", BASE_URL: "https://passbook.test" };
    const page = await openBrowser(settings).get("/signin");
    expect(page).toMatchObject({
      status: 200,
      text: expect.stringContaining("Sign-in is not set up yet"),
    });
  });

  it("an unknown path gets a page for a person and JSON for a program", async () => {
    expect(await openBrowser().get("/nowhere")).toMatchObject({
      status: 404,
      text: expect.stringContaining("Page not found"),
    });
    expect(await send("GET", "/nowhere")).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    const html = { headers: { Accept: "text/html" } };
    expect((await send("GET", "/api/nowhere", html)).body).toMatchObject({ code: "not_found" });
  });
});
