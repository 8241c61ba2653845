import { describe, expect, it } from "vitest";
import { signInOperator } from "../http/api/admin/operators.ts";
import { send, signIn } from "../support/passbook.ts";
import { SELLING } from "../payments/till.ts";
import { fromOwnPage } from "../support/device_logins.ts";
import { openShop, settleDown, spend, switchOn } from "./topped_up.ts";

describe("automatic top-up, for operators", () => {
  it("operators see the choice, the top-ups that were done and failed, and a figure of health", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await spend(ada, 60);
    await settleDown(ada);
    for (const card of stripe.cards.values()) card.mode = "declined";
    await spend(ada, 100);
    await settleDown(ada);
    const olga = await signInOperator();
    const { body } = await olga.get(`/api/admin/accounts/${ada.identity_id}`);
    expect(body.topup).toMatchObject({ on: true, state: "retrying", month_spent_minor: 500 });
    expect(body.top_ups).toMatchObject([
      { number: 2, outcome: "failed", failure: "declined", attempt: 1 },
      { number: 1, outcome: "done", credits: 100, amount_minor: 500 },
    ]);
    const settings = { ...olga.settings, ...SELLING };
    const path = `/console/accounts/${ada.identity_id}`;
    const page = await send("GET", path, { headers: fromOwnPage(olga.person) }, settings);
    expect(page.text).toContain("the card was declined");
    expect(page.text).toContain(String(body.top_ups[1].payment_intent_id));
    const health = (await olga.get("/api/admin/health")).body;
    const figure = health.figures.find(({ name }: { name: string }) => name === "failed_top_ups");
    expect(figure).toMatchObject({ value: 1, reason: "declined", status: "ok" });
  });

  it("a top-up that is due is in the operator's view, and in the holder's data file", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await spend(ada, 60);
    const olga = await signInOperator();
    const { body } = await olga.get(`/api/admin/accounts/${ada.identity_id}`);
    expect(body.top_ups).toMatchObject([{ number: 1, outcome: "due", payment_intent_id: null }]);
    const person = await signIn("ada@example.com");
    const file = (await person.getOwn("/account/data.json")).body;
    expect(file.topup).toMatchObject({ state: "pending", card: "Visa ending in 4242" });
    expect(file.top_ups).toMatchObject([{ number: 1, outcome: "due" }]);
  });

  it("a package that is no longer sold at its price switches automatic top-up off before anything is charged", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const { query, change } = await import("../support/account_object.ts");
    const [row] = await query<{ plan_json: string }>(
      ada.identity_id,
      "select plan_json from top_up",
    );
    const plan = { ...JSON.parse(row?.plan_json ?? "{}"), price: "price_of_yesterday" };
    await change(ada.identity_id, `update top_up set plan_json = '${JSON.stringify(plan)}'`);
    await spend(ada, 60);
    await settleDown(ada);
    expect(stripe.payments.size).toBe(0);
    const { body } = await ada.get("/api/wallet");
    expect(body.topup).toMatchObject({ on: false, state: "package_changed" });
  });
});
