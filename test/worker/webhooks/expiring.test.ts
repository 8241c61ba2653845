import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import { fireAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { begin, giveRecovery, now } from "../support/recovery.ts";
import {
  accountOf,
  ADA,
  createJob,
  deliver,
  openAccount,
  openReceiver,
  type Received,
} from "./receiver.ts";

/** Gives credits with terms. */
async function give(amount: number, days: number, app_slugs: readonly string[] | null = null) {
  const terms = { expires_at_ms: Date.now() + days * DAY_MS, app_slugs, bought: false };
  const given = await accountOf().adjustCredits({ amount, note: "a trial", terms }, null);
  if (!given.ok) throw new Error(given.refusal.code);
  return given.value.value.entry.lot_id;
}

/** Passes days one after another; the alarm fires on each. */
async function passDays(days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    passTime(DAY_MS);
    await fireAlarm(ADA);
    await fireAlarm(ADA);
  }
}

const typeAndData = ({ body }: Received) => [body.type, body.data] as const;

describe("credits that expire, for webhooks", () => {
  it("an app hears of credits a week and a day before they expire, and when they have expired", async () => {
    const { receiver, webhook } = await openReceiver({
      events: ["credits.expiring", "credits.expired"],
    });
    await openAccount();
    const lot_id = await give(50, 9);
    await createJob(20, { ttl_seconds: 5 * 86_400 });
    await passDays(10);
    await deliver(webhook);
    expect(receiver.received.map(typeAndData)).toMatchObject([
      ["credits.expiring", { lot_id, expiring: 30, credits: 130, held: 20 }],
      ["credits.expiring", { lot_id, expiring: 50 }],
      ["credits.expired", { lot_id, expired: 50, credits: 100, held: 0 }],
    ]);
    // The same events again have the same ids.
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3);
  });

  it("after a restore to an earlier time, an app is not warned again of the same credits", async () => {
    const { receiver, webhook } = await openReceiver({ events: ["credits.expiring"] });
    await giveRecovery();
    await openAccount();
    await give(50, 9);
    const to = now();
    await passDays(3);
    await begin({ identity_id: ADA }, to);
    expect(await accountOf().finishRecovery()).toMatchObject({ ok: true });
    await passDays(2);
    await deliver(webhook);
    expect(receiver.received.map(typeAndData)).toMatchObject([
      ["credits.expiring", { expiring: 50 }],
    ]);
  });

  it("a lot that lives for less than a week is announced once, and one for less than a day never", async () => {
    const { receiver, webhook } = await openReceiver({
      events: ["credits.expiring", "credits.expired"],
    });
    await openAccount();
    await give(50, 3);
    await give(40, 0.5);
    await passDays(4);
    await deliver(webhook);
    expect(receiver.received.map(typeAndData)).toMatchObject([
      ["credits.expired", { expired: 40 }],
      ["credits.expiring", { expiring: 50 }],
      ["credits.expired", { expired: 50 }],
    ]);
  });

  it("an app does not hear of credits that it cannot use, and its thresholds do not count them", async () => {
    const { receiver, webhook } = await openReceiver({
      events: ["credits.expiring", "credits.expired", "credits.low"],
      thresholds: [50],
    });
    await openAccount();
    await give(500, 2, ["other"]);
    await createJob(60);
    await passDays(3);
    await deliver(webhook);
    expect(receiver.received.map(typeAndData)).toMatchObject([
      ["credits.low", { threshold: 50, spendable: 40, credits: 540 }],
    ]);
  });
});
