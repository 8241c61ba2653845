import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";
import { query } from "../support/account_object.ts";
import { subjectOf } from "../support/browser.ts";
import { getToken, holderOf } from "../support/device_logins.ts";
import { send, signIn, type Answer } from "../support/passbook.ts";
import { dropConstraints, openDirectory, registerApp } from "../support/directory_outage.ts";

const MINUTE_MS = 60_000;

let warned: MockInstance;
let logged: MockInstance;
beforeEach(() => {
  warned = vi.spyOn(console, "warn").mockReturnValue();
  logged = vi.spyOn(console, "error").mockReturnValue();
});

/** Whether sign-in may redirect to this address. */
async function isAllowed(address: string, environment: Env): Promise<boolean> {
  const path = `/signin?${new URLSearchParams({ redirect_to: address }).toString()}`;
  return (await send("GET", path, {}, environment)).status === 200;
}

describe("the table of apps", () => {
  it.each([
    ["a slug in upper case", "Demo", {}],
    ["a slug with a blank", "a b", {}],
    ["a slug that starts with a dash", "-a", {}],
    ["a slug that is empty", "", {}],
    ["a slug that is too long", "a".repeat(65), {}],
    ["a slug with a letter of elsewhere", "ä", {}],
    ["negative credits", "demo", { starter_credits: -1 }],
    ["credits that are no number", "demo", { starter_credits: "many" }],
    ["a fraction of a credit", "demo", { starter_credits: 1.5 }],
    ["more credits than a balance can take back", "demo", { starter_credits: 9e15 }],
    ["origins that are no JSON", "demo", { origins_json: "https://a.example" }],
    ["origins that are no array", "demo", { origins_json: '{"a":1}' }],
    ["empty origins", "demo", { origins_json: "" }],
  ])("the table of apps refuses %s", async (_, slug, row) => {
    await expect(registerApp(slug, row)).rejects.toThrow(/CHECK constraint failed/);
  });

  it("the table of apps accepts valid rows up to the longest slug and the largest grant", async () => {
    await registerApp("a", {});
    await registerApp(`0${"-".repeat(63)}`, { starter_credits: 1e12 });
    await registerApp("a.b_c-d", { origins_json: '["https://a.example"]' });
    expect(await env.DIRECTORY.prepare("select count(*) as n from apps").first("n")).toBe(3);
  });
});

describe("an invalid row", () => {
  it.each(["not json", '"https://bad.example"', "{}", "null"])(
    "with %s as its origins an app has none, is logged by slug and affects no other app",
    async (origins_json) => {
      await registerApp("good", { origins_json: '["https://good.example"]', starter_credits: 5 });
      await registerApp("bad", { starter_credits: 7 });
      await dropConstraints();
      await env.DIRECTORY.prepare("update apps set origins_json = ? where slug = 'bad'")
        .bind(origins_json)
        .run();
      const environment = openDirectory().environment();
      expect(await isAllowed("https://good.example/", environment)).toBe(true);
      expect(await isAllowed("https://bad.example/", environment)).toBe(false);
      const ada = await signIn();
      const headers = { Authorization: `Bearer ${ada.token}` };
      for (const [app, credits] of [
        ["good", 5],
        ["bad", 12],
      ]) {
        const answer = await send("GET", `/api/wallet?app=${app}`, { headers }, environment);
        expect(answer.body.account.credits).toBe(credits);
      }
      expect(logged).toHaveBeenCalledWith({ event: "app_origins_read_failed", slug: "bad" });
    },
  );

  it.each([
    ["credits", "update apps set starter_credits = -5 where slug = 'bad'"],
    ["credits beyond the bound", "update apps set starter_credits = 9e15 where slug = 'bad'"],
    ["a name", "update apps set name = null where slug = 'bad'"],
  ])("an app with invalid %s is not registered", async (_, sabotage) => {
    await registerApp("good", { origins_json: '["https://good.example"]' });
    await registerApp("bad", { origins_json: '["https://bad.example"]' });
    await dropConstraints();
    await env.DIRECTORY.exec(sabotage);
    const environment = openDirectory().environment();
    expect(await isAllowed("https://good.example/", environment)).toBe(true);
    expect(await isAllowed("https://bad.example/", environment)).toBe(false);
    expect(logged).toHaveBeenCalledWith({ event: "app_ignored", slug: "bad" });
  });

  it("an invalid origin of an app is ignored and logged", async () => {
    await registerApp("mixed", {
      origins_json: '["https://one.example", 7, "http://two.example"]',
    });
    const environment = openDirectory().environment();
    expect(await isAllowed("https://one.example/", environment)).toBe(true);
    expect(await isAllowed("http://two.example/", environment)).toBe(false);
    expect(logged).toHaveBeenCalledWith({ event: "app_origin_ignored", slug: "mixed", index: 1 });
    expect(logged).toHaveBeenCalledWith({ event: "app_origin_ignored", slug: "mixed", index: 2 });
  });
});

describe("a wildcard over a shared hosting suffix", () => {
  it("a wildcard over a shared hosting suffix is never an app's origin", async () => {
    await registerApp("mine", {
      origins_json: '["https://*.mine.example", "https://*.github.io", "https://*.co.uk"]',
    });
    const environment = openDirectory().environment();
    expect(await isAllowed("https://a.mine.example/", environment)).toBe(true);
    expect(await isAllowed("https://stranger.github.io/", environment)).toBe(false);
    expect(await isAllowed("https://stranger.co.uk/", environment)).toBe(false);
    expect(logged).toHaveBeenCalledWith({ event: "app_origin_ignored", slug: "mine", index: 1 });
  });
});

describe("a withdrawn origin", () => {
  const ORIGINS = { origins_json: '["https://app.example"]' };

  it("a withdrawn origin is no longer allowed a minute later", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await registerApp("app", ORIGINS);
    const environment = openDirectory().environment();
    expect(await isAllowed("https://app.example/", environment)).toBe(true);
    await registerApp("app", {});
    vi.advanceTimersByTime(MINUTE_MS);
    expect(await isAllowed("https://app.example/", environment)).toBe(false);
  });

  it("a withdrawn origin is allowed for at most a quarter of an hour while the directory is unavailable", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await registerApp("app", ORIGINS);
    const directory = openDirectory();
    const environment = directory.environment();
    expect(await isAllowed("https://app.example/", environment)).toBe(true);
    directory.state = "fails";
    vi.advanceTimersByTime(15 * MINUTE_MS - 1);
    expect(await isAllowed("https://app.example/", environment)).toBe(true);
    expect(warned).toHaveBeenCalledWith(
      expect.objectContaining({ event: "app_registry_read_failed", reason: "Error" }),
    );
    vi.advanceTimersByTime(1);
    expect(await isAllowed("https://app.example/", environment)).toBe(false);
    directory.state = "answers";
    vi.advanceTimersByTime(5_000);
    expect(await isAllowed("https://app.example/", environment)).toBe(true);
  });
});

describe("while the directory is unavailable", () => {
  async function signInWithApps(count: number) {
    const ada = await signIn();
    await ada.get("/api/wallet?app=granted");
    await query(
      ada.identity_id,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
       insert into apps (slug, starter_credits, created_at_ms, access, is_registered, opened_after_line)
         select 'app-' || i, 0, 0, 'open', 0, 0 from n`,
    );
    return { Authorization: `Bearer ${ada.token}` };
  }
  const apps = (answer: Answer) =>
    answer.body.apps.map((app: { slug: string; starter_credits: number }) => [
      app.slug,
      app.starter_credits,
    ]);

  it.each(["fails", "hangs"] as const)(
    "while the directory %s, a new isolate serves the wallet and reads the directory once per request",
    async (state) => {
      const headers = {
        ...(await signInWithApps(20)),
        Origin: "https://unknown.example",
      };
      const directory = openDirectory();
      directory.state = state;
      const environment = directory.environment();
      const answer = await send("GET", "/api/wallet", { headers }, environment);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBeNull();
      expect(apps(answer)).toHaveLength(21);
      expect(apps(answer)).toContainEqual(["granted", 100]);
      expect(apps(answer)).toContainEqual(["app-7", 0]);
      expect(directory.asked).toBe(1);
    },
  );

  /** Sends requests at the same time that need the registry, and returns their statuses. */
  const sendMany = (headers: HeadersInit, environment: Env) =>
    Promise.all(
      Array.from({ length: 50 }, async () => {
        const answer = await send("GET", "/api/wallet", { headers }, environment);
        return answer.status;
      }),
    );
  const READ_FAILED = expect.objectContaining({
    event: "app_registry_read_failed",
    reason: "timed_out",
  });

  it.each([
    ["has no copy", 0],
    ["has a copy of more than a minute", MINUTE_MS],
  ])("an isolate that %s reads the registry once for all its requests", async (_, age_ms) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const headers = await signInWithApps(2);
    const directory = openDirectory();
    const environment = directory.environment();
    if (age_ms > 0) await send("GET", "/api/wallet", { headers }, environment);
    directory.asked = 0;
    vi.advanceTimersByTime(age_ms);
    expect(new Set(await sendMany(headers, environment))).toEqual(new Set([200]));
    expect(directory.asked).toBe(1);
  });

  it("while a renewal of the registry hangs, requests use the old copy and wait neither for it nor for the next one", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await registerApp("app", { origins_json: '["https://app.example"]' });
    const headers = { ...(await signInWithApps(2)), Origin: "https://app.example" };
    const directory = openDirectory();
    const environment = directory.environment();
    await send("GET", "/api/wallet", { headers }, environment);
    directory.state = "hangs";
    // The second time, the registry is known to fail.
    for (const passed_ms of [2 * MINUTE_MS, 5_000]) {
      vi.advanceTimersByTime(passed_ms);
      directory.asked = 0;
      warned.mockClear();
      expect(await isAllowed("https://app.example/", environment)).toBe(true);
      expect(new Set(await sendMany(headers, environment))).toEqual(new Set([200]));
      expect(warned).not.toHaveBeenCalledWith(READ_FAILED);
      expect(directory.asked).toBe(1);
      await vi.waitFor(() => expect(warned).toHaveBeenCalledWith(READ_FAILED), 5_000);
    }
  });

  it("a copy that is nearly a minute old is renewed without delaying a request", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const headers = await signInWithApps(2);
    const directory = openDirectory();
    const environment = directory.environment();
    await send("GET", "/api/wallet", { headers }, environment);
    directory.state = "hangs";
    vi.advanceTimersByTime(55_000);
    expect(new Set(await sendMany(headers, environment))).toEqual(new Set([200]));
    expect(directory.asked).toBe(2);
    expect(warned).not.toHaveBeenCalledWith(READ_FAILED);
    await vi.waitFor(() => expect(warned).toHaveBeenCalledWith(READ_FAILED), 5_000);
  });

  it("after a failed read the directory is not read again for some seconds", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const headers = await signInWithApps(2);
    const directory = openDirectory();
    directory.state = "fails";
    const environment = directory.environment();
    for (const [later_ms, asked] of [
      [0, 1],
      [4_999, 1],
      [1, 2],
    ] as const) {
      vi.advanceTimersByTime(later_ms);
      expect((await send("GET", "/api/wallet", { headers }, environment)).status).toBe(200);
      expect(directory.asked).toBe(asked);
    }
  });

  it("a grant whose amount is unknown is made only once the amount is known", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await registerApp("atelier", { starter_credits: 750 });
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const directory = openDirectory();
    directory.state = "fails";
    const environment = directory.environment();
    const path = "/api/wallet?app=atelier";
    const unknown = { slug: "atelier", starter_credits: 0, granted: false };
    for (const _ of [1, 2]) {
      const { status, body } = await send("GET", path, { headers }, environment);
      expect(status).toBe(200);
      expect(body).toMatchObject({ account: { credits: 0 }, app_grant: unknown });
      expect(body.apps).toEqual([{ ...unknown, granted_at: null }]);
    }
    directory.state = "answers";
    vi.advanceTimersByTime(5_000);
    const { body } = await send("GET", path, { headers }, environment);
    expect(body).toMatchObject({ account: { credits: 750 }, app_grant: { granted: true } });
    directory.state = "fails";
    const again = await send("GET", path, { headers }, directory.environment());
    expect(again.body.app_grant).toEqual({
      slug: "atelier",
      starter_credits: 750,
      granted: false,
    });
    expect(again.body.account.credits).toBe(750);
  });

  it("a refused grant is not made later with the amount of that time", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const headers = await signInWithApps(1);
    const identity_id = subjectOf(headers.Authorization);
    // Simulates a grant that the balance limit refused.
    await query(identity_id, "update apps set starter_credits = 40 where slug = 'app-1'");
    const directory = openDirectory();
    directory.state = "fails";
    const path = "/api/wallet?app=app-1";
    const { body } = await send("GET", path, { headers }, directory.environment());
    expect(body.app_grant).toEqual({ slug: "app-1", starter_credits: 40, granted: false });
    expect(body.account.credits).toBe(100);
  });
});

describe("an app without starter credits", () => {
  it("an app that grants nothing now is shown to a read-only token once it is in the account", async () => {
    await registerApp("gallery", { starter_credits: 0 });
    const ada = await signIn();
    const { token } = await getToken(ada, { scopes: ["read"] });
    const environment = openDirectory().environment();
    const reader = holderOf(token, environment);
    const path = "/api/wallet?app=gallery";
    expect(await reader.get(path)).toMatchObject({ status: 403, body: { code: "scope" } });
    await holderOf(ada.token, environment).get(path);
    const { status, body } = await reader.get(path);
    expect(status).toBe(200);
    expect(body.app_grant).toEqual({ slug: "gallery", starter_credits: 0, granted: false });
  });
});
