import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { earlyInAMinute, passTime } from "../../support/clock.ts";
import {
  approve,
  fromOwnPage,
  getToken,
  openPage,
  poll,
  startLogin,
  tokenId,
} from "../../support/device_logins.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { countedEnvironment } from "../../support/bindings.ts";
import { openBrowser } from "../../support/browser.ts";
import { BASE_URL, send, signIn, signInWithCredits } from "../../support/passbook.ts";

const from = (address: string) => ({ "CF-Connecting-IP": address });

/** Sends requests one after another, and counts the responses by status. */
async function statuses(
  times: number,
  request: (i: number) => Promise<{ readonly status: number }>,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let i = 0; i < times; i += 1) {
    const { status } = await request(i);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** A binding of objects that counts calls and forwards them. */
function countedObjects(binding: { getByName(name: string): object }) {
  const calls = vi.fn();
  const counted = {
    getByName: (name: string) =>
      new Proxy(binding.getByName(name), {
        get(stub, method) {
          const call = Reflect.get(stub, method) as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            calls(method);
            return Reflect.apply(call, stub, args);
          };
        },
      }),
  };
  return { counted, calls };
}

describe("polls", () => {
  it("polls of one device code reach its object at most 60 times a minute, from all networks together", async () => {
    await earlyInAMinute();
    const { device_code } = await startLogin();
    const { counted: DEVICE_LOGIN, calls } = countedObjects(env.DEVICE_LOGIN);
    const query = new URLSearchParams({ device_code }).toString();
    const settings = { DEVICE_LOGIN };
    const answered = await statuses(100, (i) =>
      send("GET", `/api/device/poll?${query}`, { headers: from(`192.0.2.${i}`) }, settings),
    );
    expect(answered).toEqual({ 202: 60, 429: 40 });
    expect(calls).toHaveBeenCalledTimes(60);
    const other = await startLogin();
    expect((await poll(other.device_code)).status).toBe(202);
  });

  it("polls of many device codes are limited per network before they reach an object", async () => {
    await earlyInAMinute();
    const { device_code } = await startLogin();
    const { counted: DEVICE_LOGIN, calls } = countedObjects(env.DEVICE_LOGIN);
    const { limiter, keys } = limiterOf(2);
    const settings = { DEVICE_LOGIN, LIMIT_DEVICE_POLL_NETWORK: limiter };
    const path = `/api/device/poll?${new URLSearchParams({ device_code }).toString()}`;
    const headers = from("2001:db8:1:2::9");
    const answered = await statuses(5, () => send("GET", path, { headers }, settings));
    expect(answered).toEqual({ 202: 2, 429: 3 });
    expect(calls).toHaveBeenCalledTimes(2);
    expect(new Set(keys)).toEqual(new Set(["2001:db8:1:2::/64"]));
  });
});

/** A limiter that allows `count` requests in total and records their keys. */
function limiterOf(count: number) {
  const keys: string[] = [];
  const limiter = {
    limit: async ({ key }: { key: string }) => ({ success: keys.push(key) <= count }),
  };
  return { limiter, keys };
}

describe("IPv6", () => {
  it("IPv6 clients are counted by /64, and by /48 with a higher limit", async () => {
    await earlyInAMinute();
    const start = (address: string) =>
      send("POST", "/api/device/start", { headers: from(address) });
    expect(await statuses(62, (i) => start(`2001:db8:7:1::${i}`))).toEqual({ 200: 60, 429: 2 });
    expect(await statuses(70, (i) => start(`2001:db8:7:${i + 2}::1`))).toEqual({
      200: 60,
      429: 10,
    });
    expect((await start("2001:db8:8:1::1")).status).toBe(200);
    expect((await start("192.0.2.1")).status).toBe(200);
  });
});

describe("invented session cookies", () => {
  it("look-ups of invented session cookies are limited per network on every route", async () => {
    await earlyInAMinute();
    const pages = ["/api/wallet", "/api/sessionToken", "/signin", "/account", "/device"];
    for (const path of [...pages, "/signout"]) {
      const { environment, hops } = countedEnvironment();
      const { limiter } = limiterOf(3);
      const settings = { ...environment, LIMIT_SESSION_LOOKUP: limiter };
      const invented = () =>
        `passbook_session=${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))
          .replaceAll("+", "-")
          .replaceAll("/", "_")
          .replace("=", "")}`;
      const answered: number[] = [];
      let looked_up = 0;
      for (let i = 0; i < 6; i += 1) {
        const before = hops.d1;
        const headers = { Cookie: invented(), Accept: "text/html", Origin: BASE_URL };
        const form = { headers, body: new URLSearchParams() };
        const response = await (path === "/signout"
          ? send("POST", path, form, settings)
          : send("GET", path, { headers }, settings));
        answered.push(response.status);
        if (hops.d1 > before) looked_up += 1;
      }
      expect([path, answered.slice(3)]).toEqual([path, [429, 429, 429]]);
      expect(answered.slice(0, 3)).not.toContain(429);
      expect(looked_up).toBe(3);
    }
  });

  it("session look-ups count for the network, and requests without cookies are not counted", async () => {
    const Cookie = `passbook_session=${"A".repeat(43)}`;
    const { limiter, keys } = limiterOf(1);
    const settings = { LIMIT_SESSION_LOOKUP: limiter };
    const get = (headers: Record<string, string>) =>
      send("GET", "/api/wallet", { headers: { ...from("2001:db8::1"), ...headers } }, settings);
    expect((await get({})).status).toBe(401);
    expect((await get({ Cookie })).status).toBe(401);
    const limited = await get({ Cookie });
    expect(limited).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(limited.headers.get("Retry-After")).toBe("60");
    expect(limited.headers.get("RateLimit-Policy")).toBe('"session_lookup";q=600;w=60');
    expect(limited.headers.get("RateLimit")).toBe('"session_lookup";r=0;t=60');
    expect((await get({})).status).toBe(401);
    expect(keys).toEqual(["2001:db8:0:0::/64", "2001:db8:0:0::/64"]);
  });
});

describe("session tokens", () => {
  it("session tokens are counted before their session is looked up", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin();
    const { environment, hops } = countedEnvironment();
    const { limiter, keys } = limiterOf(0);
    const settings = { ...environment, LIMIT_AUTHENTICATED: limiter };
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ user_code });
    // The first request of an isolate reads the registry of apps, once a minute.
    await send("GET", "/api/service", { headers: { Origin: "https://app.example" } }, settings);
    Object.assign(hops, { account: 0, d1: 0, kv: 0 });
    const responses = [
      await send("GET", "/api/sessionToken", { headers }, settings),
      await send("GET", "/api/oauthToken/acme", { headers }, settings),
      await send("POST", "/api/device/complete", { headers, body }, settings),
    ];
    for (const response of responses) {
      expect(response).toMatchObject({ status: 429, body: { code: "rate_limited" } });
      expect(response.headers.get("Retry-After")).toBe("10");
      expect(response.headers.get("RateLimit-Policy")).toBe('"authenticated";q=3000;w=10');
      expect(response.headers.get("RateLimit")).toBe('"authenticated";r=0;t=10');
    }
    expect(hops).toEqual({ account: 0, d1: 0, kv: 0 });
    expect(new Set(keys)).toEqual(new Set([ada.identity_id]));
  });
});

describe("sign-ins", () => {
  it("starting a sign-in, its callback and development sign-in share one limit per network", async () => {
    const { limiter, keys } = limiterOf(0);
    const settings = { LIMIT_SIGNIN: limiter };
    const body = new URLSearchParams({ email: "ada@example.com" });
    const headers = from("192.0.2.9");
    const responses = [
      await send("GET", "/signin/acme", { headers }, settings),
      await send("GET", "/signin/callback/acme", { headers }, settings),
      await send("POST", "/signin/dev", { headers, body }, settings),
    ];
    expect(responses.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(new Set(keys)).toEqual(new Set(["192.0.2.9"]));
  });
});

describe("one sign-in callback", () => {
  it("a replayed sign-in callback reaches the provider at most five times a minute, from all networks together", async () => {
    await earlyInAMinute();
    const provider = openProviderDouble("acme");
    const browser = openBrowser(connect(provider));
    const url = await browser.start("acme");
    const response = provider.approve(url, { sub: "ada" }).href;
    const cookies = new Map(browser.cookies);
    const answered = await statuses(30, (i) => {
      for (const [name, value] of cookies) browser.cookies.set(name, value);
      return browser.get(response, from(`192.0.2.${i}`));
    });
    expect(answered[429]).toBe(25);
    expect(provider.requests.filter(({ path }) => path === "/token")).toHaveLength(5);
  });
});

describe("a personal token", () => {
  it("a revoked personal token does not use up its holder's limit", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    const id = await tokenId(token);
    await token.get("/api/wallet");
    await token.revoke(id);
    const keys: string[] = [];
    const LIMIT_AUTHENTICATED = {
      limit: async ({ key }: { key: string }) => ({ success: keys.push(key) > 0 }),
    };
    const headers = { Authorization: `Bearer ${token.token}` };
    const senders = [
      () => send("GET", "/api/wallet", { headers }, settings),
      () => send("GET", "/api/sessionToken", { headers }, settings),
      () => send("POST", "/api/jobs", { headers, body: "{" }, settings),
    ];
    const settings = { LIMIT_AUTHENTICATED };
    for (let i = 0; i < 3; i += 1) for (const ask of senders) await ask();
    expect(keys).toHaveLength(9);
    expect(keys).not.toContain(ada.identity_id);
  });

  it("a live personal token shares its holder's limit from its first accepted request until it is revoked", async () => {
    const ada = await signIn();
    const token = await getToken(ada);
    const id = await tokenId(token);
    const keys: string[] = [];
    const LIMIT_AUTHENTICATED = {
      limit: async ({ key }: { key: string }) => ({ success: keys.push(key) > 0 }),
    };
    const settings = { LIMIT_AUTHENTICATED };
    const headers = { Authorization: `Bearer ${token.token}` };
    const get = () => send("GET", "/api/wallet", { headers }, settings);
    await get();
    await get();
    await ada.get(`/api/wallet`);
    await token.revoke(id);
    await get();
    await get();
    const own = `pat ${id}`;
    expect(keys).toEqual([own, ada.identity_id, ada.identity_id, own]);
  });
});

describe("an accepted personal token", () => {
  /** Sends an accepted request with a token, and records the keys that count the next requests. */
  async function acceptedToken() {
    const ada = await signIn();
    const token = await getToken(ada);
    const id = await tokenId(token);
    const keys: string[] = [];
    const LIMIT_AUTHENTICATED = {
      limit: async ({ key }: { key: string }) => ({ success: keys.push(key) > 0 }),
    };
    const settings = { LIMIT_AUTHENTICATED };
    const headers = { Authorization: `Bearer ${token.token}` };
    const get = (path: string) => send("GET", path, { headers }, settings);
    await get("/api/wallet");
    keys.length = 0;
    return { get, keys, end: () => token.revoke(id), own: `pat ${id}`, owner: ada.identity_id };
  }

  it("a revoked personal token gets a count of its own after its first refusal at /api/sessionToken", async () => {
    const { get, keys, end, own, owner } = await acceptedToken();
    await end();
    for (let i = 0; i < 3; i += 1) expect((await get("/api/sessionToken")).status).toBe(401);
    expect(keys).toEqual([owner, own, own]);
  });

  it("an accepted personal token counts for its holder for one minute", async () => {
    const { get, keys, own, owner } = await acceptedToken();
    passTime(59_000);
    // The request is refused for its parameter, so it does not confirm the token.
    await get("/api/jobs?limit=0");
    passTime(1_001);
    await get("/api/jobs?limit=0");
    await get("/api/jobs?limit=0");
    expect(keys).toEqual([owner, own, own]);
  });
});

describe("denying a login", () => {
  it("denying a device login counts as an attempt at its code", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const LIMIT_DEVICE_ATTEMPT = { limit: async () => ({ success: false }) };
    const init = { headers: fromOwnPage(ada), body: new URLSearchParams({ user_code }) };
    const response = await send("POST", "/device/deny", init, { LIMIT_DEVICE_ATTEMPT });
    expect(response.status).toBe(429);
    expect((await poll(device_code)).status).toBe(202);
  });
});

describe("writes", () => {
  it("writes have a limit of their own, and reads continue when it is reached", async () => {
    const ada = await signInWithCredits();
    const { limiter, keys } = limiterOf(4);
    const settings = { LIMIT_WRITES: limiter };
    const { counted: ACCOUNT, calls } = countedObjects(env.ACCOUNT);
    const json = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const post = (path: string, body: object) =>
      send("POST", path, { headers: json, body: JSON.stringify(body) }, { ...settings, ACCOUNT });
    const job = { app: "demo", action: "draw", cost_estimate: 1 };
    const created = await post("/api/jobs", job);
    const { job_id } = created.body;
    await post("/api/jobs/complete", { job_id, actual_cost: 1 });
    await post("/api/jobs/fail", { job_id });
    const headers = { Authorization: `Bearer ${ada.token}` };
    await send("DELETE", `/api/tokens/${crypto.randomUUID()}`, { headers }, settings);
    calls.mockClear();
    const limited = await post("/api/jobs", job);
    expect(limited).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect(limited.headers.get("Retry-After")).toBe("10");
    expect((await post("/api/jobs/complete", { job_id, actual_cost: 1 })).status).toBe(429);
    expect(calls).not.toHaveBeenCalled();
    expect((await send("GET", "/api/wallet", { headers }, settings)).status).toBe(200);
    expect(new Set(keys)).toEqual(new Set([ada.identity_id]));
  });
});

describe("a navigation from another site", () => {
  it("a navigation from another site opens no device code and uses up no attempt", async () => {
    await earlyInAMinute();
    const ada = await signIn();
    const { user_code } = await startLogin();
    const { counted: DEVICE_LOGIN, calls } = countedObjects(env.DEVICE_LOGIN);
    for (const site of ["cross-site", "same-site"]) {
      const headers = { Cookie: ada.cookies, "Sec-Fetch-Site": site };
      const path = `/device?user_code=${user_code}`;
      const shown = await send("GET", path, { headers }, { DEVICE_LOGIN });
      expect(shown.status).toBe(200);
      expect(shown.text).toContain(`value="${user_code}"`);
      expect(await statuses(40, () => send("GET", path, { headers }, { DEVICE_LOGIN }))).toEqual({
        200: 40,
      });
    }
    expect(calls).not.toHaveBeenCalled();
    for (const site of ["none", "same-origin"]) {
      const headers = { Cookie: ada.cookies, "Sec-Fetch-Site": site };
      const own = await send("GET", `/device?user_code=${user_code}`, { headers });
      expect(own.text).toContain("Connect this device?");
    }
    expect((await approve(ada, user_code)).status).toBe(200);
    expect((await openPage(ada, user_code)).status).toBe(410);
  });
});

describe("a rate limiter that fails", () => {
  const broken = {
    limit: (): never => {
      throw new Error("limiter unreachable");
    },
  };
  const LIMITERS = Object.fromEntries(
    Object.keys(env)
      .filter((name) => name.startsWith("LIMIT_"))
      .map((name) => [name, broken]),
  );

  it("a rate limiter that fails lets the work of apps through and is logged", async () => {
    const ada = await signInWithCredits();
    const log = vi.spyOn(console, "error");
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ app: "demo", action: "draw", cost_estimate: 10 });
    const created = await send("POST", "/api/jobs", { headers, body }, LIMITERS);
    expect(created).toMatchObject({ status: 200, body: { credits: 90 } });
    expect(log).toHaveBeenCalledWith(
      expect.objectContaining({ event: "rate_limiter_failed", rule: "writes" }),
    );
    expect((await send("POST", "/api/device/start", {}, LIMITERS)).status).toBe(200);
  });

  it("while a rate limiter fails, attempts at user codes get 503, right or wrong", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin();
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    for (const attempt of [user_code, "BCDF-GHJK"]) {
      const body = JSON.stringify({ user_code: attempt });
      const response = await send("POST", "/api/device/complete", { headers, body }, LIMITERS);
      expect(response).toMatchObject({ status: 503, body: { code: "unavailable" } });
      expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
    }
    expect((await approve(ada, user_code)).status).toBe(200);
  });
});
