/** The language of a page: the choice in this browser, otherwise what the browser accepts. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openBrowser, type Browser } from "../../support/browser.ts";
import { ONLY_PASSKEYS, register } from "../../support/passkeys.ts";
import { BASE_URL, send, signIn, type Answer } from "../../support/passbook.ts";

const GERMAN = { "Accept-Language": "de-DE,de;q=0.9,en;q=0.8" };
const OWN = { Origin: BASE_URL };

/** The directory, whose people's languages cannot be written. */
const withoutLanguages = new Proxy(env.DIRECTORY, {
  get(target, name) {
    if (name !== "prepare") return Reflect.get(target, name).bind(target);
    return (query: string) => {
      if (query.startsWith('update "users" set "language"')) throw new Error("D1 is down");
      return target.prepare(query);
    };
  },
});

const languageOf = ({ text }: Answer): string | undefined => /<html lang="(\w+)"/.exec(text)?.[1];

const choose = (browser: Browser, language: string, headers = {}): Promise<Answer> =>
  browser.post("/language", { language }, { ...OWN, ...headers });

async function signInTo(browser: Browser, email: string): Promise<void> {
  const { status } = await browser.post("/signin/dev", { email });
  expect(status).toBe(303);
}

describe("the language of a page", () => {
  it("a browser that accepts German gets German pages, with German numbers and times", async () => {
    const browser = openBrowser();
    const page = await browser.get("/signin", GERMAN);
    expect(languageOf(page)).toBe("de");
    expect(page.text).toContain('data-locale="de-DE"');
    expect(page.text).toContain(">English<");
    expect(languageOf(await browser.get("/signin"))).toBe("en");
  });

  it("a problem is said in the language of its reader, and in English by the API", async () => {
    const headers = { ...GERMAN, Accept: "text/html" };
    const page = await send("GET", "/nowhere", { headers });
    expect(languageOf(page)).toBe("de");
    expect(page.text).toContain("Seite nicht gefunden");
    const api = await send("GET", "/api/nowhere", { headers });
    expect(api.text).not.toContain("nicht");
  });

  it("the console is in English", async () => {
    const { cookies } = await signIn("root@example.com", { OPERATORS: "root@example.com" });
    const headers = { ...GERMAN, Accept: "text/html", Cookie: cookies };
    const console_page = await send(
      "GET",
      "/console",
      { headers },
      { OPERATORS: "root@example.com" },
    );
    expect(console_page.status).toBe(200);
    expect(languageOf(console_page)).toBe("en");
    expect(console_page.text).not.toContain('action="/language"');
  });
});

describe("the choice of a language", () => {
  it("a chosen language holds in this browser, whatever it accepts, and leads back to the page", async () => {
    const browser = openBrowser();
    const back = `${BASE_URL}/signin?redirect_to=http%3A%2F%2Flocalhost%3A3000%2F`;
    const chosen = await choose(browser, "en", { ...GERMAN, Referer: back });
    expect(chosen.status).toBe(303);
    expect(chosen.headers.get("Location")).toBe(back);
    expect(languageOf(await browser.get("/signin", GERMAN))).toBe("en");
    await choose(browser, "de");
    expect(languageOf(await browser.get("/signin"))).toBe("de");
  });

  it.each([undefined, "https://evil.example/", "//evil.example", "javascript:alert(1)", "x"])(
    "a form that came from %j leads to the account",
    async (referer) => {
      const headers = referer === undefined ? {} : { Referer: referer };
      const chosen = await choose(openBrowser(), "de", headers);
      expect(chosen.headers.get("Location")).toBe("/account");
    },
  );

  it("a language that we do not have, and a form of another site, change nothing", async () => {
    const browser = openBrowser();
    expect((await choose(browser, "fr")).status).toBe(400);
    expect((await choose(browser, "de", { Origin: "https://evil.example" })).status).toBe(403);
    expect(browser.cookies.size).toBe(0);
  });

  it("a person's choice holds in a browser that they sign in with later, unless that has its own", async () => {
    const email = "grete@example.com";
    const first = openBrowser();
    await signInTo(first, email);
    await choose(first, "de");
    const second = openBrowser();
    await signInTo(second, email);
    expect(languageOf(await second.get("/account"))).toBe("de");
    const third = openBrowser();
    await choose(third, "en");
    await signInTo(third, email);
    expect(languageOf(await third.get("/account"))).toBe("en");
    const data = await first.get("/account/data.json");
    expect(JSON.parse(data.text)).toMatchObject({ person: { language: "de" } });
  });

  it("a language that was taken at a sign-in is not a choice: the next person takes their own", async () => {
    const shared = openBrowser();
    const [german, english] = [openBrowser(), openBrowser()];
    await signInTo(german, "anna@example.com");
    await choose(german, "de");
    await signInTo(english, "bert@example.com");
    await choose(english, "en");
    for (const [email, language] of [
      ["anna@example.com", "de"],
      ["bert@example.com", "en"],
      ["anna@example.com", "de"],
      ["carl@example.com", "en"],
    ] as const) {
      await signInTo(shared, email);
      expect(languageOf(await shared.get("/account")), email).toBe(language);
    }
    // A later choice elsewhere holds here too.
    await choose(german, "en");
    await signInTo(shared, "anna@example.com");
    expect(languageOf(await shared.get("/account", GERMAN))).toBe("en");
  });

  it("a language that was chosen before the first sign-in is the person's", async () => {
    const first = openBrowser();
    await choose(first, "de");
    await signInTo(first, "dora@example.com");
    const second = openBrowser();
    await signInTo(second, "dora@example.com");
    expect(languageOf(await second.get("/account"))).toBe("de");
  });

  it("a new account with a passkey has the language that was chosen before, and not the one of the person before", async () => {
    const chosen = openBrowser(ONLY_PASSKEYS);
    await choose(chosen, "de");
    await register(chosen);
    const data = await chosen.get("/account/data.json");
    expect(JSON.parse(data.text)).toMatchObject({ person: { language: "de" } });
    const shared = openBrowser(ONLY_PASSKEYS);
    shared.cookies.set("passbook_language", "de~");
    await register(shared);
    expect(languageOf(await shared.get("/account"))).toBe("en");
  });

  it("changing the language is limited like the person's other writes, and not limited for a visitor", async () => {
    const settings = { LIMIT_WRITES: { limit: async () => ({ success: false }) } };
    const visitor = openBrowser(settings);
    expect((await choose(visitor, "de")).status).toBe(303);
    await signInTo(visitor, "gerd@example.com");
    expect((await choose(visitor, "en")).status).toBe(429);
    const elsewhere = openBrowser();
    await signInTo(elsewhere, "gerd@example.com");
    expect(languageOf(await elsewhere.get("/account"))).toBe("de");
  });

  it("a sign-in succeeds while a person's choice cannot be kept", async () => {
    const browser = openBrowser({ DIRECTORY: withoutLanguages });
    await choose(browser, "de");
    await signInTo(browser, "emil@example.com");
    expect(languageOf(await browser.get("/account"))).toBe("de");
  });

  it.each([
    ["the response to a form", (browser: Browser) => choose(browser, "fr")],
    ["a used up callback", (browser: Browser) => browser.get("/signin/callback/dev?code=1")],
    [
      "a page of the console",
      async (browser: Browser) => {
        await signInTo(browser, "frida@example.com");
        return browser.get("/console", GERMAN);
      },
    ],
    [
      "a foreign host",
      () =>
        send(
          "GET",
          "http://foreign.example/signin",
          { headers: { Accept: "text/html" } },
          { BASE_URL },
        ),
    ],
    [
      "an address that browsers shorten",
      (browser: Browser) => browser.get(`/nowhere?${"a".repeat(4_100)}`),
    ],
  ])("%s offers no other language, because it cannot be opened again", async (_, open) => {
    const page = await open(openBrowser());
    expect(page.text).toContain("<h1>");
    expect(page.text).not.toContain('action="/language"');
  });
});
