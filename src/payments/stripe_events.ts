/** Stripe's events that Passbook uses, and the object of each; see Stripe's docs, "Types of events". */
import type { PaymentList } from "../domain/payment_list.ts";
import { event, identified } from "./stripe_objects.ts";

/** An event's id and type, for the log. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
}

/** The object of an event. Its data is read from Stripe. `charge`: all refunds of this charge. */
export interface Subject {
  readonly kind: PaymentList | "charge";
  readonly id: string;
}

const SUBJECT_KINDS: Readonly<Record<string, Subject["kind"]>> = {
  "checkout.session.completed": "checkouts",
  "checkout.session.async_payment_succeeded": "checkouts",
  "payment_intent.succeeded": "top_ups",
  "payment_intent.payment_failed": "top_ups",
  "charge.refunded": "charge",
  "refund.updated": "refunds",
  "refund.failed": "refunds",
  "charge.dispute.created": "disputes",
  "charge.dispute.closed": "disputes",
  "charge.dispute.funds_withdrawn": "disputes",
  "charge.dispute.funds_reinstated": "disputes",
};

/**
 * Reads an event's body. `subject` is null if Passbook does not use events of its type.
 * @throws Error if it does not have the documented form.
 */
export function readEvent(body: string): { event: StripeEvent; subject: Subject | null } {
  const { id, type, data } = event.parse(JSON.parse(body));
  const kind = Object.hasOwn(SUBJECT_KINDS, type) ? SUBJECT_KINDS[type] : undefined;
  if (kind === undefined) return { event: { id, type }, subject: null };
  return { event: { id, type }, subject: { kind, id: identified.parse(data.object).id } };
}
