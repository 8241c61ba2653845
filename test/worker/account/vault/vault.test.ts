import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { UpstreamTokens } from "../../../../src/oauth/upstream_tokens.ts";
import { connect, runOut, vaultOf } from "../../support/connected.ts";
import {
  fakeUpstream,
  holdBackSealing,
  PROVIDER,
  shortenTimeLimit,
  type FakeUpstream,
} from "../../support/upstream.ts";

/** Long enough for a busy machine. No test measures the time. */
const PATIENCE = { timeout: 20_000 };

let upstream: FakeUpstream;
beforeEach(() => {
  upstream = fakeUpstream();
});

const SOON = 30;
const LATER = 3600;
const PAST = -1;

/** The tokens of a later sign-in, for a provider that issues a refresh token only once. */
const withoutRefreshToken: UpstreamTokens = {
  provider: "acme",
  subject: "ada",
  issuer: PROVIDER.issuer,
  client_id: PROVIDER.client_id,
  linked_at_ms: 1,
  access_token: "access-again",
  refresh_token: null,
  expires_at_ms: 1,
  scope: null,
};

describe("handing out", () => {
  it("a token that is valid is returned without a call to the provider", async () => {
    const ada = await connect(upstream.grant(LATER));
    expect(await ada.oauthToken()).toMatchObject({
      status: 200,
      body: { token: upstream.access_tokens[0] },
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it("a token without an expiry is returned as it is", async () => {
    const ada = await connect(upstream.grant(null));
    expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[0] });
    expect(upstream.requests).toHaveLength(0);
  });

  it("a provider without tokens and an unknown provider are token_not_found", async () => {
    const ada = await connect(upstream.grant(LATER));
    for (const provider of ["other", "ACME", "acme%20", "..%2facme"]) {
      expect(await ada.oauthToken({}, provider)).toMatchObject({
        status: 404,
        body: { code: "token_not_found" },
      });
    }
  });

  it("an account never gets another account's upstream token", async () => {
    await connect(upstream.grant(LATER));
    const eve = await connect(null, "eve@example.com");
    expect(await eve.oauthToken()).toMatchObject({
      status: 404,
      body: { code: "token_not_found" },
    });
  });

  it("a valid token is still returned after its provider was removed from the settings", async () => {
    const ada = await connect(upstream.grant(SOON));
    const without = { SIGNIN_PROVIDERS: "[]" };
    expect((await ada.oauthToken(without)).body).toEqual({ token: upstream.access_tokens[0] });
    await ada.keep(upstream.grant(PAST));
    expect(await ada.oauthToken(without)).toMatchObject({
      status: 404,
      body: { code: "token_not_found" },
    });
  });

  it("a token that cannot be renewed is returned until it expires", async () => {
    const ada = await connect({ ...upstream.grant(SOON), refresh_token: null });
    expect((await ada.oauthToken()).status).toBe(200);
    await ada.keep({ ...upstream.grant(PAST), subject: "other", refresh_token: null });
    expect(await ada.oauthToken()).toMatchObject({
      status: 404,
      body: { code: "reconnect_required" },
    });
    expect(upstream.requests).toHaveLength(0);
  });
});

describe("renewing", () => {
  it("a token is renewed within a minute of its expiry, as RFC 6749 specifies", async () => {
    const ada = await connect(upstream.grant(SOON));
    expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[1] });
    const [request] = upstream.requests;
    expect(request).toEqual({
      authorization: `Basic ${btoa(`${PROVIDER.client_id}:${PROVIDER.client_secret}`)}`,
      form: { grant_type: "refresh_token", refresh_token: upstream.refresh_tokens[0] },
    });
    expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[1] });
    expect(upstream.requests).toHaveLength(1);
  });

  it("20 concurrent calls cause one renewal, again and again", async () => {
    const ada = await connect(upstream.grant(PAST));
    for (const round of [1, 2, 3]) {
      const release = upstream.holdBack();
      const calls = Array.from({ length: 20 }, () => ada.oauthToken());
      await vi.waitFor(() => expect(upstream.requests).toHaveLength(round), PATIENCE);
      release();
      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
      const tokens = new Set(answers.map(({ body }) => body.token));
      expect([...tokens]).toEqual([upstream.access_tokens[round]]);
      expect(upstream.requests).toHaveLength(round);
      expect(upstream.revoked).toBe(false);
      await runOut(ada);
    }
  });

  it("a rotated refresh token is used after an eviction", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ expires_in: SOON });
    for (const round of [1, 2, 3]) {
      expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[round] });
      await evictDurableObject(env.ACCOUNT.getByName(ada.identity_id));
    }
    expect(upstream.revoked).toBe(false);
  });

  it("the refresh token is kept if the provider gives no new one", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ refresh_token: undefined, expires_in: SOON });
    expect((await ada.oauthToken()).status).toBe(200);
    expect((await ada.oauthToken()).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
    expect(upstream.revoked).toBe(false);
  });

  it("a renewed token without an expiry does not expire", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ expires_in: undefined });
    await ada.oauthToken();
    await ada.oauthToken();
    expect(upstream.requests).toHaveLength(1);
  });

  it("a rotated refresh token is stored even if the ID token next to it is bad", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ id_token: "not.an.id-token" });
    expect((await ada.oauthToken()).status).toBe(200);
  });

  it("a slow provider delays neither the wallet nor other providers", async () => {
    const ada = await connect(upstream.grant(PAST));
    await ada.keep({ ...upstream.grant(LATER), provider: "other" });
    await ada.keep(upstream.grant(PAST));
    const release = upstream.holdBack();
    const waiting = ada.oauthToken();
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    expect((await ada.get("/api/wallet")).status).toBe(200);
    expect((await ada.oauthToken({}, "other")).status).toBe(200);
    release();
    expect((await waiting).status).toBe(200);
  });
});

describe("a provider that fails", () => {
  const failures: Record<string, () => Response | Promise<Response>> = {
    "cannot be reached": () => Promise.reject(new TypeError("connection refused")),
    "answers 503": () => new Response("busy", { status: 503 }),
    "answers 500 with the word invalid_grant": () =>
      Response.json({ error: "invalid_grant" }, { status: 500 }),
    "answers something else than JSON": () => new Response("<html>"),
    "answers JSON without a token": () => Response.json({ token_type: "Bearer" }),
    "answers too much": () => new Response("x".repeat(300_000)),
    redirects: () => Response.redirect("https://elsewhere.test/token", 307),
    "does not know our client": () => Response.json({ error: "invalid_client" }, { status: 401 }),
  };
  for (const [how, answer] of Object.entries(failures)) {
    it(`a provider that ${how} is 502, and the next try works`, async () => {
      const log = vi.spyOn(console, "warn").mockReturnValue();
      const ada = await connect(upstream.grant(PAST));
      upstream.answerNext(answer);
      expect(await ada.oauthToken()).toMatchObject({
        status: 502,
        body: { error: expect.any(String), code: "upstream_unavailable" },
      });
      expect(upstream.requests).toHaveLength(1);
      expect(log).toHaveBeenCalledOnce();
      expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[1] });
    });
  }

  it("a provider that never responds is 502", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await connect(upstream.grant(PAST));
    shortenTimeLimit();
    upstream.holdBack();
    expect(await ada.oauthToken()).toMatchObject({
      status: 502,
      body: { code: "upstream_unavailable", upstream_status: null },
    });
  });

  it("a failed renewal fails all calls that wait for it, and no later call", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await connect(upstream.grant(PAST));
    const repair = upstream.breakDown();
    const release = upstream.holdBack();
    const calls = Array.from({ length: 5 }, () => ada.oauthToken());
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    release();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(5).fill(502));
    repair();
    expect((await ada.oauthToken()).status).toBe(200);
  });
});

describe("a grant that is over", () => {
  const words: Record<string, () => Response> = {
    "the standard says it": () => Response.json({ error: "invalid_grant" }, { status: 400 }),
    "GitHub says it": () => Response.json({ error: "bad_refresh_token" }),
    "X says it": () =>
      Response.json(
        {
          error: "invalid_request",
          error_description: "Value passed for the token was invalid.",
        },
        { status: 400 },
      ),
  };
  for (const [how, answer] of Object.entries(words)) {
    it(`a refused refresh token is reconnect_required, as ${how}`, async () => {
      vi.spyOn(console, "warn").mockReturnValue();
      const ada = await connect(upstream.grant(PAST));
      upstream.answerNext(answer);
      expect(await ada.oauthToken()).toMatchObject({
        status: 404,
        body: { code: "reconnect_required" },
      });
    });
  }

  it("a refused refresh token is not tried again at once, and never after a new sign-in", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await connect(upstream.grant(PAST));
    upstream.revoke();
    for (let call = 0; call < 3; call += 1) {
      expect((await ada.oauthToken()).body.code).toBe("reconnect_required");
    }
    expect(upstream.requests).toHaveLength(1);
    const renewed = upstream.grant(LATER);
    await ada.keep(renewed);
    expect((await ada.oauthToken()).body).toEqual({ token: renewed.access_token });
  });

  it("a refused refresh token is kept, and works again if the provider accepts it later", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await connect(upstream.grant(PAST));
    upstream.answerNext(() => Response.json({ error: "invalid_grant" }, { status: 400 }));
    expect((await ada.oauthToken()).status).toBe(404);
    await evictDurableObject(env.ACCOUNT.getByName(ada.identity_id));
    expect((await ada.oauthToken()).status).toBe(200);
  });
});

describe("signing in again", () => {
  it("a sign-in replaces the stored tokens, even those of another subject", async () => {
    const ada = await connect(upstream.grant(LATER));
    await ada.keep({ ...upstream.grant(LATER), subject: "ada-the-second" });
    expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[1] });
  });

  it("a sign-in without a refresh token keeps the stored one of the same subject", async () => {
    const ada = await connect(upstream.grant(LATER));
    await ada.keep(withoutRefreshToken);
    expect((await ada.oauthToken()).status).toBe(200);
    await ada.keep({ ...withoutRefreshToken, subject: "another" });
    expect((await ada.oauthToken()).body.code).toBe("reconnect_required");
  });

  it("a sign-in during a renewal keeps the refresh token that the renewal brings", async () => {
    const ada = await connect(upstream.grant(PAST));
    const release = upstream.holdBack();
    const waiting = ada.oauthToken();
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    await ada.keepMeanwhile(withoutRefreshToken, release);
    expect((await waiting).status).toBe(200);
    expect((await ada.oauthToken()).status).toBe(200);
    expect(upstream.revoked).toBe(false);
  });

  it("a sign-in keeps the renewed refresh token even if the renewal starts while the sign-in is sealed", async () => {
    const ada = await connect(upstream.grant(PAST));
    const sealing = holdBackSealing();
    const again = ada.keep(withoutRefreshToken);
    await vi.waitFor(() => expect(sealing.hasBegun()).toBe(true), PATIENCE);
    const release = upstream.holdBack();
    const waiting = ada.oauthToken();
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    // A second sealing in the same account ensures that the first ends before the provider responds.
    await ada.keepMeanwhile({ ...withoutRefreshToken, provider: "other" }, sealing.release);
    release();
    await again;
    expect((await waiting).status).toBe(200);
    expect((await ada.oauthToken()).status).toBe(200);
    expect(upstream.revoked).toBe(false);
  });

  it("a renewal under way does not overwrite the tokens of a newer sign-in", async () => {
    const ada = await connect(upstream.grant(PAST));
    const release = upstream.holdBack();
    const waiting = ada.oauthToken();
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    const newest = { ...upstream.grant(LATER), access_token: "access-newest" };
    await ada.keep(newest);
    upstream.answerNext(() =>
      Response.json({ access_token: "stale", token_type: "Bearer", expires_in: LATER }),
    );
    release();
    expect((await waiting).body).toEqual({ token: "access-newest" });
    expect((await ada.oauthToken()).body).toEqual({ token: "access-newest" });
  });
});

describe("forgetting", () => {
  it("after unlinking, nothing is stored, even if a renewal was under way", async () => {
    const ada = await connect(upstream.grant(PAST));
    const release = upstream.holdBack();
    const waiting = ada.oauthToken();
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    await vaultOf().forget(ada.identity_id, "acme", 1);
    release();
    expect((await waiting).body.code).toBe("token_not_found");
    expect((await ada.oauthToken()).body.code).toBe("token_not_found");
  });
});

describe("what was unlinked twice", () => {
  it("after two unlinks, the later one decides which tokens are dropped, in either order", async () => {
    const ada = await connect(null);
    const account = env.ACCOUNT.getByName(ada.identity_id);
    await account.forgetUpstreamTokens("acme", 200);
    await account.forgetUpstreamTokens("acme", 100);
    const keys = JSON.parse(env.ENCRYPTION_KEYS).keys;
    const lasting = { ...withoutRefreshToken, expires_at_ms: null };
    for (const linked_at_ms of [150, 200]) {
      await account.keepUpstreamTokens({ ...lasting, linked_at_ms }, keys);
      expect((await ada.oauthToken()).status).toBe(404);
    }
    await account.keepUpstreamTokens({ ...lasting, linked_at_ms: 201 }, keys);
    expect((await ada.oauthToken()).status).toBe(200);
  });
});
