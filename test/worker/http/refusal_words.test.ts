/** Refusals that name what was wrong and what to do next. */
import { describe, expect, it } from "vitest";
import { openBrowser } from "../support/browser.ts";
import { send } from "../support/passbook.ts";

const ELSEWHERE = "http://localhost:4000/back";
const signInPath = (redirect_to: string) =>
  `/signin?${new URLSearchParams({ redirect_to }).toString()}`;

/** The refused address that the page shows. */
const shownOn = (page: string) => /<code class="address">([^<]*)<\/code>/.exec(page)?.[1];

describe("a redirect_to that is not allowed", () => {
  it("a refused redirect_to appears on the page and in JSON without its query, with the setting that would allow it", async () => {
    const address = `${ELSEWHERE}?code=secret#secret`;
    const page = await openBrowser().get(signInPath(address));
    expect(shownOn(page.text)).toBe(ELSEWHERE);
    const form = new URLSearchParams({ email: "ada@example.com", redirect_to: address });
    const response = await send("POST", "/signin/dev", { body: form });
    expect(response).toMatchObject({ status: 400, body: { code: "redirect_not_allowed" } });
    expect(response.body.error).toContain(`redirect_to is ${ELSEWHERE}, `);
    expect(response.body.error).toContain("ALLOWED_ORIGINS");
    for (const { text } of [page, response]) expect(text).not.toContain("secret");
  });

  it.each([
    ["a sentence of a stranger's", "Call +1 555 now", "Call%20+1%20555%20now"],
    ["markup", "https://a.test/<b>&", "https://a.test/%3Cb%3E&amp;"],
    ["text that turns round", "https://a.test/\u202Egpj", "https://a.test/%E2%80%AEgpj"],
    ["half a character", "https://a.test/\uD800", "https://a.test/%EF%BF%BD"],
    ["what is encoded already", "https://a.test/%20", "https://a.test/%20"],
    ["a long path", `https://a.test/${"a".repeat(3000)}`, `https://a.test/${"a".repeat(85)}…`],
    ["nothing", "", "(empty)"],
  ])("a refused redirect_to with %s is displayed safely", async (_, address, shown) => {
    const page = await openBrowser().get(signInPath(address));
    expect(page.status).toBe(400);
    expect(shownOn(page.text)).toBe(shown);
  });
});

describe("development sign-in with an invalid e-mail address", () => {
  const form = { email: "ada@", redirect_to: "http://localhost:3000/back" };

  it("development sign-in with an invalid e-mail address shows the form again with its values", async () => {
    const page = await openBrowser().post("/signin/dev", form);
    expect(page.status).toBe(400);
    expect(page.headers.get("Content-Type")).toContain("text/html");
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.text).toContain("Enter a complete e-mail address, such as ada@example.com.");
    expect(page.text).toMatch(/<input[^>]*name="email"[^>]*value="ada@"/);
    expect(page.text).toMatch(/<input[^>]*name="redirect_to"[^>]*value="http:\/\/localhost:3000/);
  });

  it("development sign-in with an invalid e-mail address does not repeat a redirect_to that is not allowed", async () => {
    const page = await openBrowser().post("/signin/dev", { ...form, redirect_to: ELSEWHERE });
    expect([page.status, shownOn(page.text)]).toEqual([400, ELSEWHERE]);
  });

  it("development sign-in with an invalid e-mail address returns JSON to a program", async () => {
    const response = await send("POST", "/signin/dev", { body: new URLSearchParams(form) });
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(response.body.error).toContain("email must be an e-mail address");
  });
});

it("an invalid form shows a browser a page that names the field", async () => {
  const page = await openBrowser().post("/signin/continue", {});
  expect(page.status).toBe(400);
  expect(page.headers.get("Content-Type")).toContain("text/html");
  expect(page.text).toContain("redirect_to is missing.");
});

it("without payments, the 404 of checkout names the setting", async () => {
  const response = await send("POST", "/api/checkout");
  expect(response).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(response.body.error).toContain("CREDIT_PACKAGES");
});
