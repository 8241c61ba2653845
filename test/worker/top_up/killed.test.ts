import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { expectInvariants } from "../account/invariants.ts";
import { evict, repeatAlarm } from "../support/account_object.ts";
import { signInOperator } from "../http/api/admin/operators.ts";
import { passTime } from "../support/clock.ts";
import { send, signIn, type SignedIn } from "../support/passbook.ts";
import type { StripeDouble } from "../payments/stripe_double.ts";
import { creditsOf, deliver, SELLING } from "../payments/till.ts";
import { fromOwnPage } from "../support/device_logins.ts";
import {
  openShop,
  pay,
  sendForm,
  settleDown,
  spend,
  switchOn,
  topUpOf,
  topUpsOf,
} from "./topped_up.ts";

const MINUTE_MS = 60_000;

/** Where the account's process dies, or the network fails, at the first request for a charge. */
const STEPS = [
  "before the request leaves",
  "after Stripe charged, before the response arrives",
  "after the response arrived, before it is booked",
  "while Stripe does not respond",
] as const;
type Step = (typeof STEPS)[number];

/** How the event arrives in relation to the repeated requests. */
const EVENTS = ["before the repetition", "after the repetition", "twice", "never"] as const;

/** As an error of the platform that has reset the object. */
const reset = (): Error => Object.assign(new Error("reset"), { durableObjectReset: true });

/** Whether the instance is dead: it stores nothing any more. */
interface Fate {
  is_dead: boolean;
}

/** Makes the first request for a charge meet its fate. After a death, the instance stores nothing any more. */
async function failAt(stripe: StripeDouble, ada: SignedIn, step: Step): Promise<Fate> {
  let has_failed = false;
  const fate = { is_dead: false };
  await runInDurableObject(env.ACCOUNT.getByName(ada.identity_id), (_, { storage }) => {
    const run = storage.transactionSync.bind(storage);
    vi.spyOn(storage, "transactionSync").mockImplementation((work) => {
      if (fate.is_dead) throw reset();
      return run(work);
    });
  });
  const answer = stripe.answer.bind(stripe);
  vi.spyOn(stripe, "answer").mockImplementation(async (request) => {
    const is_charge = request.method === "POST" && request.url.endsWith("/v1/payment_intents");
    if (!is_charge || has_failed) return answer(request);
    has_failed = true;
    if (step === "while Stripe does not respond") throw new TypeError("no response");
    fate.is_dead = true;
    if (step === "before the request leaves") throw new TypeError("the process is gone");
    const response = await answer(request);
    if (step === "after the response arrived, before it is booked") return response;
    throw new TypeError("the process is gone");
  });
  return fate;
}

/** The first alarm, in which the process dies. Its memory is gone afterwards. */
async function die(ada: SignedIn, fate: Fate): Promise<void> {
  await repeatAlarm(ada.identity_id).catch(() => undefined);
  await evict(ada.identity_id);
  fate.is_dead = false;
}

/** Lets the alarm run, as the platform repeats it, through the retries. */
async function passRetries(ada: SignedIn, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await repeatAlarm(ada.identity_id).catch(() => undefined);
    passTime(MINUTE_MS);
  }
}

async function expectOne(stripe: StripeDouble, ada: SignedIn): Promise<void> {
  expect(stripe.charged()).toMatchObject([{ amount: 500 }]);
  const person = await signIn("ada@example.com");
  expect(await creditsOf(person)).toBe(140);
  expect((await topUpsOf(ada)).filter(({ outcome }) => outcome === "done")).toHaveLength(1);
  const { entries } = (await person.get("/api/ledger?kind=purchase")).body;
  expect(entries).toHaveLength(1);
  await expectInvariants(ada.identity_id);
}

describe("a process that dies between the decision and the booking", () => {
  for (const step of STEPS) {
    it.each(EVENTS)(
      `${step}: with the event %s, one charge is made and booked once`,
      async (event) => {
        const stripe = openShop();
        const ada = await switchOn(stripe);
        const fate = await failAt(stripe, ada, step);
        await spend(ada, 60);
        await die(ada, fate);
        if (event === "before the repetition" && stripe.charged().length > 0) {
          await deliver(stripe.chargeEvent());
        }
        passTime(MINUTE_MS);
        await passRetries(ada, 3);
        if (event !== "never") await deliver(stripe.chargeEvent());
        if (event === "twice") await deliver(stripe.chargeEvent());
        await passRetries(ada, 60);
        await expectOne(stripe, ada);
      },
    );
  }

  it("an object that is evicted after the decision charges when its alarm fires", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    await spend(ada, 60);
    await evict(ada.identity_id);
    await settleDown(ada);
    await expectOne(stripe, ada);
  });

  it("an event that comes before the response books the charge, and the response changes nothing", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const answer = stripe.answer.bind(stripe);
    vi.spyOn(stripe, "answer").mockImplementation(async (request) => {
      const response = await answer(request);
      if (request.method === "POST" && request.url.endsWith("/v1/payment_intents")) {
        await deliver(stripe.chargeEvent());
      }
      return response;
    });
    await spend(ada, 60);
    await settleDown(ada);
    await expectOne(stripe, ada);
  });

  it("after three repetitions the charge is only looked up, and booked from there", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const answer = stripe.answer.bind(stripe);
    let requests = 0;
    vi.spyOn(stripe, "answer").mockImplementation(async (request) => {
      const is_charge = request.method === "POST" && request.url.endsWith("/v1/payment_intents");
      const response = await answer(request);
      if (!is_charge) return response;
      requests += 1;
      throw new TypeError("the response is lost");
    });
    await spend(ada, 60);
    await passRetries(ada, 120);
    expect(requests).toBe(4);
    const keys = stripe.asked
      .filter(({ method, url }) => method === "POST" && url.endsWith("/v1/payment_intents"))
      .map((request) => request.headers.get("Idempotency-Key"));
    expect(new Set(keys).size).toBe(1);
    await expectOne(stripe, ada);
  });

  it("a charge that Stripe never received is looked up, dropped, and decided again", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const answer = stripe.answer.bind(stripe);
    let is_down = true;
    vi.spyOn(stripe, "answer").mockImplementation(async (request) => {
      if (is_down) throw new TypeError("no response");
      return answer(request);
    });
    await spend(ada, 60);
    await passRetries(ada, 40);
    is_down = false;
    await passRetries(ada, 120);
    expect(await topUpsOf(ada)).toMatchObject([{ outcome: "dropped" }, { outcome: "done" }]);
    await expectOne(stripe, ada);
  });

  it("a payment that Stripe still processes stays pending, and is never charged again", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { mode: "processing" });
    await spend(ada, 60);
    await passRetries(ada, 200);
    expect(stripe.payments.size).toBe(1);
    expect(await topUpOf(await signIn("ada@example.com"))).toMatchObject({ state: "pending" });
    const [payment] = [...stripe.payments.values()];
    Object.assign(payment ?? {}, { status: "succeeded", amount_received: 500 });
    await deliver(stripe.chargeEvent());
    await expectOne(stripe, ada);
  });

  it("a key of ours that Stripe does not accept says nothing about the card", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const answer = stripe.answer.bind(stripe);
    let is_wrong = true;
    vi.spyOn(stripe, "answer").mockImplementation(async (request) =>
      is_wrong
        ? Response.json({ error: { type: "invalid_request_error" } }, { status: 401 })
        : answer(request),
    );
    await spend(ada, 60);
    await passRetries(ada, 40);
    is_wrong = false;
    await passRetries(ada, 120);
    await expectOne(stripe, ada);
  });
});

describe("a top-up and other changes of the account", () => {
  it("a charge whose event and response were lost is booked by a reconciliation", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const fate = await failAt(stripe, ada, "after Stripe charged, before the response arrives");
    await spend(ada, 60);
    await die(ada, fate);
    const operator = await signInOperator();
    const settings = { ...operator.settings, ...SELLING };
    const path = "/api/admin/payments/reconcile";
    const headers = { ...fromOwnPage(operator.person), "Content-Type": "application/json" };
    const done = await send("POST", path, { headers, body: "{}" }, settings);
    expect(done.body.booked).toMatchObject([{ list: "top_ups", credits: 100 }]);
    await passRetries(ada, 40);
    await expectOne(stripe, ada);
  });

  it("two accounts charge their own cards", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const bob = await switchOn(stripe, { email: "bob@example.com" });
    await Promise.all([spend(ada, 60), spend(bob, 70)]);
    await Promise.all([settleDown(ada), settleDown(bob)]);
    const customers = stripe.charged().map(({ customer }) => customer);
    expect(new Set(customers).size).toBe(2);
    expect([await creditsOf(ada), await creditsOf(bob)]).toEqual([140, 130]);
  });

  it("an account that is deleted before its charge is never charged", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    passTime(MINUTE_MS);
    await spend(ada, 60);
    await env.ACCOUNT.getByName(ada.identity_id).deleteAccount({ kind: "holder" });
    await passRetries(ada, 60);
    expect(stripe.payments.size).toBe(0);
  });

  it("a charge that was under way when the account was deleted is made once, and left to operators", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const answer = stripe.answer.bind(stripe);
    vi.spyOn(stripe, "answer").mockImplementation(async (request) => {
      const response = await answer(request);
      if (request.method === "POST" && request.url.endsWith("/v1/payment_intents")) {
        await env.ACCOUNT.getByName(ada.identity_id).deleteAccount({ kind: "holder" });
      }
      return response;
    });
    const logged = vi.spyOn(console, "error").mockReturnValue();
    await spend(ada, 60);
    await passRetries(ada, 60);
    expect(stripe.charged()).toHaveLength(1);
    expect(await deliver(stripe.chargeEvent())).toMatchObject({ status: 200 });
    const dropped = { event: "payment_event_dropped", reason: "account_deleted" };
    expect(logged).toHaveBeenCalledWith(expect.objectContaining(dropped));
  });

  it("a holder who switches top-up off while a charge is unknown is charged once, and gets the credits", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe);
    const fate = await failAt(stripe, ada, "after Stripe charged, before the response arrives");
    await spend(ada, 60);
    await die(ada, fate);
    await env.ACCOUNT.getByName(ada.identity_id).endTopUp({ kind: "holder" });
    // A job waits for a charge that may still arrive.
    expect((await spend(ada, 100)).body).toMatchObject({ topup: "pending" });
    await passRetries(ada, 120);
    await expectOne(stripe, ada);
    const posts = stripe.asked.filter(
      ({ method, url }) => method === "POST" && url.endsWith("/v1/payment_intents"),
    );
    expect(posts).toHaveLength(1);
  });

  it("a charge of unknown outcome is not requested again after the holder chose a lower limit", async () => {
    const stripe = openShop();
    const ada = await switchOn(stripe, { threshold: "250", month_limit: "50" });
    await settleDown(ada);
    const fate = await failAt(stripe, ada, "while Stripe does not respond");
    await pay(ada, 250);
    await die(ada, fate);
    expect((await topUpsOf(ada)).at(-1)).toMatchObject({ asked: 1, amount_minor: 1_000 });
    await sendForm(ada, { act: "save", package: "small", threshold: "250", month_limit: "15" });
    await passRetries(ada, 180);
    expect(stripe.charged()).toMatchObject([{ amount: 1_000 }, { amount: 500 }]);
  });
});
