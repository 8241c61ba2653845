/** What the OpenAPI document says of the ledger. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { listLedgerQuery } from "./list.ts";
import { ENTRY } from "../../openapi/examples.ts";
import { operation } from "../../openapi/operation.ts";
import * as schemas from "../../openapi/schemas.ts";

export const ledger_paths: ZodOpenApiPathsObject = {
  "/api/ledger": {
    get: operation({
      id: "listLedger",
      tag: "Wallet",
      summary: "The passbook: every change of the balance, newest first",
      description:
        "`from` is included, `to` is not. A filtered page may have fewer lines than asked for, even none, and still a `next_cursor`.",
      security: "caller",
      query: listLedgerQuery,
      success: {
        description: "A page of lines.",
        schema: schemas.entry_page,
        example: { entries: [ENTRY], next_cursor: "4" },
      },
      refusals: [],
    }),
  },
};
