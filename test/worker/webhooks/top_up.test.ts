import { describe, expect, it } from "vitest";
import { openShop, settleDown, spend, switchOn } from "../top_up/topped_up.ts";
import { passTime } from "../support/clock.ts";
import { signIn } from "../support/passbook.ts";
import { openReceiver } from "./receiver.ts";
import { query } from "../support/account_object.ts";

describe("automatic top-up, for webhooks", () => {
  it("an app gets an event for each failed charge, and when top-up is switched off", async () => {
    await openReceiver({ events: ["topup.failed", "topup.disabled"] });
    const stripe = openShop();
    const ada = await switchOn(stripe, { mode: "declined" });
    await spend(ada, 60);
    for (let hour = 0; hour < 4; hour += 1) {
      await settleDown(ada);
      passTime(60 * 60_000);
    }
    await signIn("ada@example.com");
    const events = await query<{ type: string; app_slug: string; details_json: string }>(
      ada.identity_id,
      "select type, app_slug, details_json from unnumbered_events where type like 'topup%' order by id",
    );
    expect(events.map(({ type }) => type)).toEqual([
      "topup.failed",
      "topup.failed",
      "topup.failed",
      "topup.disabled",
    ]);
    const { app_slug, details_json } = events[3] ?? { details_json: "{}" };
    expect(app_slug).toBe("demo");
    expect(JSON.parse(details_json)).toMatchObject({ reason: "declined", credits: 0, held: 0 });
  });
});
