import { afterEach, describe, expect, it, vi } from "vitest";
import {
  createClient,
  type ClientOptions,
  type Fetch,
  type PassbookClient,
  type PassbookErrorCode,
} from "../../../src/client/index.ts";
import { passTime } from "../support/clock.ts";
import { approve, getToken } from "../support/device_logins.ts";
import { BASE_URL, signIn, signInWithCredits } from "../support/passbook.ts";
import { workerFetch } from "./worker_fetch.ts";

const ORIGIN = "http://localhost";
const here: Fetch = (url, init) => workerFetch(url.replace(ORIGIN, BASE_URL), init);

function clientWith(options: Partial<ClientOptions> = {}) {
  return createClient({ baseUrl: ORIGIN, fetch: here, wait: async () => {}, ...options });
}

/** A `fetch` that returns these responses in turn, repeats the last one, and records its requests. */
function respondWith(...responses: readonly (readonly [number, object | string, object?])[]) {
  const sent: { url: string; headers: Record<string, string> }[] = [];
  const fetch: Fetch = async (url, { headers }) => {
    const [status, body, more = {}] = responses[Math.min(sent.length, responses.length - 1)] ?? [
      500,
      "",
    ];
    sent.push({ url, headers });
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return { status, headers: new Headers({ ...more }), text: async () => text };
  };
  return { fetch, sent };
}

/** A token that looks like a session token which ends in so many seconds. */
function tokenFor(seconds: number): string {
  const claims = { exp: Math.floor(Date.now() / 1000) + seconds };
  return `head.${btoa(JSON.stringify(claims))}.${crypto.randomUUID()}`;
}

const inAMinute = (): string => tokenFor(30);

describe("the client", () => {
  it("the client reads the wallet, the lists and the caller", async () => {
    const ada = await signInWithCredits();
    const client = clientWith({ token: ada.token });
    expect((await client.wallet()).account.credits).toBe(100);
    for (const action of ["one", "two", "three"]) {
      await client.jobs.create({ app: "demo", action, costEstimate: 1 });
    }
    const actions: string[] = [];
    for await (const { action } of client.jobs.all({ limit: 1 })) actions.push(action);
    expect(actions).toEqual(["three", "two", "one"]);
    const reserves: number[] = [];
    for await (const { amount } of client.ledger.all({ kind: "reserve", limit: 2 })) {
      reserves.push(amount);
    }
    expect(reserves).toEqual([-1, -1, -1]);
    expect((await client.me()).email).toBe("ada@example.com");
    const whole = clientWith({ token: (await getToken(ada, {}, { client_name: "Laptop" })).token });
    const { apps, tokens } = await whole.access();
    expect(apps).toMatchObject([{ slug: "demo", started_jobs: 3 }]);
    expect(tokens).toMatchObject([{ label: "Laptop", current: true }]);
    expect((await whole.tokens.list()).map(({ id }) => id)).toEqual([tokens[0]?.id]);
    await expect(client.access()).rejects.toMatchObject({ code: "scope" });
    const [first] = (await client.jobs.list({ limit: 1 })).jobs;
    expect(await client.jobs.get(first?.id ?? "")).toEqual(first);
  });

  it("the client stops an app, and its started jobs go on or expire", async () => {
    const ada = await signInWithCredits();
    const client = clientWith({ token: (await getToken(ada)).token });
    const { job_id } = await client.jobs.create({ app: "demo", action: "draw", costEstimate: 1 });
    const kept = { slug: "demo", state: "stopped", started_jobs: 1 };
    expect(await client.stopApp("demo")).toMatchObject(kept);
    const again = client.jobs.create({ app: "demo", action: "draw", costEstimate: 1 });
    await expect(again).rejects.toMatchObject({ code: "app_stopped" });
    const expired = await client.stopApp("demo", { startedJobs: "expire" });
    expect(expired).toMatchObject({ state: "stopped", started_jobs: 0 });
    expect(await client.jobs.get(job_id)).toMatchObject({ status: "failed", failure: "expired" });
    await expect(client.stopApp("never")).rejects.toMatchObject({ code: "app_not_found" });
    const session = clientWith({ token: ada.token });
    await expect(session.stopApp("demo")).rejects.toMatchObject({ code: "scope" });
  });

  it("the client lists jobs created within a range of time", async () => {
    const ada = await signInWithCredits();
    const client = clientWith({ token: ada.token });
    const { job_id } = await client.jobs.create({ app: "demo", action: "draw", costEstimate: 5 });
    const at = new Date((await client.jobs.get(job_id)).created_at);
    expect((await client.jobs.list({ from: at })).jobs).toHaveLength(1);
    expect((await client.jobs.list({ to: at.toISOString() })).jobs).toEqual([]);
  });

  it("the client fails a job with a reason and metadata", async () => {
    const ada = await signInWithCredits();
    const client = clientWith({ token: ada.token });
    const { job_id } = await client.jobs.create({ app: "demo", action: "draw", costEstimate: 5 });
    const { job } = await client.jobs.fail({
      jobId: job_id,
      reason: "out of paper",
      metadata: { sheets: 0 },
    });
    expect(job).toMatchObject({ failure_reason: "out of paper", metadata: { sheets: 0 } });
  });

  it("the client cancels a started job with a session token, but not with a personal access token", async () => {
    const ada = await signInWithCredits();
    const client = clientWith({ token: ada.token });
    const { job_id } = await client.jobs.create({ app: "demo", action: "draw", costEstimate: 5 });
    const { job, credits } = await client.jobs.cancel(job_id);
    expect([job.failure, credits]).toEqual(["cancelled", 100]);
    const personal_token = clientWith({ token: (await getToken(ada)).token });
    await expect(personal_token.jobs.cancel(job_id)).rejects.toMatchObject({ code: "scope" });
  });

  it("the client creates and settles jobs in batches, whose items are refused or done independently", async () => {
    const ada = await signInWithCredits();
    const client = clientWith({ token: ada.token });
    const job = (costEstimate: number) => ({ app: "demo", action: "draw", costEstimate });
    const created = await client.jobs.createMany([job(60), job(60), job(40)]);
    expect(created.credits).toBe(0);
    expect(created.results[1]).toMatchObject({ code: "insufficient_credits" });
    const ids = created.results.flatMap((it) => ("job_id" in it ? [it.job_id] : []));
    const settled = await client.jobs.completeMany(
      ids.map((jobId) => ({ jobId, actualCost: 10, metadata: { done: true } })),
    );
    expect(settled.credits).toBe(80);
    expect(settled.results).toMatchObject(
      ids.map((id) => ({ job: { id, status: "completed", metadata: { done: true } } })),
    );
    await expect(client.jobs.createMany([])).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("a PassbookError has the code, status and body of the refusal", async () => {
    const ada = await signIn();
    const client = clientWith({ token: ada.token });
    const job = { app: "demo", action: "draw", costEstimate: 1 };
    const code: PassbookErrorCode = "insufficient_credits";
    await expect(client.jobs.create(job)).rejects.toMatchObject({ code, status: 402 });
    await expect(client.oauthToken("github")).rejects.toMatchObject({ code: "token_not_found" });
  });

  it("a code that the client does not know becomes unknown_code, and still counts as a refusal", async () => {
    const body = { error: "The moon is full.", code: "moon_full" };
    const { fetch, sent } = respondWith([403, body]);
    const error: unknown = await clientWith({ token: "t", fetch })
      .jobs.create({ app: "demo", action: "draw", costEstimate: 1 })
      .catch((it: unknown) => it);
    expect(error).toMatchObject({ code: "unknown_code", status: 403, body });
    expect(sent).toHaveLength(1);
  });

  it.each([
    "http://passbook.example.com",
    "https://passbook.example.com/path",
    "https://user@passbook.example.com",
    "ftp://localhost",
    "passbook",
    "",
  ])("createClient refuses the baseUrl %s", (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(/baseUrl/);
  });

  it("the client sends nothing without a token or with a malformed one", async () => {
    const { fetch, sent } = respondWith([200, {}]);
    await expect(clientWith({ fetch }).me()).rejects.toMatchObject({ code: "no_credentials" });
    const empty = clientWith({ fetch, token: "" });
    await expect(empty.me()).rejects.toThrow("There is no token.");
    const odd = clientWith({ fetch, token: () => "a\r\nX-Admin: yes" });
    await expect(odd.me()).rejects.toMatchObject({ code: "no_credentials" });
    expect(sent).toEqual([]);
  });

  it.each([
    [302, "", "invalid_response"],
    [200, "<p>Welcome</p>", "invalid_response"],
    [200, [], "invalid_response"],
    [200, { account: { credits: "100" } }, "invalid_response"],
    [403, { code: "odd" }, "invalid_response"],
    [502, "Bad gateway", "no_response"],
  ])(
    "the client does not accept the response %s %j as one of the service",
    async (status, body, code) => {
      const { fetch } = respondWith([status, body]);
      await expect(clientWith({ fetch, token: "t" }).wallet()).rejects.toMatchObject({ code });
    },
  );

  it("an invalid Date in a filter is an invalid argument, and nothing is sent", async () => {
    const { fetch, sent } = respondWith();
    const listing = clientWith({ fetch, token: "t" }).jobs.list({ from: new Date("yesterday") });
    await expect(listing).rejects.toMatchObject({ code: "invalid_argument" });
    expect(sent).toHaveLength(0);
  });

  it.each<[string, (client: PassbookClient) => Promise<unknown>]>([
    ["signOut", (it) => it.signOut()],
    ["tokens.revoke", (it) => it.tokens.revoke("x")],
    ["jobs.complete", (it) => it.jobs.complete({ jobId: "x", actualCost: 1 })],
  ])("%s fails if something other than the service responds with 200", async (_, act) => {
    for (const body of [{}, { status: "up" }, { job: { id: 5 }, ok: 1, id: 7 }]) {
      const { fetch } = respondWith([200, body]);
      await expect(act(clientWith({ fetch, token: "t" }))).rejects.toMatchObject({
        code: "invalid_response",
      });
    }
  });

  it.each([
    [403, "<p>Attention required</p>"],
    [429, { error: "Slow down." }],
    [404, { error: "No route.", code: 1010 }],
    [404, { error: "No route.", code: "WAF-7" }],
    [200, { status: "up" }],
  ])(
    "the client retries after the response %s %j, which does not come from the service",
    async (status, body) => {
      const { fetch, sent } = respondWith([status, body], [200, { identity_id: "1" }]);
      expect((await clientWith({ fetch, token: "t" }).me()).identity_id).toBe("1");
      expect(sent).toHaveLength(2);
    },
  );

  it("the client repeats reads and keyed writes, waits for Retry-After, and gives up after the last retry", async () => {
    const waited: number[] = [];
    const wait = async (ms: number) => void waited.push(ms);
    const busy = [503, { error: "Later.", code: "unavailable" }, { "Retry-After": "7" }] as const;
    const { fetch, sent } = respondWith(busy);
    const client = clientWith({ fetch, token: "t", wait });
    await expect(client.wallet()).rejects.toMatchObject({
      code: "unavailable",
      retryAfterMs: 7000,
    });
    expect(sent).toHaveLength(5);
    expect(Math.min(...waited)).toBeGreaterThanOrEqual(7000);
  });

  it("the client does not repeat a refusal or a lasting failure", async () => {
    for (const [status, code] of [
      [400, "invalid_request"],
      [402, "insufficient_credits"],
      [500, "misconfigured"],
    ] as const) {
      const { fetch, sent } = respondWith([status, { error: "No.", code }]);
      await expect(clientWith({ fetch, token: "t" }).wallet()).rejects.toMatchObject({ code });
      expect(sent).toHaveLength(1);
    }
  });
});

describe("session tokens", () => {
  it("a session token is renewed once before it expires, for all concurrent requests", async () => {
    const ada = await signInWithCredits();
    const tokens: string[] = [];
    const urls: string[] = [];
    const client = clientWith({
      token: ada.token,
      onToken: (token) => tokens.push(token),
      fetch: (url, init) => {
        urls.push(url);
        return here(url, init);
      },
    });
    await client.wallet();
    expect(tokens).toEqual([]);
    passTime(14.5 * 60_000);
    await Promise.all([client.wallet(), client.wallet(), client.me()]);
    expect(tokens).toHaveLength(1);
    expect(urls.filter((url) => url.includes("sessionToken"))).toHaveLength(1);
    passTime(10 * 60_000);
    expect((await client.wallet()).account.credits).toBe(100);
  });

  it("the client calls the token function again after the service refuses a token", async () => {
    const { fetch, sent } = respondWith(
      [401, { error: "No.", code: "unauthorized" }],
      [200, { identity_id: "1" }],
    );
    const given = ["first", "second"];
    const client = clientWith({ fetch, token: () => given.shift() ?? "" });
    await client.me();
    expect(sent.map(({ headers }) => headers["Authorization"])).toEqual([
      "Bearer first",
      "Bearer second",
    ]);
  });

  it("a session token that cannot be renewed is used until it expires", async () => {
    const ada = await signIn();
    const fetch: Fetch = (url, init) =>
      url.includes("sessionToken") ? Promise.reject(new TypeError("offline")) : here(url, init);
    const client = clientWith({ token: ada.token, fetch });
    passTime(14.5 * 60_000);
    expect((await client.me()).identity_id).toBe(ada.identity_id);
  });
});

/** The window of a page, for the calls of sign-in. */
function openPage(href: string) {
  const values = new Map<string, string>();
  const sessionStorage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
  const location = { href, assign: (to: string) => void (location.href = to) };
  const history = {
    replaceState: (_: unknown, __: string, to: string) => void (location.href = to),
  };
  for (const [name, value] of Object.entries({ location, history, sessionStorage })) {
    vi.stubGlobal(name, value);
  }
  return { location, sessionStorage, values };
}

describe("the token of a page's sign-in", () => {
  afterEach(() => void vi.unstubAllGlobals());

  /** The person returns from the sign-in page with this token. */
  function returnWith(
    client: PassbookClient,
    { location }: ReturnType<typeof openPage>,
    token: string,
  ) {
    client.startSignIn();
    const back = new URL(new URL(location.href).searchParams.get("redirect_to") ?? "");
    back.searchParams.set("token", token);
    location.href = back.href;
    return client.finishSignIn();
  }

  it("onToken gets the token of a sign-in and each renewed one, and a later client of the storage uses it", async () => {
    const page = openPage("http://localhost:3000/");
    const { token } = await signInWithCredits();
    const received: string[] = [];
    const storage = page.sessionStorage;
    const client = clientWith({ storage, onToken: (it) => void received.push(it) });
    expect(returnWith(client, page, token)).toBe(token);
    expect(received).toEqual([token]);
    expect((await clientWith({ storage }).wallet()).account.credits).toBe(100);
    const other = clientWith({ baseUrl: "http://localhost:9999", storage });
    await expect(other.wallet()).rejects.toMatchObject({ code: "no_credentials" });
    passTime(14.5 * 60_000);
    await client.wallet();
    expect(received).toHaveLength(2);
    expect([...page.values.values()]).toEqual([received[1]]);
  });

  it("a renewal that is under way does not undo a sign-out", async () => {
    const page = openPage("http://localhost:3000/");
    const answered = Promise.withResolvers<void>();
    const fetch: Fetch = async (url) => {
      if (url.endsWith("/api/sessionToken")) await answered.promise;
      const body = url.endsWith("/signout")
        ? { ok: true }
        : { token: "new", account: { credits: 1 } };
      return { status: 200, headers: new Headers(), text: async () => JSON.stringify(body) };
    };
    const client = clientWith({ storage: page.sessionStorage, fetch });
    returnWith(client, page, inAMinute());
    const reading = client.wallet();
    await client.signOut();
    answered.resolve();
    await reading.catch(() => {});
    expect(page.values.size).toBe(0);
    await expect(client.wallet()).rejects.toMatchObject({ code: "no_credentials" });
  });

  it("a sign-out forgets the token although the service is unreachable", async () => {
    const page = openPage("http://localhost:3000/");
    const fetch: Fetch = async () => Promise.reject(new TypeError("fetch failed"));
    const client = clientWith({ storage: page.sessionStorage, fetch });
    returnWith(client, page, tokenFor(900));
    await expect(client.signOut()).rejects.toMatchObject({ code: "no_response" });
    expect(page.values.size).toBe(0);
  });

  it("a page that may not use its storage keeps the token in memory", async () => {
    const page = openPage("http://localhost:3000/");
    const { token } = await signInWithCredits();
    const refuse = (): never => {
      throw new Error("The quota has been exceeded.");
    };
    for (const broken of [{ setItem: refuse }, { getItem: refuse }]) {
      const client = clientWith({ storage: { ...page.sessionStorage, ...broken } });
      returnWith(client, page, token);
      expect((await client.wallet()).account.credits).toBe(100);
    }
  });

  it("storage together with a token or cookies is refused", () => {
    const { sessionStorage: storage } = openPage("http://localhost:3000/");
    for (const more of [{ token: "x" }, { cookies: true }]) {
      const options = { storage, ...more } as unknown as ClientOptions;
      expect(() => clientWith(options)).toThrow("only one of token, storage and cookies");
    }
  });
});

describe("the token for a page's own server", () => {
  it.each(["a token", "cookies"] as const)(
    "getToken with %s sends one request for all concurrent calls, and renews the token before it expires",
    async (kind) => {
      let issued = 0;
      const fetch: Fetch = async (url) => {
        expect(url).toMatch(/\/api\/sessionToken$/);
        issued += 1;
        const token = tokenFor(15 * 60);
        return { status: 200, headers: new Headers(), text: async () => JSON.stringify({ token }) };
      };
      const given = kind === "cookies" ? { cookies: true as const } : { token: inAMinute() };
      const client = createClient({ baseUrl: ORIGIN, fetch, ...given });
      const [one, other] = await Promise.all([client.getToken(), client.getToken()]);
      expect(other).toBe(one);
      expect(await client.getToken()).toBe(one);
      expect(issued).toBe(1);
      passTime(14.5 * 60_000);
      expect(await client.getToken()).not.toBe(one);
      expect(issued).toBe(2);
    },
  );

  it("getToken of a page in which nobody is signed in throws no_credentials", async () => {
    await expect(clientWith().getToken()).rejects.toMatchObject({ code: "no_credentials" });
  });
});

describe("device login", () => {
  it("a device login shows the code, polls, and returns a token that works", async () => {
    const ada = await signInWithCredits();
    const waited: number[] = [];
    const device = clientWith({
      // The clock of the service advances while the client waits.
      wait: async (ms) => {
        waited.push(ms);
        passTime(ms);
      },
    });
    let polls = 0;
    const token = await device.logInDevice({
      clientName: "Test",
      app: "demo",
      onCode: async ({ user_code }) => {
        polls += 1;
        await approve(ada, user_code);
      },
    });
    expect([polls, waited]).toEqual([1, [5000]]);
    const client = clientWith({ token });
    expect((await client.wallet()).account.credits).toBe(100);
    const [listed] = await client.tokens.list();
    expect(listed).toMatchObject({ label: "Test", current: true });
    await client.tokens.revoke(listed?.id ?? "");
    await expect(client.wallet()).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("a device login polls more slowly after slow_down and after a lost response, and ends when it is denied", async () => {
    const waited: number[] = [];
    const code = {
      device_code: "d",
      user_code: "u",
      verification_uri: "v",
      expires_in: 900,
      interval: 5,
    };
    const { fetch, sent } = respondWith(
      [200, code],
      [202, { code: "authorization_pending" }],
      [202, { code: "slow_down" }],
      [502, ""],
      [403, "<p>Attention required</p>"],
      [410, { error: "No.", code: "access_denied" }],
    );
    const device = clientWith({ fetch, wait: async (ms) => void waited.push(ms) });
    const login = device.logInDevice({ onCode: () => {} });
    await expect(login).rejects.toMatchObject({ code: "access_denied" });
    expect(waited).toEqual([5000, 5000, 10_000, 20_000, 40_000]);
    expect(sent).toHaveLength(6);
  });
});
