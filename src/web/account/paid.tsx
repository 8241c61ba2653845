/** `GET /account/paid`: where a buyer comes back to, and waits for the credits. */
import * as z from "zod/mini";
import { CheckoutPage } from "./paid_page.tsx";
import { callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { validOr, validQuery } from "../../http/validation.ts";

const query = z.object({
  checkout: validOr("success", z.enum(["success", "cancelled"])),
  checkout_session: validOr("", z.string().check(z.maxLength(255))),
});

/** What the address says is no proof of anything: only the account's own row is. */
export const showPaid = factory.createHandlers(validQuery(query), async (context) => {
  const { checkout, checkout_session } = context.req.valid("query");
  const account = context.get("services").accounts(context.get("session").identity_id);
  const read = await account.readPurchase(callerOf(context), checkout_session);
  if (!read.ok) return refuseWithPage(context, read.refusal);
  const { line, credits, purchase, taken_back } = read.value;
  const again = `/account/paid?${new URLSearchParams({ checkout, checkout_session }).toString()}`;
  const state = purchase !== null ? "paid" : checkout === "cancelled" ? "cancelled" : "waiting";
  return context.html(
    <CheckoutPage {...{ state, line, credits, purchase, again, was_taken_back: taken_back > 0 }} />,
  );
});
