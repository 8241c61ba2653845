import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createReadiness } from "../../../../../src/operations/readiness.ts";
import { countedEnvironment } from "../../../support/bindings.ts";
import { environmentWith, send } from "../../../support/passbook.ts";

const READY = {
  directory: true,
  read_model: true,
  archive: true,
  codes: true,
  keys: true,
  account: true,
};

/** A database that is down. */
const DOWN = {
  prepare() {
    throw new Error("D1_ERROR: down");
  },
};

describe("GET /healthz", () => {
  it("/healthz responds with any settings and without a query to a store", async () => {
    const response = await send("GET", "/healthz", {}, { SIGNING_KEYS: "nonsense", DB: DOWN });
    expect(response).toMatchObject({ status: 200, text: '{"ok":true}' });
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });
});

describe("GET /readyz", () => {
  it("/readyz reports ready if every store and the keys work", async () => {
    const response = await send("GET", "/readyz", {}, { ...env });
    expect(response).toMatchObject({ status: 200, body: { ok: true, checks: READY } });
  });

  it("/readyz names only the store that does not respond", async () => {
    const response = await send("GET", "/readyz", {}, { DIRECTORY: DOWN });
    expect(response.status).toBe(503);
    expect(response.body).toEqual({ ok: false, checks: { ...READY, directory: false } });
  });

  it.each([
    ["is down", DOWN],
    ["never responds", { prepare: () => ({ first: () => new Promise(() => {}) }) }],
  ])("/readyz stays ready while the read model %s, and names it", async (_, DB) => {
    const response = await send("GET", "/readyz", {}, { DB });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ ok: true, checks: { ...READY, read_model: false } });
  });

  it("/readyz stays ready without an archive, and warns", async () => {
    const silent = { head: () => Promise.reject(new Error("R2: out of reach")) };
    for (const ARCHIVE of [undefined, silent]) {
      const response = await send("GET", "/readyz", {}, { ARCHIVE });
      expect(response.status).toBe(200);
      expect(response.body).toEqual({ ok: true, checks: { ...READY, archive: false } });
    }
  });

  it("/readyz names the release that responds, also with invalid settings", async () => {
    const RELEASE = { id: "0199-release", tag: "", timestamp: env.RELEASE.timestamp };
    for (const settings of [{ RELEASE }, { RELEASE, SIGNING_KEYS: "nonsense" }]) {
      const { headers } = await send("GET", "/readyz", {}, settings);
      expect(headers.get("Passbook-Release")).toBe("0199-release");
    }
    const unnamed = await send("GET", "/readyz", {}, { RELEASE: undefined });
    expect(unnamed.headers.has("Passbook-Release")).toBe(false);
  });

  const readyz = () => send("GET", "/readyz", {}, { ...env });

  it("/readyz is not ready while DIRECTORY is another database than the one that the canary knows", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    expect((await readyz()).status).toBe(200);
    const marker = () => env.DIRECTORY.prepare("select id from directory_marker").first("id");
    const id = await marker();
    // What an empty database that took the place of a lost one has.
    await env.DIRECTORY.exec("delete from directory_marker");
    for (const _ of [1, 2]) {
      expect((await readyz()).body).toEqual({ ok: false, checks: { ...READY, directory: false } });
    }
    const failure = { event: "readiness_check_failed", check: "directory" };
    expect(logged).toHaveBeenCalledWith(
      expect.objectContaining({ ...failure, reason: "directory_replaced" }),
    );
    await env.DIRECTORY.exec("update directory_marker set id = 'accepted'");
    for (const _ of [1, 2]) expect((await readyz()).status).toBe(200);
    expect(await marker()).toBe(id);
  });

  it("isolates that start at once on new stores agree on the id of DIRECTORY", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, readyz));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await readyz()).status).toBe(200);
  });

  it("an account of a person keeps no id of DIRECTORY", async () => {
    const account = env.ACCOUNT.getByName("user_of_nobody");
    const refused = account.keepDirectoryMarker("id").catch(String);
    expect(await refused).toContain("only the canary");
  });

  it("/readyz stays ready without KV, and names it", async () => {
    const codes = { get: () => Promise.reject(new Error("KV says: secret")) };
    const response = await send("GET", "/readyz", {}, { DEVICE_CODES: codes });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ ok: true, checks: { ...READY, codes: false } });
  });

  it("/readyz is not ready if accounts' objects cannot start", async () => {
    const exercise = () => Promise.reject(new Error("a migration of the account failed"));
    const ACCOUNT = { getByName: () => ({ exercise }) };
    const response = await send("GET", "/readyz", {}, { ACCOUNT });
    expect(response.status).toBe(503);
    expect(response.body).toEqual({ ok: false, checks: { ...READY, account: false } });
  });

  it("/readyz reports a store that never responds", async () => {
    const first = () => new Promise(() => {});
    const hanging = { prepare: () => ({ first }) };
    const response = await send("GET", "/readyz", {}, { DIRECTORY: hanging });
    expect(response.status).toBe(503);
    expect(response.body.checks).toEqual({ ...READY, directory: false });
  });

  it("/readyz reports not ready with invalid settings, without naming them", async () => {
    const response = await send("GET", "/readyz", {}, { SIGNING_KEYS: "nonsense" });
    expect(response.status).toBe(503);
    expect(response.text).not.toContain("SIGNING_KEYS");
    expect(Object.values(response.body.checks)).toEqual([false, false, false, false, false, false]);
  });

  it("/readyz queries the stores at most once in some seconds", async () => {
    // The first response on new stores also writes the id of DIRECTORY.
    await readyz();
    const { environment, hops } = countedEnvironment();
    await send("GET", "/readyz", {}, environment);
    const once = { ...hops };
    expect(once.d1).toBeGreaterThan(0);
    await Promise.all(Array.from({ length: 50 }, () => send("GET", "/readyz", {}, environment)));
    expect(hops).toEqual(once);
    vi.useFakeTimers({ now: Date.now() + 6_000, toFake: ["Date"] });
    await send("GET", "/readyz", {}, environment);
    expect(hops.d1).toBe(2 * once.d1);
  });

  it("50 requests at once to a new isolate run the checks of /readyz once", async () => {
    await readyz();
    const one = countedEnvironment();
    await send("GET", "/readyz", {}, one.environment);
    const many = countedEnvironment();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => send("GET", "/readyz", {}, many.environment)),
    );
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    expect(many.hops).toEqual(one.hops);
  });

  it("no request gets an old result of /readyz while the checks run again", async () => {
    let is_down = false;
    const prepare = (text: string) => (is_down ? DOWN.prepare() : env.DIRECTORY.prepare(text));
    const environment = environmentWith({ DIRECTORY: { prepare } });
    expect((await send("GET", "/readyz", {}, environment)).status).toBe(200);
    is_down = true;
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ["Date"] });
    const responses = await Promise.all(
      Array.from({ length: 3 }, () => send("GET", "/readyz", {}, environment)),
    );
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503]);
  });

  it("a check of /readyz whose request was cancelled is run again by a later request", async () => {
    let asked = 0;
    const never = new Promise(() => {});
    const readiness = createReadiness({
      directory: () => ((asked += 1) === 1 ? never : Promise.resolve()),
      read_model: () => Promise.resolve(),
      archive: () => Promise.resolve(),
      codes: () => Promise.resolve(),
      keys: () => Promise.resolve(),
      account: () => Promise.resolve(),
    });
    // The platform stops the work of a cancelled request, also its timers.
    const timer = vi.spyOn(globalThis, "setTimeout").mockReturnValue(0);
    void readiness();
    timer.mockRestore();
    vi.useFakeTimers({ now: Date.now() + 5_000, toFake: ["Date"] });
    expect(await readiness()).toEqual(READY);
    expect(asked).toBe(2);
  });
});
