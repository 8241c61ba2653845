/** Purchases in the OpenAPI document. */
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./start_checkout.ts";
import * as schemas from "../../openapi/schemas.ts";

export const payments = describe("Wallet", endpoints, {
  startCheckout: {
    summary: "Open a checkout of a package of credits",
    description:
      "Send the buyer to `url`. The buyer returns to `return_to` with `checkout=success` and `checkout_session`, or with `checkout=cancelled`, in its query. Neither proves a payment: paid credits appear as a `purchase` in the ledger and in the event stream. A personal access token with limits, and a connection, are refused: the `topup_url` of a 402 leads the person to the page that sells credits. If the service sells no credits, the response is 404.",
    example: { package: "starter", return_to: "https://app.example.com/credits" },
    success: {
      description: "The checkout is open. Nothing has been paid yet.",
      schema: schemas.checkout,
      example: { url: "https://checkout.stripe.com/c/pay/cs_live_a1" },
    },
  },
});
