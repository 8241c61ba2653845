import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { ACCOUNT_FULL_BYTES } from "../../../src/domain/limits.ts";
import { signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { expectInvariants } from "./invariants.ts";
import { passTime } from "../support/clock.ts";
import { dump } from "../support/account_object.ts";

/** Makes the storage of all objects report this size a second later, because a test cannot write ten gigabytes. */
async function fill(ada: SignedIn, bytes: number): Promise<void> {
  await runInDurableObject(env.ACCOUNT.getByName(ada.identity_id), (_, state) => {
    const prototype = Object.getPrototypeOf(state.storage.sql);
    vi.spyOn(prototype, "databaseSize", "get").mockReturnValue(bytes);
  });
  passTime(1_000);
}

const JOB = { app: "demo", action: "draw", cost_estimate: 10 };

describe("a full account", () => {
  it("a full account refuses new jobs and steps before it writes anything, and its started jobs can still end", async () => {
    const ada = await signInWithCredits();
    const started = [];
    for (let jobs = 0; jobs < 4; jobs += 1) started.push(await ada.post("/api/jobs", JOB));
    const [settled, failed, kept] = started.map(({ body }) => body.job_id as string);
    await fill(ada, ACCOUNT_FULL_BYTES - 1);
    expect(await ada.post("/api/jobs", JOB)).toMatchObject({ status: 200 });

    await fill(ada, ACCOUNT_FULL_BYTES);
    const before = await dump(ada.identity_id);
    const refused = await ada.post("/api/jobs", JOB, { "Idempotency-Key": "full" });
    expect(refused).toMatchObject({ status: 507, body: { code: "account_full" } });
    const step = await ada.post("/api/jobs/progress", { job_id: settled, step: 1 });
    expect(step).toMatchObject({ status: 507, body: { code: "account_full" } });
    expect(await dump(ada.identity_id)).toBe(before);

    const complete = { job_id: settled, actual_cost: 4, metadata: { description: "done" } };
    expect(await ada.post("/api/jobs/complete", complete)).toMatchObject({ status: 200 });
    expect(await ada.post("/api/jobs/fail", { job_id: failed })).toMatchObject({ status: 200 });
    const without_refund = { job_id: kept, refund: false };
    expect(await ada.post("/api/jobs/fail", without_refund)).toMatchObject({ status: 200 });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100 - 4 - 10 - 2 * 10);
    // The check of the invariants starts jobs, which a full account refuses.
    await fill(ada, 0);
    await expectInvariants(ada.identity_id);
  });

  it("a full account still refunds jobs that expire", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", { ...JOB, ttl_seconds: 60 });
    await fill(ada, ACCOUNT_FULL_BYTES * 1.1);
    passTime(61_000);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    await expectInvariants(ada.identity_id);
  });
});
