/** Stripe's events that Passbook uses, and the object of each; see Stripe's docs, "Types of events". */
import { event, identified } from "./stripe_objects.ts";

/** An event's id and type, for the log. */
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
}

/** The object of an event. Its data is read from Stripe. */
export interface Subject {
  readonly kind: "checkout" | "charge" | "dispute";
  readonly id: string;
}

const SUBJECT_KINDS: Readonly<Record<string, Subject["kind"]>> = {
  "checkout.session.completed": "checkout",
  "checkout.session.async_payment_succeeded": "checkout",
  "charge.refunded": "charge",
  "charge.dispute.created": "dispute",
  "charge.dispute.closed": "dispute",
  "charge.dispute.funds_withdrawn": "dispute",
  "charge.dispute.funds_reinstated": "dispute",
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
