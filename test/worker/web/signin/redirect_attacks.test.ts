import { describe, expect, it } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { BACK, expectNobody, openBrowser } from "../../support/browser.ts";

const ADA = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };

describe("redirect_to", () => {
  const hostile: readonly (readonly [name: string, address: string])[] = [
    ["a stranger", "https://evil.test/"],
    ["an address without a scheme", "//evil.test"],
    ["a path", "/account"],
    ["an allowed host as user", "http://localhost:3000@evil.test/"],
    ["an allowed host as subdomain", "http://localhost:3000.evil.test/"],
    ["another port", "http://localhost:3001/"],
    ["another scheme", "https://localhost:3000/"],
    ["an address that parsers repair", "http://localhost:3000\\@evil.test/"],
    ["a script", "javascript:alert(1)"],
    ["data", "data:text/html,x"],
    ["nothing", ""],
    ["an address too long", `http://localhost:3000/${"a".repeat(3000)}`],
    ["an address too long once encoded", `http://localhost:3000/${"ä".repeat(2000)}`],
  ];

  it.each(hostile)(
    "redirect_to to %s is refused with a page before any sign-in starts",
    async (_name, address) => {
      const settings = connect(openProviderDouble("acme"));
      const query = new URLSearchParams({ redirect_to: address }).toString();
      for (const path of ["/signin", "/signin/acme"]) {
        const answer = await openBrowser(settings).get(`${path}?${query}`);
        expect(answer.status).toBe(400);
        expect(answer.headers.get("Location")).toBeNull();
        expect(answer.headers.getSetCookie()).toEqual([]);
        expect(answer.text).toContain("We can’t send you back to that address");
      }
    },
  );

  it.each(hostile)("redirect_to to %s leaves the session unchanged", async (_name, redirect_to) => {
    const browser = openBrowser();
    const answer = await browser.post("/signin/dev", { email: "ada@example.com", redirect_to });
    await expectNobody(browser, answer.status);
    expect(answer.status).toBe(400);
    expect((await browser.post("/signin/dev", { email: "ada@example.com" })).status).toBe(303);
    expect((await browser.post("/signout", { redirect_to })).status).toBe(400);
    expect((await browser.get("/account")).status).toBe(200);
  });

  it("a redirect_to that was removed from the allowlist during the sign-in is not followed", async () => {
    const acme = openProviderDouble("acme");
    const settings = connect(acme);
    const browser = openBrowser(settings);
    const back = acme.approve(await browser.start("acme"), ADA);
    const later = openBrowser({ ...settings, ALLOWED_ORIGINS: "" });
    later.cookies.set("passbook_signin", browser.cookies.get("passbook_signin") ?? "");
    const landed = await later.get(back.href);
    expect(landed.headers.get("Location")).toBe("http://passbook.localhost/account");
  });

  it("redirect_to is escaped in the page", async () => {
    const address = `${BACK}?a="><script>alert(1)</script>`;
    const answer = await openBrowser(connect(openProviderDouble("acme"))).get(
      `/signin?redirect_to=${encodeURIComponent(address)}`,
    );
    expect(answer.text).not.toContain("<script");
  });
});
