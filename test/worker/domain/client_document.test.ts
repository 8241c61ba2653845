import { describe, expect, it } from "vitest";
import {
  addressProblem,
  copySeconds,
  documentFailure,
  isClientDocumentUrl,
  isJsonType,
  readClientDocument,
  responseProblem,
} from "../../../src/domain/client_document.ts";
import { matchesRedirect } from "../../../src/domain/redirect_match.ts";
import {
  CHATGPT,
  CLAUDE,
  CLAUDE_CODE,
  CLIENT_DOCUMENTS,
  CURSOR,
  VS_CODE,
} from "../support/client_documents.ts";

const read = (document: { readonly client_id: string }) => {
  const client = readClientDocument(document.client_id, document, false);
  if (!client.ok) throw new Error(client.refusal.join(" "));
  return client.value;
};

describe("the documents of the clients in use", () => {
  it.each(CLIENT_DOCUMENTS.map((document) => [document.client_name, document] as const))(
    "the document of %s is accepted",
    (name, document) => {
      expect(isClientDocumentUrl(document.client_id, false)).toBe(true);
      expect(read(document)).toMatchObject({ name, host: new URL(document.client_id).host });
    },
  );

  it("ChatGPT may authenticate with an assertion or with nothing", () => {
    expect(read(CHATGPT)).toMatchObject({
      token_endpoint_auth_methods: ["none", "private_key_jwt"],
      jwks_uri: "https://chatgpt.com/oauth/jwks.json",
    });
  });

  it("Claude Code may use any port of the loopback addresses that it lists without one", () => {
    const { redirect_uris } = read(CLAUDE_CODE);
    expect(matchesRedirect("http://localhost:52163/callback", redirect_uris)).toBe(true);
    expect(matchesRedirect("http://127.0.0.1:1024/callback", redirect_uris)).toBe(true);
  });

  it("VS Code may use another port than the one that it lists", () => {
    const { redirect_uris } = read(VS_CODE);
    expect(matchesRedirect("http://127.0.0.1:59656/", redirect_uris)).toBe(true);
  });

  it("Cursor's own scheme is left out and its other addresses stay", () => {
    expect(read(CURSOR).redirect_uris).toEqual(CURSOR.redirect_uris.slice(1));
  });
});

describe("a document", () => {
  const with_ = (fields: object): object => ({ ...CLAUDE, ...fields });
  const changed = (fields: object) => readClientDocument(CLAUDE.client_id, with_(fields), false);
  const valid = (fields: object) => read(with_(fields) as { client_id: string });

  it.each([
    ["another client_id", "client_id must be", { client_id: "https://claude.ai/oauth/other" }],
    ["a client_id with a slash more", "client_id must be", { client_id: `${CLAUDE.client_id}/` }],
    ["no client_id", "client_id must be", { client_id: undefined }],
    ["no redirect addresses", "redirect_uris has", { redirect_uris: [] }],
    [
      "redirect addresses that are a text",
      "redirect_uris has",
      { redirect_uris: "https://claude.ai/x" },
    ],
    [
      "only addresses of an own scheme",
      "redirect_uris has",
      { redirect_uris: ["cursor://x/callback"] },
    ],
    [
      "only plain http addresses",
      "redirect_uris has",
      { redirect_uris: ["http://claude.ai/callback"] },
    ],
    ["no grant type for codes", "grant_types must", { grant_types: ["client_credentials"] }],
    ["grant types that are a text", "grant_types must", { grant_types: "authorization_code" }],
    ["no response type for codes", "response_types must", { response_types: ["token"] }],
    [
      "a secret",
      "token_endpoint_auth_method must",
      { token_endpoint_auth_method: "client_secret_basic" },
    ],
    [
      "only methods with secrets",
      "token_endpoint_auth_method must",
      {
        token_endpoint_auth_method: "client_secret_post",
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      },
    ],
    [
      "an assertion without keys",
      "token_endpoint_auth_method must",
      { token_endpoint_auth_method: "private_key_jwt" },
    ],
    [
      "an assertion with keys at a private address",
      "token_endpoint_auth_method must",
      { token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://10.0.0.1/jwks" },
    ],
  ])("with %s is refused with the rule that it breaks", (_, rule, fields) => {
    expect(changed(fields)).toMatchObject({ ok: false, refusal: [expect.stringContaining(rule)] });
  });

  it("that breaks several rules is refused with each of them", () => {
    const broken = changed({ client_id: 7, redirect_uris: [], grant_types: [] });
    expect(broken.ok || broken.refusal.map((rule) => rule.split(" ")[0])).toEqual([
      "client_id",
      "redirect_uris",
      "grant_types",
    ]);
  });

  it.each([[null], ["text"], [7], [[]]])("that is %j is no object", (document) => {
    const not_object = { ok: false, refusal: ["The document is not a JSON object."] };
    expect(readClientDocument(CLAUDE.client_id, document, false)).toEqual(not_object);
  });

  it("that is empty is not accepted", () => {
    expect(readClientDocument(CLAUDE.client_id, {}, false).ok).toBe(false);
  });

  it.each([
    [undefined, "It is missing."],
    [null, "It is missing."],
    [7, "It is 7."],
    ["x".repeat(198), `It is "${"x".repeat(198)}".`],
    ["x".repeat(199), `It is "${"x".repeat(199)}….`],
  ])("the wrong client_id %j is shown in its problem", (client_id, shown) => {
    expect(changed({ client_id })).toMatchObject({
      refusal: [expect.stringMatching(new RegExp(`${shown.replaceAll(".", "\\.")}$`))],
    });
  });

  it("only texts of its lists count, and logout addresses that can be used", () => {
    const logout = ["https://claude.ai/out", "cursor://out", 7];
    const redirects = [7, "https://claude.ai/callback"];
    const lists = { redirect_uris: redirects, post_logout_redirect_uris: logout };
    expect(valid(lists)).toMatchObject({
      redirect_uris: ["https://claude.ai/callback"],
      post_logout_redirect_uris: ["https://claude.ai/out"],
    });
    expect(valid({ grant_types: undefined, response_types: undefined }).client_id).toBe(
      CLAUDE.client_id,
    );
  });

  it("with keys of its own keeps the objects among them, and may send assertions", () => {
    const jwks = { keys: [{ kty: "RSA" }, null, "text", 7] };
    const fields = { token_endpoint_auth_method: "private_key_jwt", jwks, jwks_uri: undefined };
    expect(valid(fields)).toMatchObject({
      token_endpoint_auth_methods: ["private_key_jwt"],
      jwks: { keys: [{ kty: "RSA" }] },
    });
    const supported = { token_endpoint_auth_methods_supported: ["private_key_jwt"] };
    expect(valid({ ...fields, ...supported, token_endpoint_auth_method: undefined })).toMatchObject(
      { token_endpoint_auth_methods: ["private_key_jwt"] },
    );
  });

  it("with keys at an address of 480 characters is accepted, and at a longer one is not", () => {
    const token_endpoint_auth_method = "private_key_jwt";
    const fields = { token_endpoint_auth_method, jwks: undefined };
    const jwks_uri = "https://claude.ai/".padEnd(480, "x");
    expect(valid({ ...fields, jwks_uri }).jwks_uri).toBe(jwks_uri);
    expect(changed({ ...fields, jwks_uri: `${jwks_uri}x` }).ok).toBe(false);
  });

  it.each([
    ["https://claude.ai/logo.png", true],
    ["https://static.claude.ai/logo.png", true],
    ["https://claude.ai/".padEnd(480, "x"), true],
    ["https://claude.ai/".padEnd(481, "x"), false],
    ["https://notclaude.ai/logo.png", false],
    ["https://evil.example/logo.png", false],
    ["http://claude.ai/logo.png", false],
    ["logo.png", false],
    [7, false],
  ])("the icon %s is shown: %s", (logo_uri, is_shown) => {
    expect(valid({ logo_uri }).icon).toBe(is_shown ? logo_uri : null);
  });

  it("without a way to authenticate is of a public client", () => {
    const fields = { token_endpoint_auth_method: undefined };
    expect(valid(fields).token_endpoint_auth_methods).toEqual(["none"]);
  });

  it.each([
    ["missing", undefined],
    ["blank", "  "],
    ["not a text", { en: "Claude" }],
    ["too long", "x".repeat(81)],
    ["with a line feed", "Claude\nverified"],
    ["with half a character", "Claude\ud800"],
    ["with a character that changes the direction", "Claude\u202e"],
  ])("whose name is %s is shown with its host", (_, client_name) => {
    expect(valid({ client_name }).name).toBe("claude.ai");
  });

  it("whose name has 80 characters is shown with it", () => {
    expect(valid({ client_name: "x".repeat(80) }).name).toBe("x".repeat(80));
  });

  it.each([
    [200, "application/json", null],
    [200, "text/html", /Content-Type is "text\/html"/],
    [200, null, /Content-Type is missing/],
    [299, "application/json", /has status 299/],
    [300, "application/json", /is a redirect \(status 300\)/],
    [399, "application/json", /is a redirect \(status 399\)/],
    [400, "application/json", /has status 400/],
    [199, "application/json", /has status 199/],
    [201, "application/json", /has status 201/],
  ])("in a response with status %d and the type %s has the problem %s", (status, type, problem) => {
    const found = responseProblem(status, type);
    if (problem === null) expect(found).toBeNull();
    else expect(found).toMatch(problem);
  });

  it.each([
    ["too_large", "The document has more than 5120 bytes."],
    ["not_json", "The document is not JSON."],
    ["not_utf8", "The document is not UTF-8."],
    ["timeout", /within 5 seconds/],
  ])("that could not be read because of %s has its sentence", (problem, sentence) => {
    expect(documentFailure(problem)).toMatch(sentence);
  });
});

describe("a client_id", () => {
  it.each([
    ["plain http", "http://claude.ai/oauth/client"],
    ["no path", "https://claude.ai"],
    ["only a slash as its path", "https://claude.ai/"],
    ["a port", "https://claude.ai:8443/client"],
    ["the default port", "https://claude.ai:443/client"],
    ["an IPv4 address", "https://192.0.2.1/client"],
    ["a number for an address", "https://3221225985/client"],
    ["an IPv6 address", "https://[2001:db8::1]/client"],
    ["localhost", "https://localhost/client"],
    ["a name of one label", "https://intranet/client"],
    ["a private name", "https://metadata.google.internal/client"],
    ["a fragment", "https://claude.ai/client#x"],
    ["user information", "https://x@claude.ai/client"],
    ["dot segments", "https://claude.ai/a/../client"],
    ["encoded dot segments", "https://claude.ai/a/%2e%2e/client"],
    ["a host in upper case", "https://Claude.ai/client"],
    ["a dot at the end of the host", "https://claude.ai./client"],
    ["a backslash", "https://claude.ai\\client"],
    ["a space", "https://claude.ai/cli ent"],
    ["more than 480 characters", `https://claude.ai/${"x".repeat(463)}`],
    ["no form of an address", "demo~web"],
  ])("with %s is not the address of a document", (_, client_id) => {
    expect(isClientDocumentUrl(client_id, false)).toBe(false);
  });

  it("of 480 characters can be the address of a document", () => {
    expect(isClientDocumentUrl("https://claude.ai/".padEnd(480, "x"), false)).toBe(true);
  });

  it("that is no address of a document has a problem, which names this machine only in development", () => {
    expect(addressProblem("https://claude.ai/client", false)).toBeNull();
    expect(addressProblem("https://claude.ai", false)).not.toContain("this machine");
    expect(addressProblem("https://claude.ai", true)).toContain("or http on this machine");
  });

  it("on this machine is the address of a document only in development", () => {
    const client_id = "http://127.0.0.1:4000/client.json";
    expect(isClientDocumentUrl(client_id, true)).toBe(true);
    expect(isClientDocumentUrl(client_id, false)).toBe(false);
    expect(isClientDocumentUrl("http://192.168.0.1:4000/client.json", true)).toBe(false);
  });
});

describe("the copy of a document", () => {
  it.each([
    [null, 300],
    ["no-store", 300],
    ["max-age=0", 300],
    ["public, max-age=3600", 3_600],
    ["s-maxage=7200, Max-Age=900", 900],
    ["max-age=9999999999", 86_400],
    ["max-age=soon", 300],
  ])("with Cache-Control %s is used for %i seconds", (cache_control, seconds) => {
    expect(copySeconds(cache_control)).toBe(seconds);
  });

  it.each([
    ["application/json", true],
    ["application/json; charset=utf-8", true],
    ["application/cimd+json", true],
    ["text/json", false],
    ["text/html", false],
    ["application/jsonp", false],
    [null, false],
  ])("a document of the type %s is JSON: %s", (type, is_json) => {
    expect(isJsonType(type)).toBe(is_json);
  });
});
