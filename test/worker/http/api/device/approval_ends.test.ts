/** A personal token ends with the session or the sign-in method that approved it. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { passTime } from "../../../support/clock.ts";
import { openBrowser, type Browser } from "../../../support/browser.ts";
import {
  approvalForm,
  holderOf,
  poll,
  startLogin,
  type TokenHolder,
} from "../../../support/device_logins.ts";
import {
  connect,
  openProviderDouble,
  type ProviderDouble,
} from "../../../support/provider_double.ts";

const ADA = { sub: "ada" };

const lives = async (holder: TokenHolder) => (await holder.get("/api/wallet")).status === 200;

const unlink = (browser: Browser, provider: string) =>
  browser.post("/account/unlink", { provider });

/** Approves a login on our own page. Returns the device code that collects the token. */
async function approveIn(browser: Browser): Promise<string> {
  const { device_code, user_code } = await startLogin();
  const response = await browser.post("/device/approve", approvalForm(user_code));
  expect(response.status).toBe(200);
  return device_code;
}

async function tokenApprovedIn(browser: Browser): Promise<TokenHolder> {
  return holderOf((await poll(await approveIn(browser))).body.token);
}

/** Signs Ada in with two linked providers, acme and zeta, in a browser for each. */
async function signInWithBoth(extra: object = {}) {
  const [acme, zeta] = [openProviderDouble("acme"), openProviderDouble("zeta")];
  const settings = { ...connect(acme, zeta), ...extra };
  const signIn = async (provider: ProviderDouble) => {
    const browser = openBrowser(settings);
    await browser.signIn(provider, ADA);
    return browser;
  };
  const through_acme = await signIn(acme);
  const link = async (browser: Browser) => {
    const started = await browser.post("/account/link", { provider: "zeta" });
    await browser.get(zeta.approve(started.headers.get("Location") ?? "", ADA).href);
  };
  await link(through_acme);
  return { through_acme, through_zeta: await signIn(zeta), link };
}

async function sessionIdOf(browser: Browser): Promise<string> {
  const { body } = await browser.get("/api/sessionToken");
  const [, payload = ""] = body.token.split(".");
  return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))).sid;
}

describe("unlinking a sign-in method", () => {
  it("unlinking a sign-in method revokes only the personal tokens that its sessions approved", async () => {
    const { through_acme, through_zeta } = await signInWithBoth();
    const by_zeta = await tokenApprovedIn(through_zeta);
    const by_acme = await tokenApprovedIn(through_acme);
    await unlink(through_acme, "zeta");
    expect([await lives(by_zeta), await lives(by_acme)]).toEqual([false, true]);
  });

  it("an app that has a session token of an unlinked method notices within 15 minutes, as the page says", async () => {
    const { through_acme, through_zeta } = await signInWithBoth();
    const { token } = (await through_zeta.get("/api/sessionToken")).body;
    const done = await unlink(through_acme, "zeta");
    const page = await through_acme.get(done.headers.get("Location") ?? "");
    expect(page.text).toContain("at a resource it stops within ten minutes");
    expect(page.text).toContain("Open apps notice within 15 minutes.");
    expect(await lives(holderOf(token))).toBe(true);
    expect((await holderOf(token).get("/api/sessionToken")).status).toBe(401);
    passTime(15 * 60_000 + 6_000);
    expect(await lives(holderOf(token))).toBe(false);
  });

  it("unlinking a sign-in method revokes the tokens that the unlinking session approved with it", async () => {
    const { through_zeta } = await signInWithBoth();
    const token = await tokenApprovedIn(through_zeta);
    await unlink(through_zeta, "zeta");
    expect(await lives(token)).toBe(false);
    expect((await through_zeta.get("/account")).status).toBe(200);
  });

  it("unlinking a sign-in method ends approved device logins that are not redeemed, even after linking it again", async () => {
    for (const again of [false, true]) {
      const { through_acme, through_zeta, link } = await signInWithBoth();
      const own = await approveIn(through_zeta);
      await unlink(through_zeta, "zeta");
      if (again) await link(through_zeta);
      expect(await poll(own)).toMatchObject({ status: 410, body: { code: "expired_token" } });
      expect(await lives(await tokenApprovedIn(through_acme))).toBe(true);
    }
  });

  it("a token approved by a session whose sign-in method was unlinked earlier is revoked", async () => {
    const { through_zeta, link, through_acme } = await signInWithBoth();
    await unlink(through_zeta, "zeta");
    const token = await tokenApprovedIn(through_zeta);
    expect(await lives(token)).toBe(true);
    await link(through_zeta);
    await unlink(through_acme, "zeta");
    expect(await lives(token)).toBe(false);
  });

  it("repeating an unlink revokes the tokens if the first call did not reach the account", async () => {
    let failures = 2;
    const getByName = (name: string) =>
      new Proxy(env.ACCOUNT.getByName(name), {
        get: (target, method) => {
          if (method !== "revokeApprovedBy" || failures === 0) return Reflect.get(target, method);
          failures -= 1;
          return async () => Promise.reject(new Error("the object went away"));
        },
      });
    const { through_acme, through_zeta } = await signInWithBoth({ ACCOUNT: { getByName } });
    const token = await tokenApprovedIn(through_zeta);
    expect((await unlink(through_acme, "zeta")).status).toBe(500);
    expect(await lives(token)).toBe(true);
    expect((await unlink(through_acme, "zeta")).status).toBe(303);
    expect(await lives(token)).toBe(false);
  });
});

describe("ending a session on the account page", () => {
  it("ending a session on the account page revokes the personal tokens that it approved only on request", async () => {
    const { through_acme, through_zeta } = await signInWithBoth();
    const token = await tokenApprovedIn(through_zeta);
    const other = await tokenApprovedIn(through_acme);
    const session_id = await sessionIdOf(through_zeta);
    const page = await through_acme.get(`/account/end-session?session_id=${session_id}`);
    expect(page.text).toContain("Also revoke 1 connection or token");
    await through_acme.post("/account/end-session", { session_id });
    expect(await lives(token)).toBe(true);
    await through_acme.post("/account/end-session", { session_id, personal_tokens: "end" });
    expect([await lives(token), await lives(other)]).toEqual([false, true]);
  });

  it("the page that ends a session offers to revoke tokens only for a session that approved some", async () => {
    const { through_acme, through_zeta } = await signInWithBoth();
    const session_id = await sessionIdOf(through_zeta);
    const page = await through_acme.get(`/account/end-session?session_id=${session_id}`);
    expect(page.text).toContain("End 1 session?");
    expect(page.text).not.toMatch(/Also revoke \d/);
  });
});
