import { expect, it } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { openBrowser } from "../../support/browser.ts";

it.each([null, ""])("a callback with the code %j is the caller's mistake: 400", async (code) => {
  const acme = openProviderDouble("acme");
  const browser = openBrowser(connect(acme));
  const back = acme.approve(await browser.start("acme"), { sub: "ada" });
  if (code === null) back.searchParams.delete("code");
  else back.searchParams.set("code", code);
  const page = await browser.get(back.href);
  expect(page).toMatchObject({ status: 400, text: expect.stringContaining("couldn’t verify") });
  expect(acme.requests).toEqual([]);
});
