import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createKeyRing, type SigningKey } from "../../../../../src/keys/signing.ts";
import { createSessionTokens } from "../../../../../src/tokens/session_token.ts";
import {
  getToken,
  holderOf,
  postForm,
  startLogin,
  tokenId,
} from "../../../support/device_logins.ts";
import { BASE_URL, send, signIn, signInWithCredits } from "../../../support/passbook.ts";
import { proofOf, withToken } from "../../../support/allowances.ts";

/** The session tokens of the Worker under test. */
function sessionTokens() {
  const { keys } = JSON.parse(env.SIGNING_KEYS) as { keys: SigningKey[] };
  return createSessionTokens(createKeyRing(keys));
}

const job = (app: string, cost_estimate = 1) => ({ app, action: "render", cost_estimate });

describe("revoking", () => {
  it("revoking a personal token takes effect on the next call, also for session tokens made from it", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const personal_token_id = await tokenId(token);
    const { identity_id } = ada;
    const proof = proofOf(personal_token_id);
    const session = holderOf(
      await sessionTokens().sign(BASE_URL, { identity_id, proof, binding: null }),
    );
    expect((await session.get("/api/wallet")).status).toBe(200);
    const account = env.ACCOUNT.getByName(identity_id);
    expect(await account.checkCaller(withToken(personal_token_id))).toMatchObject({ ok: true });
    const key = { "Idempotency-Key": "once" };
    expect((await token.post("/api/jobs", job("demo"), key)).status).toBe(200);

    const headers = { Authorization: `Bearer ${ada.token}` };
    const revoked = await send("DELETE", `/api/tokens/${personal_token_id}`, { headers });
    expect(revoked).toMatchObject({ status: 200, body: { ok: true } });
    expect(await token.get("/api/wallet")).toMatchObject({
      status: 401,
      body: { code: "unauthorized" },
    });
    expect((await token.post("/api/jobs", job("demo"), key)).status).toBe(401);
    expect((await session.get("/api/wallet")).status).toBe(401);
    expect(await account.checkCaller(withToken(personal_token_id))).toMatchObject({ ok: false });
    expect((await ada.getOwn("/api/tokens")).body.tokens).toEqual([]);
    expect((await send("DELETE", `/api/tokens/${personal_token_id}`, { headers })).status).toBe(
      404,
    );
  });

  it("a personal token is revoked by its holder or by itself, even if it is read-only", async () => {
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

  it("revoking with a cookie requires an allowed origin and an existing id", async () => {
    const ada = await signIn();
    const personal_token_id = await tokenId(await getToken(ada));
    const remove = (Origin: string, id = personal_token_id) =>
      send("DELETE", `/api/tokens/${id}`, { headers: { Cookie: ada.cookies, Origin } });
    expect((await remove("https://evil.example")).status).toBe(403);
    expect(await remove(BASE_URL, crypto.randomUUID())).toMatchObject({
      status: 404,
      body: { code: "personal_token_not_found" },
    });
    expect((await remove(BASE_URL)).status).toBe(200);
  });

  it("jobs of a revoked token can still be settled by other callers", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 50 }] });
    const { job_id } = (await token.post("/api/jobs", job("demo", 40))).body;
    await token.revoke(await tokenId(token));
    const done = await ada.post("/api/jobs/complete", { job_id, actual_cost: 10 });
    expect(done).toMatchObject({ status: 200, body: { credits: 90 } });
  });
});

describe("the page of tokens", () => {
  it("the page of tokens lists the holder's tokens and can revoke one", async () => {
    const ada = await signIn();
    const cap = { credits: 50, period: "total" };
    const token = await getToken(
      ada,
      { apps: ["demo"], caps: [cap] },
      { client_name: "<i>Laptop</i>" },
    );
    const personal_token_id = await tokenId(token);
    const page = await send("GET", "/account/access", { headers: { Cookie: ada.cookies } });
    for (const words of ["&lt;i&gt;Laptop", "in Demo", "50 credits in total", personal_token_id]) {
      expect(page.text).toContain(words);
    }
    expect(page.headers.get("Cache-Control")).toBe("no-store");

    const bob = await signIn("bob@example.com");
    await postForm(bob, "/account/access/revoke", { id: personal_token_id });
    expect((await token.get("/api/wallet")).status).toBe(200);
    const foreign = {
      headers: { Cookie: ada.cookies, Origin: "https://evil.example" },
      body: new URLSearchParams({ id: personal_token_id }),
    };
    expect((await send("POST", "/account/access/revoke", foreign)).status).toBe(403);

    const revoked = await postForm(ada, "/account/access/revoke", { id: personal_token_id });
    expect(revoked.status).toBe(303);
    expect((await token.get("/api/wallet")).status).toBe(401);
  });

  it("the page of tokens sends a signed-out browser to sign in and back", async () => {
    const response = await send("GET", "/account/access");
    expect(response.status).toBe(303);
    expect(response.headers.get("Location")).toContain(encodeURIComponent("/account/access"));
  });
});

describe("a read-only token", () => {
  it("a read-only token reads everything and changes nothing", async () => {
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
    for (const response of writes) {
      expect(response).toMatchObject({ status: 403, body: { code: "scope" } });
    }
    expect((await ada.get("/api/wallet")).body).toMatchObject({
      account: { credits: 90 },
      apps: [{ slug: "demo" }],
    });
  });

  it("a session token made from a read-only token has the same limits and cannot approve a device", async () => {
    const ada = await signIn();
    const reader = await getToken(ada, { scopes: ["read"] });
    const proof = proofOf(await tokenId(reader));
    const jwt = await sessionTokens().sign(BASE_URL, {
      identity_id: ada.identity_id,
      proof,
      binding: null,
    });
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
  it("a token limited to some apps uses and sees only these apps", async () => {
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
    for (const response of refused) {
      expect(response).toMatchObject({ status: 403, body: { code: "scope" } });
    }
    const jobs = (await token.get("/api/jobs")).body.jobs;
    expect(jobs.map((row: { id: string }) => row.id)).toEqual([own.body.job_id]);
    expect((await token.get("/api/jobs?app=other")).body.jobs).toEqual([]);
    expect((await token.get("/api/wallet")).body.apps).toMatchObject([{ slug: "demo" }]);
    const lines = (await token.get("/api/ledger")).body.entries;
    expect(new Set(lines.map((line: { app: string }) => line.app))).toEqual(new Set(["demo"]));
    expect((await token.get("/api/wallet?app=second")).status).toBe(200);
  });

  it("a limited token never gets the stored response of another caller's key", async () => {
    const ada = await signInWithCredits();
    const job = { app: "demo", action: "draw", cost_estimate: 1 };
    const key = { "Idempotency-Key": "order-1" };
    const first = await ada.post("/api/jobs", job, key);
    const other = await getToken(ada, { apps: ["other"] });
    const spied = await other.post("/api/jobs", job, key);
    expect(spied).toMatchObject({ status: 403, body: { code: "scope" } });
    const ended = { job_id: first.body.job_id, actual_cost: 1 };
    await ada.post("/api/jobs/complete", ended, key);
    const spied_end = await other.post("/api/jobs/complete", ended, key);
    expect(spied_end).toMatchObject({ status: 403, body: { code: "scope" } });
  });

  it("a limited token gets its own stored responses again", async () => {
    const ada = await signInWithCredits();
    const holder = await getToken(ada, { apps: ["demo"] });
    const job = { app: "demo", action: "draw", cost_estimate: 1 };
    const first = await holder.post("/api/jobs", job, { "Idempotency-Key": "order-1" });
    const again = await holder.post("/api/jobs", job, { "Idempotency-Key": "order-1" });
    expect(again.text).toBe(first.text);
  });
});
