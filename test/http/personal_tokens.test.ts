import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createKeyRing, type SigningKey } from "../../src/tokens/keys.ts";
import { createSessionTokens } from "../../src/tokens/session_jwt.ts";
import {
  approve,
  getToken,
  holderOf,
  poll,
  postForm,
  startLogin,
  tokenId,
} from "../device/logins.ts";
import { BASE_URL, send, signIn, signInWithCredits } from "./passbook.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

function passTime(ms: number): void {
  const at_ms = Date.now() + ms;
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(at_ms);
}

/** The session tokens of the Worker under test. */
function sessionTokens() {
  const { keys } = JSON.parse(env.SIGNING_KEYS) as { keys: SigningKey[] };
  return createSessionTokens(createKeyRing(keys));
}

const job = (app: string, cost_estimate = 1) => ({ app, action: "render", cost_estimate });

describe("a personal access token", () => {
  it("does what its owner could do with a session", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    const wallet = await token.get("/api/wallet?app=demo");
    expect(wallet.body).toMatchObject({
      account: { identity_id: ada.identity_id, credits: 100 },
      app_grant: { slug: "demo", granted: true },
    });
    const { job_id } = (await token.post("/api/jobs", job("demo", 30))).body;
    const done = await token.post("/api/jobs/complete", { job_id, actual_cost: 12 });
    expect(done).toMatchObject({ status: 200, body: { credits: 88 } });
    expect((await token.get("/api/jobs")).body.jobs).toHaveLength(1);
    expect((await token.get(`/api/jobs/${job_id}`)).status).toBe(200);
    expect((await token.get("/api/ledger")).body.entries).toHaveLength(4);
  });

  it("is one request to one object, without D1, KV or a fetch", async () => {
    const ada = await signInWithCredits();
    const { token } = await getToken(ada, { cap: { credits: 50 }, apps: ["demo"] });
    await ada.get("/api/wallet?app=demo");
    const hops: string[] = [];
    const forbidden = (name: string) =>
      new Proxy({}, { get: () => () => hops.push(name) && Promise.reject(new Error(name)) });
    const counting = {
      getByName: (name: string) =>
        new Proxy(env.ACCOUNT.getByName(name), {
          get: (stub, method) => {
            const call = Reflect.get(stub, method) as (...args: unknown[]) => unknown;
            return (...args: unknown[]) => {
              hops.push(`ACCOUNT.${String(method)}`);
              return Reflect.apply(call, stub, args);
            };
          },
        }),
    };
    const bindings = {
      ACCOUNT: counting,
      DB: forbidden("DB"),
      DEVICE_CODES: forbidden("KV"),
      DEVICE_LOGIN: forbidden("DEVICE_LOGIN"),
    };
    const fetched = vi.spyOn(globalThis, "fetch");
    const holder = holderOf(token, bindings);
    const { job_id } = (await holder.post("/api/jobs", job("demo", 5))).body;
    await holder.post("/api/jobs/complete", { job_id, actual_cost: 4 });
    const failing = (await holder.post("/api/jobs", job("demo", 5))).body;
    await holder.post("/api/jobs/fail", { job_id: failing.job_id });
    expect((await holder.get("/api/jobs")).body.jobs).toHaveLength(2);
    expect((await holder.get("/api/wallet")).status).toBe(200);
    expect(hops).toEqual([
      "ACCOUNT.createJob",
      "ACCOUNT.completeJob",
      "ACCOUNT.createJob",
      "ACCOUNT.failJob",
      "ACCOUNT.listJobs",
      "ACCOUNT.wallet",
    ]);
    expect(fetched).not.toHaveBeenCalled();
  });

  it("is accepted as a bearer token with its prefix only", async () => {
    const ada = await signIn();
    const { token } = await getToken(ada);
    const bare = token.replace("pb_pat_", "");
    const proofs = [
      { Authorization: `Bearer ${bare}` },
      { Authorization: `Bearer pb_pat_${ada.token}` },
      { Authorization: `Bearer pb_pat_${token}` },
      { Authorization: `Bearer pb_pat_` },
      { Authorization: `Bearer ${token.slice(0, -2)}` },
      { Cookie: `passbook_token=${token}` },
      { Cookie: `passbook_token=${bare}` },
      { Cookie: `passbook_session=${token}` },
    ];
    for (const headers of proofs) {
      expect((await send("GET", "/api/wallet", { headers })).status).toBe(401);
    }
  });

  it("of another signer is none", async () => {
    const ada = await signIn();
    const { token } = await getToken(ada);
    const [header, payload, signature = ""] = token.split(".");
    const forged = `${header}.${payload}.${signature.replace(/^./, (c) => (c === "A" ? "B" : "A"))}`;
    expect((await holderOf(forged).get("/api/wallet")).status).toBe(401);
  });

  it("stops working when it expires", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    passTime(89 * DAY_MS);
    expect((await token.get("/api/wallet")).status).toBe(200);
    passTime(2 * DAY_MS);
    expect((await token.get("/api/wallet")).status).toBe(401);
  });

  it("lives as long as the settings say", async () => {
    const ada = await signIn();
    const settings = { PAT_TTL_DAYS: "1" };
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    const { token } = (await poll(device_code, settings)).body;
    passTime(1.1 * DAY_MS);
    expect((await holderOf(token).get("/api/wallet")).status).toBe(401);
  });

  it("is nowhere in clear: not in the list, not in the account's storage", async () => {
    const ada = await signIn();
    const { token } = await getToken(ada, {}, { client_name: "Console" });
    const listed = await ada.get("/api/tokens");
    const signature = token.split(".").at(-1) ?? "";
    expect(listed.text).toContain("Console");
    expect(listed.text).not.toContain(signature);
  });
});

describe("the list of tokens", () => {
  it("shows what each is for, when it was used, and its limits, newest first", async () => {
    const ada = await signIn();
    await getToken(ada, {}, { client_name: "Laptop", app: "demo" });
    passTime(1_000);
    const limits = { scopes: ["read"], apps: ["demo"], cap: { credits: 50, period: "30_days" } };
    await getToken(ada, limits, { app: "demo" });
    const { body } = await ada.get("/api/tokens");
    expect(body.tokens).toEqual([
      expect.objectContaining({
        label: "demo",
        scopes: ["read"],
        apps: ["demo"],
        cap: { credits: 50, period: "30_days", spent: 0, room: 50 },
        current: false,
      }),
      expect.objectContaining({
        label: "Laptop",
        app: "demo",
        scopes: ["read", "write"],
        apps: null,
        cap: null,
        last_used_at: null,
      }),
    ]);
  });

  it("is the caller's own: others see none of it", async () => {
    const ada = await signIn();
    await getToken(ada);
    const bob = await signIn("bob@example.com");
    expect((await bob.get("/api/tokens")).body).toEqual({ tokens: [] });
    expect((await send("GET", "/api/tokens")).status).toBe(401);
  });

  it("tells a token which one it is; one limited to some apps sees no other", async () => {
    const ada = await signIn();
    const full = await getToken(ada);
    const limited = await getToken(ada, { apps: ["demo"] });
    const seen = async (holder: typeof full) =>
      (await holder.get("/api/tokens")).body.tokens.map((t: { current: boolean }) => t.current);
    expect((await seen(full)).toSorted()).toEqual([false, true]);
    expect(await seen(limited)).toEqual([true]);
  });

  it("notes the last use, at most once an hour", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    const lastUse = async () => (await ada.get("/api/tokens")).body.tokens[0].last_used_at;
    vi.useFakeTimers({ toFake: ["Date"] });
    await token.get("/api/wallet");
    const first = await lastUse();
    expect(first).not.toBeNull();
    passTime(10 * 60_000);
    await token.get("/api/wallet");
    expect(await lastUse()).toBe(first);
    passTime(HOUR_MS);
    const later = await token.get("/api/tokens");
    expect(Date.parse(later.body.tokens[0].last_used_at)).toBeGreaterThan(Date.parse(first));
  });

  it("holds a bounded number of living tokens", async () => {
    const ada = await signIn();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const limits = { access: "write", app_slugs: null, cap: null } as const;
    const issue = (expires_at_ms: number) =>
      account.issueToken(
        { token_id: null },
        { id: crypto.randomUUID(), label: "x", app_slug: null, limits, expires_at_ms },
      );
    for (let i = 0; i < 100; i += 1) await issue(Date.now() + HOUR_MS);
    const { user_code } = await startLogin();
    expect(await approve(ada, user_code)).toMatchObject({
      status: 400,
      body: { code: "too_many_tokens" },
    });
    passTime(2 * HOUR_MS);
    const after = await startLogin();
    expect((await approve(ada, after.user_code)).status).toBe(200);
  });
});

describe("revoking", () => {
  it("takes effect on the next call, for whatever the token was bound to", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const token_id = await tokenId(token);
    const { identity_id } = ada;
    const proof = { kind: "pat", token_id } as const;
    const session = holderOf(await sessionTokens().sign(BASE_URL, { identity_id, proof }));
    expect((await session.get("/api/wallet")).status).toBe(200);
    const account = env.ACCOUNT.getByName(identity_id);
    expect(await account.checkCaller({ token_id })).toMatchObject({ ok: true });
    const key = { "Idempotency-Key": "once" };
    expect((await token.post("/api/jobs", job("demo"), key)).status).toBe(200);

    const headers = { Authorization: `Bearer ${ada.token}` };
    const revoked = await send("DELETE", `/api/tokens/${token_id}`, { headers });
    expect(revoked).toMatchObject({ status: 200, body: { ok: true } });
    expect(await token.get("/api/wallet")).toMatchObject({
      status: 401,
      body: { code: "unauthorized" },
    });
    expect((await token.post("/api/jobs", job("demo"), key)).status).toBe(401);
    expect((await session.get("/api/wallet")).status).toBe(401);
    expect(await account.checkCaller({ token_id })).toMatchObject({ ok: false });
    expect((await ada.get("/api/tokens")).body.tokens).toEqual([]);
    expect((await send("DELETE", `/api/tokens/${token_id}`, { headers })).status).toBe(404);
  });

  it("is for the owner, and for the token itself, even if it may only read", async () => {
    const ada = await signIn();
    const bob = await signIn("bob@example.com");
    const first = await getToken(ada);
    const second = await getToken(ada, { scopes: ["read"] });
    const second_id = await tokenId(second);
    expect(await first.revoke(second_id)).toMatchObject({ status: 403, body: { code: "scope" } });
    const headers = { Authorization: `Bearer ${bob.token}` };
    expect((await send("DELETE", `/api/tokens/${second_id}`, { headers })).status).toBe(404);
    expect((await second.revoke(second_id)).status).toBe(200);
    expect((await second.get("/api/wallet")).status).toBe(401);
    expect((await first.get("/api/wallet")).status).toBe(200);
  });

  it("with a cookie needs a known page, and an id that exists", async () => {
    const ada = await signIn();
    const token_id = await tokenId(await getToken(ada));
    const remove = (Origin: string, id = token_id) =>
      send("DELETE", `/api/tokens/${id}`, { headers: { Cookie: ada.cookies, Origin } });
    expect((await remove("https://evil.example")).status).toBe(403);
    expect(await remove(BASE_URL, crypto.randomUUID())).toMatchObject({
      status: 404,
      body: { code: "token_not_found" },
    });
    expect((await remove(BASE_URL)).status).toBe(200);
  });

  it("leaves the token's jobs to be settled by others", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { cap: { credits: 50 } });
    const { job_id } = (await token.post("/api/jobs", job("demo", 40))).body;
    await token.revoke(await tokenId(token));
    const done = await ada.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    expect(done).toMatchObject({ status: 200, body: { credits: 90 } });
  });
});

describe("the page of tokens", () => {
  it("shows them to their owner, who can end one from there", async () => {
    const ada = await signIn();
    const cap = { credits: 50, period: "30_days" };
    const token = await getToken(ada, { apps: ["demo"], cap }, { client_name: "<i>Laptop</i>" });
    const token_id = await tokenId(token);
    const page = await send("GET", "/account/tokens", { headers: { Cookie: ada.cookies } });
    for (const words of ["&lt;i&gt;Laptop", "in demo", "50 credits every 30 days", token_id]) {
      expect(page.text).toContain(words);
    }
    expect(page.headers.get("Cache-Control")).toBe("no-store");

    const bob = await signIn("bob@example.com");
    await postForm(bob, "/account/tokens/revoke", { token_id });
    expect((await token.get("/api/wallet")).status).toBe(200);
    const foreign = {
      headers: { Cookie: ada.cookies, Origin: "https://evil.example" },
      body: new URLSearchParams({ token_id }),
    };
    expect((await send("POST", "/account/tokens/revoke", foreign)).status).toBe(403);

    const revoked = await postForm(ada, "/account/tokens/revoke", { token_id });
    expect(revoked.status).toBe(303);
    expect((await token.get("/api/wallet")).status).toBe(401);
  });

  it("sends a signed-out browser to sign in and back", async () => {
    const answer = await send("GET", "/account/tokens");
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toContain(encodeURIComponent("/account/tokens"));
  });
});

describe("a token that may only read", () => {
  it("reads everything and changes nothing", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await ada.post("/api/jobs", job("demo", 10))).body;
    const reader = await getToken(ada, { scopes: ["read"] });
    for (const path of ["/api/wallet", "/api/wallet?app=demo", "/api/jobs", "/api/ledger"]) {
      expect((await reader.get(path)).status).toBe(200);
    }
    const writes = [
      await reader.post("/api/jobs", job("demo", 0)),
      await reader.post("/api/jobs/complete", { job_id, actual_cost: 0 }),
      await reader.post("/api/jobs/fail", { job_id }),
      await reader.get("/api/wallet?app=new"),
    ];
    for (const answer of writes) {
      expect(answer).toMatchObject({ status: 403, body: { code: "scope" } });
    }
    expect((await ada.get("/api/wallet")).body).toMatchObject({
      account: { credits: 90 },
      apps: [{ slug: "demo" }],
    });
  });

  it("gives a session JWT no more than it has itself, nor the right to approve", async () => {
    const ada = await signIn();
    const reader = await getToken(ada, { scopes: ["read"] });
    const proof = { kind: "pat", token_id: await tokenId(reader) } as const;
    const jwt = await sessionTokens().sign(BASE_URL, { identity_id: ada.identity_id, proof });
    const bound = holderOf(jwt);
    expect((await bound.get("/api/wallet")).status).toBe(200);
    expect((await bound.post("/api/jobs", job("demo", 0))).status).toBe(403);
    const { user_code } = await startLogin();
    const headers = { "Content-Type": "application/json", Origin: BASE_URL };
    const body = JSON.stringify({ user_code });
    for (const proof of [{ Authorization: `Bearer ${jwt}` }, { Cookie: `passbook_token=${jwt}` }]) {
      const init = { headers: { ...headers, ...proof } as Record<string, string>, body };
      expect((await send("POST", "/api/device/complete", init)).status).toBe(401);
    }
    expect(
      (await send("GET", "/api/wallet", { headers: { Cookie: `passbook_token=${jwt}` } })).status,
    ).toBe(401);
  });
});

describe("a token limited to some apps", () => {
  it("acts for these and sees only these", async () => {
    const ada = await signInWithCredits("demo");
    await ada.get("/api/wallet?app=other");
    const theirs = (await ada.post("/api/jobs", job("other"))).body.job_id;
    const token = await getToken(ada, { apps: ["demo", "second"] });
    const own = await token.post("/api/jobs", job("demo"));
    expect(own.status).toBe(200);

    const refused = [
      await token.post("/api/jobs", job("other", 0)),
      await token.post("/api/jobs/complete", { job_id: theirs, actual_cost: 0 }),
      await token.post("/api/jobs/fail", { job_id: theirs }),
      await token.get(`/api/jobs/${theirs}`),
      await token.get("/api/wallet?app=other"),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 403, body: { code: "scope" } });
    }
    const jobs = (await token.get("/api/jobs")).body.jobs;
    expect(jobs.map((row: { id: string }) => row.id)).toEqual([own.body.job_id]);
    expect((await token.get("/api/jobs?app=other")).body.jobs).toEqual([]);
    expect((await token.get("/api/wallet")).body.apps).toMatchObject([{ slug: "demo" }]);
    const lines = (await token.get("/api/ledger")).body.entries;
    expect(new Set(lines.map((line: { app: string }) => line.app))).toEqual(new Set(["demo"]));
    expect((await token.get("/api/wallet?app=second")).status).toBe(200);
  });
});
