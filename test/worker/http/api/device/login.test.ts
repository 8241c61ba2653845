import { env } from "cloudflare:workers";
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { passTime } from "../../../support/clock.ts";
import {
  approve,
  holderOf,
  openPage,
  poll,
  postForm,
  startLogin,
  tokenId,
  twoPeople,
} from "../../../support/device_logins.ts";
import { BASE_URL, send, signIn } from "../../../support/passbook.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe("a device login", () => {
  it("a device login starts with the fields of RFC 8628, without a token and without a body", async () => {
    const { status, body } = await send("POST", "/api/device/start");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      verification_uri: `${BASE_URL}/device`,
      verification_uri_complete: `${BASE_URL}/device?user_code=${body.user_code}`,
      expires_in: 900,
      interval: 5,
    });
    expect(body.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  });

  it("a device login is pending until approved, returns its token once, and is then used", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const pending = await poll(device_code);
    expect(pending).toMatchObject({ status: 202, body: { code: "authorization_pending" } });
    expect(pending.headers.get("Retry-After")).toBe("5");

    expect(await approve(ada, user_code)).toMatchObject({ status: 200, body: { ok: true } });
    const collected = await poll(device_code);
    expect(collected.status).toBe(200);
    expect(collected.body.token).toMatch(/^pb_pat_/);
    expect(collected.headers.get("Cache-Control")).toBe("no-store");
    const wallet = await holderOf(collected.body.token).get("/api/wallet");
    expect(wallet.body.account.identity_id).toBe(ada.identity_id);

    expect(await poll(device_code)).toMatchObject({ status: 410, body: { code: "already_used" } });
    expect(await approve(ada, user_code)).toMatchObject({ status: 410 });
  });

  it("a device login cannot be approved twice, even by the same person", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin();
    await approve(ada, user_code);
    expect(await approve(ada, user_code)).toMatchObject({
      status: 410,
      body: { code: "already_used" },
    });
  });

  it("a user code is accepted in any case, with or without dashes and spaces", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const typed = ` ${user_code.toLowerCase().replace("-", " – ")} `;
    expect((await approve(ada, typed)).status).toBe(200);
    expect((await poll(device_code)).status).toBe(200);
  });

  it("a denied device login stays denied, and the device gets access_denied", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    expect((await postForm(ada, "/device/deny", { user_code })).status).toBe(200);
    expect(await poll(device_code)).toMatchObject({ status: 410, body: { code: "access_denied" } });
    expect(await approve(ada, user_code)).toMatchObject({ status: 410 });
  });

  it("a device login expires for device and approver, even if it was approved", async () => {
    const ada = await signIn();
    const left = await startLogin();
    const uncollected = await startLogin();
    await approve(ada, uncollected.user_code);
    passTime(15 * MINUTE_MS);
    for (const { device_code, user_code } of [left, uncollected]) {
      expect(await poll(device_code)).toMatchObject({
        status: 410,
        body: { code: "expired_token" },
      });
      expect((await approve(ada, user_code)).status).toBe(410);
    }
    passTime(23 * HOUR_MS);
    expect((await poll(left.device_code)).status).toBe(410);
    passTime(2 * HOUR_MS);
    expect((await poll(left.device_code)).status).toBe(404);
    expect((await approve(ada, left.user_code)).status).toBe(400);
  });

  it("a user code of a live login is not issued again", async () => {
    const first = await startLogin();
    const letters = first.user_code.replace("-", "");
    const bytes = Uint8Array.from(letters, (letter) => "BCDFGHJKLMNPQRSTVWXZ".indexOf(letter));
    const original = crypto.getRandomValues.bind(crypto);
    const drawn = vi.spyOn(crypto, "getRandomValues").mockImplementationOnce((array) => {
      (array as unknown as Uint8Array).set(bytes);
      return array;
    });
    drawn.mockImplementation(original);
    const second = await startLogin();
    expect(drawn.mock.calls.length).toBeGreaterThan(2);
    expect(second.user_code).not.toBe(first.user_code);
  });
});

describe("simultaneous requests", () => {
  it("20 simultaneous polls after approval get one token", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    const responses = await Promise.all(Array.from({ length: 20 }, () => poll(device_code)));
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array(19).fill(410),
    ]);
    const { body } = await ada.getOwn("/api/tokens");
    expect(body.tokens).toHaveLength(1);
  });

  it("one of two simultaneous approvals wins, and the token belongs to its account", async () => {
    const [ada, bob] = await twoPeople();
    const { device_code, user_code } = await startLogin();
    const responses = await Promise.all([approve(ada, user_code), approve(bob, user_code)]);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410]);
    const winner = responses[0].status === 200 ? ada : bob;
    const { token } = (await poll(device_code)).body;
    const wallet = await holderOf(token).get("/api/wallet");
    expect(wallet.body.account.identity_id).toBe(winner.identity_id);
  });

  it("a simultaneous approval and denial have one winner", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const [approved, denied] = await Promise.all([
      approve(ada, user_code),
      postForm(ada, "/device/deny", { user_code }),
    ]);
    expect([approved.status, denied.status].toSorted((a, b) => a - b)).toEqual([200, 410]);
    expect((await poll(device_code)).status).toBe(approved.status === 200 ? 200 : 410);
  });
});

describe("device settings", () => {
  it("device settings appear in the response of start, and an invalid setting is refused by its name", async () => {
    const settings = { DEVICE_CODE_TTL_SECONDS: "60", DEVICE_POLL_INTERVAL_SECONDS: "2" };
    const started = await startLogin({}, settings);
    expect(started).toMatchObject({ expires_in: 60, interval: 2 });
    for (const variable of [
      "DEVICE_CODE_TTL_SECONDS",
      "DEVICE_POLL_INTERVAL_SECONDS",
      "PAT_TTL_DAYS",
    ]) {
      for (const value of ["0", "-1", "soon", "1000000"]) {
        const response = await send("POST", "/api/device/start", {}, { [variable]: value });
        expect(response).toMatchObject({ status: 500, body: { code: "misconfigured" } });
        expect(response.body.error).toContain(variable);
      }
    }
  });
});

describe("a device login with a failure", () => {
  it("if issuing the token fails, no token is returned and the login stays used", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    await approve(ada, user_code);
    const down = Object.assign(new Error("overloaded"), { overloaded: true });
    const ACCOUNT = { getByName: () => ({ issueAllowance: async () => Promise.reject(down) }) };
    const failed = await poll(device_code, { ACCOUNT });
    expect(failed.status).toBe(503);
    expect(failed.text).not.toContain("pb_pat_");
    expect((await poll(device_code)).status).toBe(410);
    expect((await ada.getOwn("/api/tokens")).body.tokens).toEqual([]);
  });

  it("a device login survives the eviction of its object at every step", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const evict = () => evictDurableObject(env.DEVICE_LOGIN.getByName(user_code.replace("-", "")));
    await evict();
    await openPage(ada, user_code);
    await evict();
    expect((await approve(ada, user_code)).status).toBe(200);
    await evict();
    const { token } = (await poll(device_code)).body;
    await evict();
    expect((await poll(device_code)).status).toBe(410);
    expect(await tokenId(holderOf(token))).toBeTruthy();
  });
});
