import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import { expectInvariants } from "../account/invariants.ts";
import { change, countRowsWritten, query } from "../support/account_object.ts";
import { getToken } from "../support/device_logins.ts";
import { passTime } from "../support/clock.ts";
import { signInOperator } from "../http/api/admin/operators.ts";
import { openAppServer } from "../http/caller/app_server.ts";
import { signIn, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import type { StripeDouble } from "../payments/stripe_double.ts";
import { creditsOf, deliver, openCheckout } from "../payments/till.ts";
import {
  CHOICE,
  openShop,
  pay,
  saveCard,
  sendForm,
  settleDown,
  showPage,
  spend,
  switchOn,
  topUpOf,
  topUpsOf,
} from "./topped_up.ts";

const HOUR_MS = 60 * 60_000;

describe("switching automatic top-up on", () => {
  it("saving a card switches automatic top-up on and charges nothing, and the wallet says what was chosen", async () => {
    const stripe = openShop();
    const ada = await signInWithCredits();
    expect(await topUpOf(ada)).toBeNull();
    await saveCard(stripe, ada);
    expect(await topUpOf(ada)).toEqual({
      on: true,
      threshold: 50,
      package: "small",
      currency: "eur",
      month_limit_minor: 5_000,
      month_spent_minor: 0,
      state: "ready",
    });
    await settleDown(ada);
    expect(stripe.payments.size).toBe(0);
    expect((await showPage(ada)).text).toContain("Visa ending in 4242");
  });

  it("the page that the checkout returns to switches automatic top-up on, and returning again after switching off does not", async () => {
    const stripe = openShop();
    const ada = await signInWithCredits();
    const sent = await sendForm(ada, {
      act: "new_card",
      package: "small",
      threshold: "50",
      month_limit: "50",
    });
    const id = new URL(sent.headers.get("Location") ?? "").pathname.split("/").at(-1) ?? "";
    const event = stripe.savesCard(id);
    const path = `/account/top-up/saved?checkout_session=${id}`;
    expect((await showPage(ada, path)).status).toBe(303);
    expect(await topUpOf(ada)).toMatchObject({ on: true });
    await sendForm(ada, { act: "off" });
    await showPage(ada, path);
    await deliver(event);
    expect(await topUpOf(ada)).toMatchObject({ on: false, state: "holder" });
  });

  it("the card of another person's checkout is not taken", async () => {
    const stripe = openShop();
    const ada = await signInWithCredits();
    const id = await saveCard(stripe, ada);
    const bob = await signInWithCredits("demo", "bob@example.com");
    await showPage(bob, `/account/top-up/saved?checkout_session=${id}`);
    expect(await topUpOf(bob)).toBeNull();
  });

  it.each([
    { threshold: "0" },
    { threshold: "many" },
    { month_limit: "4.99" },
    { month_limit: "5.001" },
    { month_limit: "1000000" },
    { month_limit: "" },
    { package: "gone" },
  ])("a form with %j saves nothing and says what to correct", async (wrong) => {
    openShop();
    const ada = await signInWithCredits();
    const choice = { package: "small", threshold: "50", month_limit: "50" };
    const sent = await sendForm(ada, { act: "new_card", ...choice, ...wrong });
    expect(sent.status).toBe(400);
    expect(sent.text).toContain("Nothing was saved");
    expect(await query(ada.identity_id, "select * from top_up_setup")).toEqual([]);
  });

  it("a changed choice applies with the same card, and an account whose balance is low already is topped up", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const changed = { package: "small", threshold: "150", month_limit: "20" };
    expect((await sendForm(ada, { act: "save", ...changed })).status).toBe(303);
    await settleDown(ada);
    expect(await creditsOf(ada)).toBe(200);
    expect(await topUpOf(ada)).toMatchObject({ threshold: 150, month_limit_minor: 2_000 });
  });

  it("a lower limit applies to a top-up that is due and not charged yet", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { threshold: "300" });
    expect(await topUpsOf(ada)).toMatchObject([{ outcome: "due", amount_minor: 1_000 }]);
    const lower = { package: "small", threshold: "300", month_limit: "5" };
    await sendForm(ada, { act: "save", ...lower });
    await settleDown(ada);
    expect(stripe.charged()).toMatchObject([{ amount: 500 }]);
    expect(await topUpOf(ada)).toMatchObject({ state: "limit_reached", month_spent_minor: 500 });
  });
});

describe("an automatic top-up", () => {
  it("a job that brings the balance under the threshold is followed by one charge, which is booked once", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await spend(ada, 51);
    await settleDown(ada);
    expect(stripe.charged()).toMatchObject([{ amount: 500, currency: "eur" }]);
    for (let time = 0; time < 2; time += 1) await deliver(stripe.chargeEvent());
    expect(await creditsOf(ada)).toBe(149);
    expect(await topUpsOf(ada)).toMatchObject([{ number: 1, outcome: "done", asked: 1 }]);
    const { entries } = (await ada.get("/api/ledger?kind=purchase")).body;
    expect(entries).toMatchObject([{ amount: 100, note: "Small" }]);
    expect(await topUpOf(ada)).toMatchObject({ state: "ready", month_spent_minor: 500 });
    await expectInvariants(ada.identity_id);
  });

  it("one charge closes the whole gap", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { threshold: "350" });
    await settleDown(ada);
    expect(stripe.charged()).toMatchObject([{ amount: 1_500 }]);
    expect(await creditsOf(ada)).toBe(400);
  });

  it("a refund of a top-up takes its credits back, as of any purchase", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await spend(ada, 60);
    await settleDown(ada);
    await sendForm(ada, { act: "off" });
    const [{ id = "" } = {}] = stripe.charged() as readonly { id?: string }[];
    await deliver(stripe.refunds(id, 250));
    expect(await creditsOf(ada)).toBe(90);
    await expectInvariants(ada.identity_id);
  });

  it.each([
    ["refund", (stripe: StripeDouble, id: string) => stripe.refunds(id, 500)],
    [
      "dispute",
      (stripe: StripeDouble, id: string) =>
        stripe.disputes(id, "created", { amount: 500, status: "needs_response" }),
    ],
  ])(
    "a %s that leaves too few credits switches it off, so the card does not pay again",
    async (_, returns) => {
      const stripe = openShop();
      const ada = await switchOn(stripe);
      await pay(ada, 60);
      await settleDown(ada);
      const [{ id = "" } = {}] = stripe.charged() as readonly { id?: string }[];
      await deliver(returns(stripe, id));
      await settleDown(ada);
      expect(stripe.charged()).toHaveLength(1);
      expect(await creditsOf(ada)).toBe(40);
      expect(await topUpOf(ada)).toMatchObject({ on: false, state: "refused" });
      expect((await showPage(ada, "/account")).text).toContain("or returned a payment");
      await expectInvariants(ada.identity_id);
    },
  );

  it("a dispute of the holder's deleted account that raises their debt switches it off too", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const account = env.ACCOUNT.getByName(ada.identity_id);
    await account.oweDebts([{ id: "deleted", credits: 0 }]);
    await account.changeDebt({ id: "deleted", credits: 60 });
    await settleDown(ada);
    expect(stripe.payments.size).toBe(0);
    expect(await topUpOf(ada)).toMatchObject({ state: "refused" });
  });

  it("a refund while it is off does not lose the card that its holder saves meanwhile", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await pay(ada, 60);
    await settleDown(ada);
    const [{ id = "" } = {}] = stripe.charged() as readonly { id?: string }[];
    await sendForm(ada, { act: "off" });
    const sent = await sendForm(ada, { act: "new_card", ...CHOICE });
    const setup = new URL(sent.headers.get("Location") ?? "").pathname.split("/").at(-1) ?? "";
    await deliver(stripe.refunds(id, 500));
    expect(await topUpOf(ada)).toMatchObject({ on: false, state: "holder" });
    await deliver(stripe.savesCard(setup));
    expect(await topUpOf(ada)).toMatchObject({ on: true });
  });

  it("a refund that leaves enough credits changes nothing about it", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await pay(ada, 60);
    await settleDown(ada);
    const [{ id = "" } = {}] = stripe.charged() as readonly { id?: string }[];
    await deliver(stripe.refunds(id, 250));
    await settleDown(ada);
    expect(await creditsOf(ada)).toBe(90);
    expect(await topUpOf(ada)).toMatchObject({ on: true, state: "ready" });
  });

  it("the month's limit is never exceeded under 100 concurrent jobs", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { month_limit: "14.99" });
    const person = ada;
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 34 }, () => spend(person, 10)));
      await settleDown(ada);
    }
    const total = stripe.charged().reduce((sum, { amount }) => sum + Number(amount), 0);
    expect(total).toBe(1_000);
    expect(await topUpOf(person)).toMatchObject({
      state: "limit_reached",
      month_spent_minor: 1_000,
    });
    expect((await showPage(person, "/account")).text).toContain("limit is reached");
    await expectInvariants(ada.identity_id);
  });

  it("the next month's limit is whole again, and its first alarm charges", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { month_limit: "5" });
    await pay(ada, 60);
    await settleDown(ada);
    await pay(ada, 130);
    await settleDown(ada);
    expect(stripe.charged()).toHaveLength(1);
    passTime(32 * DAY_MS);
    await settleDown(ada);
    expect(stripe.charged()).toHaveLength(2);
  });

  it("the credits that a plan brings come before a decision, so the card pays nothing for them", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { month_limit: "5" });
    const olga = await signInOperator();
    const recurring = [{ credits: 90, every: "month", rollover_max: 0, app_slugs: null }];
    const saved = { name: "Studio", recurring };
    await olga.send("PUT", "/api/admin/plans/studio", saved, { "Idempotency-Key": "plan-1" });
    const joined = { plan: "studio", reason: "paid by invoice" };
    const path = `/api/admin/accounts/${ada.identity_id}/plan`;
    await olga.send("POST", path, joined, { "Idempotency-Key": "plan-2" });
    await pay(ada, 150);
    await settleDown(ada);
    await pay(ada, 100);
    await settleDown(ada);
    expect(stripe.charged()).toHaveLength(1);
    passTime(32 * DAY_MS);
    await settleDown(ada);
    expect(await creditsOf(await signIn("ada@example.com"))).toBe(130);
    expect(stripe.charged()).toHaveLength(1);
    await expectInvariants(ada.identity_id);
  });

  it("an account without automatic top-up writes no additional row for a job", async () => {
    openShop();
    const ada = await signInWithCredits();
    await spend(ada, 10);
    const counted = await countRowsWritten(ada.identity_id);
    await spend(ada, 80);
    // The job's entry and its row.
    expect(counted()).toBe(2);
    expect(await topUpsOf(ada)).toEqual([]);
  });

  it("a 402 says that a top-up is pending, and neither an app's key nor a token gets the holder's choice", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const person = await signIn("ada@example.com");
    await spend(person, 60);
    const refused = await spend(person, 60);
    expect(refused.status).toBe(402);
    expect(refused.body).toMatchObject({ code: "insufficient_credits", topup: "pending" });
    await settleDown(ada);
    expect((await spend(person, 60)).status).toBe(200);
    const server = await openAppServer("demo");
    const wallet = await server.in(ada.identity_id).get("/api/wallet");
    expect(wallet.status).toBe(200);
    expect(wallet.body).not.toHaveProperty("topup");
    const token = await getToken(person);
    const of_token = await token.get("/api/wallet");
    expect(of_token.status).toBe(200);
    expect(of_token.body).not.toHaveProperty("topup");
  });
});

describe("a charge that fails", () => {
  it("a card that always declines is charged three times in three hours, and then top-up is off with a notice on every page", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { mode: "declined" });
    const person = await signIn("ada@example.com");
    await spend(person, 60);
    for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
      await settleDown(ada);
      passTime(10 * 60_000);
    }
    const rows = await topUpsOf(ada);
    expect(rows).toMatchObject(
      [1, 2, 3].map((attempt) => ({ attempt, outcome: "failed", failure: "declined" })),
    );
    const later = await signIn("ada@example.com");
    expect(await topUpOf(later)).toMatchObject({ on: false, state: "declined" });
    expect(stripe.payments.size).toBe(3);
    const pages = ["/account", "/account/jobs", "/account/security"];
    for (const path of pages) {
      expect((await showPage(later, path)).text).toContain("Your card was declined three times");
    }
    await sendForm(later, { act: "off" });
    expect((await showPage(later, "/account")).text).not.toContain("declined");
  });

  it("charges after a decline are an hour apart, whatever happens meanwhile", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { mode: "declined" });
    const person = await signIn("ada@example.com");
    await spend(person, 60);
    await settleDown(ada);
    passTime(HOUR_MS - 1_000);
    const again = await signIn("ada@example.com");
    await spend(again, 1);
    await settleDown(ada);
    expect(stripe.payments.size).toBe(1);
    expect(await topUpOf(again)).toMatchObject({ state: "retrying" });
    passTime(1_000);
    await settleDown(ada);
    expect(stripe.payments.size).toBe(2);
  });

  it.each([
    ["a wallet", async (person: SignedIn) => (await person.get("/api/wallet")).body.topup.state],
    ["a refused job", async (person: SignedIn) => (await spend(person, 60)).body.topup],
  ])(
    "%s says that a charge is pending when the hour after a decline is over, also before the alarm",
    async (_, read) => {
      const stripe = openShop();
      const ada = await switchOn(stripe, { mode: "declined" });
      const person = await signIn("ada@example.com");
      await spend(person, 60);
      await settleDown(ada);
      await change(ada.identity_id, `update top_up set retry_at_ms = ${Date.now()}`);
      expect(await read(person)).toBe("pending");
    },
  );

  it("a charge that succeeds resets the count of failed charges", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { mode: "declined" });
    await spend(await signIn("ada@example.com"), 60);
    await settleDown(ada);
    passTime(HOUR_MS);
    for (const card of stripe.cards.values()) card.mode = "pays";
    await settleDown(ada);
    expect(await query(ada.identity_id, "select failures, retry_at_ms from top_up")).toEqual([
      { failures: 0, retry_at_ms: null },
    ]);
  });

  it("a purchase by hand leaves the count of failed charges as it is", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { mode: "declined" });
    await spend(await signIn("ada@example.com"), 60);
    await settleDown(ada);
    const count = () => query(ada.identity_id, "select failures, retry_at_ms from top_up");
    const before = await count();
    expect(before).toMatchObject([{ failures: 1 }]);
    await deliver(stripe.completes(await openCheckout(ada)));
    expect(await count()).toEqual(before);
  });

  it("a bank that requires the person's confirmation switches automatic top-up off at once, with its own text and a link to pay by hand", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { mode: "authentication_required" });
    await spend(ada, 60);
    await settleDown(ada);
    expect(await topUpOf(ada)).toMatchObject({ on: false, state: "authentication_required" });
    const { text } = await showPage(ada);
    expect(text).toContain("Your bank wants you to confirm payments yourself");
    expect(text).toContain('href="/account#buy"');
    expect(stripe.payments.size).toBe(1);
  });

  it("a card that was removed at Stripe ends automatic top-up after three attempts", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    stripe.cards.clear();
    await spend(await signIn("ada@example.com"), 60);
    for (let hour = 0; hour < 4; hour += 1) {
      await settleDown(ada);
      passTime(HOUR_MS);
    }
    expect(await topUpOf(await signIn("ada@example.com"))).toMatchObject({ state: "refused" });
  });

  it("a suspension ends automatic top-up, and nothing is charged", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await spend(await signIn("ada@example.com"), 60);
    await env.ACCOUNT.getByName(ada.identity_id).suspend();
    await settleDown(ada);
    expect(stripe.payments.size).toBe(0);
    expect(await topUpsOf(ada)).toMatchObject([{ outcome: "dropped" }]);
    expect(await query(ada.identity_id, "select off_reason from top_up")).toEqual([
      { off_reason: "suspended" },
    ]);
  });
});
