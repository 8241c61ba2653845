import { describe, expect, it } from "vitest";
import { authorize, registerDemo, signedInBrowser } from "../../support/authorizations.ts";
import { openBrowser } from "../../support/browser.ts";
import { NEAR_MISSES, REGISTERED } from "../../support/redirect_addresses.ts";

describe("an address that nearly equals one of the client's addresses", () => {
  it("every near miss stays on a page, and goes to no address, signed in or not", async () => {
    await registerDemo({ redirect_uris_json: JSON.stringify(REGISTERED) });
    const misses = NEAR_MISSES.map(([, redirect_uri]) => redirect_uri);
    expect(misses.length).toBeGreaterThan(30);
    for (const browser of [openBrowser(), await signedInBrowser()]) {
      for (const redirect_uri of misses) {
        const page = await authorize(browser, { redirect_uri });
        expect([page.status, page.headers.get("Location")], redirect_uri).toEqual([400, null]);
      }
    }
  });

  it("the page of another name of this machine says which one the client registered", async () => {
    await registerDemo({ redirect_uris_json: JSON.stringify(["http://127.0.0.1:33418/callback"]) });
    const hint =
      "The app registered http://127.0.0.1:33418/callback. localhost, 127.0.0.1 and [::1]";
    for (const [redirect_uri, is_shown] of [
      ["http://localhost:5173/callback", true],
      ["http://[::1]/callback", true],
      ["http://localhost:5173/other", false],
      ["https://localhost/callback", false],
    ] as const) {
      const { text } = await authorize(openBrowser(), { redirect_uri });
      expect(text.includes(hint), redirect_uri).toBe(is_shown);
    }
  });

  it("every registered address, and a loopback address with another port, is accepted", async () => {
    await registerDemo({ redirect_uris_json: JSON.stringify(REGISTERED) });
    const browser = await signedInBrowser();
    for (const redirect_uri of [...REGISTERED, "http://localhost:52163/callback"]) {
      expect((await authorize(browser, { redirect_uri })).status, redirect_uri).toBe(200);
    }
  });
});
