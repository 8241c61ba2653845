/** Which of Stripe's events say something to us, and what; see Stripe's docs, "Types of events". */
import type { ReversalStanding } from "../domain/purchases.ts";
import { charge, dispute, event, markedSession } from "./stripe_objects.ts";

/** What an event says by itself, before Stripe is asked for the rest. */
export type Said =
  | { readonly kind: "checkout"; readonly id: string; readonly service: string | undefined }
  | {
      readonly kind: "reversal";
      readonly payment_intent_id: string;
      readonly source_id: string;
      readonly amount_minor: number;
      readonly currency: string;
      readonly standing: ReversalStanding;
    };

/** The mark by which we know our own checkouts among all of one Stripe account. */
export const SERVICE_MARK = "passbook_service";
export const IDENTITY_MARK = "passbook_identity_id";

/**
 * Reads an event's body. Null: it is of a type, or of an object, that is nothing to us.
 * @throws Error where an event of ours does not look as documented.
 */
export function readEvent(body: string): Said | null {
  const { type, data } = event.parse(JSON.parse(body));
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded": {
      const { id, metadata } = markedSession.parse(data.object);
      return { kind: "checkout", id, service: metadata?.[SERVICE_MARK] };
    }
    case "charge.refunded": {
      const { amount_refunded: amount_minor, ...rest } = charge.parse(data.object);
      return reversal({ ...rest, amount_minor, standing: "withheld" });
    }
    case "charge.dispute.created":
    case "charge.dispute.closed":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated": {
      const { amount: amount_minor, status, ...rest } = dispute.parse(data.object);
      return reversal({ ...rest, amount_minor, standing: standingOf(type, status) });
    }
    default:
      return null;
  }
}

function reversal({
  id: source_id,
  payment_intent: payment_intent_id,
  ...rest
}: {
  readonly id: string;
  readonly payment_intent: string | null;
  readonly amount_minor: number;
  readonly currency: string;
  readonly standing: ReversalStanding;
}): Said | null {
  return payment_intent_id === null
    ? null
    : { kind: "reversal", source_id, payment_intent_id, ...rest };
}

/**
 * An inquiry (`warning_…`) leaves the money where it is, as does a dispute that was prevented. What was
 * moved is told by two events of its own, whatever the status says meanwhile.
 */
function standingOf(type: string, status: string): ReversalStanding {
  if (type === "charge.dispute.funds_reinstated" || status === "won") return "reinstated";
  if (status === "lost") return "lost";
  if (type === "charge.dispute.funds_withdrawn") return "withheld";
  return status.startsWith("warning_") || status === "prevented" ? "inquiry" : "withheld";
}
