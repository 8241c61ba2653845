import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { OVERDUE_ACCOUNTS_WOKEN } from "../../../src/operations/overdue_accounts.ts";
import { upkeepOf } from "../../../src/services.ts";
import { expectInvariants } from "../account/invariants.ts";
import { evict, fireAlarm, query } from "../support/account_object.ts";
import { signInWithCredits, type SignedIn } from "../support/passbook.ts";

const JOB = { app: "demo", action: "draw", cost_estimate: 10, ttl_seconds: 60 };

/** Delivers the account's entries, then deletes its alarm, as the platform does after too many failures. */
async function loseAlarm({ identity_id }: SignedIn): Promise<void> {
  await fireAlarm(identity_id);
  await runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, { storage }) =>
    storage.deleteAlarm(),
  );
  await evict(identity_id);
}

function passHours(hours: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
}

const statuses = ({ identity_id }: SignedIn) =>
  query<{ status: string }>(identity_id, "select status from jobs");

describe("overdue accounts", () => {
  it("the schedule ends overdue jobs of an account that lost its alarm and that nobody uses", async () => {
    vi.spyOn(console, "log").mockReturnValue();
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", JOB);
    await loseAlarm(ada);
    passHours(2);
    await upkeepOf(env)();
    expect(await statuses(ada)).toEqual([{ status: "failed" }]);
    await expectInvariants(ada.identity_id);
    const row = await env.DB.prepare("select credits, reserved from accounts").first();
    expect(row).toEqual({ credits: 100, reserved: 0 });
  });

  it("the schedule leaves a job alone that is not overdue", async () => {
    vi.spyOn(console, "log").mockReturnValue();
    const ada = await signInWithCredits();
    await ada.post("/api/jobs", { ...JOB, ttl_seconds: 86_400 });
    await loseAlarm(ada);
    passHours(2);
    await upkeepOf(env)();
    expect(await statuses(ada)).toEqual([{ status: "started" }]);
  });

  it("one run wakes a bounded number of overdue accounts, and the next runs the rest", async () => {
    const log = vi.spyOn(console, "log").mockReturnValue();
    const people = [];
    for (let i = 0; i < OVERDUE_ACCOUNTS_WOKEN + 3; i += 1) {
      const person = await signInWithCredits("demo", `person${i}@example.com`);
      await person.post("/api/jobs", JOB);
      await loseAlarm(person);
      people.push(person);
    }
    passHours(2);
    await upkeepOf(env)();
    const woken = {
      overdue_accounts: { woken: OVERDUE_ACCOUNTS_WOKEN, overdue: OVERDUE_ACCOUNTS_WOKEN + 3 },
    };
    expect(log).toHaveBeenCalledWith(expect.objectContaining(woken));
    await upkeepOf(env)();
    for (const person of people) expect(await statuses(person)).toEqual([{ status: "failed" }]);
  });
});
