/** `GET /account/purchases[?before=]` lists purchases; `GET /account/receipt?payment=` goes to Stripe's receipt. */
import type { PurchaseKey } from "../../account/contract.ts";
import { paymentsOf } from "../../http/middleware/require_payments.ts";
import { accountOf, callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { PurchasesPage } from "./purchases_section.tsx";

/** Purchases on one page. */
const PURCHASES_PAGE_ROWS = 50;

export const showPurchases = factory.createHandlers(async (context) => {
  const before = readKey(context.req.query("before"));
  const request = { before, limit: PURCHASES_PAGE_ROWS };
  const listed = await accountOf(context).listPurchases(callerOf(context), request);
  if (!listed.ok) return refuseWithPage(context, listed.refusal);
  const { rows, next } = listed.value;
  return context.html(
    <PurchasesPage
      purchases={rows}
      has_receipts={context.get("services").payments !== null}
      older_path={next === null ? null : `/account/purchases?before=${textOf(next)}`}
    />,
  );
});

/**
 * The receipt is requested from Stripe only now, because its address expires, and only for a payment of this account. The
 * adapter accepts only https addresses of Stripe.
 */
export const showReceipt = factory.createHandlers(async (context) => {
  const payment = context.req.query("payment") ?? "";
  const is_own = /^pi_\w{1,250}$/.test(payment) && (await accountOf(context).hasBought(payment));
  if (!is_own) return refuseWithPage(context, { code: "not_found" });
  const read = await paymentsOf(context).readReceipt(payment);
  const notice = read.ok ? "no_receipt" : "receipt_unavailable";
  const to = read.ok ? read.value : null;
  return context.redirect(to ?? `/account?notice=${notice}`, 303);
});

function textOf({ created_at_ms, checkout_session_id }: PurchaseKey): string {
  return `${created_at_ms}.${checkout_session_id}`;
}

/** An invalid position is ignored, like other invalid filters of pages. */
function readKey(text: string | undefined): PurchaseKey | undefined {
  const [, at_ms, checkout_session_id] =
    /^(\d{1,15})\.((?:cs|pi)_\w{1,250})$/.exec(text ?? "") ?? [];
  if (at_ms === undefined || checkout_session_id === undefined) return undefined;
  return { created_at_ms: Number(at_ms), checkout_session_id };
}
