/** A language that changes between two steps of one thing. */
import { expect, it, vi } from "vitest";
import { openBrowser } from "../../support/browser.ts";
import { loseDirectory } from "../../support/lost_directory.ts";
import { BASE_URL, send, type Answer, type SignedIn } from "../../support/passbook.ts";
import { SELLING } from "../../payments/till.ts";
import { CHOICE, openShop, switchOn } from "../../top_up/topped_up.ts";

const open = ({ cookies }: SignedIn, path: string, language: string): Promise<Answer> =>
  send(
    "GET",
    path,
    { headers: { Cookie: cookies, "Accept-Language": language, Accept: "text/html" } },
    SELLING,
  );

const fieldOf = ({ text }: Answer, name: string): string =>
  new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1] ?? "";

it("an amount is read in the language of the page that it was typed on, also if another was chosen since", async () => {
  const stripe = openShop();
  const answer = stripe.answer.bind(stripe);
  // Dinars have three decimals, so "50.000" is fifty in English and fifty thousand in German.
  vi.spyOn(stripe, "answer").mockImplementation(async (request: Request) => {
    const response = await answer(request);
    const text = (await response.text()).replaceAll('"currency":"eur"', '"currency":"kwd"');
    return new Response(text, response);
  });
  const ada = await switchOn(stripe, { month_limit: "50.000" });
  const page = await open(ada, "/account/top-up", "en");
  const month_limit = fieldOf(page, "month_limit");
  expect(month_limit).toBe("50.000");
  const headers = {
    Cookie: ada.cookies,
    Origin: BASE_URL,
    "Accept-Language": "de",
    Accept: "text/html",
  };
  const language = fieldOf(page, "language");
  const body = new URLSearchParams({ ...CHOICE, act: "save", month_limit, language });
  const sent = await send("POST", "/account/top-up", { headers, body }, SELLING);
  expect(sent.status, sent.text).toBe(303);
  const german = await open(ada, "/account/top-up", "de");
  expect(fieldOf(german, "month_limit")).toBe("50,000");
});

it("a person's language comes back with a lost directory, and is gone with a deleted account", async () => {
  const email = "lotte@example.com";
  const signedIn = async () => {
    const browser = openBrowser();
    await browser.post("/signin/dev", { email });
    return browser;
  };
  const first = await signedIn();
  const own = { Origin: BASE_URL };
  await first.post("/language", { language: "de" }, own);
  await loseDirectory();
  const second = await signedIn();
  expect((await second.get("/account")).text).toContain('lang="de"');
  await second.post("/account/delete", { confirmation: "delete" }, own);
  const third = await signedIn();
  expect((await third.get("/account")).text).toContain('<html lang="en"');
});
