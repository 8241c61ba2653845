/** Purchases in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { checkoutBody } from "./start_checkout.ts";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

export const payments_paths: ZodOpenApiPathsObject = {
  "/api/checkout": {
    post: operation({
      id: "startCheckout",
      tag: "Wallet",
      summary: "Open a checkout of a package of credits",
      description:
        "Send the buyer to `url`. The buyer returns to `return_url` with `checkout=success` and `checkout_session`, or with `checkout=cancelled`, in its query. Neither proves a payment: paid credits appear as a `purchase` in the ledger and in the event stream. A personal access token with limits is refused. If the service sells no credits, the response is 404.",
      security: "caller",
      body: {
        schema: checkoutBody,
        example: { package: "starter", return_url: "https://app.example.com/credits" },
      },
      idempotent: true,
      success: {
        description: "The checkout is open. Nothing has been paid yet.",
        schema: schemas.checkout,
        example: { url: "https://checkout.stripe.com/c/pay/cs_live_a1" },
      },
      refusals: [
        "not_found",
        "package_unknown",
        "return_url_not_allowed",
        "payments_unavailable",
        "payments_refused",
        "origin_not_allowed",
      ],
    }),
  },
};
