/** The daily totals of jobs that were completed after they expired. */
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { DEFAULT_POLICY, type ExpiryOutcome } from "../../../../src/domain/app_policy.ts";
import { DAY_MS, utcDayOf } from "../../../../src/domain/calendar.ts";
import { readDailyTotals } from "../../../../src/readmodel/totals.ts";
import { fireAlarm } from "../../support/account_object.ts";
import { moodOfD1 } from "./d1_faults.ts";

const ADA = "ada";
const session = { kind: "holder" } as const;
const ada = () => env.ACCOUNT.getByName(ADA);
/**
 * In the future, so that an alarm fires only when the test fires it. At midnight, so that days are whole. Before the days of
 * `readmodel/month`, because the ids of later tests in the same isolate are never earlier than these.
 */
const START_MS = (utcDayOf(Date.now()) + 4_000) * DAY_MS;

async function startJob(on_expiry: ExpiryOutcome): Promise<string> {
  vi.useFakeTimers({ toFake: ["Date"], now: START_MS });
  await ada().wallet(session, { app: { slug: "demo", starter_credits: 100 } });
  const created = await ada().createJob(
    session,
    {
      app_slug: "demo",
      policy: { ...DEFAULT_POLICY, on_expiry },
      action: "draw",
      ttl_seconds: 60,
      metadata_json: null,
      cost_estimate: 10,
    },
    null,
  );
  return created.ok ? created.value.value.job_id : expect.fail(created.refusal.code);
}

/** Lets the job expire on the day of its creation, and completes it on the next day. */
async function completeLate(job_id: string): Promise<void> {
  vi.setSystemTime(START_MS + DAY_MS / 2);
  await ada().wallet(session, { app: null });
  await fireAlarm(ADA);
  vi.setSystemTime(START_MS + DAY_MS);
  const completed = await ada().completeJob(
    session,
    { job_id, actual_cost: 4, metadata_json: null },
    null,
  );
  expect(completed.ok).toBe(true);
}

describe.each([
  { is_separate: true, delivery: "two deliveries" },
  { is_separate: false, delivery: "one delivery" },
])("a job of 10 that expires and then costs 4, in $delivery", ({ is_separate }) => {
  it.each([
    { on_expiry: "charge", first: { settled: 10, refunded: 0 }, next: { settled: -6 } },
    { on_expiry: "refund", first: { settled: 0, refunded: 10 }, next: { settled: 4 } },
  ] as const)(
    "the daily totals of a late completion add up to its cost of 4 and one failure, with on_expiry $on_expiry",
    async ({ on_expiry, first, next }) => {
      vi.spyOn(console, "warn").mockReturnValue();
      const d1 = moodOfD1();
      d1.mood = is_separate ? "well" : "fails before";
      await completeLate(await startJob(on_expiry));
      d1.mood = "well";
      vi.setSystemTime(Date.now() + DAY_MS / 2);
      await fireAlarm(ADA);
      const from = utcDayOf(START_MS);
      expect(await readDailyTotals(env.DB, from, from + 9, "demo")).toMatchObject([
        { ...first, jobs: 1, failed: 1 },
        { ...next, jobs: 0, failed: 0 },
      ]);
    },
  );
});
