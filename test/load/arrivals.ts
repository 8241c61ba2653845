/**
 * The planned requests of a phase: when each one arrives, of which account, and what it is. They are planned before the
 * phase begins and from a seed, so they do not wait for earlier responses, as the requests of many people do not.
 */
import type { Random } from "../simulator/platform/random.ts";

export type Kind = "wallet" | "create" | "list";

/** Whether the account's object is created by this request, sleeps, or was used a moment ago. */
export type State = "new" | "asleep" | "awake";

export interface Arrival {
  /** Since the beginning of the phase. */
  readonly at_ms: number;
  /** The number of the account. */
  readonly account: number;
  readonly kind: Kind;
  readonly state: State;
  /** Different for each arrival of a run: the idempotency key of a creation. */
  readonly number: number;
}

export const KIND_SHARES: Readonly<Record<Kind, number>> = { wallet: 0.7, create: 0.2, list: 0.1 };
export const STATE_SHARES: Readonly<Record<State, number>> = {
  new: 0.05,
  asleep: 0.35,
  awake: 0.6,
};

/** An object sleeps after ten seconds without a request. Accounts used between these two times are left out. */
const AWAKE_MS = 8_000;
export const ASLEEP_MS = 12_000;
/** So many accounts are tried before another state is taken, because too few accounts exist. */
const ATTEMPTS = 50;

/** The account that sends more than it may. */
export const FLOODING_ACCOUNT = 0;

export class Population {
  /** The most accounts. */
  readonly accounts: number;
  /** The accounts whose objects exist: those with smaller numbers. */
  opened = 0;
  readonly #random: Random;
  #arrivals = 0;

  constructor(accounts: number, random: Random) {
    this.accounts = accounts;
    this.#random = random;
  }

  /** The first requests of so many accounts, all at once. */
  open(count: number): Arrival[] {
    const added = Math.min(count, this.accounts - this.opened);
    return Array.from({ length: added }, () => this.#next(0, this.opened++, "wallet", "new"));
  }

  /** Wallets of different existing accounts, all at once. */
  wake(count: number): Arrival[] {
    const woken = Math.min(count, this.opened);
    return Array.from({ length: woken }, (_, account) =>
      this.#next(0, account, "wallet", "asleep"),
    );
  }

  /**
   * Arrivals at random times (a Poisson process) with this mean rate. When the phase begins, all accounts sleep.
   * `opens`: some requests are the first of an account.
   */
  plan(rate: number, seconds: number, opens: boolean): Arrival[] {
    const used_ms = new Map<number, number>();
    const planned: Arrival[] = [];
    const known: Arrival[] = [];
    // An account of this phase is used later than in it: its first request may be refused.
    const existing = this.opened;
    let oldest = 0;
    for (let at_ms = this.#gap(rate); at_ms < seconds * 1000; at_ms += this.#gap(rate)) {
      while ((known[oldest]?.at_ms ?? at_ms) < at_ms - AWAKE_MS) oldest += 1;
      const arrival = this.#draw(at_ms, opens, existing, used_ms, () => {
        return known[oldest + this.#random.below(known.length - oldest)]?.account ?? null;
      });
      planned.push(arrival);
      if (arrival.state !== "new") known.push(arrival);
      used_ms.set(arrival.account, at_ms);
    }
    return planned;
  }

  /** Arrivals of one account, in addition to a plan of all accounts. */
  flood(plan: readonly Arrival[], rate: number, seconds: number): Arrival[] {
    const flood: Arrival[] = [];
    for (let at_ms = this.#gap(rate); at_ms < seconds * 1000; at_ms += this.#gap(rate)) {
      flood.push(this.#next(at_ms, FLOODING_ACCOUNT, this.#kind(false), "awake"));
    }
    return [...plan, ...flood].toSorted((one, other) => one.at_ms - other.at_ms);
  }

  #draw(
    at_ms: number,
    opens: boolean,
    existing: number,
    used_ms: ReadonlyMap<number, number>,
    drawAwake: () => number | null,
  ): Arrival {
    const state = this.#random.weighted(STATE_SHARES);
    if (opens && state === "new" && this.opened < this.accounts) {
      return this.#next(at_ms, this.opened++, "wallet", "new");
    }
    const kind = this.#kind(opens);
    const awake = state === "awake" ? drawAwake() : null;
    const asleep = awake === null ? this.#drawAsleep(at_ms, existing, used_ms) : null;
    if (asleep !== null) return this.#next(at_ms, asleep, kind, "asleep");
    return this.#next(at_ms, awake ?? drawAwake() ?? 0, kind, "awake");
  }

  /** An account that sleeps; null if none is found. */
  #drawAsleep(
    at_ms: number,
    existing: number,
    used_ms: ReadonlyMap<number, number>,
  ): number | null {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const account = this.#random.below(existing);
      if ((used_ms.get(account) ?? -ASLEEP_MS) <= at_ms - ASLEEP_MS) return account;
    }
    return null;
  }

  /** The first request of an account is a wallet, which the others make up for. */
  #kind(opens: boolean): Kind {
    const opening = opens && this.opened < this.accounts ? STATE_SHARES.new : 0;
    return this.#random.weighted({ ...KIND_SHARES, wallet: KIND_SHARES.wallet - opening });
  }

  #gap(rate: number): number {
    return (-Math.log(1 - this.#random.next()) * 1000) / rate;
  }

  #next(at_ms: number, account: number, kind: Kind, state: State): Arrival {
    this.#arrivals += 1;
    return { at_ms, account, kind, state, number: this.#arrivals };
  }
}
