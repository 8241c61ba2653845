/** The wallet in the OpenAPI document. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { readWalletQuery } from "./read.ts";
import { WALLET } from "../../openapi/examples.ts";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

export const wallet_paths: ZodOpenApiPathsObject = {
  "/api/wallet": {
    get: operation({
      id: "readWallet",
      tag: "Wallet",
      summary: "The account and its apps",
      description:
        "Opens the account if it does not exist. With `app`, adds the app and grants its starter credits, once per account and app. An app that is not registered here is added only with its first job. With cookies, `app` requires an allowed origin.",
      security: "user_or_app",
      query: readWalletQuery,
      success: { description: "The wallet.", schema: schemas.wallet, example: WALLET },
      refusals: ["origin_not_allowed", "too_many_apps"],
    }),
  },
};
