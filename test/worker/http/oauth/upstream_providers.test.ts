import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countedEnvironment } from "../../support/bindings.ts";
import { passTime } from "../../support/clock.ts";
import { connect as signInAtProvider } from "../../support/connected.ts";
import { getToken } from "../../support/device_logins.ts";
import { narrow, total } from "../../support/exchanges.ts";
import { CLIENT_ID, connect, type Tokens } from "../../support/oauth_clients.ts";
import { send, type SignedIn } from "../../support/passbook.ts";
import { registerClient } from "../../support/registrations.ts";
import { fakeUpstream, providers } from "../../support/upstream.ts";
import { saveApp } from "../caller/app_server.ts";
import { signInOperator } from "../api/admin/operators.ts";

const CLIENT = "demo~web";
const MAY = 200;
const MAY_NOT = "403 scope";
const REGISTRY_CACHE_MS = 60_000;

/** A person with tokens of Acme, and an app with a client that may get those of these providers. */
async function open(upstream_providers: readonly string[] = ["acme"]) {
  const ada = await signInAtProvider(fakeUpstream().grant(3600));
  const operator = await signInOperator();
  await saveApp(operator, "demo", { settle: "holder", upstream_providers } as object);
  await registerClient("demo", "web", { public: 1 });
  // A new environment, so nothing of the registry is in its cache.
  const { environment, hops } = countedEnvironment();
  const settings = { ...environment, ...providers(), SOCIAL_PROVIDER: "acme" };
  const get = (token: string, path = "/api/oauthToken/acme") =>
    send("GET", path, { headers: { Authorization: `Bearer ${token}` } }, settings);
  const outcome = async (token: string, path?: string): Promise<number | string> => {
    const { status, body } = await get(token, path);
    return status === 200 ? 200 : `${status} ${body.code}`;
  };
  return { ada, outcome, get, hops };
}

const connectClient = (person: SignedIn, client_id = CLIENT): Promise<Tokens> => {
  const client_host = client_id === CLIENT ? null : "client.example.com";
  const scopes = ["openid", "offline_access", "read", "upstream"];
  return connect(person, { client_id, client_host, scopes });
};

describe("upstream tokens for OAuth clients", () => {
  it("a registered client gets tokens only of the providers of its app", async () => {
    const { ada, outcome, get } = await open();
    const { access_token } = await connectClient(ada);
    expect(await outcome(access_token)).toBe(MAY);
    expect(await outcome(access_token, "/api/socialToken")).toBe(MAY);
    const refused = await get(access_token, "/api/oauthToken/github");
    expect([refused.status, refused.body.code]).toEqual([403, "scope"]);
    expect(refused.body.error).toContain("upstream_providers");
  });

  it("a client whose app has other providers or none gets no token", async () => {
    for (const upstream_providers of [["github"], []]) {
      const { ada, outcome } = await open(upstream_providers);
      const { access_token } = await connectClient(ada);
      expect(await outcome(access_token)).toBe(MAY_NOT);
      expect(await outcome(access_token, "/api/socialToken")).toBe(MAY_NOT);
      await env.DIRECTORY.exec("delete from oauth_clients");
    }
  });

  it("a token of another service outlives the token that got it, and the page that revokes says so", async () => {
    const { ada, get } = await open();
    const said = "Tokens for other services that it already got work there until they expire.";
    const pageOf = async ({ token }: { token: string }) => {
      const { tokens } = (await get(token, "/api/tokens")).body;
      const path = `/account/access/revoke?id=${tokens[0].id}`;
      const page = await send("GET", path, { headers: { Cookie: ada.cookies } });
      return { id: tokens[0].id as string, text: page.text };
    };
    const plain = await getToken(ada, { scopes: ["read"] });
    expect((await pageOf(plain)).text).not.toContain(said);
    const personal = await getToken(ada, { scopes: ["read", "upstream"] });
    const { id, text } = await pageOf(personal);
    expect(text).toContain(said);
    const got = (await get(personal.token)).body.token;
    await personal.revoke(id);
    expect((await get(personal.token)).status).toBe(401);
    const later = await getToken(ada, { scopes: ["read", "upstream"] });
    expect((await get(later.token)).body.token).toBe(got);
  });

  it("a client without a registration gets no token, but a personal access token does", async () => {
    const { ada, outcome } = await open();
    const { access_token } = await connectClient(ada, CLIENT_ID);
    expect(await outcome(access_token)).toBe(MAY_NOT);
    const personal = await getToken(ada, { scopes: ["read", "upstream"] });
    expect(await outcome(personal.token)).toBe(MAY);
  });

  it.each([
    ["provider", "update apps set upstream_providers_json = '[\"github\"]'", MAY_NOT],
    ["app", "delete from apps", "401 unauthorized"],
    ["client", "delete from oauth_clients", "401 unauthorized"],
  ])(
    "a client gets no more tokens after an operator removed the %s",
    async (_, change, refusal) => {
      const { ada, outcome } = await open();
      const { access_token } = await connectClient(ada);
      expect(await outcome(access_token)).toBe(MAY);
      await env.DIRECTORY.exec(change);
      passTime(REGISTRY_CACHE_MS);
      expect(await outcome(access_token)).toBe(refusal);
    },
  );

  it("session tokens and narrower tokens get what their client gets", async () => {
    const { ada, outcome, get } = await open();
    const { access_token } = await connectClient(ada);
    const child = await narrow(access_token, total(5), { client_id: CLIENT });
    const tokens = [
      (await get(access_token, "/api/sessionToken")).body.token,
      child.access_token,
      (await get(child.access_token, "/api/sessionToken")).body.token,
    ];
    for (const token of tokens) {
      expect(await outcome(token)).toBe(MAY);
      expect(await outcome(token, "/api/oauthToken/github")).toBe(MAY_NOT);
    }
    await env.DIRECTORY.exec("update apps set upstream_providers_json = '[]'");
    passTime(REGISTRY_CACHE_MS);
    for (const token of tokens) expect(await outcome(token)).toBe(MAY_NOT);
  });

  it("a personal access token makes one object call and never reads the registry", async () => {
    const { ada, outcome, hops } = await open();
    const { token } = await getToken(ada, { scopes: ["read", "upstream"] });
    expect(await outcome(token)).toBe(MAY);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });

  it("once the registry is cached, a client's request makes one object call and no query", async () => {
    const { ada, outcome, hops } = await open();
    const { access_token } = await connectClient(ada);
    await outcome(access_token);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    expect(await outcome(access_token)).toBe(MAY);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
  });
});
