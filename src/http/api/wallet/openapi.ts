/** What the OpenAPI document says of the wallet. */
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
        "Opens the account where there is none. With `app`, the app is added and its starter credits are granted, once per account and app; by cookie that needs an allowed origin.",
      security: "party",
      query: readWalletQuery,
      success: { description: "The wallet.", schema: schemas.wallet, example: WALLET },
      refusals: ["origin_not_allowed", "too_many_apps"],
    }),
  },
};
