import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { HOLDER } from "../../../../src/account/contract.ts";
import { FAMILIES_PER_ALLOWANCE_MAX } from "../../../../src/domain/token_family.ts";
import { countRowsWritten, query } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import { openResource } from "../../support/registrations.ts";
import {
  authorize,
  CLIENT_ID,
  connect,
  redeem,
  refresh,
  RESOURCE,
  withToken,
} from "../../support/oauth_clients.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../support/passbook.ts";

/** Settings that name the person as an operator. */
const OPERATED = { OPERATORS: "olga@example.com" };

const IN_A_DAY_MS = Date.now() + 86_400_000;
const DAILY = [{ credits: 50, period: "day" }] as const;

const limits = { app_slugs: null, caps: DAILY, expires_at_ms: IN_A_DAY_MS };

function find({ identity_id }: SignedIn, resource: string | null = null) {
  const request = { client_id: CLIENT_ID, resource, resource_app_slug: null };
  return env.ACCOUNT.getByName(identity_id).findConnection(HOLDER, request);
}

const reserve = (access_token: string, cost_estimate: number) =>
  withToken(access_token, "POST", "/api/jobs", { app: "demo", action: "draw", cost_estimate });

describe("a connection", () => {
  it("authorizing a client twice adds no second allowance, and both authorizations share one cap", async () => {
    const ada = await signInWithCredits();
    const first = await connect(ada, { limits });
    const second = await connect(ada, { limits: null });
    expect((await reserve(first.access_token, 30)).status).toBe(200);
    const refused = await reserve(second.access_token, 30);
    expect(refused.status).toBe(402);
    expect(refused.body).toMatchObject({ code: "token_budget_exceeded", room: 20 });
    expect(await query(ada.identity_id, "select id from allowances")).toHaveLength(1);
    expect(await query(ada.identity_id, "select id from token_families")).toHaveLength(2);
  });

  it("a connection is last used when its tokens are, or when they are renewed, which writes one row", async () => {
    const ada = await signInWithCredits();
    const lastUse = async (): Promise<number | null> => {
      const { last_used_at } = (await ada.getOwn("/api/tokens")).body.tokens[0];
      return last_used_at === null ? null : Date.parse(last_used_at);
    };
    const { access_token, refresh_token } = await connect(ada);
    await connect(ada, { limits: null });
    expect(await lastUse()).toBeNull();
    passTime(60_000);
    const renewed_at_ms = Date.now();
    const rows_written = await countRowsWritten(ada.identity_id);
    await refresh(refresh_token);
    expect(rows_written()).toBe(1);
    expect(await lastUse()).toBe(renewed_at_ms);
    passTime(60_000);
    await withToken(access_token, "GET", "/api/wallet");
    expect(await lastUse()).toBe(Date.now());
  });

  it("a second consent changes the limits of the same allowance, and its spending stays", async () => {
    const ada = await signInWithCredits();
    const first = await connect(ada, { limits, scopes: ["write"] });
    await reserve(first.access_token, 30);
    const caps = [{ credits: 70, period: "day" }] as const;
    const second = await connect(ada, { limits: { ...limits, caps }, scopes: ["read", "openid"] });
    const found = await find(ada);
    expect(found).toMatchObject({
      ok: true,
      value: {
        app_slugs: null,
        scopes: ["write", "read", "openid"],
        caps: [{ credits: 70, period: "day", spent: 30 }],
      },
    });
    // Each authorization has its own scopes.
    expect((await reserve(second.access_token, 1)).body.code).toBe("scope");
    expect((await reserve(first.access_token, 40)).status).toBe(200);
    expect((await reserve(first.access_token, 1)).status).toBe(402);
  });

  it("a remembered consent covers only what the holder agreed to", async () => {
    const ada = await signIn();
    const request = { limits: null, scopes: ["read"] };
    await expect(authorize(ada, request)).rejects.toThrow('"value":null');
    await connect(ada, { limits, scopes: ["read"] });
    await expect(authorize(ada, { ...request, scopes: ["write"] })).rejects.toThrow('"value":null');
    await expect(authorize(ada, { ...request, resource: RESOURCE })).rejects.toThrow(
      '"value":null',
    );
    expect((await redeem(await authorize(ada, request))).status).toBe(200);
  });

  it("each resource and each client has its own connection", async () => {
    const ada = await signIn();
    await openResource(RESOURCE);
    await connect(ada);
    expect(await find(ada, RESOURCE)).toEqual({ ok: true, value: null });
    await connect(ada, { resource: RESOURCE });
    await connect(ada, { client_id: "https://other.example.com/oauth.json" });
    expect(await query(ada.identity_id, "select id from allowances")).toHaveLength(3);
  });

  it("a connection to a resource without scopes has no scopes", async () => {
    const ada = await signIn();
    await openResource(RESOURCE);
    await connect(ada, { resource: RESOURCE, scopes: [] });
    expect((await ada.getOwn("/api/tokens")).body.tokens).toMatchObject([{ scopes: [] }]);
  });

  it("only the holder's session connects clients", async () => {
    const ada = await signIn();
    await connect(ada);
    const [family] = await query<{ id: string }>(ada.identity_id, "select id from token_families");
    const credential = {
      kind: "family",
      family_id: family?.id ?? "",
      generation: 1,
      scopes: "all",
    } as const;
    const connected = await env.ACCOUNT.getByName(ada.identity_id).authorizeClient(
      { kind: "allowance", credential },
      {
        client_id: CLIENT_ID,
        client_host: null,
        client_name: "A client",
        redirect_uri: "https://client.example.com/callback",
        scopes: ["write"],
        resource: null,
        resource_app_slug: null,
        limits,
        code_challenge: null,
        needs_assertion: false,
        nonce: null,
        auth_time_ms: 0,
        session_id: "s",
        signin_method: null,
        session_ends_at_ms: null,
        code_hash: "h",
      },
    );
    expect(connected).toEqual({ ok: false, refusal: { code: "scope", reason: "holder_only" } });
  });

  it("a client whose resource has a scope admin does not operate the service", async () => {
    const person = await signIn("olga@example.com");
    const { access_token } = await connect(person, { scopes: ["admin", "write"] });
    const headers = { Authorization: `Bearer ${access_token}` };
    const answer = await send("GET", "/api/admin/apps", { headers }, OPERATED);
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 403,
      code: "not_operator",
    });
    expect((await withToken(access_token, "GET", "/api/wallet")).status).toBe(200);
  });

  it("the download of a person's data names each authorization, without tokens and nonces", async () => {
    const ada = await signIn();
    await connect(ada, { scopes: ["openid", "read"], nonce: "n-0S6", auth_time_ms: 5_000 });
    const headers = { Cookie: ada.cookies, Accept: "text/html" };
    const { body, text } = await send("GET", "/account/data.json", { headers });
    expect(body.authorizations).toEqual([
      {
        personal_token_id: body.personal_tokens[0].id,
        scopes: ["openid", "read"],
        redirect_uri: "https://client.example.com/callback",
        signed_in_at: "1970-01-01T00:00:05.000Z",
        refreshed_at: expect.any(String),
      },
    ]);
    expect(text).not.toContain("n-0S6");
  });

  it("one authorization more than the maximum ends the one that was unused for the longest time", async () => {
    const ada = await signIn();
    const [oldest, used] = [await connect(ada), await connect(ada)];
    passTime(1_000);
    const renewed = (await refresh(used.refresh_token)).body;
    for (let count = 2; count <= FAMILIES_PER_ALLOWANCE_MAX; count += 1) await connect(ada);
    expect((await refresh(oldest.refresh_token)).status).toBe(400);
    expect((await refresh(renewed.refresh_token)).status).toBe(200);
  });

  it("unredeemed authorizations do not push out one that is in use", async () => {
    const ada = await signIn();
    const used = await connect(ada);
    for (let count = 0; count < 2 * FAMILIES_PER_ALLOWANCE_MAX; count += 1) await authorize(ada);
    expect((await refresh(used.refresh_token)).status).toBe(200);
  });

  it("an authorization whose code is never redeemed leaves no rows behind", async () => {
    const ada = await signIn();
    await authorize(ada);
    passTime(25 * 3_600_000);
    await connect(ada);
    expect(await query(ada.identity_id, "select id from token_families")).toHaveLength(1);
    expect(await query(ada.identity_id, "select code_hash from codes")).toHaveLength(1);
  });
});
