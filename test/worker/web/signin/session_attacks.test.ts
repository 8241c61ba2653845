import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import {
  APP,
  BACK,
  expectNobody,
  openBrowser,
  SIGN_IN_FIRST,
  subjectOf,
  tokenOf,
} from "../../support/browser.ts";
import { send } from "../../support/passbook.ts";

const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };
const MALLORY = { sub: "mallory", email: "mallory@example.com", email_verified: true };

describe("a session", () => {
  it("a sign-in always starts a new session (session fixation)", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const attacker = openBrowser(settings);
    await attacker.signIn(acme, MALLORY);
    const victim = openBrowser(settings);
    const planted = attacker.cookies.get("passbook_session") ?? "";
    victim.cookies.set("passbook_session", planted);
    const landed = await victim.signIn(acme, ADA);
    expect(victim.cookies.get("passbook_session")).not.toBe(planted);
    const attackers = await attacker.post("/signin/continue", { redirect_to: BACK });
    expect(subjectOf(tokenOf(attackers))).not.toBe(subjectOf(tokenOf(landed)));
  });

  it("an altered session cookie is not accepted", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    await browser.signIn(acme, ADA);
    const secret = browser.cookies.get("passbook_session") ?? "";
    browser.cookies.set("passbook_session", (secret[0] === "A" ? "B" : "A") + secret.slice(1));
    const account = await browser.get("/account");
    expect(account.headers.get("Location")).toMatch(SIGN_IN_FIRST);
  });

  it("no value that D1 stores is accepted as a session cookie", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    await openBrowser(settings).signIn(acme, ADA);
    const values: string[] = [];
    for (const table of ["users", "identities", "sessions"]) {
      const rows = await env.DIRECTORY.prepare(`select * from ${table}`).raw();
      values.push(...rows.flat().filter((value) => typeof value === "string"));
    }
    expect(values.length).toBeGreaterThan(5);
    for (const value of values) {
      const thief = openBrowser(settings);
      thief.cookies.set("passbook_session", encodeURIComponent(value));
      thief.cookies.set("passbook_token", encodeURIComponent(value));
      expect((await thief.get("/api/sessionToken")).status).toBe(401);
      expect((await thief.get("/api/wallet")).status).toBe(401);
      expect((await thief.get("/account")).headers.get("Location")).toMatch(SIGN_IN_FIRST);
      const headers = { Authorization: `Bearer ${value}` };
      expect((await send("GET", "/api/wallet", { headers }, settings)).status).toBe(401);
    }
  });

  it("a sign-in leaves no token in D1 or in the log", async () => {
    const logged: unknown[] = [];
    for (const level of ["log", "info", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((...values) => void logged.push(...values));
    }
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const browser = openBrowser(settings);
    const landed = await browser.signIn(acme, ADA);
    acme.misbehave({ id_token: (token) => `${token}x` });
    await openBrowser(settings).signIn(acme, ADA);
    const dump = [JSON.stringify(logged)];
    for (const table of ["users", "identities", "sessions"]) {
      dump.push(
        JSON.stringify((await env.DIRECTORY.prepare(`select * from ${table}`).all()).results),
      );
    }
    const secrets = [...acme.given_secrets, ...browser.cookies.values(), tokenOf(landed) ?? ""];
    expect(secrets.length).toBeGreaterThan(6);
    for (const secret of secrets) expect(dump.join()).not.toContain(secret);
    expect(dump[0]).toContain("signin_failed");
  });
});

describe("a form posted by another site", () => {
  const foreign = [
    { Origin: "https://evil.test" },
    { Origin: "null" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
  ] as const;

  it.each(foreign)("a cross-site form does not sign out: %j", async (headers) => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    await browser.signIn(acme, ADA);
    expect((await browser.post("/signout", {}, headers)).status).toBe(403);
    expect((await browser.get("/account")).status).toBe(200);
  });

  it.each([...foreign, { Origin: APP }])(
    "a cross-site form does not link, unlink or sign out everywhere: %j",
    async (headers) => {
      const acme = openProviderDouble("acme");
      const browser = openBrowser(connect(acme));
      await browser.signIn(acme, ADA);
      for (const path of ["link", "unlink", "signout-everywhere"]) {
        const answer = await browser.post(`/account/${path}`, { provider: "acme" }, headers);
        expect(answer.status).toBe(403);
      }
      expect((await browser.get("/account")).status).toBe(200);
    },
  );

  it.each(foreign)(
    "a cross-site form does not use the development sign-in: %j",
    async (headers) => {
      const browser = openBrowser();
      const answer = await browser.post("/signin/dev", { email: "mallory@example.com" }, headers);
      await expectNobody(browser, answer.status);
    },
  );
});
