import { env } from "cloudflare:workers";
import { createLocalJWKSet, jwtVerify } from "jose";
import { describe, expect, it, vi } from "vitest";
import { passTime } from "../../../support/clock.ts";
import { newSigningKeys } from "../../../../../src/commands/development_settings.ts";
import { approve, getToken, holderOf, poll, startLogin } from "../../../support/device_logins.ts";
import { send, signIn, signInWithCredits } from "../../../support/passbook.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

const job = (app: string, cost_estimate = 1) => ({ app, action: "render", cost_estimate });

/** A directory that records every call except reads of the registry, which an isolate does once a minute. */
const countingDirectory = (hops: string[]) =>
  new Proxy(env.DIRECTORY, {
    get: (database, name) => (query: string) => {
      if (name !== "prepare" || !/\bapps\b/.test(query)) hops.push(`DIRECTORY.${String(name)}`);
      return database.prepare(query);
    },
  });

describe("a personal access token", () => {
  it("a personal token can do what its holder can do with a session", async () => {
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

  it("a request with a personal token makes one object call and no query, KV read or fetch", async () => {
    const ada = await signInWithCredits();
    const { token } = await getToken(ada, { caps: [{ credits: 50 }], apps: ["demo"] });
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
      DIRECTORY: countingDirectory(hops),
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

  it("a personal token is accepted only as a bearer token with its prefix", async () => {
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

  it("an app that verifies session tokens with the published keys refuses a personal token", async () => {
    const { token } = await getToken(await signIn());
    const { body } = await send("GET", "/.well-known/jwks.json");
    const published = createLocalJWKSet(body);
    await expect(jwtVerify(token.replace("pb_pat_", ""), published)).rejects.toThrow();
    const session = await signIn();
    await expect(jwtVerify(session.token, published)).resolves.toBeDefined();
  });

  it("a personal token survives a rotation of the signing keys", async () => {
    const { token } = await getToken(await signIn());
    const fresh = JSON.parse(await newSigningKeys()) as { keys: object[] };
    const old = JSON.parse(env.SIGNING_KEYS) as { keys: object[] };
    const headers = { Authorization: `Bearer ${token}` };
    const rotated = { SIGNING_KEYS: JSON.stringify({ keys: [...fresh.keys, ...old.keys] }) };
    expect((await send("GET", "/api/wallet", { headers }, rotated)).status).toBe(200);
    const retired = { SIGNING_KEYS: JSON.stringify(fresh) };
    expect((await send("GET", "/api/wallet", { headers }, retired)).status).toBe(401);
  });

  it("a personal token with another signature is refused", async () => {
    const ada = await signIn();
    const { token } = await getToken(ada);
    const [header, payload, signature = ""] = token.split(".");
    const forged = `${header}.${payload}.${signature.replace(/^./, (c) => (c === "A" ? "B" : "A"))}`;
    expect((await holderOf(forged).get("/api/wallet")).status).toBe(401);
  });

  it("a personal token stops working when it expires", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    passTime(89 * DAY_MS);
    expect((await token.get("/api/wallet")).status).toBe(200);
    passTime(2 * DAY_MS);
    expect((await token.get("/api/wallet")).status).toBe(401);
  });

  it("a personal token is valid for the number of days in the settings", async () => {
    const ada = await signIn();
    const settings = { PAT_TTL_DAYS: "1" };
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    const { token } = (await poll(device_code, settings)).body;
    passTime(1.1 * DAY_MS);
    expect((await holderOf(token).get("/api/wallet")).status).toBe(401);
  });

  it("a personal token appears neither in the list of tokens nor in the account's storage", async () => {
    const ada = await signIn();
    const { token } = await getToken(ada, {}, { client_name: "Console" });
    const listed = await ada.getOwn("/api/tokens");
    const signature = token.split(".").at(-1) ?? "";
    expect(listed.text).toContain("Console");
    expect(listed.text).not.toContain(signature);
  });
});

describe("the list of tokens", () => {
  it("the list of tokens shows label, last use and limits, newest first", async () => {
    const ada = await signIn();
    await getToken(ada, {}, { client_name: "Laptop", app: "demo" });
    passTime(1_000);
    const limits = { scopes: ["read"], apps: ["demo"], caps: [{ credits: 50, period: "month" }] };
    await getToken(ada, limits, { app: "demo" });
    const { body } = await ada.getOwn("/api/tokens");
    expect(body.tokens).toEqual([
      expect.objectContaining({
        label: "demo",
        scopes: ["read"],
        apps: ["demo"],
        caps: [
          {
            credits: 50,
            period: "month",
            spent: 0,
            approved: 0,
            room: 50,
            resets_at: expect.any(String),
          },
        ],
        current: false,
      }),
      expect.objectContaining({
        label: "Laptop",
        app: "demo",
        scopes: ["read", "write", "upstream"],
        apps: null,
        caps: [],
        last_used_at: null,
      }),
    ]);
  });

  it("the list of tokens contains only the caller's tokens", async () => {
    const ada = await signIn();
    await getToken(ada);
    const bob = await signIn("bob@example.com");
    expect((await bob.getOwn("/api/tokens")).body).toEqual({ tokens: [] });
    expect((await send("GET", "/api/tokens")).status).toBe(401);
  });

  it("the list of tokens marks the current token, and a token sees only itself", async () => {
    const ada = await signIn();
    const full = await getToken(ada);
    const limited = await getToken(ada, { apps: ["demo"] });
    const seen = async (holder: typeof full) =>
      (await holder.get("/api/tokens")).body.tokens.map((t: { current: boolean }) => t.current);
    expect(await seen(full)).toEqual([true]);
    expect(await seen(limited)).toEqual([true]);
  });

  it("the last use of a token is updated at most once an hour", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    const lastUse = async () => (await ada.getOwn("/api/tokens")).body.tokens[0].last_used_at;
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

  it("an account has a limited number of valid tokens", async () => {
    const ada = await signIn();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const limits = {
      access: "write",
      upstream: true,
      admin: false,
      app_slugs: null,
      caps: [],
    } as const;
    const issue = (expires_at_ms: number) =>
      account.issueAllowance({ kind: "holder" } as const, {
        id: crypto.randomUUID(),
        label: "x",
        app_slug: null,
        limits,
        session_id: "session",
        signin_method: "dev",
        ends_with_session: false,
        expires_at_ms,
      });
    const early = await startLogin();
    await approve(ada, early.user_code);
    for (let i = 0; i < 100; i += 1) await issue(Date.now() + HOUR_MS);
    // The login was approved below the limit of tokens, but is collected at the limit.
    expect(await poll(early.device_code)).toMatchObject({
      status: 400,
      body: { code: "limit_reached" },
    });
    const { user_code } = await startLogin();
    expect(await approve(ada, user_code)).toMatchObject({
      status: 400,
      body: { code: "limit_reached" },
    });
    passTime(2 * HOUR_MS);
    const after = await startLogin();
    expect((await approve(ada, after.user_code)).status).toBe(200);
  });
});
