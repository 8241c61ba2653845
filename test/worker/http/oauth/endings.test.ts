import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { HOLDER } from "../../../../src/account/contract.ts";
import { passTime } from "../../support/clock.ts";
import { exchange } from "../../support/exchanges.ts";
import { authorize, connect, redeem, refresh, withToken } from "../../support/oauth_clients.ts";
import { signIn, type SignedIn } from "../../support/passbook.ts";

const DAY_MS = 86_400_000;

const accountOf = ({ identity_id }: SignedIn) => env.ACCOUNT.getByName(identity_id);
const sessionOf = ({ token }: SignedIn): string => decodeJwt<{ sid: string }>(token).sid;

async function revoke(person: SignedIn): Promise<void> {
  const listed = await accountOf(person).listAllowances(HOLDER);
  if (!listed.ok) throw new Error("not listed");
  for (const { id } of listed.value) await accountOf(person).revokeAllowance(HOLDER, { id });
}

/** What ends an authorization, and what its client learns at the token endpoint and at the API. */
const ENDINGS: readonly [string, (ada: SignedIn) => unknown, string, number, string][] = [
  ["the holder revokes the connection", revoke, "ended the connection", 401, "unauthorized"],
  [
    "the holder signs out everywhere and ends all tokens",
    (ada) => accountOf(ada).revokeAllAllowances(),
    "ended the connection",
    401,
    "unauthorized",
  ],
  [
    "the sign-in method that approved it is unlinked",
    (ada) => accountOf(ada).revokeApprovedBy({ kind: "signin_method", signin_method: "dev" }),
    "ended",
    401,
    "unauthorized",
  ],
  ["the account is suspended", (ada) => accountOf(ada).suspend(), "suspended", 403, "suspended"],
  [
    "the account is deleted",
    (ada) => accountOf(ada).deleteAccount(HOLDER),
    "deleted",
    401,
    "unauthorized",
  ],
  ["it expires", () => passTime(DAY_MS), "expired", 401, "token_expired"],
];

describe("the end of an authorization", () => {
  it.each(ENDINGS)(
    "after %s, its tokens are refused, and each endpoint gives the reason",
    async (_, end, reason, status, code) => {
      const ada = await signIn();
      const limits = { app_slugs: null, caps: [], expires_at_ms: Date.now() + DAY_MS };
      const tokens = await connect(ada, { limits });
      const unredeemed = await authorize(ada, { limits: null });
      await end(ada);
      const refreshed = await refresh(tokens.refresh_token);
      expect(refreshed.status).toBe(400);
      expect(refreshed.body).toEqual({
        error: "invalid_grant",
        error_description: expect.stringContaining(reason),
      });
      const redeemed = await redeem(unredeemed);
      expect({ status: redeemed.status, error: redeemed.body.error }).toEqual({
        status: 400,
        error: "invalid_grant",
      });
      const wallet = await withToken(tokens.access_token, "GET", "/api/wallet");
      expect({ status: wallet.status, code: wallet.body.code }).toEqual({ status, code });
    },
  );

  it.each([
    ["signs out", (ada: SignedIn) => accountOf(ada).endSessions([sessionOf(ada)])],
    ["signs out everywhere", (ada: SignedIn) => accountOf(ada).endSessions("all")],
  ])(
    "when the person %s, authorizations of the session end and others stay",
    async (_, signOut) => {
      const ada = await signIn();
      const bound = await connect(ada, { session_ends_at_ms: Date.now() + 30 * DAY_MS });
      const offline = await connect(ada, { limits: null });
      await signOut(ada);
      expect((await withToken(bound.access_token, "GET", "/api/wallet")).status).toBe(401);
      const refused = await refresh(bound.refresh_token);
      expect(refused.body.error_description).toContain("signed out");
      expect((await withToken(offline.access_token, "GET", "/api/wallet")).status).toBe(200);
      expect((await refresh(offline.refresh_token)).status).toBe(200);
    },
  );

  it("an authorization ends with its session also when the session only expires", async () => {
    passTime(0);
    const ada = await signIn();
    const bound = await connect(ada, { session_ends_at_ms: Date.now() + 5 * 60_000 });
    // It lives longer than the session.
    const session_token = (await withToken(bound.access_token, "GET", "/api/sessionToken")).body;
    passTime(5 * 60_000);
    expect((await withToken(session_token.token, "GET", "/api/wallet")).status).toBe(401);
    expect((await withToken(bound.access_token, "GET", "/api/wallet")).status).toBe(401);
    expect((await refresh(bound.refresh_token)).status).toBe(400);
  });

  it("unlinking a sign-in method ends the authorizations through it, and not the connection that another method approved", async () => {
    const ada = await signIn();
    const first = await connect(ada);
    const second = await connect(ada, { limits: null, signin_method: "acme" });
    await accountOf(ada).revokeApprovedBy({ kind: "signin_method", signin_method: "acme" });
    expect((await refresh(second.refresh_token)).status).toBe(400);
    expect((await refresh(first.refresh_token)).status).toBe(200);
  });

  it("ending what a session approved ends its authorizations, and not the connection that another session approved", async () => {
    const ada = await signIn();
    const first = await connect(ada);
    const second = await connect(ada, { limits: null, session_id: "second" });
    await accountOf(ada).revokeApprovedBy({ kind: "session", session_id: "second" });
    expect((await refresh(second.refresh_token)).status).toBe(400);
    expect((await refresh(first.refresh_token)).status).toBe(200);
  });

  it("after a suspension ends, the tokens work again", async () => {
    const ada = await signIn();
    const tokens = await connect(ada);
    await accountOf(ada).suspend();
    expect((await refresh(tokens.refresh_token)).status).toBe(400);
    expect(await exchange(tokens.access_token)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant", error_description: expect.stringContaining("suspended") },
    });
    await accountOf(ada).restore();
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });
});
