import { describe, expect, it } from "vitest";
import {
  allow,
  authorize,
  CALLBACK,
  registerDemo,
  responseTo,
  serveDocuments,
  signedInBrowser,
  VERIFIER,
} from "../../support/authorizations.ts";
import { openBrowser, SIGN_IN_FIRST, type Browser } from "../../support/browser.ts";
import { CLAUDE } from "../../support/client_documents.ts";
import { passTime } from "../../support/clock.ts";
import { post } from "../../support/oauth_clients.ts";
import { BASE_URL, forgetEnvironments, send, type Answer } from "../../support/passbook.ts";
import { registerClient } from "../../support/registrations.ts";

const AFTER = "https://demo.example/bye";

const registered = (uris: readonly string[] = [AFTER, `${AFTER}?kept=1`]) =>
  registerDemo({ post_logout_redirect_uris_json: JSON.stringify(uris) });

const logout = (
  browser: Browser,
  parameters: Record<string, string> | string[][],
): Promise<Answer> => browser.get(`/oauth/logout?${new URLSearchParams(parameters).toString()}`);

const locationOf = ({ headers }: Answer): string | null => headers.get("Location");

/** The ID token that the client of `demo` gets for a browser's person. */
async function idTokenOf(browser: Browser): Promise<string> {
  const asked = await authorize(browser);
  const answer = asked.status === 200 ? await allow(browser, asked) : asked;
  const code = responseTo(answer)?.["code"] ?? "";
  const form = { grant_type: "authorization_code", client_id: "demo~web", redirect_uri: CALLBACK };
  const tokens = await post("/oauth/token", { ...form, code, code_verifier: VERIFIER });
  return (tokens.body as { id_token: string }).id_token;
}

async function expectSignedIn(browser: Browser): Promise<void> {
  expect((await browser.get("/account")).status).toBe(200);
}

async function expectSignedOut(browser: Browser): Promise<void> {
  expect(locationOf(await browser.get("/account"))).toMatch(SIGN_IN_FIRST);
}

describe("a client signs a person out (RP-Initiated Logout)", () => {
  it("both documents of the server name the endpoint", async () => {
    for (const name of ["openid-configuration", "oauth-authorization-server"]) {
      const { body } = await send("GET", `/.well-known/${name}`);
      expect(body).toHaveProperty("end_session_endpoint", `${BASE_URL}/oauth/logout`);
    }
  });

  it("an ID token of the signed-in person signs them out at once, also when it has expired", async () => {
    await registered();
    const browser = await signedInBrowser();
    const id_token_hint = await idTokenOf(browser);
    passTime(3_600_000);
    const form = { id_token_hint, post_logout_redirect_uri: AFTER, state: "a b&c" };
    const answer = await logout(browser, form);
    expect(answer.status).toBe(303);
    expect(locationOf(answer)).toBe(`${AFTER}?state=a+b%26c`);
    expect(answer.headers.get("Referrer-Policy")).toBe("no-referrer");
    await expectSignedOut(browser);
    // Repeated, because a browser may load the address again.
    expect(locationOf(await logout(browser, form))).toBe(`${AFTER}?state=a+b%26c`);
  });

  it("without an ID token the page asks, and only its button signs out", async () => {
    await registered();
    const browser = await signedInBrowser();
    const asked = {
      client_id: "demo~web",
      post_logout_redirect_uri: `${AFTER}?kept=1`,
      state: "s",
    };
    const page = await logout(browser, asked);
    expect(page.status).toBe(200);
    expect(page.text).toContain("Demo web asks to sign you out");
    expect(page.text).toContain("Then you go to demo.example.");
    await expectSignedIn(browser);
    const action = /action="(\/oauth\/logout\/confirm[^"]*)"/.exec(page.text)?.[1] ?? "";
    const path = action.replaceAll("&amp;", "&");
    expect((await browser.post(path, {}, { Origin: "https://demo.example" })).status).toBe(403);
    await expectSignedIn(browser);
    expect(locationOf(await browser.post(path))).toBe(`${AFTER}?kept=1&state=s`);
    await expectSignedOut(browser);
  });

  it("without parameters it asks, and ends at the sign-in page", async () => {
    const browser = await signedInBrowser();
    const page = await logout(browser, {});
    expect(page.text).toContain("Another page asks to sign you out");
    expect(page.text).not.toContain("Then you go to");
    const answer = await browser.post("/oauth/logout/confirm?");
    expect(locationOf(answer)).toBe(`${BASE_URL}/signin?notice=signed_out`);
    await expectSignedOut(browser);
  });

  it("an ID token of another person never signs out without a question", async () => {
    await registered();
    const id_token_hint = await idTokenOf(await signedInBrowser("bo@example.com"));
    const browser = await signedInBrowser("ada@example.com");
    expect((await logout(browser, { id_token_hint })).status).toBe(200);
    await expectSignedIn(browser);
  });

  it("the tokens of a connection without offline_access end with the session", async () => {
    await registered();
    const browser = await signedInBrowser();
    const asked = await authorize(browser, { scope: "openid write" });
    const code = responseTo(await allow(browser, asked))?.["code"] ?? "";
    const form = {
      grant_type: "authorization_code",
      client_id: "demo~web",
      redirect_uri: CALLBACK,
    };
    const { body } = await post("/oauth/token", { ...form, code, code_verifier: VERIFIER });
    const { access_token, id_token } = body as { access_token: string; id_token: string };
    const headers = { Authorization: `Bearer ${access_token}` };
    expect((await send("GET", "/api/wallet", { headers })).status).toBe(200);
    await logout(browser, { id_token_hint: id_token });
    expect((await send("GET", "/api/wallet", { headers })).status).toBe(401);
  });

  it("POST leads to the same question", async () => {
    const answer = await openBrowser().post("/oauth/logout", { client_id: "demo~web", state: "s" });
    expect(answer.status).toBe(303);
    expect(locationOf(answer)).toBe("/oauth/logout?client_id=demo%7Eweb&state=s");
  });
});

describe("a request to sign out that is refused", () => {
  const changes: readonly [string, Record<string, string> | string[][]][] = [
    [
      "an address that is not registered",
      { client_id: "demo~web", post_logout_redirect_uri: CALLBACK },
    ],
    [
      "an address with another query",
      { client_id: "demo~web", post_logout_redirect_uri: `${AFTER}?x` },
    ],
    [
      "another host",
      { client_id: "demo~web", post_logout_redirect_uri: "https://evil.example/bye" },
    ],
    ["an address without a client", { post_logout_redirect_uri: AFTER }],
    ["an unknown client", { client_id: "demo~nothing", post_logout_redirect_uri: AFTER }],
    ["an ID token that nobody signed", { id_token_hint: `e30.${btoa('{"sub":"user_x"}')}.x` }],
    [
      "a parameter sent twice",
      [
        ["client_id", "demo~web"],
        ["post_logout_redirect_uri", AFTER],
        ["post_logout_redirect_uri", "https://evil.example/"],
      ],
    ],
  ];

  it.each(changes)("%s gets a page, and nobody is signed out", async (_, parameters) => {
    await registered();
    for (const browser of [openBrowser(), await signedInBrowser()]) {
      const answer = await logout(browser, parameters);
      expect(answer.status).toBe(400);
      expect(locationOf(answer)).toBeNull();
      expect(answer.text).toContain("If you were signed in, you still are.");
      expect(answer.text).not.toContain('href="https://evil.example');
    }
    const browser = await signedInBrowser();
    const path = `/oauth/logout/confirm?${new URLSearchParams(parameters).toString()}`;
    expect((await browser.post(path)).status).toBe(400);
    await expectSignedIn(browser);
  });

  it("an ID token of another client does not serve, nor a changed one", async () => {
    await registered();
    await registerClient("demo", "other", {
      public: 1,
      post_logout_redirect_uris_json: JSON.stringify([AFTER]),
    });
    forgetEnvironments();
    const browser = await signedInBrowser();
    const id_token_hint = await idTokenOf(browser);
    const of_other = { id_token_hint, client_id: "demo~other", post_logout_redirect_uri: AFTER };
    expect((await logout(browser, of_other)).status).toBe(400);
    const tampered = `${id_token_hint.slice(0, -4)}AAAA`;
    expect((await logout(browser, { id_token_hint: tampered })).status).toBe(400);
    await expectSignedIn(browser);
  });

  it("the address of a client without registration is not followed for a stranger", async () => {
    const document = { ...CLAUDE, post_logout_redirect_uris: ["https://claude.ai/bye"] };
    const fetched = serveDocuments([document]);
    const { client_id } = CLAUDE;
    const asked = { client_id, post_logout_redirect_uri: "https://claude.ai/bye" };
    const stranger = await logout(openBrowser(), asked);
    expect(locationOf(stranger)).toBe(`${BASE_URL}/signin?notice=signed_out`);
    expect(fetched).toEqual([]);
    const browser = await signedInBrowser();
    expect((await logout(browser, asked)).status).toBe(200);
    const confirm = `/oauth/logout/confirm?${new URLSearchParams(asked).toString()}`;
    expect(locationOf(await browser.post(confirm))).toBe("https://claude.ai/bye");
  });
});
