/** When jobs expire, at the account itself. */
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { evict, fireAlarm, readAlarm } from "../../support/account_object.ts";
import { JOB_REQUEST } from "../../support/allowances.ts";
import { passTime } from "../../support/clock.ts";

const ADA = "ada";
const HOLDER = { kind: "holder" } as const;
const TTL_SECONDS = 60;

const account = () => env.ACCOUNT.getByName(ADA);
const list = () => account().listJobs(HOLDER, { limit: 1 });

beforeEach(async () => {
  passTime(0);
  await account().wallet(HOLDER, {
    app: { slug: "demo", starter_credits: 100, is_registered: true },
  });
});

const create = () =>
  account().createJob(HOLDER, { ...JOB_REQUEST, cost_estimate: 1, ttl_seconds: TTL_SECONDS }, null);

it("a job expires in the millisecond of its deadline", async () => {
  expect(await create()).toMatchObject({ ok: true });
  passTime(1_000 * TTL_SECONDS - 1);
  expect(await list()).toMatchObject({ value: { rows: [{ status: "started" }] } });
  passTime(1);
  expect(await list()).toMatchObject({
    value: { rows: [{ status: "failed", failure: "expired" }] },
  });
});

it("an account without started jobs arms no alarm", async () => {
  for (let alarms = 0; alarms < 5; alarms += 1) await fireAlarm(ADA);
  await evict(ADA);
  expect(await list()).toMatchObject({ ok: true });
  expect(await readAlarm(ADA)).toBeNull();
});
