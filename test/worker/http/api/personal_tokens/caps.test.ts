import { describe, expect, it, vi } from "vitest";
import { expectInvariants } from "../../../account/invariants.ts";
import { passTime } from "../../../support/clock.ts";
import {
  approveByBearer,
  fromOwnPage,
  getToken,
  holderOf,
  ownSessionToken,
  poll,
  startLogin,
  tokenId,
  type TokenHolder,
} from "../../../support/device_logins.ts";
import {
  send,
  signIn,
  signInWithCredits,
  type Answer,
  type SignedIn,
} from "../../../support/passbook.ts";

const HOUR_MS = 60 * 60 * 1000;

const reserve = (holder: TokenHolder, cost_estimate: number) =>
  holder.post("/api/jobs", {
    app: "demo",
    action: "render",
    cost_estimate,
    ttl_seconds: 2_592_000,
  });

const change = (headers: Record<string, string>, id: string, body: object): Promise<Answer> =>
  send("PATCH", `/api/tokens/${id}`, {
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const listed = async (person: SignedIn) => (await person.getOwn("/api/tokens")).body.tokens[0];

describe("a token with several caps", () => {
  it("a reserve must fit every cap, and the list shows each with what is spent", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 30, 22) });
    const ada = await signInWithCredits();
    const caps = [
      { credits: 10, period: "day" },
      { credits: 15, period: "month" },
      { credits: 60, period: "total" },
    ];
    const token = await getToken(ada, { caps });
    expect((await reserve(token, 11)).body).toMatchObject({
      code: "token_budget_exceeded",
      cap: { credits: 10, period: "day" },
      resets_at: "2026-12-01T00:00:00.000Z",
    });
    expect((await reserve(token, 8)).status).toBe(200);
    expect((await listed(ada)).caps).toEqual([
      {
        credits: 10,
        period: "day",
        spent: 8,
        approved: 0,
        room: 2,
        resets_at: "2026-12-01T00:00:00.000Z",
      },
      {
        credits: 15,
        period: "month",
        spent: 8,
        approved: 0,
        room: 7,
        resets_at: "2026-12-01T00:00:00.000Z",
      },
      { credits: 60, period: "total", spent: 8, approved: 0, room: 52, resets_at: null },
    ]);
    passTime(2 * HOUR_MS);
    expect((await reserve(token, 10)).status).toBe(200);
    expect((await reserve(token, 1)).status).toBe(402);
    passTime(24 * HOUR_MS);
    expect((await reserve(token, 6)).body).toMatchObject({ cap: { period: "month" }, room: 5 });
    await expectInvariants(ada.identity_id);
  });

  it("1,000 concurrent reserves under day, week, month and total caps reserve exactly the smallest room", async () => {
    const ada = await signInWithCredits();
    const caps = [
      { credits: 40, period: "day" },
      { credits: 37, period: "week" },
      { credits: 50, period: "month" },
      { credits: 45, period: "total" },
    ];
    const token = await getToken(ada, { caps });
    const job = { app: "demo", action: "render", cost_estimate: 1 };
    const batches = Array.from({ length: 50 }, () =>
      token.post("/api/jobs/batch", { jobs: Array.from({ length: 20 }, () => job) }),
    );
    const results = (await Promise.all(batches)).flatMap(({ body }) => body.results);
    expect(results).toHaveLength(1_000);
    expect(results.filter(({ job_id }) => job_id !== undefined)).toHaveLength(37);
    for (const { spent } of (await listed(ada)).caps) expect(spent).toBe(37);
    await expectInvariants(ada.identity_id);
  });

  it.each([
    ["five caps", { caps: ["day", "week", "month", "total", "day"] }],
    ["two caps of one period", { caps: ["day", "day"] }],
    ["an unknown period", { caps: ["year"] }],
    ["cap, which is not a field,", { caps: ["day"], cap: { credits: 1 } }],
  ])("an approval with %s is refused", async (_, { caps, ...more }) => {
    const ada = await signIn();
    const body = { caps: caps.map((period) => ({ credits: 1, period })), ...more };
    const answer = await ada.post("/api/device/complete", { user_code: "BCDF-GHJK", ...body });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });
});

describe("changing a token", () => {
  it("the holder changes a token's name, caps and apps, and a cap of the same period keeps its spending", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 20, period: "total" }] });
    const id = await tokenId(token);
    await reserve(token, 15);
    const changed = await change(fromOwnPage(ada), id, {
      label: "My agent",
      caps: [
        { credits: 30, period: "total" },
        { credits: 5, period: "day" },
      ],
      apps: ["demo"],
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        label: "My agent",
        apps: ["demo"],
        caps: [
          { credits: 30, period: "total", spent: 15, room: 15 },
          { credits: 5, period: "day", spent: 0, room: 5 },
        ],
      },
    });
    expect((await reserve(token, 6)).body).toMatchObject({ cap: { period: "day" }, room: 5 });
    expect((await reserve(token, 5)).status).toBe(200);
    const other = { app: "sketch", action: "draw", cost_estimate: 0 };
    expect((await token.post("/api/jobs", other)).status).toBe(403);
    await change(fromOwnPage(ada), id, { caps: [], apps: null });
    expect((await token.post("/api/jobs", other)).status).toBe(200);
    expect((await reserve(token, 60)).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });

  it("a lowered cap below what is spent leaves no room, and no reserve is lost", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 20 }] });
    const { job_id } = (await reserve(token, 15)).body;
    await change(bearer(ada.token), await tokenId(token), {
      caps: [{ credits: 10, period: "total" }],
    });
    expect((await reserve(token, 1)).body).toMatchObject({ spent: 15, room: 0 });
    await token.post("/api/jobs/complete", { job_id, actual_cost: 4 });
    expect((await listed(ada)).caps[0]).toMatchObject({ credits: 10, spent: 4, room: 6 });
    await expectInvariants(ada.identity_id);
  });

  it("an added cap gets nothing back from jobs that were created before it", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { scopes: ["write"] });
    const { job_id } = (await reserve(token, 50)).body;
    passTime(1_000);
    const caps = [{ credits: 10, period: "total" }];
    expect((await change(fromOwnPage(ada), await tokenId(token), { caps })).status).toBe(200);
    await reserve(token, 4);
    await ada.post("/api/jobs/fail", { job_id });
    expect((await listed(ada)).caps[0]).toMatchObject({ spent: 4, room: 6 });
    await expectInvariants(await signIn().then(({ identity_id }) => identity_id));
  });

  it("no token changes a token, not even itself or by a session token made from it", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 20 }] });
    const id = await tokenId(token);
    const session_token = (await token.get("/api/sessionToken")).body.token;
    for (const credential of [token.token, session_token]) {
      const answer = await change(bearer(credential), id, { label: "mine" });
      expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    }
    expect((await listed(ada)).label).not.toBe("mine");
  });

  it("a session outside our own pages may lower a token's caps and apps, and not raise them", async () => {
    const ada = await signInWithCredits();
    const caps = [{ credits: 20, period: "total" }];
    const id = await tokenId(await getToken(ada, { caps, apps: ["demo", "sketch"] }));
    const headers = bearer(ada.token);
    for (const wider of [
      { caps: [{ credits: 21, period: "total" }] },
      { caps: [{ credits: 20, period: "day" }] },
      { caps: [] },
      { apps: ["demo", "other"] },
      { apps: null },
    ]) {
      const answer = await change(headers, id, wider);
      expect(answer).toMatchObject({ status: 403, body: { code: "scope" } });
      expect(
        (await change({ ...fromOwnPage(ada), Origin: "http://localhost:3000" }, id, wider)).status,
      ).toBe(403);
    }
    const narrower = {
      caps: [
        { credits: 19, period: "total" },
        { credits: 1, period: "day" },
      ],
      apps: ["demo"],
    };
    expect((await change(headers, id, narrower)).status).toBe(200);
  });

  it("a token that ends with a session is given more with our own page's session token, and not with an app's", async () => {
    const ada = await signInWithCredits();
    const { device_code, user_code } = await startLogin();
    await approveByBearer(ada, user_code);
    const id = await tokenId(holderOf((await poll(device_code)).body.token));
    const more = { caps: [{ credits: 9, period: "total" }] };
    await change(bearer(ada.token), id, { caps: [{ credits: 5, period: "total" }] });
    expect(await change(bearer(ada.token), id, more)).toMatchObject({
      status: 403,
      body: { code: "scope" },
    });
    expect((await change(bearer(await ownSessionToken(ada)), id, more)).status).toBe(200);
  });

  it.each([
    ["an unknown field", { cap: { credits: 1 } }, "unknown field cap; did you mean caps?"],
    ["nothing", {}, "The request must name label, caps or apps."],
    ["an empty name", { label: " " }, "label must not be empty."],
    ["no app", { apps: [] }, "apps must name an app, or be left out."],
    [
      "too many apps",
      { apps: Array.from({ length: 21 }, (_, number) => `app-${number}`) },
      "apps must name at most 20 apps.",
    ],
    [
      "too many caps",
      { caps: Array.from({ length: 5 }, () => ({ credits: 1, period: "day" })) },
      "caps must have at most 4 caps.",
    ],
  ])("a change of %s is refused, and the message says why", async (_, body, error) => {
    const ada = await signIn();
    const id = await tokenId(await getToken(ada));
    expect(await change(fromOwnPage(ada), id, body)).toMatchObject({
      status: 400,
      body: { code: "invalid_request", error },
    });
  });

  it("a token of another person, or one that was revoked, is not found", async () => {
    const [ada, bob] = [await signIn(), await signIn("bob@example.com")];
    const token = await getToken(ada);
    const id = await tokenId(token);
    const not_found = { status: 404, body: { code: "personal_token_not_found" } };
    expect(await change(fromOwnPage(bob), id, { label: "x" })).toMatchObject(not_found);
    await token.revoke(id);
    expect(await change(fromOwnPage(ada), id, { label: "x" })).toMatchObject(not_found);
    expect(
      (await change({ ...fromOwnPage(ada), Origin: "https://evil.example" }, id, {})).status,
    ).toBe(403);
  });
});

describe("a cap and the time at which a job took credits", () => {
  const change_caps = (ada: SignedIn, id: string, caps: object[]) =>
    change(fromOwnPage(ada), id, { caps });

  it("a cap that is set in the millisecond in which a job began gets nothing back from it", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 100, period: "day" }] });
    const { job_id } = (await reserve(token, 90)).body;
    const day = { credits: 100, period: "day" };
    await change_caps(ada, await tokenId(token), [day, { credits: 20, period: "total" }]);
    await token.post("/api/jobs/fail", { job_id });
    expect((await listed(ada)).caps).toMatchObject([
      { period: "day", spent: 0, room: 100 },
      { period: "total", spent: 0, room: 20 },
    ]);
    expect((await reserve(token, 21)).status).toBe(402);
    expect((await reserve(token, 20)).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });

  it("what a job took and gave back today leaves no trace in today's cap, though it began yesterday", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 30, 23) });
    const ada = await signInWithCredits();
    const caps = [
      { credits: 90, period: "day" },
      { credits: 95, period: "total" },
    ];
    const token = await getToken(ada, { caps });
    const { job_id } = (await reserve(token, 10)).body;
    passTime(2 * HOUR_MS);
    const report = (step: number, reserve: number) =>
      token.post("/api/jobs/progress", { job_id, step, reserve });
    expect((await report(1, 95)).status).toBe(200);
    expect((await report(2, 20)).status).toBe(200);
    expect((await listed(await signIn())).caps).toMatchObject([{ spent: 10 }, { spent: 20 }]);
    await token.post("/api/jobs/complete", { job_id, actual_cost: 5 });
    expect((await listed(await signIn())).caps).toMatchObject([{ spent: 0 }, { spent: 5 }]);
    expect((await reserve(token, 90)).status).toBe(200);
    await expectInvariants(ada.identity_id);
  });

  it("a day's cap that was used up while the clock was 40 days ahead has room when it is right again", async () => {
    const now_ms = Date.UTC(2026, 10, 30, 10);
    vi.useFakeTimers({ toFake: ["Date"], now: now_ms });
    const ada = await signInWithCredits();
    const token = await getToken(ada, { caps: [{ credits: 10, period: "day" }] });
    vi.setSystemTime(now_ms + 40 * 24 * HOUR_MS);
    expect((await reserve(token, 10)).status).toBe(200);
    vi.setSystemTime(now_ms + 1_000);
    expect((await reserve(token, 10)).status).toBe(200);
    expect((await reserve(token, 1)).body).toMatchObject({
      code: "token_budget_exceeded",
      resets_at: "2026-12-01T00:00:00.000Z",
    });
    await expectInvariants(ada.identity_id);
  });
});
