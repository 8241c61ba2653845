/** The events of the stand-in for Stripe, which arrive as Stripe sends them: until they have a response, and often twice. */
import { sign, type StripeEvent } from "../worker/payments/stripe_double.ts";
import { expectRule, type Caller } from "./caller.ts";

/** `at_once`: how many copies are under way at the same time. */
export async function deliverEvent(caller: Caller, event: StripeEvent, at_once = 2): Promise<void> {
  const body = JSON.stringify(event);
  const copies = Array.from({ length: at_once }, async () => {
    const headers = { "Stripe-Signature": await sign(body, Date.now()) };
    const sent = { method: "POST", path: "/webhooks/stripe", proof: [], body } as const;
    const { status, text } = await caller.ask({ ...sent, headers });
    expectRule(status === 200, `an event of Stripe is accepted: ${status} ${text}`);
  });
  await Promise.all(copies);
}
