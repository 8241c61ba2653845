/** A model of a wallet and its jobs, written from the design and independent of the code. */

export interface ModelJob {
  readonly reserved: number;
  readonly deadline_ms: number;
  state: "running" | "done" | "refunded" | "kept" | "timed out";
  cost: number;
  refunded: number;
}

export class Model {
  credits = 0;
  readonly jobs: ModelJob[] = [];
  readonly purchases: { readonly credits: number; cents_back: number }[] = [];
  readonly #granted = new Set<string>();

  /** Returns whether this call granted credits. */
  wallet(app: string, starter_credits: number): boolean {
    if (this.#granted.has(app)) return false;
    this.#granted.add(app);
    this.credits += starter_credits;
    return true;
  }

  /** Returns the new balance. */
  adjust(amount: number): number {
    this.credits += amount;
    return this.credits;
  }

  /** Returns the index of the new purchase. */
  buy(credits: number): number {
    this.credits += credits;
    return this.purchases.push({ credits, cents_back: 0 }) - 1;
  }

  /** Sets the refunded total, of 300 cents. Returns false if the purchase does not exist. */
  refund(number: number, cents: number): boolean {
    const purchase = this.purchases[number];
    if (purchase === undefined) return false;
    const { credits, cents_back } = purchase;
    const taken = (back: number): number => Math.ceil((credits * back) / 300);
    purchase.cents_back = Math.max(cents_back, cents);
    this.credits -= taken(purchase.cents_back) - taken(cents_back);
    return true;
  }

  /** Returns the new job's index, or null if the balance is too low. */
  create(estimate: number, deadline_ms: number): number | null {
    if (this.credits < estimate) return null;
    this.credits -= estimate;
    return (
      this.jobs.push({ reserved: estimate, deadline_ms, state: "running", cost: 0, refunded: 0 }) -
      1
    );
  }

  complete(index: number, cost: number): boolean {
    const job = this.jobs[index];
    if (job?.state !== "running" && job?.state !== "timed out") return false;
    if (job.refunded > 0) return false;
    this.credits -= job.state === "running" ? cost - job.reserved : cost;
    Object.assign(job, { state: "done", cost });
    return true;
  }

  fail(index: number, refund: boolean): boolean {
    const job = this.jobs[index];
    if (job?.state !== "running") return false;
    if (refund) this.credits += job.reserved;
    Object.assign(job, refund ? { state: "refunded" } : { state: "kept", cost: job.reserved });
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
    this.credits += amount;
    return true;
  }

  /** Expires overdue jobs. */
  now(at_ms: number): void {
    for (const job of this.jobs) {
      if (job.state !== "running" || job.deadline_ms > at_ms) continue;
      this.credits += job.reserved;
      job.state = "timed out";
    }
  }
}
