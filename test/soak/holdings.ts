/**
 * What an account has at one moment: its credits with terms, what its jobs hold, its plan, and a charge that is due. The order
 * in which lots are used is the rules' of `src/domain`, which the simulator compares with a bookkeeping of its own.
 */
import {
  balanceOf,
  baseTerms,
  boughtOf,
  bringIn,
  hold,
  inOrderOfUse,
  isLiving,
  lotsDue,
  putBack,
  refund,
  rollOver,
  settle,
  spendableIn,
  take,
  takeBack,
  withoutLeft,
  type Clock,
  type Credits,
  type LotOrigin,
  type Part,
  type Terms,
} from "../../src/domain/lots.ts";
import {
  FIRST_PLAN,
  joinPlan,
  turnOf,
  type PlanRules,
  type RunningPlan,
  type RunningRule,
} from "../../src/domain/plans.ts";

interface HoldingJob {
  readonly app: string;
  readonly from: readonly Part[];
  readonly refunded: number;
}

/** Why a bank refuses a charge. */
export type Refused = "declined" | "authentication_required";

/** Automatic top-up. */
interface TopUp {
  readonly threshold: number;
  /** The credits of the charge that is due or on its way; null: none is. */
  readonly due: number | null;
  /** What the bank says at the next charges, before the card pays. */
  readonly refusals: readonly Refused[];
  /** Refused charges in a row. */
  readonly failures: number;
  /** Whether it waits after a refused charge. */
  readonly waits: boolean;
  /** Why it is off; null: it is on. */
  readonly off: Refused | null;
}

/** After so many refused charges in a row, automatic top-up is off. */
export const FAILURES_MAX = 3;

/** The package that is bought, also by top-ups. */
export const PACKAGE = { id: "small", credits: 100, price_minor: 500 };

/** What Passbook knows of a payment: what was paid, refunded by each refund, and withheld for a dispute. */
export interface PaymentNews {
  readonly paid_minor: number;
  readonly refunds_minor: Readonly<Record<string, number>>;
  readonly disputed_minor: number;
}

const UNKNOWN: PaymentNews = { paid_minor: 0, refunds_minor: {}, disputed_minor: 0 };

/** In all at most what was paid. */
function returnedMinor({ paid_minor, refunds_minor, disputed_minor }: PaymentNews): number {
  const returned = Object.values(refunds_minor).reduce((sum, minor) => sum + minor, disputed_minor);
  return Math.min(paid_minor, returned);
}

/** Rounded up. */
const creditsTaken = (news: PaymentNews): number =>
  Math.ceil((returnedMinor(news) * PACKAGE.credits) / PACKAGE.price_minor);

export class Holdings {
  credits: Credits = { base: { given: 0, bought: 0 }, held_bought: 0, lots: [] };
  jobs: Readonly<Record<string, HoldingJob>> = {};
  plan: string = FIRST_PLAN;
  running: RunningPlan | null = null;
  top_up: TopUp | null = null;
  /** How many entries of some kinds there are: each of these must be there once. */
  entries: Readonly<Record<string, number>> = {};
  /** The charges of the card that were booked, and what they brought. */
  top_ups = 0;
  topped_up = 0;
  /** Its refused charges, and how often they switched top-up off. */
  refused_charges = 0;
  switched_off = 0;
  /** Bought by checkouts, by the id of each. */
  payments: Readonly<Record<string, PaymentNews>> = {};
  /** Of all payments, in cents. */
  returned_minor = 0;
  #ids = 0;

  copy(): Holdings {
    const copy = Object.assign(new Holdings(), this);
    copy.#ids = this.#ids;
    return copy;
  }

  get balance(): number {
    return balanceOf(this.credits);
  }

  get bought(): number {
    return boughtOf(this.credits);
  }

  spendable(app: string): number {
    return spendableIn(this.credits, app);
  }

  /** What is left and held in each lot that has something left, in the order of use. */
  get lots(): readonly (readonly [LotOrigin, number, number])[] {
    return inOrderOfUse(this.credits.lots.filter(({ left }) => left > 0)).map(
      ({ origin, left, held }) => [origin, left, held],
    );
  }

  /**
   * When credits expire or come by themselves, from one time to another. Also when a lot ends that has nothing left, because
   * what a job gives back after this time is usable for longer.
   */
  timesBetween(from_ms: number, to_ms: number): readonly number[] {
    return [
      ...this.credits.lots.map(({ expires_at_ms }) => expires_at_ms ?? Infinity),
      ...(this.running?.rules ?? []).map(({ until_ms }) => until_ms),
    ].filter((at_ms) => at_ms > from_ms && at_ms <= to_ms);
  }

  /** Makes the turns that are over, and then expires the lots whose time is over. */
  passTime(now_ms: number): void {
    for (;;) {
      const due = this.running?.rules.find(({ until_ms }) => until_ms <= now_ms);
      if (due === undefined) break;
      this.#turn(due, now_ms);
    }
    for (const { id } of lotsDue(this.credits, now_ms)) {
      this.credits = withoutLeft(this.credits, id);
      this.#count("expire");
    }
    this.#forgetLots();
  }

  bring(kind: string, origin: LotOrigin, terms: Terms, amount: number): void {
    const lot = { id: this.#newId(), origin, note: null };
    this.credits = bringIn(this.credits, lot, terms, amount).credits;
    this.#count(kind);
  }

  /** An operator gives credits for all apps, which never expire. */
  give(amount: number): void {
    this.bring("adjustment", "adjustment", baseTerms(false), amount);
  }

  /** News of Stripe about one part of a payment, again or for the first time: its credits come, and go with the money. */
  learn(id: string, news: Partial<PaymentNews>): void {
    const before = this.payments[id] ?? UNKNOWN;
    const refunds_minor = { ...before.refunds_minor, ...news.refunds_minor };
    const after = { ...before, ...news, refunds_minor };
    this.payments = { ...this.payments, [id]: after };
    if (after.paid_minor > before.paid_minor) {
      this.bring("purchase", "purchase", baseTerms(true), PACKAGE.credits);
    }
    const change_minor = returnedMinor(after) - returnedMinor(before);
    if (change_minor === 0) return;
    this.returned_minor += change_minor;
    const back = creditsTaken(after) - creditsTaken(before);
    const part = { lot_id: null, bought: true, credits: 0 - back };
    this.credits =
      back < 0
        ? putBack(this.credits, [part], this.#clock(0))
        : takeBack(this.credits, { id, lot_id: null }, back).credits;
    this.#count("purchase_refund");
  }

  /** The credits taken back of a payment; null: it is not known. */
  takenBackOf(id: string): number | null {
    const news = this.payments[id] ?? UNKNOWN;
    return news.paid_minor === 0 ? null : creditsTaken(news);
  }

  /** Nothing happens to it any more. */
  forgetPurchase(id: string): void {
    const { [id]: _, ...payments } = this.payments;
    this.payments = payments;
  }

  /** An operator takes credits for all apps. */
  takeAway(amount: number): void {
    this.credits = take(this.credits, null, amount).credits;
    this.#count("adjustment");
  }

  reserve(app: string, id: string, amount: number): void {
    const { credits, from } = hold(this.credits, app, [], amount);
    this.credits = credits;
    this.jobs = { ...this.jobs, [id]: { app, from, refunded: 0 } };
  }

  end(id: string, cost: number, now_ms: number): void {
    const { app, from } = this.#job(id);
    const job = { app_slug: app, from, is_held: true };
    const settled = settle(this.credits, job, cost, this.#clock(now_ms));
    this.credits = settled.credits;
    this.jobs = { ...this.jobs, [id]: { app, from: settled.from, refunded: 0 } };
  }

  /** Of the cost of an ended job. */
  refund(id: string, amount: number, now_ms: number): void {
    const job = this.#job(id);
    const back = { amount, refunded: job.refunded };
    this.credits = refund(this.credits, job.from, back, this.#clock(now_ms));
    this.jobs = { ...this.jobs, [id]: { ...job, refunded: job.refunded + amount } };
    this.#count("job_refund");
  }

  /** Nothing is asked about an ended job any more. */
  forgetJob(id: string): void {
    const { [id]: _, ...jobs } = this.jobs;
    this.jobs = jobs;
  }

  /** An operator gives the account another plan. */
  changePlan(plan: string, rules: PlanRules, anchor_ms: number, now_ms: number): void {
    if (plan === this.plan) return;
    const leaving = { plan: this.plan, running: this.running };
    this.running = joinPlan(leaving, { plan, rules, anchor_ms }, now_ms);
    this.plan = plan;
    this.passTime(now_ms);
  }

  /** Switches automatic top-up on. */
  chooseThreshold(threshold: number): void {
    const refusals = this.top_up?.refusals ?? [];
    this.top_up = { threshold, refusals, due: null, failures: 0, waits: false, off: null };
  }

  saveCard(threshold: number): void {
    this.top_up = null;
    this.chooseThreshold(threshold);
  }

  /** The bank refuses the next charges of the card. */
  refuseCard(refusals: readonly Refused[]): void {
    if (this.top_up !== null) this.top_up = { ...this.top_up, refusals };
  }

  /** The state that the wallet shows. */
  get top_up_state(): string | null {
    const { top_up } = this;
    if (top_up === null || top_up.off !== null) return top_up?.off ?? null;
    if (top_up.due !== null) return "pending";
    return top_up.waits && this.balance < top_up.threshold ? "retrying" : "ready";
  }

  /** Whether nothing is charged before the balance falls. */
  get is_quiet(): boolean {
    return this.top_up_state !== "pending" && this.top_up_state !== "retrying";
  }

  /** After each operation: one charge brings the balance back to the threshold. */
  decideTopUp(): void {
    const { top_up } = this;
    if (top_up === null || top_up.due !== null || top_up.waits || top_up.off !== null) return;
    const gap = top_up.threshold - this.balance;
    if (gap <= 0) return;
    const due = Math.ceil(gap / PACKAGE.credits) * PACKAGE.credits;
    this.top_up = { ...top_up, due };
  }

  /** What may have happened to the card by itself, each one step: a charge, or the end of the pause after a refused one. */
  afterCharge(): readonly Holdings[] {
    const { top_up } = this;
    if (top_up === null) return [];
    if (top_up.waits) {
      const waited = this.#withTopUp({ ...top_up, waits: false });
      const charging = waited.copy();
      charging.decideTopUp();
      return [waited, charging];
    }
    if (top_up.due === null) return [];
    const charged = this.#charged({ ...top_up, due: null }, top_up.due);
    if (this.balance < top_up.threshold) return [charged];
    // A charge that was not requested yet is dropped if a job gave back enough.
    return [charged, this.#withTopUp({ ...top_up, due: null })];
  }

  #charged(top_up: TopUp, amount: number): Holdings {
    const [refused, ...refusals] = top_up.refusals;
    if (refused !== undefined) {
      const failures = top_up.failures + 1;
      const is_off = refused === "authentication_required" || failures >= FAILURES_MAX;
      const off = is_off ? refused : null;
      const after = this.#withTopUp({ ...top_up, refusals, failures, waits: !is_off, off });
      after.refused_charges += 1;
      after.switched_off += is_off ? 1 : 0;
      return after;
    }
    const booked = this.#withTopUp({ ...top_up, failures: 0 });
    booked.bring("purchase", "purchase", baseTerms(true), amount);
    booked.top_ups += 1;
    booked.topped_up += amount;
    booked.decideTopUp();
    return booked;
  }

  #withTopUp(top_up: TopUp): Holdings {
    const copy = this.copy();
    copy.top_up = top_up;
    return copy;
  }

  #turn(due: RunningRule, now_ms: number): void {
    const { rule, keeps_max } = turnOf(due, now_ms);
    const named = { rollover_lot_id: this.#newId(), lot_id: this.#newId() };
    const { running } = this;
    if (running === null) return;
    const rules = running.rules.map((it) => (it === due ? { ...rule, ...named } : it));
    this.running = { ...running, rules };
    const next = { id: named.rollover_lot_id, keeps_max, expires_at_ms: rule.until_ms };
    const { credits, kept, gone } = rollOver(this.credits, due, next);
    this.credits = credits;
    if (gone > 0) this.#count("expire");
    if (kept > 0) this.#count("rollover");
    const terms = { expires_at_ms: rule.until_ms, app_slugs: rule.app_slugs, bought: false };
    const lot = { id: named.lot_id, origin: "recurring", note: null } as const;
    this.credits = bringIn(this.credits, lot, terms, rule.credits).credits;
    this.#count("recurring");
  }

  #job(id: string): HoldingJob {
    const job = this.jobs[id];
    if (job === undefined) throw new Error(`no job ${id}`);
    return job;
  }

  #forgetLots(): void {
    const named = new Set(
      Object.values(this.jobs).flatMap(({ from }) => from.map(({ lot_id }) => lot_id)),
    );
    const lots = this.credits.lots.filter((lot) => isLiving(lot) || named.has(lot.id));
    this.credits = { ...this.credits, lots };
  }

  #count(kind: string): void {
    this.entries = { ...this.entries, [kind]: (this.entries[kind] ?? 0) + 1 };
  }

  #clock(now_ms: number): Clock {
    return { now_ms, newId: () => this.#newId() };
  }

  /** Ascending, because of two lots that are equal otherwise the older one is used first. */
  #newId(): string {
    this.#ids += 1;
    return String(this.#ids).padStart(9, "0");
  }
}
