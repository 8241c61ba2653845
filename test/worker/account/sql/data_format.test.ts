import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import journal from "../../../../drizzle/account/meta/_journal.json";
import { BUILD, OLDEST_BUILDS } from "../../../../src/account/sql/migrate.ts";
import { change, dump, fireAlarm, query, readAlarm } from "../../support/account_object.ts";
import { send, signInWithCredits } from "../../support/passbook.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 10 };

/** Marks the object's data as changed by a newer build: only `oldest_build` and later may run on it. */
function allowBuildsFrom(identity_id: string, oldest_build: number): Promise<void> {
  return change(identity_id, `update data_format set oldest_build = ${oldest_build}`);
}

describe("data that a newer build changed", () => {
  it("each account migration states an oldest build that has at most that migration", () => {
    expect(OLDEST_BUILDS).toHaveLength(journal.entries.length);
    OLDEST_BUILDS.forEach((oldest_build, index) => {
      expect(oldest_build).toBeGreaterThanOrEqual(1);
      expect(oldest_build).toBeLessThanOrEqual(index + 1);
    });
  });

  it("an account stores how many migrations ran and the oldest build that may run", async () => {
    const ada = await signInWithCredits();
    expect(await query(ada.identity_id, "select * from data_format")).toEqual([
      { singleton: 1, migrations: BUILD, oldest_build: Math.max(...OLDEST_BUILDS) },
    ]);
  });

  it("a build that the data does not allow answers 503 and changes nothing", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await ada.post("/api/jobs", JOB)).body;
    await allowBuildsFrom(ada.identity_id, BUILD + 1);
    const before = await dump(ada.identity_id);
    const answers = [
      await ada.get("/api/wallet?app=demo"),
      await ada.post("/api/jobs", JOB),
      await ada.post("/api/jobs/batch", { jobs: [JOB] }),
      await ada.post("/api/jobs/complete", { job_id, actual_cost: 1 }),
      await ada.post("/api/jobs/fail", { job_id }),
      await ada.get("/api/jobs"),
      await ada.get("/api/ledger"),
      await ada.get("/api/events"),
      await ada.getOwn("/api/tokens"),
    ];
    for (const { status, body, headers } of answers) {
      expect({ status, code: body.code }).toEqual({ status: 503, code: "newer_data" });
      expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
    }
    expect(await dump(ada.identity_id)).toBe(before);
  });

  it("a build that the data does not allow never reports an account as deleted or free of debt", async () => {
    const ada = await signInWithCredits();
    await allowBuildsFrom(ada.identity_id, BUILD + 1);
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const failures = await Promise.all(
      [account.isDeleted(), account.readOwed(), account.hasBought("pi_1")].map((call) =>
        call.then(
          () => "no failure",
          (error: Error) => error.message,
        ),
      ),
    );
    expect(failures).toEqual(["newer_data", "newer_data", "newer_data"]);
  });

  it("an alarm that rings for a build that the data does not allow comes again", async () => {
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", JOB);
    await allowBuildsFrom(ada.identity_id, BUILD + 1);
    await fireAlarm(ada.identity_id);
    expect(await readAlarm(ada.identity_id)).toBeGreaterThan(Date.now());
  });

  it("the account works again, unchanged, once a build that the data allows runs", async () => {
    const ada = await signInWithCredits();
    const { job_id } = (await ada.post("/api/jobs", JOB)).body;
    await allowBuildsFrom(ada.identity_id, BUILD + 1);
    expect((await ada.get("/api/wallet")).status).toBe(503);
    await allowBuildsFrom(ada.identity_id, BUILD);
    const settled = await ada.post("/api/jobs/complete", { job_id, actual_cost: 4 });
    expect(settled.body.credits).toBe(96);
  });

  it("an account keeps working if a newer build only added to its data", async () => {
    const ada = await signInWithCredits();
    await change(ada.identity_id, `update data_format set migrations = ${BUILD + 1}`);
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(100);
    const [format] = await query<{ migrations: number }>(
      ada.identity_id,
      "select migrations from data_format",
    );
    expect(format?.migrations).toBe(BUILD + 1);
  });
});

describe("an object that still runs an older build", () => {
  it("a call of a method that the object does not have yet is 503, to be retried", async () => {
    const ada = await signInWithCredits();
    const accounts = env.ACCOUNT;
    const older = {
      getByName: (name: string) =>
        new Proxy(accounts.getByName(name), {
          get: (stub, method) =>
            method === "wallet" ? Reflect.get(stub, "walletOfTomorrow") : Reflect.get(stub, method),
        }),
    };
    const answer = await send(
      "GET",
      "/api/wallet",
      { headers: { Authorization: `Bearer ${ada.token}` } },
      { ACCOUNT: older },
    );
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(answer.headers.get("Retry-After")).not.toBeNull();
  });
});
