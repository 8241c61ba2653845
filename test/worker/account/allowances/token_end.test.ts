/** A token's started jobs expire when it ends, however it ends, and may still be settled late. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { EXPIRY_PORTION_JOBS } from "../../../../src/account/jobs/expiry.ts";
import { DEFAULT_POLICY } from "../../../../src/domain/app_policy.ts";
import { DAY_MS } from "../../../../src/domain/calendar.ts";
import { JOB_TTL_MAX_SECONDS } from "../../../../src/domain/limits.ts";
import { evict, fireAlarm, query, repeatAlarm } from "../../support/account_object.ts";
import { issueToken, withToken } from "../../support/allowances.ts";
import { passTime } from "../../support/clock.ts";
import { getToken, tokenId, type TokenHolder } from "../../support/device_logins.ts";
import { signInWithCredits, type SignedIn } from "../../support/passbook.ts";
import { expectInvariants } from "../invariants.ts";

const accountOf = ({ identity_id }: SignedIn) => env.ACCOUNT.getByName(identity_id);

const start = async (holder: TokenHolder | SignedIn, cost_estimate: number): Promise<string> => {
  const body = { app: "demo", action: "draw", cost_estimate };
  return (await holder.post("/api/jobs", body)).body.job_id;
};

const ENDINGS: readonly [string, (ada: SignedIn, id: string) => Promise<unknown>][] = [
  [
    "its holder revokes it",
    (ada, id) => accountOf(ada).revokeAllowance({ kind: "holder" }, { id }),
  ],
  ["all tokens are revoked", (ada) => accountOf(ada).revokeAllAllowances()],
  ["its session ends", (ada) => accountOf(ada).endSessions("all")],
  [
    "its sign-in method is unlinked",
    (ada) => accountOf(ada).revokeApprovedBy({ kind: "signin_method", signin_method: "dev" }),
  ],
];

it.each(ENDINGS)(
  "when %s, the token's started jobs expire at once, may still be completed, and other jobs go on",
  async (_, end) => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const id = await tokenId(token);
    // Each way of ending the token needs these columns.
    await query(
      ada.identity_id,
      `update allowances set ends_with_session = 1, signin_method = 'dev' where id = '${id}'`,
    );
    const [job_id, own] = [await start(token, 30), await start(ada, 10)];
    await end(ada, id);
    expect((await token.get("/api/wallet")).status).toBe(401);
    const expired = await ada.get(`/api/jobs/${job_id}`);
    expect(expired.body).toMatchObject({ status: "failed", failure: "expired", actual_cost: 0 });
    expect((await ada.get(`/api/jobs/${own}`)).body.status).toBe("started");
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(90);
    const late = await ada.post("/api/jobs/complete", { job_id, actual_cost: 20 });
    expect(late).toMatchObject({ status: 200, body: { credits: 70 } });
    await expectInvariants(ada.identity_id);
  },
);

describe("more started jobs of a revoked token than one transaction ends", () => {
  it("the started jobs of a revoked token expire in portions by the alarm, even after an eviction", async () => {
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const job = { app: "demo", action: "draw", cost_estimate: 0 };
    const jobs = Array.from({ length: 100 }, () => job);
    const count = 3 * EXPIRY_PORTION_JOBS;
    for (let left = count; left > 0; left -= 100) await token.post("/api/jobs/batch", { jobs });
    const other = await start(ada, 1);
    await fireAlarm(ada.identity_id);
    const id = await tokenId(token);
    const STARTED = "select 1 from jobs where status = 'started'";
    // Revokes and counts without an await in between, so that the alarm cannot fire.
    await runInDurableObject(accountOf(ada), (instance, { storage }) => {
      instance.revokeAllowance({ kind: "holder" }, { id });
      const left = storage.sql.exec(STARTED).toArray().length;
      expect(left).toBe(count - EXPIRY_PORTION_JOBS + 1);
    });
    await evict(ada.identity_id);
    for (let alarms = 0; alarms < 2; alarms += 1) await repeatAlarm(ada.identity_id);
    expect(await query(ada.identity_id, STARTED)).toHaveLength(1);
    expect((await ada.get(`/api/jobs/${other}`)).body.status).toBe("started");
    await expectInvariants(ada.identity_id);
  });
});

describe("a revocation that a failing store undoes", () => {
  it("a revocation that is rolled back leaves the token and its job, and the next one ends both", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const token = await getToken(ada);
    const id = await tokenId(token);
    const job_id = await start(token, 30);
    const fails =
      "before update of revoked_at_ms on allowances begin select raise(abort, 'no'); end";
    await query(ada.identity_id, `create trigger broken ${fails}`);
    await token.revoke(id);
    await query(ada.identity_id, "drop trigger broken");
    expect((await token.get(`/api/jobs/${job_id}`)).body.status).toBe("started");
    await token.revoke(id);
    expect((await ada.get(`/api/jobs/${job_id}`)).body.failure).toBe("expired");
  });
});

it("a job that its app keeps alive goes on after its token has expired and the token's row is deleted", async () => {
  const holder = { kind: "holder" } as const;
  const app = { kind: "app", app_slug: "demo" } as const;
  const account = env.ACCOUNT.getByName("ada");
  const issue = (id: string) => issueToken("ada", id);
  await account.wallet(holder, { app: { slug: "demo", starter_credits: 10 } });
  await issue("short");
  const ttl_seconds = JOB_TTL_MAX_SECONDS;
  const job = { app_slug: "demo", policy: DEFAULT_POLICY, action: "draw", metadata_json: null };
  const created = await account.createJob(
    withToken("short"),
    { ...job, cost_estimate: 4, ttl_seconds },
    null,
  );
  const job_id = created.ok ? created.value.value.job_id : expect.fail("refused");
  passTime(29 * DAY_MS);
  const terms = { reserve: null, spent: 1, ttl_seconds, fingerprint: "" };
  await account.reportProgress(app, { job_id, step: 1, ...terms });
  passTime(10 * DAY_MS);
  await issue("other");
  expect(await query("ada", "select id from allowances")).toEqual([{ id: "other" }]);
  await evict("ada");
  await repeatAlarm("ada");
  expect(await account.readJob(holder, job_id)).toMatchObject({ value: { status: "started" } });
  const ending = { job_id, actual_cost: 3, metadata_json: null };
  expect(await account.completeJob(app, ending, null)).toMatchObject({
    value: { value: { credits: 7 } },
  });
  await expectInvariants("ada");
});
