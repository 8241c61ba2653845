import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import {
  BACK,
  openBrowser,
  SIGN_IN_FIRST,
  subjectOf,
  tokenOf,
  type Browser,
} from "../../support/browser.ts";
import { send } from "../../support/passbook.ts";
import type { ProviderDouble, PersonAtProvider } from "../../support/provider_double.ts";

const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };
const ADA_AT_ZETA = {
  sub: "a-1",
  name: "Imposter",
  email: "else@example.com",
  email_verified: true,
};

function openTwo() {
  const acme = openProviderDouble("acme");
  const zeta = openProviderDouble("zeta");
  return { acme, zeta, settings: connect(acme, zeta) };
}

/** The signed-in person links a provider from their account page. */
async function link(browser: Browser, provider: ProviderDouble, person: PersonAtProvider) {
  const started = await browser.post("/account/link", { provider: provider.settings.id });
  const back = provider.approve(started.headers.get("Location") ?? "", person);
  return browser.get(back.href);
}

async function linkedProviders(): Promise<unknown[]> {
  const rows = await env.DIRECTORY.prepare(
    "select provider from identities order by provider",
  ).raw();
  return rows.flat();
}

describe("the account page", () => {
  it("/ redirects to the account page", async () => {
    const answer = await send("GET", "/");
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe("/account");
  });

  it("the account page shows name, e-mail address and account id, and the page Security how the person signs in", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    const landed = await browser.signIn(acme, { ...ADA, email_verified: false });
    const page = await browser.get("/account");
    const wallet = await browser.get("/api/wallet");
    for (const text of ["Ada", "ada@example.com", "not verified", wallet.body.account.id]) {
      expect(page.text).toContain(text);
    }
    expect(page.text).not.toContain("Acme");
    const security = await browser.get("/account/security");
    expect(security.text).toContain("<strong>Acme</strong>");
    expect(security.text).toContain("This is your only way to sign in");
    expect(security.text).toContain("Link Zeta");
    expect(security.headers.get("Cache-Control")).toBe("no-store");
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    expect(subjectOf(tokenOf(landed))).toBe(wallet.body.account.identity_id);
  });

  it("the account page redirects a signed-out browser to sign-in", async () => {
    const answer = await openBrowser().get("/account");
    expect(answer).toMatchObject({ status: 303 });
    expect(answer.headers.get("Location")).toMatch(SIGN_IN_FIRST);
  });

  it("a bearer token or a JWT cookie without a session cookie does not open the account page", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    const token = tokenOf(await browser.signIn(acme, ADA));
    for (const headers of [
      { Authorization: `Bearer ${token}` },
      { Cookie: `passbook_token=${token}` },
    ]) {
      expect((await send("GET", "/account", { headers }, settings)).status).toBe(303);
    }
  });

  it("the account page escapes names from a provider", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, { ...ADA, name: "<img src=x onerror=alert(1)>" });
    expect((await browser.get("/account")).text).not.toContain("<img");
  });
});

describe("linking a second provider", () => {
  it("after linking, the person can sign in with either provider", async () => {
    const { acme, zeta, settings } = openTwo();
    const browser = openBrowser(settings);
    const first = await browser.signIn(acme, ADA);
    const linked = await link(browser, zeta, ADA_AT_ZETA);
    expect(linked.headers.get("Location")).toBe("/account/security?notice=linked");
    expect((await browser.get("/account/security?notice=linked")).text).toContain("Linked.");
    const other = await openBrowser(settings).signIn(zeta, ADA_AT_ZETA);
    expect(subjectOf(tokenOf(other))).toBe(subjectOf(tokenOf(first)));
  });

  it("linking a second provider does not change name and e-mail address", async () => {
    const { acme, zeta, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    await link(browser, zeta, ADA_AT_ZETA);
    await openBrowser(settings).signIn(zeta, ADA_AT_ZETA);
    const row = await env.DIRECTORY.prepare("select name, email from users").first();
    expect(row).toEqual({ name: "Ada", email: "ada@example.com" });
  });

  it("linking refuses a provider account that is linked to another person", async () => {
    const { acme, zeta, settings } = openTwo();
    const owner = await openBrowser(settings).signIn(zeta, ADA_AT_ZETA);
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const answer = await link(browser, zeta, ADA_AT_ZETA);
    expect(answer).toMatchObject({
      status: 409,
      text: expect.stringContaining("is already in use"),
    });
    const again = await openBrowser(settings).signIn(zeta, ADA_AT_ZETA);
    expect(subjectOf(tokenOf(again))).toBe(subjectOf(tokenOf(owner)));
  });

  it("linking refuses a second account of the same provider", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const answer = await link(browser, acme, { sub: "ada-2" });
    expect(answer).toMatchObject({ status: 409, text: expect.stringContaining("already have") });
    expect(await linkedProviders()).toEqual(["acme"]);
  });

  it("linking fails if the person has signed out in the meantime", async () => {
    const { acme, zeta, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const started = await browser.post("/account/link", { provider: "zeta" });
    await browser.post("/signout");
    const back = zeta.approve(started.headers.get("Location") ?? "", ADA_AT_ZETA);
    const answer = await browser.get(back.href);
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("was not linked") });
    expect(await linkedProviders()).toEqual(["acme"]);
  });

  it("linking fails if another person has signed in in the meantime", async () => {
    const { acme, zeta, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const started = await browser.post("/account/link", { provider: "zeta" });
    const flow = browser.cookies.get("passbook_signin") ?? "";
    await browser.signIn(acme, { sub: "ben" });
    browser.cookies.set("passbook_signin", flow);
    const back = zeta.approve(started.headers.get("Location") ?? "", ADA_AT_ZETA);
    expect((await browser.get(back.href)).status).toBe(400);
    expect(await linkedProviders()).toEqual(["acme", "acme"]);
  });

  it("linking needs a signed-in person and a form, not a link", async () => {
    const { acme, settings } = openTwo();
    const answer = await openBrowser(settings).post("/account/link", { provider: "acme" });
    expect(answer.headers.get("Location")).toMatch(SIGN_IN_FIRST);
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    expect((await browser.get("/account/link?provider=zeta")).status).toBe(405);
  });
});

describe("unlinking", () => {
  it("an unlinked provider no longer signs the person in, and its upstream tokens are deleted", async () => {
    const { acme, zeta, settings } = openTwo();
    const browser = openBrowser(settings);
    const first = await browser.signIn(acme, ADA);
    await link(browser, zeta, ADA_AT_ZETA);
    const headers = { Authorization: `Bearer ${tokenOf(first)}` };
    const held = () => send("GET", "/api/oauthToken/zeta", { headers }, settings);
    expect(zeta.given_secrets).toContain((await held()).body.token);
    const answer = await browser.post("/account/unlink", { provider: "zeta" });
    expect(answer.headers.get("Location")).toBe("/account/security?notice=unlinked");
    expect((await held()).status).toBe(404);
    const other = await openBrowser(settings).signIn(zeta, ADA_AT_ZETA);
    expect(subjectOf(tokenOf(other))).not.toBe(subjectOf(tokenOf(first)));
  });

  it("unlinking again after a failure deletes the upstream tokens that remained", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { acme, zeta, settings } = openTwo();
    const first = await openBrowser(settings).signIn(acme, ADA);
    let out_of_reach = false;
    const forgetful = {
      ...settings,
      ACCOUNT: {
        getByName: (name: string) =>
          new Proxy(env.ACCOUNT.getByName(name), {
            get(stub, method) {
              if (out_of_reach && method === "forgetUpstreamTokens") throw new Error("unreachable");
              return Reflect.get(stub, method);
            },
          }),
      },
    };
    const browser = openBrowser(forgetful);
    await browser.signIn(acme, ADA);
    await link(browser, zeta, ADA_AT_ZETA);
    out_of_reach = true;
    expect((await browser.post("/account/unlink", { provider: "zeta" })).status).toBe(500);
    expect(await linkedProviders()).toEqual(["acme"]);
    out_of_reach = false;
    await browser.post("/account/unlink", { provider: "zeta" });
    const headers = { Authorization: `Bearer ${tokenOf(first)}` };
    expect((await send("GET", "/api/oauthToken/zeta", { headers }, settings)).status).toBe(404);
  });

  it("concurrent unlinking always leaves one sign-in method", async () => {
    const { acme, zeta, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    await link(browser, zeta, ADA_AT_ZETA);
    await Promise.all(
      ["acme", "zeta"].map((provider) => browser.post("/account/unlink", { provider })),
    );
    expect(await linkedProviders()).toHaveLength(1);
  });

  it("unlinking a provider removes the e-mail verification that it gave", async () => {
    const { acme, zeta, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    await link(browser, zeta, ADA_AT_ZETA);
    await browser.post("/account/unlink", { provider: "acme" });
    const row = await env.DIRECTORY.prepare("select email_verified from users").first();
    expect(row).toEqual({ email_verified: 0 });
  });

  it("unlinking does not affect other people's sign-in methods", async () => {
    const { acme, zeta, settings } = openTwo();
    await openBrowser(settings).signIn(zeta, { sub: "ben" });
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const answer = await browser.post("/account/unlink", { provider: "zeta" });
    expect(answer.headers.get("Location")).toBe("/account/security?notice=not_linked");
    await link(browser, zeta, ADA_AT_ZETA);
    await browser.post("/account/unlink", { provider: "zeta" });
    expect(await linkedProviders()).toEqual(["acme", "zeta"]);
  });
});

describe("signing out", () => {
  it("signing out ends the session, clears both cookies and shows a notice", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const answer = await browser.post("/signout");
    expect(answer.headers.get("Location")).toBe("/signin?notice=signed_out");
    expect(browser.cookies.size).toBe(0);
    expect((await browser.get("/signin?notice=signed_out")).text).toContain("You are signed out.");
    expect((await env.DIRECTORY.prepare("select * from sessions").all()).results).toEqual([]);
  });

  it("signing out clears the host's session cookie and the parent domain's token cookie", async () => {
    const { acme, settings } = openTwo();
    const family = {
      ...settings,
      DEV_SIGNIN: "false",
      BASE_URL: "https://id.family.test",
      COOKIE_DOMAIN: "family.test",
    };
    const browser = openBrowser(family);
    await browser.signIn(acme, ADA);
    const answer = await browser.post("/signout");
    const [session, token, ...more] = answer.headers.getSetCookie();
    expect(session).toMatch(/^__Host-passbook_session=; Max-Age=0; Path=\//);
    expect(token).toMatch(/^__Secure-passbook_token=; Max-Age=0; Domain=family\.test; Path=\//);
    expect(more).toEqual([]);
  });

  it("signing out redirects to an allowed address, also from an allowed app's page", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const headers = { Origin: new URL(BACK).origin };
    const answer = await browser.post("/signout", { redirect_to: BACK }, headers);
    expect(answer.headers.get("Location")).toBe(BACK);
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe(headers.Origin);
  });

  it("signing out responds with JSON to a program", async () => {
    const headers = { Origin: "http://localhost:3000" };
    expect(await send("POST", "/signout", { headers })).toMatchObject({ body: { ok: true } });
  });

  it("signing out everywhere ends all sessions of the person and no one else's", async () => {
    const { acme, settings } = openTwo();
    const [here, there, other] = [
      openBrowser(settings),
      openBrowser(settings),
      openBrowser(settings),
    ];
    await here.signIn(acme, ADA);
    await there.signIn(acme, ADA);
    await other.signIn(acme, { sub: "ben" });
    const answer = await here.post("/account/signout-everywhere");
    expect(answer.headers.get("Location")).toBe("/signin?notice=signed_out_everywhere");
    expect(here.cookies.size).toBe(0);
    expect((await there.get("/account")).status).toBe(303);
    expect((await there.get("/api/sessionToken")).status).toBe(401);
    expect((await other.get("/account")).status).toBe(200);
  });
});

describe("a session in use", () => {
  it("a session expires thirty days after its last use", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const day_ms = 24 * 60 * 60 * 1000;
    const start_ms = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start_ms + 20 * day_ms });
    expect((await browser.get("/account")).status).toBe(200);
    vi.setSystemTime(start_ms + 49 * day_ms);
    expect((await browser.get("/account")).status).toBe(200);
    vi.setSystemTime(start_ms + 80 * day_ms);
    expect((await browser.get("/account")).status).toBe(303);
  });

  it("an expired JWT cookie is renewed from the session cookie", async () => {
    const { acme, settings } = openTwo();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    browser.cookies.delete("passbook_token");
    expect((await browser.get("/api/wallet")).status).toBe(200);
    expect(browser.cookies.has("passbook_token")).toBe(true);
  });
});
