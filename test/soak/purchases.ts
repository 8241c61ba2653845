/**
 * What one account buys at the stand-in for Stripe, and what becomes of it: refunds, in part and whole, and disputes, which are
 * lost or won. Some events wait while more happens, and then arrive in another order.
 */
import { spendableIn } from "../../src/domain/lots.ts";
import type { StripeDouble, StripeEvent } from "../worker/payments/stripe_double.ts";
import type { Book } from "./book.ts";
import { expectRule } from "./caller.ts";
import { PACKAGE, type PaymentNews } from "./holdings.ts";
import { APP, type Operator } from "./registrations.ts";
import type { Requests } from "./requests.ts";
import { deliverEvent } from "./stripe_news.ts";

/** What may still be refunded or disputed: the newest. */
const KEPT = 6;
/** Delivered events, of which some are sent again much later. */
const OLD_EVENTS = 20;
/** A refund in part returns less than so many cents. */
const PART_MINOR = 150;

/** A purchase at Stripe. */
interface Bought {
  /** The id of its checkout. */
  readonly id: string;
  /** In cents, the oldest first; 0: it failed. */
  readonly refunds_minor: number[];
  dispute: "none" | "open" | "lost" | "won";
}

interface News {
  readonly of: Bought;
  readonly about: keyof PaymentNews;
  readonly event: StripeEvent;
}

export class Purchases {
  readonly #requests: Requests;
  readonly #book: Book;
  readonly #stripe: StripeDouble;
  readonly #operator: Operator;
  #bought: readonly Bought[] = [];
  #waiting: readonly News[] = [];
  #delivered: readonly News[] = [];
  /** How many refunds and disputes there were. */
  readonly done = new Map<string, number>();

  constructor(requests: Requests, book: Book, stripe: StripeDouble, operator: Operator) {
    this.#requests = requests;
    this.#book = book;
    this.#stripe = stripe;
    this.#operator = operator;
  }

  /** `chance`: from 0 to 1. */
  async act(chance: number): Promise<void> {
    const of = this.#bought[Math.floor(Math.random() * this.#bought.length)];
    if (of === undefined || chance < 0.3) await this.#buy();
    else if (chance < 0.6) this.#refund(of, Math.random() < 0.3, true);
    else if (chance < 0.95) this.#dispute(of);
    else await this.#owe();
    if (Math.random() < 0.6) await this.deliver();
  }

  /** Delivers what waits, in any order, and an old event once more. */
  async deliver(): Promise<void> {
    const waiting = this.#waiting
      .map((news) => ({ news, at: Math.random() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ news }) => news);
    this.#waiting = [];
    const old = this.#delivered[Math.floor(Math.random() * this.#delivered.length)];
    for (const news of old === undefined ? waiting : [...waiting, old]) await this.#send(news);
    this.#delivered = [...this.#delivered, ...waiting].slice(-OLD_EVENTS);
    for (const { id } of this.#bought.slice(0, -KEPT)) this.#book.forgetPurchase(id);
    this.#bought = this.#bought.slice(-KEPT);
  }

  /** Checks what an operator sees of each purchase that is not forgotten. */
  async check(): Promise<void> {
    const path = `/api/admin/accounts/${this.#requests.identity_id}/purchases?limit=20`;
    const answer = await this.#requests.read(path, this.#operator.proof);
    const ids = this.#bought.map(({ id }) => id);
    const listed = answer.json.purchases as { checkout_session_id: string; taken_back: number }[];
    const shown = ids.map(
      (id) => listed.find((it) => it.checkout_session_id === id)?.taken_back ?? null,
    );
    this.#book.note(
      "the list of purchases",
      answer,
      () => undefined,
      (it) => ids.map((id) => it.takenBackOf(id)),
      shown,
    );
  }

  /** While no event waits: what Passbook took back is what Stripe says. */
  checkTotals(): void {
    const { identity_id } = this.#requests;
    const own = [...this.#stripe.charges.values()].filter(({ payment_intent }) => {
      const payment = this.#stripe.payments.get(String(payment_intent));
      const metadata = payment?.["metadata"] as Record<string, string> | undefined;
      return metadata?.["passbook_identity_id"] === identity_id;
    });
    const returned_minor = own.reduce((sum, { id, amount, amount_refunded }) => {
      const disputed = [...this.#stripe.disputed.values()].some(
        ({ charge, status }) => charge === id && status !== "won",
      );
      return sum + (disputed ? Number(amount) : Number(amount_refunded));
    }, 0);
    const booked_minor = this.#book.holdings.returned_minor;
    expectRule(
      booked_minor === returned_minor,
      `each refund and dispute is booked once: ${returned_minor} cents were returned to ${identity_id}, and ${booked_minor} are booked`,
    );
  }

  async #buy(): Promise<Bought> {
    const body = { package: PACKAGE.id, return_to: "http://localhost:3000/" };
    const { json } = await this.#requests.once("/api/checkout", body);
    // The key of a checkout is Stripe's.
    this.#requests.forget(({ path }) => path === "/api/checkout");
    const id = new URL(json.url).pathname.split("/").at(-1) ?? "";
    const of: Bought = { id, refunds_minor: [], dispute: "none" };
    this.#bought = [...this.#bought, of];
    this.#happen("purchases", { of, about: "paid_minor", event: this.#stripe.completes(id) });
    return of;
  }

  #refund(of: Bought, is_whole: boolean, may_fail: boolean): void {
    const refunded_minor = of.refunds_minor.reduce((sum, minor) => sum + minor, 0);
    const rest_minor = PACKAGE.price_minor - refunded_minor;
    if (rest_minor === 0) return;
    const part_minor = Math.min(rest_minor, 1 + Math.floor(Math.random() * PART_MINOR));
    const amount_minor = is_whole ? rest_minor : part_minor;
    const event = this.#stripe.refunds(of.id, refunded_minor + amount_minor);
    const name = amount_minor === rest_minor ? "whole refunds" : "refunds in part";
    this.#happen(name, { of, about: "refunds_minor", event });
    const has_failed = may_fail && Math.random() < 0.2;
    of.refunds_minor.push(has_failed ? 0 : amount_minor);
    if (!has_failed) return;
    const failed = this.#stripe.refundFails();
    this.#happen("failed refunds", { of, about: "refunds_minor", event: failed });
  }

  /** Opens a dispute of the whole payment, or closes it. */
  #dispute(of: Bought): void {
    if (of.dispute === "lost" || of.dispute === "won") return;
    const change = (what: Parameters<StripeDouble["disputes"]>[1], status: string): News => {
      const about = { amount: PACKAGE.price_minor, status };
      return { of, about: "disputed_minor", event: this.#stripe.disputes(of.id, what, about) };
    };
    if (of.dispute === "none") {
      of.dispute = "open";
      const opened = change("created", "needs_response");
      this.#happen("disputes", opened, change("funds_withdrawn", "needs_response"));
    } else if (Math.random() < 0.5) {
      of.dispute = "lost";
      this.#happen("lost disputes", change("closed", "lost"));
    } else {
      of.dispute = "won";
      const closed = change("closed", "won");
      this.#happen("won disputes", closed, change("funds_reinstated", "won"));
    }
  }

  /** The account spends everything, and then loses a purchase: it owes credits, until an operator gives some. */
  async #owe(): Promise<void> {
    const of = await this.#buy();
    await this.deliver();
    const amount = spendableIn(this.#book.holdings.credits, null);
    await this.#adjust(0 - amount, (it) => it.takeAway(amount));
    this.#refund(of, true, false);
    await this.deliver();
    const job = { app: APP, action: "draw", cost_estimate: PACKAGE.credits };
    const refused = await this.#requests.ask("POST", "/api/jobs", job);
    this.#book.note(
      "a job without credits",
      refused,
      () => undefined,
      (it) => [402, it.balance, it.spendable(APP)],
      [refused.status, refused.json.credits, refused.json.spendable],
    );
    await this.#adjust(amount, (it) => it.give(amount));
    this.#count("times an account owed credits");
  }

  async #adjust(amount: number, change: Parameters<Book["note"]>[2]): Promise<void> {
    const path = `/api/admin/accounts/${this.#requests.identity_id}/credits`;
    const body = { amount, reason: "soak", ...(amount < 0 && { allow_negative: true }) };
    const answer = await this.#requests.once(path, body, this.#operator.proof);
    this.#book.note("an adjustment", answer, change, (it) => it.balance, answer.json.credits);
  }

  #happen(name: string, ...news: readonly News[]): void {
    this.#waiting = [...this.#waiting, ...news];
    this.#count(name);
  }

  #count(name: string): void {
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }

  /** Passbook reads the present state of an event's object. */
  async #send({ of, about, event }: News): Promise<void> {
    const from_ms = Date.now();
    await deliverEvent(this.#requests.caller, event);
    if (!this.#bought.includes(of)) return;
    const is_lost = of.dispute === "open" || of.dispute === "lost";
    const now: { readonly [About in keyof PaymentNews]: readonly Partial<PaymentNews>[] } = {
      paid_minor: [{ paid_minor: PACKAGE.price_minor }],
      // Each refund is booked by itself.
      refunds_minor: of.refunds_minor.map((minor, at) => ({ refunds_minor: { [at]: minor } })),
      disputed_minor: [{ disputed_minor: is_lost ? PACKAGE.price_minor : 0 }],
    };
    this.#book.note(
      event.type,
      { from_ms, to_ms: Date.now() },
      (it) => now[about].forEach((part) => it.learn(of.id, part)),
      () => null,
      null,
    );
  }
}
