/** The documents that clients in use publish, each through the whole flow. */
import { exports } from "cloudflare:workers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, it, vi } from "vitest";
import { CHATGPT, CLAUDE, CLAUDE_CODE, CURSOR, VS_CODE } from "../support/client_documents.ts";
import { BASE_URL } from "../support/passbook.ts";
import {
  goThrough,
  openPassbookVisitor,
  type ServiceUnderTest,
} from "./conformance/passbook_target.ts";

const SERVICE: ServiceUnderTest = {
  issuer: BASE_URL,
  fetch: (url, init) => exports.default.fetch(new Request(url, init)),
  wait: async () => {},
};

const VERIFIER = "a-verifier-of-more-than-43-characters-0123456789";
const CHALLENGE = await challengeOf(VERIFIER);

const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
const KEYS = { keys: [{ ...(await exportJWK(publicKey)), kid: "chatgpt-1", alg: "RS256" }] };

interface Published {
  readonly document: { readonly client_id: string; readonly [field: string]: unknown };
  /** The address that the program listens on. */
  readonly redirect_uri: string;
  readonly keys?: { readonly url: string; readonly body: object };
}

const claude_code: Published = {
  document: CLAUDE_CODE,
  redirect_uri: "http://localhost:54321/callback",
};
const claude: Published = { document: CLAUDE, redirect_uri: CLAUDE.redirect_uris[0] ?? "" };
const vs_code: Published = { document: VS_CODE, redirect_uri: "http://127.0.0.1:49152/" };
const cursor: Published = { document: CURSOR, redirect_uri: "http://localhost:8787/callback" };
const chatgpt: Published = { document: CHATGPT, redirect_uri: CHATGPT.redirect_uris[0] ?? "" };
const chatgpt_keys = { url: CHATGPT.jwks_uri, body: KEYS };

/** Makes the documents reachable. */
function publish({ document, keys }: Published): void {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const { url } = new Request(input, init);
    if (url === document.client_id) return Response.json(document);
    if (url === keys?.url) return Response.json(keys.body);
    throw new TypeError(`no such host: ${url}`);
  });
}

function authorize({ document, redirect_uri }: Published): Promise<URL> {
  const url = new URL(`${BASE_URL}/oauth/authorize`);
  url.search = new URLSearchParams({
    client_id: document.client_id,
    redirect_uri,
    response_type: "code",
    scope: "read offline_access",
    state: "s",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  }).toString();
  return goThrough(openPassbookVisitor(SERVICE), url, "ada@example.com");
}

async function assertionOf({ client_id }: Published["document"]): Promise<string> {
  return new SignJWT({ jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: "RS256", kid: "chatgpt-1" })
    .setIssuer(client_id)
    .setSubject(client_id)
    .setAudience(BASE_URL)
    .setIssuedAt()
    .setExpirationTime("1m")
    .sign(privateKey);
}

async function requestTokens(
  { document, keys }: Published,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly access_token: string; readonly refresh_token: string }> {
  const body = new URLSearchParams({ ...form, client_id: document.client_id });
  if (keys !== undefined) {
    body.set("client_assertion", await assertionOf(document));
    const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    body.set("client_assertion_type", type);
  }
  const response = await SERVICE.fetch(`${BASE_URL}/oauth/token`, { method: "POST", body });
  expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)]);
  return response.json();
}

describe("the documents of clients in use", () => {
  it.each([
    ["Claude Code, which lists loopback addresses without a port", claude_code],
    ["Claude, which lists a grant type that we lack", claude],
    ["Visual Studio Code, whose port was busy", vs_code],
    ["Cursor, which lists an address of its own scheme", cursor],
    ["ChatGPT, by an assertion", { ...chatgpt, keys: chatgpt_keys }],
    ["ChatGPT, as a public client", chatgpt],
  ])("%s connects, redeems its code and refreshes", async (_, published) => {
    publish(published);
    const back = await authorize(published);
    expect(back.href.split("?")[0]).toBe(published.redirect_uri);
    const code = back.searchParams.get("code") ?? "";
    const first = await requestTokens(published, {
      grant_type: "authorization_code",
      code,
      redirect_uri: published.redirect_uri,
      code_verifier: VERIFIER,
    });
    const next = await requestTokens(published, {
      grant_type: "refresh_token",
      refresh_token: first.refresh_token,
    });
    const headers = { Authorization: `Bearer ${next.access_token}` };
    const wallet = await SERVICE.fetch(`${BASE_URL}/api/wallet`, { headers });
    expect(wallet.status).toBe(200);
  });

  it("Cursor's address of its own scheme is not an address that a code is sent to", async () => {
    publish(cursor);
    const redirect_uri = "cursor://anysphere.cursor-mcp/oauth/callback";
    await expect(authorize({ ...cursor, redirect_uri })).rejects.toThrow(/with 400/);
  });
});

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const text = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
