import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openAppServer } from "../caller/app_server.ts";
import type { Operator } from "../api/admin/operators.ts";
import { authorize, codeForm, post, refreshForm, type Form } from "../../support/oauth_clients.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { passTime } from "../../support/clock.ts";
import { openDirectory } from "../../support/directory_outage.ts";
import { send, signIn, type Answer } from "../../support/passbook.ts";

const CLIENTS = "/api/admin/apps/sketch/clients";
const CLIENT_ID = "sketch~web";
const CONNECTED = { client_id: CLIENT_ID, client_host: null };

interface Client {
  readonly operator: Operator;
  readonly secret: string;
  readonly token: (
    form: Form,
    headers?: Record<string, string>,
    settings?: object,
  ) => Promise<Answer>;
}

/** A confidential client of an app, registered by an operator. */
async function openClient(): Promise<Client> {
  const { operator } = await openAppServer("sketch");
  const redirect_uris = ["https://client.example.com/callback"];
  const saved = await operator.send("PUT", `${CLIENTS}/web`, {
    name: "Sketch",
    redirect_uris,
    public: false,
  });
  const token: Client["token"] = (form, headers = {}, settings = {}) =>
    post("/oauth/token", form, headers, { ...operator.settings, ...settings });
  return { operator, secret: saved.body.client_secret, token };
}

const withSecret = (form: Form, secret: string): Form => ({
  ...form,
  client_id: CLIENT_ID,
  client_secret: secret,
});

describe("a registered client at the token endpoint", () => {
  it("a confidential client redeems its codes with its secret only", async () => {
    const { secret, token } = await openClient();
    const code = await authorize(await signIn(), CONNECTED);
    const form = codeForm(code, { client_id: CLIENT_ID });
    for (const wrong of [form, withSecret(form, `${secret}x`)]) {
      const response = await token(wrong);
      expect(response).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    }
    const both = { Authorization: `Basic ${btoa(`${CLIENT_ID}:${secret}`)}` };
    const twice = await token(withSecret(form, secret), both);
    expect(twice).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    expect((await token(form, both)).status).toBe(200);
  });

  it("after a client is deleted, its codes and refresh tokens bring no tokens", async () => {
    const { operator, secret, token } = await openClient();
    const ada = await signIn();
    const first = await token(withSecret(codeForm(await authorize(ada, CONNECTED)), secret));
    expect(first.status).toBe(200);
    const code = await authorize(ada, CONNECTED);
    await operator.send("DELETE", `${CLIENTS}/web`);
    for (const form of [codeForm(code), refreshForm(first.body.refresh_token)]) {
      const response = await token(withSecret(form, secret));
      expect(response).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    }
  });

  it("a client whose id belonged to a deleted one is not registered, so the old connections stay dead", async () => {
    const { operator, secret, token } = await openClient();
    const { body } = await token(
      withSecret(codeForm(await authorize(await signIn(), CONNECTED)), secret),
    );
    const settings = { name: "Sketch", redirect_uris: ["https://new.example.com/callback"] };
    const save = (id: string, is_public: boolean) =>
      operator.send("PUT", `${CLIENTS}/${id}`, { ...settings, public: is_public });
    await operator.send("DELETE", `${CLIENTS}/web`);
    for (const is_public of [true, false]) {
      expect(await save("web", is_public)).toMatchObject({
        status: 409,
        body: { code: "client_deleted" },
      });
    }
    const headers = { Authorization: `Bearer ${body.access_token}` };
    expect((await send("GET", "/api/wallet", { headers }, operator.settings)).status).toBe(401);
    expect((await token(withSecret(refreshForm(body.refresh_token), secret))).status).toBe(401);
    expect((await save("web2", true)).status).toBe(200);
  });

  it.each([
    ["at once where it was deleted", 0, true],
    ["a minute later everywhere else", 60_000, false],
  ])(
    "after a client is deleted, its tokens are refused %s",
    async (_, wait_ms, is_same_isolate) => {
      const { operator, secret, token } = await openClient();
      const scopes = ["openid", "offline_access", "read"];
      const code = await authorize(await signIn(), { ...CONNECTED, scopes });
      const { access_token } = (await token(withSecret(codeForm(code), secret))).body;
      const settings = is_same_isolate ? operator.settings : countedEnvironment().environment;
      const call = async (bearer: string, path: string) =>
        send("GET", path, { headers: { Authorization: `Bearer ${bearer}` } }, settings);
      const session = (await call(access_token, "/api/sessionToken")).body.token;
      expect((await call(session, "/api/wallet")).status).toBe(200);
      await operator.send("DELETE", `${CLIENTS}/web`);
      passTime(wait_ms);
      for (const bearer of [access_token, session]) {
        for (const path of ["/api/wallet", "/api/sessionToken", "/api/oauthToken/acme"]) {
          expect((await call(bearer, path)).status).toBe(401);
        }
      }
      expect((await call(access_token, "/oauth/userinfo")).body.error).toBe("invalid_token");
    },
  );

  it("a client's tokens work while the registry cannot be read, in one object call and no more queries", async () => {
    const { secret, token } = await openClient();
    const code = await authorize(await signIn(), CONNECTED);
    const { access_token } = (await token(withSecret(codeForm(code), secret))).body;
    const directory = openDirectory();
    directory.state = "fails";
    const { environment, hops } = countedEnvironment();
    const settings = { ...environment, DIRECTORY: directory.environment().DIRECTORY };
    const headers = { Authorization: `Bearer ${access_token}` };
    for (const _ of [1, 2, 3]) {
      expect((await send("GET", "/api/wallet", { headers }, settings)).status).toBe(200);
    }
    expect({ ...hops, asked: directory.asked }).toEqual({ account: 3, d1: 0, kv: 0, asked: 1 });
  });

  it("the day of a client's last use is recorded when it gets tokens, not when it fails", async () => {
    const { operator, secret, token } = await openClient();
    const lastUse = async () =>
      (await operator.get(`${CLIENTS}/web`)).body.client.last_used_at as string | null;
    const code = await authorize(await signIn(), CONNECTED);
    await token(withSecret(codeForm(code), "wrong"));
    await token(withSecret(codeForm("invented"), secret));
    expect(await lastUse()).toBeNull();
    await token(withSecret(codeForm(code), secret));
    expect(await lastUse()).toBe(`${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`);
    const row = await env.DIRECTORY.prepare("select last_used_at_ms from app_keys where label = ?")
      .bind("OAuth client web")
      .first("last_used_at_ms");
    expect(row).not.toBeNull();
  });

  it("failed authentications count for the network, and others do not", async () => {
    const { secret, token } = await openClient();
    const counted: string[] = [];
    const limit = async ({ key }: { readonly key: string }) => {
      counted.push(key);
      return { success: false };
    };
    const code = await authorize(await signIn(), CONNECTED);
    const settings = { LIMIT_CLIENT_FAILURE: { limit } };
    const form = codeForm(code);
    const failed = await token(withSecret(form, "wrong"), {}, settings);
    expect(failed).toMatchObject({ status: 429, body: { error: "slow_down" } });
    expect(failed.headers.get("Retry-After")).toBe("60");
    expect(counted).toHaveLength(1);
    expect((await token(withSecret(form, secret), {}, settings)).status).toBe(200);
    expect(counted).toHaveLength(1);
  });
});
