import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { openAppServer, rows, saveApp } from "../../../caller/app_server.ts";
import { signInOperator, type Operator } from "../operators.ts";

const CLIENTS = "/api/admin/apps/sketch/clients";
const WEB = `${CLIENTS}/web`;
const KEY = { "Idempotency-Key": "one" };
const CLIENT = {
  name: "Sketch",
  redirect_uris: ["https://sketch.example.com/callback", "http://127.0.0.1/callback"],
  public: false,
};

async function openOperator(): Promise<Operator> {
  const operator = await signInOperator();
  await saveApp(operator, "sketch");
  return operator;
}

const keys = async (operator: Operator) =>
  (await operator.get("/api/admin/apps/sketch/keys")).body.keys;

describe("the OAuth clients of an app", () => {
  it("an operator registers, changes, lists, reads and deletes a client", async () => {
    const operator = await openOperator();
    const created = await operator.send("PUT", WEB, {
      ...CLIENT,
      post_logout_redirect_uris: ["https://sketch.example.com/"],
    });
    const client = {
      id: "web",
      client_id: "sketch~web",
      ...CLIENT,
      post_logout_redirect_uris: ["https://sketch.example.com/"],
      pkce_optional: false,
      version: 1,
      created_at: expect.any(String),
      last_used_at: null,
    };
    expect(created.body).toEqual({
      client,
      client_id: "sketch~web",
      client_secret: expect.stringMatching(/^pb_cs_[\w-]{43}$/),
    });
    expect((await operator.get(WEB)).body).toEqual({ client });
    const settings = { ...CLIENT, pkce_optional: true };
    const changed = await operator.send("PUT", WEB, { ...settings, version: 1 });
    // A save replaces all settings, so an omitted one gets its default again.
    const after = {
      ...client,
      ...settings,
      post_logout_redirect_uris: [],
      version: 2,
    };
    expect(changed.body).toEqual({ client: after, client_id: "sketch~web" });
    expect((await operator.get(CLIENTS)).body).toEqual({ clients: [after] });
    expect((await operator.send("DELETE", WEB)).body).toEqual({ ok: true });
    expect((await operator.get(CLIENTS)).body).toEqual({ clients: [] });
    for (const method of ["GET", "DELETE"]) {
      const response = await operator.send(method, WEB);
      expect(response).toMatchObject({ status: 404, body: { code: "client_not_found" } });
    }
  });

  it("the secret is no key of the app, stored as a hash and shown once", async () => {
    const logged = vi.spyOn(console, "log");
    const operator = await openOperator();
    const { client_secret } = (await operator.send("PUT", WEB, CLIENT)).body;
    expect(await keys(operator)).toEqual([]);
    const stored = JSON.stringify([
      await rows("select * from oauth_clients"),
      await rows("select * from app_keys"),
      await rows("select * from audit"),
      await rows("select * from audit_outcomes"),
      logged.mock.calls,
    ]);
    expect(stored).not.toContain(client_secret.slice("pb_cs_".length));
  });

  it("a client gets a secret only when it becomes confidential", async () => {
    const operator = await openOperator();
    const save = async (version: number, is_public: boolean) =>
      (await operator.send("PUT", WEB, { ...CLIENT, public: is_public, version })).body
        .client_secret;
    expect(await save(0, true)).toBeUndefined();
    const first = await save(1, false);
    expect(first).toMatch(/^pb_cs_/);
    expect(await save(2, false)).toBeUndefined();
    expect(await save(3, true)).toBeUndefined();
    const second = await save(4, false);
    expect(second).toMatch(/^pb_cs_/);
    expect(second).not.toBe(first);
  });

  it("a replaced secret is shown once, and a retry changes nothing, even after another replacement", async () => {
    const operator = await openOperator();
    const { body } = await operator.send("PUT", WEB, CLIENT);
    const replaced = await operator.send("POST", `${WEB}/secret`, { reason: "a leak" }, KEY);
    expect(replaced.body).toEqual({
      client_secret: expect.stringMatching(/^pb_cs_[\w-]{43}$/),
      client: body.client,
    });
    expect(replaced.body.client_secret).not.toBe(body.client_secret);
    await operator.send("POST", `${WEB}/secret`);
    const stored = await rows("select secret_hash, old_secrets_json from oauth_clients");
    const again = await operator.send("POST", `${WEB}/secret`, { reason: "a leak" }, KEY);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body).toEqual({ client_secret: null, client: body.client });
    expect(await rows("select secret_hash, old_secrets_json from oauth_clients")).toEqual(stored);
    expect(
      await rows("select act, subject, reason, details_json from audit where act like '%.secret'"),
    ).toMatchObject([{ subject: "sketch", reason: "a leak" }, { reason: null }]);
  });

  it("only an admin replaces a secret, and only that of a confidential client that exists", async () => {
    const operator = await openOperator();
    const none = await operator.send("POST", `${WEB}/secret`);
    expect(none).toMatchObject({ status: 404, body: { code: "client_not_found" } });
    await operator.send("PUT", WEB, { ...CLIENT, public: true });
    const is_public = await operator.send("POST", `${WEB}/secret`);
    expect(is_public).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    const wrong = await operator.send("POST", `${WEB}/secret?now=maybe`);
    expect(wrong).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(await rows("select secret_hash from oauth_clients")).toEqual([{ secret_hash: null }]);
  });

  it("a save that is retried after the client was deleted does not restore it", async () => {
    const operator = await openOperator();
    await operator.send("PUT", WEB, CLIENT, KEY);
    await operator.send("DELETE", WEB);
    const again = await operator.send("PUT", WEB, CLIENT, KEY);
    expect(again).toMatchObject({ status: 404, body: { code: "client_not_found" } });
    const reused = await operator.send("PUT", WEB, CLIENT);
    expect(reused).toMatchObject({ status: 409, body: { code: "client_deleted" } });
    expect((await operator.get(CLIENTS)).body).toEqual({ clients: [] });
  });

  it("an interrupted save that is retried after the client was deleted is refused", async () => {
    const operator = await openOperator();
    await operator.send("PUT", WEB, CLIENT, KEY);
    await env.DIRECTORY.exec("delete from audit_outcomes");
    await operator.send("DELETE", WEB);
    const again = await operator.send("PUT", WEB, CLIENT, KEY);
    expect(again).toMatchObject({ status: 409, body: { code: "client_deleted" } });
  });

  it("a repeated request changes nothing again and never shows a secret again", async () => {
    const operator = await openOperator();
    await operator.send("PUT", WEB, CLIENT, KEY);
    await operator.send("PUT", WEB, { ...CLIENT, name: "Other", version: 1 });
    const again = await operator.send("PUT", WEB, CLIENT, KEY);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body.client.name).toBe("Other");
    expect(again.body.client_secret).toBeUndefined();
    const other = await operator.send("PUT", WEB, { ...CLIENT, name: "Third" }, KEY);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  });

  it("each change is recorded with its actor, reason and the settings that it changed", async () => {
    const operator = await openOperator();
    await operator.send("PUT", WEB, { ...CLIENT, reason: "first" });
    await operator.send("PUT", WEB, { ...CLIENT, name: "Sketch 2", version: 1 });
    await operator.send("DELETE", `${WEB}?reason=done`);
    const records = await rows(
      "select act, subject, reason, changed_json from audit join audit_outcomes on audit_id = id where act like 'oauth_client.%' order by id",
    );
    const changed_json = JSON.stringify({ name: { from: "Sketch", to: "Sketch 2" } });
    const subject = "sketch";
    expect(records).toEqual([
      { act: "oauth_client.save", subject, reason: "first", changed_json: null },
      { act: "oauth_client.save", subject, reason: null, changed_json },
      { act: "oauth_client.delete", subject, reason: "done", changed_json: null },
    ]);
  });

  it.each([
    ["a malformed id", { path: `${CLIENTS}/Web` }, "The client's id must be 1 to 64"],
    ["no name", { name: " " }, "name must not be empty"],
    ["a long name", { name: "x".repeat(81) }, "name must have at most 80"],
    ["a name with an invisible character", { name: "Sketch\u202e" }, "invisible character U+202E"],
    ["no redirect address", { redirect_uris: [] }, "redirect_uris must have at least one"],
    [
      "too many",
      { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) },
      "redirect_uris must have at most 20",
    ],
    [
      "an address twice",
      { redirect_uris: ["https://a.example/", "https://a.example/"] },
      "redirect_uris must have no duplicates",
    ],
    [
      "a fragment",
      { redirect_uris: ["https://a.example/#x"] },
      "redirect_uris.0 must have no fragment",
    ],
    [
      "a wildcard",
      { redirect_uris: ["https://*.a.example/"] },
      "redirect_uris.0 must have no wildcard",
    ],
    [
      "plain http",
      { redirect_uris: ["https://a.example/", "http://a.example/"] },
      "redirect_uris.1 must be https",
    ],
    [
      "a script",
      { redirect_uris: ["javascript:/x"] },
      "redirect_uris.0 must be an address such as",
    ],
    ["an unknown kind", { public: "no" }, "public must be true or false"],
    [
      "a public client without PKCE",
      { public: true, pkce_optional: true },
      "pkce_optional must be false for a public client",
    ],
    ["the algorithm of ID tokens", { id_token_alg: "EdDSA" }, "id_token_alg"],
    ["an unknown field", { secret: "mine" }, "unknown field secret"],
  ])("a client with %s is refused with the reason, and nothing changes", async (_, wrong, why) => {
    const operator = await openOperator();
    const { path = WEB, ...fields } = wrong as { path?: string };
    const response = await operator.send("PUT", path, { ...CLIENT, ...fields });
    expect(response).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(response.body.error).toContain(why);
    expect(await rows("select * from oauth_clients")).toEqual([]);
    expect(await rows("select * from audit where act like 'oauth_client.%'")).toEqual([]);
  });

  it("a client of an unknown app is refused, and no key is created", async () => {
    const operator = await signInOperator();
    const response = await operator.send("PUT", WEB, CLIENT);
    expect(response).toMatchObject({ status: 404, body: { code: "app_not_found" } });
    expect((await operator.get(CLIENTS)).body.code).toBe("app_not_found");
    expect(await rows("select * from app_keys")).toEqual([]);
  });

  it("an app has at most 50 clients, also with concurrent requests, and can still change them", async () => {
    const operator = await openOperator();
    const settings = { ...CLIENT, public: true };
    const responses = await Promise.all(
      Array.from({ length: 52 }, (_, n) => operator.send("PUT", `${CLIENTS}/c${n}`, settings)),
    );
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(2);
    expect(refused[0]?.body.code).toBe("limit_reached");
    const [known, other] = (await operator.get(CLIENTS)).body.clients;
    const change = { ...settings, name: "Other", version: 1 };
    expect((await operator.send("PUT", `${CLIENTS}/${known.id}`, change)).status).toBe(200);
    // A deleted client takes no room.
    await operator.send("DELETE", `${CLIENTS}/${other.id}`);
    expect((await operator.send("PUT", `${CLIENTS}/new`, settings)).status).toBe(200);
    expect((await operator.send("PUT", `${CLIENTS}/newer`, settings)).status).toBe(400);
  });

  it("the app's own key cannot read or change its clients", async () => {
    const { key, operator } = await openAppServer("sketch");
    const headers = { Authorization: `Bearer ${key}`, Cookie: "", Origin: "" };
    for (const [method, path] of [
      ["GET", CLIENTS],
      ["PUT", WEB],
      ["DELETE", WEB],
      ["POST", `${WEB}/secret`],
    ] as const) {
      const body = method === "PUT" ? CLIENT : undefined;
      expect((await operator.send(method, path, body, headers)).status).toBe(403);
    }
    expect(await rows("select * from oauth_clients")).toEqual([]);
  });
});
