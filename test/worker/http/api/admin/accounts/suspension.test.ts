import { env } from "cloudflare:workers";
import { createExecutionContext } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import worker from "../../../../../../src/worker.ts";
import { fireAlarm } from "../../../../support/account_object.ts";
import { expectInvariants } from "../../../../account/invariants.ts";
import {
  approve,
  getToken,
  poll,
  postForm,
  startLogin,
} from "../../../../support/device_logins.ts";
import { BASE_URL, send, signInWithCredits, type SignedIn } from "../../../../support/passbook.ts";
import { operatorOnPages, SETTINGS, signInOperator } from "../operators.ts";

async function suspended() {
  const olga = await signInOperator();
  const ada = await signInWithCredits();
  const token = await getToken(ada);
  const { device_code, user_code } = await startLogin();
  await approve(ada, user_code);
  const job = await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 40 });
  const act = (name: string) =>
    olga.send("POST", `/api/admin/accounts/${ada.identity_id}/${name}`, { reason: "fraud" });
  expect((await act("suspend")).body).toEqual({ ok: true });
  return { olga, ada, token, device_code, job_id: job.body.job_id as string, act };
}

const browser = (ada: SignedIn) => ({
  Cookie: ada.cookies,
  Accept: "text/html",
  Origin: BASE_URL,
});

describe("the holder of a suspended account", () => {
  it("the API responds 403 to the holder of a suspended account by session, cookie and personal token", async () => {
    const { ada, token, device_code, job_id } = await suspended();
    const start = { app: "demo", action: "draw", cost_estimate: 1 };
    const responses = [
      await ada.get("/api/wallet"),
      await ada.get("/api/me"),
      await ada.get("/api/jobs"),
      await ada.get("/api/ledger"),
      await ada.get("/api/events"),
      await ada.getOwn("/api/tokens"),
      await ada.get("/api/oauthToken/github"),
      await ada.get("/api/sessionToken"),
      await send("GET", "/api/sessionToken", { headers: browser(ada) }),
      await send("GET", "/api/wallet", { headers: { Cookie: ada.cookies } }),
      await ada.post("/api/jobs", start),
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 0 }),
      await ada.post("/api/jobs/fail", { job_id }),
      await token.get("/api/wallet"),
      await token.get("/api/sessionToken"),
      await token.post("/api/jobs", start),
      await approve(ada, (await startLogin()).user_code),
      await poll(device_code),
    ];
    for (const [index, { status, body }] of responses.entries()) {
      expect([status, body.code], String(index)).toEqual([403, "suspended"]);
    }
  });

  it("every page and form shows the holder of a suspended account a page to sign out", async () => {
    const { ada } = await suspended();
    for (const path of ["/account", "/account/jobs", "/account/access", "/device", "/signin"]) {
      const { status, text } = await send("GET", path, { headers: browser(ada) });
      expect(status, path).toBe(403);
      expect(text, path).toContain("suspended");
      expect(text, path).toContain('action="/signout"');
    }
    expect((await postForm(ada, "/account/access/revoke", { id: "x" })).status).toBe(403);
  });

  it("the holder reads the public reason in a response, on a page and in their data, and never the reason for the audit log", async () => {
    const { olga, ada, token, act } = await suspended();
    const path = `/api/admin/accounts/${ada.identity_id}`;
    expect((await ada.get("/api/wallet")).body).not.toHaveProperty("public_reason");
    const public_reason = "Too many accounts <share> one card.";
    const body = { reason: "stolen cards", public_reason };
    expect((await olga.send("POST", `${path}/suspend`, body)).status).toBe(200);
    // Nobody takes the text away by suspending the account again.
    await act("suspend");
    expect((await ada.get("/api/wallet")).body).toMatchObject({ code: "suspended", public_reason });
    expect((await olga.get(path)).body.account.suspended_public_reason).toBe(public_reason);
    const page = (await send("GET", "/account", { headers: browser(ada) })).text;
    expect(page).toContain("wrote: “Too many accounts &lt;share&gt; one card.”");
    const data = (await send("GET", "/account/data.json", { headers: browser(ada) })).body;
    expect(data.account.suspended_public_reason).toBe(public_reason);
    // A token may be in a third party's program.
    const by_token = (await token.get("/api/wallet")).body;
    expect(by_token.code).toBe("suspended");
    expect(by_token).not.toHaveProperty("public_reason");
    for (const text of [page, JSON.stringify((await ada.get("/api/wallet")).body)]) {
      expect(text).not.toContain("stolen");
    }
    await act("restore");
    await act("suspend");
    expect((await ada.get("/api/wallet")).body).not.toHaveProperty("public_reason");
    const { body: log } = await olga.get(`/api/admin/audit?subject=${ada.identity_id}`);
    expect(log.entries.map((entry: { details: object }) => entry.details)).toContainEqual(
      expect.objectContaining({ public_reason }),
    );
  });

  it("a public reason has at most 300 characters, and none is invisible", async () => {
    const { olga, ada } = await suspended();
    const path = `/api/admin/accounts/${ada.identity_id}/suspend`;
    for (const public_reason of ["", "x".repeat(301), "a\u202eb"]) {
      const { status, body } = await olga.send("POST", path, { reason: "fraud", public_reason });
      expect([status, body.code]).toEqual([400, "invalid_request"]);
    }
  });

  it("the holder of a suspended account gets neither token nor cookie by signing in again", async () => {
    await suspended();
    const body = new URLSearchParams({
      email: "ada@example.com",
      redirect_to: "http://localhost:3000/",
    });
    const landed = await send("POST", "/signin/dev", { body });
    expect(landed.status).toBe(403);
    expect(landed.headers.getSetCookie()).toEqual([]);
    expect(landed.headers.get("Location")).toBeNull();
  });

  it.each([["/signout"], ["/account/signout-everywhere"]])(
    "the holder of a suspended account can sign out at %s",
    async (path) => {
      const { ada } = await suspended();
      expect((await postForm(ada, path, {})).status).toBeLessThan(400);
      const { status } = await send("GET", "/account", { headers: browser(ada) });
      expect(status).toBe(303);
    },
  );

  it("jobs of a suspended account still expire, and everything works again after it is restored", async () => {
    const { ada, act, olga } = await suspended();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 60 * 60 * 1000 });
    await fireAlarm(ada.identity_id);
    vi.useRealTimers();
    const path = `/api/admin/accounts/${ada.identity_id}`;
    const { body } = await olga.get(path);
    expect(body).toMatchObject({ held: 0, account: { credits: 100 } });
    expect(body.account.suspended_at).not.toBeNull();
    expect((await act("restore")).status).toBe(200);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    expect((await olga.get(path)).body.account.suspended_at).toBeNull();
    await expectInvariants(ada.identity_id);
  });

  it("suspending an account closes its open streams", async () => {
    const olga = await signInOperator();
    const ada = await signInWithCredits();
    const request = new Request(`${BASE_URL}/api/events`, {
      headers: { Authorization: `Bearer ${ada.token}`, Upgrade: "websocket" },
    });
    const { webSocket } = await worker.fetch(request, env, createExecutionContext());
    const closed = new Promise<number>((resolve) => {
      webSocket?.addEventListener("close", ({ code }) => resolve(code));
    });
    webSocket?.accept();
    const path = `/api/admin/accounts/${ada.identity_id}/suspend`;
    await olga.send("POST", path, { reason: "fraud" });
    expect(await closed).toBeGreaterThanOrEqual(4000);
  });
});

describe("a suspended operator", () => {
  it("a suspended operator has no operator rights and cannot restore their own account", async () => {
    const olga = await signInOperator();
    const otto = await signInWithCredits("demo", "otto@example.com");
    const settings = { OPERATORS: "olga@example.com, otto@example.com" };
    const second = operatorOnPages(otto, settings);
    const path = `/api/admin/accounts/${otto.identity_id}`;
    expect((await second.get(path)).status).toBe(200);
    await olga.send("POST", `${path}/suspend`, { reason: "left us" });
    const tried = await second.send("POST", `${path}/restore`, { reason: "please" });
    expect([tried.status, tried.body.code]).toEqual([403, "suspended"]);
    expect(SETTINGS.OPERATORS).toBe("olga@example.com");
  });
});
