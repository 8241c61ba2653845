/** An account with automatic top-up is restored to an earlier time. */
import { describe, expect, it } from "vitest";
import { repeatAlarm } from "../support/account_object.ts";
import { passTime } from "../support/clock.ts";
import { begin, expectSound, giveRecovery, now, restore } from "../support/recovery.ts";
import { operatorOnPages, SETTINGS, signInOperator } from "../http/api/admin/operators.ts";
import { creditsOf, SELLING } from "../payments/till.ts";
import { openShop, pay, sendForm, settleDown, switchOn, topUpOf, topUpsOf } from "./topped_up.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

describe("restoring an account with automatic top-up", () => {
  it("a top-up after the time stays, counts for the month, and its number is not used again", async () => {
    const stripe = openShop();
    await giveRecovery();
    const olga = await signInOperator();
    const ada = await switchOn(stripe);
    await settleDown(ada);
    const to = now();
    await pay(ada, 60);
    await settleDown(ada);
    expect(await creditsOf(ada)).toBe(140);
    expect((await restore(olga, ada, to)).body.now).toMatchObject({ credits: 200 });
    await settleDown(ada);
    expect(await topUpOf(ada)).toMatchObject({ on: true, month_spent_minor: 500 });
    expect(stripe.charged()).toHaveLength(1);
    await pay(ada, 160);
    await settleDown(ada);
    expect(await topUpsOf(ada)).toMatchObject([
      { number: 1, outcome: "done" },
      { number: 2, outcome: "done" },
    ]);
    expect(await creditsOf(ada)).toBe(140);
    expect(stripe.charged()).toHaveLength(2);
    await expectSound(olga, ada);
    // The payment service knows both charges as this person's.
    const selling = operatorOnPages((await signInOperator()).person, { ...SETTINGS, ...SELLING });
    const compared = await selling.get(`/api/admin/accounts/${ada.identity_id}/differences`);
    expect(compared.body).toEqual({ checked: 1, differences: [], failed: [] });
  });

  it("automatic top-up stays off after a restore if the holder switched it off after the time", async () => {
    const stripe = openShop();
    await giveRecovery();
    const olga = await signInOperator();
    const ada = await switchOn(stripe);
    const to = now();
    await sendForm(ada, { act: "off" });
    await pay(ada, 60);
    expect((await restore(olga, ada, to)).body.now).toMatchObject({ credits: 100 });
    await pay(ada, 60);
    await settleDown(ada);
    expect(await topUpOf(ada)).toMatchObject({ on: false, state: "holder" });
    expect(stripe.charged()).toHaveLength(0);
  });

  it("until a restore is finished, a top-up that was due at the time is not charged again", async () => {
    const stripe = openShop();
    await giveRecovery();
    const olga = await signInOperator();
    const ada = await switchOn(stripe);
    await pay(ada, 60);
    const to = now();
    await settleDown(ada);
    expect(stripe.charged()).toHaveLength(1);
    passTime(2 * DAY_MS);
    await begin(ada, to);
    await repeatAlarm(ada.identity_id);
    expect(await topUpsOf(ada)).toMatchObject([{ outcome: "due", asked: 0 }]);
    expect((await restore(olga, ada, to)).body.now).toMatchObject({ credits: 140 });
    await settleDown(ada);
    expect(await topUpsOf(ada)).toMatchObject([{ outcome: "done", asked: 1 }]);
    expect(stripe.charged()).toHaveLength(1);
    await expectSound(olga, ada);
  });
});
