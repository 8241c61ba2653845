/** The fields of Stripe's objects that we read. Others are ignored. */
import * as z from "zod/mini";
import { isLoopbackHost } from "../domain/origins.ts";

const minor_units = z.int().check(z.gte(0));
const text_or_null = z.nullable(z.string());
const marks = z.nullish(z.record(z.string(), z.string()));

/** What says whose a checkout or payment is. */
export const marked = z.object({ metadata: marks });

export const checkoutSession = z.object({
  id: z.string().check(z.regex(/^cs_\w{1,250}$/)),
  mode: z.string(),
  payment_status: z.string(),
  amount_total: z.nullable(minor_units),
  currency: text_or_null,
  payment_intent: text_or_null,
  client_reference_id: text_or_null,
  metadata: marks,
  /** Null for some checkouts of other services. */
  line_items: z.nullish(
    z.object({
      data: z.array(
        z.object({
          price: z.nullable(z.object({ id: z.string() })),
          quantity: z.nullable(z.int()),
        }),
      ),
    }),
  ),
});
export type CheckoutSession = z.infer<typeof checkoutSession>;

/** People are redirected to it, so it must be an https address, or http to this machine for tests. */
export const newCheckoutSession = z.object({
  url: z.url({ protocol: /^https?$/ }).check(
    z.refine((text) => {
      // It also runs for a text that is not an address.
      const url = URL.parse(text);
      return url?.protocol === "https:" || isLoopbackHost(url?.hostname ?? "");
    }),
  ),
});

/** A price. Its amount never changes (Stripe's API, "Update a price"). */
export const price = z.object({
  active: z.boolean(),
  type: z.string(),
  unit_amount: z.nullable(minor_units),
  currency: z.string(),
});
export type Price = z.infer<typeof price>;

/** A payment with its last charge, which has the hosted receipt. */
export const paidPayment = z.object({
  latest_charge: z.nullable(z.object({ receipt_url: text_or_null })),
});

/** The address if people may be redirected to it: only an https address of Stripe; otherwise null. */
export function stripeAddress(text: string | null): string | null {
  const url = text === null ? null : URL.parse(text);
  if (url === null || url.protocol !== "https:") return null;
  const { hostname, port, username, password } = url;
  const is_stripe = hostname === "stripe.com" || hostname.endsWith(".stripe.com");
  return is_stripe && `${port}${username}${password}` === "" ? url.href : null;
}

export const checkoutMode = z.object({ mode: z.string() });

/** A checkout that saves a card, with its card. */
export const cardSetup = z.object({
  mode: z.string(),
  status: text_or_null,
  customer: text_or_null,
  client_reference_id: text_or_null,
  metadata: marks,
  setup_intent: z.nullable(
    z.object({
      payment_method: z.nullable(
        z.object({
          id: z.string(),
          card: z.nullish(z.object({ brand: z.string(), last4: z.string() })),
        }),
      ),
    }),
  ),
});

/** A payment that may be a top-up's. */
export const charged = z.object({
  id: z.string().check(z.regex(/^pi_\w{1,250}$/)),
  status: z.string(),
  amount_received: minor_units,
  currency: z.string(),
  metadata: marks,
  last_payment_error: z.nullish(z.object({ code: z.nullish(z.string()) })),
});
export type Charged = z.infer<typeof charged>;

/** Why Stripe made no charge. */
export const cardError = z.object({
  error: z.object({
    type: z.string(),
    code: z.nullish(z.string()),
    payment_intent: z.nullish(z.object({ id: z.string() })),
  }),
});

/** The payment of a refund or dispute, read in the same request. */
const paymentIntent = z.nullable(
  z.object({
    id: z.string(),
    amount_received: minor_units,
    currency: z.string(),
    metadata: marks,
  }),
);

export const refund = z.object({
  id: z.string(),
  payment_intent: paymentIntent,
  amount: minor_units,
  currency: z.string(),
  status: text_or_null,
});
export type Refund = z.infer<typeof refund>;

export const dispute = z.object({
  id: z.string(),
  payment_intent: paymentIntent,
  amount: minor_units,
  currency: z.string(),
  status: z.string(),
  /** The amounts that the dispute withdrew from our Stripe balance (negative) and returned. */
  balance_transactions: z.nullish(z.array(z.object({ amount: z.int() }))),
});
export type Dispute = z.infer<typeof dispute>;

export const page = z.object({ data: z.array(z.unknown()), has_more: z.boolean() });

/** The id of an event's object. It becomes part of an address and of the log. */
export const identified = z.object({ id: z.string().check(z.regex(/^\w{1,255}$/)) });

/** An event. Its type decides how its object is read. */
export const event = z.object({
  id: identified.shape.id,
  type: z.string().check(z.regex(/^[\w.]{1,100}$/)),
  data: z.object({ object: z.unknown() }),
});
