/**
 * Stripe, as far as automatic top-up needs it: it charges a saved card once for each key, declines, requires the person, answers
 * late or not at all, and sends an event for each charge: before its response, after it, twice or never. It checks what no
 * account can see by itself: that a top-up is charged once, and that a month's limit is never passed.
 */
import { monthOf } from "../../src/domain/calendar.ts";
import type { CardCharges, Charge, ChargeFailure, ChargeResult } from "../../src/domain/top_up.ts";
import type { Kernel } from "./platform/kernel.ts";
import type { Random } from "./platform/random.ts";
import { must } from "./violation.ts";

export interface StripeFaults {
  is_down: boolean;
  /** The card is declined. */
  declining: number;
  /** The bank requires the person. */
  asking: number;
  /** A request does not arrive, or arrives only after its sender gave up. */
  lost: number;
  /** A response does not arrive. */
  silent: number;
}

/** One payment at Stripe. */
export interface Payment {
  readonly id: string;
  readonly charge: Charge;
  readonly failure: ChargeFailure | null;
  readonly at_ms: number;
}

interface Service {
  /** Receives an event. */
  readonly report: (payment: Payment) => void;
  /** Whether the account has the purchase of a payment. */
  readonly hasBooked: (payment: Payment) => boolean;
}

const MINUTE_MS = 60_000;
/** How long a request's sender waits for its response. */
const PATIENCE_MS = 20_000;
/** Stripe forgets idempotency keys after a day. */
const KEYS_KEPT_MS = 24 * 60 * MINUTE_MS;
/** Machines' clocks differ, so charges near the turn of a month count for neither. */
const MARGIN_MS = 2 * MINUTE_MS;
const FAILURES_MAX = 3;

/** The most that may be charged to each person in a month, in cents. It stays the same, so that the rule is exact. */
export const MONTH_LIMIT_MINOR = 2_500;

export class Stripe {
  readonly #kernel: Kernel;
  readonly #faults: StripeFaults;
  readonly #service: Service;
  readonly #keys = new Map<string, Payment>();
  readonly payments: Payment[] = [];
  /** By identity: failed charges in a row, since the holder switched it on. */
  readonly #failures = new Map<string, number>();

  constructor(kernel: Kernel, faults: StripeFaults, service: Service) {
    this.#kernel = kernel;
    this.#faults = faults;
    this.#service = service;
  }

  readonly charges: CardCharges = {
    isForSale: ({ package_id }) => package_id !== "ended",
    charge: (charge) => this.#request(() => this.#charge(charge)),
    find: (charge) => this.#request(() => this.#find(charge)),
  };

  /** The holder switched automatic top-up on. */
  switchedOn(identity_id: string): void {
    this.#failures.set(identity_id, 0);
  }

  succeededOf(identity_id: string): readonly Payment[] {
    return this.payments.filter(
      ({ failure, charge }) => failure === null && charge.identity_id === identity_id,
    );
  }

  /** As with a firewall between: a request may arrive after its sender gave up, or never. */
  #request(work: () => ChargeResult): Promise<ChargeResult> {
    const { random } = this.#kernel;
    return this.#kernel.wait((respond) => {
      const { is_down, lost, silent } = this.#faults;
      const is_lost = is_down || random.chance(lost);
      const gives_up = (): void =>
        respond({ ok: true, value: { kind: "unknown" } }, is_down ? 5 : PATIENCE_MS);
      if (is_lost && (is_down || random.chance(0.5))) return gives_up();
      const there_ms = is_lost ? PATIENCE_MS + random.below(3 * MINUTE_MS) : random.between(5, 800);
      const is_silent = is_lost || random.chance(silent);
      this.#kernel.schedule(there_ms, null, () => {
        const value = work();
        if (!is_silent) respond({ ok: true, value }, random.between(5, 2_000));
      });
      if (is_silent) gives_up();
    });
  }

  #charge(charge: Charge): ChargeResult {
    const { now_ms, random } = this.#kernel;
    const name = nameOf(charge);
    const known = this.#keys.get(name);
    if (known !== undefined && now_ms - known.at_ms < KEYS_KEPT_MS) return resultOf(known);
    const { declining, asking } = this.#faults;
    const failure = random.chance(declining)
      ? "declined"
      : random.chance(asking)
        ? "authentication_required"
        : null;
    const payment = { id: `pi_top_up_${random.uuid()}`, charge, failure, at_ms: now_ms } as const;
    this.#judge(payment);
    this.#keys.set(name, payment);
    this.payments.push(payment);
    this.#sendEvents(payment, random);
    return resultOf(payment);
  }

  #find(charge: Charge): ChargeResult {
    const name = nameOf(charge);
    const found = this.payments.find((it) => nameOf(it.charge) === name);
    return found === undefined ? { kind: "missing" } : resultOf(found);
  }

  /** Events come before the response, after it, twice or never; after hours, if the service did not accept them. */
  #sendEvents(payment: Payment, random: Random): void {
    const times = random.weighted({ none: 3, one: 5, two: 2 });
    const count = { none: 0, one: 1, two: 2 }[times];
    for (let event = 0; event < count; event += 1) {
      const after_ms = random.pick([1, 1_000, 30_000, 20 * MINUTE_MS, 5 * 60 * MINUTE_MS]);
      this.#kernel.schedule(random.between(1, after_ms), null, () => this.#service.report(payment));
    }
  }

  #judge({ charge, failure, at_ms }: Payment): void {
    const { identity_id, account_id, number } = charge;
    const of_person = this.payments.filter((it) => it.charge.identity_id === identity_id);
    must(
      !of_person.some((it) => it.charge.account_id === account_id && it.charge.number === number),
      "a top-up is charged once",
      charge,
    );
    const unknown = of_person.find((it) => it.failure === null && !this.#service.hasBooked(it));
    must(unknown === undefined, "nothing more is charged before a charge is booked", {
      charge,
      unknown,
    });
    const failures = this.#failures.get(identity_id) ?? 0;
    must(
      failures < FAILURES_MAX,
      "at most three charges in a row fail, and then it is off",
      charge,
    );
    this.#failures.set(identity_id, failure === null ? 0 : failures + 1);
    if (failure !== null) return;
    const { from_ms, to_ms } = monthOf(at_ms);
    const is_of_month = (it: { readonly at_ms: number }): boolean =>
      it.at_ms >= from_ms + MARGIN_MS && it.at_ms < to_ms - MARGIN_MS;
    const of_month = [...of_person, { charge, failure, at_ms }].filter(
      (it) => it.failure === null && is_of_month(it),
    );
    const charged_minor = of_month.reduce((sum, it) => sum + it.charge.amount_minor, 0);
    must(charged_minor <= MONTH_LIMIT_MINOR, "no month's limit of top-ups is passed", {
      charge,
      charged_minor,
    });
  }
}

function nameOf({ number, attempt, account_id }: Charge): string {
  return `${number}.${attempt}.${account_id}`;
}

function resultOf({ id: payment_intent_id, charge, failure }: Payment): ChargeResult {
  if (failure !== null) return { kind: "failed", reason: failure, payment_intent_id };
  const { amount_minor: paid_minor, currency } = charge;
  return { kind: "succeeded", payment_intent_id, paid_minor, currency };
}
