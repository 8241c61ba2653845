/** The two cookies of a signed-in browser, and what other hosts of the family can do with them. */
import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { describe, expect, it, vi } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { openBrowser, subjectOf, tokenOf, type Browser } from "../../support/browser.ts";
import { send, signIn } from "../../support/passbook.ts";

const ADA = { sub: "ada", name: "Ada" };
const MALLORY = { sub: "mallory", name: "Mallory" };

const SESSION = "__Host-passbook_session";
const TOKEN = "__Secure-passbook_token";

/** A deployment at id.family.test, whose parent domain is shared with other hosts. */
function family() {
  const acme = openProviderDouble("acme");
  const settings = {
    ...connect(acme, openProviderDouble("other")),
    DEV_SIGNIN: "false",
    BASE_URL: "https://id.family.test",
    COOKIE_DOMAIN: "family.test",
  };
  const askFor = async (path: string, cookies: string, method = "GET") => {
    const headers = { Cookie: cookies, Origin: settings.BASE_URL, Accept: "text/html" };
    return send(method, new URL(path, settings.BASE_URL).href, { headers }, settings);
  };
  return { acme, settings, askFor };
}

const pair = (browser: Browser, name: string): string =>
  `${name}=${browser.cookies.get(name) ?? "none"}`;

async function twoPeople() {
  const world = family();
  const ada = openBrowser(world.settings);
  const ada_id = subjectOf(tokenOf(await ada.signIn(world.acme, ADA)));
  const mallory = openBrowser(world.settings);
  const mallory_id = subjectOf(tokenOf(await mallory.signIn(world.acme, MALLORY)));
  return { ...world, ada, ada_id, mallory, mallory_id };
}

const walletOwner = (response: { body: { account?: { identity_id: string } } }) =>
  response.body?.account?.identity_id;

describe("the cookies of a sign-in", () => {
  it("a sign-in sets a session cookie for this host and a JWT cookie for the parent domain", async () => {
    const { acme, settings } = family();
    const landed = await openBrowser(settings).signIn(acme, ADA);
    const cookies = landed.headers.getSetCookie();
    const session = cookies.find((cookie) => cookie.startsWith(`${SESSION}=`)) ?? "";
    const token = cookies.find((cookie) => cookie.startsWith(`${TOKEN}=`)) ?? "";
    expect(session).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=None$/);
    expect(session).not.toContain("Domain");
    expect(token).toContain("; Domain=family.test; Path=/; HttpOnly; Secure; SameSite=None");
    expect(token).toContain("Max-Age=900");
  });
});

describe("the shared JWT as a bearer token", () => {
  const ask = async (token: string, settings: object) => {
    const headers = { Authorization: `Bearer ${token}` };
    const path = "https://id.family.test/api/oauthToken/other";
    const response = await send("GET", path, { headers }, settings);
    return [response.status, response.body.code];
  };

  it("the JWT of the parent domain's cookie has the shared azp, also after it is renewed", async () => {
    const { ada, settings } = await twoPeople();
    const token = ada.cookies.get(TOKEN) ?? "";
    expect(decodeJwt(token)["azp"]).toBe("shared");
    const headers = { Authorization: `Bearer ${token}` };
    const path = "https://id.family.test/api/sessionToken";
    const renewed = await send("GET", path, { headers }, settings);
    expect(decodeJwt(renewed.body.token)["azp"]).toBe("shared");
  });

  it("the shared JWT receives upstream tokens only if every host of the domain may", async () => {
    const { ada, settings } = await twoPeople();
    const token = ada.cookies.get(TOKEN) ?? "";
    expect(await ask(token, settings)).toEqual([403, "scope"]);
    const one = { ...settings, ALLOWED_ORIGINS: "https://app.family.test" };
    expect(await ask(token, one)).toEqual([403, "scope"]);
    const below = { ...settings, ALLOWED_ORIGINS: "https://*.sub.family.test" };
    expect(await ask(token, below)).toEqual([403, "scope"]);
    const all_below = { ...settings, ALLOWED_ORIGINS: "https://*.family.test" };
    expect(await ask(token, all_below)).toEqual([403, "scope"]);
    const every = { ...settings, ALLOWED_ORIGINS: "https://*.family.test,https://family.test" };
    expect(await ask(token, every)).toEqual([404, "token_not_found"]);
  });
});

describe("the API with cookies", () => {
  it("the API accepts the JWT cookie with its session cookie without a query to a store", async () => {
    const ada = await signIn();
    const { environment, hops } = countedEnvironment();
    const headers = { Cookie: ada.cookies };
    expect((await send("GET", "/api/wallet", { headers }, environment)).status).toBe(200);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });

  it("the API refuses a JWT cookie without its session cookie or with an invalid one", async () => {
    const { ada, askFor } = await twoPeople();
    expect((await askFor("/api/wallet", pair(ada, TOKEN))).status).toBe(401);
    const invented = `${SESSION}=${"a".repeat(43)}; ${pair(ada, TOKEN)}`;
    expect((await askFor("/api/wallet", invented)).status).toBe(401);
  });

  it("the API refuses as a cookie a JWT that was issued to a bearer", async () => {
    const { ada, ada_id, acme, settings, askFor } = await twoPeople();
    const bearer = tokenOf(await openBrowser(settings).signIn(acme, ADA)) ?? "";
    const headers = { Authorization: `Bearer ${bearer}` };
    const renewed = await send("GET", "/api/sessionToken", { headers }, settings);
    const response = await askFor("/api/wallet", `${TOKEN}=${renewed.body.token}`);
    expect(response.status).toBe(401);
    const own = await askFor(
      "/api/wallet",
      `${pair(ada, SESSION)}; ${TOKEN}=${renewed.body.token}`,
    );
    expect(walletOwner(own)).toBe(ada_id);
    expect(own.headers.getSetCookie().join()).toContain(`${TOKEN}=`);
  });

  it("a planted JWT cookie of another person does not change who is signed in, in any order of cookies", async () => {
    const { ada, ada_id, mallory, askFor } = await twoPeople();
    const planted = pair(mallory, TOKEN);
    for (const cookies of [
      [pair(ada, SESSION), planted],
      [pair(ada, SESSION), planted, pair(ada, TOKEN)],
      [pair(ada, SESSION), pair(ada, TOKEN), planted],
      [`${TOKEN}=dead`, planted, pair(ada, SESSION), pair(ada, TOKEN)],
    ]) {
      expect(walletOwner(await askFor("/api/wallet", cookies.join("; ")))).toBe(ada_id);
    }
  });

  it("the API finds the session's JWT after expired JWT cookies without a query to a store", async () => {
    const ada = await signIn();
    const { environment, hops } = countedEnvironment();
    const headers = { Cookie: `passbook_token=dead; passbook_session=dead; ${ada.cookies}` };
    expect((await send("GET", "/api/wallet", { headers }, environment)).status).toBe(200);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });

  it("the API verifies at most 8 of many forged JWT cookies and still finds the session", async () => {
    const { ada, ada_id, mallory, askFor } = await twoPeople();
    const [head = "", payload = ""] = (mallory.cookies.get(TOKEN) ?? "").split(".");
    const forged = Array.from({ length: 64 }, (_, nth) => {
      const signature = "A".repeat(84) + String(nth).padStart(2, "A");
      return `${TOKEN}=${head}.${payload}.${signature}`;
    });
    const verify = vi.spyOn(crypto.subtle, "verify");
    const digest = vi.spyOn(crypto.subtle, "digest");
    const invented = Array.from({ length: 64 }, (_, nth) => `${SESSION}=${"a".repeat(41)}${nth}`);
    const cookies = [pair(ada, SESSION), ...invented, ...forged, pair(ada, TOKEN)].join("; ");
    const response = await askFor("/api/wallet", cookies);
    expect(verify.mock.calls.length).toBeLessThanOrEqual(8);
    // Two hashes of each session cookie: one finds it, one binds its JWT.
    expect(digest.mock.calls.length).toBeLessThanOrEqual(2 * 8 + 1);
    expect(walletOwner(response)).toBe(ada_id);
  });

  it("with https, cookies without the __Host- prefix are ignored, since a sibling host can plant them", async () => {
    const { ada, mallory, ada_id, askFor } = await twoPeople();
    const planted =
      `passbook_session=${mallory.cookies.get(SESSION)}; ` +
      `passbook_token=${mallory.cookies.get(TOKEN)}`;
    expect((await askFor("/api/wallet", planted)).status).toBe(401);
    const beside = `${planted}; ${pair(ada, SESSION)}`;
    expect(walletOwner(await askFor("/api/wallet", beside))).toBe(ada_id);
  });
});

describe("our own pages", () => {
  it("our own pages use the session cookie and ignore a planted JWT cookie", async () => {
    const { ada, mallory, askFor } = await twoPeople();
    const page = await askFor("/account", `${pair(mallory, TOKEN)}; ${pair(ada, SESSION)}`);
    expect(page.text).toContain("Ada");
    expect(page.text).not.toContain("Mallory");
    expect((await askFor("/account", pair(mallory, TOKEN))).status).toBe(303);
  });

  it("our own pages use the first live session cookie, and sign-out ends all of them", async () => {
    const ada = await signIn();
    const again = await signIn();
    const [session = ""] = ada.cookies.split("; ");
    const [other = ""] = again.cookies.split("; ");
    const dead = `passbook_session=${"d".repeat(43)}`;
    const ask = (method: string, path: string, cookies: string) => {
      const headers = { Cookie: cookies, Origin: "http://passbook.localhost", Accept: "text/html" };
      return send(method, path, { headers });
    };
    expect((await ask("GET", "/account", `${dead}; ${session}`)).status).toBe(200);
    await ask("POST", "/signout", `${dead}; ${session}; ${other}`);
    const left = await env.DIRECTORY.prepare("select count(*) as n from sessions").first("n");
    expect(left).toBe(0);
  });
});
