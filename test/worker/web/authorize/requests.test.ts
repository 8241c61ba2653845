import { describe, expect, it } from "vitest";
import {
  authorize,
  CALLBACK,
  queryOf,
  registerDemo,
  responseTo,
  serveDocuments,
  signedInBrowser,
  type Parameters,
} from "../../support/authorizations.ts";
import { CLAUDE, CLAUDE_CODE } from "../../support/client_documents.ts";
import { openBrowser, type Browser } from "../../support/browser.ts";
import { earlyInAMinute } from "../../support/clock.ts";
import { BASE_URL, forgetEnvironments, send } from "../../support/passbook.ts";
import { registerResource } from "../../support/registrations.ts";

const OF_CLAUDE = { client_id: CLAUDE.client_id, redirect_uri: CLAUDE.redirect_uris[0] };

describe("an authorization request that nobody can be asked about", () => {
  it.each([
    ["without a client", { client_id: undefined }],
    ["with two clients", { client_id: ["demo~web", "demo~web"] }],
    ["of an unknown client", { client_id: "demo~nothing" }],
    ["of a client that is no client at all", { client_id: "javascript:alert(1)" }],
    ["without an address", { redirect_uri: undefined }],
    ["with two addresses", { redirect_uri: [CALLBACK, CALLBACK] }],
    ["with another host", { redirect_uri: "https://evil.example/callback" }],
    ["with another path", { redirect_uri: `${CALLBACK}/x` }],
    ["with another query", { redirect_uri: `${CALLBACK}?x=1` }],
    ["with a fragment", { redirect_uri: `${CALLBACK}#x` }],
    ["with user info", { redirect_uri: "https://demo.example@evil.example/callback" }],
    ["with another case", { redirect_uri: "https://demo.example/Callback" }],
  ])("a request %s stays on a page, signed in or not", async (_name, changes) => {
    await registerDemo();
    for (const browser of [openBrowser(), await signedInBrowser()]) {
      const page = await authorize(browser, { ...changes, prompt: "none" });
      expect(page.status).toBe(400);
      expect(page.headers.get("Location")).toBeNull();
      expect(page.text).not.toContain("https://evil.example/callback?");
    }
  });

  it("the page about an unknown address shows it without its query", async () => {
    await registerDemo();
    const redirect_uri = "https://evil.example/<b>?secret=1";
    const { text } = await authorize(await signedInBrowser(), { redirect_uri });
    expect(text).toContain("https://evil.example/%3Cb%3E");
    expect(text).not.toContain("secret");
  });
});

const LIMITS = '[{"type":"passbook_spending","expires_in":60}]';

describe("an error that a registered client receives", () => {
  it.each([
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: undefined }, "invalid_request"],
    [{ code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ request: "eyJhbGciOiJub25lIn0.e30." }, "request_not_supported"],
    [{ request_uri: "https://demo.example/r" }, "request_uri_not_supported"],
    [{ scope: "admin" }, "invalid_scope"],
    [{ scope: "phone" }, "invalid_scope"],
    [{ scope: ["read", "write"] }, "invalid_request"],
    [{ authorization_details: [LIMITS, LIMITS] }, "invalid_request"],
    [{ resource: "https://unknown.example/mcp" }, "invalid_target"],
    [{ resource: ["https://a.example", "https://b.example"] }, "invalid_target"],
    [{ prompt: "none login" }, "invalid_request"],
    [{ prompt: "none" }, "login_required"],
  ])("for %j it is %s, with state and iss, also without a session", async (changes, error) => {
    await registerDemo();
    const answer = await authorize(openBrowser(), changes);
    const description = expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    const response = { error, error_description: description, state: "state-1", iss: BASE_URL };
    expect(responseTo(answer)).toEqual(response);
    expect(answer.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  });

  it("a response keeps the query of the client's address, and has no state if the request had none", async () => {
    const redirect_uri = `${CALLBACK}?tenant=a%20b`;
    await registerDemo({ redirect_uris_json: JSON.stringify([redirect_uri]) });
    const answer = await authorize(openBrowser(), {
      redirect_uri,
      response_type: "token",
      state: undefined,
    });
    const response = responseTo(answer, redirect_uri);
    expect(Object.keys(response ?? {})).toEqual(["error", "error_description", "iss"]);
  });

  it("a confidential client may leave out PKCE if its registration says so", async () => {
    await registerDemo({ public: 0, pkce_optional: 1 });
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    const page = await authorize(await signedInBrowser(), without);
    expect(page.status).toBe(200);
    expect(page.text).toContain("Connect Demo web?");
  });

  it("a resource is compared exactly, except for the slash of a bare origin", async () => {
    await registerDemo();
    await registerResource("demo", "mcp", "https://mcp.example");
    await registerResource("demo", "path", "https://mcp.example/mcp");
    forgetEnvironments();
    const browser = await signedInBrowser();
    const ask = (resource: string) => authorize(browser, { resource, scope: "tools" });
    for (const resource of ["https://mcp.example", "https://mcp.example/"]) {
      expect((await ask(resource)).text).toContain("at mcp.example as you (tools)");
    }
    expect((await ask("https://mcp.example/mcp")).status).toBe(200);
    expect(responseTo(await ask("https://mcp.example/mcp/"))?.["error"]).toBe("invalid_target");
  });

  it("the service's own address as resource means its API", async () => {
    await registerDemo();
    const page = await authorize(await signedInBrowser(), { resource: `${BASE_URL}/` });
    expect(page.text).toContain("pay for them with your credits");
  });
});

describe("a client that nobody registered", () => {
  it("nothing is fetched or stored for a signed-out person: they sign in first", async () => {
    const fetched = serveDocuments([CLAUDE]);
    const answer = await authorize(openBrowser(), OF_CLAUDE);
    const location = new URL(answer.headers.get("Location") ?? "");
    expect(answer.status).toBe(303);
    expect(location.pathname).toBe("/signin");
    const back = new URL(location.searchParams.get("redirect_to") ?? "");
    expect(back.origin + back.pathname).toBe(`${BASE_URL}/oauth/authorize`);
    expect(back.searchParams.toString()).toBe(queryOf(OF_CLAUDE));
    expect(fetched).toEqual([]);
  });

  it("a request without a page and without a session is not sent on to the client", async () => {
    const fetched = serveDocuments([CLAUDE]);
    const page = await authorize(openBrowser(), { ...OF_CLAUDE, prompt: "none" });
    expect([page.status, page.headers.get("Location")]).toEqual([400, null]);
    expect(page.text).toContain("You are not signed in");
    expect(fetched).toEqual([]);
  });

  it("its document is fetched for a signed-in person, and its name is shown with its host", async () => {
    const fetched = serveDocuments([CLAUDE_CODE]);
    const page = await authorize(await signedInBrowser(), {
      client_id: CLAUDE_CODE.client_id,
      redirect_uri: "http://localhost:49152/callback",
    });
    expect(page.status).toBe(200);
    expect(fetched).toEqual([CLAUDE_CODE.client_id]);
    for (const words of [
      "Claude Code",
      "claude.ai",
      "has not checked this app",
      "a program on this device",
    ]) {
      expect(page.text).toContain(words);
    }
    expect(page.text).toContain("Allow only if you have just started Claude Code on this device");
  });

  it("the command line of the service itself is named as a part of it, and not as a stranger", async () => {
    const client_id = `${BASE_URL}/oauth/clients/command-line`;
    serveDocuments([{ ...CLAUDE_CODE, client_id, client_name: "Passbook command line" }]);
    const { text } = await authorize(await signedInBrowser(), {
      client_id,
      redirect_uri: "http://127.0.0.1:49152/callback",
    });
    expect(text).toContain("<strong>Passbook command line</strong>, part of Passbook");
    expect(text).not.toContain("has not checked this app");
    expect(text).toContain("Allow only if you have just started Passbook command line");
  });

  it("a client with a web address has no warning about programs on the same computer", async () => {
    serveDocuments([CLAUDE]);
    const page = await authorize(await signedInBrowser(), OF_CLAUDE);
    expect(page.text).toContain("claude.ai");
    expect(page.text).not.toContain("Allow only if you have just started");
  });

  it("an error goes to it only by a link that the person follows", async () => {
    serveDocuments([CLAUDE]);
    const browser = await signedInBrowser();
    const page = await authorize(browser, { ...OF_CLAUDE, scope: "admin" });
    expect([page.status, page.headers.get("Location")]).toEqual([400, null]);
    const href = /href="(https:\/\/claude\.ai\/api[^"]*)"/.exec(page.text)?.[1] ?? "";
    const sent = Object.fromEntries(new URL(href.replaceAll("&amp;", "&")).searchParams);
    expect(sent).toMatchObject({ error: "invalid_scope", state: "state-1", iss: BASE_URL });
    expect(page.text).toContain('rel="noreferrer"');
  });

  it.each([
    [{}, "consent_required"],
    [{ scope: "admin" }, "invalid_scope"],
    [{ code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    [{ id_token_hint: `e30.${btoa('{"sub":"user_other"}')}.x` }, "login_required"],
    [{ prompt: "none login" }, "invalid_request"],
  ])(
    "a request of it with prompt=none and %j gets the error at its address once its document is read",
    async (changes, error) => {
      serveDocuments([CLAUDE]);
      const asked = { ...OF_CLAUDE, prompt: "none", ...changes };
      const answer = await authorize(await signedInBrowser(), asked);
      expect(responseTo(answer, OF_CLAUDE.redirect_uri)).toMatchObject({
        error,
        state: "state-1",
        iss: BASE_URL,
      });
      const foreign = { ...asked, redirect_uri: "https://claude.ai/other" };
      const page = await authorize(await signedInBrowser(), foreign);
      expect([page.status, page.headers.get("Location")]).toEqual([400, null]);
    },
  );

  it("failed fetches from one host by several people do not keep another person from its client", async () => {
    await earlyInAMinute();
    const fetched = serveDocuments([CLAUDE]);
    const ask = async (browser: Browser, network: string, changes: Parameters) =>
      browser.get(`/oauth/authorize?${queryOf(changes)}`, { "CF-Connecting-IP": network });
    for (const person of [1, 2, 3, 4]) {
      const browser = await signedInBrowser(`eve${person}@example.com`);
      const statuses: number[] = [];
      for (let index = 0; index < 21; index += 1) {
        const client_id = `https://claude.ai/no${person}-${index}`;
        const answer = await ask(browser, `192.0.2.${person}`, { ...OF_CLAUDE, client_id });
        statuses.push(answer.status);
      }
      expect(statuses).toEqual([...Array<number>(20).fill(400), 429]);
    }
    expect(fetched).toHaveLength(80);
    const page = await ask(await signedInBrowser(), "198.51.100.1", OF_CLAUDE);
    expect(page.status).toBe(200);
  });

  it("an address of a document that cannot be used gets the page of an unknown client", async () => {
    serveDocuments([{ ...CLAUDE, redirect_uris: [] }]);
    const page = await authorize(await signedInBrowser(), OF_CLAUDE);
    expect(page.status).toBe(400);
    expect(page.text).toContain("We do not know this app");
    expect(page.text).not.toContain("claude.ai");
  });
});

describe("the authorization endpoint", () => {
  it("a POST redirects to a GET with the same parameters, from any site", async () => {
    const answer = await send("POST", "/oauth/authorize", {
      headers: { Origin: "https://demo.example" },
      body: new URLSearchParams(queryOf()),
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toBe(`/oauth/authorize?${queryOf()}`);
  });

  it("a request that is too long to remember is refused before sign-in", async () => {
    await registerDemo();
    const state = "x".repeat(2_000);
    const answer = await authorize(openBrowser(), { state });
    expect(responseTo(answer)?.["error"]).toBe("invalid_request");
    const of_document = await authorize(openBrowser(), { ...OF_CLAUDE, state });
    expect([of_document.status, of_document.headers.get("Location")]).toEqual([400, null]);
  });

  it("its pages allow no frames, and do not stop the redirect that follows the form", async () => {
    await registerDemo();
    const { headers } = await authorize(await signedInBrowser());
    const policy = headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    // Chrome applies form-action also to the redirect after a form.
    expect(policy).not.toContain("form-action");
    expect(headers.get("Cache-Control")).toBe("no-store");
  });
});
