import { base64url, exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import { describe, expect, it } from "vitest";
import { createProtectedResource } from "../../../src/client/resource/index.ts";
import type { Fetch } from "../../../src/client/index.ts";
import { connect, type Tokens } from "../support/oauth_clients.ts";
import { BASE_URL, signIn } from "../support/passbook.ts";
import { openResource } from "../support/registrations.ts";
import { workerFetch } from "./worker_fetch.ts";

const ISSUER = "https://passbook.example.com";
const RESOURCE = "https://mcp.example.com/mcp";
const METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";

const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
const session = await generateKeyPair("EdDSA", { extractable: true });
const JWKS = JSON.stringify({
  keys: [
    { ...(await exportJWK(session.publicKey)), kid: "s1" },
    { ...(await exportJWK(publicKey)), kid: "k1" },
  ],
});
const KEYS: Fetch = async () => ({ status: 200, headers: new Headers(), text: async () => JWKS });

function tokenOf(
  claims: JWTPayload = {},
  header: object = {},
  expires = "10m",
  key = privateKey,
): Promise<string> {
  const all = { iss: ISSUER, aud: RESOURCE, sub: "ada", client_id: "agent", scope: "tools notes" };
  return new SignJWT({ ...all, ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "k1", typ: "at+jwt", ...header })
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(key);
}

const resource = createProtectedResource({
  baseUrl: ISSUER,
  resource: RESOURCE,
  scopes: ["tools"],
  scopesSupported: ["tools", "notes"],
  name: "Notes",
  fetch: KEYS,
});

const handle = resource.protect((_, { identity_id }) => Response.json({ identity_id }));

async function ask(token: string | null, url = RESOURCE): Promise<Response> {
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  return handle(new Request(url, { headers }));
}

describe("createProtectedResource", () => {
  it("a valid access token reaches the handler, with its person, client and scopes", async () => {
    const token = await tokenOf();
    const response = await ask(token);
    expect([response.status, await response.json()]).toEqual([200, { identity_id: "ada" }]);
    expect(await resource.verify(`bearer ${token}`)).toEqual({
      token,
      identity_id: "ada",
      client_id: "agent",
      scopes: ["tools", "notes"],
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it("the metadata document is served without a token, for pages of any origin", async () => {
    const response = await ask(null, METADATA);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(await response.json()).toEqual({
      resource: RESOURCE,
      authorization_servers: [ISSUER],
      bearer_methods_supported: ["header"],
      scopes_supported: ["tools", "notes"],
      resource_name: "Notes",
    });
    const preflight = await handle(new Request(METADATA, { method: "OPTIONS" }));
    expect(preflight.status).toBe(204);
  });

  it("a request without a token gets 401, and the challenge names the document but no error", async () => {
    const response = await ask(null);
    expect(response.status).toBe(401);
    expect(response.headers.get("WWW-Authenticate")).toBe(
      `Bearer scope="tools", resource_metadata="${METADATA}"`,
    );
  });

  it.each([
    ["of another issuer", { iss: "https://other.example.com" }, {}],
    ["for another resource", { aud: "https://mcp.example.com/other" }, {}],
    ["for two resources", { aud: [RESOURCE, "https://other.example.com"] }, {}],
    ["without a client", { client_id: undefined }, {}],
    ["of another type", {}, { typ: "session+jwt" }],
    ["without a type", {}, { typ: undefined }],
    ["under an unknown key", {}, { kid: "k2" }],
  ])("a token %s gets 401 invalid_token", async (_, claims, header) => {
    const response = await ask(await tokenOf(claims, header));
    expect(response.status).toBe(401);
    expect(response.headers.get("WWW-Authenticate")).toBe(
      `Bearer error="invalid_token", scope="tools", resource_metadata="${METADATA}"`,
    );
  });

  it("a token that is signed with the key of session tokens gets 401, whatever its header says", async () => {
    for (const alg of ["EdDSA", "RS256"]) {
      const signed = await tokenOf({}, { alg: "EdDSA", kid: "s1" }, "10m", session.privateKey);
      const [, ...rest] = signed.split(".");
      const header = base64url.encode(JSON.stringify({ alg, kid: "s1", typ: "at+jwt" }));
      expect((await ask([header, ...rest].join("."))).status).toBe(401);
      expect((await ask(signed)).status).toBe(401);
    }
  });

  it("an expired token, an altered one and an opaque one get 401 invalid_token", async () => {
    const altered = (await tokenOf()).split(".");
    altered[1] = btoa(JSON.stringify({ iss: ISSUER, aud: RESOURCE, sub: "eve", client_id: "x" }));
    for (const token of [await tokenOf({}, {}, "-1m"), altered.join("."), "pb_at_opaque"]) {
      const response = await ask(token);
      expect(response.status).toBe(401);
      expect(response.headers.get("WWW-Authenticate")).toContain('error="invalid_token"');
    }
  });

  it("a token that the service issued for this resource is accepted, and one for the service's own API is not", async () => {
    const genuine = createProtectedResource({
      baseUrl: BASE_URL,
      resource: RESOURCE,
      fetch: workerFetch,
    });
    await openResource(RESOURCE);
    const ada = await signIn();
    const handler = genuine.protect((_, { identity_id }) => new Response(identity_id));
    const request = ({ access_token }: Tokens) =>
      handler(new Request(RESOURCE, { headers: { Authorization: `Bearer ${access_token}` } }));
    const accepted = await request(await connect(ada, { resource: RESOURCE, scopes: ["tools"] }));
    expect([accepted.status, await accepted.text()]).toEqual([200, ada.identity_id]);
    const refused = await request(await connect(ada));
    expect(refused.status).toBe(401);
    expect(refused.headers.get("WWW-Authenticate")).toBe(
      `Bearer error="invalid_token", resource_metadata="${METADATA}"`,
    );
  });

  it("a token without a needed scope gets 403 insufficient_scope, which names the scopes", async () => {
    const response = await ask(await tokenOf({ scope: "notes" }));
    expect(response.status).toBe(403);
    expect(response.headers.get("WWW-Authenticate")).toContain(
      'error="insufficient_scope", scope="tools"',
    );
    const token = await tokenOf();
    await expect(resource.verify(`Bearer ${token}`, ["admin"])).rejects.toMatchObject({
      code: "scope",
      status: 403,
    });
  });

  it("while the service's keys cannot be fetched, requests get 503 and not 401", async () => {
    const away = createProtectedResource({
      baseUrl: ISSUER,
      resource: RESOURCE,
      fetch: () => Promise.reject(new TypeError("fetch failed")),
    });
    const headers = { Authorization: `Bearer ${await tokenOf()}` };
    const response = await away.protect(() => new Response())(new Request(RESOURCE, { headers }));
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toBe("30");
  });

  it("an error of the handler is not taken for a refused token", async () => {
    const failing = resource.protect(() => Promise.reject(new Error("out of paper")));
    const headers = { Authorization: `Bearer ${await tokenOf()}` };
    await expect(failing(new Request(RESOURCE, { headers }))).rejects.toThrow("out of paper");
  });

  it("a resource that is a bare origin has its document at the root", () => {
    const bare = createProtectedResource({ baseUrl: ISSUER, resource: "https://mcp.example.com/" });
    expect(bare.metadataUrl).toBe("https://mcp.example.com/.well-known/oauth-protected-resource");
    expect(bare.metadata["resource"]).toBe("https://mcp.example.com");
  });

  it.each(["mcp.example.com", "https://mcp.example.com/mcp?a=1", "https://mcp.example.com/#a"])(
    "%s is refused as the address of a resource",
    (address) => {
      const make = () => createProtectedResource({ baseUrl: ISSUER, resource: address });
      expect(make).toThrowError(/resource must be an address/);
    },
  );
});
