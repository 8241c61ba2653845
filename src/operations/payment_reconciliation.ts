/**
 * Compares the payment service's recent checkouts, refunds and disputes with the accounts, and books what is missing:
 * webhooks may have failed for days. It books as a webhook does, so both may happen, in any order and at once.
 */
import { reportError } from "../domain/error_report.ts";
import { RECONCILIATION_PAGES, RECONCILIATION_PAUSE_MS } from "../domain/limits.ts";
import type { DropReason, PaymentEffect } from "../domain/payment_event.ts";
import {
  FIRST_POSITION,
  type ListedPayment,
  type ListPosition,
  type PaymentList,
  type PaymentPage,
} from "../domain/payment_list.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Result } from "../domain/result.ts";

/** A run begins no page after this time, because the command line waits 10 s for a response. */
const RUN_MS = 5_000;

/** The schedule leaves newer payments to their webhooks, so that a payment it finds is one whose webhook failed. */
const WEBHOOK_ALLOWANCE_MS = 60 * 60_000;

/** The progress of the schedule. `position`: where the pass continues; null: it has ended. */
interface ReconciliationProgress {
  readonly position: ListPosition | null;
  readonly ran_at_ms: number;
}

interface Stores {
  readonly listRecent: (
    position: ListPosition,
    before_ms: number | null,
    now_ms: number,
  ) => Promise<Result<PaymentPage, Refusal>>;
  readonly bookMissing: (
    effect: PaymentEffect,
  ) => Promise<Result<DropReason | "recorded" | null, Refusal>>;
  /** Counts payments that no webhook booked, for the operators. Never throws. */
  readonly countMissed: (missed: {
    readonly count: number;
    readonly reason: string;
  }) => Promise<void>;
  readonly progress: {
    /** Null: no pass was ever started. */
    read(): Promise<ReconciliationProgress | null>;
    write(progress: ReconciliationProgress): Promise<void>;
  };
}

/** A payment that was missing and is now booked. `id`: of the checkout, refund or dispute. */
interface BookedPayment {
  readonly list: PaymentList;
  readonly id: string;
  readonly identity_id: string;
  readonly payment_intent_id: string;
  /** The credits of the purchase; null for a refund or dispute. */
  readonly credits: number | null;
}

interface UnbookedPayment {
  readonly list: PaymentList;
  readonly id: string;
  /** The refusal, or the name of the error. */
  readonly code: string;
}

export interface ReconciledPayments {
  /** Payments that were compared, also those of other services. */
  readonly checked: number;
  readonly booked: readonly BookedPayment[];
  readonly not_booked: readonly UnbookedPayment[];
  /** Null: everything was compared. */
  readonly next: ListPosition | null;
  /** Why the run stopped early; null: it did not. */
  readonly refusal: Refusal | null;
}

export interface PaymentReconciliation {
  /** Compares a bounded number of payments from a position on. */
  run(start: ListPosition, before_ms: number | null): Promise<ReconciledPayments>;
  /**
   * Continues the schedule's pass, or starts the next one if it is due.
   * @throws if the payment service does not respond; the next run continues.
   */
  continuePass(now_ms: number): Promise<object>;
}

export function createPaymentReconciliation(stores: Stores): PaymentReconciliation {
  const run: PaymentReconciliation["run"] = async (start, before_ms) => {
    const began_at_ms = Date.now();
    const booked: BookedPayment[] = [];
    const not_booked: UnbookedPayment[] = [];
    let [checked, next] = [0, start as ListPosition | null];
    for (let pages = 0; next !== null && pages < RECONCILIATION_PAGES; pages += 1) {
      if (Date.now() - began_at_ms > RUN_MS) break;
      const { list }: ListPosition = next;
      const page = await stores.listRecent(next, before_ms, began_at_ms);
      if (!page.ok) return { checked, booked, not_booked, next, refusal: page.refusal };
      const outcomes = await Promise.all(page.value.payments.map((it) => compare(list, it)));
      for (const outcome of outcomes) {
        if (outcome === null) continue;
        if ("code" in outcome) not_booked.push(outcome);
        else booked.push(outcome);
      }
      checked += outcomes.length;
      next = page.value.next;
    }
    return { checked, booked, not_booked, next, refusal: null };
  };

  /** Null: nothing was missing. A payment that cannot be booked does not stop the others. */
  const compare = async (
    list: PaymentList,
    { id, read }: ListedPayment,
  ): Promise<BookedPayment | UnbookedPayment | null> => {
    try {
      const effect = await read();
      const done = await stores.bookMissing(effect);
      if (!done.ok) return unbooked(list, id, done.refusal);
      return done.value === null ? describe(list, id, effect) : null;
    } catch (error) {
      const { reason, stack } = reportError(error);
      return unbooked(list, id, { code: reason, stack });
    }
  };

  return {
    run,
    async continuePass(now_ms) {
      const known = await stores.progress.read();
      const is_due = now_ms - (known?.ran_at_ms ?? 0) >= RECONCILIATION_PAUSE_MS;
      const start = known?.position ?? (is_due ? FIRST_POSITION : null);
      if (start === null) return { checked: 0 };
      const { next, refusal, ...done } = await run(start, now_ms - WEBHOOK_ALLOWANCE_MS);
      // A position that is rejected, such as one of another Stripe account, must not be tried forever.
      const position = refusal?.code === "payments_refused" ? FIRST_POSITION : next;
      await stores.progress.write({ position, ran_at_ms: now_ms });
      const [unbooked_first] = done.not_booked;
      const reason = unbooked_first?.code ?? "webhook_lost";
      const count = done.booked.length + done.not_booked.length;
      if (count > 0) await stores.countMissed({ count, reason });
      if (refusal !== null) throw new Error(`reconciliation stopped: ${refusal.code}`);
      const { checked, booked, not_booked } = done;
      return {
        checked,
        booked: booked.length,
        not_booked: not_booked.length,
        has_ended: next === null,
      };
    },
  };
}

function unbooked(
  list: PaymentList,
  id: string,
  { code, stack }: { readonly code: string; readonly stack?: readonly string[] },
): UnbookedPayment {
  console.error({ event: "payment_not_booked", list, id, code, ...(stack && { stack }) });
  return { list, id, code };
}

/** Describes a booked payment, and logs it without the identity. */
function describe(list: PaymentList, id: string, effect: PaymentEffect): BookedPayment | null {
  if (effect.kind !== "purchase" && effect.kind !== "reversal") return null;
  const is_purchase = effect.kind === "purchase";
  const { payment_intent_id } = is_purchase ? effect.purchase : effect.reversal;
  const credits = is_purchase ? effect.purchase.credits : null;
  console.warn({ event: "payment_reconciled", list, id, payment_intent_id, credits });
  return { list, id, identity_id: effect.identity_id, payment_intent_id, credits };
}
