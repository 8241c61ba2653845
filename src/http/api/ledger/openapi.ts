/** The ledger in the OpenAPI document. */
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
      summary: "The ledger: every change of the balance, newest first",
      description:
        "An app's key sees the entries of the app's own jobs and grants, without notes. `from` is inclusive, `to` is exclusive. Reports of progress that change no credits are left out. A page can have fewer entries than `limit`, or no entries, and still have a `next_cursor`.",
      security: "user_or_app",
      query: listLedgerQuery,
      success: {
        description: "A page of entries.",
        schema: schemas.entry_page,
        example: { entries: [ENTRY], next_cursor: "4" },
      },
      refusals: [],
    }),
  },
};
