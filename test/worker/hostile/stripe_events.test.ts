/** Events that carry Stripe's signature and an attacker's fields: each kind of event with any of its parts replaced. */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { expectInvariants } from "../account/invariants.ts";
import { sign, type StripeEvent } from "../payments/stripe_double.ts";
import { deliver, openCheckout, openStripe, post } from "../payments/till.ts";
import { readContents } from "../support/account_object.ts";
import { histories } from "../support/histories.ts";
import { signInWithCredits } from "../support/passbook.ts";
import { hostileChange, hostileHeader, isInLog, MARK } from "./values.ts";

const REQUESTS = Number(env.TEST_GENERATED_REQUESTS);
/** With a 5xx, the event cannot be read or names what Stripe does not have: it is sent again, and operators see the count. */
const STATUSES = [200, 400, 500, 502, 503];
/** An event's object is read by one request, and a charge's refunds and disputes by lists. */
const CALLS_MAX = 4;

it(
  "no signed event with hostile fields fails, changes an account, is logged, or makes more calls than a valid one",
  { tags: ["history"], timeout: 600_000 },
  async () => {
    const log: string[] = [];
    for (const level of ["log", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((line) => void log.push(JSON.stringify(line)));
    }
    const stripe = openStripe();
    const ada = await signInWithCredits();
    const id = await openCheckout(ada);
    const about = { amount: 100, status: "needs_response" };
    stripe.completes(id);
    const [payment = {}] = stripe.payments.values();
    Object.assign(payment, { status: "succeeded" });
    // All of them were booked, so that no event has news.
    const events: readonly StripeEvent[] = [
      stripe.event("checkout.session.completed", stripe.sessions.get(id) ?? {}),
      stripe.moneyArrives(id),
      stripe.refunds(id, 100),
      stripe.disputes(id, "created", about),
      stripe.disputes(id, "funds_withdrawn", about),
      stripe.event("refund.updated", [...stripe.refunded.values()][0] ?? {}),
      stripe.event("payment_intent.succeeded", payment),
    ];
    for (const event of events) expect((await deliver(event)).status, event.type).toBe(200);
    const contents = JSON.stringify(await readContents(ada.identity_id));
    const changed = fc.tuple(fc.constantFrom(...events), hostileChange, hostileHeader);
    const rule = async ([event, change, header]: [
      StripeEvent,
      (it: unknown) => unknown,
      string,
    ]) => {
      log.length = 0;
      const asked = stripe.asked.length;
      const body = JSON.stringify(change(event)) ?? "";
      const { status, text } = await post(body, await sign(body, Date.now()));
      const unsigned = await post(body, header);
      const faults = {
        "another status": !STATUSES.includes(status),
        "accepts what is not signed": unsigned.status !== 400,
        "is in the log": isInLog(log),
        "is in the response": text.includes(MARK) || unsigned.text.includes(MARK),
        "more calls": stripe.asked.length - asked > CALLS_MAX,
        "another account": JSON.stringify(await readContents(ada.identity_id)) !== contents,
      };
      const broken = Object.entries(faults).flatMap(([fault, is_so]) => (is_so ? [fault] : []));
      const said = `${status} ${text}\n${body.slice(0, 1_000)}\n${log.join("\n").slice(0, 2_000)}`;
      if (broken.length > 0) throw new Error(`${broken.join(", ")}: ${said}`);
    };
    await fc.assert(fc.asyncProperty(changed, rule), {
      numRuns: histories(REQUESTS),
      endOnFailure: true,
    });
    await expectInvariants(ada.identity_id);
  },
);
