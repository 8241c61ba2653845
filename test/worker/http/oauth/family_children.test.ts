import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { expectInvariants } from "../../account/invariants.ts";
import { passTime } from "../../support/clock.ts";
import { exchange, narrow, total } from "../../support/exchanges.ts";
import {
  authorize,
  CLIENT_ID,
  connect,
  post,
  redeem,
  refresh,
  withToken,
  type Tokens,
} from "../../support/oauth_clients.ts";
import { signInWithCredits, type SignedIn } from "../../support/passbook.ts";
import { FAMILIES_PER_ALLOWANCE_MAX } from "../../../../src/domain/token_family.ts";

const DAY_MS = 86_400_000;

const revoke = ({ refresh_token }: Tokens) =>
  post("/oauth/revoke", { token: refresh_token, client_id: CLIENT_ID });

const walletStatus = async ({ access_token }: Tokens): Promise<number> =>
  (await withToken(access_token, "GET", "/api/wallet")).status;

const reserve = async ({ access_token }: Tokens, cost_estimate: number): Promise<string> => {
  const job = { app: "demo", action: "draw", cost_estimate };
  return (await withToken(access_token, "POST", "/api/jobs", job)).body.job_id;
};

/** What ends the token family of a connection, and nothing else of that connection. */
const ENDINGS: readonly [string, (ada: SignedIn, tokens: Tokens, code: string) => unknown][] = [
  [
    "an old refresh token is used again",
    async (_, { refresh_token }) => {
      await refresh((await refresh(refresh_token)).body.refresh_token);
      await refresh(refresh_token);
    },
  ],
  [
    "its code is used again",
    async (_, __, code) => {
      passTime(11_000);
      await redeem(code);
    },
  ],
  [
    "the person signs out",
    ({ identity_id, token }) =>
      env.ACCOUNT.getByName(identity_id).endSessions([decodeJwt<{ sid: string }>(token).sid]),
  ],
  ["the client revokes its refresh token", (_, tokens) => revoke(tokens)],
  [
    "the client has too many other families",
    async (ada) => {
      passTime(1_000);
      for (let count = 1; count < FAMILIES_PER_ALLOWANCE_MAX; count += 1) {
        await connect(ada, { limits: null });
      }
    },
  ],
];

describe("the end of the family that a token was exchanged from", () => {
  it.each(ENDINGS)(
    "when %s, the tokens that were exchanged from the family end, and their jobs give back to the root",
    async (_, end) => {
      const ada = await signInWithCredits();
      const sibling = await connect(ada);
      const code = await authorize(ada, { session_ends_at_ms: Date.now() + 30 * DAY_MS });
      const tokens = (await redeem(code)).body as Tokens;
      const child = await narrow(tokens.refresh_token, total(40));
      const grandchild = await narrow(child.refresh_token, total(30));
      const cousin = await narrow(sibling.refresh_token, total(20));
      const job_ids = [await reserve(child, 5), await reserve(grandchild, 7)];
      passTime(1_000);
      await refresh(sibling.refresh_token);
      await end(ada, tokens, code);
      for (const ended of [tokens, child, grandchild]) {
        expect(await walletStatus(ended)).toBe(401);
        expect((await refresh(ended.refresh_token)).body.error).toBe("invalid_grant");
      }
      for (const job_id of job_ids) {
        expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({ failure: "expired" });
      }
      expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
      expect(await walletStatus(cousin)).toBe(200);
      const { tokens: listed } = (await ada.getOwn("/api/tokens")).body;
      expect(listed).toHaveLength(2);
      await expectInvariants(ada.identity_id);
    },
  );

  it("a token that is exchanged from a stolen one cannot be renewed after the theft was noticed", async () => {
    const ada = await signInWithCredits();
    const tokens = await connect(ada);
    const stolen = await narrow(tokens.refresh_token, { apps: ["demo"] });
    const renewed = (await refresh(stolen.refresh_token)).body;
    const owner = (await refresh(tokens.refresh_token)).body;
    expect(await walletStatus(owner)).toBe(200);
    await refresh(tokens.refresh_token);
    expect(await walletStatus(owner)).toBe(401);
    expect((await refresh(renewed.refresh_token)).status).toBe(400);
    expect((await exchange(renewed.access_token, total(1))).status).toBe(400);
  });

  it("a child whose own refresh token is revoked gives its reserved credits back to its parent", async () => {
    const ada = await signInWithCredits();
    const tokens = await connect(ada);
    const child = await narrow(tokens.refresh_token, total(40));
    const job_id = await reserve(child, 5);
    expect((await revoke(child)).status).toBe(200);
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({ failure: "expired" });
    expect(await walletStatus(tokens)).toBe(200);
    expect((await ada.getOwn("/api/tokens")).body.tokens).toHaveLength(1);
    await expectInvariants(ada.identity_id);
  });
});
