import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { UpstreamTokens } from "../../../src/oauth/upstream_tokens.ts";
import { connect, runOut, vaultOf } from "../support/connected.ts";
import {
  fakeUpstream,
  holdBackSealing,
  PROVIDER,
  shortenTimeLimit,
  type FakeUpstream,
} from "../support/upstream.ts";

/** Long enough for a busy machine; nothing is concluded from how long it took. */
const PATIENCE = { timeout: 20_000 };

let upstream: FakeUpstream;
beforeEach(() => {
  upstream = fakeUpstream();
});

const SOON = 30;
const LATER = 3600;
const PAST = -1;

/** What a later sign-in brings where the provider gives refresh tokens only once. */
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
  it("gives the token as it is while it lasts, and asks nobody", async () => {
    const ada = await connect(upstream.grant(LATER));
    expect(await ada.oauthToken()).toMatchObject({
      status: 200,
      body: { token: upstream.access_tokens[0] },
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it("gives a token without an end as it is", async () => {
    const ada = await connect(upstream.grant(null));
    expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[0] });
    expect(upstream.requests).toHaveLength(0);
  });

  it("answers token_not_found where nothing is held, and for words that are no provider", async () => {
    const ada = await connect(upstream.grant(LATER));
    for (const provider of ["other", "ACME", "acme%20", "..%2facme"]) {
      expect(await ada.oauthToken({}, provider)).toMatchObject({
        status: 404,
        body: { code: "token_not_found" },
      });
    }
  });

  it("gives one account nothing of another", async () => {
    await connect(upstream.grant(LATER));
    const eve = await connect(null, "eve@example.com");
    expect(await eve.oauthToken()).toMatchObject({
      status: 404,
      body: { code: "token_not_found" },
    });
  });

  it("goes on handing out what lasts after the provider left the settings", async () => {
    const ada = await connect(upstream.grant(SOON));
    const without = { SIGNIN_PROVIDERS: "[]" };
    expect((await ada.oauthToken(without)).body).toEqual({ token: upstream.access_tokens[0] });
    await ada.keep(upstream.grant(PAST));
    expect(await ada.oauthToken(without)).toMatchObject({
      status: 404,
      body: { code: "token_not_found" },
    });
  });

  it("hands out a token that cannot be renewed until it runs out", async () => {
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
  it("renews a token within a minute of its end, as RFC 6749 asks", async () => {
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

  it("renews once for 20 callers at the same time, round after round", async () => {
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

  it("goes on with the rotated refresh token after an eviction", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ expires_in: SOON });
    for (const round of [1, 2, 3]) {
      expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[round] });
      await evictDurableObject(env.ACCOUNT.getByName(ada.identity_id));
    }
    expect(upstream.revoked).toBe(false);
  });

  it("keeps the refresh token where the provider gives no new one", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ refresh_token: undefined, expires_in: SOON });
    expect((await ada.oauthToken()).status).toBe(200);
    expect((await ada.oauthToken()).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
    expect(upstream.revoked).toBe(false);
  });

  it("takes a renewed token without an end as lasting", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ expires_in: undefined });
    await ada.oauthToken();
    await ada.oauthToken();
    expect(upstream.requests).toHaveLength(1);
  });

  it("loses no rotated refresh token to a bad ID token beside it", async () => {
    const ada = await connect(upstream.grant(PAST));
    upstream.amendAnswers({ id_token: "not.an.id-token" });
    expect((await ada.oauthToken()).status).toBe(200);
  });

  it("holds up neither money nor other providers while a provider is slow", async () => {
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
    it(`is 502 where it ${how}, and the next try works`, async () => {
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

  it("is 502 where it never answers", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await connect(upstream.grant(PAST));
    shortenTimeLimit();
    upstream.holdBack();
    expect(await ada.oauthToken()).toMatchObject({
      status: 502,
      body: { code: "upstream_unavailable", upstream_status: null },
    });
  });

  it("fails all who wait for the same try, and none who come after", async () => {
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
    it(`is reconnect_required, as ${how}`, async () => {
      vi.spyOn(console, "warn").mockReturnValue();
      const ada = await connect(upstream.grant(PAST));
      upstream.answerNext(answer);
      expect(await ada.oauthToken()).toMatchObject({
        status: 404,
        body: { code: "reconnect_required" },
      });
    });
  }

  it("is not asked for again at once, and never after a new sign-in", async () => {
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

  it("destroys nothing: what the provider takes back works again", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const ada = await connect(upstream.grant(PAST));
    upstream.answerNext(() => Response.json({ error: "invalid_grant" }, { status: 400 }));
    expect((await ada.oauthToken()).status).toBe(404);
    await evictDurableObject(env.ACCOUNT.getByName(ada.identity_id));
    expect((await ada.oauthToken()).status).toBe(200);
  });
});

describe("signing in again", () => {
  it("replaces what was held, also for another subject", async () => {
    const ada = await connect(upstream.grant(LATER));
    await ada.keep({ ...upstream.grant(LATER), subject: "ada-the-second" });
    expect((await ada.oauthToken()).body).toEqual({ token: upstream.access_tokens[1] });
  });

  it("keeps the refresh token of the same subject where it brings none", async () => {
    const ada = await connect(upstream.grant(LATER));
    await ada.keep(withoutRefreshToken);
    expect((await ada.oauthToken()).status).toBe(200);
    await ada.keep({ ...withoutRefreshToken, subject: "another" });
    expect((await ada.oauthToken()).body.code).toBe("reconnect_required");
  });

  it("keeps the one a renewal under way brings, not the one it uses up", async () => {
    const ada = await connect(upstream.grant(PAST));
    const release = upstream.holdBack();
    const waiting = ada.oauthToken();
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    await ada.keepMeanwhile(withoutRefreshToken, release);
    expect((await waiting).status).toBe(200);
    expect((await ada.oauthToken()).status).toBe(200);
    expect(upstream.revoked).toBe(false);
  });

  it("does so also where the renewal starts while it is being sealed", async () => {
    const ada = await connect(upstream.grant(PAST));
    const sealing = holdBackSealing();
    const again = ada.keep(withoutRefreshToken);
    await vi.waitFor(() => expect(sealing.begun()).toBe(true), PATIENCE);
    const release = upstream.holdBack();
    const waiting = ada.oauthToken();
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), PATIENCE);
    // One more seal in the same account, so that the first has ended before the provider answers.
    await ada.keepMeanwhile({ ...withoutRefreshToken, provider: "other" }, sealing.release);
    release();
    await again;
    expect((await waiting).status).toBe(200);
    expect((await ada.oauthToken()).status).toBe(200);
    expect(upstream.revoked).toBe(false);
  });

  it("is not undone by a renewal that was under way", async () => {
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
  it("holds nothing afterwards, also where a renewal was under way", async () => {
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
  it("is dropped by the later of the two, in whatever order they are told", async () => {
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
