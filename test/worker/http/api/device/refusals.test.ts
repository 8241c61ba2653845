import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { earlyInAMinute, passTime } from "../../../support/clock.ts";
import {
  approve,
  approveByBearer,
  fromOwnPage,
  getToken,
  holderOf,
  openPage,
  ownSessionToken,
  poll,
  postForm,
  startLogin,
  twoPeople,
} from "../../../support/device_logins.ts";
import { BASE_URL, send, signIn } from "../../../support/passbook.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe("polling", () => {
  it("a forged device code gets 404 without an object call", async () => {
    const { device_code } = await startLogin();
    const [user_code = "", secret = "", mac = ""] = device_code.split(".");
    const other_secret = secret.replace(/^./, (letter) => (letter === "A" ? "B" : "A"));
    const getByName = vi.fn();
    const settings = { DEVICE_LOGIN: { getByName } };
    const forged = [
      "",
      user_code,
      "x".repeat(20_000),
      `${user_code}.${other_secret}.${mac}`,
      `${user_code}.${secret}.${"A".repeat(43)}`,
      `BCDFGHJK.${secret}.${mac}`,
      `${device_code}.`,
    ];
    for (const device_code of forged) {
      expect(await poll(device_code, settings)).toMatchObject({ status: 404 });
    }
    expect(getByName).not.toHaveBeenCalled();
    expect((await send("GET", "/api/device/poll")).status).toBe(400);
  });

  it("a device code of an earlier login with the same user code gets 404", async () => {
    const { device_code } = await startLogin();
    passTime(26 * HOUR_MS);
    const [user_code = ""] = device_code.split(".");
    const device_client = {
      client_name: null,
      app_slug: null,
      program: null,
      city: null,
      country: null,
    };
    await env.DEVICE_LOGIN.getByName(user_code).start({
      device_client,
      device_code_digest: "another",
      ttl_seconds: 900,
      poll_interval_seconds: 5,
    });
    expect((await poll(device_code)).status).toBe(404);
  });

  it("polling too early gets slow_down with the waiting time and is not punished", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    await poll(device_code);
    for (let hurried = 0; hurried < 30; hurried += 1) {
      const response = await poll(device_code);
      expect(response).toMatchObject({ status: 202, body: { code: "slow_down", interval: 5 } });
      expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
      expect(Number(response.headers.get("Retry-After"))).toBeLessThanOrEqual(5);
    }
    passTime(5_000);
    expect((await poll(device_code)).body.code).toBe("authorization_pending");
    await approve(ada, user_code);
    expect((await poll(device_code)).status).toBe(200);
  });

  it("polling with HEAD does not redeem the login", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    const query = new URLSearchParams({ device_code });
    expect((await send("HEAD", `/api/device/poll?${query.toString()}`)).status).toBe(405);
    expect((await poll(device_code)).status).toBe(200);
  });

  it("polling sees an approval at once even if KV is stale, empty or unavailable", async () => {
    const old_view = { put: async () => {}, get: async () => null };
    const fail = async () => Promise.reject(new Error("KV is down"));
    for (const DEVICE_CODES of [old_view, { put: fail, get: fail }]) {
      const ada = await signIn();
      const { device_code, user_code } = await startLogin({ client_name: "Far away" });
      expect((await poll(device_code, { DEVICE_CODES })).status).toBe(202);
      const page = await openPage(ada, user_code, { DEVICE_CODES });
      expect(page.text).toContain("Far away");
      expect((await approve(ada, user_code, {}, { DEVICE_CODES })).status).toBe(200);
      expect((await poll(device_code, { DEVICE_CODES })).status).toBe(200);
    }
  });

  it("KV stores the details of a login once and no secret", async () => {
    const ada = await signIn();
    const put = vi.spyOn(env.DEVICE_CODES, "put");
    const { device_code, user_code } = await startLogin({ client_name: "Console" });
    await approve(ada, user_code);
    const { token } = (await poll(device_code)).body;
    expect(put).toHaveBeenCalledTimes(1);
    const stored = (await env.DEVICE_CODES.get(user_code.replace("-", ""))) ?? "";
    expect(JSON.parse(stored)).toMatchObject({ device_client: { client_name: "Console" } });
    for (const secret of [...device_code.split(".").slice(1), token]) {
      expect(stored).not.toContain(secret);
    }
    expect(put.mock.calls[0]?.[2]).toEqual({ expirationTtl: 900 + 24 * 60 * 60 });
  });
});

describe("approving", () => {
  it("approving requires a live browser session, not a personal access token or a session token made from one", async () => {
    const ada = await signIn();
    const pat = await getToken(ada);
    const bound = await pat.get("/api/sessionToken");
    const { device_code, user_code } = await startLogin();
    const json = { "Content-Type": "application/json", Origin: BASE_URL };
    const only_jwt = ada.cookies.split("; ").find((cookie) => cookie.startsWith("passbook_token"));
    const attempts: Record<string, string>[] = [
      {},
      { Authorization: `Bearer ${pat.token}` },
      { Authorization: `Bearer ${bound.body.token}` },
      { Authorization: `Bearer ${bound.body.token}`, Cookie: ada.cookies },
      { Authorization: `Bearer ${pat.token}`, Cookie: ada.cookies },
      { Cookie: only_jwt ?? "" },
      { Cookie: `passbook_token=${pat.token}` },
    ];
    for (const proof of attempts) {
      const headers = { ...json, ...proof };
      const body = JSON.stringify({ user_code });
      const response = await send("POST", "/api/device/complete", { headers, body });
      expect(response).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    }
    expect((await poll(device_code)).status).toBe(202);
  });

  it("approving accepts the session token of a live session and refuses that of an ended one", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const by_bearer = holderOf(await ownSessionToken(ada));
    await env.DIRECTORY.exec("update sessions set expires_at_ms = 1");
    const ended = await by_bearer.post("/api/device/complete", { user_code });
    expect(ended).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    const again = await signIn();
    const response = await approveByBearer(again, user_code);
    expect(response).toMatchObject({ status: 200, body: { ok: true } });
    expect((await poll(device_code)).status).toBe(200);
  });

  it("approving is refused from another site and as a form", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const json = { Cookie: ada.cookies, "Content-Type": "application/json" };
    const body = JSON.stringify({ user_code });
    for (const foreign of [{ Origin: "https://evil.example" }, { Origin: "null" }, {}]) {
      const headers: Record<string, string> = { ...json, ...foreign };
      const response = await send("POST", "/api/device/complete", { headers, body });
      expect(response).toMatchObject({ status: 403, body: { code: "origin_not_allowed" } });
    }
    const form = { headers: fromOwnPage(ada), body: new URLSearchParams({ user_code }) };
    expect((await send("POST", "/api/device/complete", form)).status).toBe(415);
    expect((await poll(device_code)).status).toBe(202);
  });

  it("approving refuses invalid codes and misspelt limits", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    for (const wrong of ["BCDF-GHJK", "AAAA-AAAA", "", "B".repeat(500)]) {
      expect((await approve(ada, wrong)).status).toBe(400);
    }
    for (const limits of [{ spending_cap: 5 }, { caps: [{ credits: -1 }] }, { apps: [] }]) {
      expect((await approve(ada, user_code, limits)).status).toBe(400);
    }
    expect((await poll(device_code)).status).toBe(202);
  });

  it("only the person who opened a user code can approve or deny it", async () => {
    const [ada, bob] = await twoPeople();
    const { device_code, user_code } = await startLogin();
    await openPage(ada, user_code);
    expect(await approve(bob, user_code)).toMatchObject({
      status: 400,
      body: { code: "user_code_invalid" },
    });
    expect((await openPage(bob, user_code)).status).toBe(400);
    expect((await postForm(bob, "/device/deny", { user_code })).status).toBe(400);
    expect((await approve(ada, user_code)).status).toBe(200);
    const { token } = (await poll(device_code)).body;
    const wallet = await holderOf(token).get("/api/wallet");
    expect(wallet.body.account.identity_id).toBe(ada.identity_id);
  });

  it("60 attempts with wrong codes reach the limit before any look-up", async () => {
    await earlyInAMinute();
    const ada = await signIn();
    const wrong = Array.from({ length: 60 }, (_, i) => {
      const letters = "BCDFGHJKLMNPQRSTVWXZ";
      return `BCDFGH${letters.charAt(i % 20)}${letters.charAt(Math.floor(i / 20))}`;
    });
    const statuses: number[] = [];
    for (const code of wrong) statuses.push((await approve(ada, code)).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(400));
    expect(statuses.slice(10)).toEqual(Array(50).fill(429));

    const { user_code } = await startLogin();
    const limited = await approve(ada, user_code);
    expect(limited.status).toBe(429);
    expect(limited.headers.get("Retry-After")).toBe("60");
    expect((await openPage(ada, user_code)).status).toBe(429);
    expect((await postForm(ada, "/device/approve", { user_code })).status).toBe(429);
    expect((await postForm(ada, "/device/deny", { user_code })).status).toBe(429);
  });

  it("attempts at codes are limited per account over all networks and per network over all accounts", async () => {
    await earlyInAMinute();
    const [ada, bob] = await twoPeople();
    const attempt = (person: typeof ada, address: string) =>
      send("POST", "/api/device/complete", {
        headers: {
          ...fromOwnPage(person),
          "Content-Type": "application/json",
          "CF-Connecting-IP": address,
        },
        body: JSON.stringify({ user_code: "BCDF-GHJK" }),
      });
    for (let i = 0; i < 30; i += 1) await attempt(ada, `2001:db8:0:1::${i}`);
    expect((await attempt(ada, "192.0.2.1")).status).toBe(429);
    expect((await attempt(bob, "2001:db8:0:1:ffff::1")).status).toBe(429);
    expect((await attempt(bob, "2001:db8:0:2::1")).status).toBe(400);
  });
});

describe("starts and unknown polls", () => {
  it("starts and unknown polls are limited per network while a real device continues to poll", async () => {
    await earlyInAMinute();
    const { device_code } = await startLogin();
    const starts: number[] = [];
    for (let i = 0; i < 60; i += 1) starts.push((await send("POST", "/api/device/start")).status);
    expect(starts).toEqual([...Array(59).fill(200), 429]);
    const polls: number[] = [];
    for (let i = 0; i < 61; i += 1) polls.push((await poll("invented")).status);
    expect(polls).toEqual([...Array(60).fill(404), 429]);
    expect((await poll(device_code)).status).toBe(202);
  });

  it("start refuses a client name that the page cannot display", async () => {
    const responses = [
      { client_name: "" },
      { client_name: "x".repeat(81) },
      { client_name: "Bank\u202eknaB" },
      { client_name: 7 },
      { app: "No Slug" },
    ];
    for (const body of responses) {
      const init = {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      };
      expect((await send("POST", "/api/device/start", init)).status).toBe(400);
    }
    const broken = { headers: { "Content-Type": "application/json" }, body: "{" };
    expect((await send("POST", "/api/device/start", broken)).status).toBe(400);
    const form = { body: new URLSearchParams({ client_name: "x" }) };
    expect((await send("POST", "/api/device/start", form)).status).toBe(415);
  });
});
