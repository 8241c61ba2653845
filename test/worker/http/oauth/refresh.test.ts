import { env } from "cloudflare:workers";
import { base64url, decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { query } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { exchange } from "../../support/exchanges.ts";
import {
  authorize,
  connect,
  post,
  redeem,
  refresh,
  RESOURCE,
  withToken,
  type Tokens,
} from "../../support/oauth_clients.ts";
import { forgetEnvironments, signIn, type SignedIn } from "../../support/passbook.ts";
import { openResource, registerResource } from "../../support/registrations.ts";
import { openAppServer } from "../caller/app_server.ts";

const HOUR_MS = 3_600_000;

async function generation({ identity_id }: SignedIn): Promise<number> {
  const rows = await query<{ generation: number }>(
    identity_id,
    "select generation from token_families",
  );
  return rows[0]?.generation ?? 0;
}

const walletStatus = async ({ access_token }: Tokens): Promise<number> =>
  (await withToken(access_token, "GET", "/api/wallet")).status;

describe("refresh tokens", () => {
  it("20 concurrent refreshes with one token get 20 equal responses, and rotate it once", async () => {
    const ada = await signIn();
    const { refresh_token } = await connect(ada);
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await generation(ada)).toBe(2);
    passTime(59_000);
    expect((await refresh(refresh_token)).text).toBe(answers[0]?.text);
    const next = await refresh(answers[0]?.body.refresh_token);
    expect(next.status).toBe(200);
    expect(next.body.refresh_token).not.toBe(answers[0]?.body.refresh_token);
    expect(await generation(ada)).toBe(3);
  });

  it("a response that repeats another one writes nothing, and a rotation writes one row", async () => {
    const ada = await signIn();
    const { refresh_token } = await connect(ada);
    const rows = () => query(ada.identity_id, "select * from token_families");
    await refresh(refresh_token);
    const before = await rows();
    await refresh(refresh_token);
    expect(await rows()).toEqual(before);
  });

  it("a refresh whose response is lost is repeated hours later, with an access token that is still valid", async () => {
    const ada = await signIn();
    const { refresh_token } = await connect(ada);
    const lost = (await refresh(refresh_token)).body;
    for (const [wait_ms, is_same] of [
      [61_000, true],
      [460_000, true],
      [HOUR_MS, false],
      [22 * HOUR_MS, false],
    ] as const) {
      passTime(wait_ms);
      const { body } = await refresh(refresh_token);
      expect(body.refresh_token).toBe(lost.refresh_token);
      expect(body.access_token === lost.access_token).toBe(is_same);
      const { exp = 0 } = decodeJwt(body.access_token.slice("pb_at_".length));
      const left_seconds = exp - Math.floor(Date.now() / 1000);
      expect(body.expires_in).toBeGreaterThan(0);
      expect(body.expires_in).toBeLessThanOrEqual(left_seconds);
      expect(await generation(ada)).toBe(2);
    }
    const { body: last } = await refresh(refresh_token);
    expect(await walletStatus(last)).toBe(200);
    expect((await refresh(refresh_token)).status).toBe(400);
  });

  it("a refresh whose response is lost is not repeated after a day", async () => {
    const { refresh_token } = await connect(await signIn());
    const lost = (await refresh(refresh_token)).body;
    passTime(24 * HOUR_MS);
    expect((await refresh(refresh_token)).body.error).toBe("invalid_grant");
    expect((await refresh(lost.refresh_token)).body.error).toBe("invalid_grant");
  });

  it.each<[string, (newer: Tokens) => Promise<unknown>]>([
    ["an API request", walletStatus],
    ["a refresh", ({ refresh_token }) => refresh(refresh_token)],
    ["userinfo", ({ access_token }) => withToken(access_token, "GET", "/oauth/userinfo")],
    ["an exchange of the access token", ({ access_token }) => exchange(access_token)],
    ["an exchange of the refresh token", ({ refresh_token }) => exchange(refresh_token, {})],
    ["a session token", ({ access_token }) => withToken(access_token, "GET", "/api/sessionToken")],
  ])("once %s used a newer token, the one before it ends its family", async (_, use) => {
    const first = await connect(await signIn(), { scopes: ["openid", "offline_access", "write"] });
    const second = (await refresh(first.refresh_token)).body;
    expect(await walletStatus(first)).toBe(200);
    expect((await refresh(first.refresh_token)).body).toEqual(second);
    await use(second);
    const late = await refresh(first.refresh_token);
    expect(late).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect((await refresh(second.refresh_token)).status).toBe(400);
    expect(await walletStatus(second)).toBe(401);
  });

  it("a resource's introspection uses a token, so that the refresh token before it ends the family", async () => {
    const { key } = await openAppServer("demo");
    await registerResource("demo", "mcp", RESOURCE);
    forgetEnvironments();
    const first = await connect(await signIn(), { resource: RESOURCE, scopes: ["tools"] });
    const { access_token } = (await refresh(first.refresh_token)).body;
    const headers = { Authorization: `Bearer ${key}` };
    const found = await post("/oauth/introspect", { token: access_token }, headers);
    expect(found.body.active).toBe(true);
    expect((await refresh(first.refresh_token)).body.error).toBe("invalid_grant");
  });

  it("the token before a used one ends its family, and no other family", async () => {
    const ada = await signIn();
    const stolen = await connect(ada);
    const sibling = await connect(ada);
    const { body: renewed } = await refresh(stolen.refresh_token);
    expect(await walletStatus(renewed)).toBe(200);
    const answer = await refresh(stolen.refresh_token);
    expect({ status: answer.status, error: answer.body.error }).toEqual({
      status: 400,
      error: "invalid_grant",
    });
    expect(answer.body.error_description).toContain("used before");
    expect(await walletStatus(renewed)).toBe(401);
    expect((await refresh(renewed.refresh_token)).status).toBe(400);
    expect(await walletStatus(sibling)).toBe(200);
    expect((await refresh(sibling.refresh_token)).status).toBe(200);
  });

  it("an older token than the one before ends the family at once", async () => {
    const tokens = await connect(await signIn());
    const second = (await refresh(tokens.refresh_token)).body;
    const third = (await refresh(second.refresh_token)).body;
    expect((await refresh(tokens.refresh_token)).status).toBe(400);
    expect((await refresh(third.refresh_token)).status).toBe(400);
    expect(await walletStatus(third)).toBe(401);
  });

  it.each([
    ["another client", { client_id: "https://other.example.com/oauth.json" }, "invalid_grant"],
    ["another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["our API as the resource", { resource: "http://passbook.localhost" }, "invalid_target"],
    ["more scopes", { scope: "openid upstream" }, "invalid_scope"],
  ])("a refresh with %s is refused and changes nothing", async (_, changed, error) => {
    const ada = await signIn();
    await openResource(RESOURCE);
    const { refresh_token } = await connect(ada, { resource: RESOURCE });
    const answer = await refresh(refresh_token, changed);
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status: 400, error });
    expect(await generation(ada)).toBe(1);
    expect((await refresh(refresh_token, { resource: RESOURCE })).status).toBe(200);
  });

  it("the refused scopes of a refresh are named, unknown ones too, and the permitted ones are not", async () => {
    const { refresh_token } = await connect(await signIn());
    const { body } = await refresh(refresh_token, { scope: 'openid wal"let upstream' });
    expect(body.error_description).toBe(
      "The token does not permit these scopes: wal?let upstream. Leave them out, or leave scope out.",
    );
  });

  it("after a resource is deleted, a minute later no tokens are issued for it", async () => {
    const ada = await signIn();
    await openResource(RESOURCE);
    const tokens = await connect(ada, { resource: RESOURCE });
    passTime(40_000);
    const code = await authorize(ada, { resource: RESOURCE });
    await env.DIRECTORY.exec("delete from resources");
    const { refresh_token } = (await refresh(tokens.refresh_token)).body;
    passTime(30_000);
    for (const answer of [
      await refresh(refresh_token),
      await redeem(code),
      await exchange(tokens.access_token),
      await exchange(tokens.access_token, { expires_in: 60 }),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    }
    expect(await query(ada.identity_id, "select id from allowances")).toHaveLength(1);
  });

  it("a refresh with fewer scopes gets a token with these only, and the refresh token keeps all", async () => {
    const ada = await signIn();
    const { refresh_token, scope } = await connect(ada);
    const narrow = (await refresh(refresh_token, { scope: "openid" })).body;
    expect(narrow.scope).toBe("openid");
    expect(await walletStatus(narrow)).toBe(403);
    const session = await withToken(narrow.access_token, "GET", "/api/sessionToken");
    expect((await withToken(session.body.token, "GET", "/api/wallet")).status).toBe(403);
    expect((await withToken(narrow.access_token, "GET", "/oauth/userinfo")).status).toBe(200);
    const wider = await exchange(narrow.access_token, null, { scope: "write" });
    expect(wider.body.error).toBe("invalid_scope");
    expect((await exchange(narrow.access_token, { expires_in: 60 })).body.scope).toBe("openid");
    const full = (await refresh(narrow.refresh_token)).body;
    expect(full.scope).toBe(scope);
    expect(await walletStatus(full)).toBe(200);
    const none = await refresh(full.refresh_token, { scope: " " });
    expect(none.body.error).toBe("invalid_scope");
    const writer = (await refresh(full.refresh_token, { scope: "write" })).body;
    expect(writer.id_token).toBeUndefined();
    expect((await withToken(writer.access_token, "GET", "/oauth/userinfo")).status).toBe(403);
  });

  it("a code and a refresh token show nobody whose they are", async () => {
    const ada = await signIn();
    const code = await authorize(ada);
    const { refresh_token } = (await redeem(code)).body;
    for (const text of [code, refresh_token]) {
      const bytes = base64url.decode(text.slice("pb_rt_".length));
      const all = `${text} ${new TextDecoder("latin1").decode(bytes)}`;
      expect(all).not.toContain(ada.identity_id);
      expect(all).not.toContain(ada.identity_id.replace("user_", ""));
    }
  });

  it("tokens of one response with other scopes have other ids", async () => {
    await openResource(RESOURCE);
    const { refresh_token } = await connect(await signIn(), {
      resource: RESOURCE,
      scopes: ["tools", "draw"],
    });
    const ids = new Set<string | undefined>();
    for (const scope of ["tools", "draw", "tools draw"]) {
      const { access_token } = (await refresh(refresh_token, { scope })).body;
      expect(decodeJwt(access_token)).toMatchObject({ scope });
      ids.add(decodeJwt(access_token).jti);
    }
    expect(ids.size).toBe(3);
  });

  it("a refresh brings a new ID token of the same sign-in, without the nonce", async () => {
    const ada = await signIn();
    const tokens = await connect(ada, { nonce: "n-1", auth_time_ms: 5_000 });
    passTime(5_000);
    const { body } = await refresh(tokens.refresh_token);
    const [first, second] = [tokens.id_token ?? "", body.id_token].map((it) => decodeJwt(it));
    expect(second).toMatchObject({ sub: first?.sub, aud: first?.aud, auth_time: 5 });
    expect(second?.iat).toBeGreaterThan(first?.iat ?? 0);
    expect(second).not.toHaveProperty("nonce");
  });

  it("an access token works for ten minutes, and expires_in is true even of a repeated response", async () => {
    const tokens = await connect(await signIn());
    passTime(599_000);
    expect(await walletStatus(tokens)).toBe(200);
    passTime(7_000);
    const late = await withToken(tokens.access_token, "GET", "/api/wallet");
    expect({ status: late.status, code: late.body.code }).toEqual({
      status: 401,
      code: "token_expired",
    });
    const { body } = await refresh(tokens.refresh_token);
    expect(body.expires_in).toBe(540);
    expect(await walletStatus(body)).toBe(200);
  });
});
