/** What we read of Stripe's objects; whatever else they carry is passed over. */
import * as z from "zod";
import { isLoopbackHost } from "../domain/origins.ts";

const minor_units = z.int().min(0);
const marks = z.record(z.string(), z.string()).nullish();

export const checkoutSession = z.object({
  id: z.string().regex(/^cs_\w{1,250}$/),
  mode: z.string(),
  payment_status: z.string(),
  amount_total: minor_units.nullable(),
  currency: z.string().nullable(),
  payment_intent: z.string().nullable(),
  client_reference_id: z.string().nullable(),
  metadata: marks,
  line_items: z.object({
    data: z.array(
      z.object({ price: z.object({ id: z.string() }).nullable(), quantity: z.int().nullable() }),
    ),
  }),
});
export type CheckoutSession = z.infer<typeof checkoutSession>;

/** People are sent there, so it is nothing but an address of the web; plain http only to a stand-in. */
export const newCheckoutSession = z.object({
  url: z.url({ protocol: /^https?$/ }).refine((text) => {
    const { protocol, hostname } = new URL(text);
    return protocol === "https:" || isLoopbackHost(hostname);
  }),
});

export const paymentIntent = z.object({
  id: z.string(),
  amount_received: minor_units,
  currency: z.string(),
  metadata: marks,
});

export const markedSession = z.object({ id: checkoutSession.shape.id, metadata: marks });

export const charge = z.object({
  id: z.string().max(255),
  payment_intent: z.string().nullable(),
  amount_refunded: minor_units,
  currency: z.string(),
});

export const dispute = z.object({
  id: z.string().max(255),
  payment_intent: z.string().nullable(),
  amount: minor_units,
  currency: z.string(),
  status: z.string(),
});

/** An event's envelope. Its object is read by the type it has. */
export const event = z.object({ type: z.string(), data: z.object({ object: z.unknown() }) });
