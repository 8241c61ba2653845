/** One account: what happens in it, one thing after the other, and the check of everything that was answered. */
import { baseTerms } from "../../src/domain/lots.ts";
import { pause } from "../bench/pause.ts";
import type { StripeDouble } from "../worker/payments/stripe_double.ts";
import { Book } from "./book.ts";
import { expectRule, type Caller } from "./caller.ts";
import { Connected } from "./connected.ts";
import { Gifts } from "./gifts.ts";
import { Jobs } from "./jobs.ts";
import { readLedger } from "./ledger.ts";
import { Purchases } from "./purchases.ts";
import type { Receiver } from "./receiver.ts";
import { APP, type Operator } from "./registrations.ts";
import { Requests } from "./requests.ts";
import { Stream } from "./stream.ts";
import { DeviceTokens } from "./tokens.ts";
import { TopUps } from "./top_ups.ts";

/** Where an account's credits come from, in addition to the starter credits: so that no two things come by themselves. */
export type Source = "plan" | "top_up";

/** The outside of a run. */
export interface Surroundings {
  readonly caller: Caller;
  readonly stripe: StripeDouble;
  readonly operator: Operator;
}

/** A charge of a card is repeated after 1 and 5 minutes if the service was killed meanwhile. */
const QUIET_MAX_MS = 12 * 60_000;
/** Nothing is given that expires later, but for periods of a day or a week. */
const EXPIRES_WITHIN_MS = 60_000;
const PAUSE_MS = 200;

export class Account {
  readonly #requests: Requests;
  readonly #operator: Operator;
  readonly #source: Source;
  readonly #book: Book;
  readonly #jobs: Jobs;
  readonly #tokens: DeviceTokens;
  readonly #agent: Connected;
  readonly #tool_user: Connected;
  readonly #purchases: Purchases;
  readonly #top_ups: TopUps;
  readonly #gifts: Gifts;
  /** The account's stream, which is open all the time. */
  readonly stream: Stream;
  /** What was done, by name. */
  readonly done = new Map<string, number>();

  private constructor(requests: Requests, { stripe, operator }: Surroundings, source: Source) {
    this.#requests = requests;
    this.#operator = operator;
    this.#source = source;
    this.#book = new Book(requests.identity_id);
    this.#jobs = new Jobs(requests, this.#book);
    this.#tokens = new DeviceTokens(requests, this.#jobs);
    this.#agent = Connected.agent(requests, this.#jobs);
    this.#tool_user = Connected.toolUser(requests, this.#jobs, operator);
    this.#purchases = new Purchases(requests, this.#book, stripe, operator);
    this.#top_ups = new TopUps(requests, this.#book, stripe);
    this.#gifts = new Gifts(requests, this.#book, operator.proof);
    this.stream = new Stream(requests.caller.service, () => requests.session);
  }

  /** Opens the account with the starter credits of the app. */
  static async open(around: Surroundings, email: string, source: Source): Promise<Account> {
    const account = new Account(await Requests.signIn(around.caller, email), around, source);
    const answer = await account.#requests.read(`/api/wallet?app=${APP}`);
    const { credits } = answer.json.account;
    account.#book.note(
      "the first wallet",
      answer,
      (it) => it.bring("grant", "starter", baseTerms(false), credits),
      (it) => it.balance,
      credits,
    );
    if (source === "plan") await account.#gifts.giveNewPlan();
    else await account.#top_ups.saveCard();
    return account;
  }

  get identity_id(): string {
    return this.#requests.identity_id;
  }

  /** What came or went by itself: how often, by name. */
  get came(): ReadonlyMap<string, number> {
    const { entries, top_ups, refused_charges, switched_off } = this.#book.holdings;
    return new Map([
      ["times a plan brought credits", entries["recurring"] ?? 0],
      ["times credits rolled over", entries["rollover"] ?? 0],
      ["times credits expired", entries["expire"] ?? 0],
      ["charges of a card", top_ups],
      ["refused charges", refused_charges],
      ["times they switched automatic top-up off", switched_off],
    ]);
  }

  /** What happened at Stripe, by name. */
  get returned(): ReadonlyMap<string, number> {
    return this.#purchases.done;
  }

  /** Does one thing; `chance` from 0 to 1 says which. */
  async act(chance: number): Promise<void> {
    await this.#requests.signInAgainInTime();
    const { cookie } = this.#requests;
    const own: readonly (readonly [number, string, () => Promise<unknown>])[] =
      this.#source === "plan"
        ? [
            [0.92, "gifts, plans and suspensions", () => this.#gifts.act(Math.random())],
            [0.97, "purchases, refunds and disputes", () => this.#purchases.act(Math.random())],
          ]
        : [
            [0.9, "acts about top-ups", () => this.#top_ups.act(Math.random())],
            [0.97, "jobs", () => this.#jobs.run()],
          ];
    const acts: typeof own = [
      [0.34, "jobs", () => this.#jobs.run()],
      [0.35, "renewals of connections", () => this.#renew()],
      [0.43, "batches", () => this.#jobs.runBatch()],
      [0.46, "reports of progress", () => this.#jobs.reportProgress()],
      [0.56, "wallets", () => this.#readWallet("")],
      [0.63, "lists", () => this.#jobs.list()],
      [0.7, "jobs of a capped token", () => this.#tokens.use()],
      [0.76, "jobs of an OAuth client", () => this.#agent.use()],
      [0.82, "jobs that an app charged for its resource", () => this.#tool_user.use()],
      [0.85, "refunds of jobs", () => this.#jobs.refund(this.#operator.proof)],
      ...own,
      [0.998, "pages", () => this.#requests.read("/account", cookie)],
      [1, "exports", () => this.#requests.read("/account/data.json", cookie)],
    ];
    const chosen = acts.find(([below]) => chance < below);
    if (chosen === undefined) return;
    const [, name, run] = chosen;
    await run();
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }

  /** Checks whatever was answered before the service was killed. */
  async checkEverything(): Promise<void> {
    await this.#readWallet(`?app=${APP}`);
    await this.#requests.expectRepeated();
    await this.#jobs.check();
    await this.#purchases.check();
    await this.checkLedger();
  }

  /** Compares the ledger with the book and with the stream. @returns the lines of the entries that have an event */
  async checkLedger(): Promise<readonly number[]> {
    const { newest, balance, counts, event_lines, lines } = await readLedger(this.#requests);
    const counted = (of: Readonly<Record<string, number>>) => COUNTED.map((kind) => of[kind] ?? 0);
    this.#book.note(
      "the ledger",
      newest,
      () => undefined,
      (it) => [it.balance, ...counted(it.entries)],
      [balance, ...counted(counts)],
    );
    await this.stream.expectLine(lines, balance, this.identity_id);
    return event_lines;
  }

  /** Waits until nothing comes by itself any more, and checks what was charged. */
  async settle(): Promise<void> {
    await this.#purchases.deliver();
    const until_ms = performance.now() + QUIET_MAX_MS;
    const isQuiet = () => {
      const [from_ms, to_ms] = [Date.now() - PAUSE_MS, Date.now() + EXPIRES_WITHIN_MS];
      const is_over = this.#book.isSure((it) => it.timesBetween(from_ms, to_ms).length === 0);
      return is_over && this.#top_ups.is_quiet;
    };
    for (;;) {
      await this.#readWallet("");
      if (isQuiet()) break;
      expectRule(performance.now() < until_ms, `credits arrive in time: ${this.identity_id}`);
      await pause(PAUSE_MS);
    }
    this.#top_ups.check();
    this.#purchases.checkTotals();
  }

  /** Whether the receiver has each event that has no entry. */
  isTold(receiver: Receiver): boolean {
    return this.#top_ups.isTold(receiver);
  }

  async #renew(): Promise<void> {
    await this.#agent.renew();
    await this.#tool_user.renew();
  }

  async #readWallet(query: string): Promise<void> {
    const answer = await this.#requests.read(`/api/wallet${query}`);
    const { account, held, bought, lots, topup, spendable } = answer.json;
    this.#book.note(
      "the wallet",
      answer,
      () => undefined,
      (it) => ({
        credits: it.balance,
        plan: it.plan,
        bought: it.bought,
        lots: it.lots,
        ...(spendable !== undefined && { spendable: it.spendable(APP) }),
        topup: it.top_up_state,
      }),
      {
        credits: account.credits,
        plan: account.plan,
        bought,
        lots: (lots as Lot[])
          .filter(({ left }) => left > 0)
          .map((lot) => [lot.origin, lot.left, lot.held]),
        ...(spendable !== undefined && { spendable }),
        topup: topup?.state ?? null,
      },
    );
    const is_held = held === this.#jobs.held;
    expectRule(is_held, `the wallet holds what jobs reserved: ${held} of ${this.#jobs.held}`);
  }
}

interface Lot {
  readonly origin: string;
  readonly left: number;
  readonly held: number;
}

/** The kinds of entries that the book counts. */
const COUNTED = [
  "grant",
  "adjustment",
  "recurring",
  "rollover",
  "expire",
  "purchase",
  "purchase_refund",
  "job_refund",
];
