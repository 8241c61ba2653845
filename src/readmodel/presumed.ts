/**
 * What an object presumes that D1 has of its account when it sends lines: what it was before them. The
 * row must be just that, or nothing is written.
 */
import { getTableColumns } from "drizzle-orm";
import { accounts } from "./schema.ts";

/** An account's row as of one of its lines, but for its plan: lines do not say which there was. */
export type PresumedAccount = Omit<typeof accounts.$inferSelect, "days_json" | "plan">;

const { days_json: _, plan: __, ...COMPARED } = getTableColumns(accounts);
const NAMES = Object.keys(COMPARED) as (keyof PresumedAccount)[];

/** SQL: whether a row of `accounts` is what a delivery presumes; `delivery` is its JSON. */
export function isPresumed(delivery: string): string {
  return NAMES.map((name) => `accounts.${name} = ${delivery} ->> '$.presumed.${name}'`).join(
    " and ",
  );
}

/** Whether an account's row is what is presumed of it. */
export function isSame(row: PresumedAccount, presumed: PresumedAccount): boolean {
  return NAMES.every((name) => row[name] === presumed[name]);
}
