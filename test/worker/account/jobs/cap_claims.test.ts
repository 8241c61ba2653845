/** When a claim on caps ends. What it is for is tested with an app's key in `http/caller/app_access`. */
import { beforeEach, describe, expect, it } from "vitest";
import { CAP_CLAIM_MS, JOBS_PER_BATCH_MAX } from "../../../../src/domain/limits.ts";
import { personalToken } from "../../http/api/admin/operators.ts";
import { openAppServer, type AppServer } from "../../http/caller/app_server.ts";
import { query } from "../../support/account_object.ts";
import { passTime } from "../../support/clock.ts";
import type { TokenHolder } from "../../support/device_logins.ts";
import { send, signIn, type SignedIn } from "../../support/passbook.ts";

const TTL_SECONDS = 60;
const TTL_MS = TTL_SECONDS * 1000;

let server: AppServer;
let ada: SignedIn;
let token: TokenHolder;
beforeEach(async () => {
  server = await openAppServer("demo", { settle: "app" });
  ada = await signIn();
  const headers = { Authorization: `Bearer ${ada.token}` };
  await send("GET", "/api/wallet?app=demo", { headers }, server.operator.settings);
  const settings = server.operator.settings as Record<string, unknown>;
  token = (await personalToken(ada, { caps: [{ credits: 50 }] }, settings)) ?? expect.fail();
  // From here on, time passes only as a test says.
  passTime(0);
});

const wallet = async () => (await token.get("/api/wallet")).body;
const roomNow = async (): Promise<number> => (await wallet()).room;

/** A job of the token, which only its app may settle. */
async function started(cost_estimate = 40): Promise<string> {
  const job = { app: "demo", action: "draw", cost_estimate, ttl_seconds: TTL_SECONDS };
  return (await token.post("/api/jobs", job)).body.job_id;
}

describe("the claim of an expired job that only its app may settle", () => {
  it("the week of a claim counts from the expiry, even if no call noticed the expiry for days", async () => {
    await started();
    passTime(TTL_MS + CAP_CLAIM_MS - 1);
    expect(await roomNow()).toBe(10);
    passTime(1);
    expect(await roomNow()).toBe(50);
    expect(await query(ada.identity_id, "select * from cap_claims")).toEqual([]);
  });

  it("the week of a claim counts from a cancellation that comes before the expiry", async () => {
    const job_id = await started();
    expect((await ada.post("/api/jobs/cancel", { job_id })).status).toBe(200);
    passTime(CAP_CLAIM_MS - 1);
    expect(await roomNow()).toBe(10);
    passTime(1);
    expect(await roomNow()).toBe(50);
  });

  it("an expired job without a token claims nothing", async () => {
    const headers = { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" };
    const job = { app: "demo", action: "draw", cost_estimate: 40, ttl_seconds: TTL_SECONDS };
    const init = { headers, body: JSON.stringify(job) };
    expect((await send("POST", "/api/jobs", init, server.operator.settings)).status).toBe(200);
    passTime(TTL_MS);
    expect(await wallet()).toMatchObject({ account: { credits: 100 }, room: 50 });
    expect(await query(ada.identity_id, "select * from cap_claims")).toEqual([]);
  });

  it("an expired job of a token without a cap claims nothing", async () => {
    const settings = server.operator.settings as Record<string, unknown>;
    const free = (await personalToken(ada, {}, settings)) ?? expect.fail();
    const job = { app: "demo", action: "draw", cost_estimate: 40, ttl_seconds: TTL_SECONDS };
    expect((await free.post("/api/jobs", job)).status).toBe(200);
    passTime(TTL_MS);
    expect((await wallet()).account.credits).toBe(100);
    expect(await query(ada.identity_id, "select * from cap_claims")).toEqual([]);
  });

  it("of more claims than one call ends, the next call ends the rest", async () => {
    const jobs = Array.from({ length: JOBS_PER_BATCH_MAX }, () => ({
      app: "demo",
      action: "draw",
      cost_estimate: 0,
      ttl_seconds: TTL_SECONDS,
    }));
    await token.post("/api/jobs/batch", { jobs });
    await token.post("/api/jobs/batch", { jobs });
    await started(20);
    passTime(TTL_MS);
    await wallet();
    // Jobs that cost nothing claim nothing. Here they do, and their claims end before the other one.
    await query(
      ada.identity_id,
      `insert into cap_claims (job_id, claimed_until_ms)
       select id, expires_at_ms from jobs where reserved = 0`,
    );
    await query(
      ada.identity_id,
      "update jobs set claimed_until_ms = expires_at_ms where reserved = 0",
    );
    passTime(CAP_CLAIM_MS);
    expect(await roomNow()).toBe(30);
    expect(await roomNow()).toBe(50);
  });
});
