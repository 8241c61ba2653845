/** What one account pays at the stand-in for Stripe: purchases, and automatic top-ups of a card. */
import { baseTerms } from "../../src/domain/lots.ts";
import { creditsTakenBack, moneyReturned, type Reversal } from "../../src/domain/purchases.ts";
import { pause } from "../bench/pause.ts";
import { sign, type StripeDouble, type StripeEvent } from "../worker/payments/stripe_double.ts";
import type { Book } from "./book.ts";
import { expectRule } from "./caller.ts";
import { TOP_UP_PACKAGE_CREDITS } from "./holdings.ts";
import type { Requests } from "./requests.ts";

/** The package that is bought, also by top-ups. */
const PACKAGE = { id: "small", credits: TOP_UP_PACKAGE_CREDITS, price_minor: 500 };
/** Of a month, in euros: what no run reaches. */
const MONTH_LIMIT = "999999.99";
/** A new threshold is so many credits below the balance. */
const BELOW_BALANCE = 10;

/** A charge of a card takes so long, so that the service is often killed while it waits for one. */
const CHARGE_MS = 1_000;

/** A purchase whose money may come back. */
interface Bought {
  readonly checkout_session_id: string;
  /** Its refunds and disputes, as Stripe has them. */
  readonly reversals: readonly Reversal[];
}

/** Purchases of an account that may be refunded or disputed later. */
const BOUGHT_KEPT = 10;

/** Makes the response to each charge late: the card is charged before. */
export function makeChargesSlow(stripe: StripeDouble): void {
  const answer = stripe.answer.bind(stripe);
  stripe.answer = async (request) => {
    const { method, url } = request;
    const response = await answer(request);
    if (method === "POST" && url.endsWith("/v1/payment_intents")) await pause(CHARGE_MS);
    return response;
  };
}

export class Payments {
  readonly #requests: Requests;
  readonly #book: Book;
  readonly #stripe: StripeDouble;
  #bought: readonly Bought[] = [];
  /** Null if no card is saved. */
  #customer: string | null = null;

  constructor(requests: Requests, book: Book, stripe: StripeDouble) {
    this.#requests = requests;
    this.#book = book;
    this.#stripe = stripe;
  }

  async buy(): Promise<void> {
    const body = { package: PACKAGE.id, return_to: "http://localhost:3000/" };
    const { json } = await this.#requests.once("/api/checkout", body);
    // The key of a checkout is Stripe's.
    this.#requests.forget(({ path }) => path === "/api/checkout");
    const id = new URL(json.url).pathname.split("/").at(-1) ?? "";
    const from_ms = Date.now();
    await this.#deliver(this.#stripe.completes(id));
    this.#book.note(
      "a purchase",
      { from_ms, to_ms: Date.now() },
      (it) => it.bring("purchase", "purchase", baseTerms(true), PACKAGE.credits),
      () => null,
      null,
    );
    const bought = { checkout_session_id: id, reversals: [] };
    this.#bought = [...this.#bought, bought].slice(-BOUGHT_KEPT);
  }

  /** The money of a purchase goes back in part, or its bank disputes it and later decides. `chance` from 0 to 1 says which. */
  async returnMoney(chance: number): Promise<void> {
    const bought = this.#bought[Math.floor(Math.random() * this.#bought.length)];
    if (bought === undefined) return this.buy();
    const dispute = bought.reversals.find(({ source_id }) => source_id.startsWith("du_"));
    if (dispute?.state === "withheld") await this.#decide(bought, dispute, chance);
    else if (dispute === undefined && chance < 0.3) await this.#dispute(bought);
    else await this.#refund(bought, chance);
  }

  async #refund(bought: Bought, chance: number): Promise<void> {
    const { checkout_session_id: id, reversals } = bought;
    const refunds = reversals.filter(({ source_id }) => source_id.startsWith("re_"));
    const refunded_minor = moneyReturned({ paid_minor: PACKAGE.price_minor }, refunds);
    const left_minor = PACKAGE.price_minor - refunded_minor;
    if (left_minor === 0) return this.buy();
    const amount_minor = Math.ceil(Math.random() * left_minor);
    const event = this.#stripe.refunds(id, refunded_minor + amount_minor);
    const source_id = [...this.#stripe.refunded.keys()].at(-1) ?? "";
    const failed = chance > 0.9 ? [this.#stripe.refundFails()] : [];
    const state = failed.length > 0 ? "reinstated" : "withheld";
    const reversal = { payment_intent_id: `pi_${id}`, source_id, amount_minor, state } as const;
    await this.#noteReversal(bought, reversal, [event, ...failed]);
  }

  async #dispute(bought: Bought): Promise<void> {
    const { checkout_session_id: id } = bought;
    const [amount, status] = [PACKAGE.price_minor, "needs_response"];
    const events = (["created", "funds_withdrawn"] as const).map((what) =>
      this.#stripe.disputes(id, what, { amount, status }),
    );
    const source_id = [...this.#stripe.disputed.keys()].at(-1) ?? "";
    const payment_intent_id = `pi_${id}`;
    const state = "withheld";
    await this.#noteReversal(
      bought,
      { payment_intent_id, source_id, amount_minor: amount, state },
      events,
    );
  }

  async #decide(bought: Bought, dispute: Reversal, chance: number): Promise<void> {
    const { checkout_session_id: id } = bought;
    const [amount, is_won] = [PACKAGE.price_minor, chance < 0.5];
    const about = { amount, status: is_won ? "won" : "lost" };
    const back = is_won ? [this.#stripe.disputes(id, "funds_reinstated", about)] : [];
    const events = [...back, this.#stripe.disputes(id, "closed", about)];
    const state = is_won ? "reinstated" : "lost";
    await this.#noteReversal(bought, { ...dispute, state }, events);
  }

  /** Stripe sends the events of a refund or dispute, the newest one first. */
  async #noteReversal(
    bought: Bought,
    reversal: Reversal,
    events: readonly StripeEvent[],
  ): Promise<void> {
    const from_ms = Date.now();
    for (const event of events.toReversed()) await this.#deliver(event);
    const others = bought.reversals.filter(({ source_id }) => source_id !== reversal.source_id);
    const reversals = [...others, reversal];
    const paid = { credits: PACKAGE.credits, paid_minor: PACKAGE.price_minor };
    const [before_minor, after_minor] = [bought.reversals, reversals].map((it) =>
      moneyReturned(paid, it),
    );
    const change = creditsTakenBack(paid, bought.reversals) - creditsTakenBack(paid, reversals);
    const id = bought.checkout_session_id;
    this.#book.note(
      "a refund or dispute of a purchase",
      { from_ms, to_ms: Date.now() },
      (it, now_ms) => before_minor !== after_minor && it.changePurchased(id, change, now_ms),
      () => null,
      null,
    );
    this.#bought = this.#bought.map((it) => (it === bought ? { ...it, reversals } : it));
  }

  /** Switches automatic top-up on, with a new card. */
  async saveCard(): Promise<void> {
    const threshold = this.#nextThreshold();
    const { location, text } = await this.#sendChoice("new_card", threshold);
    const id =
      URL.parse(location ?? "")
        ?.pathname.split("/")
        .at(-1) ?? "";
    expectRule(id !== "", `a person saves a card: ${text}`);
    const from_ms = Date.now();
    const event = this.#stripe.savesCard(id);
    await this.#deliver(event);
    this.#customer = event.data.object["customer"] as string;
    this.#noteThreshold(threshold, { from_ms, to_ms: Date.now() });
  }

  /** Chooses a threshold just below the balance, unless a charge is due. */
  async chooseThreshold(): Promise<void> {
    if (!this.#isQuiet()) return;
    const threshold = this.#nextThreshold();
    const answer = await this.#sendChoice("save", threshold);
    expectRule(answer.status === 303, `a threshold is saved: ${answer.status} ${answer.text}`);
    this.#noteThreshold(threshold, answer);
  }

  /** Whether no charge is due. */
  #isQuiet(): boolean {
    return this.#book.isSure(({ top_up }) => top_up?.due === null);
  }

  get is_quiet(): boolean {
    return this.#customer === null || this.#isQuiet();
  }

  /** While no charge is due: each charge at Stripe is booked once, and each booked one was charged once. */
  check(): void {
    const own = [...this.#stripe.payments.values()].filter(
      ({ customer }) => customer !== undefined && customer === this.#customer,
    );
    const paid_minor = own.reduce((sum, { amount_received }) => sum + amount_received, 0);
    const { top_ups, topped_up } = this.#book.holdings;
    const expected_minor = (topped_up / PACKAGE.credits) * PACKAGE.price_minor;
    expectRule(
      own.length === top_ups && paid_minor === expected_minor,
      `each charge of a card is booked once: ${this.#requests.identity_id} paid ${paid_minor} in ${own.length} charges, and got ${topped_up} credits in ${top_ups}`,
    );
  }

  #nextThreshold(): number {
    return this.#book.holdings.balance - BELOW_BALANCE;
  }

  #sendChoice(act: "new_card" | "save", threshold: number) {
    const { caller, cookie } = this.#requests;
    const choice = { package: PACKAGE.id, threshold: `${threshold}`, month_limit: MONTH_LIMIT };
    return caller.postForm("/account/top-up", { act, language: "en", ...choice }, cookie);
  }

  #noteThreshold(threshold: number, underway: Parameters<Book["note"]>[1]): void {
    this.#book.note(
      "a threshold",
      underway,
      (it) => it.chooseThreshold(threshold),
      () => null,
      null,
    );
  }

  /** Stripe sends an event again until it has a response, and sometimes twice. */
  async #deliver(event: StripeEvent): Promise<void> {
    const body = JSON.stringify(event);
    for (let time = 0; time < 2; time += 1) {
      const headers = { "Stripe-Signature": await sign(body, Date.now()) };
      const sent = { method: "POST", path: "/webhooks/stripe", proof: [], body } as const;
      const { status, text } = await this.#requests.caller.ask({ ...sent, headers });
      expectRule(status === 200, `an event of Stripe is accepted: ${status} ${text}`);
    }
  }
}
