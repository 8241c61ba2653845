import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { RECONCILIATION_PAUSE_MS } from "../../../src/domain/limits.ts";
import type { Purchase, Reversal } from "../../../src/domain/purchases.ts";
import { upkeepOf } from "../../../src/services.ts";
import { expectInvariants } from "../account/invariants.ts";
import { query } from "../support/account_object.ts";
import { environmentWith, signIn, type SignedIn } from "../support/passbook.ts";
import type { StripeDouble, StripeEvent } from "./stripe_double.ts";
import { deliver, openCheckout, openStripe, PACKAGES, SELLING } from "./till.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Everything that the Worker logs, in order. */
let log: { readonly level: string; readonly event: string }[] = [];

beforeEach(() => {
  log = [];
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((entry: { event: string }) => {
      log.push({ level, ...entry });
    });
  }
});

const logged = (event: string): readonly object[] => log.filter((entry) => entry.event === event);

function pass(duration_ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + duration_ms });
}

/** One run of the schedule. Returns what the log says about payments. */
async function runSchedule(settings: object = SELLING): Promise<unknown> {
  await upkeepOf(environmentWith(settings))();
  const { payments } = logged("upkeep_completed").at(-1) as { payments?: unknown };
  return payments;
}

/** The balance, however long ago the person signed in. */
async function balanceOf({ identity_id }: SignedIn): Promise<number> {
  const newest = "select balance_after from entries order by line desc limit 1";
  const [entry] = await query<{ balance_after: number }>(identity_id, newest);
  return entry?.balance_after ?? 0;
}

/** A checkout of another service on the same Stripe account. */
function addForeign(stripe: StripeDouble, id: string): void {
  stripe.sessions.set(id, {
    id,
    object: "checkout.session",
    mode: "payment",
    status: "open",
    created: Math.floor(Date.now() / 1000),
    payment_status: "unpaid",
    payment_intent: null,
    amount_total: 500,
    currency: "eur",
    client_reference_id: null,
    metadata: {},
    success_url: "https://shop.example.com",
    cancel_url: "https://shop.example.com",
    price: "price_of_a_shirt",
    payment_intent_metadata: {},
  });
}

interface Outage {
  readonly stripe: StripeDouble;
  readonly buyers: readonly SignedIn[];
  /** The credits that each buyer must have in the end. */
  readonly credits: readonly number[];
  /** The events that Stripe could not deliver. */
  readonly events: readonly StripeEvent[];
}

/** Three days without webhooks, in which four buyers pay 20 checkouts of 100 credits for 5.00 each. */
async function loseWebhooks(): Promise<Outage> {
  const stripe = openStripe();
  const buyers: SignedIn[] = [];
  const ids: string[] = [];
  for (let buyer = 0; buyer < 4; buyer += 1) {
    const person = await signIn(`buyer${buyer}@example.com`);
    buyers.push(person);
    for (let count = 0; count < 5; count += 1) ids.push(await openCheckout(person));
  }
  const [ada] = buyers as [SignedIn];
  const [unpaid, expired, late] = [
    await openCheckout(ada),
    await openCheckout(ada),
    await openCheckout(ada),
  ];
  const events: StripeEvent[] = [];
  for (const [index, id] of ids.entries()) {
    events.push(stripe.completes(id));
    if (index % 7 === 6) pass(DAY_MS);
  }
  events.push(stripe.completes(late, "later"));
  stripe.sessions.get(unpaid)!["status"] = "open";
  stripe.sessions.get(expired)!["status"] = "expired";
  addForeign(stripe, "cs_test_foreign");
  events.push(stripe.completes("cs_test_foreign"), stripe.refunds("cs_test_foreign", 500));

  const [half, whole, failed, lost, won, inquiry, both] = ids.slice(8) as [string, ...string[]];
  const dispute = (id = "", status = "", amount = 500) => {
    events.push(stripe.disputes(id, "created", { amount, status: "needs_response" }));
    events.push(stripe.disputes(id, "closed", { amount, status }));
  };
  events.push(stripe.refunds(half, 100), stripe.refunds(half, 250));
  events.push(stripe.refunds(whole ?? "", 500));
  events.push(stripe.refunds(failed ?? "", 500), stripe.refundFails());
  dispute(lost, "lost");
  dispute(won, "won");
  const asked = { amount: 500, status: "warning_needs_response" };
  events.push(stripe.disputes(inquiry ?? "", "created", asked));
  events.push(stripe.refunds(both ?? "", 250));
  dispute(both, "lost");
  pass(DAY_MS);
  // Of buyers 1 and 2: half of one, one whole, one lost, and one refunded and disputed.
  return { stripe, buyers, credits: [500, 350, 300, 500], events };
}

async function expectExact({ buyers, credits }: Outage): Promise<void> {
  expect(await Promise.all(buyers.map(balanceOf))).toEqual(credits);
  for (const { identity_id } of buyers) {
    const [count] = await query(
      identity_id,
      "select count(*) as purchases from entries where kind = 'purchase'",
    );
    expect(count).toEqual({ purchases: 5 });
    await expectInvariants(identity_id);
  }
}

describe("payments whose webhooks were lost for three days", () => {
  it("the schedule books every lost purchase, refund and dispute once, and logs each", async () => {
    const outage = await loseWebhooks();
    // 24 checkouts, 6 refunds and 4 disputes of all services.
    expect(await runSchedule()).toEqual({
      checked: 34,
      booked: 20 + 5 + 4,
      not_booked: 0,
      has_ended: true,
    });
    await expectExact(outage);
    const found = logged("payment_reconciled");
    const purchases = found.filter((it) => "credits" in it && it.credits !== null);
    expect(new Set(purchases.map((it) => JSON.stringify(it))).size).toBe(20);
    expect(purchases[0]).toEqual({
      level: "warn",
      event: "payment_reconciled",
      list: "checkouts",
      id: expect.stringMatching(/^cs_test_\d+$/),
      payment_intent_id: expect.stringMatching(/^pi_cs_test_\d+$/),
      credits: 100,
    });
    expect(JSON.stringify(found)).not.toContain(outage.buyers[0]?.identity_id);

    pass(RECONCILIATION_PAUSE_MS);
    expect(await runSchedule()).toMatchObject({ checked: 34, booked: 0, not_booked: 0 });
    for (const event of outage.events) expect((await deliver(event)).status).toBe(200);
    await expectExact(outage);
    expect(logged("payment_reconciled")).toHaveLength(29);
  });

  it("two runs at once, together with late webhooks, book each payment once", async () => {
    const outage = await loseWebhooks();
    const late = outage.events.map((event) => deliver(event));
    const answers = await Promise.all([runSchedule(), runSchedule(), ...late]);
    expect(answers.slice(2).every((answer) => (answer as { status: number }).status === 200)).toBe(
      true,
    );
    await expectExact(outage);
    expect(logged("payment_not_booked")).toEqual([]);
  });

  it("webhooks that arrive between the comparison and the booking change nothing twice", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await openCheckout(ada);
    const events = [stripe.completes(id), stripe.refunds(id, 250)];
    pass(2 * HOUR_MS);
    const account = env.ACCOUNT.getByName(ada.identity_id);
    const raced = {
      checkPayment: async (...asked: Parameters<typeof account.checkPayment>) => {
        const state = await account.checkPayment(...asked);
        for (const event of events) expect((await deliver(event)).status).toBe(200);
        return state;
      },
      recordPurchase: (purchase: Purchase) => account.recordPurchase(purchase),
      recordReversal: (reversal: Reversal) => account.recordReversal(reversal),
      repair: () => account.repair(),
      compare: () => account.compare(),
    };
    const ACCOUNT = new Proxy(env.ACCOUNT, {
      get: (target, name) => (name === "getByName" ? () => raced : Reflect.get(target, name)),
    });
    await runSchedule({ ...SELLING, ACCOUNT });
    expect(await balanceOf(ada)).toBe(50);
    const kinds = await query(ada.identity_id, "select amount from entries where amount <> 0");
    expect(kinds).toEqual([{ amount: 100 }, { amount: -50 }]);
    expect(logged("payment_not_booked")).toEqual([]);
  });

  it("a refund that was booked and later failed gives its credits back without a webhook", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await openCheckout(ada);
    await deliver(stripe.completes(id));
    await deliver(stripe.refunds(id, 500));
    expect(await balanceOf(ada)).toBe(0);
    stripe.refundFails();
    pass(2 * HOUR_MS);
    expect(await runSchedule()).toMatchObject({ booked: 1 });
    expect(await balanceOf(ada)).toBe(100);
  });

  it("a dispute that ended after three months is booked without a webhook", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await openCheckout(ada);
    await deliver(stripe.completes(id));
    await deliver(stripe.disputes(id, "created", { amount: 500, status: "needs_response" }));
    pass(100 * DAY_MS);
    stripe.disputes(id, "closed", { amount: 500, status: "won" });
    expect(await runSchedule()).toMatchObject({ checked: 1, booked: 1 });
    expect(await balanceOf(ada)).toBe(100);
  });
});

describe("the schedule's reconciliation of payments", () => {
  it("payments of the last hour are left to their webhooks", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    stripe.completes(await openCheckout(ada));
    expect(await runSchedule()).toMatchObject({ checked: 0, booked: 0 });
    expect(await balanceOf(ada)).toBe(0);
  });

  it("one run reads 200 payments, the next run continues, and a new pass starts six hours later", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    stripe.completes(await openCheckout(ada));
    for (let count = 0; count < 210; count += 1) addForeign(stripe, `cs_test_foreign${count}`);
    pass(2 * HOUR_MS);
    const first = { checked: 200, booked: 0, not_booked: 0, has_ended: false };
    expect(await runSchedule()).toEqual(first);
    expect(await runSchedule()).toEqual({ checked: 11, booked: 1, not_booked: 0, has_ended: true });
    expect(await balanceOf(ada)).toBe(100);
    // The schedule also compares each account's purchases with the payment service.
    const lists = () =>
      stripe.asked.filter(({ url }) => !url.includes("/v1/payment_intents/")).length;
    const asked = lists();
    pass(RECONCILIATION_PAUSE_MS - 1);
    expect(await runSchedule()).toEqual({ checked: 0 });
    expect(lists()).toBe(asked);
    pass(1);
    expect(await runSchedule()).toEqual(first);
  });

  it("a run that Stripe refuses for a while fails visibly, and the next run continues at the same page", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    stripe.completes(await openCheckout(ada));
    for (let count = 0; count < 30; count += 1) addForeign(stripe, `cs_test_foreign${count}`);
    pass(2 * HOUR_MS);
    const answer = stripe.answer.bind(stripe);
    const limited = vi
      .spyOn(stripe, "answer")
      .mockImplementation(async (request) =>
        request.url.includes("starting_after")
          ? Response.json({ error: { type: "rate_limit" } }, { status: 429 })
          : answer(request),
      );
    await expect(runSchedule()).rejects.toThrow("upkeep failed: payments");
    expect(logged("payments_unavailable")).toMatchObject([{ status: 429 }]);
    expect(logged("upkeep_failed")).toMatchObject([{ part: "payments" }]);
    limited.mockRestore();
    expect(await runSchedule()).toEqual({ checked: 11, booked: 1, not_booked: 0, has_ended: true });
    expect(await balanceOf(ada)).toBe(100);
  });

  it("a position that Stripe rejects is given up, and the next run starts over", async () => {
    openStripe();
    await env.DIRECTORY.exec(
      "insert into payment_reconciliation values (1, 'refunds:re_of_another_account', 0)",
    );
    await expect(runSchedule()).rejects.toThrow("upkeep failed: payments");
    expect(await runSchedule()).toMatchObject({ has_ended: true });
  });

  it("a page of disputes with all the evidence that Stripe accepts does not stop the schedule", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await openCheckout(ada);
    await deliver(stripe.completes(id));
    stripe.disputes(id, "created", { amount: 500, status: "needs_response" });
    const dispute = stripe.disputed.get(`du_1_${id}`) ?? expect.unreachable();
    for (let count = 0; count < 25; count += 1) {
      const evidence = { uncategorized_text: "e".repeat(150_000) };
      const foreign = { ...dispute, id: `du_foreign_${count}`, payment_intent: null, evidence };
      stripe.disputed.set(foreign.id, foreign);
    }
    pass(2 * HOUR_MS);
    expect(await runSchedule()).toMatchObject({ checked: 27, booked: 1, has_ended: true });
    expect(await balanceOf(ada)).toBe(0);
  });

  it("a service that sells no credits asks Stripe nothing", async () => {
    const stripe = openStripe();
    expect(await runSchedule({})).toBeUndefined();
    expect(stripe.asked).toEqual([]);
  });

  it("a payment that cannot be booked is logged in each pass and does not stop the others", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const [large, small, booked] = [
      await openCheckout(ada, "large"),
      await openCheckout(ada),
      await openCheckout(ada, "large"),
    ];
    await deliver(stripe.completes(booked));
    for (const id of [large, small]) stripe.completes(id);
    pass(2 * HOUR_MS);
    const settings = { ...SELLING, CREDIT_PACKAGES: JSON.stringify(PACKAGES.slice(0, 1)) };
    expect(await runSchedule(settings)).toMatchObject({ booked: 1, not_booked: 1 });
    const about = { list: "checkouts", id: large, code: "purchase_unmatched" };
    expect(logged("payment_not_booked")).toEqual([
      { level: "error", event: "payment_not_booked", ...about },
    ]);
    expect(logged("purchase_unmatched")).toHaveLength(1);
    expect(await balanceOf(ada)).toBe(1_100);
    pass(RECONCILIATION_PAUSE_MS);
    expect(await runSchedule()).toMatchObject({ booked: 1, not_booked: 0 });
    expect(await balanceOf(ada)).toBe(2_100);
  });

  it("payments of a deleted account are left alone, without an alarm", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    const id = await openCheckout(ada);
    await deliver(stripe.completes(id));
    await deliver(stripe.refunds(id, 100));
    await env.ACCOUNT.getByName(ada.identity_id).deleteAccount({ kind: "holder" });
    pass(2 * HOUR_MS);
    expect(await runSchedule()).toMatchObject({ checked: 2, booked: 0, not_booked: 0 });
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
