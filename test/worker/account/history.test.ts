import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { signIn, type Answer, type SignedIn } from "../support/passbook.ts";
import { expectDeletion, expectInvariants } from "./invariants.ts";
import { DAY_MS } from "../../../src/domain/calendar.ts";
import { readMonthTotals, type MonthTotals } from "../../../src/readmodel/totals.ts";
import { Model } from "./model.ts";
import { findReadModel, loseReadModel } from "./sync/readmodel.ts";
import { dump, evict, fireAlarm, repeatAlarm } from "../support/account_object.ts";
import { histories } from "../support/histories.ts";

const STARTER_CREDITS = 100;

type Step =
  | { readonly do: "wallet"; readonly app: string }
  | { readonly do: "create"; readonly estimate: number; readonly ttl_seconds: number }
  | { readonly do: "complete"; readonly job: number; readonly cost: number }
  | { readonly do: "fail"; readonly job: number; readonly refund: boolean }
  | { readonly do: "give back"; readonly job: number; readonly amount: number | "rest" }
  | { readonly do: "adjust"; readonly amount: number }
  | {
      readonly do: "give";
      readonly amount: number;
      readonly seconds: number | null;
      readonly app: "one" | "two" | null;
      readonly bought: boolean;
    }
  | { readonly do: "buy"; readonly credits: number; readonly days: 1 | null }
  | { readonly do: "refund"; readonly purchase: number; readonly cents: number }
  | { readonly do: "retry" }
  | { readonly do: "wait"; readonly seconds: number }
  | { readonly do: "evict" }
  | { readonly do: "alarm" }
  | { readonly do: "alarm again" }
  | { readonly do: "lose D1" }
  | { readonly do: "find D1" };

/** An index counted from the newest job. An index past the oldest stands for an unknown job. */
const job = fc.nat({ max: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("wallet"), app: fc.constantFrom("one", "two", "three") }),
  fc.record({
    do: fc.constant("create"),
    estimate: fc.nat({ max: 120 }),
    ttl_seconds: fc.integer({ min: 60, max: 300 }),
  }),
  fc.record({
    do: fc.constant("create"),
    estimate: fc.nat({ max: 30 }),
    ttl_seconds: fc.constant(60),
  }),
  fc.record({ do: fc.constant("complete"), job, cost: fc.nat({ max: 60 }) }),
  fc.record({ do: fc.constant("fail"), job, refund: fc.boolean() }),
  fc.record({
    do: fc.constant("give back"),
    job,
    amount: fc.oneof(fc.constant<"rest">("rest"), fc.integer({ min: 0, max: 20 })),
  }),
  fc.record({ do: fc.constant("adjust"), amount: fc.constantFrom(-70, 5, 60) }),
  fc.record({
    do: fc.constant("give"),
    amount: fc.integer({ min: 1, max: 60 }),
    seconds: fc.constantFrom(null, 30, 100, 300, 700_000),
    app: fc.constantFrom("one", "two", null),
    bought: fc.boolean(),
  }),
  fc.record({
    do: fc.constant("buy"),
    credits: fc.integer({ min: 1, max: 50 }),
    days: fc.constantFrom(1, null, null),
  }),
  fc.record({ do: fc.constant("refund"), purchase: job, cents: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ do: fc.constant("retry") }),
  fc.record({ do: fc.constant("wait"), seconds: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ do: fc.constant("wait"), seconds: fc.constantFrom(86_400, 700_000) }),
  fc.record({ do: fc.constantFrom("evict", "alarm", "alarm again") }),
  fc.record({ do: fc.constantFrom("evict", "evict", "alarm", "lose D1", "find D1") }),
  fc.record({ do: fc.constant("evict") }),
);

/** Applies steps to the service and to the model, and compares them. */
class Play {
  readonly #model = new Model();
  readonly #job_ids: string[] = [];
  readonly #email: string;
  #person: SignedIn;
  #last_write: { path: string; body: object; key: string; answer: Answer } | null = null;
  #written_at_ms = 0;
  #keys = 0;

  constructor(email: string, person: SignedIn) {
    this.#email = email;
    this.#person = person;
  }

  async take(step: Step): Promise<void> {
    this.#model.now(Date.now());
    switch (step.do) {
      case "wallet": {
        const { body } = await this.#person.get(`/api/wallet?app=${step.app}`);
        expect(body.app_grant.granted).toBe(this.#model.wallet(step.app, STARTER_CREDITS));
        expect(body.account.credits).toBe(this.#model.credits);
        return;
      }
      case "create":
        return this.#create(step.estimate, step.ttl_seconds);
      case "complete": {
        const index = this.#model.jobs.length - 1 - step.job;
        const expected = this.#model.complete(index, step.cost);
        const body = { job_id: this.#jobId(index), actual_cost: step.cost };
        return this.#end("/api/jobs/complete", body, expected);
      }
      case "fail": {
        const index = this.#model.jobs.length - 1 - step.job;
        const expected = this.#model.fail(index, step.refund);
        const body = { job_id: this.#jobId(index), refund: step.refund };
        return this.#end("/api/jobs/fail", body, expected);
      }
      case "adjust": {
        const { amount } = step;
        const account = env.ACCOUNT.getByName(this.#person.identity_id);
        const answer = await account.adjustCredits(
          { amount, note: "why", allow_negative: true },
          null,
        );
        const credits = this.#model.adjust(amount);
        expect(answer).toMatchObject({ ok: true, value: { value: { credits } } });
        return;
      }
      case "give back":
        return this.#giveBack(this.#model.jobs.length - 1 - step.job, step.amount);
      case "buy":
        return this.#buy(step.credits, step.days);
      case "give":
        return this.#give(step);
      case "refund":
        return this.#refund(this.#model.purchases.length - 1 - step.purchase, step.cents);
      case "retry":
        return this.#retry();
      case "wait":
        vi.setSystemTime(Date.now() + step.seconds * 1000);
        // A session token is valid for 15 minutes.
        this.#person = await signIn(this.#email);
        // The model expires jobs and lots at each step; the account does when it is called.
        await this.#person.get("/api/jobs?limit=1");
        return this.#model.now(Date.now());
      case "evict":
        return evict(this.#person.identity_id);
      case "alarm":
        await fireAlarm(this.#person.identity_id);
        return;
      case "alarm again":
        return repeatAlarm(this.#person.identity_id);
      case "lose D1":
        return loseReadModel();
      case "find D1":
        return findReadModel();
    }
  }

  /** Expects that the service returns the model's jobs and balance. */
  async expectSame(): Promise<void> {
    this.#model.now(Date.now());
    const { body } = await this.#person.get("/api/jobs?limit=200");
    const shown = body.jobs.map((job: Record<string, unknown>) => [
      job["status"],
      job["failure"],
      job["reserved"],
      job["actual_cost"],
      job["refunded"],
    ]);
    const wire = {
      running: ["started", null],
      done: ["completed", null],
      refunded: ["failed", "reported"],
      kept: ["failed", "reported"],
      "timed out": ["failed", "expired"],
    } as const;
    expect(shown).toEqual(
      this.#model.jobs
        .map((it) => [...wire[it.state], it.reserved, it.cost, it.refunded])
        .toReversed(),
    );
    const started = await this.#person.get("/api/jobs?status=started&limit=200");
    expect(started.body.jobs).toEqual(
      body.jobs.filter((job: { status: string }) => job.status === "started"),
    );
    const { body: wallet } = await this.#person.get("/api/wallet?app=one");
    const { credits, bought, spendable, left } = this.#model;
    expect(wallet.account.credits).toBe(credits);
    expect(wallet.bought).toBe(bought);
    expect(wallet.spendable).toBe(spendable);
    expect(leftOf(wallet.lots)).toEqual(left);
  }

  /** Expects that the read model counted this account's credits since `before` as the model does. */
  async expectFigures(before: MonthTotals): Promise<void> {
    const { figures, owned } = this.#model;
    const { owed: _, ...after } = await readAllTotals();
    const counted = (Object.keys(after) as (keyof typeof after)[]).map((name) => {
      const bought = after[name].bought - before[name].bought;
      return [name, { bought, given: after[name].given - before[name].given }];
    });
    const nothing = { bought: 0, given: 0 };
    expect(Object.fromEntries(counted)).toEqual({ opening: nothing, ...figures, closing: owned });
  }

  /** Returns the id of a job, or an id that the service never issued. */
  #jobId(index: number): string {
    return this.#job_ids[index] ?? "018f0000-0000-7000-8000-000000000000";
  }

  async #create(estimate: number, ttl_seconds: number): Promise<void> {
    const body = { app: "one", action: "draw", cost_estimate: estimate, ttl_seconds };
    const index = this.#model.create(estimate, Date.now() + ttl_seconds * 1000);
    const answer = await this.#write("/api/jobs", body, index !== null);
    if (index === null) return expect(answer.status).toBe(402);
    expect(answer.body.credits).toBe(this.#model.credits);
    this.#job_ids[index] = answer.body.job_id;
  }

  async #end(path: string, body: object, expected: boolean): Promise<void> {
    const answer = await this.#write(path, body, expected);
    expect(answer.status).toBe(expected ? 200 : 400);
    if (expected) expect(answer.body.credits).toBe(this.#model.credits);
  }

  /** Refunds a job twice at the same time, and once more with the same key: only the first may give credits back. */
  async #giveBack(index: number, wanted: number | "rest"): Promise<void> {
    const amount = wanted === "rest" ? this.#model.costLeft(index) : wanted;
    const account = env.ACCOUNT.getByName(this.#person.identity_id);
    const guard = { key: `refund ${(this.#keys += 1)}`, fingerprint: "one" };
    const request = { job_id: this.#jobId(index), amount, note: "sorry" };
    const expected = this.#model.giveBack(index, amount);
    const { credits } = this.#model;
    const answers = await Promise.all([
      account.refundJob(request, guard),
      account.refundJob(request, guard),
    ]);
    if (!expected) return expect(answers.map(({ ok }) => ok)).toEqual([false, false]);
    expect(answers).toMatchObject([
      { ok: true, value: { replayed: false, value: { credits, entry: { amount } } } },
      { ok: true, value: { replayed: true, value: { credits, entry: { amount } } } },
    ]);
  }

  async #give({ amount, seconds, app, bought }: Extract<Step, { do: "give" }>): Promise<void> {
    const expires_at_ms = seconds === null ? null : Date.now() + seconds * 1000;
    const terms = { expires_at_ms, app_slugs: app === null ? null : [app], bought };
    const account = env.ACCOUNT.getByName(this.#person.identity_id);
    const answer = await account.adjustCredits({ amount, note: "why", terms }, null);
    const credits = this.#model.give(amount, expires_at_ms ?? Infinity, app, bought);
    expect(answer).toMatchObject({ ok: true, value: { value: { credits } } });
  }

  /** Records a purchase for 3.00 twice, as if the payment service repeated its webhook. */
  async #buy(credits: number, days: 1 | null): Promise<void> {
    const expiry = days === null ? undefined : Date.now() + days * DAY_MS;
    const number = this.#model.buy(credits, expiry);
    const purchase = {
      checkout_session_id: `cs_${number}`,
      payment_intent_id: `pi_${number}`,
      package_id: "some",
      package_name: "Some",
      credits,
      paid_minor: 300,
      currency: "eur",
      ...(days === null ? {} : { expires_after_days: days }),
    };
    const account = env.ACCOUNT.getByName(this.#person.identity_id);
    for (let time = 0; time < 2; time += 1) {
      expect(await account.recordPurchase(purchase)).toMatchObject({ ok: true });
    }
  }

  /** Reports the total refunded so far. A smaller total than before must change nothing. */
  async #refund(number: number, cents: number): Promise<void> {
    if (!this.#model.refund(number, cents)) return;
    const account = env.ACCOUNT.getByName(this.#person.identity_id);
    const reversal = {
      payment_intent_id: `pi_${number}`,
      source_id: `ch_${number}`,
      amount_minor: cents,
      state: "withheld",
    } as const;
    expect(await account.recordReversal(reversal)).toMatchObject({ ok: true });
  }

  /** Sends a write with a new idempotency key. If a refusal is expected, storage must not change. */
  async #write(path: string, body: object, expected: boolean): Promise<Answer> {
    const key = `key-${(this.#keys += 1)}`;
    // Expires overdue jobs first, so that the comparison of storage does not include their expiry.
    await this.#person.get("/api/jobs?limit=1");
    const before = await dump(this.#person.identity_id);
    const answer = await this.#person.post(path, body, { "Idempotency-Key": key });
    if (expected) {
      this.#last_write = { path, body, key, answer };
      this.#written_at_ms = Date.now();
    } else expect(await dump(this.#person.identity_id)).toBe(before);
    return answer;
  }

  async #retry(): Promise<void> {
    // Responses are kept for a day.
    if (this.#last_write === null || Date.now() - this.#written_at_ms >= DAY_MS) return;
    const { path, body, key, answer } = this.#last_write;
    const again = await this.#person.post(path, body, { "Idempotency-Key": key });
    expect(again.body).toEqual(answer.body);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
  }
}

/** The figures of month end as if all days were one month. */
const readAllTotals = (): Promise<MonthTotals> => readMonthTotals(env.DB, 0, 1_000_000);

/** What is left in lots as the model says it: lots with the same terms together. */
function leftOf(lots: readonly ShownLot[]): string[] {
  const names = lots
    .filter(({ left }) => left > 0)
    .map(({ expires_at, app_slugs, bought, left }) => {
      const expiry = expires_at === null ? Infinity : Date.parse(expires_at);
      return { name: `${expiry} ${app_slugs?.join() ?? null} ${bought}`, left };
    });
  return [...Map.groupBy(names, ({ name }) => name)]
    .map(([name, all]) => `${name}: ${all.reduce((sum, { left }) => sum + left, 0)}`)
    .toSorted();
}

interface ShownLot {
  readonly expires_at: string | null;
  readonly app_slugs: readonly string[] | null;
  readonly bought: boolean;
  readonly left: number;
}

describe("any history of an account", () => {
  it(
    "any history of an account matches the model, keeps every invariant, and reaches D1 whole",
    { tags: ["history"], timeout: 600_000 },
    async () => {
      let runs = 0;
      vi.spyOn(console, "warn").mockReturnValue();
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 40, size: "max" }),
          async (steps) => {
            vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
            const email = `player-${(runs += 1)}@example.com`;
            const player = await signIn(email);
            const play = new Play(email, player);
            const before = await readAllTotals();
            await play.take({ do: "wallet", app: "one" });
            for (const one of steps) await play.take(one);
            await play.expectSame();
            await findReadModel();
            await expectInvariants(player.identity_id);
            await play.expectFigures(before);
            await expectDeletion(player.identity_id);
            vi.useRealTimers();
          },
        ),
        { numRuns: histories(60) },
      );
    },
  );
});
