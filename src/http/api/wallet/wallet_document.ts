/** The wallet in the OpenAPI document. */
import { WALLET } from "../../openapi/examples.ts";
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./read.ts";
import * as schemas from "../../openapi/schemas.ts";

export const wallet = describe("Wallet", endpoints, {
  readWallet: {
    summary: "The account and its apps",
    description:
      "Opens the account if it does not exist. With `app`, adds the app and grants its starter credits, once per account and app. An app that is not registered here is added only with its first job. With cookies, `app` requires an allowed origin.",
    success: { description: "The wallet.", schema: schemas.wallet, example: WALLET },
  },
});
