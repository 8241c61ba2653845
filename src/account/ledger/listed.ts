/** `isListed` of `domain/ledger.ts` as SQL. */
import { sql } from "drizzle-orm";
import { entries } from "../sql/schema.ts";

export const isListed = sql`(${entries.kind} <> 'reserve' or ${entries.amount} <> 0 or
  ${entries.previous_line} is null)`;
