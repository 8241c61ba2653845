/**
 * A person who deletes their account again and again, while jobs of it are started, its stream is open and its webhook has
 * events to send, and who comes back to a new one. Sometimes the money of a purchase goes back after the deletion: the next
 * account then owes what the deleted one would.
 */
import { deviceLogin, signIn, type Person } from "../bench/people.ts";
import { pause } from "../bench/pause.ts";
import type { StripeDouble } from "../worker/payments/stripe_double.ts";
import type { Surroundings } from "./account.ts";
import { expectRule, type Answer, type Caller } from "./caller.ts";
import { PACKAGE } from "./holdings.ts";
import { hasEvent, type Entry } from "./ledger.ts";
import type { Receiver } from "./receiver.ts";
import { APP, type Operator } from "./registrations.ts";
import { Stream } from "./stream.ts";
import { deliverEvent } from "./stripe_news.ts";

/** Accounts whose tokens are tried again after each kill: the newest. */
const KEPT = 5;
const FORGOTTEN_MAX_MS = 5 * 60_000;
/** A stream ends within this time, also after the service was killed. */
const STREAM_MAX_MS = 30_000;
const JOB_CREDITS = 5;
/** What an account has before it buys something. */
const FIRST_CREDITS = 50;
/** The kinds of entries of a new account of a person who was here before. */
const BEGINS_WITH = ["open", "debt"];

/** A deleted account. */
interface Gone {
  readonly identity_id: string;
  /** The tokens that it had, as header lines. */
  readonly proofs: readonly (readonly string[])[];
  /** The lines of its entries that have an event. */
  readonly event_lines: readonly number[];
}

export class Leaver {
  readonly #caller: Caller;
  readonly #stripe: StripeDouble;
  readonly #operator: Operator;
  readonly #email: string;
  /** All accounts that were deleted. */
  readonly #gone: Gone[] = [];
  /** The balance with which the newest account was deleted, and what was bought with it and is not refunded. */
  #left = 0;
  #bought: string | null = null;
  /** How often the next account owed credits. */
  debts = 0;

  constructor({ caller, stripe, operator }: Surroundings, email: string) {
    this.#caller = caller;
    this.#stripe = stripe;
    this.#operator = operator;
    this.#email = email;
  }

  get deleted(): readonly string[] {
    return this.#gone.map(({ identity_id }) => identity_id);
  }

  /** Opens an account, uses it, and deletes it. */
  async act(): Promise<void> {
    const caller = this.#caller;
    if (Math.random() < 0.5) await this.#refundLate();
    const person = await caller.persist(() => signIn(caller.service.url, this.#email));
    let balance = await this.#expectNothing(person);
    const owed = this.#owed;
    await this.#refundLate();
    balance -= this.#owed - owed;
    await this.#expectBalance(person, balance);
    if (this.#owed > 0) this.debts += 1;
    const given = FIRST_CREDITS + this.#owed;
    await this.#adjust(person, given);
    const device = await caller.persist(() => deviceLogin(caller.service.url, person));
    const spent = await this.#buy(person);
    this.#left = balance + given + PACKAGE.credits - spent;
    const stream = new Stream(caller.service, () => person.session);
    if (this.#left >= 2 * JOB_CREDITS) await this.#startJobs(person);
    const ledger = await this.#ask("/api/ledger", person.session);
    const entries = (ledger.json?.entries ?? []) as readonly Entry[];
    const event_lines = entries.filter(hasEvent).map(({ line }) => line);
    await this.#delete(person, stream);
    const { identity_id, session } = person;
    const gone = { identity_id, proofs: [session, device], event_lines };
    this.#gone.push(gone);
    await this.#expectRefused(gone);
  }

  /** No token of a deleted account is accepted. */
  async checkEverything(): Promise<void> {
    for (const gone of this.#gone.slice(0 - KEPT)) await this.#expectRefused(gone);
  }

  /** Waits until operators find nothing of any deleted account. */
  async settle(): Promise<void> {
    const until_ms = performance.now() + FORGOTTEN_MAX_MS;
    for (const { identity_id } of this.#gone) {
      await this.#within(until_ms, `nothing is left of ${identity_id}`, () =>
        this.#expectForgotten(identity_id),
      );
    }
    const found = await this.#ask(`/api/admin/accounts?q=${this.#email}`, this.#operator.proof);
    const is_forgotten = found.status === 200 && found.json.accounts.length === 0;
    expectRule(is_forgotten, `operators find no person who left: ${found.status} ${found.text}`);
  }

  /** Waits until the receiver has each event of each deleted account, and then that it was deleted. */
  async awaitEvents(receiver: Receiver): Promise<void> {
    const until_ms = performance.now() + FORGOTTEN_MAX_MS;
    for (const { identity_id, event_lines } of this.#gone) {
      await this.#within(until_ms, `the receiver learns that ${identity_id} was deleted`, () => {
        const deleted = receiver.told(identity_id, "account.deleted");
        const had = receiver.linesOf(identity_id);
        const missing = event_lines.filter((line) => !had.has(line));
        const is_told = deleted === 1 && missing.length === 0;
        return is_told ? null : `${deleted} times, without lines ${missing.join(", ")}`;
      });
    }
  }

  get #owed(): number {
    return Math.max(0, 0 - this.#left);
  }

  async #within(
    until_ms: number,
    rule: string,
    look: () => string | null | Promise<string | null>,
  ): Promise<void> {
    for (let what = await look(); what !== null; what = await look()) {
      expectRule(performance.now() < until_ms, `${rule}: ${what}`);
      await pause(500);
    }
  }

  /** The account is a new one, without anything but what the person owes. @returns its balance */
  async #expectNothing(person: Person): Promise<number> {
    const { session, identity_id } = person;
    const is_new = this.#gone.every((gone) => gone.identity_id !== identity_id);
    expectRule(is_new, `a person who comes back has another account: ${identity_id}`);
    const wallet = await this.#ask(`/api/wallet?app=${APP}`, session);
    const credits = wallet.json?.account?.credits as number;
    if (this.#gone.length === 0) return credits;
    const lists = await Promise.all(
      ["ledger", "jobs"].map((list) => this.#ask(`/api/${list}`, session)),
    );
    const [ledger, jobs] = lists.map(({ json }) => json);
    const entries = ledger?.entries as { readonly kind: string }[] | undefined;
    const kinds = entries?.map(({ kind }) => kind);
    const is_empty =
      wallet.json.held === 0 &&
      wallet.json.lots.length === 0 &&
      credits === 0 - this.#owed &&
      kinds?.every((kind) => BEGINS_WITH.includes(kind)) === true &&
      jobs?.jobs?.length === 0;
    const found = [wallet, ...lists].map(({ text }) => text).join(" ");
    const rule = `a person who comes back begins with nothing and owes ${this.#owed}`;
    expectRule(is_empty, `${rule}: ${found}`);
    return credits;
  }

  async #expectBalance({ session }: Person, balance: number): Promise<void> {
    const { json, text } = await this.#ask("/api/wallet", session);
    const is_right = json?.account?.credits === balance;
    expectRule(is_right, `a person who left owes what was refunded: ${text}, and not ${balance}`);
  }

  async #adjust({ identity_id }: Person, amount: number): Promise<void> {
    const body = { amount, reason: "soak", ...(amount < 0 && { allow_negative: true }) };
    const path = `/api/admin/accounts/${identity_id}/credits`;
    const { proof } = this.#operator;
    const key = crypto.randomUUID();
    const given = await this.#caller.ask({ method: "POST", path, proof, body, key });
    expectRule(given.status === 200, `credits are given or taken: ${given.status} ${given.text}`);
  }

  /** Buys a package and spends credits. @returns how many */
  async #buy(person: Person): Promise<number> {
    const body = { package: PACKAGE.id, return_to: "http://localhost:3000/" };
    const { status, json, text } = await this.#post("/api/checkout", person, body);
    expectRule(status === 200, `a checkout begins: ${status} ${text}`);
    const id = new URL(json.url).pathname.split("/").at(-1) ?? "";
    await deliverEvent(this.#caller, this.#stripe.completes(id));
    this.#bought = id;
    const spent = 1 + Math.floor(Math.random() * (FIRST_CREDITS + PACKAGE.credits + 20));
    await this.#adjust(person, 0 - spent);
    return spent;
  }

  /** The money of the newest deleted account's purchase goes back, once. */
  async #refundLate(): Promise<void> {
    if (this.#bought === null || Math.random() < 0.3) return;
    const event = this.#stripe.refunds(this.#bought, PACKAGE.price_minor);
    this.#bought = null;
    await deliverEvent(this.#caller, event);
    this.#left -= PACKAGE.credits;
  }

  async #startJobs(person: Person): Promise<void> {
    for (let job = 0; job < 2; job += 1) {
      const body = { app: APP, action: "draw", cost_estimate: JOB_CREDITS };
      const created = await this.#post("/api/jobs", person, body);
      expectRule(created.status === 200, `a job starts: ${created.status} ${created.text}`);
    }
  }

  async #delete({ cookie, identity_id }: Person, stream: Stream): Promise<void> {
    const confirmation = { confirmation: "delete" };
    const deleted = await this.#caller.postForm("/account/delete", confirmation, cookie);
    expectRule(
      deleted.status === 200 || deleted.is_repeated,
      `an account is deleted: ${deleted.status} ${deleted.text.slice(0, 300)}`,
    );
    const until_ms = performance.now() + STREAM_MAX_MS;
    await this.#within(until_ms, `the stream of a deleted account ends: ${identity_id}`, () =>
      stream.is_open ? "it is open" : stream.fault,
    );
    stream.close();
  }

  async #expectRefused({ identity_id, proofs }: Gone): Promise<void> {
    for (const proof of proofs) {
      const { status } = await this.#ask("/api/wallet", proof);
      expectRule(
        status === 401,
        `a token of a deleted account is refused: ${status} ${identity_id}`,
      );
    }
  }

  /** @returns what an operator still sees; null: nothing */
  async #expectForgotten(identity_id: string): Promise<string | null> {
    const path = `/api/admin/accounts/${identity_id}`;
    for (const [list, name] of [
      ["", ""],
      ["/jobs", "jobs"],
      ["/ledger", "entries"],
      ["/purchases", "purchases"],
    ] as const) {
      const { status, json, text } = await this.#ask(path + list, this.#operator.proof);
      const is_gone = status === 404 || (name !== "" && json?.[name]?.length === 0);
      if (!is_gone) return `${path}${list} is ${status} ${text.slice(0, 200)}`;
    }
    return null;
  }

  #post(path: string, { session }: Person, body: object): Promise<Answer> {
    const key = crypto.randomUUID();
    return this.#caller.ask({ method: "POST", path, proof: session, body, key });
  }

  #ask(path: string, proof: readonly string[]): Promise<Answer> {
    return this.#caller.ask({ method: "GET", path, proof });
  }
}
