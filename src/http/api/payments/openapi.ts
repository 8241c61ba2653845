/** What the OpenAPI document says of buying credits. */
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
        "Send the buyer to `url`. They come back to `return_url` with `checkout=success` and `checkout_session`, or `checkout=cancelled`, in its query; neither is proof of payment: the credits are a `purchase` in the ledger and in the live events. A personal access token with limits may not buy. 404 while nothing is sold.",
      security: "caller",
      body: {
        schema: checkoutBody,
        example: { package: "starter", return_url: "https://app.example.com/credits" },
      },
      idempotent: true,
      success: {
        description: "The checkout is open; nothing is paid.",
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
