/** A link on another site never skips the sign-in page, which names the app that gets a token. */
import { describe, expect, it } from "vitest";
import { BACK, openBrowser } from "../../support/browser.ts";
import { BASE_URL } from "../../support/passbook.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";

const PATH = `/signin/acme?${new URLSearchParams({ redirect_to: BACK }).toString()}`;
const ASKS_FIRST = `${BASE_URL}/signin?${new URLSearchParams({ redirect_to: BACK }).toString()}`;

describe("a sign-in method's address with an app's redirect_to", () => {
  it.each([
    ["a link on another site", { "Sec-Fetch-Site": "cross-site" }],
    ["a link on a sibling host", { "Sec-Fetch-Site": "same-site" }],
    ["a link in an e-mail or another app", { "Sec-Fetch-Site": "none" }],
    ["a request that says nothing of where it comes from", {}],
    ["another site's Referer", { Referer: "https://app.example.com/" }],
    ["a Referer that begins like our address", { Referer: `${BASE_URL}.evil.test/` }],
    ["a malformed Referer", { Referer: "passbook" }],
    [
      "another site's request with our Referer",
      { "Sec-Fetch-Site": "cross-site", Referer: `${BASE_URL}/signin` },
    ],
  ])("a sign-in address reached by %s shows the sign-in page first", async (_, headers) => {
    const browser = openBrowser(connect(openProviderDouble("acme")));
    const answer = await browser.get(PATH, headers);
    expect(answer.status).toBe(303);
    expect(new URL(answer.headers.get("Location") ?? "", BASE_URL).href).toBe(ASKS_FIRST);
    expect(browser.cookies.size).toBe(0);
  });

  it.each([
    ["by the browser's word", { "Sec-Fetch-Site": "same-origin" }],
    ["by Referer, in a browser that says nothing more", { Referer: `${BASE_URL}/signin` }],
  ])(
    "a sign-in address reached from our own page, %s, redirects to the provider",
    async (_, headers) => {
      const browser = openBrowser(connect(openProviderDouble("acme")));
      const answer = await browser.get(PATH, headers);
      expect(answer.headers.get("Location")).toContain("https://acme.test/authorize");
    },
  );

  it("a link by itself does not give an app the token of a signed-in person", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    await browser.signIn(acme, { sub: "ada", name: "Ada" });
    const cross_site = { "Sec-Fetch-Site": "cross-site" };
    const led = await browser.get(PATH, cross_site);
    const page = await browser.get(led.headers.get("Location") ?? "", cross_site);
    expect(page.text).toContain("Continue as Ada");
    expect(page.headers.get("Location")).toBeNull();
  });

  it("a sign-in for our own page redirects directly to the provider", async () => {
    const browser = openBrowser(connect(openProviderDouble("acme")));
    for (const path of ["/signin/acme", `/signin/acme?redirect_to=${BASE_URL}/account`]) {
      const answer = await browser.get(path, { "Sec-Fetch-Site": "cross-site" });
      expect(answer.headers.get("Location")).toContain("https://acme.test/authorize");
    }
  });
});
