/** The ledger in the OpenAPI document. */
import { ENTRY } from "../../openapi/examples.ts";
import { describe } from "../../openapi/operation.ts";
import * as endpoints from "./list.ts";
import * as schemas from "../../openapi/schemas.ts";

export const ledger = describe("Wallet", endpoints, {
  listLedger: {
    summary: "The ledger: every change of the balance, newest first",
    description:
      "An app's key sees the entries of the app's own jobs and grants, without notes. `by` is an app's slug, or the id of a connection or token, and selects the entries of the jobs that it started; what was exchanged from it counts too. `from` is inclusive, `to` is exclusive. Reports of progress that change no credits are left out. A page can have fewer entries than `limit`, or no entries, and still have a `next_cursor`.",
    success: {
      description: "A page of entries.",
      schema: schemas.entry_page,
      example: { entries: [ENTRY], next_cursor: "4" },
    },
  },
});
