/**
 * A model of a wallet and its jobs, written from the design and independent of the code: each credit is a thing of its own,
 * and remembers the lot that it belongs to.
 */

/** The terms of a credit. Credits without terms belong to one of the two parts of the base. */
export interface ModelLot {
  readonly expires_ms: number;
  readonly app: string | null;
  readonly bought: boolean;
  readonly number: number;
  /** The lot that a job took the credit from and gave it back after its expiry; null: it never came back late. */
  readonly returned_from: ModelLot | null;
}

const NEVER = Number.POSITIVE_INFINITY;
const base = (bought: boolean): ModelLot => {
  return { expires_ms: NEVER, app: null, bought, number: NEVER, returned_from: null };
};
const GIVEN = base(false);
const BOUGHT = base(true);

/** How long what comes back to an expired lot is usable. */
const RETURNED_MS = 7 * 24 * 60 * 60 * 1000;

/** The app that the jobs of the history belong to. */
const APP = "one";

/** The figures of a month without `opening` and `closing`, by what was bought and given. */
const FIGURES = [
  "granted",
  "purchased",
  "adjusted",
  "spent",
  "job_refunded",
  "expired",
  "taken_back",
  "forfeited",
] as const;
type Figure = (typeof FIGURES)[number];

export interface ModelJob {
  reserved: number;
  readonly deadline_ms: number;
  state: "running" | "done" | "refunded" | "kept" | "timed out";
  /** The credits that it holds, or that it cost, in the order of taking. */
  units: ModelLot[];
  cost: number;
  refunded: number;
}

export class Model {
  readonly jobs: ModelJob[] = [];
  readonly purchases: { readonly credits: number; cents_back: number; readonly lot: ModelLot }[] =
    [];
  readonly #granted = new Set<string>();
  /** What the base paid for credits of a lot when their money was returned. */
  readonly #from_base = new Map<ModelLot, ModelLot[]>();
  #free: ModelLot[] = [];
  readonly figures = Object.fromEntries(
    FIGURES.map((name) => [name, { bought: 0, given: 0 }]),
  ) as Record<Figure, { bought: number; given: number }>;
  #debt = 0;
  #refunding = false;
  #lots = 0;
  #now_ms = 0;

  get credits(): number {
    return this.#free.length - this.#debt;
  }

  get bought(): number {
    return this.#free.filter(({ bought }) => bought).length;
  }

  get spendable(): number {
    return this.#usable(APP).length - this.#debt;
  }

  /** Everything available, and what running jobs hold. */
  get owned(): { bought: number; given: number } {
    const running = this.jobs.filter(({ state }) => state === "running");
    const units = [...this.#free, ...running.flatMap((job) => job.units)];
    const bought = units.filter((lot) => lot.bought).length;
    return { bought, given: units.length - this.#debt - bought };
  }

  /** What is left in lots, with their expiry and scope, sorted. */
  get left(): string[] {
    const lots = Map.groupBy(this.#free, ({ expires_ms, app, bought }) =>
      expires_ms === NEVER && app === null ? "" : `${expires_ms} ${app} ${bought}`,
    );
    return [...lots]
      .flatMap(([name, { length }]) => (name === "" ? [] : `${name}: ${length}`))
      .toSorted();
  }

  /** Returns whether this call granted credits. */
  wallet(app: string, starter_credits: number): boolean {
    if (this.#granted.has(app)) return false;
    this.#granted.add(app);
    this.#bring(GIVEN, starter_credits);
    this.#count("granted", GIVEN, starter_credits);
    return true;
  }

  /** Returns the new balance. */
  adjust(amount: number): number {
    if (amount > 0) {
      this.#bring(GIVEN, amount);
      this.#count("adjusted", GIVEN, amount);
    }
    for (const lot of amount < 0 ? this.#take(null, 0 - amount) : []) {
      this.#count("adjusted", lot, -1);
    }
    return this.credits;
  }

  /** Gives credits with terms. Returns the new balance. */
  give(amount: number, expires_ms: number, app: string | null, bought: boolean): number {
    this.#bring(this.#lot(expires_ms, app, bought), amount);
    this.#count("adjusted", base(bought), amount);
    return this.credits;
  }

  /** Returns the index of the new purchase. */
  buy(credits: number, expires_ms = NEVER): number {
    const lot = this.#lot(expires_ms, null, true);
    this.#bring(lot, credits);
    this.#count("purchased", BOUGHT, credits);
    return this.purchases.push({ credits, cents_back: 0, lot }) - 1;
  }

  /** Sets the refunded total, of 300 cents. Returns false if the purchase does not exist. */
  refund(number: number, cents: number): boolean {
    const purchase = this.purchases[number];
    if (purchase === undefined) return false;
    const { credits, cents_back, lot } = purchase;
    const taken = (back: number): number => Math.ceil((credits * back) / 300);
    purchase.cents_back = Math.max(cents_back, cents);
    for (let left = taken(purchase.cents_back) - taken(cents_back); left > 0; left -= 1) {
      const late = this.#inOrderOfUse(this.#free.filter((it) => it.returned_from === lot));
      const found = [lot, ...late, BOUGHT, GIVEN].find((it) => this.#free.includes(it));
      if (found?.returned_from !== lot) this.#forgetLate(lot);
      this.#count("taken_back", BOUGHT, -1);
      // A bought credit that was spent already is a given one from now on.
      if (found?.bought !== true) this.#exchange(1);
      if (found === undefined) this.#debt += 1;
      else this.#free.splice(this.#free.indexOf(found), 1);
      const is_of_base = found === undefined || found === BOUGHT || found === GIVEN;
      if (is_of_base && lot !== BOUGHT) {
        this.#from_base.set(lot, [...(this.#from_base.get(lot) ?? []), found ?? BOUGHT]);
      }
    }
    return true;
  }

  /** Returns the new job's index, or null if the usable credits are too few. */
  create(estimate: number, deadline_ms: number): number | null {
    if (this.spendable < estimate) return null;
    const units = this.#take(APP, estimate);
    const job = { reserved: estimate, deadline_ms, units, cost: 0, refunded: 0 };
    return this.jobs.push({ ...job, state: "running" }) - 1;
  }

  complete(index: number, cost: number): boolean {
    const job = this.jobs[index];
    if (job?.state !== "running" && job?.state !== "timed out") return false;
    if (job.refunded > 0) return false;
    this.#settle(job, cost);
    job.state = "done";
    return true;
  }

  fail(index: number, refund: boolean): boolean {
    const job = this.jobs[index];
    if (job?.state !== "running") return false;
    this.#settle(job, refund ? 0 : job.reserved);
    job.state = refund ? "refunded" : "kept";
    return true;
  }

  /** The cost of a job that was not given back; 0 if there is no such job. */
  costLeft(index: number): number {
    const job = this.jobs[index];
    return job === undefined ? 0 : job.cost - job.refunded;
  }

  /** Gives back cost; returns whether that is accepted. */
  giveBack(index: number, amount: number): boolean {
    const job = this.jobs[index];
    if (job === undefined || amount === 0 || job.refunded + amount > job.cost) return false;
    job.refunded += amount;
    const owned = this.owned.bought;
    this.#refunding = true;
    this.#putBack(job.units.splice(job.units.length - amount));
    this.#refunding = false;
    const bought = this.owned.bought - owned;
    this.#count("job_refunded", BOUGHT, bought);
    this.#count("job_refunded", GIVEN, amount - bought);
    return true;
  }

  /** Expires overdue jobs, and then what is left of lots. */
  now(at_ms: number): void {
    this.#now_ms = at_ms;
    for (const job of this.jobs) {
      if (job.state !== "running" || job.deadline_ms > at_ms) continue;
      this.#settle(job, 0);
      job.state = "timed out";
    }
    for (const lot of this.#free) if (lot.expires_ms <= at_ms) this.#count("expired", lot, -1);
    this.#free = this.#free.filter(({ expires_ms }) => expires_ms > at_ms);
  }

  #settle(job: ModelJob, cost: number): void {
    const counted = job.state === "running" ? [] : [...job.units];
    this.#putBack(job.units.splice(cost));
    job.units.push(...this.#take(APP, cost - job.units.length));
    job.cost = cost;
    for (const lot of counted) this.#count("spent", lot, 1);
    for (const lot of job.units) this.#count("spent", lot, -1);
  }

  #count(figure: Figure, { bought }: ModelLot, credits: number): void {
    this.figures[figure][bought ? "bought" : "given"] += credits;
  }

  /** Counts `credits` given ones as spent, and as many bought ones as not spent. */
  #exchange(credits: 1 | -1): void {
    this.#count("spent", BOUGHT, credits);
    this.#count("spent", GIVEN, 0 - credits);
  }

  #lot(
    expires_ms: number,
    app: string | null,
    bought: boolean,
    returned_from: ModelLot | null = null,
  ): ModelLot {
    if (expires_ms === NEVER && app === null) return bought ? BOUGHT : GIVEN;
    return { expires_ms, app, bought, number: (this.#lots += 1), returned_from };
  }

  /** A running job holds a credit that a refund was to take: it is its holder's when it comes back. */
  #forgetLate(lot: ModelLot): void {
    for (const { state, units } of this.jobs) {
      const index = units.findIndex(({ returned_from }) => returned_from === lot);
      const held = units[index];
      if (state !== "running" || held === undefined) continue;
      units[index] = { ...held, returned_from: held };
      return;
    }
  }

  #usable(app: string | null): ModelLot[] {
    return this.#free.filter((lot) => lot.app === null || lot.app === app);
  }

  #bring(lot: ModelLot, amount: number): void {
    for (let left = amount; left > 0; left -= 1) {
      if (this.#debt > 0 && lot.app === null) {
        this.#debt -= 1;
        // A refund of a job counts by what its holder has after it.
        if (lot.bought && !this.#refunding) this.#exchange(-1);
      } else this.#free.push(lot);
    }
  }

  #take(app: string | null, amount: number): ModelLot[] {
    const taken = this.#inOrderOfUse(this.#usable(app)).slice(0, amount);
    for (const lot of taken) this.#free.splice(this.#free.indexOf(lot), 1);
    const missing = amount - taken.length;
    this.#debt += missing;
    return [...taken, ...Array.from({ length: missing }, () => GIVEN)];
  }

  #inOrderOfUse(units: readonly ModelLot[]): ModelLot[] {
    return units.toSorted((one, other) => {
      if (one.expires_ms !== other.expires_ms) return one.expires_ms < other.expires_ms ? -1 : 1;
      if ((one.app === null) !== (other.app === null)) return one.app === null ? 1 : -1;
      if (one.bought !== other.bought) return one.bought ? 1 : -1;
      return one.number === other.number ? 0 : one.number - other.number;
    });
  }

  /** Gives a credit to the base if it paid for one of this lot, whose money was returned. */
  #repaysBase(lot: ModelLot): boolean {
    const owed = this.#from_base.get(lot) ?? [];
    const paid = owed.includes(BOUGHT) ? BOUGHT : owed[0];
    if (paid === undefined) return false;
    owed.splice(owed.indexOf(paid), 1);
    if (!paid.bought && !this.#refunding) this.#exchange(-1);
    this.#bring(paid, 1);
    return true;
  }

  #putBack(units: readonly ModelLot[]): void {
    for (const lot of units.toReversed()) {
      if (this.#repaysBase(lot)) continue;
      const is_gone = lot.expires_ms <= this.#now_ms;
      const stays = !is_gone || lot.returned_from !== null;
      const until_ms = this.#now_ms + RETURNED_MS;
      this.#bring(stays ? lot : this.#lot(until_ms, lot.app, lot.bought, lot), 1);
    }
  }
}
