import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { passTime } from "../../../support/clock.ts";
import {
  approve,
  approveByBearer,
  approvalForm,
  fromOwnPage,
  getToken,
  holderOf,
  ownSessionToken,
  poll,
  postForm,
  startLogin,
  tokenId,
  type TokenHolder,
} from "../../../support/device_logins.ts";
import { connect, oauthServices, refresh, RESOURCE } from "../../../support/oauth_clients.ts";
import { openResource } from "../../../support/registrations.ts";
import { BASE_URL, send, signIn, type SignedIn } from "../../../support/passbook.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A personal access token that a bearer session token approved. */
async function getBoundToken(person: SignedIn, headers = {}): Promise<TokenHolder> {
  const { device_code, user_code } = await startLogin();
  await approveByBearer(person, user_code, headers);
  return holderOf((await poll(device_code)).body.token);
}

const signOut = (person: SignedIn) => postForm(person, "/signout", {});
const signOutEverywhere = (person: SignedIn, form: Record<string, string> = {}) =>
  postForm(person, "/account/signout-everywhere", form);

const lives = async (holder: TokenHolder) => (await holder.get("/api/wallet")).status === 200;

describe("a personal token approved by a bearer session token", () => {
  it("a personal token approved by a bearer session token ends when that session signs out", async () => {
    const ada = await signIn();
    const other = await signIn();
    const bound = await getBoundToken(ada);
    const elsewhere = await getBoundToken(other);
    const by_cookie = await getToken(ada);
    expect(await lives(bound)).toBe(true);
    await signOut(ada);
    expect(await lives(bound)).toBe(false);
    expect(await lives(elsewhere)).toBe(true);
    expect(await lives(by_cookie)).toBe(true);
  });

  it("a personal token approved by a bearer ends with its session even if the request claims to come from our own page", async () => {
    const ada = await signIn();
    const bound = await getBoundToken(ada, { Origin: BASE_URL });
    expect(await lives(bound)).toBe(true);
    await signOut(ada);
    expect(await lives(bound)).toBe(false);
  });

  it("a personal token approved by a bearer session token ends at sign-out everywhere", async () => {
    const [ada, other] = [await signIn(), await signIn()];
    const bound = await getBoundToken(ada);
    const by_cookie = await getToken(ada);
    await signOutEverywhere(other);
    expect(await lives(bound)).toBe(false);
    expect(await lives(by_cookie)).toBe(true);
  });

  it("a personal token approved by a bearer session token expires with that session", async () => {
    const ada = await signIn();
    const bound = await getBoundToken(ada);
    const by_cookie = await getToken(ada);
    const { expires_at_ms } = (await env.DIRECTORY.prepare(
      "select expires_at_ms from sessions",
    ).first<{
      expires_at_ms: number;
    }>()) ?? { expires_at_ms: 0 };
    const { tokens } = (await ada.getOwn("/api/tokens")).body;
    expect(tokens).toMatchObject([
      { ends_with_session: false },
      { ends_with_session: true, expires_at: new Date(expires_at_ms).toISOString() },
    ]);
    const page = await send("GET", "/account/access", { headers: { Cookie: ada.cookies } });
    expect(page.text.match(/when the sign-in that approved it ends/g)).toHaveLength(1);
    passTime(31 * DAY_MS);
    expect(await lives(bound)).toBe(false);
    expect(await lives(by_cookie)).toBe(true);
  });

  it("personal tokens approved by a bearer end when the account learns that their sessions ended, however many there are", async () => {
    const ada = await signIn();
    const bound = await getBoundToken(ada);
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const others = Array.from({ length: 500 }, () => crypto.randomUUID());
    await account.endSessions(others);
    expect(await lives(bound)).toBe(true);
    const session = await env.DIRECTORY.prepare("select id from sessions").first<{ id: string }>();
    await account.endSessions([...others, session?.id ?? ""]);
    expect(await lives(bound)).toBe(false);
  });

  it("a device login is not approved if the session ends during the approval", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const by_bearer = holderOf(await ownSessionToken(ada));
    await env.DIRECTORY.exec("update sessions set expires_at_ms = 1");
    const response = await by_bearer.post("/api/device/complete", { user_code });
    expect(response.status).toBe(401);
    expect((await poll(device_code)).status).toBe(202);
  });
});

describe("the page of an app", () => {
  const APP = "http://localhost:3000";

  it("the page of an app approves no device login, with its session token or its visitor's cookie", async () => {
    const ada = await signIn();
    const json = { "Content-Type": "application/json" };
    const { device_code, user_code } = await startLogin();
    const body = JSON.stringify({ user_code });
    for (const from of [
      { Authorization: `Bearer ${ada.token}` },
      { Authorization: `Bearer ${ada.token}`, Origin: BASE_URL },
      { Cookie: ada.cookies, Origin: APP },
      { Cookie: ada.cookies, Origin: APP, "Sec-Fetch-Site": "same-origin" },
    ]) {
      const headers: Record<string, string> = { ...json, ...from };
      const answer = await send("POST", "/api/device/complete", { headers, body });
      expect(answer).toMatchObject({ status: 403, body: { code: "scope" } });
      expect(answer.body.error).toContain("verification_uri");
    }
    expect((await poll(device_code)).status).toBe(202);
    // Our own page may also be known by Sec-Fetch-Site only. It shows the rights, so its token outlives the session.
    const headers = { ...json, Cookie: ada.cookies, "Sec-Fetch-Site": "same-origin" };
    expect((await send("POST", "/api/device/complete", { headers, body })).status).toBe(200);
    const token = holderOf((await poll(device_code)).body.token);
    await signOut(ada);
    expect(await lives(token)).toBe(true);
  });
});

describe("an account that cannot be called when its sessions end", () => {
  /** Settings with which the first `times` calls of `endSessions` fail. */
  function failingAccount(times: number) {
    let left = times;
    const endSessions = async () => {
      if ((left -= 1) >= 0) throw new Error("the object went away");
      return { ok: true };
    };
    const getByName = (name: string) =>
      new Proxy(env.ACCOUNT.getByName(name), {
        get: (target, method) =>
          method === "endSessions" && left > 0 ? endSessions : Reflect.get(target, method),
      });
    return { ACCOUNT: { getByName } };
  }

  it.each([
    ["/signout", {}],
    ["/account/signout-everywhere", {}],
    ["/account/signout-everywhere", { personal_tokens: "end" }],
  ])(
    "%s %j reports an error if the account cannot be told that its sessions ended",
    async (path, form) => {
      const ada = await signIn();
      const bound = await getBoundToken(ada);
      const body = new URLSearchParams(form);
      const headers = { ...fromOwnPage(ada), Accept: "text/html" };
      const response = await send("POST", path, { headers, body }, failingAccount(2));
      expect(response.status).toBeGreaterThanOrEqual(500);
      expect(await lives(bound)).toBe(true);
      // The browser is signed out nevertheless. A second sign-out after a new sign-in also ends the token.
      expect((await send("GET", "/account", { headers: { Cookie: ada.cookies } })).status).toBe(
        303,
      );
      await signOutEverywhere(await signIn());
      expect(await lives(bound)).toBe(false);
    },
  );

  it("sign-out tells the account a second time if the first call fails", async () => {
    const ada = await signIn();
    const bound = await getBoundToken(ada);
    const response = await send(
      "POST",
      "/signout",
      { headers: fromOwnPage(ada) },
      failingAccount(1),
    );
    expect(response.status).toBe(200);
    expect(await lives(bound)).toBe(false);
  });

  it("ending a session again tells the account again", async () => {
    const [ada, other] = [await signIn(), await signIn()];
    const bound = await getBoundToken(other);
    const [, payload = ""] = other.token.split(".");
    const { sid } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const end = (settings: object) =>
      send(
        "POST",
        "/account/end-session",
        { headers: fromOwnPage(ada), body: new URLSearchParams({ session_id: sid }) },
        settings,
      );
    expect((await end(failingAccount(2))).status).toBe(500);
    expect((await end({})).status).toBe(303);
    expect(await lives(bound)).toBe(false);
  });
});

describe("an approved login that is not yet redeemed", () => {
  it.each([
    ["by cookie", (ada: SignedIn, user_code: string) => approve(ada, user_code)],
    [
      "on the page",
      (ada: SignedIn, user_code: string) =>
        postForm(ada, "/device/approve", approvalForm(user_code)),
    ],
    ["by a bearer", (ada: SignedIn, user_code: string) => approveByBearer(ada, user_code)],
  ])(
    "a login approved %s and not yet redeemed ends with the approving session",
    async (_, approveIt) => {
      for (const end of [signOut, signOutEverywhere]) {
        const ada = await signIn();
        const { device_code, user_code } = await startLogin();
        expect((await approveIt(ada, user_code)).status).toBe(200);
        await end(ada);
        const late = await poll(device_code);
        expect(late).toMatchObject({ status: 410, body: { code: "expired_token" } });
        expect((await poll(device_code)).status).toBe(410);
        const again = await signIn();
        expect((await again.getOwn("/api/tokens")).body.tokens).toEqual([]);
      }
    },
  );

  it("an approved login survives the end of another session of the person", async () => {
    const [ada, other] = [await signIn(), await signIn()];
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    await signOut(other);
    expect((await poll(device_code)).status).toBe(200);
  });

  it("no token is issued while the approving session cannot be looked up", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    const down = () => {
      throw new Error("D1_ERROR: down");
    };
    const DIRECTORY = new Proxy(env.DIRECTORY, {
      get: (target, name) => (name === "prepare" ? down : Reflect.get(target, name)),
    });
    expect((await poll(device_code, { DIRECTORY })).status).toBe(503);
    expect((await ada.getOwn("/api/tokens")).body.tokens).toEqual([]);
  });
});

describe("signing out everywhere", () => {
  it("signing out everywhere offers to revoke personal tokens, and states which access remains", async () => {
    await openResource(RESOURCE);
    oauthServices().apps.forget();
    const ada = await signIn();
    const token = await getToken(ada);
    const page = await send("GET", "/account/access", { headers: { Cookie: ada.cookies } });
    expect(page.text).toContain('type="checkbox" name="personal_tokens" value="end"');
    const staying = await connect(ada);
    const elsewhere = { client_id: "https://other.example.com/oauth.json" };
    const leaving = await connect(ada, {
      ...elsewhere,
      session_ends_at_ms: Date.now() + 30 * DAY_MS,
    });
    const left = await signOutEverywhere(ada);
    const result_page = await send("GET", left.headers.get("Location") ?? "");
    expect(result_page.text).toContain(
      "Tokens, and connections that may stay connected, keep their access",
    );
    expect(await lives(token)).toBe(true);
    expect((await refresh(staying.refresh_token)).status).toBe(200);
    expect((await refresh(leaving.refresh_token, elsewhere)).status).toBe(400);

    const again = await signIn();
    const id = await tokenId(token);
    const to_resource = await connect(again, { resource: RESOURCE, resource_app_slug: "demo" });
    const ended = await signOutEverywhere(again, { personal_tokens: "end" });
    expect(await lives(token)).toBe(false);
    expect(id).toBeTruthy();
    const also_said = await send("GET", ended.headers.get("Location") ?? "");
    expect(also_said.text).toContain(
      "all connections and tokens have lost their access here; those for a resource stop there within ten minutes",
    );
    expect((await refresh(to_resource.refresh_token)).status).toBe(400);
    // The resource verifies it without asking.
    const { resource_tokens } = oauthServices();
    expect(await resource_tokens.verify(BASE_URL, to_resource.access_token)).not.toBeNull();
  });

  it("signing out everywhere does not affect other people's tokens", async () => {
    const [ada, bob] = [await signIn(), await signIn("bob@example.com")];
    const [token, bound] = [await getToken(bob), await getBoundToken(bob)];
    await signOutEverywhere(ada, { personal_tokens: "end" });
    expect([await lives(token), await lives(bound)]).toEqual([true, true]);
  });

  it("signing out everywhere is accepted only from our own page", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    for (const Origin of ["https://evil.example", "null"]) {
      const headers = { Cookie: ada.cookies, Origin };
      const body = new URLSearchParams({ personal_tokens: "end" });
      const response = await send("POST", "/account/signout-everywhere", { headers, body });
      expect(response.status).toBe(403);
    }
    expect(await lives(token)).toBe(true);
  });
});
