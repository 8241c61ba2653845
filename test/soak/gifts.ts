/** What an operator does to one account: gives and takes credits with terms, gives plans, and suspends it for a moment. */
import type { Terms } from "../../src/domain/lots.ts";
import type { Book } from "./book.ts";
import { expectRule } from "./caller.ts";
import { OTHER_APP, PLAN_IDS, PLAN_RULES } from "./registrations.ts";
import type { Requests } from "./requests.ts";

/** Fewer lots than an account may have, so that no gift is refused. */
const LOTS_MAX = 60;
const DAY_MS = 24 * 60 * 60_000;
/** A gift expires, and a new plan's first period ends, within this time. */
const SOON_MS = 8_000;
const NEW_PLAN_EVERY_MS = 40_000;

const soonMs = (): number => Date.now() + 1_000 + Math.floor(Math.random() * SOON_MS);

export class Gifts {
  readonly #requests: Requests;
  readonly #book: Book;
  /** Of the operator. */
  readonly #proof: readonly string[];
  #plans = 0;
  #newest_plan_ms = 0;

  constructor(requests: Requests, book: Book, proof: readonly string[]) {
    this.#requests = requests;
    this.#book = book;
    this.#proof = proof;
  }

  async act(chance: number): Promise<void> {
    const is_new_plan_due = performance.now() - this.#newest_plan_ms > NEW_PLAN_EVERY_MS;
    if (is_new_plan_due && this.#plans < PLAN_IDS.length) await this.giveNewPlan();
    else if (chance < 0.15) await this.#changePlan(this.#earlierPlan(), Date.now());
    else if (chance < 0.25) await this.#suspend();
    else if (chance < 0.4) await this.#take();
    else await this.#give();
  }

  /** The first period of a plan ends soon, and then the next credits come. */
  async giveNewPlan(): Promise<void> {
    const plan = PLAN_IDS[this.#plans] ?? "";
    this.#plans += 1;
    this.#newest_plan_ms = performance.now();
    await this.#changePlan(plan, soonMs());
  }

  /** One that brought its credits for the period that runs. */
  #earlierPlan(): string {
    return PLAN_IDS[Math.floor(Math.random() * this.#plans)] ?? "";
  }

  /** `turns_at_ms`: when the first periods end, that of a day and that of a week. */
  async #changePlan(plan: string, turns_at_ms: number): Promise<void> {
    const anchor_ms = turns_at_ms - 7 * DAY_MS;
    const anchor = new Date(anchor_ms).toISOString();
    const answer = await this.#once("plan", { plan, anchor, reason: "soak" });
    this.#book.note(
      "a plan",
      { ...answer, turns_at_ms },
      (it, now_ms) => it.changePlan(plan, PLAN_RULES, anchor_ms, now_ms),
      (it) => [it.plan, it.balance],
      [answer.json.account.plan, answer.json.account.credits],
    );
  }

  async #give(): Promise<void> {
    if (this.#book.holdings.credits.lots.length > LOTS_MAX) return;
    const amount = 3;
    const terms: Terms = {
      expires_at_ms: Math.random() < 0.8 ? soonMs() : null,
      app_slugs: Math.random() < 0.5 ? [OTHER_APP] : null,
      bought: Math.random() < 0.3,
    };
    const { expires_at_ms, app_slugs, bought } = terms;
    const answer = await this.#requests.tryOnce(
      this.#pathOf("credits"),
      {
        amount,
        reason: "soak",
        ...(expires_at_ms !== null && { expires_at: new Date(expires_at_ms).toISOString() }),
        ...(app_slugs !== null && { app_slugs }),
        ...(bought && { bought }),
      },
      this.#proof,
    );
    const { status, text, to_ms } = answer;
    // The service was down until then.
    const is_late = status === 400 && expires_at_ms !== null && expires_at_ms <= to_ms;
    if (is_late) return;
    expectRule(status === 200, `credits are given: ${status} ${text}`);
    this.#noteCredits("a gift", answer, (it) =>
      it.bring("adjustment", "adjustment", terms, amount),
    );
  }

  async #take(): Promise<void> {
    const amount = 2;
    const answer = await this.#once("credits", { amount: 0 - amount, reason: "soak" });
    this.#noteCredits("a negative adjustment", answer, (it) => it.takeAway(amount));
  }

  #noteCredits(
    what: string,
    answer: Awaited<ReturnType<Requests["once"]>>,
    change: Parameters<Book["note"]>[2],
  ): void {
    this.#book.note(what, answer, change, (it) => it.balance, answer.json.credits);
  }

  async #suspend(): Promise<void> {
    await this.#send("suspend", { reason: "soak", public_reason: "A moment." });
    const refused = await this.#requests.ask("GET", "/api/wallet");
    const is_refused = refused.status === 403 && refused.json?.code === "suspended";
    expectRule(is_refused, `a suspended account is closed: ${refused.status} ${refused.text}`);
    await this.#send("restore", { reason: "soak" });
  }

  /** Without a key, because a repeated suspension would suspend the account again. */
  async #send(act: string, body: object): Promise<void> {
    const path = this.#pathOf(act);
    const { status, text } = await this.#requests.ask("POST", path, body, this.#proof);
    expectRule(status === 200, `${act} succeeds: ${status} ${text}`);
  }

  #once(act: string, body: object) {
    return this.#requests.once(this.#pathOf(act), body, this.#proof);
  }

  #pathOf(act: string): string {
    return `/api/admin/accounts/${this.#requests.identity_id}/${act}`;
  }
}
