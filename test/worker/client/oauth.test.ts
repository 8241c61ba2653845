/** Rules of the OAuth client, against scripted responses. `test/worker/oauth` tests it against the service. */
import { describe, expect, it, vi } from "vitest";
import {
  createOAuthClient,
  type ConnectionTokens,
  type OAuthFetch,
} from "../../../src/client/oauth/index.ts";

const SERVICE = "https://passbook.example.com";
const BACK = "https://draw.example.com/callback";

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly form: URLSearchParams;
}

type Reply = () => Response | Promise<Response>;

/** A service that gives these responses in turn. */
function serviceOf(...replies: readonly Reply[]) {
  const sent: Sent[] = [];
  const fetch: OAuthFetch = async (url, init) => {
    const body = typeof init.body === "string" ? init.body : "";
    sent.push({ url, headers: new Headers(init.headers), form: new URLSearchParams(body) });
    const reply = replies[sent.length - 1];
    if (reply === undefined) throw new Error(`unexpected request to ${url}`);
    return reply();
  };
  const options = { baseUrl: SERVICE, clientId: "draw~web", redirectUri: BACK, fetch };
  return { sent, options, oauth: createOAuthClient(options) };
}

const failing: Reply = () => Promise.reject(new TypeError("fetch failed"));

function tokens(access_token: string, more: object = {}): Reply {
  const body = {
    access_token,
    token_type: "Bearer",
    expires_in: 600,
    scope: "read write",
    ...more,
  };
  return () => Response.json(body);
}

function idToken(claims: object): string {
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: SERVICE, aud: "draw~web", sub: "ada", exp: now + 600, ...claims };
  return `e30.${btoa(JSON.stringify(all))}.signature`;
}

function stored(more: Partial<ConnectionTokens> = {}): ConnectionTokens {
  return {
    access_token: "access-1",
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    refresh_token: "refresh-1",
    scopes: ["read", "write"],
    resource: null,
    identity_id: null,
    ...more,
  };
}

const EXPIRED = { expires_at: new Date(0).toISOString() };

describe("OAuthClient.start", () => {
  it("start sends the person to the service with PKCE, state and nonce, all new each time", async () => {
    const { oauth, sent } = serviceOf();
    const request = { scopes: ["openid", "read"], resource: "https://mcp.example.com/mcp" };
    const [first, second] = [await oauth.start(request), await oauth.start(request)];
    const url = new URL(first.url);
    expect(url.origin + url.pathname).toBe(`${SERVICE}/oauth/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: "draw~web",
      redirect_uri: BACK,
      scope: "openid read",
      state: first.pending.state,
      nonce: first.pending.nonce,
      resource: "https://mcp.example.com/mcp",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(url.href).not.toContain(first.pending.verifier);
    for (const name of ["state", "nonce", "verifier"] as const) {
      expect(first.pending[name]).toMatch(/^[\w-]{43}$/);
      expect(second.pending[name]).not.toBe(first.pending[name]);
    }
    expect(sent).toEqual([]);
  });

  it.each([
    ["a secret in a page", { clientSecret: "pb_cs_secret" }, true],
    ["plain http over a network", { baseUrl: "http://passbook.example.com" }, false],
    ["a redirect address without a scheme", { redirectUri: "/callback" }, false],
    ["an empty client id", { clientId: "" }, false],
  ])("the OAuth client refuses %s", (_, wrong, in_page) => {
    if (in_page) vi.stubGlobal("document", {});
    try {
      const make = () => createOAuthClient({ ...serviceOf().options, ...wrong });
      expect(make).toThrowError(expect.objectContaining({ code: "invalid_argument" }));
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe("OAuthClient.callback", () => {
  const back = (parameters: Record<string, string>): string =>
    `${BACK}?${new URLSearchParams({ iss: SERVICE, ...parameters }).toString()}`;

  it("callback redeems the code once, with the verifier, and returns the person", async () => {
    let nonce = "";
    const { oauth, sent } = serviceOf(() =>
      tokens("access-1", {
        scope: "openid read",
        refresh_token: "refresh-1",
        id_token: idToken({ nonce }),
      })(),
    );
    const { pending } = await oauth.start({ scopes: ["openid", "read"] });
    nonce = pending.nonce;
    const connection = await oauth.callback(back({ code: "c", state: pending.state }), pending);
    expect(connection.tokens).toMatchObject({
      access_token: "access-1",
      refresh_token: "refresh-1",
      scopes: ["openid", "read"],
      resource: null,
      identity_id: "ada",
    });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.url).toBe(`${SERVICE}/oauth/token`);
    expect(Object.fromEntries(sent[0]?.form ?? [])).toEqual({
      grant_type: "authorization_code",
      client_id: "draw~web",
      code: "c",
      redirect_uri: BACK,
      code_verifier: pending.verifier,
    });
  });

  it("a client with a secret sends it by Basic, encoded as in a form", async () => {
    const { options } = serviceOf();
    const { fetch, sent } = { ...serviceOf(tokens("access-1")).options, sent: [] as string[] };
    const oauth = createOAuthClient({
      ...options,
      clientId: "draw:web",
      clientSecret: "a b",
      fetch: (url, init) => {
        sent.push(new Headers(init.headers).get("Authorization") ?? "");
        return fetch(url, init);
      },
    });
    const { pending } = await oauth.start({ scopes: ["read"] });
    await oauth.callback(back({ code: "c", state: pending.state }), pending);
    expect(sent).toEqual([`Basic ${btoa("draw%3Aweb:a+b")}`]);
  });

  it.each([
    ["another state", { state: "planted" }],
    ["no state", { state: "" }],
    ["another issuer", { iss: "https://other.example.com" }],
  ])("a response with %s is refused, and nothing is sent", async (_, wrong) => {
    const { oauth, sent } = serviceOf();
    const { pending } = await oauth.start({ scopes: ["read"] });
    const url = back({ code: "c", state: pending.state, ...wrong });
    await expect(oauth.callback(url, pending)).rejects.toMatchObject({ code: "signin_failed" });
    await expect(oauth.callback(url, null)).rejects.toMatchObject({ code: "signin_failed" });
    expect(sent).toEqual([]);
  });

  it("a response without an issuer is refused (RFC 9207)", async () => {
    const { oauth } = serviceOf();
    const { pending } = await oauth.start({ scopes: ["read"] });
    const url = `${BACK}?code=c&state=${pending.state}`;
    await expect(oauth.callback(url, pending)).rejects.toMatchObject({ code: "signin_failed" });
  });

  it("the error of the service is the code of the error, with its description", async () => {
    const { oauth } = serviceOf();
    const { pending } = await oauth.start({ scopes: ["read"] });
    const denied = {
      error: "access_denied",
      error_description: "Ada said no.",
      state: pending.state,
    };
    await expect(oauth.callback(back(denied), pending)).rejects.toMatchObject({
      code: "access_denied",
      message: "Ada said no.",
    });
  });

  it.each([
    ["for another client", { aud: "other" }],
    ["of another issuer", { iss: "https://other.example.com" }],
    ["for another request", { nonce: "other" }],
    ["that has expired", { exp: 1 }],
  ])("an ID token %s is refused", async (_, wrong) => {
    let nonce = "";
    const { oauth } = serviceOf(() =>
      tokens("a", { scope: "openid", id_token: idToken({ nonce, ...wrong }) })(),
    );
    const { pending } = await oauth.start({ scopes: ["openid"] });
    nonce = pending.nonce;
    const url = back({ code: "c", state: pending.state });
    await expect(oauth.callback(url, pending)).rejects.toMatchObject({ code: "invalid_response" });
  });

  it("a response without the ID token that was requested is refused", async () => {
    const { oauth } = serviceOf(tokens("access-1", { scope: "openid" }));
    const { pending } = await oauth.start({ scopes: ["openid"] });
    const url = back({ code: "c", state: pending.state });
    await expect(oauth.callback(url, pending)).rejects.toMatchObject({ code: "invalid_response" });
  });
});

describe("Connection", () => {
  it("20 concurrent calls share one renewal, and the tokens are stored before anybody gets them", async () => {
    const saved: ConnectionTokens[] = [];
    const { oauth, sent } = serviceOf(tokens("access-2", { refresh_token: "refresh-2" }));
    const connection = oauth.connection(stored(EXPIRED), {
      onTokens: async (next) => {
        await Promise.resolve();
        saved.push(next);
      },
    });
    const got = await Promise.all(Array.from({ length: 20 }, () => connection.token()));
    expect(new Set(got)).toEqual(new Set(["access-2"]));
    expect(sent.map(({ form }) => Object.fromEntries(form))).toEqual([
      { grant_type: "refresh_token", refresh_token: "refresh-1", client_id: "draw~web" },
    ]);
    expect(saved).toEqual([connection.tokens]);
    expect(connection.tokens).toMatchObject({ refresh_token: "refresh-2" });
  });

  it("a token that is valid for more than 90 seconds is not renewed", async () => {
    const { oauth } = serviceOf();
    const soon = { expires_at: new Date(Date.now() + 95_000).toISOString() };
    expect(await oauth.connection(stored(soon)).token()).toBe("access-1");
  });

  it("a renewal without a response is repeated with the same refresh token", async () => {
    const { oauth, sent } = serviceOf(failing, tokens("access-2"));
    expect(await oauth.connection(stored(EXPIRED)).token()).toBe("access-2");
    expect(sent.map(({ form }) => form.get("refresh_token"))).toEqual(["refresh-1", "refresh-1"]);
  });

  it("a connection that ended fails with invalid_grant, and the next call tries again", async () => {
    const ended: Reply = () =>
      Response.json({ error: "invalid_grant", error_description: "Ended." }, { status: 400 });
    const { oauth } = serviceOf(ended, tokens("access-2"));
    const connection = oauth.connection(stored(EXPIRED));
    await expect(connection.token()).rejects.toMatchObject({ code: "invalid_grant", status: 400 });
    expect(await connection.token()).toBe("access-2");
    const without = oauth.connection(stored({ ...EXPIRED, refresh_token: null }));
    await expect(without.token()).rejects.toMatchObject({ code: "invalid_grant" });
  });

  it("fetch sends the token to our API, and once more after a 401 with a renewed one", async () => {
    const { oauth, sent } = serviceOf(
      () => new Response("", { status: 401 }),
      tokens("access-2", { refresh_token: "refresh-2" }),
      () => Response.json({ ok: true }),
    );
    const response = await oauth.connection(stored()).fetch("/api/wallet?app=draw");
    expect(await response.json()).toEqual({ ok: true });
    expect(sent.map(({ url, headers }) => [url, headers.get("Authorization")])).toEqual([
      [`${SERVICE}/api/wallet?app=draw`, "Bearer access-1"],
      [`${SERVICE}/oauth/token`, null],
      [`${SERVICE}/api/wallet?app=draw`, "Bearer access-2"],
    ]);
  });

  it("a token is sent only to the server that it is for", async () => {
    const { oauth, sent } = serviceOf(() => new Response());
    const elsewhere = { code: "invalid_argument" };
    const ours = oauth.connection(stored());
    await expect(ours.fetch("https://evil.example.com/")).rejects.toMatchObject(elsewhere);
    await expect(ours.fetch("//evil.example.com/")).rejects.toMatchObject(elsewhere);
    const theirs = oauth.connection(stored({ resource: "https://mcp.example.com/mcp" }));
    await expect(theirs.fetch(`${SERVICE}/api/me`)).rejects.toMatchObject(elsewhere);
    await theirs.fetch("https://mcp.example.com/mcp");
    expect(sent).toHaveLength(1);
  });

  it("revoke sends the refresh token", async () => {
    const { oauth, sent } = serviceOf(() => new Response(null, { status: 200 }));
    await oauth.connection(stored()).revoke();
    expect(sent[0]?.url).toBe(`${SERVICE}/oauth/revoke`);
    expect(sent[0]?.form.get("token")).toBe("refresh-1");
  });

  it("exchange requests a narrower connection with its limits (RFC 8693)", async () => {
    const { oauth, sent } = serviceOf(tokens("child", { scope: "write" }));
    const limits = { caps: [{ credits: 50, period: "total" }], apps: ["draw"] } as const;
    const child = await oauth
      .connection(stored({ identity_id: "ada" }))
      .exchange({ ...limits, expiresIn: 3600, scopes: ["write"] });
    expect(child.tokens).toMatchObject({ access_token: "child", identity_id: "ada" });
    const { authorization_details, ...form } = Object.fromEntries(sent[0]?.form ?? []);
    expect(form).toEqual({
      client_id: "draw~web",
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: "refresh-1",
      subject_token_type: "urn:ietf:params:oauth:token-type:refresh_token",
      scope: "write",
    });
    expect(JSON.parse(authorization_details ?? "")).toEqual([
      { type: "passbook_spending", ...limits, expires_in: 3600 },
    ]);
  });

  it("a page of a proxy is not taken for a response of the service", async () => {
    const page: Reply = () => new Response("<p>Welcome to the airport</p>");
    const { oauth } = serviceOf(page, () => new Response("<p>no</p>", { status: 403 }));
    const connection = oauth.connection(stored(EXPIRED));
    await expect(connection.token()).rejects.toMatchObject({ code: "invalid_response" });
    await expect(connection.token()).rejects.toMatchObject({ code: "invalid_response" });
  });
});
