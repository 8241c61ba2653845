/** The automatic top-ups of one account, whose cards are at the stand-in for Stripe. */
import { pause } from "../bench/pause.ts";
import type { StripeDouble } from "../worker/payments/stripe_double.ts";
import type { Book, Underway } from "./book.ts";
import { expectRule } from "./caller.ts";
import { FAILURES_MAX, PACKAGE, type Holdings, type Refused } from "./holdings.ts";
import type { Receiver } from "./receiver.ts";
import type { Requests } from "./requests.ts";
import { deliverEvent } from "./stripe_news.ts";

/** Of a month, in euros: what no run reaches. */
const MONTH_LIMIT = "999999.99";
/** A new threshold is so many credits below the balance. */
const BELOW_BALANCE = 10;

/** A charge of a card takes so long, so that the service is often killed while it waits for one. */
const CHARGE_MS = 1_000;

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

export class TopUps {
  readonly #requests: Requests;
  readonly #book: Book;
  readonly #stripe: StripeDouble;
  /** Of each card that was saved, the newest last. */
  #customers: readonly string[] = [];

  constructor(requests: Requests, book: Book, stripe: StripeDouble) {
    this.#requests = requests;
    this.#book = book;
    this.#stripe = stripe;
  }

  /** `chance`: from 0 to 1. */
  async act(chance: number): Promise<void> {
    if (chance < 0.3) return this.#tellOfCharge();
    if (!this.is_quiet) return;
    const is_off = this.#book.isSure(({ top_up }) => top_up?.off !== null);
    if (is_off && chance < 0.65) return this.saveCard();
    if (!is_off && chance < 0.6) this.#refuseCard();
    await this.#chooseThreshold();
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
    await deliverEvent(this.#requests.caller, event);
    this.#customers = [...this.#customers, event.data.object["customer"] as string];
    const underway = { from_ms, to_ms: Date.now() };
    this.#note("a new card", underway, (it) => it.saveCard(threshold));
  }

  /** Whether nothing is charged before the balance falls. */
  get is_quiet(): boolean {
    return this.#customers.length === 0 || this.#book.isSure((it) => it.is_quiet);
  }

  /** While it is quiet: each charge at Stripe is booked once, and each booked one was charged once. */
  check(): void {
    const { identity_id } = this.#requests;
    const charges = this.#charges();
    const paid = charges.filter(({ amount_received }) => amount_received > 0);
    const paid_minor = paid.reduce((sum, { amount_received }) => sum + amount_received, 0);
    const { top_ups, topped_up, refused_charges } = this.#book.holdings;
    const expected_minor = (topped_up / PACKAGE.credits) * PACKAGE.price_minor;
    expectRule(
      paid.length === top_ups && paid_minor === expected_minor,
      `each charge of a card is booked once: ${identity_id} paid ${paid_minor} in ${paid.length} charges, and got ${topped_up} credits in ${top_ups}`,
    );
    const refused = charges.length - paid.length;
    expectRule(
      refused === refused_charges,
      `each refused charge counts once: ${identity_id} had ${refused}, and ${refused_charges} count`,
    );
  }

  /** While it is quiet: whether the receiver has each event about refused charges. @throws BrokenRule if it has others */
  isTold(receiver: Receiver): boolean {
    const { identity_id } = this.#requests;
    const { refused_charges, switched_off } = this.#book.holdings;
    const told = (["topup.failed", "topup.disabled"] as const).map((type) =>
      receiver.told(identity_id, type),
    );
    const wanted = [refused_charges, switched_off];
    expectRule(
      told.every((count, at) => count <= (wanted[at] ?? 0)),
      `an event tells of each refused charge once: ${told.join(" and ")} of ${wanted.join(" and ")} for ${identity_id}`,
    );
    return told.every((count, at) => count === wanted[at]);
  }

  /** A threshold just below the balance. */
  async #chooseThreshold(): Promise<void> {
    const threshold = this.#nextThreshold();
    const answer = await this.#sendChoice("save", threshold);
    expectRule(answer.status === 303, `a threshold is saved: ${answer.status} ${answer.text}`);
    this.#note("a threshold", answer, (it) => it.chooseThreshold(threshold));
  }

  /** The bank declines the next charges, or wants the person to confirm the next one. */
  #refuseCard(): void {
    const declined = 1 + Math.floor(Math.random() * FAILURES_MAX);
    const refusals: readonly Refused[] =
      Math.random() < 0.25
        ? ["authentication_required"]
        : Array.from({ length: declined }, () => "declined" as const);
    const card = [...this.#stripe.cards.values()].find(
      ({ customer }) => customer === this.#customers.at(-1),
    );
    card?.next.splice(0, Infinity, ...refusals);
    const now_ms = Date.now();
    this.#note("a card", { from_ms: now_ms, to_ms: now_ms }, (it) => it.refuseCard(refusals));
  }

  /** Stripe's event of a charge, which may come before the response to the charge, or much later. */
  async #tellOfCharge(): Promise<void> {
    const newest = this.#charges().slice(-2);
    const charge = newest[Math.floor(Math.random() * newest.length)];
    if (charge === undefined) return;
    const what = charge.amount_received > 0 ? "succeeded" : "payment_failed";
    const event = this.#stripe.event(`payment_intent.${what}`, charge);
    await deliverEvent(this.#requests.caller, event);
  }

  #charges() {
    return [...this.#stripe.payments.values()].filter(({ customer }) =>
      this.#customers.includes(customer as string),
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

  #note(what: string, underway: Underway, change: (it: Holdings) => void): void {
    this.#book.note(what, underway, change, () => null, null);
  }
}
