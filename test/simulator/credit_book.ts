/**
 * A second bookkeeping of an account's credits with terms, written from the contract and not from the code: the base in two
 * parts, lots, the parts that each job holds or costs, and the turns of plans. It reads entries, and takes over only the ids of
 * new lots. After each turn of the object its result is compared with the stored lots and jobs.
 */
import type { EntryRow, JobRow } from "../../src/account/sql/schema.ts";
import type { Sqlite } from "./platform/sqlite.ts";
import { must } from "./violation.ts";

/** Two machines' clocks differ by so much at most, and an entry is never earlier than the one before. */
const SKEW_MS = 70_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const RETURNED_MS = 7 * DAY_MS;
const LOTS_MAX = 100;

interface Part {
  readonly lot_id: string | null;
  readonly bought: boolean;
  readonly credits: number;
}

interface Terms {
  readonly expires_at_ms: number | null;
  readonly app_slugs: readonly string[] | null;
  readonly bought: boolean;
}

export interface LotBook extends Terms {
  readonly id: string;
  readonly origin: string;
  readonly line: number;
  came_in: number;
  left: number;
  held: number;
  /** What ended jobs cost, less what operators gave back. */
  spent: number;
  expired: number;
  taken_back: number;
  /** What went on into a lot of the next period. */
  rolled_over: number;
  /** What came back after its time, or paid what the account owed. */
  moved_on: number;
  /** The purchases whose credits came in, oldest first, less what was returned of them. */
  paid: Paid[];
}

/** Null: no purchase. */
interface Paid {
  readonly purchase: string | null;
  credits: number;
}

interface LotRow {
  readonly id: string;
  readonly origin: string;
  readonly bought: 0 | 1;
  readonly app_slugs_json: string | null;
  readonly credits: number;
  readonly credits_left: number;
  readonly credits_held: number;
  readonly expires_at_ms: number | null;
  readonly line: number;
  /** The payments for its credits; null: none. */
  readonly paid_json: string | null;
}

export interface RuleBook {
  readonly credits: number;
  readonly every: "day" | "week" | "month";
  readonly rollover_max: number;
  readonly app_slugs: readonly string[] | null;
  readonly anchor_ms: number;
  readonly from_ms: number;
  readonly until_ms: number;
  readonly lot_id: string | null;
  readonly rollover_lot_id: string | null;
}

interface PlanBook {
  readonly plan: string;
  readonly rules: readonly RuleBook[];
  readonly left: readonly { readonly plan: string; readonly rules: readonly RuleBook[] }[];
}

interface JobCredits {
  parts: Part[];
  refunded: number;
}

const NO_PLAN: PlanBook = { plan: "free", rules: [], left: [] };
const CHANGES_OF_PLAN = ["plan", "recurring", "rollover", "expire"];
const BRINGING = ["grant", "purchase", "adjustment", "recurring"];
const ORIGINS: Readonly<Record<string, string>> = {
  grant: "starter",
  purchase: "purchase",
  adjustment: "adjustment",
};

/** What a job's entry changed, and what the job has taken after it. */
export interface JobChange {
  readonly held: number;
  readonly taken: number;
  readonly is_held_after: boolean;
}

export class CreditBook {
  given = 0;
  bought = 0;
  #held_bought = 0;
  readonly lots = new Map<string, LotBook>();
  readonly #living = new Set<LotBook>();
  readonly #jobs = new Map<string, JobCredits>();
  readonly #lot_of_purchase = new Map<string, string | null>();
  /** What the base paid for the credits of purchases that came to a lot, because they were not left there. */
  readonly #from_base = new Map<string, { readonly given: number; readonly bought: number }>();
  /** By plan and position: when the period ends whose credits came last. */
  readonly #periods = new Map<string, number>();
  plan: PlanBook = NO_PLAN;
  #plan_after: PlanBook = NO_PLAN;
  #arrived = new Map<number, LotRow[]>();
  readonly #turned = new Set<RuleBook>();
  /** The lots, or null for the base, that have what rolled over, and whose entry `rollover` is still to come. */
  readonly #rolled_over: (string | null)[] = [];
  /** The lots that came in with the last entries. */
  readonly news: LotBook[] = [];

  /** Before the entries of a turn are applied. */
  begin(sqlite: Sqlite, entries: readonly EntryRow[]): void {
    this.news.length = 0;
    this.#turned.clear();
    const [first] = entries;
    if (first === undefined) return;
    this.#arrived = Map.groupBy(
      sqlite.all<LotRow>("select * from lots where line >= ? order by id", first.line),
      ({ line }) => line,
    );
    if (entries.some(({ kind }) => CHANGES_OF_PLAN.includes(kind))) {
      this.#plan_after = readPlan(sqlite);
    }
  }

  /** Applies one entry. `change`: of a job's entry. */
  apply(sqlite: Sqlite, entry: EntryRow, change: JobChange | null): void {
    const { kind, amount, job_id } = entry;
    if (job_id !== null && change !== null) this.#ofJob(entry, job_id, change);
    else if (kind === "expire") this.#expire(entry);
    else if (kind === "rollover") this.#rollOver(entry);
    else if (kind === "purchase_refund") this.#reverse(sqlite, entry);
    else if (amount < 0) this.#takeBack(0 - amount);
    else if (BRINGING.includes(kind)) this.#bring(sqlite, entry);
    this.#compareEntry(entry);
  }

  /** After the entries of a turn: compares everything with what is stored. */
  end(sqlite: Sqlite, entries: readonly EntryRow[]): void {
    if (entries.length === 0) return;
    must(this.#rolled_over.length === 0, "what rolls over has its entry", this.#rolled_over);
    for (const lot of this.#living) {
      if (lot.left === 0 && lot.held === 0) this.#living.delete(lot);
    }
    const rows = sqlite.all<LotRow>(
      "select * from lots where credits_left > 0 or credits_held > 0 order by id",
    );
    const stored = rows.map((row) => [
      row.id,
      row.origin,
      row.bought,
      row.app_slugs_json,
      row.credits,
      row.credits_left,
      row.credits_held,
      row.expires_at_ms,
      this.#paidOf(JSON.parse(row.paid_json ?? "[]")),
    ]);
    const expected = [...this.#living]
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .map((lot) => [
        lot.id,
        lot.origin,
        Number(lot.bought),
        jsonOf(lot.app_slugs),
        lot.came_in,
        lot.left,
        lot.held,
        lot.expires_at_ms,
        lot.bought ? lot.paid.map(({ purchase, credits }) => [purchase, credits]) : [],
      ]);
    must(isSame(stored, expected), "each lot has what the contract leaves and holds", {
      stored,
      expected,
      lines: entries.map(({ line }) => line),
    });
    for (const lines of this.#arrived.values()) {
      for (const { id } of lines) must(this.lots.has(id), "each lot came in with an entry", { id });
    }
    this.plan = this.#plan_after;
  }

  /** What a lot notes of its payments. Those of adjustments have other ids. */
  #paidOf(paid: readonly { readonly id: string; readonly credits: number }[]): unknown {
    return paid.map(({ id, credits }) => [this.#lot_of_purchase.has(id) ? id : null, credits]);
  }

  compareJob({ id, from_json, ...row }: JobRow): void {
    const { parts } = this.#jobs.get(id) ?? { parts: [] };
    const is_given = parts.every(({ lot_id, bought }) => lot_id === null && !bought);
    const expected = is_given ? null : JSON.stringify(parts);
    must(from_json === expected, "a job remembers where its credits came from", {
      id,
      from_json,
      expected,
      line: row.line,
    });
  }

  /** What is left in lots whose time is over, and the plan's turns that are over. */
  overdue(now_ms: number): object | null {
    for (const lot of this.#living) {
      if (lot.left > 0 && isOver(lot, now_ms)) return lot;
    }
    return this.plan.rules.find(({ until_ms }) => until_ms <= now_ms) ?? null;
  }

  /** The lots of a rule expire with its turn, also while the account sleeps. */
  isOfRule({ id }: LotBook): boolean {
    return this.plan.rules.some((it) => it.lot_id === id || it.rollover_lot_id === id);
  }

  get living(): ReadonlySet<LotBook> {
    return this.#living;
  }

  spendableIn(app_slug: string | null): number {
    return this.#usable(app_slug).reduce((sum, { left }) => sum + left, this.given + this.bought);
  }

  #ofJob(entry: EntryRow, job_id: string, { held, taken, is_held_after }: JobChange): void {
    const { kind, amount, app_slug } = entry;
    const job = this.#jobs.get(job_id) ?? { parts: [], refunded: 0 };
    this.#jobs.set(job_id, job);
    if (kind === "reserve") {
      const spendable = this.spendableIn(app_slug);
      must(held === 0 || spendable >= held, "what an app reserves is usable in it", {
        entry,
        spendable,
      });
      const more = this.#take(app_slug, held);
      this.#hold(more, 1);
      job.parts = joined([...job.parts, ...more]);
    } else if (kind === "refund") {
      const { kept, rest } = split(job.parts, sumOf(job.parts) + held);
      this.#hold(rest, -1);
      this.#putBack(rest, entry);
      // A job that ends without a cost gives back everything.
      job.parts = kept;
      must(is_held_after || kept.length === 0, "a job that costs nothing keeps nothing", entry);
    } else if (kind === "settle") {
      if (held !== 0) this.#hold(job.parts, -1);
      else this.#spend(job.parts, -1);
      const { kept, rest } = split(job.parts, taken);
      this.#putBack(rest, entry);
      const overage = this.#take(app_slug, taken - sumOf(kept));
      job.parts = joined([...kept, ...overage]);
      this.#spend(job.parts, 1);
    } else {
      must(kind === "job_refund", "a job has entries of known kinds", entry);
      const { kept } = split(job.parts, sumOf(job.parts) - job.refunded);
      const { rest } = split(kept, sumOf(kept) - amount);
      job.refunded += amount;
      this.#spend(rest, -1);
      this.#putBack(rest, entry);
    }
  }

  #bring(sqlite: Sqlite, entry: EntryRow): void {
    const { kind, amount } = entry;
    const terms = termsOf(entry);
    if (kind === "recurring") return this.#recur(entry, terms);
    const purchase = kind === "purchase" ? purchaseOf(sqlite, entry) : null;
    const lot = this.#bringIn(entry, ORIGINS[kind] ?? "", terms, amount, purchase);
    if (purchase === null) return;
    must(terms.bought, "a purchase brings bought credits", entry);
    this.#lot_of_purchase.set(purchase, lot?.id ?? null);
  }

  #recur(entry: EntryRow, terms: Terms): void {
    const { amount, at_ms } = entry;
    must(!terms.bought, "a plan gives credits", entry);
    const { plan, rules, left } = this.#plan_after;
    const scope = jsonOf(terms.app_slugs);
    const found = [{ plan, rules }, ...left].flatMap((it) =>
      it.rules.map((rule, position) => ({ rule, key: `${it.plan} ${position}` })),
    );
    // If there were too many lots, the entry has the terms of the one that the credits joined.
    const ofEntry = found.filter(({ rule }) => jsonOf(rule.app_slugs) === scope);
    const match =
      ofEntry.find(({ rule }) => rule.until_ms === terms.expires_at_ms) ??
      found.find(({ rule, key }) => (this.#periods.get(key) ?? 0) < rule.until_ms);
    must(match !== undefined, "credits of a plan come with a period of one of its rules", {
      entry,
      plan: this.#plan_after,
    });
    const { rule, key } = match;
    const until_ms = this.#periods.get(key) ?? 0;
    must(until_ms < rule.until_ms && until_ms <= at_ms, "a period brings its credits once", {
      entry,
      rule,
      until_ms,
    });
    must(
      rule.from_ms <= at_ms && rule.until_ms > at_ms - SKEW_MS,
      "credits come with the period that runs",
      { entry, rule },
    );
    this.#periods.set(key, rule.until_ms);
    const position = Number(key.split(" ")[1]);
    const is_of_plan = key.startsWith(`${this.plan.plan} `);
    const earlier = is_of_plan ? this.plan.rules[position] : undefined;
    const has_slept = earlier !== undefined && earlier.until_ms < rule.from_ms;
    // Newer rules may have arrived with the turn that the earlier ones made.
    const made = [rule, earlier]
      .flatMap((it) => it ?? [])
      .map(({ credits, rollover_max }) => ({
        credits,
        slept: has_slept ? Math.min(credits, rollover_max) : 0,
      }))
      .find(({ credits, slept }) => amount === credits + slept);
    must(made !== undefined, "a turn brings the credits of its rule", { entry, rule, earlier });
    const { credits, slept } = made;
    if (slept > 0) this.#bringIn(entry, "rollover", terms, slept);
    this.#bringIn(entry, "recurring", terms, credits);
  }

  #bringIn(
    entry: EntryRow,
    origin: string,
    terms: Terms,
    amount: number,
    purchase: string | null = null,
  ): LotBook | null {
    const credits = amount - (terms.app_slugs === null ? this.#pay(amount) : 0);
    const paid = [{ purchase, credits }];
    return credits === 0 ? null : this.#add(entry, origin, terms, credits, paid);
  }

  /** What credits for all apps pay of a base below zero. */
  #pay(amount: number): number {
    const paid = Math.min(amount, Math.max(0, 0 - this.given));
    this.given += paid;
    return paid;
  }

  #add(
    entry: EntryRow,
    origin: string,
    terms: Terms,
    amount: number,
    paid: Paid[] = [],
  ): LotBook | null {
    const { expires_at_ms, app_slugs, bought } = terms;
    if (expires_at_ms === null && app_slugs === null) return this.#addToBase(bought, amount);
    const living = [...this.#living].filter(({ left, held }) => left > 0 || held > 0);
    if (living.length >= LOTS_MAX) {
      const [nearest] = inOrder(
        living.filter(
          (it) =>
            it.bought === bought &&
            jsonOf(it.app_slugs) === jsonOf(app_slugs) &&
            expiryOf(it) >= expiryOf(terms),
        ),
      );
      if (nearest === undefined) return this.#addToBase(bought, amount);
      nearest.came_in += amount;
      nearest.left += amount;
      nearest.paid.push(...paid);
      return nearest;
    }
    const row = this.#adopt(entry, origin, terms);
    must(row !== undefined, "credits with terms are a lot", { entry, origin, terms, amount });
    const lot = {
      id: row.id,
      origin,
      line: entry.line,
      expires_at_ms: row.expires_at_ms,
      app_slugs,
      bought,
      came_in: amount,
      left: amount,
      held: 0,
      spent: 0,
      expired: 0,
      taken_back: 0,
      rolled_over: 0,
      moved_on: 0,
      paid,
    };
    this.lots.set(lot.id, lot);
    this.#living.add(lot);
    this.news.push(lot);
    return lot;
  }

  #addToBase(bought: boolean, amount: number): null {
    if (bought) this.bought += amount;
    else this.given += amount;
    return null;
  }

  /** The stored lot that came with this entry, which has an id. A lot `returned` is usable for seven days from now. */
  #adopt({ line, at_ms }: EntryRow, origin: string, terms: Terms): LotRow | undefined {
    return this.#arrived.get(line)?.find((row) => {
      const expires_ms = row.expires_at_ms ?? 0;
      const is_in_time =
        origin === "returned"
          ? expires_ms <= at_ms + RETURNED_MS && expires_ms >= at_ms + RETURNED_MS - SKEW_MS
          : row.expires_at_ms === terms.expires_at_ms;
      return (
        is_in_time &&
        row.origin === origin &&
        row.bought === Number(terms.bought) &&
        row.app_slugs_json === jsonOf(terms.app_slugs) &&
        !this.lots.has(row.id)
      );
    });
  }

  #usable(app_slug: string | null): LotBook[] {
    return [...this.#living].filter(
      ({ left, app_slugs }) =>
        left > 0 && (app_slugs === null || (app_slug !== null && app_slugs.includes(app_slug))),
    );
  }

  /** Expires first, then for this app, then given, then the oldest; then the base, which may go below zero. */
  #take(app_slug: string | null, amount: number): Part[] {
    const parts: Part[] = [];
    let wanted = amount;
    for (const lot of inOrder(this.#usable(app_slug))) {
      const credits = Math.min(wanted, lot.left);
      if (credits === 0) break;
      lot.left -= credits;
      wanted -= credits;
      parts.push({ lot_id: lot.id, bought: lot.bought, credits });
    }
    const of_given = Math.min(wanted, Math.max(0, this.given));
    const of_bought = Math.min(wanted - of_given, this.bought);
    this.given -= wanted - of_bought;
    this.bought -= of_bought;
    for (const [bought, credits] of [
      [false, of_given],
      [true, of_bought],
      [false, wanted - of_given - of_bought],
    ] as const) {
      if (credits > 0) parts.push({ lot_id: null, bought, credits });
    }
    return joined(parts);
  }

  #hold(parts: readonly Part[], sign: 1 | -1): void {
    for (const { lot_id, bought, credits } of parts) {
      if (bought) this.#held_bought += sign * credits;
      if (lot_id === null) continue;
      const lot = this.#lot(lot_id);
      lot.held += sign * credits;
      this.#living.add(lot);
    }
  }

  #spend(parts: readonly Part[], sign: 1 | -1): void {
    for (const { lot_id, credits } of parts) {
      if (lot_id !== null) this.#lot(lot_id).spent += sign * credits;
    }
  }

  /** Gives back, the last one first. What comes back after its time is usable for seven days, but only once. */
  #putBack(parts: readonly Part[], entry: EntryRow): void {
    const returned = new Map<string, LotBook | null>();
    for (const { lot_id, bought, credits } of parts.toReversed()) {
      const lot = lot_id === null ? null : this.#lot(lot_id);
      const repaid = lot === null ? 0 : this.#repayBase(lot, credits);
      const paid = (lot?.app_slugs ?? null) === null ? this.#pay(credits - repaid) : 0;
      const rest = credits - repaid - paid;
      if (lot !== null) lot.moved_on += paid;
      if (rest === 0) continue;
      if (lot === null) {
        this.#addToBase(bought, rest);
        continue;
      }
      const { app_slugs } = lot;
      const key = jsonOf([app_slugs, bought]);
      if (!this.#isGone(lot, entry, returned.has(key ?? ""))) {
        lot.left += rest;
        this.#living.add(lot);
        continue;
      }
      lot.moved_on += rest;
      const known = returned.get(key ?? "");
      const sources = newest(lot.paid, rest);
      if (known !== undefined && known !== null) {
        known.left += rest;
        known.came_in += rest;
        known.paid.push(...sources);
        continue;
      }
      const expires_at_ms = entry.at_ms + RETURNED_MS;
      returned.set(
        key ?? "",
        this.#add(entry, "returned", { expires_at_ms, app_slugs, bought }, rest, sources),
      );
    }
  }

  /** The base first gets back what it paid for credits of the lot, when their money was returned. */
  #repayBase(lot: LotBook, most: number): number {
    const isOwed = ({ purchase }: Paid): boolean => {
      if (purchase === null || this.#lot_of_purchase.get(purchase) !== lot.id) return false;
      const { given = 0, bought = 0 } = this.#from_base.get(purchase) ?? {};
      return given + bought > 0;
    };
    const purchase = lot.paid.find(isOwed)?.purchase ?? null;
    const owed = purchase === null ? undefined : this.#from_base.get(purchase);
    if (purchase === null || owed === undefined) return 0;
    const bought = Math.min(most, owed.bought);
    const given = Math.min(most - bought, owed.given);
    this.#from_base.set(purchase, { given: owed.given - given, bought: owed.bought - bought });
    this.#addToBase(true, bought - this.#pay(bought));
    this.#addToBase(false, given - this.#pay(given));
    lot.moved_on += bought + given;
    return bought + given;
  }

  /** Whether a lot's time is over for what comes back with this entry. So near to it, the stored lots say. */
  #isGone(lot: LotBook, entry: EntryRow, has_returned: boolean): boolean {
    const { origin, expires_at_ms, app_slugs, bought } = lot;
    if (origin === "returned" || expires_at_ms === null || expires_at_ms > entry.at_ms)
      return false;
    if (expires_at_ms <= entry.at_ms - SKEW_MS || has_returned) return true;
    return this.#adopt(entry, "returned", { expires_at_ms, app_slugs, bought }) !== undefined;
  }

  #expire(entry: EntryRow): void {
    const { lot_id, amount, at_ms } = entry;
    const lot = this.#lot(lot_id ?? "");
    const rule = this.#dueRules(entry).find(
      (it) => it.lot_id === lot_id || it.rollover_lot_id === lot_id,
    );
    if (rule !== undefined) return this.#turn(entry, rule);
    must(isOver(lot, at_ms), "only what is due expires", { entry, lot });
    must(amount === 0 - lot.left, "all that is left expires at once", { entry, lot });
    lot.expired += lot.left;
    lot.left = 0;
  }

  #dueRules({ at_ms }: EntryRow): RuleBook[] {
    return this.plan.rules.filter((it) => it.until_ms <= at_ms && !this.#turned.has(it));
  }

  /** The end of a rule's period: at most what the rule keeps goes on, once. */
  #turn(entry: EntryRow, rule: RuleBook): void {
    this.#turned.add(rule);
    const lot = this.#leftOf(rule.lot_id);
    const earlier = this.#leftOf(rule.rollover_lot_id);
    const left = lot?.left ?? 0;
    const goneIf = (keeps: number): number => left - Math.min(left, keeps) + (earlier?.left ?? 0);
    const fitting = keepsOf(rule, entry.at_ms).find((keeps) => goneIf(keeps) === 0 - entry.amount);
    must(fitting !== undefined, "a turn expires what does not roll over", {
      entry,
      rule,
      lot,
      earlier,
    });
    const kept = Math.min(left, fitting);
    if (earlier !== undefined) {
      earlier.expired += earlier.left;
      earlier.left = 0;
    }
    if (lot === undefined) return;
    lot.expired += left - kept;
    lot.rolled_over += kept;
    lot.left = 0;
    if (kept === 0) return;
    const terms = { ...lot, expires_at_ms: this.#expiryOfRollover(entry) };
    const next = this.#add(entry, "rollover", terms, kept);
    if (entry.kind === "expire") this.#rolled_over.push(next?.id ?? null);
  }

  /** The stored lot's, which must be the end of a rule's period. */
  #expiryOfRollover({ line }: EntryRow): number | null {
    const row = this.#arrived
      .get(line)
      ?.find((it) => it.origin === "rollover" && !this.lots.has(it.id));
    const { rules, left } = this.#plan_after;
    const ends = [...rules, ...left.flatMap((it) => it.rules)].map(({ until_ms }) => until_ms);
    if (row === undefined) return ends[0] ?? null;
    must(ends.includes(row.expires_at_ms ?? 0), "what rolls over expires with a period", row);
    return row.expires_at_ms;
  }

  #rollOver(entry: EntryRow): void {
    // Credits that expired with the turn had their entry before, and it moved these ones too.
    const at = this.#rolled_over.indexOf(entry.lot_id);
    if (at >= 0) return void this.#rolled_over.splice(at, 1);
    const rule = this.#dueRules(entry).find(({ lot_id, rollover_lot_id, rollover_max }) => {
      const left = this.#leftOf(lot_id)?.left ?? 0;
      return left > 0 && left <= rollover_max && this.#leftOf(rollover_lot_id) === undefined;
    });
    must(rule !== undefined, "only a turn rolls credits over", { entry, plan: this.plan });
    this.#turn(entry, rule);
  }

  #leftOf(id: string | null): LotBook | undefined {
    const lot = id === null ? undefined : this.lots.get(id);
    return lot !== undefined && lot.left > 0 ? lot : undefined;
  }

  /** An operator takes credits for all apps. */
  #takeBack(amount: number): void {
    for (const { lot_id, credits } of this.#take(null, amount)) {
      if (lot_id !== null) this.#lot(lot_id).taken_back += credits;
    }
  }

  /** A purchase's money was returned, or came back. */
  #reverse(sqlite: Sqlite, entry: EntryRow): void {
    const purchase = purchaseOf(sqlite, entry);
    const lot_id = this.#lot_of_purchase.get(purchase) ?? null;
    must(entry.lot_id === lot_id, "a refund takes the credits of its purchase", { entry, lot_id });
    const home = lot_id === null ? null : this.#lot(lot_id);
    if (entry.amount > 0) {
      if (home !== null) home.taken_back -= entry.amount;
      if (home !== null) lessen(home.paid, purchase, entry.amount * -1);
      return this.#putBack([{ lot_id, bought: true, credits: entry.amount }], entry);
    }
    const wanted = 0 - entry.amount;
    let rest = wanted;
    let [of_home, counted] = [wanted, wanted];
    const takeFrom = (lot: LotBook, most: number): number => {
      const credits = Math.max(0, Math.min(rest, lot.left, most));
      rest -= credits;
      lot.left -= credits;
      return credits;
    };
    const ofPurchase = (lot: LotBook, is_of: boolean): number =>
      sumOf(
        newest(lot.paid, lot.left + lot.held).filter(
          (one) => (one.purchase === purchase) === is_of,
        ),
      );
    for (const lot of inOrder([...this.#living])) {
      // What no other purchase brought is this one's, where it came to.
      if (lot === home) {
        takeFrom(home, home.left + home.held - ofPurchase(home, false));
        continue;
      }
      // A job gave some of it back after its time, and another one may hold it.
      const there = ofPurchase(lot, true);
      const credits = takeFrom(lot, there);
      lot.taken_back += credits;
      of_home -= credits;
      lessen(lot.paid, purchase, Math.min(counted, there));
      counted -= Math.min(counted, there);
    }
    if (home !== null) {
      home.taken_back += of_home;
      // The rest of it was spent, is held or has expired: the base pays for it.
      home.moved_on -= rest;
      lessen(home.paid, purchase, wanted);
    }
    const of_bought = Math.min(rest, this.bought);
    const of_given = Math.min(rest - of_bought, Math.max(0, this.given));
    const from_base = this.#from_base.get(purchase) ?? { given: 0, bought: 0 };
    this.#from_base.set(purchase, {
      given: from_base.given + of_given,
      // Also what the base did not have.
      bought: from_base.bought + rest - of_given,
    });
    this.bought -= of_bought;
    this.given -= rest - of_bought;
  }

  #lot(id: string): LotBook {
    const lot = this.lots.get(id);
    must(lot !== undefined, "an entry and a job name known lots", { id });
    return lot;
  }

  #compareEntry(entry: EntryRow): void {
    let [left, bought, scoped] = [0, this.bought, 0];
    for (const lot of this.#living) {
      left += lot.left;
      if (lot.bought) bought += lot.left;
      if (lot.app_slugs !== null) scoped += lot.left;
      const gone = lot.spent + lot.expired + lot.taken_back + lot.rolled_over + lot.moved_on;
      must(
        lot.came_in === lot.left + lot.held + gone && lot.left >= 0 && lot.held >= 0,
        "every credit of a lot is left, held, spent, expired, taken back or moved on",
        { entry, lot },
      );
    }
    const { balance_after, bought_after, reserved_bought_after, scoped_json } = entry;
    const base = { given: this.given, bought: this.bought };
    must(balance_after === this.given + this.bought + left, "the balance is the base and lots", {
      entry,
      base,
      left,
    });
    must(this.given >= 0 || this.bought === 0, "an account that owes has no bought base", base);
    must(bought_after === bought, "the bought part is counted", { entry, bought, base });
    must(reserved_bought_after === this.#held_bought, "the bought part that is held is counted", {
      entry,
      held_bought: this.#held_bought,
    });
    const noted = JSON.parse(scoped_json ?? "[]") as { readonly left: number }[];
    const noted_left = noted.reduce((sum, it) => sum + it.left, 0);
    must(noted_left === scoped, "an entry notes what is left for some apps only", {
      entry,
      scoped,
    });
  }
}

/** The credits that a rule may keep at a turn at this time: none if more than one period is over. */
function keepsOf(rule: RuleBook, at_ms: number): readonly number[] {
  const next_ms = periodEndAfter(rule);
  if (next_ms > at_ms) return [rule.rollover_max];
  return next_ms <= at_ms - SKEW_MS ? [0] : [rule.rollover_max, 0];
}

/** The end of the period after the one that ends: counted from the anchor, on a month's last day if it is shorter. */
function periodEndAfter({ anchor_ms, every, until_ms }: RuleBook): number {
  if (every !== "month") return until_ms + (every === "day" ? DAY_MS : 7 * DAY_MS);
  const anchor = new Date(anchor_ms);
  const until = new Date(until_ms);
  const next = new Date(until_ms);
  next.setUTCDate(1);
  next.setUTCMonth(until.getUTCMonth() + 1);
  const last_day = new Date(
    Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0),
  ).getUTCDate();
  next.setUTCDate(Math.min(anchor.getUTCDate(), last_day));
  return next.getTime();
}

function readPlan(sqlite: Sqlite): PlanBook {
  const [row] = sqlite.all<{ plan: string; plan_json: string | null }>(
    "select plan, plan_json from account",
  );
  if (row === undefined || row.plan_json === null) return { ...NO_PLAN, plan: row?.plan ?? "free" };
  const { rules, left } = JSON.parse(row.plan_json) as Omit<PlanBook, "plan">;
  return { plan: row.plan, rules, left };
}

function purchaseOf(sqlite: Sqlite, { line }: EntryRow): string {
  const [row] = sqlite.all<{ checkout_session_id: string }>(
    "select checkout_session_id from purchase_entries where line = ?",
    line,
  );
  must(row !== undefined, "an entry of money names its purchase", { line });
  return row.checkout_session_id;
}

function termsOf({ terms_json }: EntryRow): Terms {
  if (terms_json !== null) return JSON.parse(terms_json) as Terms;
  return { expires_at_ms: null, app_slugs: null, bought: false };
}

function isOver({ expires_at_ms }: Terms, now_ms: number): boolean {
  return expires_at_ms !== null && expires_at_ms <= now_ms;
}

function expiryOf({ expires_at_ms }: Pick<Terms, "expires_at_ms">): number {
  return expires_at_ms ?? Number.MAX_SAFE_INTEGER;
}

function inOrder(lots: readonly LotBook[]): readonly LotBook[] {
  const rank = (lot: LotBook): readonly (number | string)[] => [
    expiryOf(lot),
    lot.app_slugs === null ? 1 : 0,
    lot.bought ? 1 : 0,
    lot.line,
    lot.id,
  ];
  return lots
    .map((lot) => ({ lot, rank: rank(lot) }))
    .toSorted((one, other) => {
      const at = one.rank.findIndex((it, index) => it !== other.rank[index]);
      return at < 0 ? 0 : (one.rank[at] ?? 0) < (other.rank[at] ?? 0) ? -1 : 1;
    })
    .map(({ lot }) => lot);
}

/** The newest `credits` of what came to a lot, oldest first: fewer, if fewer came. */
function newest(paid: readonly Paid[], credits: number): Paid[] {
  const found: Paid[] = [];
  let wanted = credits;
  for (const one of paid.toReversed()) {
    const taken = Math.min(wanted, Math.max(0, one.credits));
    wanted -= taken;
    if (taken > 0) found.unshift({ ...one, credits: taken });
  }
  return found;
}

/** A purchase brought fewer credits, its newest ones first. Less than none if it paid a debt too. */
function lessen(paid: readonly Paid[], purchase: string, credits: number): void {
  let rest = credits;
  const of_it = paid.filter((one) => one.purchase === purchase);
  for (const one of of_it.toReversed()) {
    const less = one === of_it[0] ? rest : Math.min(rest, Math.max(0, one.credits));
    one.credits -= less;
    rest -= less;
  }
}

function sumOf(parts: readonly { readonly credits: number }[]): number {
  return parts.reduce((sum, { credits }) => sum + credits, 0);
}

function split(parts: readonly Part[], amount: number): { kept: Part[]; rest: Part[] } {
  const kept: Part[] = [];
  const rest: Part[] = [];
  let wanted = amount;
  for (const part of parts) {
    const credits = Math.min(wanted, part.credits);
    wanted -= credits;
    if (credits > 0) kept.push({ ...part, credits });
    if (credits < part.credits) rest.push({ ...part, credits: part.credits - credits });
  }
  return { kept, rest };
}

function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (last !== undefined && last.lot_id === part.lot_id && last.bought === part.bought) {
      all[all.length - 1] = { ...last, credits: last.credits + part.credits };
    } else all.push(part);
  }
  return all;
}

function jsonOf(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
