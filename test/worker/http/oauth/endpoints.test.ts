import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { countedEnvironment } from "../../support/bindings.ts";
import { query } from "../../support/account_object.ts";
import {
  authorize,
  challengeOf,
  CLIENT_ID,
  codeForm,
  connect,
  oauthServices,
  post,
  refresh,
  refreshForm,
  RESOURCE,
  VERIFIER,
  withToken,
} from "../../support/oauth_clients.ts";
import {
  CLIENT_SECRET,
  openResource as openOtherResource,
  registerClient,
  registerResource,
} from "../../support/registrations.ts";
import { send, signIn } from "../../support/passbook.ts";
import { openAppServer } from "../caller/app_server.ts";

const revoke = (token: string, client_id = CLIENT_ID) =>
  post("/oauth/revoke", { token, client_id });

describe("POST /oauth/revoke", () => {
  it.each(["refresh_token", "access_token"] as const)(
    "a client ends its authorization with its %s",
    async (name) => {
      const ada = await signIn();
      const [tokens, sibling] = [await connect(ada), await connect(ada)];
      const answer = await revoke(tokens[name]);
      expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: {} });
      expect((await withToken(tokens.access_token, "GET", "/api/wallet")).status).toBe(401);
      expect((await refresh(tokens.refresh_token)).status).toBe(400);
      expect((await refresh(sibling.refresh_token)).status).toBe(200);
      expect((await revoke(tokens[name])).status).toBe(200);
    },
  );

  it("another client cannot end an authorization, and an invented token is not an error", async () => {
    const tokens = await connect(await signIn());
    const other = await revoke(tokens.refresh_token, "https://other.example.com/oauth.json");
    expect(other.body.error).toBe("unauthorized_client");
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
    expect((await revoke("invented")).status).toBe(200);
    expect((await post("/oauth/revoke", { client_id: CLIENT_ID })).body.error).toBe(
      "invalid_request",
    );
    expect((await post("/oauth/revoke", { token: tokens.refresh_token })).status).toBe(401);
  });
});

describe("POST /oauth/revoke of a client that must assert itself", () => {
  it("a client whose document requires an assertion ends nothing without one", async () => {
    const ada = await signIn();
    const code = await authorize(ada, { needs_assertion: true });
    const { code_hash = "" } = (await oauthServices().authorization_codes.read(code)) ?? {};
    const granted = await env.ACCOUNT.getByName(ada.identity_id).redeemCode({
      code_hash,
      client_id: CLIENT_ID,
      client_asserted: true,
      redirect_uri: null,
      resource: undefined,
      code_challenge: await challengeOf(VERIFIER),
    });
    if (!granted.ok || granted.value.kind !== "tokens") throw new Error(JSON.stringify(granted));
    const { family_id, generation } = granted.value.tokens;
    const { identity_id } = ada;
    const { refresh_tokens } = oauthServices();
    const answer = await revoke(await refresh_tokens.sign({ identity_id, family_id, generation }));
    expect({ status: answer.status, error: answer.body.error }).toEqual({
      status: 401,
      error: "invalid_client",
    });
    expect(await query(identity_id, "select id from token_families")).toHaveLength(1);
  });
});

describe("POST /oauth/introspect", () => {
  async function openResource() {
    const server = await openAppServer("demo");
    await registerResource("demo", "mcp", RESOURCE);
    oauthServices().apps.forget();
    const introspect = (token: string, key = server.key, settings: object = {}) =>
      post("/oauth/introspect", { token }, { Authorization: `Bearer ${key}` }, settings);
    return { server, introspect };
  }

  it("the app that owns a resource learns whether a token for it is active, in one object call", async () => {
    const { server, introspect } = await openResource();
    const ada = await signIn();
    const { access_token, refresh_token } = await connect(ada, {
      resource: RESOURCE,
      scopes: ["tools"],
    });
    const active = await introspect(access_token);
    expect(active.status).toBe(200);
    expect(active.body).toEqual({
      active: true,
      iss: "http://passbook.localhost",
      sub: ada.identity_id,
      aud: RESOURCE,
      client_id: CLIENT_ID,
      scope: "tools",
      token_type: "Bearer",
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    const { environment, hops } = countedEnvironment();
    await introspect(access_token, server.key, environment);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    expect((await introspect(access_token, server.key, environment)).body.active).toBe(true);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
    await revoke(refresh_token);
    expect((await introspect(access_token)).body).toEqual({ active: false });
  });

  it("a token of a suspended account is inactive", async () => {
    const { introspect } = await openResource();
    const ada = await signIn();
    const { access_token } = await connect(ada, { resource: RESOURCE });
    await env.ACCOUNT.getByName(ada.identity_id).suspend();
    expect((await introspect(access_token)).body).toEqual({ active: false });
  });

  it("a token of a deleted client is inactive", async () => {
    const { introspect } = await openResource();
    await registerClient("demo", "web", { public: 1 });
    oauthServices().apps.forget();
    const client = { client_id: "demo~web", client_host: null };
    const { access_token } = await connect(await signIn(), { ...client, resource: RESOURCE });
    expect((await introspect(access_token)).body.active).toBe(true);
    await env.DIRECTORY.exec("delete from oauth_clients");
    oauthServices().apps.forget();
    expect((await introspect(access_token)).body).toEqual({ active: false });
  });

  it("a token of our API, of another resource, or an invented one is inactive", async () => {
    const { introspect } = await openResource();
    const ada = await signIn();
    const own = await connect(ada);
    await openOtherResource("https://other.example/mcp", "other");
    const other = await connect(ada, { resource: "https://other.example/mcp" });
    for (const token of [own.access_token, own.refresh_token, other.access_token, ada.token, "x"]) {
      expect((await introspect(token)).body).toEqual({ active: false });
    }
  });

  it("introspection shows nothing to the key of another app, and refuses a request without a key", async () => {
    const { introspect } = await openResource();
    const other = await openAppServer("other");
    oauthServices().apps.forget();
    const { access_token } = await connect(await signIn(), { resource: RESOURCE });
    expect((await introspect(access_token, other.key)).body).toEqual({ active: false });
    const invented = await introspect(access_token, `pb_app_${"a".repeat(43)}`);
    expect({ status: invented.status, error: invented.body.error }).toEqual({
      status: 401,
      error: "invalid_client",
    });
    const nobody = await post("/oauth/introspect", { token: access_token, client_id: CLIENT_ID });
    expect(nobody.status).toBe(401);
  });

  it("a confidential client of the app introspects too, and a public one does not", async () => {
    await openResource();
    await registerClient("demo", "web");
    await registerClient("demo", "page", { public: 1 });
    oauthServices().apps.forget();
    const { access_token } = await connect(await signIn(), { resource: RESOURCE });
    const headers = { Authorization: `Basic ${btoa(`demo~web:${CLIENT_SECRET}`)}` };
    expect((await post("/oauth/introspect", { token: access_token }, headers)).body.active).toBe(
      true,
    );
    const by_page = await post("/oauth/introspect", {
      token: access_token,
      client_id: "demo~page",
    });
    expect(by_page.status).toBe(401);
  });
});

describe("introspection by a confidential client", () => {
  it("a confidential client learns about its own token of our API, and about no other client's", async () => {
    const { key } = await openAppServer("demo");
    await registerClient("demo", "web");
    await registerClient("demo", "other");
    oauthServices().apps.forget();
    const ada = await signIn();
    const by = (client_id: string) => ({
      Authorization: `Basic ${btoa(`${client_id}:${CLIENT_SECRET}`)}`,
    });
    const code = await authorize(ada, { client_id: "demo~web", client_host: null });
    const redeemed = await post("/oauth/token", codeForm(code, { client_id: "" }), by("demo~web"));
    const { access_token: token, refresh_token, scope } = redeemed.body;
    const ask = async (headers: Record<string, string>) =>
      (await post("/oauth/introspect", { token }, headers)).body;
    expect(await ask(by("demo~web"))).toEqual({
      active: true,
      iss: "http://passbook.localhost",
      aud: "http://passbook.localhost",
      sub: ada.identity_id,
      client_id: "demo~web",
      scope,
      token_type: "Bearer",
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    expect(await ask(by("demo~other"))).toEqual({ active: false });
    expect(await ask({ Authorization: `Bearer ${key}` })).toEqual({ active: false });
    await post("/oauth/revoke", { token: refresh_token }, by("demo~web"));
    expect(await ask(by("demo~web"))).toEqual({ active: false });
  });
});

describe("while a store cannot be reached", () => {
  const UNAVAILABLE = {
    error: "temporarily_unavailable",
    error_description: expect.stringContaining("Try again"),
  };

  it("each endpoint says so in the form of OAuth, and no token seems to be inactive", async () => {
    const server = await openAppServer("demo");
    await registerResource("demo", "mcp", RESOURCE);
    oauthServices().apps.forget();
    const ada = await signIn();
    const own = await connect(ada);
    const { access_token } = await connect(ada, { resource: RESOURCE });
    const failing = () => {
      throw Object.assign(new Error("the object was reset"), { retryable: true });
    };
    const settings = { ACCOUNT: { getByName: () => new Proxy({}, { get: () => failing }) } };
    const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
    const { refresh_token } = own;
    const form = { token: refresh_token, client_id: CLIENT_ID };
    for (const [path, fields, headers] of [
      ["/oauth/token", refreshForm(refresh_token), {}],
      ["/oauth/revoke", form, {}],
      ["/oauth/introspect", { token: access_token }, bearer(server.key)],
      ["/oauth/userinfo", {}, bearer(own.access_token)],
    ] as const) {
      const answer = await post(path, fields, headers, settings);
      expect({ path, status: answer.status, body: answer.body }).toEqual({
        path,
        status: 503,
        body: UNAVAILABLE,
      });
      expect(answer.headers.get("Retry-After")).not.toBeNull();
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
    }
    vi.spyOn(oauthServices().apps, "findResource").mockResolvedValue({ kind: "unreadable" });
    const answer = await post("/oauth/introspect", { token: access_token }, bearer(server.key));
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 503,
      body: UNAVAILABLE,
    });
  });
});

describe("/oauth/userinfo", () => {
  const SCOPES = ["openid", "profile", "email"];
  it.each([
    ["GET", { header: true }],
    ["POST", { header: true }],
    ["POST", { header: false }],
  ])(
    "%s gives the claims of the scopes, with the token in the header or the form",
    async (method, { header }) => {
      const ada = await signIn();
      const { access_token } = await connect(ada, { scopes: SCOPES });
      const answer = header
        ? await send(method, "/oauth/userinfo", {
            headers: { Authorization: `Bearer ${access_token}`, Origin: "https://any.example" },
          })
        : await post("/oauth/userinfo", { access_token });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ sub: ada.identity_id, email: "ada@example.com" });
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
    },
  );

  it("without the scopes profile and email only the subject is given, and D1 is not read", async () => {
    const ada = await signIn();
    const { access_token } = await connect(ada, { scopes: ["openid"] });
    const { environment, hops } = countedEnvironment();
    const headers = { Authorization: `Bearer ${access_token}` };
    const answer = await send("GET", "/oauth/userinfo", { headers }, environment);
    expect(answer.body).toEqual({ sub: ada.identity_id });
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });

  it("a token without openid, an invalid one and one that has ended are refused with their reason", async () => {
    const ada = await signIn();
    const unopened = await connect(ada, { scopes: ["read"] });
    const ended = await connect(ada, { scopes: SCOPES });
    await revoke(ended.refresh_token);
    for (const [token, status, error] of [
      [unopened.access_token, 403, "insufficient_scope"],
      ["pb_at_x", 401, "invalid_token"],
      [ada.token, 401, "invalid_token"],
      [ended.access_token, 401, "invalid_token"],
    ] as const) {
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await send("GET", "/oauth/userinfo", { headers });
      expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error });
      expect(answer.headers.get("WWW-Authenticate")).toContain(`error="${error}"`);
    }
    expect((await send("GET", "/oauth/userinfo")).status).toBe(401);
  });
});

describe("metadata", () => {
  it.each(["oauth-authorization-server", "openid-configuration"])(
    "%s names every endpoint under the issuer, and what clients look for",
    async (name) => {
      const headers = { Origin: "https://any.example" };
      const answer = await send("GET", `/.well-known/${name}`, { headers });
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
      expect(answer.body).toMatchObject({
        issuer: "http://passbook.localhost",
        authorization_endpoint: "http://passbook.localhost/oauth/authorize",
        token_endpoint: "http://passbook.localhost/oauth/token",
        jwks_uri: "http://passbook.localhost/.well-known/jwks.json",
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: [
          "none",
          "client_secret_basic",
          "client_secret_post",
          "private_key_jwt",
        ],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        id_token_signing_alg_values_supported: ["RS256"],
        request_uri_parameter_supported: false,
        authorization_details_types_supported: ["passbook_spending"],
      });
      expect(answer.body.scopes_supported).toEqual([
        "openid",
        "profile",
        "email",
        "offline_access",
        "read",
        "write",
        "upstream",
      ]);
    },
  );
});
