import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { openBrowser } from "../../support/browser.ts";
import { getToken } from "../../support/device_logins.ts";
import { connect as connectClient, post, refresh, withToken } from "../../support/oauth_clients.ts";
import {
  environmentWith,
  send,
  signIn,
  signInWithCredits,
  type SignedIn,
} from "../../support/passbook.ts";
import { openAppServer } from "../caller/app_server.ts";

/** Records the log by level. `Math.random` decides which successful requests are logged. */
function readLog(random: number) {
  vi.spyOn(Math, "random").mockReturnValue(random);
  const record = (level: "log" | "error" | "warn" | "info" | "debug") =>
    vi.spyOn(console, level).mockReturnValue();
  const spies = [record("log"), record("error"), record("warn"), record("info"), record("debug")];
  const calls = (): unknown[] => spies.flatMap((spy) => spy.mock.calls.map(([line]) => line));
  return {
    lines: () =>
      calls().filter((line): line is Record<string, unknown> => {
        return (line as { event?: unknown } | null)?.event === "request";
      }),
    text: () => JSON.stringify(calls()),
  };
}

const KEPT = 0;
const DROPPED = 0.999;

afterEach(() => vi.restoreAllMocks());

describe("the request log", () => {
  it("a request logs one line with exactly these fields", async () => {
    const log = readLog(KEPT);
    await send("GET", "/api/jobs/018f0000-0000-7000-8000-000000000000", {
      headers: { "CF-Ray": "ray-1" },
    });
    expect(log.lines()).toEqual([
      {
        event: "request",
        request_id: "ray-1",
        method: "GET",
        route: "/api/jobs/:id",
        outcome: "refused",
        status: 401,
        code: "unauthorized",
        app: null,
        caller: null,
        account: null,
        release: env.RELEASE.id,
        duration_ms: expect.any(Number),
      },
    ]);
  });

  it.each([
    ["GET", "/signin", "succeeded", "/signin"],
    ["GET", "/api/wallet", "refused", "/api/wallet"],
    ["GET", "/api/nothing/secret-word", "refused", null],
    ["GET", "/theme.css", "succeeded", "/theme.css"],
  ])(
    "%s %s is logged as %s with the pattern of its route",
    async (method, path, outcome, route) => {
      const log = readLog(KEPT);
      await send(method, path);
      expect(log.lines()).toEqual([expect.objectContaining({ outcome, route })]);
      expect(log.text()).not.toContain("secret-word");
    },
  );

  it("a refused request names its code, its kind of caller and its registered app, and never the identity", async () => {
    const server = await openAppServer("demo");
    const { operator } = server;
    const ada = await signInWithCredits();
    const [holder, connection] = [
      await getToken(ada, { scopes: ["read"] }),
      await connectClient(ada, { scopes: ["read"] }),
    ];
    const job = { app: "demo", action: "draw", cost_estimate: 5_000 };
    const unregistered = { ...job, app: "not-registered" };
    const log = readLog(DROPPED);
    await ada.post("/api/jobs", job);
    await ada.post("/api/jobs", unregistered);
    await holder.post("/api/jobs", job);
    await withToken(connection.access_token, "POST", "/api/jobs", job);
    await server.in(ada.identity_id).post("/api/jobs", { ...job, app: "other" });
    await operator.get(`/api/admin/accounts/${ada.identity_id}?wrong=1`);
    await post("/oauth/token", { grant_type: "password" });
    await refresh("invented");
    await send("GET", "/nothing", { headers: { Accept: "text/html" } });
    const account = expect.stringMatching(/^[\w-]{43}$/);
    expect(log.lines().map(({ code, caller, app }) => ({ code, caller, app }))).toEqual([
      { code: "insufficient_credits", caller: "session", app: "demo" },
      { code: "insufficient_credits", caller: "session", app: null },
      { code: "scope", caller: "personal_token", app: "demo" },
      { code: "scope", caller: "connection", app: "demo" },
      { code: "scope", caller: "app", app: "demo" },
      { code: "invalid_request", caller: "operator", app: null },
      { code: "unsupported_grant_type", caller: null, app: null },
      { code: "invalid_grant", caller: "client", app: null },
      { code: "not_found", caller: null, app: null },
    ]);
    const accounts = log.lines().map((line) => line["account"]);
    expect(accounts.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => account));
    expect(new Set(accounts.slice(0, 5)).size).toBe(1);
    expect(accounts.slice(6)).toEqual([null, null, null]);
    for (const secret of [ada.identity_id, ada.token, server.key, "ada@example.com", "invented"]) {
      expect(log.text()).not.toContain(secret);
    }
  });

  it("the pseudonyms of two accounts differ, and each stays the same", async () => {
    const [ada, bob] = [await signIn(), await signIn("bob@example.com")];
    const pseudonymOf = async (person: SignedIn) => {
      const log = readLog(DROPPED);
      await person.get("/api/jobs?limit=0");
      return log.lines().at(-1)?.["account"];
    };
    const [first, second] = [await pseudonymOf(ada), await pseudonymOf(bob)];
    expect(first).not.toBe(second);
    expect(await pseudonymOf(ada)).toBe(first);
  });

  it("a line names the version of the Worker", async () => {
    const log = readLog(DROPPED);
    await send("GET", "/api/wallet", {}, { RELEASE: { id: "version-1", tag: "", timestamp: "" } });
    expect(log.lines()).toEqual([expect.objectContaining({ release: "version-1" })]);
  });

  it("a share of successful requests and every failed request is logged", async () => {
    const log = readLog(DROPPED);
    await send("GET", "/signin");
    expect(log.lines()).toEqual([]);
    await send("GET", "/api/wallet");
    await send("GET", "/nothing");
    expect(log.lines().map(({ outcome }) => outcome)).toEqual(["refused", "refused"]);
  });

  it("rate-limited requests are sampled in the log", async () => {
    const ada = await signIn();
    const limited = environmentWith({
      LIMIT_AUTHENTICATED: { limit: async () => ({ success: false }) },
    });
    const headers = { Authorization: `Bearer ${ada.token}` };
    const log = readLog(DROPPED);
    expect((await send("GET", "/api/wallet", { headers }, limited)).status).toBe(429);
    expect(log.lines()).toEqual([]);
  });

  it("the log line of a failure has the request id of its response", async () => {
    const log = readLog(DROPPED);
    const broken = { getByName: () => ({ wallet: () => Promise.reject(new Error("broken")) }) };
    const ada = await signIn();
    const headers = { Authorization: `Bearer ${ada.token}` };
    const response = await send("GET", "/api/wallet", { headers }, { ACCOUNT: broken });
    expect(response.status).toBe(500);
    const [line] = log.lines();
    expect(line).toMatchObject({ outcome: "failed", status: 500, route: "/api/wallet" });
    expect(response.body.error).toContain(line?.request_id);
  });

  it("log lines on every level contain no URLs, headers, bodies or personal data", async () => {
    const log = readLog(KEPT);
    const ada = await signIn("ada-in-person@example.com");
    await ada.get("/api/wallet?app=sketch");
    await ada.post("/api/jobs", {
      app: "sketch",
      action: "action-of-ada",
      cost_estimate: 1,
      metadata: { note: "metadata-of-ada" },
    });
    const started = await send("POST", "/api/device/start");
    await send("GET", `/api/device/poll?device_code=${started.body.device_code}`);
    await send("GET", `/device?user_code=${started.body.user_code}`);
    const acme = openProviderDouble("acme");
    const browser = openBrowser(connect(acme));
    const back = acme.approve(await browser.start("acme"), { sub: "subject-of-ada" });
    expect((await browser.get(back.href)).status).toBe(303);
    const secrets = [
      ada.token,
      ada.identity_id,
      "ada-in-person",
      "-of-ada",
      started.body.device_code,
      started.body.user_code,
      back.searchParams.get("code") ?? "no code",
      back.searchParams.get("state") ?? "no state",
      "?",
    ];
    for (const secret of secrets) expect(log.text()).not.toContain(secret);
    expect(log.lines().length).toBe(8);
  });
});
