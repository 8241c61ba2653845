import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { dump, query } from "../../support/account_object.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { passTime } from "../../support/clock.ts";
import {
  authorize,
  codeForm,
  connect,
  post,
  redeem,
  refresh,
  refreshForm,
  withToken,
} from "../../support/oauth_clients.ts";
import { send, signIn, signInWithCredits } from "../../support/passbook.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 1 };

const changed = (text: string, at: number): string =>
  `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;

describe("an access token at our API", () => {
  it("an access token acts like a personal access token: its jobs, its list and its session token", async () => {
    const ada = await signInWithCredits();
    const { access_token } = await connect(ada);
    const created = await withToken(access_token, "POST", "/api/jobs", JOB);
    expect(created.status).toBe(200);
    const { job_id } = created.body;
    const completed = await withToken(access_token, "POST", "/api/jobs/complete", {
      job_id,
      actual_cost: 1,
    });
    expect(completed.status).toBe(200);
    const { body } = await withToken(access_token, "GET", "/api/sessionToken");
    expect((await withToken(body.token, "GET", "/api/wallet")).status).toBe(200);
  });

  it.each([
    [["read"], 200, 403],
    [["write"], 200, 200],
    [["openid", "profile", "email"], 403, 403],
  ])("an access token with the scopes %s may do what they say", async (scopes, reads, writes) => {
    const ada = await signInWithCredits();
    const { access_token } = await connect(ada, { scopes });
    const read = await withToken(access_token, "GET", "/api/wallet");
    const write = await withToken(access_token, "POST", "/api/jobs", JOB);
    expect([read.status, write.status]).toEqual([reads, writes]);
    if (reads === 403) expect(read.body.error).toContain("sign-in");
  });

  it("a session token of an access token ends with its authorization", async () => {
    const ada = await signIn();
    const { access_token, refresh_token } = await connect(ada);
    const { body } = await withToken(access_token, "GET", "/api/sessionToken");
    const second = (await refresh(refresh_token)).body;
    await refresh(second.refresh_token);
    // Two rotations later, the first refresh token shows that it was stolen.
    await refresh(refresh_token);
    expect((await withToken(body.token, "GET", "/api/wallet")).status).toBe(401);
  });

  it("a session token of an access token expires with it, also after renewals", async () => {
    const ada = await signIn();
    let { access_token: token } = await connect(ada);
    const expires_at = decodeJwt(token.slice("pb_at_".length)).exp;
    for (let renewals = 0; renewals < 3; renewals += 1) {
      ({ token } = (await withToken(token, "GET", "/api/sessionToken")).body);
      expect(decodeJwt(token).exp).toBe(expires_at);
      passTime(3 * 60_000);
    }
    passTime(2 * 60_000);
    expect((await withToken(token, "GET", "/api/sessionToken")).status).toBe(401);
  });

  it("the stream of an authorization that ends is closed at once", async () => {
    const ada = await signInWithCredits();
    const { access_token, refresh_token } = await connect(ada);
    const headers = { Authorization: `Bearer ${access_token}`, Upgrade: "websocket" };
    const { default: worker } = await import("../../../../src/worker.ts");
    const { createExecutionContext } = await import("cloudflare:test");
    const request = new Request("http://passbook.localhost/api/events", { headers });
    const opened = await worker.fetch(request, env, createExecutionContext());
    expect(opened.status).toBe(101);
    const closed = new Promise<CloseEvent>((resolve) =>
      opened.webSocket?.addEventListener("close", resolve),
    );
    opened.webSocket?.accept();
    const second = (await refresh(refresh_token)).body;
    await refresh(second.refresh_token);
    await refresh(refresh_token);
    expect((await closed).code).toBe(4401);
  });
});

describe("hops", () => {
  it("the token endpoint makes one object call, and no query or KV read", async () => {
    const ada = await signIn();
    const code = await authorize(ada);
    const { environment, hops } = countedEnvironment();
    const { body } = await post("/oauth/token", codeForm(code), {}, environment);
    expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
    await post("/oauth/token", refreshForm(body.refresh_token), {}, environment);
    expect(hops).toEqual({ account: 2, d1: 0, kv: 0 });
    const headers = { Authorization: `Bearer ${body.access_token}` };
    await send("GET", "/api/wallet", { headers }, environment);
    expect(hops).toEqual({ account: 3, d1: 0, kv: 0 });
    const { client_id = "" } = codeForm("");
    await post("/oauth/revoke", { token: body.refresh_token, client_id }, {}, environment);
    expect(hops).toEqual({ account: 4, d1: 0, kv: 0 });
  });

  it("metadata makes no call", async () => {
    const { environment, hops } = countedEnvironment();
    for (const name of [
      "oauth-authorization-server",
      "openid-configuration",
      "oauth-protected-resource",
    ]) {
      expect((await send("GET", `/.well-known/${name}`, {}, environment)).status).toBe(200);
    }
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
  });

  it("forged codes, refresh tokens and access tokens reach no object", async () => {
    const ada = await signIn();
    const code = await authorize(ada);
    const { access_token, refresh_token } = await connect(ada);
    const { environment, hops } = countedEnvironment();
    const settings = { ...environment };
    // Not the last letter: some of its bits belong to no byte.
    for (const at of [8, -3, -20, -60]) {
      const forge = (token: string): string => changed(token, at < 0 ? token.length + at : at);
      const answers = [
        await post("/oauth/token", codeForm(forge(code)), {}, settings),
        await post("/oauth/token", refreshForm(forge(refresh_token)), {}, settings),
        await send(
          "GET",
          "/api/wallet",
          { headers: { Authorization: `Bearer ${forge(access_token)}` } },
          settings,
        ),
        await send(
          "GET",
          "/oauth/userinfo",
          { headers: { Authorization: `Bearer ${forge(access_token)}` } },
          settings,
        ),
      ];
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 401, 401]);
    }
    expect(hops.account).toBe(0);
  });
});

describe("limits", () => {
  const full = { limit: async () => ({ success: false }) };

  it("a family or a network with too many requests waits, and its requests reach no object", async () => {
    const ada = await signIn();
    const code = await authorize(ada);
    const { refresh_token } = await connect(ada);
    const { environment, hops } = countedEnvironment();
    const busy = { ...environment, LIMIT_TOKEN_FAMILY: full };
    const guessing = { ...environment, LIMIT_CLIENT_FAILURE: full };
    for (const answer of [
      await post("/oauth/token", codeForm(code), {}, busy),
      await post("/oauth/token", refreshForm(refresh_token), {}, busy),
      await post("/oauth/token", codeForm("invented"), {}, guessing),
      await post("/oauth/token", refreshForm("invented"), {}, guessing),
    ]) {
      expect({ status: answer.status, error: answer.body.error }).toEqual({
        status: 429,
        error: "slow_down",
      });
      expect(answer.headers.get("Retry-After")).toBe("60");
    }
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
    expect((await refresh(refresh_token)).status).toBe(200);
  });
});

describe("what is stored", () => {
  it("a dump of the account and of the directory has no code, token or verifier", async () => {
    const ada = await signIn();
    const code = await authorize(ada);
    const { body } = await redeem(code);
    const { body: renewed } = await refresh(body.refresh_token);
    const tables = await query<{ name: string }>(
      ada.identity_id,
      "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'",
    );
    const rows = await Promise.all(
      tables.map(({ name }) => query(ada.identity_id, `select * from "${name}"`)),
    );
    const text = JSON.stringify(rows) + (await dump(ada.identity_id));
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["token_families", "codes", "allowances"]),
    );
    const secrets = [code, body, renewed].flatMap((it) =>
      typeof it === "string"
        ? [it]
        : [it.access_token as string, it.refresh_token as string, it.id_token as string],
    );
    for (const secret of secrets) {
      expect(text).not.toContain(secret);
      // The part that nobody can guess: a signature, a MAC or random bits.
      for (const part of secret.split(".").filter((it) => it.length >= 40)) {
        expect(text).not.toContain(part);
      }
    }
    expect(text).toContain(decodeJwt(body.access_token.slice("pb_at_".length)).jti?.split(":")[1]);
  });
});
