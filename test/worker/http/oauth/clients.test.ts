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
const HOUR_MS = 60 * 60 * 1000;
const CONNECTED = { client_id: CLIENT_ID, client_host: null };

interface Client {
  readonly operator: Operator;
  /** A key of the client's app. */
  readonly key: string;
  readonly secret: string;
  readonly token: (
    form: Form,
    headers?: Record<string, string>,
    settings?: object,
  ) => Promise<Answer>;
}

/** A confidential client of an app, registered by an operator. */
async function openClient(): Promise<Client> {
  const { operator, key } = await openAppServer("sketch");
  const redirect_uris = ["https://client.example.com/callback"];
  const saved = await operator.send("PUT", `${CLIENTS}/web`, {
    name: "Sketch",
    redirect_uris,
    public: false,
  });
  const token: Client["token"] = (form, headers = {}, settings = {}) =>
    post("/oauth/token", form, headers, { ...operator.settings, ...settings });
  return { operator, key, secret: saved.body.client_secret, token };
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

  it("a client's secret opens nothing at the API, and a key of its app or of another client is no secret of it", async () => {
    const { operator, key, secret, token } = await openClient();
    const ada = await signIn();
    const other = await operator.send("PUT", `${CLIENTS}/other`, {
      name: "Other",
      redirect_uris: ["https://other.example.com/callback"],
      public: false,
    });
    const form = codeForm(await authorize(ada, CONNECTED));
    for (const wrong of [key, other.body.client_secret]) {
      const response = await token(withSecret(form, wrong));
      expect(response).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    }
    const { access_token } = (await token(withSecret(form, secret))).body;
    const headers = { Authorization: `Bearer ${secret}`, "Passbook-Identity": ada.identity_id };
    for (const path of ["/api/wallet", "/api/jobs", "/api/app", "/api/me"]) {
      expect((await send("GET", path, { headers }, operator.settings)).status).toBe(401);
    }
    const path = "/api/admin/apps/sketch/webhooks";
    expect((await send("GET", path, { headers }, operator.settings)).status).toBe(401);
    const as_bearer = await post("/oauth/introspect", { token: access_token }, headers);
    expect(as_bearer.status).toBe(401);
    const revoked = { token: access_token, client_id: CLIENT_ID, client_secret: key };
    expect((await post("/oauth/revoke", revoked, {}, operator.settings)).status).toBe(401);
  });

  it.each([
    ["for 24 hours", "", [200, 200, 401]],
    ["not at all with ?now=true", "?now=true", [401, 401, 401]],
  ])("a replaced secret works %s, and the new one from now on", async (_, query, expected) => {
    const { operator, secret, token } = await openClient();
    const replaced = await operator.send("POST", `${CLIENTS}/web/secret${query}`);
    const ada = await signIn();
    const statuses: number[] = [];
    for (const wait_ms of [0, 23 * HOUR_MS, HOUR_MS]) {
      passTime(wait_ms);
      const code = await authorize(ada, CONNECTED);
      statuses.push((await token(withSecret(codeForm(code), secret))).status);
      const fresh = codeForm(await authorize(ada, CONNECTED));
      expect((await token(withSecret(fresh, replaced.body.client_secret))).status).toBe(200);
    }
    expect(statuses).toEqual(expected);
  });

  it("two replacements keep both older secrets, and ?now=true ends them all", async () => {
    const { operator, secret, token } = await openClient();
    const replace = async (query = "") =>
      (await operator.send("POST", `${CLIENTS}/web/secret${query}`)).body.client_secret;
    const second = await replace();
    const third = await replace();
    const ada = await signIn();
    const statusOf = async (one: string) =>
      (await token(withSecret(codeForm(await authorize(ada, CONNECTED)), one))).status;
    for (const one of [secret, second, third]) expect(await statusOf(one)).toBe(200);
    const last = await replace("?now=true");
    for (const one of [secret, second, third]) expect(await statusOf(one)).toBe(401);
    expect(await statusOf(last)).toBe(200);
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
  });

  it.each(["/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/userinfo"])(
    "a request to %s that is refused before its client is examined counts for the network",
    async (path) => {
      const counted: string[] = [];
      const limit = async ({ key }: { readonly key: string }) => {
        counted.push(key);
        return { success: counted.length < 2 };
      };
      const settings = { LIMIT_CLIENT_FAILURE: { limit } };
      const headers = { "CF-Connecting-IP": "192.0.2.7" };
      const many = Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`x${index}`, ""]));
      const body = new URLSearchParams(many).toString();
      const sent = { headers: { ...headers, "Content-Type": "application/json" }, body };
      const first = await send("POST", path, sent, settings);
      expect([400, 401]).toContain(first.status);
      expect(counted).toEqual(["192.0.2.7"]);
      const second = await send(
        "POST",
        path,
        { headers, body: new URLSearchParams(many) },
        settings,
      );
      expect(second).toMatchObject({ status: 429, body: { error: "slow_down" } });
      expect(second.headers.get("Retry-After")).toBe("60");
      expect(counted).toHaveLength(2);
    },
  );

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
