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

/** Automatic top-up, while it is on. */
interface TopUp {
  readonly threshold: number;
  /** The credits of the charge that is due or on its way; null: none is. */
  readonly due: number | null;
}

/** The credits of one package of a top-up. */
export const TOP_UP_PACKAGE_CREDITS = 100;

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

  /** Money of a purchase without terms went back, so its credits do, or it came back, and so do they. */
  changePurchased(id: string, change: number, now_ms: number): void {
    const payment = { id, lot_id: null };
    this.credits =
      change < 0
        ? takeBack(this.credits, payment, 0 - change).credits
        : putBack(
            this.credits,
            [{ lot_id: null, bought: true, credits: change }],
            this.#clock(now_ms),
          );
    this.#count("purchase_refund");
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

  chooseThreshold(threshold: number): void {
    this.top_up = { threshold, due: null };
  }

  /** After each operation: one charge brings the balance back to the threshold. */
  decideTopUp(): void {
    if (this.top_up === null || this.top_up.due !== null) return;
    const gap = this.top_up.threshold - this.balance;
    if (gap <= 0) return;
    const due = Math.ceil(gap / TOP_UP_PACKAGE_CREDITS) * TOP_UP_PACKAGE_CREDITS;
    this.top_up = { ...this.top_up, due };
  }

  /** What may have become of the charge that is due, if it is not as before. */
  afterCharge(): readonly Holdings[] {
    const { top_up } = this;
    if (top_up === null || top_up.due === null) return [];
    const booked = this.copy();
    booked.top_up = { ...top_up, due: null };
    booked.bring("purchase", "purchase", baseTerms(true), top_up.due);
    booked.top_ups += 1;
    booked.topped_up += top_up.due;
    booked.decideTopUp();
    if (this.balance < top_up.threshold) return [booked];
    // A charge that was not requested yet is dropped if a job gave back enough.
    const dropped = this.copy();
    dropped.top_up = { ...top_up, due: null };
    return [booked, dropped];
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
