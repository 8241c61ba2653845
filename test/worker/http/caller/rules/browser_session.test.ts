import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { HOLDER } from "../../../../../src/account/contract.ts";
import { PERSONAL_TOKEN_PREFIX } from "../../../../../src/domain/proof.ts";
import { accepted, refused } from "../../../../../src/domain/result.ts";
import {
  guardOwnForms,
  loadSession,
  requireBrowserSession,
  requireLiveSession,
  requireSignIn,
  requireSignInEvenSuspended,
} from "../../../../../src/http/caller/browser_session.ts";
import {
  finishAccountDeletion,
  isAccountDeleted,
} from "../../../../../src/http/caller/deleted_account.ts";
import { redirectToProvider } from "../../../../../src/http/caller/session_cookies.ts";
import type { AppContext, AppEnvironment } from "../../../../../src/http/context.ts";

const HERE = "https://passbook.example";
const APP = "https://app.example";
const SESSION = { id: "s1", identity_id: "ada", binding: "cookie 1" };
const RESUMED = { kind: "session", session: SESSION, set_cookies: ["provider=renewed"] };
const SIGNED_IN = { Cookie: "session=1" };
const OF_SESSION = { kind: "session", session_id: "s1", azp: APP };

/** Routes of a service where everything is accepted, except what is changed. */
function open(changed: object = {}) {
  const state = {
    resumed: RESUMED as object,
    is_live: true,
    admitted: accepted("a top-up") as unknown,
    cookie_domain: null as string | null,
    limited: [] as readonly string[],
    proof: OF_SESSION as object,
    ...changed,
  };
  const done: unknown[] = [];
  const services = {
    config: { cookie_domain: state.cookie_domain, dev_signin: false },
    session_tokens: {
      verify: async (_: string, token: string) =>
        token === "genuine"
          ? { identity_id: "ada", proof: OF_SESSION, expires_at_ms: 7, binding: null }
          : null,
      sign: async (base_url: string, claims: object) => {
        done.push(["sign", base_url, claims]);
        return "signed";
      },
    },
    personal_tokens: {
      verify: async () => ({ identity_id: "ada", personal_token_id: "a1", expires_at_ms: 7 }),
    },
    issuer_tokens: { names: () => false },
    identity: {
      resume: async () => state.resumed,
      isSessionLive: async () => state.is_live,
      signOut: async () => {
        done.push("sign out");
        return { set_cookies: ["provider="] };
      },
    },
    apps: {
      slugsOfOrigin: async () => ["demo"],
      slugsUnder: async () => [],
      appOfKey: async (key: string) => ({
        kind: key === "pb_app_demo" ? "app" : "unknown",
        app_slug: "demo",
        key_hash: "hash",
      }),
      rereadForKey: async () => ({ kind: "unknown" }),
    },
    note_app_key_use: () => null,
    living_credentials: { has: () => true },
    account_deletion: {
      finish: async (identity_id: string) => void done.push(`finish ${identity_id}`),
    },
    accounts: (identity_id: string) => ({
      readTopUpState: async (caller: unknown) => {
        done.push(["top-up", identity_id, caller]);
        return state.admitted;
      },
    }),
    limiters: ({ binding }: { readonly binding: string }) => ({
      limit: async () => ({ success: !state.limited.includes(binding) }),
    }),
  };
  const app = new Hono<AppEnvironment>();
  app.use("*", async (context, next) => {
    context.set("base_url", HERE);
    context.set("services", services as never);
    context.set("request_id", "request 1");
    await next();
  });
  app.onError((error) => new Response(JSON.stringify(error.name), { status: 500 }));
  const show = (context: AppContext) => {
    const { session, caller, top_up_state = "not read" } = context.var;
    return context.json({ session: session ?? null, caller: caller ?? null, top_up_state });
  };
  app.get("/api/device", requireBrowserSession, show);
  const asCaller = async (context: AppContext, next: () => Promise<void>) => {
    context.set("caller", { identity_id: "ada", proof: state.proof } as never);
    await next();
  };
  app.get("/live", asCaller, requireLiveSession, show);
  app.on(["GET", "POST"], "/account/:form{.+}", requireSignIn, show);
  app.on(["GET", "POST"], "/account", requireSignIn, show);
  app.get("/download", requireSignInEvenSuspended, show);
  app.get("/", loadSession, show);
  app.post("/form", guardOwnForms, show);
  app.get("/deleted", (context) => {
    const to = context.req.query("to");
    return finishAccountDeletion(context, "ada", to === undefined ? null : new URL(to));
  });
  app.get("/provider", (context) =>
    redirectToProvider(context, { to: "https://provider.example/", set_cookies: ["state=1"] }),
  );
  const request = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const response = await app.request(`${HERE}${path}`, { method, headers });
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? null : (JSON.parse(text) as unknown),
      cookies: response.headers.getSetCookie().map((it) => it.split("; Path=")[0]),
      location: response.headers.get("Location"),
      referrer: response.headers.get("Referrer-Policy"),
    };
  };
  return { request, done };
}

const RENEWED = ["provider=renewed", "__Secure-passbook_token=signed; Max-Age=900"];
const CLEARED = ["provider=", "__Secure-passbook_token=; Max-Age=0"];
const NONE = { resumed: { kind: "none" } };
const LIVE_SESSION = { session: { ...SESSION }, caller: { identity_id: "ada", via: "cookie" } };

describe("the API for browser sessions", () => {
  it("the cookies of a live session are accepted, renewed, and act for their page", async () => {
    const { request, done } = open();
    const { status, body, cookies } = await request("/api/device", { ...SIGNED_IN, Origin: APP });
    expect({ status, body, cookies }).toMatchObject({ status: 200, body: LIVE_SESSION });
    expect(body).toMatchObject({ caller: { account_caller: { kind: "page" } } });
    expect(cookies).toEqual(RENEWED);
    const proof = { kind: "session", session_id: "s1", azp: HERE };
    expect(done).toEqual([["sign", HERE, { identity_id: "ada", proof, binding: "cookie 1" }]]);
  });

  it("with a cookie domain, the renewed token is for all pages of the domain", async () => {
    const { request, done } = open({ cookie_domain: "passbook.example" });
    await request("/api/device", SIGNED_IN);
    expect(done).toMatchObject([["sign", HERE, { proof: { azp: "shared" } }]]);
  });

  it("a session token is accepted while its session is live", async () => {
    const headers = { Authorization: "Bearer genuine" };
    expect(await open().request("/api/device", headers)).toMatchObject({
      status: 200,
      body: { caller: { identity_id: "ada", via: "bearer", proof: OF_SESSION } },
    });
  });

  it.each([
    ["without a session", {}, NONE, 401, "unauthorized"],
    ["with a token of an ended session", "genuine", { is_live: false }, 401, "unauthorized"],
    ["with a forged token", "forged", {}, 401, "unauthorized"],
    ["with a personal token", `${PERSONAL_TOKEN_PREFIX}1`, {}, 401, "unauthorized"],
    ["with the key of an app", "pb_app_demo", {}, 403, "scope"],
    ["with a key that no app has", "pb_app_gone", {}, 401, "unauthorized"],
  ] as const)("a request %s is refused", async (_, token, changed, status, code) => {
    const headers: Record<string, string> =
      typeof token === "string" ? { Authorization: `Bearer ${token}` } : {};
    const response = await open(changed).request("/api/device", headers);
    expect(response).toMatchObject({ status, body: { code }, cookies: [] });
  });

  it("a session token with too many requests queries no session", async () => {
    const { request } = open({ limited: ["LIMIT_AUTHENTICATED"] });
    const headers = { Authorization: "Bearer genuine" };
    expect(await request("/api/device", headers)).toMatchObject({ body: "TooManyLookups" });
  });
});

describe("a credential for another service", () => {
  const personal = {
    kind: "personal_token",
    credential: { kind: "allowance", allowance_id: "a1" },
  };
  it.each([
    ["a live session gets one", OF_SESSION, true, 200],
    ["an ended session gets none", OF_SESSION, false, 401],
    ["a personal token is checked by the account", personal, false, 200],
    ["a session of an app is its token", { kind: "app_session" }, false, 200],
    ["an app gets none", { kind: "app", app_slug: "demo" }, true, 403],
  ] as const)("%s", async (_, proof, is_live, status) => {
    expect(await open({ proof, is_live }).request("/live")).toMatchObject({ status });
  });
});

describe("pages that require sign-in", () => {
  const signinTo = (path: string) =>
    `${HERE}/signin?redirect_to=${encodeURIComponent(`${HERE}${path}`)}`;

  it.each([
    ["a page", "GET", "/account/jobs?page=2", "/account/jobs?page=2"],
    ["the page of a form", "POST", "/account/jobs/cancel?page=2", "/account/jobs"],
  ])("a person who is not signed in returns to %s", async (_, method, path, page) => {
    const { request, done } = open(NONE);
    const response = await request(path, {}, method);
    expect(response).toMatchObject({ status: 303, location: signinTo(page), cookies: [] });
    expect(done).toEqual([]);
  });

  it("a link from another site opens a page as the holder, and renews the cookies", async () => {
    const { request, done } = open();
    const headers = { ...SIGNED_IN, "Sec-Fetch-Site": "cross-site" };
    const response = await request("/account", headers);
    expect(response).toMatchObject({ status: 200, body: LIVE_SESSION, cookies: RENEWED });
    expect(response.body).toMatchObject({
      caller: { account_caller: HOLDER },
      top_up_state: "a top-up",
    });
    expect(done).toContainEqual(["top-up", "ada", HOLDER]);
  });

  it("a form leaves the cookies as they are", async () => {
    const response = await open().request("/account", SIGNED_IN, "POST");
    expect(response).toMatchObject({ status: 200, body: LIVE_SESSION, cookies: [] });
  });

  const suspended = { admitted: refused({ code: "suspended", public_reason: null }) };
  it("the holder of a suspended account is refused, and may download their data", async () => {
    const { request, done } = open(suspended);
    expect(await request("/account", SIGNED_IN)).toMatchObject({
      status: 403,
      body: { code: "suspended" },
      cookies: [],
    });
    expect(done).toHaveLength(1);
    const download = await request("/download", SIGNED_IN);
    expect(download).toMatchObject({ status: 200, body: { top_up_state: null }, cookies: RENEWED });
    expect(done).toHaveLength(2);
  });

  it("the session of a deleted account finishes the deletion, and signs out", async () => {
    const { request, done } = open({
      admitted: refused({ code: "unauthorized", reason: "account_deleted" }),
    });
    expect(await request("/account", SIGNED_IN)).toMatchObject({
      status: 303,
      location: `${HERE}/signin?notice=account_deleted`,
      cookies: CLEARED,
    });
    expect(done.slice(1)).toEqual(["finish ada", "sign out"]);
  });

  it("after a deletion, the person returns to the address that they requested", async () => {
    const { location } = await open().request(`/deleted?to=${encodeURIComponent(`${APP}/x`)}`);
    const to = encodeURIComponent(`${APP}/x`);
    expect(location).toBe(`${HERE}/signin?notice=account_deleted&redirect_to=${to}`);
  });

  it("only the refusal of a deleted account says that the account is deleted", () => {
    expect(isAccountDeleted({ code: "unauthorized", reason: "account_deleted" })).toBe(true);
    expect(isAccountDeleted({ code: "unauthorized", reason: "session_ended" })).toBe(false);
    expect(isAccountDeleted({ code: "suspended", public_reason: null })).toBe(false);
  });
});

describe("other pages", () => {
  it("a page that anybody may see knows the session, and renews its cookies", async () => {
    expect(await open().request("/", SIGNED_IN)).toMatchObject({
      status: 200,
      body: { ...LIVE_SESSION, caller: { account_caller: HOLDER } },
      cookies: RENEWED,
    });
    expect(await open(NONE).request("/")).toMatchObject({
      status: 200,
      body: { session: null, caller: null },
      cookies: [],
    });
  });

  it("only a page of the service's own origin may send a form", async () => {
    const { request } = open();
    expect(await request("/form", { Origin: HERE }, "POST")).toMatchObject({ status: 200 });
    expect(await request("/form", { Origin: APP }, "POST")).toMatchObject({
      status: 403,
      body: { code: "origin_not_allowed" },
    });
  });

  it("a redirect to a provider sets its cookies, and does not show where it came from", async () => {
    expect(await open().request("/provider")).toMatchObject({
      status: 303,
      location: "https://provider.example/",
      cookies: ["state=1"],
      referrer: "no-referrer",
    });
  });
});
