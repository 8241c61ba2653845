import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { exportJWK, generateKeyPair } from "jose";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { dump, query } from "../support/account_object.ts";
import { expectInvariants } from "../account/invariants.ts";
import { histories } from "../support/histories.ts";
import { send, signIn, signInWithCredits } from "../support/passbook.ts";
import { sign, type StripeDouble, type StripeEvent } from "./stripe_double.ts";
import { creditsOf, deliver, openCheckout, openStripe, PACKAGES, post, SELLING } from "./till.ts";

const GOOD = { status: 200, body: { ok: true } };
const BEYOND_LIMIT = { event: "payment_not_booked", code: "balance_limit" };

/** The log event of a payment event that changed nothing. */
function dropped({ id, type }: StripeEvent, reason: string): object {
  const event = { event: "payment_event_dropped", reason, stripe_event_id: id, type };
  return expect.objectContaining(event) as object;
}

function lines(identity_id: string): Promise<{ kind: string; amount: number; note: string }[]> {
  return query(identity_id, "select kind, amount, note from entries where kind like 'purchase%'");
}

describe("a paid checkout", () => {
  it("a paid checkout credits once, with an entry that names the package, whatever is delivered again", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const id = await openCheckout(ada);
    const event = stripe.completes(id);
    for (let time = 0; time < 3; time += 1) expect(await deliver(event)).toMatchObject(GOOD);
    expect(await deliver({ ...event, id: "evt_other" })).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(200);
    expect(await lines(ada.identity_id)).toEqual([
      { kind: "purchase", amount: 100, note: "Small" },
    ]);
    const rows = await query(ada.identity_id, "select * from purchases");
    expect(rows).toMatchObject([{ checkout_session_id: id, credits: 100, paid_minor: 500 }]);
    await expectInvariants(ada.identity_id);
  });

  it("a paid checkout credits once even if its event is delivered many times at once", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const event = stripe.completes(await openCheckout(ada));
    const answers = await Promise.all(Array.from({ length: 10 }, () => deliver(event)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(await creditsOf(ada)).toBe(200);
  });

  it("a paid checkout opens the account of a buyer who has none", async () => {
    const stripe = openStripe();
    const ada = await signIn();
    await deliver(stripe.completes(await openCheckout(ada)));
    expect(await creditsOf(ada)).toBe(100);
  });

  it("a checkout credits nothing until it is paid", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const id = await openCheckout(ada);
    expect(await deliver(stripe.completes(id, "later"))).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(100);
    await deliver(stripe.moneyArrives(id));
    expect(await creditsOf(ada)).toBe(200);
  });

  it("a checkout credits what Stripe's object says was paid, not what the event says", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const id = await openCheckout(ada);
    const { data, ...event } = stripe.completes(id);
    const metadata = { passbook_package: "large", credits: "9999" };
    const altered = { ...data.object, metadata, amount_total: 1, client_reference_id: "somebody" };
    expect(await deliver({ ...event, data: { object: altered } })).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(200);
  });

  it("a signed event without a paid checkout credits nothing", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const id = await openCheckout(ada);
    const unpaid = stripe.sessions.get(id) ?? {};
    const event = stripe.event("checkout.session.completed", { ...unpaid, payment_status: "paid" });
    expect(await deliver(event)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(100);
  });

  it.each([
    ["another service's checkout", { passbook_service: "https://other.example" }],
    ["a checkout without a mark", {}],
  ])("%s is dropped and logged", async (_, metadata) => {
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const id = await openCheckout(ada);
    const event = stripe.completes(id);
    Object.assign(stripe.sessions.get(id) ?? {}, { metadata });
    expect(await deliver(event)).toMatchObject(GOOD);
    expect(log.mock.calls).toEqual([[dropped(event, "not_ours")]]);
    expect(await creditsOf(ada)).toBe(100);
  });

  it("a checkout with an unknown price is requested again and credited once the package is for sale", async () => {
    const errors = vi.spyOn(console, "error").mockReturnValue();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const event = stripe.completes(await openCheckout(ada));
    const settings = { ...SELLING, CREDIT_PACKAGES: JSON.stringify(PACKAGES.slice(1)) };
    const answer = await deliver(event, settings);
    expect([answer.status, answer.body.code]).toEqual([500, "purchase_unmatched"]);
    expect(JSON.stringify(errors.mock.calls)).toContain("purchase_unmatched");
    expect(await creditsOf(ada)).toBe(100);
    expect(await deliver(event)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(200);
  });

  it.each([
    ["for somebody else than it is marked for", { client_reference_id: "somebody" }],
    ["with two things in it", { line_items: 2 }],
    ["for nothing", { amount_total: 0 }],
  ])("a checkout %s credits nothing and is logged", async (_, about) => {
    vi.spyOn(console, "error").mockReturnValue();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const id = await openCheckout(ada);
    const event = stripe.completes(id);
    const items = { data: [1, 2].map(() => ({ price: { id: "price_small" }, quantity: 1 })) };
    const { line_items, ...rest } = about as { line_items?: number };
    const shown = await stripe
      .answer(
        new Request(`https://api.stripe.com/v1/checkout/sessions/${id}?expand[]=line_items`, {
          headers: { Authorization: `Bearer ${SELLING.STRIPE_SECRET_KEY}` },
        }),
      )
      .then((response) => response.json<object>());
    const altered = { ...shown, ...rest, ...(line_items === 2 ? { line_items: items } : {}) };
    vi.spyOn(stripe, "answer").mockResolvedValueOnce(Response.json(altered));
    const answer = await deliver(event);
    expect([answer.status, answer.body.code]).toEqual([500, "purchase_unmatched"]);
    expect(await creditsOf(ada)).toBe(100);
  });

  it("a webhook is requested again if Stripe cannot be reached", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const event = stripe.completes(await openCheckout(ada));
    vi.spyOn(stripe, "answer").mockRejectedValueOnce(new TypeError("broken"));
    expect((await deliver(event)).status).toBe(503);
    expect(await deliver(event)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(200);
  });

  it("a purchase beyond the balance limit changes nothing and is requested again", async () => {
    const errors = vi.spyOn(console, "error").mockReturnValue();
    const stripe = openStripe();
    const ada = await signIn();
    const account = env.ACCOUNT.getByName(ada.identity_id);
    await account.adjustCredits({ amount: Number.MAX_SAFE_INTEGER - 50, note: "much" }, null);
    const event = stripe.completes(await openCheckout(ada));
    const before = await dump(ada.identity_id);
    expect((await deliver(event)).status).toBe(500);
    expect(errors).toHaveBeenCalledWith(expect.objectContaining(BEYOND_LIMIT));
    expect(await dump(ada.identity_id)).toBe(before);
    await account.adjustCredits({ amount: -50, note: "less" }, null);
    expect(await deliver(event)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("a purchase whose ledger entry cannot be written leaves no purchase behind", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const event = stripe.completes(await openCheckout(ada));
    await query(
      ada.identity_id,
      "create trigger broken before insert on purchases begin select raise(abort, 'no'); end",
    );
    const before = await dump(ada.identity_id);
    expect((await deliver(event)).status).toBe(500);
    expect(await dump(ada.identity_id)).toBe(before);
    await query(ada.identity_id, "drop trigger broken");
    await deliver(event);
    expect(await creditsOf(ada)).toBe(200);
  });
});

/** A person with 1,000 credits bought for 33.33 euros and the 100 starter credits. */
async function buyLarge() {
  const stripe = openStripe();
  const ada = await signInWithCredits();
  const id = await openCheckout(ada, "large");
  const paid = stripe.completes(id);
  return { stripe, ada, id, paid };
}

describe("refunds and disputes", () => {
  it("a refund takes credits in proportion, rounded up, and later refunds add to it", async () => {
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    await deliver(stripe.refunds(id, 1));
    expect(await creditsOf(ada)).toBe(1_099);
    await deliver(stripe.refunds(id, 1_000));
    // 1,000 credits × 10.00 / 33.33 = 300.03
    expect(await creditsOf(ada)).toBe(1_100 - 301);
    await deliver(stripe.refunds(id, 3_333));
    expect(await creditsOf(ada)).toBe(100);
    const all = await lines(ada.identity_id);
    expect(all.map(({ kind, amount }) => [kind, amount])).toEqual([
      ["purchase", 1_000],
      ["purchase_refund", -1],
      ["purchase_refund", -300],
      ["purchase_refund", -699],
    ]);
    expect(all.every(({ note }) => note === "Large")).toBe(true);
    await expectInvariants(ada.identity_id);
  });

  it("a refund of spent credits makes the balance negative", async () => {
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    await ada.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 1_050 });
    await deliver(stripe.refunds(id, 3_333));
    expect(await creditsOf(ada)).toBe(-950);
  });

  it("a refund that arrives before its purchase is kept, and the purchase credits the rest", async () => {
    const { stripe, ada, id, paid } = await buyLarge();
    expect(await deliver(stripe.refunds(id, 1_000))).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(100);
    await deliver(paid);
    expect(await creditsOf(ada)).toBe(1_100 - 301);
  });

  it.each(["failed", "canceled"] as const)(
    "a refund that later is %s gives its credits back, and the other refunds stay",
    async (status) => {
      const { stripe, ada, id, paid } = await buyLarge();
      await deliver(paid);
      await deliver(stripe.refunds(id, 1_000));
      const second = stripe.refunds(id, 3_333);
      await deliver(second);
      expect(await creditsOf(ada)).toBe(100);
      const failed = stripe.refundFails(status);
      for (const event of [failed, failed, second]) {
        expect(await deliver(event)).toMatchObject(GOOD);
      }
      expect(await creditsOf(ada)).toBe(1_100 - 301);
      await expectInvariants(ada.identity_id);
    },
  );

  it("a refund that failed before its purchase is known takes no credits", async () => {
    const { stripe, ada, id, paid } = await buyLarge();
    const event = stripe.refunds(id, 3_333);
    stripe.refundFails();
    await deliver(event);
    await deliver(paid);
    expect(await creditsOf(ada)).toBe(1_100);
  });

  it("an event about refunds of a charge that has none is dropped and logged", async () => {
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    const event = stripe.event("charge.refunded", { id: `ch_${id}`, amount_refunded: 3_333 });
    expect(await deliver(event)).toMatchObject(GOOD);
    expect(log.mock.calls).toEqual([[dropped(event, "not_refunded")]]);
    expect(await creditsOf(ada)).toBe(1_100);
  });

  it("a late event with an earlier state of a refund changes nothing", async () => {
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    const [first, second] = [stripe.refunds(id, 1_000), stripe.refunds(id, 3_333)];
    await deliver(second);
    await deliver(first);
    expect(await creditsOf(ada)).toBe(100);
  });

  it("a refund and a dispute together never take more than was bought", async () => {
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    await deliver(stripe.refunds(id, 2_000));
    await deliver(stripe.disputes(id, "created", { amount: 3_333, status: "needs_response" }));
    expect(await creditsOf(ada)).toBe(100);
  });

  const open = { amount: 3_333, status: "needs_response" };
  it.each([
    ["opened", [["created", open]], 100],
    [
      "opened and withdrawn",
      [
        ["created", open],
        ["funds_withdrawn", open],
      ],
      100,
    ],
    [
      "lost",
      [
        ["created", open],
        ["closed", { ...open, status: "lost" }],
      ],
      100,
    ],
    [
      "won",
      [
        ["created", open],
        ["closed", { ...open, status: "won" }],
      ],
      1_100,
    ],
    [
      "won, in reverse order",
      [
        ["created", open],
        ["closed", { ...open, status: "won" }],
      ],
      1_100,
      "backwards",
    ],
    [
      "reinstated",
      [
        ["funds_withdrawn", open],
        ["funds_reinstated", open],
      ],
      1_100,
    ],
    [
      "reinstated, in reverse order",
      [
        ["funds_withdrawn", open],
        ["funds_reinstated", open],
      ],
      1_100,
      "backwards",
    ],
    ["an inquiry", [["created", { ...open, status: "warning_needs_response" }]], 1_100],
    [
      "an inquiry that became a dispute",
      [
        ["created", { ...open, status: "warning_needs_response" }],
        ["funds_withdrawn", open],
      ],
      100,
    ],
    ["of a part", [["created", { ...open, amount: 1_000 }]], 799],
    ["in another currency", [["created", { ...open, amount: 1, currency: "usd" }]], 100],
  ] as const)(
    "a dispute (%s) leaves the right credits",
    async (_, stages, credits, order: string = "forwards") => {
      const { stripe, ada, id, paid } = await buyLarge();
      await deliver(paid);
      const events: StripeEvent[] = [];
      for (const [what, about] of stages) {
        const event = stripe.disputes(id, what, about);
        if (order === "backwards") events.unshift(event);
        else expect(await deliver(event)).toMatchObject(GOOD);
      }
      for (const event of events) expect(await deliver(event)).toMatchObject(GOOD);
      expect(await creditsOf(ada)).toBe(credits);
      await expectInvariants(ada.identity_id);
    },
  );

  it("a dispute takes credits from the greatest balance, and one that is won is requested again until its credits fit", async () => {
    const errors = vi.spyOn(console, "error").mockReturnValue();
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    const adjust = (amount: number) =>
      env.ACCOUNT.getByName(ada.identity_id).adjustCredits({ amount, note: "a test" }, null);
    await adjust(Number.MAX_SAFE_INTEGER - 1_100);
    expect(await deliver(stripe.disputes(id, "created", open))).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(Number.MAX_SAFE_INTEGER - 1_000);
    await adjust(1);
    const won = stripe.disputes(id, "closed", { ...open, status: "won" });
    const before = await dump(ada.identity_id);
    expect((await deliver(won)).status).toBe(500);
    expect(errors).toHaveBeenCalledWith(expect.objectContaining(BEYOND_LIMIT));
    expect(await dump(ada.identity_id)).toBe(before);
    await adjust(-1);
    expect(await deliver(won)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("a report of a dispute that was read before the stored one changes nothing", async () => {
    const { ada, paid } = await buyLarge();
    await deliver(paid);
    const [{ payment_intent_id } = expect.fail()] = await query<{ payment_intent_id: string }>(
      ada.identity_id,
      "select payment_intent_id from purchases",
    );
    const dispute = { payment_intent_id, source_id: "dp_1", amount_minor: 3_333 };
    const report = (state: "withheld" | "reinstated") =>
      env.ACCOUNT.getByName(ada.identity_id).recordReversal({ ...dispute, state });
    await report("reinstated");
    await report("withheld");
    expect(await creditsOf(ada)).toBe(1_100);
  });

  it("a refund of a foreign payment is dropped and logged with the reason", async () => {
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    const event = stripe.refunds(id, 3_333);
    const refund = [...stripe.refunded.values()][0] ?? {};
    refund["payment_intent"] = null;
    expect(await deliver(event)).toMatchObject(GOOD);
    refund["payment_intent"] = "pi_x";
    const marks = { passbook_service: "https://other", passbook_identity_id: ada.identity_id };
    const stranger = { ...marks, passbook_identity_id: "usr_of_another_service" };
    for (const metadata of [{}, null, marks, stranger]) {
      stripe.payments.set("pi_x", { id: "pi_x", amount_received: 5, currency: "eur", metadata });
      expect(await deliver(event)).toMatchObject(GOOD);
    }
    const reasons = ["no_payment", ...Array.from({ length: 4 }, () => "not_ours")];
    expect(log.mock.calls.map(([line]) => line)).toEqual(reasons.map((it) => dropped(event, it)));
    expect(await creditsOf(ada)).toBe(1_100);
    const objects = await listDurableObjectIds(env.ACCOUNT);
    const strangers = env.ACCOUNT.idFromName("usr_of_another_service");
    expect(objects.some((it) => it.equals(strangers))).toBe(false);
  });

  it("a forged event gives and takes no credits", async () => {
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    const disputed = stripe.disputes(id, "created", { amount: 3_333, status: "needs_response" });
    await deliver(disputed);
    expect(await creditsOf(ada)).toBe(100);
    for (const type of ["charge.dispute.closed", "charge.dispute.funds_reinstated"]) {
      const won = stripe.event(type, { ...disputed.data.object, status: "won", amount: 1 });
      expect(await deliver(won)).toMatchObject(GOOD);
      expect(await creditsOf(ada)).toBe(100);
    }
    await deliver(stripe.disputes(id, "closed", { amount: 3_333, status: "won" }));
    expect(await creditsOf(ada)).toBe(1_100);
    const charge = stripe.charges.get(`ch_${id}`) ?? {};
    const refund = stripe.event("charge.refunded", { ...charge, amount_refunded: 3_333 });
    expect(await deliver(refund)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(1_100);
  });

  it("an event about an object that Stripe does not know is refused and changes nothing", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { stripe, ada, paid } = await buyLarge();
    await deliver(paid);
    for (const type of ["charge.refunded", "charge.dispute.closed"]) {
      const payment_intent = paid.data.object["payment_intent"];
      const invented = {
        id: "du_invented",
        payment_intent,
        amount_refunded: 3_333,
        status: "lost",
      };
      const answer = await deliver(stripe.event(type, invented));
      expect([answer.status, answer.body.code]).toEqual([502, "payments_refused"]);
      const elsewhere = { ...invented, id: "../payouts/po_1" };
      expect((await deliver(stripe.event(type, elsewhere))).status).toBe(500);
    }
    expect(await creditsOf(ada)).toBe(1_100);
  });

  it("a refund is requested again if Stripe cannot name the account", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    vi.spyOn(stripe, "answer").mockResolvedValueOnce(new Response("", { status: 503 }));
    expect((await deliver(stripe.refunds(id, 3_333))).status).toBe(503);
    expect(await creditsOf(ada)).toBe(1_100);
  });
});

/** The service with another address, and with other keys. */
const MOVED = { ...SELLING, BASE_URL: "http://moved.localhost" };

async function withNewKeys(): Promise<object> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "new" };
  return { ...SELLING, SIGNING_KEYS: JSON.stringify({ keys: [key] }) };
}

describe("payments from before a change of address or keys", () => {
  it.each([
    ["address", async () => MOVED],
    ["keys", withNewKeys],
  ])("a refund takes credits back after a new %s", async (_, change) => {
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    const settings = await change();
    expect(await deliver(stripe.refunds(id, 3_333), settings)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(100);
  });

  it.each([
    ["address", async () => MOVED],
    ["keys", withNewKeys],
  ])("a lost dispute takes credits back after a new %s", async (_, change) => {
    const { stripe, ada, id, paid } = await buyLarge();
    await deliver(paid);
    const settings = await change();
    const about = { amount: 3_333, status: "lost" };
    expect(await deliver(stripe.disputes(id, "closed", about), settings)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(100);
  });

  it("a checkout paid at the new address credits its buyer, at once or days later", async () => {
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const [now, later] = [await openCheckout(ada), await openCheckout(ada)];
    await deliver(stripe.completes(later, "later"));
    expect(await deliver(stripe.completes(now), MOVED)).toMatchObject(GOOD);
    expect(await deliver(stripe.moneyArrives(later), MOVED)).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(300);
  });

  it("a checkout under a retired key is dropped and logged", async () => {
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const { stripe, ada, paid } = await buyLarge();
    expect(stripe.sessions.size).toBe(1);
    expect(await deliver(paid, await withNewKeys())).toMatchObject(GOOD);
    expect(log.mock.calls).toEqual([[dropped(paid, "not_ours")]]);
    expect(await creditsOf(ada)).toBe(100);
  });
});

describe("a webhook's message", () => {
  it("a webhook of an unused type gets 200 and is logged as dropped", async () => {
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const stripe = openStripe();
    const event = stripe.event("customer.created", { id: "cus_1" });
    expect(await deliver(event)).toMatchObject(GOOD);
    expect(log.mock.calls).toEqual([[dropped(event, "type_not_handled")]]);
  });

  it.each([
    ["not signed", async () => ""],
    ["signed with another secret", (body: string) => sign(body, Date.now(), "whsec_other")],
    ["signed 301 seconds ago", (body: string) => sign(body, Date.now() - 301_000)],
    ["signed in 301 seconds", (body: string) => sign(body, Date.now() + 301_000)],
    ["signed for another body", (body: string) => sign(`${body} `, Date.now())],
    [
      "with another scheme",
      async (body: string) => (await sign(body, Date.now())).replace("v1=", "v0="),
    ],
    [
      "with its time moved",
      async (body: string) =>
        (await sign(body, Date.now() - 400_000)).replace(
          /t=\d+/,
          `t=${Math.floor(Date.now() / 1000)}`,
        ),
    ],
    ["with two times", async (body: string) => `${await sign(body, Date.now())},t=1`],
    ["with a short signature", async () => `t=${Math.floor(Date.now() / 1000)},v1=ab`],
  ] as const)("%s is 400, and Stripe is asked nothing", async (_, signature) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
    const { stripe, ada, paid } = await buyLarge();
    const body = JSON.stringify(paid);
    const before = stripe.asked.length;
    const answer = await post(body, await signature(body));
    expect([answer.status, answer.body.code]).toEqual([400, "signature_invalid"]);
    expect(stripe.asked).toHaveLength(before);
    expect(await creditsOf(ada)).toBe(100);
  });

  it.each([
    ["signed 300 seconds ago", async (body: string, now: number) => sign(body, now - 300_000)],
    [
      "signed with the old secret and the new",
      async (body: string, now: number) => {
        const [, other] = (await sign(body, now, "whsec_old")).split(",");
        const [time, own] = (await sign(body, now)).split(",");
        return [time, other, "v0=abc", own].join(",");
      },
    ],
  ])("a webhook message %s is accepted", async (_, signature) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
    const { ada, paid } = await buyLarge();
    const body = JSON.stringify(paid);
    expect(await post(body, await signature(body, Date.now()))).toMatchObject(GOOD);
    expect(await creditsOf(ada)).toBe(1_100);
  });

  it("a webhook message with any character altered is refused", async () => {
    const { ada, paid } = await buyLarge();
    const body = JSON.stringify(paid);
    const signature = await sign(body, Date.now());
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: body.length - 1 }), async (at) => {
        const other = body[at] === "0" ? "1" : "0";
        const altered = body.slice(0, at) + other + body.slice(at + 1);
        expect((await post(altered, signature)).status).toBe(400);
      }),
      { numRuns: 60 },
    );
    expect(await creditsOf(ada)).toBe(100);
  });

  it("a webhook message that is too large is refused unread", async () => {
    openStripe();
    const body = "x".repeat(256 * 1024 + 1);
    const answer = await post(body, await sign(body, Date.now()));
    expect([answer.status, answer.body.code]).toEqual([413, "body_too_large"]);
  });

  it("the webhook accepts no other method", async () => {
    openStripe();
    expect((await send("GET", "/webhooks/stripe", {}, SELLING)).status).toBe(405);
  });
});

/** What may happen to a checkout. A test plays one or two of them. */
const checkout_history = fc.record({
  late_money: fc.boolean(),
  refunds: fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 3 }),
  last_refund_fails: fc.boolean(),
  dispute: fc.option(
    fc.record({
      amount: fc.integer({ min: 1, max: 500 }),
      inquiry: fc.boolean(),
      end: fc.constantFrom("open", "lost", "won"),
    }),
  ),
});
interface CheckoutHistory {
  readonly late_money: boolean;
  readonly refunds: readonly number[];
  readonly last_refund_fails: boolean;
  readonly dispute: {
    readonly amount: number;
    readonly inquiry: boolean;
    readonly end: string;
  } | null;
}

function play(stripe: StripeDouble, id: string, one: CheckoutHistory) {
  const { late_money, refunds, last_refund_fails, dispute } = one;
  const events: StripeEvent[] = [stripe.completes(id, late_money ? "later" : "at once")];
  if (late_money) events.push(stripe.moneyArrives(id));
  let refunded = 0;
  for (const cents of refunds) {
    refunded = Math.min(500, refunded + cents);
    events.push(stripe.refunds(id, refunded));
  }
  if (last_refund_fails && refunds.length > 0) {
    events.push(stripe.refundFails());
    refunded = Number(stripe.charges.get(`ch_${id}`)?.["amount_refunded"]);
  }
  if (dispute !== null) {
    const { amount, inquiry, end } = dispute;
    const status = inquiry ? "warning_needs_response" : "needs_response";
    events.push(stripe.disputes(id, "created", { amount, status }));
    const open = { amount, status: "needs_response" };
    events.push(stripe.disputes(id, "funds_withdrawn", open));
    if (end !== "open") events.push(stripe.disputes(id, "closed", { amount, status: end }));
    if (end === "won")
      events.push(stripe.disputes(id, "funds_reinstated", { amount, status: end }));
  }
  const disputed = dispute === null || dispute.end === "won" ? 0 : dispute.amount;
  const back = Math.min(100, Math.ceil((100 * (refunded + disputed)) / 500));
  return { events, credits: 100 - back };
}

describe("any set of events", () => {
  it(
    "any order and repetition of payment events gives the same ledger",
    { tags: ["history"] },
    async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(checkout_history, { minLength: 1, maxLength: 2 }),
          fc.infiniteStream(fc.nat()),
          async (checkouts, dice) => {
            const stripe = openStripe();
            const email = `buyer-${(runs += 1)}@example.com`;
            const buyer = await signInWithCredits("demo", email);
            let expected = 100;
            const events: StripeEvent[] = [];
            for (const one of checkouts) {
              const played = play(stripe, await openCheckout(buyer), one);
              events.push(...played.events);
              expected += played.credits;
            }
            const roll = (): number => dice.next().value ?? 0;
            const repeated = [...events, ...events.filter(() => roll() % 3 === 0)];
            const shuffled = repeated
              .map((event) => ({ event, at: roll() }))
              .toSorted((one, other) => one.at - other.at);
            for (const { event } of shuffled) expect(await deliver(event)).toMatchObject(GOOD);
            expect(await creditsOf(buyer)).toBe(expected);
            await expectInvariants(buyer.identity_id);
          },
        ),
        { numRuns: histories(25) },
      );
    },
  );
});
