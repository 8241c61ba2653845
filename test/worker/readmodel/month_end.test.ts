/**
 * Every figure of month end equals a recount from the ledgers of many accounts with random histories, while deliveries to
 * D1 are lost and repeated, an account is rebuilt, and D1 is emptied once.
 */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { DAY_MS, monthOf, utcDayOf, type Month } from "../../../src/domain/calendar.ts";
import { SERVICE } from "../../../src/account/contract.ts";
import { signInOperator } from "../http/api/admin/operators.ts";
import { evict, query, readContents, repeatAlarm } from "../support/account_object.ts";
import { addLiability, type Liability } from "./liability_model.ts";
import { addAccount, type Totals } from "./totals_model.ts";

const ACCOUNTS = 100;
const STEPS = 6_000;
/** The first accounts are deleted at the end. */
const DELETED = 10;
/** The history spans about three months. */
const DAYS = 80;
/** In the future, so that no alarm fires by itself, and before the days of other such tests. */
const START_MS = (utcDayOf(Date.now()) + 5_000) * DAY_MS;
const APPS = ["atelier", "sketch", "tune"];
const HOLDER = { kind: "holder" } as const;
const STATES = ["inquiry", "withheld", "lost", "reinstated"] as const;

type Mood = "well" | "twice" | "fails before" | "fails after";

interface Bought {
  readonly account: number;
  readonly package_id: string;
  readonly currency: string;
  readonly paid_minor: number;
  is_known: boolean;
  readonly back: Map<string, { amount: number; state: number }>;
}

interface Money {
  readonly day: number;
  readonly package: string | null;
  readonly currency: string;
  readonly purchases: number;
  readonly amount_minor: number;
  readonly refunded_minor: number;
}

/** Makes D1 lose batches, before or after it has run them, or run them twice. */
function moodOfBatches(): { mood: Mood } {
  const state = { mood: "well" as Mood };
  const database = Object.getPrototypeOf(env.DB);
  const { batch } = database;
  const faulty = async function (this: unknown, statements: unknown): Promise<unknown> {
    const { mood } = state;
    if (mood === "fails before") throw new Error("D1_ERROR: out of reach");
    const answer: unknown = await Reflect.apply(batch, this, [statements]);
    if (mood === "fails after") throw new Error("D1_ERROR: no answer");
    if (mood === "twice") await Reflect.apply(batch, this, [statements]);
    return answer;
  };
  vi.spyOn(database, "batch").mockImplementation(faulty as never);
  return state;
}

class History {
  readonly #random: () => number;
  readonly #d1 = moodOfBatches();
  readonly #jobs = new Map<number, string[]>();
  readonly #bought: Bought[] = [];
  readonly money: Money[] = [];
  /** What was paid for the bought credits at the end of each month, by its name. */
  readonly closings = new Map<string, Liability>();

  constructor(seed: number) {
    let state = seed;
    this.#random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[this.#below(values.length)] ?? expect.fail("nothing to pick from");
  }

  identity = (account: number): string => `user_month_end_${account}`;

  #object(account: number) {
    return env.ACCOUNT.getByName(this.identity(account));
  }

  async live(): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) {
      const { name } = monthOf(Date.now());
      vi.setSystemTime(START_MS + (step / STEPS) * DAYS * DAY_MS);
      if (monthOf(Date.now()).name !== name) this.closings.set(name, await this.liabilityFrom(0));
      const account = this.#below(ACCOUNTS);
      await this.#step(account);
      if (step === Math.floor(STEPS / 2)) await this.#rebuild();
    }
    this.#d1.mood = "well";
    for (let account = 0; account < ACCOUNTS; account += 1) {
      // The second one finishes what the first one may leave.
      await this.#object(account).repair();
      await repeatAlarm(this.identity(account));
    }
    this.closings.set(monthOf(Date.now()).name, await this.liabilityFrom(0));
  }

  /** What was paid for the bought credits of the accounts from this one on, now. */
  async liabilityFrom(first: number): Promise<Liability> {
    const sums: Liability = new Map();
    for (let account = first; account < ACCOUNTS; account += 1) {
      await addLiability(this.identity(account), sums);
    }
    return sums;
  }

  async #step(account: number): Promise<void> {
    const it_ = this.#object(account);
    const metadata_json = null;
    const job_id = this.#pick(this.#jobs.get(account) ?? ["unknown"]);
    switch (this.#below(14)) {
      case 0:
        await it_.wallet(HOLDER, { app: { slug: this.#pick(APPS), starter_credits: 100 } });
        return;
      case 1:
      case 2:
      case 3:
      case 4:
        return this.#create(account);
      case 5:
      case 6: {
        const request = { job_id, actual_cost: this.#below(30), metadata_json };
        await it_.completeJob(HOLDER, request, null);
        return;
      }
      case 7: {
        const request = { job_id, refund: this.#below(2) === 0, reason: null, metadata_json };
        await it_.failJob(HOLDER, request, null);
        return;
      }
      case 8: {
        const amount = this.#below(10);
        await it_.refundJob({ job_id, amount, note: "sorry" }, null);
        return;
      }
      case 9: {
        const amount = this.#pick([-40, -5, 7, 60]);
        const days = this.#pick([0, 0, 1, 20]);
        const terms = {
          expires_at_ms: days === 0 ? null : Date.now() + days * DAY_MS,
          app_slugs: this.#below(3) === 0 ? APPS : null,
          bought: this.#below(2) === 0,
        };
        const price = { paid_minor: this.#pick([1, 1_000]), currency: this.#pick(["eur", "usd"]) };
        const is_priced = amount > 0 && terms.bought && this.#below(2) === 0;
        const given = { terms, ...(is_priced ? { price } : {}) };
        const request = { amount, note: "why", allow_negative: true };
        await it_.adjustCredits(amount < 0 ? request : { ...request, ...given }, null);
        if (is_priced) {
          const { paid_minor: amount_minor, currency } = price;
          const paid = { purchases: 1, amount_minor, refunded_minor: 0 };
          this.#note({ package_id: null, currency }, paid);
        }
        return;
      }
      case 10:
        return this.#buy(account);
      case 11:
        return this.#payBack();
      case 12:
        this.#d1.mood = this.#pick<Mood>(["well", "twice", "fails before", "fails after"]);
        return;
      default:
        await (this.#below(2) === 0 ? evict : repeatAlarm)(this.identity(account));
    }
  }

  async #create(account: number): Promise<void> {
    const on_expiry = this.#pick(["refund", "charge"] as const);
    const request = {
      app_slug: this.#pick(APPS),
      policy: { ...DEFAULT_POLICY, on_expiry },
      action: "draw",
      cost_estimate: this.#below(20),
      ttl_seconds: this.#pick([60, 86_400 * 5]),
      metadata_json: null,
    };
    const created = await this.#object(account).createJob(HOLDER, request, null);
    if (!created.ok) return;
    const jobs = this.#jobs.get(account) ?? [];
    this.#jobs.set(account, [created.value.value.job_id, ...jobs].slice(0, 3));
  }

  async #buy(account: number): Promise<void> {
    const package_id = this.#pick(["small", "large"]);
    const currency = this.#pick(["eur", "jpy"]);
    const paid_minor = this.#pick([1, 300, 999]);
    const bought = { account, package_id, currency, paid_minor, is_known: true, back: new Map() };
    const number = this.#bought.push(bought) - 1;
    // Some refunds arrive before their purchase.
    if (this.#below(4) === 0) {
      bought.is_known = false;
      await this.#report(number);
      bought.is_known = true;
    }
    const purchase = {
      checkout_session_id: `cs_${number}`,
      payment_intent_id: `pi_${number}`,
      package_id,
      package_name: package_id,
      credits: this.#pick([1, 40, 100]),
      paid_minor,
      currency,
      ...(package_id === "small" ? { expires_after_days: 30 } : {}),
    };
    for (let time = 0; time < 2; time += 1) {
      expect((await this.#object(account).recordPurchase(purchase)).ok).toBe(true);
    }
    this.#note(bought, { purchases: 1, amount_minor: paid_minor, refunded_minor: back(bought) });
  }

  async #payBack(): Promise<void> {
    if (this.#bought.length === 0) return;
    const number = this.#below(this.#bought.length);
    await this.#report(number);
  }

  /** Reports a refund or dispute twice, as the payment service may. */
  async #report(number: number): Promise<void> {
    const bought = this.#bought[number] ?? expect.fail("no such purchase");
    const source_id = this.#pick(["re_1", "re_2", "dp_1"]);
    const amount = 1 + this.#below(400);
    const state = this.#below(STATES.length);
    const before = back(bought);
    const known = bought.back.get(source_id) ?? { amount: 0, state: 0 };
    bought.back.set(source_id, {
      amount: Math.max(known.amount, amount),
      state: Math.max(known.state, state),
    });
    const reversal = { payment_intent_id: `pi_${number}`, source_id, amount_minor: amount };
    for (let time = 0; time < 2; time += 1) {
      const reported = { ...reversal, state: STATES[state] ?? "inquiry" };
      expect((await this.#object(bought.account).recordReversal(reported)).ok).toBe(true);
    }
    if (!bought.is_known) return;
    const refunded_minor = back(bought) - before;
    // A report that moves no money has no entry.
    if (refunded_minor !== 0) this.#note(bought, { purchases: 0, amount_minor: 0, refunded_minor });
  }

  #note(
    { package_id, currency }: { readonly package_id: string | null; readonly currency: string },
    money: Omit<Money, "day" | "package" | "currency">,
  ): void {
    this.money.push({ day: utcDayOf(Date.now()), package: package_id, currency, ...money });
  }

  /** Sends one account again, and loses everything that D1 has. */
  async #rebuild(): Promise<void> {
    this.#d1.mood = "well";
    await this.#object(3).rebuild();
    const totals = ["daily_totals", "daily_revenue", "daily_owed", "account_days"];
    const tables = ["accounts", "grants", "jobs", ...totals];
    await env.DB.batch(tables.map((table) => env.DB.prepare(`delete from ${table}`)));
  }
}

/** The money of a purchase that was returned. */
function back({ paid_minor, back: reversals }: Bought): number {
  const gone = [...reversals.values()].filter(({ state }) => state === 1 || state === 2);
  const sum = gone.reduce((total, { amount }) => total + amount, 0);
  return Math.min(paid_minor, sum);
}

/** Adds up the fields of rows with the same key. */
function sumBy<Row extends object>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  fields: readonly (keyof Row)[],
): Record<string, number[]> {
  const sums: Record<string, number[]> = {};
  for (const row of rows) {
    const sum = (sums[keyOf(row)] ??= fields.map(() => 0));
    fields.forEach((field, at) => (sum[at] = (sum[at] ?? 0) + Number(row[field] ?? 0)));
  }
  return sums;
}

const CHANGES = {
  grant: "granted",
  purchase: "purchased",
  adjustment: "adjusted",
  job_refund: "job_refunded",
  purchase_refund: "taken_back",
  expire: "expired",
} as const;

/** The figure that an entry of a kind adds its amount to. */
function figureOf(kind: string): (typeof CHANGES)[keyof typeof CHANGES] | "spent" {
  return kind in CHANGES ? CHANGES[kind as keyof typeof CHANGES] : "spent";
}

const nothing = () => ({ bought: 0, given: 0 });

type Ledger = Awaited<ReturnType<typeof readContents>>["entries"];

/** The figures of a month, recounted from the ledgers. */
function recount(ledgers: readonly Ledger[], { name, from_ms, to_ms }: Month) {
  const month = {
    month: name,
    opening: nothing(),
    granted: nothing(),
    purchased: nothing(),
    adjusted: nothing(),
    spent: nothing(),
    job_refunded: nothing(),
    expired: nothing(),
    taken_back: nothing(),
    forfeited: nothing(),
    closing: nothing(),
  };
  for (const ledger of ledgers) {
    let owned = nothing();
    for (const entry of ledger) {
      const { at_ms, kind, amount, terms_json } = entry;
      const now = ownedAfter(entry);
      const change = { bought: now.bought - owned.bought, given: now.given - owned.given };
      owned = now;
      const add = (figure: Exclude<keyof typeof month, "month">, bought: number, given: number) => {
        month[figure].bought += bought;
        month[figure].given += given;
      };
      if (at_ms < from_ms) add("opening", change.bought, change.given);
      if (at_ms < to_ms) add("closing", change.bought, change.given);
      if (at_ms < from_ms || at_ms >= to_ms) continue;
      const figure = figureOf(kind);
      if (figure !== "spent") expect(change.bought + change.given).toBe(amount);
      // What was sold or given as bought counts so, although it may pay what the account spent before.
      const is_bought =
        kind.startsWith("purchase") || (terms_json !== null && JSON.parse(terms_json).bought);
      const own = is_bought ? amount : change.bought;
      if (figure === "spent") add("spent", change.bought, change.given);
      else {
        add(figure, own, amount - own);
        add("spent", change.bought - own, own - change.bought);
      }
    }
  }
  return month;
}

/** The credits of an account after an entry, with those that jobs hold. */
function ownedAfter(entry: Ledger[number]): { bought: number; given: number } {
  const bought = entry.bought_after + entry.reserved_bought_after;
  return { bought, given: entry.balance_after + entry.reserved_after - bought };
}

/** Expects the amounts to be the exact ones, rounded once for each currency, and the credits without a price to come last. */
function expectLiability(
  which: object,
  rows: readonly { currency: string | null; credits: number; amount_minor: number | null }[],
  expected: Liability,
): void {
  const rounded = [...expected]
    .filter(([, { credits }]) => credits > 0)
    .map(([currency, { credits, numerator, denominator }]) => {
      const amount_minor = Number((2n * numerator + denominator) / (2n * denominator));
      return currency === ""
        ? { currency: null, credits, amount_minor: null }
        : { currency, credits, amount_minor };
    })
    .toSorted((a, b) => ((a.currency ?? "~") < (b.currency ?? "~") ? -1 : 1));
  expect({ ...which, rows }).toEqual({ ...which, rows: rounded });
}

const BY_APP = ["granted", "settled", "refunded", "job_refunded"] as const;
const REVENUE = ["purchases", "amount_minor", "refunded_minor"] as const;
const nameOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

it(
  `every figure of month end equals a recount from the ledgers of ${ACCOUNTS} accounts with random histories`,
  { tags: ["slow"], timeout: 600_000 },
  async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    vi.useFakeTimers({ toFake: ["Date"], now: START_MS });
    const [seed = 0] = fc.sample(fc.nat(), 1);
    const history = new History(seed);
    await history.live();
    const totals: Totals = new Map();
    const holdings: Record<string, unknown> = {};
    const ledgers: Ledger[] = [];
    const outstanding = { credits: 0, held: 0, accounts: 0 };
    for (let account = 0; account < ACCOUNTS; account += 1) {
      const identity_id = history.identity(account);
      const has_tables = await query(
        identity_id,
        "select 1 from sqlite_master where name = 'jobs'",
      );
      if (has_tables.length === 0) {
        ledgers.push([]);
        continue;
      }
      const { entries, jobs } = await readContents(identity_id);
      addAccount(totals, identity_id, entries, jobs);
      ledgers.push(entries);
      const { balance_after: credits = 0, reserved_after: held = 0 } = entries.at(-1) ?? {};
      expect(credits).toBe(entries.reduce((sum, { amount }) => sum + amount, 0));
      if (credits === 0 && held === 0) continue;
      outstanding.credits += credits;
      outstanding.held += held;
      outstanding.accounts += 1;
      holdings[identity_id] = [credits, held];
    }
    expect(outstanding.accounts).toBeGreaterThan(ACCOUNTS / 2);

    const olga = await signInOperator();
    const first = utcDayOf(START_MS);
    const end = first + DAYS + 1;
    for (const [from, to] of [
      [first, end],
      [first, first + 30],
      [first + 30, first + 61],
      [first + 61, end],
      [first + 17, first + 18],
    ] as const) {
      const period = `from=${nameOf(from)}&to=${nameOf(to)}`;
      const { body } = await olga.get(`/api/admin/money?${period}`);
      const days = [...totals]
        .map(([key, sums]) => ({ day: key.slice(0, 10), app: key.slice(11), ...sums }))
        .filter(({ app, day }) => app !== "*" && day >= nameOf(from) && day < nameOf(to));
      const appOf = ({ app }: { app: string }) => app;
      expect({ seed, by_app: sumBy(body.by_app, appOf, BY_APP as never) }).toEqual({
        seed,
        by_app: sumBy(days, appOf, BY_APP),
      });
      const paid = history.money.filter(({ day }) => day >= from && day < to);
      const lotOf = (row: { package: string | null; currency: string }) =>
        `${row.package} ${row.currency}`;
      expect({ seed, revenue: sumBy(body.revenue, lotOf, REVENUE as never) }).toEqual({
        seed,
        revenue: sumBy(paid, lotOf, REVENUE),
      });
      expect({ seed, outstanding: body.outstanding }).toEqual({ seed, outstanding });
    }
    const csv = await olga.send("GET", "/api/admin/money?list=accounts", undefined, {
      Accept: "text/csv",
    });
    const listed = csv.text.trimEnd().split("\r\n").slice(1);
    expect(
      Object.fromEntries(
        listed.map((line) => {
          const [identity_id = "", credits, held] = line.replaceAll('"', "").split(",");
          return [identity_id, [Number(credits), Number(held)]];
        }),
      ),
    ).toEqual(holdings);

    const readMonthEnd = async (name: string) => {
      const { as_of: _, ...figures } = (await olga.get(`/api/admin/money?month=${name}`)).body;
      return figures;
    };
    for (let month = monthOf(START_MS); month.from_ms < Date.now(); month = monthOf(month.to_ms)) {
      const { liability, ...figures } = await readMonthEnd(month.name);
      expect({ seed, ...figures }).toEqual({ seed, ...recount(ledgers, month) });
      const { name } = month;
      expectLiability({ seed, name }, liability, history.closings.get(name) ?? expect.fail(name));
      expect(sumBy(liability, () => "all", ["credits"] as never)).toEqual({
        all: [figures.closing.bought],
      });
    }
    const before = await readMonthEnd(monthOf(Date.now()).name);
    for (let account = 0; account < DELETED; account += 1) {
      await env.ACCOUNT.getByName(history.identity(account)).deleteAccount(SERVICE);
      for (let alarms = 0; alarms < 4; alarms += 1) await repeatAlarm(history.identity(account));
    }
    const after = await readMonthEnd(monthOf(Date.now()).name);
    const left = (await olga.get("/api/admin/money")).body.outstanding;
    const { bought, given } = after.closing;
    expect({ seed, closing: bought + given }).toEqual({ seed, closing: left.credits + left.held });
    const remaining = nothing();
    for (const entry of ledgers.slice(DELETED).flatMap((ledger) => ledger.slice(-1))) {
      const owned = ownedAfter(entry);
      remaining.bought += owned.bought;
      remaining.given += owned.given;
    }
    expect({ seed, closing: after.closing }).toEqual({ seed, closing: remaining });
    // The end of a job gives credits back to its lots, and what a lot gets after its time expires at once.
    const goneOf = (part: "bought" | "given"): number =>
      (["forfeited", "spent", "expired"] as const).reduce(
        (gone, figure) => gone + after[figure][part] - before[figure][part],
        0,
      );
    expect([goneOf("bought"), goneOf("given")]).not.toContain(0);
    const remaining_liability = await history.liabilityFrom(DELETED);
    expectLiability({ seed, name: "after deletions" }, after.liability, remaining_liability);
    expect({ seed, ...after }).toEqual({
      seed,
      ...before,
      liability: after.liability,
      spent: after.spent,
      expired: after.expired,
      forfeited: after.forfeited,
      closing: {
        bought: before.closing.bought + goneOf("bought"),
        given: before.closing.given + goneOf("given"),
      },
    });
    const [head, row] = (
      await olga.send("GET", `/api/admin/money?month=${after.month}&list=month`, undefined, {
        Accept: "text/csv",
      })
    ).text.split("\r\n");
    const { month, liability, ...figures } = after;
    const cells = Object.entries(figures as Record<string, object>).flatMap(([name, parts]) =>
      Object.entries(parts).map(([part, credits]) => [`"${name}_${part}"`, credits as unknown]),
    );
    for (const { currency, credits, amount_minor } of liability) {
      cells.push([`"liability_${currency ?? "unpriced"}_credits"`, credits]);
      if (currency !== null) cells.push([`"liability_${currency}_minor"`, amount_minor]);
    }
    expect([head, row]).toEqual([
      ['"month"', ...cells.map(([name]) => name)].join(","),
      [`"${month}"`, ...cells.map(([, credits]) => credits)].join(","),
    ]);
  },
);
