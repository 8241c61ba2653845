import { env } from "cloudflare:workers";
import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { DELETION_REPEAT_MS } from "../../../src/operations/account_deletion.ts";
import { servicesFor, upkeepOf } from "../../../src/services.ts";
import worker from "../../../src/worker.ts";
import { repeatAlarm } from "../support/account_object.ts";
import { countedEnvironment } from "../support/bindings.ts";
import { openBrowser, subjectOf, tokenOf, type Browser } from "../support/browser.ts";
import { passTime } from "../support/clock.ts";
import {
  approve,
  fromOwnPage,
  getToken,
  holderOf,
  poll,
  postForm,
  startLogin,
} from "../support/device_logins.ts";
import { BASE_URL, send, signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { connect, openProviderDouble } from "../support/provider_double.ts";
import { deliver, openCheckout, openStripe } from "../payments/till.ts";
import { personalToken, SETTINGS, signInOperator } from "../http/api/admin/operators.ts";
import { openAppServer } from "../http/caller/app_server.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 30 };
const PATH = "/account/delete";

const deleteAccount = (ada: SignedIn, confirmation = "delete") =>
  postForm(ada, PATH, { confirmation });

const page = (ada: SignedIn, path: string) =>
  send("GET", path, { headers: { Cookie: ada.cookies, Accept: "text/html" } });

const deletedOf = (identity_id: string) => env.ACCOUNT.getByName(identity_id).isDeleted();

/** Runs the work after a deletion: the object's alarm, and the schedule an hour later. */
async function finishDeletion(identity_id: string): Promise<void> {
  for (let alarms = 0; alarms < 5; alarms += 1) await repeatAlarm(identity_id);
  passTime(DELETION_REPEAT_MS);
  await upkeepOf(env)();
}

async function directory(statement: string): Promise<Record<string, unknown>[]> {
  return (await env.DIRECTORY.prepare(statement).all()).results;
}

/** Makes the directory refuse writes to the matching tables until the mocks are restored. */
function loseDirectory(tables = /"?(identities|sessions|users|audit)"?/) {
  const prototype = Object.getPrototypeOf(env.DIRECTORY);
  const { prepare } = prototype;
  return vi.spyOn(prototype, "prepare").mockImplementation(function (this: unknown, query) {
    if (/^\s*(delete|update)/i.test(String(query)) && tables.test(String(query))) {
      throw new Error("D1_ERROR: out of reach");
    }
    return Reflect.apply(prepare, this, [query]);
  });
}

describe("the page that deletes an account", () => {
  it("the deletion page lists what is deleted, offers the data and requires the word", async () => {
    const ada = await signInWithCredits();
    await getToken(ada);
    await ada.post("/api/jobs", JOB);
    const { status, text } = await page(ada, PATH);
    expect(status).toBe(200);
    for (const words of [
      "70 credits",
      "30 held for 1 running job",
      "1 device or token",
      "ada@example.com",
    ]) {
      expect(text).toContain(words);
    }
    expect(text).toContain('href="/account/data.json"');
    expect(await page(ada, "/account")).toMatchObject({
      text: expect.stringContaining(`href="${PATH}"`),
    });
  });

  it("a wrong word deletes nothing and shows an error", async () => {
    const ada = await signInWithCredits();
    for (const word of ["", "no", "deleted", "delete me"]) {
      const answer = await deleteAccount(ada, word);
      expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("Nothing was") });
      expect(answer.headers.getSetCookie().join()).not.toContain("Max-Age=0");
    }
    expect((await postForm(ada, PATH, {})).status).toBe(400);
    expect(await deletedOf(ada.identity_id)).toBe(false);
    expect(await directory("select * from deletions")).toEqual([]);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
  });

  it.each(["delete", " Delete ", "DELETE"])(
    "the deletion form accepts the word as %j",
    async (word) => {
      const ada = await signIn();
      expect((await deleteAccount(ada, word)).status).toBe(200);
      expect(await deletedOf(ada.identity_id)).toBe(true);
    },
  );

  it("the deletion form is accepted only from a browser session on our own page", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const body = new URLSearchParams({ confirmation: "delete" });
    const own = { Origin: BASE_URL, Accept: "text/html" };
    for (const headers of [
      own,
      { ...own, Authorization: `Bearer ${ada.token}` },
      { ...own, Authorization: `Bearer ${token.token}` },
      { ...own, Cookie: `passbook_token=${ada.token}` },
    ]) {
      expect((await send("POST", PATH, { headers, body })).status).toBe(303);
    }
    for (const Origin of ["https://evil.test", "http://localhost:3000"]) {
      const headers = { Cookie: ada.cookies, Origin };
      expect((await send("POST", PATH, { headers, body })).status).toBe(403);
    }
    expect((await send("POST", PATH, { headers: { Cookie: ada.cookies }, body })).status).toBe(403);
    expect(await deletedOf(ada.identity_id)).toBe(false);
  });

  it("a suspended person cannot delete their account", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const address = `/api/admin/accounts/${ada.identity_id}/suspend`;
    await olga.send("POST", address, { reason: "fraud" });
    expect((await deleteAccount(ada)).status).toBe(403);
    expect(await deletedOf(ada.identity_id)).toBe(false);
  });

  it("the deletion page warns operators, and deletes their account too", async () => {
    const { person } = await signInOperator();
    const headers = { ...fromOwnPage(person), Accept: "text/html" };
    const shown = await send("GET", PATH, { headers }, SETTINGS);
    expect(shown.text).toContain("You operate this service");
    const body = new URLSearchParams({ confirmation: "delete" });
    expect((await send("POST", PATH, { headers, body }, SETTINGS)).status).toBe(200);
    expect(await deletedOf(person.identity_id)).toBe(true);
  });
});

describe("after a deletion", () => {
  it("the browser of a deleted account is signed out and gets a page with a way on", async () => {
    const ada = await signIn();
    const answer = await deleteAccount(ada);
    expect(answer.text).toContain("Your account is deleted");
    expect(answer.text).toContain('href="/signin"');
    expect(answer.text).not.toContain('href="/account"');
    const cleared = answer.headers.getSetCookie().filter((it) => it.includes("Max-Age=0"));
    expect(cleared.map((cookie) => cookie.split("=")[0])).toEqual([
      "passbook_session",
      "passbook_token",
    ]);
    const responses = await page(ada, "/account");
    expect(responses.headers.get("Location")).toContain("/signin");
  });

  it("every older credential of a deleted account is 401, and an app key does not find the account", async () => {
    // Its own slug, because the isolate caches the policy for longer than this test takes.
    const server = await openAppServer("shop");
    const ada = await signInWithCredits("shop");
    const token = await getToken(ada);
    const from_token = holderOf((await token.get("/api/sessionToken")).body.token);
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    const { body } = await ada.post("/api/jobs", { ...JOB, app: "shop" });
    await deleteAccount(ada);
    for (const follows of [false, true]) {
      if (follows) await finishDeletion(ada.identity_id);
      const cookies = { Cookie: ada.cookies };
      const responses = await Promise.all([
        ...[ada, token, ...(follows ? [] : [from_token])].flatMap((it) => [
          it.get("/api/wallet?app=shop"),
          it.get("/api/me"),
          it.get("/api/events"),
          it.get("/api/sessionToken"),
          it.post("/api/jobs", { ...JOB, app: "shop" }),
          it.post("/api/jobs/complete", { job_id: body.job_id, actual_cost: 0 }),
        ]),
        send("GET", "/api/wallet", { headers: cookies }),
        send("GET", "/api/sessionToken", { headers: cookies }),
        approve(ada, (await startLogin()).user_code),
      ]);
      for (const { status } of responses) expect(status).toBe(401);
      expect(await poll(device_code)).toMatchObject({ status: 410 });
      expect(await server.in(ada.identity_id).get("/api/wallet")).toMatchObject({
        status: 404,
        body: { code: "account_unknown" },
      });
      expect(
        await server.in(ada.identity_id).post("/api/jobs", { ...JOB, app: "shop" }),
      ).toMatchObject({
        status: 404,
      });
    }
  });

  it("an older token is refused by the account's object without another store", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    await deleteAccount(ada);
    const { environment, hops } = countedEnvironment();
    // The isolate's copy of the registry says which apps a page belongs to. It is read once a minute.
    const bo = await signIn("bo@example.com");
    await send(
      "GET",
      "/api/jobs",
      { headers: { Authorization: `Bearer ${bo.token}` } },
      environment,
    );
    for (const bearer of [ada.token, token.token]) {
      Object.assign(hops, { account: 0, d1: 0, kv: 0 });
      const headers = { Authorization: `Bearer ${bearer}` };
      const answer = await send("GET", "/api/jobs", { headers }, environment);
      expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
      expect(hops).toEqual({ account: 1, d1: 0, kv: 0 });
    }
  });

  it("the streams of a deleted account are closed", async () => {
    const ada = await signInWithCredits();
    const headers = { Authorization: `Bearer ${ada.token}`, Upgrade: "websocket" };
    const request = new Request(new URL("/api/events", BASE_URL), { headers });
    const { webSocket } = await worker.fetch(request, env, createExecutionContext());
    const closed = new Promise((resolve) =>
      webSocket?.addEventListener("close", ({ code }) => resolve(code)),
    );
    webSocket?.accept();
    await deleteAccount(ada);
    expect(await closed).toBe(4401);
  });

  it("operators do not find a deleted account, and no action restores it", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    await deleteAccount(ada);
    await finishDeletion(ada.identity_id);
    const again = await signInOperator();
    const address = `/api/admin/accounts/${ada.identity_id}`;
    const responses = [
      await again.get(address),
      await again.send("POST", `${address}/rebuild`, {}),
      await again.send(
        "POST",
        `${address}/credits`,
        { amount: 5, reason: "why" },
        { "Idempotency-Key": "k" },
      ),
      await again.send("POST", `${address}/suspend`, { reason: "why" }),
    ];
    for (const { status, body } of responses) {
      expect([status, body.code]).toEqual([404, "account_unknown"]);
    }
    const { body } = await again.get("/api/admin/accounts");
    expect(JSON.stringify(body)).not.toContain(ada.identity_id);
    expect(olga.person.identity_id).toBe(again.person.identity_id);
  });

  it("later payments for a deleted account change nothing, and a refund only what its holder would owe", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const [paid, open] = [await openCheckout(ada), await openCheckout(ada)];
    const completed = stripe.completes(paid);
    await deliver(completed);
    await deleteAccount(ada);
    await finishDeletion(ada.identity_id);
    const spies = [vi.spyOn(console, "error"), vi.spyOn(console, "warn")];
    for (const spy of spies) spy.mockReturnValue();
    const before = await everything(ada.identity_id);
    for (const event of [completed, stripe.completes(open)]) {
      expect(await deliver(event)).toMatchObject({ status: 200 });
    }
    expect(await everything(ada.identity_id)).toEqual(before);
    expect(await deliver(stripe.refunds(paid, 500))).toMatchObject({ status: 200 });
    const { account, kept_payments: _, ...others } = await everything(ada.identity_id);
    const { account: former, kept_payments: __, ...unchanged } = before;
    expect(others).toEqual(unchanged);
    expect(account).toEqual([{ ...(former?.[0] as object), left_credits: 100 }]);
    const dropped = { event: "payment_event_dropped", reason: "account_deleted" };
    // A payment without credits is logged as an error.
    const logged = spies.map((spy) => spy.mock.calls.map(([line]) => line));
    expect(logged).toMatchObject([[dropped, dropped], []]);
  });

  it("requests concurrent with a deletion are done before it or refused, never in part", async () => {
    const ada = await signInWithCredits();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        at === 10 ? deleteAccount(ada) : ada.post("/api/jobs", { ...JOB, cost_estimate: 1 }),
      ),
    );
    for (const [at, { status }] of answers.entries()) {
      expect(at === 10 ? [200] : [200, 401]).toContain(status);
    }
    await finishDeletion(ada.identity_id);
    expect(await everything(ada.identity_id)).toMatchObject({ jobs: [], entries: [] });
    const { results } = await env.DB.prepare("select id from accounts").all();
    expect(results).toEqual([]);
  });
});

describe("the data of a deleted person", () => {
  it("no table of any store contains the person after a deletion, byte by byte", async () => {
    const { acme, zeta, settings } = openProviders();
    const olga = await signInOperator();
    const browser = openBrowser(settings);
    await browser.signIn(acme, ADA);
    const start = await browser.post("/account/link", { provider: "zeta" });
    await browser.get(zeta.approve(start.headers.get("Location") ?? "", ADA_AT_ZETA).href);
    const ada = await bearerOf(browser);
    const { device_code, user_code } = await startLogin({ client_name: "Ada's laptop" });
    await browser.post("/device/approve", {
      user_code,
      last_letters: user_code.slice(-4),
      access: "write",
      reach: "all",
      credits: "",
      period: "total",
      no_limit: "yes",
      other_apps: "",
    });
    expect((await poll(device_code)).status).toBe(200);
    await ada.get("/api/wallet?app=demo");
    await ada.post(
      "/api/jobs",
      { ...JOB, action: "draw Lovelace", metadata: { description: "Lovelace at her desk" } },
      { "Idempotency-Key": "lovelace-1" },
    );
    await olga.send(
      "POST",
      `/api/admin/accounts/${ada.identity_id}/credits`,
      { amount: 5, reason: "for Lovelace" },
      { "Idempotency-Key": "lovelace-gift" },
    );
    const traces = [
      ada.identity_id,
      "ada-at-acme",
      "ada-at-zeta",
      "Lovelace",
      "lovelace",
      "laptop",
    ];
    const found = async () => {
      const dump = JSON.stringify([
        await everything(ada.identity_id),
        await everywhereElse(user_code),
      ]);
      return traces.filter((trace) => dump.includes(trace));
    };
    expect(await found()).toEqual(traces);
    await browser.post(PATH, { confirmation: "delete" });
    await finishDeletion(ada.identity_id);
    // The object of a device login deletes its data a day after the login ended.
    passTime(2 * 24 * 60 * 60 * 1000);
    await forgetLogin(user_code);
    expect(await found()).toEqual([]);
    expect(await directory("select subject, reason, act from audit")).toEqual([
      {
        subject: expect.stringMatching(/^deleted_[\w-]{43}$/),
        reason: null,
        act: "account.credits",
      },
    ]);
  });

  it("the audit log does not name a deleted person, not even for an action in progress", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const restore = (identity_id: string, reason: string) =>
      olga.send(
        "POST",
        `/api/admin/accounts/${identity_id}/restore`,
        { reason },
        { "Idempotency-Key": "one" },
      );
    const bob = await signIn("bob@example.com");
    await restore(ada.identity_id, "for Ada");
    await restore(bob.identity_id, "for Bob");
    const admin = await personalToken(olga.person, { scopes: ["admin"] });
    expect(admin).not.toBeNull();
    const body = new URLSearchParams({ confirmation: "delete" });
    await send("POST", PATH, { headers: fromOwnPage(olga.person), body }, SETTINGS);
    await deleteAccount(ada);
    // The audit record of an action that was accepted before the deletion and is written after it.
    await env.DIRECTORY.prepare(
      `insert into audit select 'late', at_ms, ?1, act, ?2, 'for Ada', request_id, details_json,
        'late', ?1 || ' digest' from audit limit 1`,
    )
      .bind(olga.person.identity_id, ada.identity_id)
      .run();
    passTime(DELETION_REPEAT_MS);
    await upkeepOf(env)();
    const dump = JSON.stringify(await directory("select * from audit"));
    for (const trace of [olga.person.identity_id, ada.identity_id, "for Ada"]) {
      expect(dump).not.toContain(trace);
    }
    expect(dump).toContain("for Bob");
    expect(await directory("select * from deletions")).toEqual([]);
  });
});

describe("an interrupted deletion", () => {
  it("a deletion that is interrupted before the account decided changes nothing", async () => {
    const ada = await signInWithCredits();
    const account = Object.getPrototypeOf(env.ACCOUNT);
    const closing = vi.spyOn(account, "getByName").mockImplementation(() => {
      throw Object.assign(new Error("gone"), { retryable: true });
    });
    vi.spyOn(console, "error").mockReturnValue();
    const services = servicesFor(env);
    if (!services.ok) throw new Error("misconfigured");
    const { account_deletion } = services.value;
    await expect(account_deletion.deleteAccount(ada.identity_id, "holder")).rejects.toThrow();
    closing.mockRestore();
    expect(await directory("select identity_id from deletions")).toHaveLength(1);
    passTime(DELETION_REPEAT_MS);
    await upkeepOf(env)();
    expect(await directory("select * from deletions")).toEqual([]);
    expect(await directory("select id from users")).toHaveLength(1);
    expect(await deletedOf(ada.identity_id)).toBe(false);
  });

  const touches: readonly [string, (ada: SignedIn) => Promise<unknown>][] = [
    ["the schedule", async () => (passTime(DELETION_REPEAT_MS), upkeepOf(env)())],
    ["the person's next page", (ada) => page(ada, "/account")],
    ["the form sent again", (ada) => deleteAccount(ada)],
    ["the person's next sign-in", signInByForm],
    ["the sign-in page", (ada) => page(ada, "/signin")],
  ];
  it.each(touches)(
    "a deletion that is interrupted after the account decided is completed by %s",
    async (_, touch) => {
      const ada = await signInWithCredits();
      const lost = loseDirectory();
      vi.spyOn(console, "warn").mockReturnValue();
      expect((await deleteAccount(ada)).status).toBe(200);
      expect(await directory("select id from users")).toHaveLength(1);
      expect((await ada.get("/api/wallet")).status).toBe(401);
      lost.mockRestore();
      await touch(ada);
      for (const table of ["users", "identities", "sessions"]) {
        expect(await directory(`select * from ${table}`)).toEqual([]);
      }
      expect((await signIn()).identity_id).not.toBe(ada.identity_id);
    },
  );
});

describe("a returning person", () => {
  it("a returning person is new and gets no second starter credits, by any method, each time", async () => {
    const { acme, zeta, settings } = openProviders();
    const browser = openBrowser(settings);
    const first = subjectOf(tokenOf(await browser.signIn(acme, ADA)));
    const start = await browser.post("/account/link", { provider: "zeta" });
    await browser.get(zeta.approve(start.headers.get("Location") ?? "", ADA_AT_ZETA).href);
    const ids = [first];
    for (const [provider, person] of [
      [zeta, ADA_AT_ZETA],
      [acme, ADA],
      [acme, ADA],
    ] as const) {
      await browser.post(PATH, { confirmation: "delete" });
      const landed = await browser.signIn(provider, person);
      const ada = await bearerOf(browser);
      expect(ids).not.toContain(subjectOf(tokenOf(landed)));
      ids.push(ada.identity_id);
      const { body } = await ada.get("/api/wallet?app=demo");
      expect(body.account.credits).toBe(0);
      expect(body.app_grant).toEqual({ slug: "demo", starter_credits: 0, granted: false });
      // An unregistered app without a grant is stored with its first job.
      expect(body.apps).toEqual([]);
    }
    // A subject that the provider names for the first time is new.
    const landed = await openBrowser(settings).signIn(acme, { ...ADA, sub: "somebody else" });
    const other = holderOf(tokenOf(landed) ?? "");
    expect((await other.get("/api/wallet?app=demo")).body.account.credits).toBe(100);
  });

  it("a returning person is recognised with an older key, and the stores do not name them", async () => {
    const ada = await signInWithCredits();
    await deleteAccount(ada);
    const [tombstone] = await directory("select pseudonym from tombstones");
    expect(tombstone?.["pseudonym"]).toMatch(/^[\w-]{43}$/);
    const guessed = await crypto.subtle.digest(
      "SHA-256",
      new TextEncoder().encode(JSON.stringify(["identity", "dev", "ada@example.com"])),
    );
    const plain = btoa(String.fromCharCode(...new Uint8Array(guessed)));
    expect(plain.replaceAll("+", "-").replaceAll("/", "_").replace("=", "")).not.toBe(
      tombstone?.["pseudonym"],
    );
    const { keys } = JSON.parse(env.SIGNING_KEYS);
    const fresh = JSON.parse(await freshSigningKey());
    const rotated = { SIGNING_KEYS: JSON.stringify({ keys: [fresh, ...keys] }) };
    const form = new URLSearchParams({
      email: "ada@example.com",
      redirect_to: "http://localhost:3000/back",
    });
    const landed = await send("POST", "/signin/dev", { body: form }, rotated);
    const again = holderOf(tokenOf(landed) ?? "", rotated);
    expect((await again.get("/api/wallet?app=demo")).body.account.credits).toBe(0);
  });

  it("an interrupted first sign-in of a returning person is completed by the next one", async () => {
    const former = await signInWithCredits();
    await deleteAccount(former);
    const account = Object.getPrototypeOf(env.ACCOUNT);
    const lost = vi.spyOn(account, "getByName").mockImplementation(() => {
      throw Object.assign(new Error("gone"), { retryable: true });
    });
    vi.spyOn(console, "error").mockReturnValue();
    expect((await signInByForm()).status).toBe(503);
    expect(await directory("select id from sessions")).toEqual([]);
    lost.mockRestore();
    const ada = await signInWithCredits();
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(0);
    expect(await directory("select opens_as_returned from users")).toEqual([
      { opens_as_returned: 0 },
    ]);
  });
});

const ADA = {
  sub: "ada-at-acme",
  name: "Ada Lovelace",
  email: "lovelace@example.com",
  email_verified: true,
};
const ADA_AT_ZETA = { ...ADA, sub: "ada-at-zeta" };

const signInByForm = () =>
  send("POST", "/signin/dev", { body: new URLSearchParams({ email: "ada@example.com" }) });

function openProviders() {
  const [acme, zeta] = [openProviderDouble("acme"), openProviderDouble("zeta")];
  return { acme, zeta, settings: { ...connect(acme, zeta) } };
}

/** The person of a browser as a client of the API. */
async function bearerOf(browser: Browser) {
  const { body } = await browser.get("/api/sessionToken");
  return { ...holderOf(body.token), identity_id: subjectOf(body.token) };
}

async function freshSigningKey(): Promise<string> {
  const { privateKey } = (await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ])) as CryptoKeyPair;
  const { kty, crv, x, d } = (await crypto.subtle.exportKey("jwk", privateKey)) as JsonWebKey;
  return JSON.stringify({ kty, crv, x, d, kid: "fresh" });
}

const TABLES = `select name from sqlite_master
  where type = 'table' and name not like '\\_cf%' escape '\\'`;

/** Every row of an account's object, by table. */
function everything(identity_id: string): Promise<Record<string, unknown[]>> {
  return runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, { storage }) => {
    const tables = storage.sql
      .exec<{ name: string }>(TABLES)
      .toArray()
      .map(({ name }) => name);
    return Object.fromEntries(
      tables.map((name) => [name, storage.sql.exec(`select * from "${name}"`).toArray()]),
    );
  });
}

/** Every row of both databases, the contents of KV, and the storage of a device login's object. */
async function everywhereElse(user_code: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const database of [env.DIRECTORY, env.DB]) {
    const { results } = await database.prepare(TABLES).all<{ name: string }>();
    for (const { name } of results) {
      found.push((await database.prepare(`select * from "${name}"`).all()).results);
    }
  }
  for (const { name } of (await env.DEVICE_CODES.list()).keys) {
    found.push(name, await env.DEVICE_CODES.get(name));
  }
  const login = await runInDurableObject(loginOf(user_code), (_, { storage }) => storage.list());
  return [...found, [...login]];
}

const loginOf = (user_code: string) => env.DEVICE_LOGIN.getByName(user_code.replace("-", ""));

/** Simulates the end of a login's retention: the object's alarm, and the expiry of KV's copy. */
async function forgetLogin(user_code: string): Promise<void> {
  await runInDurableObject(loginOf(user_code), (login) => login.alarm());
  await env.DEVICE_CODES.delete(user_code.replace("-", ""));
}
