import { expect, it, vi } from "vitest";
import {
  allow,
  authorize,
  deny,
  registerDemo,
  responseTo,
  signedInBrowser,
} from "../../support/authorizations.ts";
import { openBrowser, type Browser } from "../../support/browser.ts";
import { passTime } from "../../support/clock.ts";
import { register, signInWith } from "../../support/passkeys.ts";
import { BASE_URL, type Answer } from "../../support/passbook.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";

const ADA = "ada@example.com";

/** The address that the sign-in page of a request returns to. */
const backOf = ({ headers }: Answer): URL => {
  const location = new URL(headers.get("Location") ?? "");
  expect(location.pathname).toBe("/signin");
  return new URL(location.searchParams.get("redirect_to") ?? "");
};

const locationOf = ({ headers }: Answer): URL => new URL(headers.get("Location") ?? "", BASE_URL);

/** A browser whose person signed in, and the address that a request with `prompt=login` sends them back to. */
async function requiredSignIn(settings = {}): Promise<{ browser: Browser; back: URL }> {
  await registerDemo();
  const browser = await signedInBrowser(ADA, settings);
  passTime(2_000);
  return { browser, back: backOf(await authorize(browser, { prompt: "login" })) };
}

const signIn = (browser: Browser, back: URL, email = ADA): Promise<Answer> =>
  browser.post("/signin/dev", { email, redirect_to: back.href });

/** The address with the proof, after a sign-in. */
async function provenSignIn() {
  const { browser, back } = await requiredSignIn();
  return { browser, proven: locationOf(await signIn(browser, back)) };
}

it.each([
  ["a time", "signed_in_after", "1"],
  ["a word", "new_sign_in", "required"],
  ["nothing", "new_sign_in", ""],
  ["a forged proof", "new_sign_in", "YQ.YWJj"],
])("an address with %s does not replace a sign-in that a client requires", async (...edit) => {
  const { browser, back } = await requiredSignIn();
  back.searchParams.set(edit[1], edit[2]);
  expect(backOf(await browser.get(back.href)).searchParams.get("prompt")).toBe("login");
});

it("a sign-in for another page does not replace one that a client requires", async () => {
  const { browser, back } = await requiredSignIn();
  await browser.post("/signin/dev", { email: ADA });
  backOf(await browser.get(back.href));
});

it("a session that continues gets no proof of a new sign-in", async () => {
  const { browser, back } = await requiredSignIn();
  const continued = await browser.post("/signin/continue", { redirect_to: back.href });
  expect(locationOf(continued).href).toBe(back.href);
});

it("the proof of a sign-in is valid for its request only", async () => {
  const { browser, proven } = await provenSignIn();
  expect((await browser.get(proven.href)).text).toContain("Connect Demo web?");
  proven.searchParams.set("scope", "openid");
  backOf(await browser.get(proven.href));
});

it("the proof of a sign-in is valid for its session only", async () => {
  const { browser, proven } = await provenSignIn();
  await browser.post("/signin/dev", { email: ADA });
  backOf(await browser.get(proven.href));
});

it("the proof of a sign-in is valid for 15 minutes", async () => {
  const { browser, proven } = await provenSignIn();
  passTime(14 * 60_000);
  expect((await browser.get(proven.href)).status).toBe(200);
  passTime(60_000);
  backOf(await browser.get(proven.href));
});

it.each([
  [allow, "code"],
  [deny, "error"],
])("the consent page after a required sign-in ends at the client: %#", async (decide, member) => {
  const { browser, proven } = await provenSignIn();
  const decided = await decide(browser, await browser.get(proven.href));
  expect(Object.keys(responseTo(decided) ?? {})).toContain(member);
});

it("a person can deny on a consent page that is older than the proof of its sign-in", async () => {
  const { browser, proven } = await provenSignIn();
  const page = await browser.get(proven.href);
  passTime(16 * 60_000);
  expect(responseTo(await deny(browser, page))).toMatchObject({ error: "access_denied" });
});

it("a person who changes the account on the page of a required sign-in signs in only once more", async () => {
  const { browser, proven } = await provenSignIn();
  const page = await browser.get(proven.href);
  const this_page = /action="\/signout".*?value="([^"]+)"/s.exec(page.text)?.[1] ?? "";
  const left = await browser.post("/signout", { redirect_to: this_page.replaceAll("&amp;", "&") });
  const back = backOf(await browser.get(locationOf(left).href));
  const signed_in = await signIn(browser, back, "bea@example.com");
  const shown = await browser.get(locationOf(signed_in).href);
  expect(shown.text).toContain("bea@example.com");
});

it.each(["a provider", "a new passkey", "a passkey", "a recovery code"])(
  "a required sign-in with %s continues to the client",
  async (method) => {
    const acme = openProviderDouble("acme");
    const settings = { ...connect(acme), SIGNIN_METHODS: "providers,passkey" };
    const { back } = await requiredSignIn(settings);
    const browser = openBrowser(settings);
    const redirect_to = back.href;
    /** The address behind the button of the page with the recovery code. */
    const saved = ({ text }: Answer): Promise<Answer> => {
      const [, value = ""] = /name="redirect_to" value="([^"]+)"/.exec(text) ?? [];
      return browser.post("/signin/continue", { redirect_to: value.replaceAll("&amp;", "&") });
    };
    const ways: Record<string, () => Promise<Answer>> = {
      "a provider": () => browser.signIn(acme, { sub: "ada" }, redirect_to),
      "a new passkey": async () => saved((await register(browser, { redirect_to })).answer),
      "a passkey": async () => {
        const { credential } = await register(browser);
        passTime(1);
        return (await signInWith(browser, credential, { redirect_to })).answer;
      },
      "a recovery code": async () => {
        const { recovery_code: code } = await register(browser);
        const query = new URLSearchParams({ redirect_to }).toString();
        return saved(await browser.post(`/signin/passkey/recovery?${query}`, { code }));
      },
    };
    const landed = await ways[method]?.();
    const page = await browser.get(locationOf(landed as Answer).href);
    expect(page.text).toContain("Connect Demo web?");
  },
);

it("a request that is almost too long returns with its proof", async () => {
  await registerDemo();
  const browser = await signedInBrowser();
  const ask = (length: number) =>
    authorize(browser, { prompt: "login", state: "s".repeat(length) });
  let length = 1_300;
  while (responseTo(await ask(length)) === null) length += 10;
  const back = backOf(await ask(length - 10));
  const { href } = locationOf(await signIn(browser, back));
  expect((await browser.get(href)).text).toContain("Connect Demo web?");
  const query = new URLSearchParams({ redirect_to: href }).toString();
  expect((await browser.get(`/signin?${query}`)).status).toBe(200);
});

/** The response of a sign-in that a client requires, at a provider whose ID token says when the person signed in. */
async function signInAtProvider(age_seconds: number | null, back = REQUIRED): Promise<Answer> {
  const acme = openProviderDouble("acme");
  const browser = openBrowser(connect(acme));
  const auth_time = age_seconds === null ? {} : { auth_time: nowInSeconds() - age_seconds };
  return browser.signIn(acme, { sub: "ada", ...auth_time }, back);
}

const REQUIRED = `${BASE_URL}/oauth/authorize?new_sign_in=required`;

const nowInSeconds = (): number => Math.floor(Date.now() / 1000);

it("a required sign-in is refused if the provider says that the person signed in before", async () => {
  const log = vi.spyOn(console, "warn").mockReturnValue();
  const refused = await signInAtProvider(60);
  expect([refused.status, refused.headers.get("Set-Cookie")]).toEqual([
    403,
    expect.not.stringContaining("passbook_session"),
  ]);
  expect(refused.text).toContain("Acme did not ask you to sign in");
  expect(refused.text).toContain("/signin/acme?redirect_to=");
  const failure = { failure: "not_signed_in_again", reason: "auth_time" };
  expect(log).toHaveBeenCalledWith({ event: "signin_failed", provider: "acme", ...failure });
});

it.each([
  ["a clock that is 20 seconds slow", 20],
  ["no auth_time", null],
])("a required sign-in succeeds at a provider with %s", async (_name, age_seconds) => {
  expect((await signInAtProvider(age_seconds)).status).toBe(303);
});

it("an auth_time of any age is accepted if no client requires a new sign-in", async () => {
  expect((await signInAtProvider(86_400, `${BASE_URL}/account`)).status).toBe(303);
});
