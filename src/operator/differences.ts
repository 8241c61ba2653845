/** Compares accounts with their copies, for operators and for the schedule. Nothing is repaired: a person decides. */
import * as z from "zod/mini";
import type { Comparison } from "../account/contract.ts";
import { wellFormed } from "../fields.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { OperatorServices } from "./acting.ts";
import { REBUILD_PAGE_PEOPLE } from "./rebuild_accounts.ts";

export const differencesQuery = z.object({
  cursor: z.optional(
    z
      .string("must be given once")
      .check(z.maxLength(254, "must have at most 254 characters"), wellFormed),
  ),
});

interface AccountDifference {
  readonly identity_id: string;
  readonly where: string;
  readonly what: string;
  readonly expected: number | null;
  readonly found: number | null;
}

interface ComparedPage {
  readonly checked: number;
  readonly differences: readonly AccountDifference[];
  /** Identities whose accounts, or a copy of them, did not respond. */
  readonly failed: readonly string[];
  readonly next_cursor?: string;
}

const named = (identity_id: string, { differences }: Comparison): readonly AccountDifference[] =>
  differences.map((one) => ({ identity_id, ...one }));

/** Compares the accounts of one page of people. */
export async function comparePage(
  { accounts, identity }: OperatorServices,
  { cursor = "" }: z.output<typeof differencesQuery>,
): Promise<ComparedPage> {
  const found = await identity.listIdentities(cursor, REBUILD_PAGE_PEOPLE + 1);
  const people = found.slice(0, REBUILD_PAGE_PEOPLE);
  const outcomes = await Promise.allSettled(
    people.map(async (identity_id) => named(identity_id, await accounts(identity_id).compare())),
  );
  const last = found.length > people.length ? people.at(-1) : undefined;
  return {
    checked: people.length,
    differences: outcomes.flatMap((one) => (one.status === "fulfilled" ? one.value : [])),
    failed: people.filter((_, at) => outcomes[at]?.status === "rejected"),
    ...(last === undefined ? {} : { next_cursor: last }),
  };
}

/** Compares one account. */
export async function compareOne(
  { accounts }: OperatorServices,
  identity_id: string,
): Promise<Result<ComparedPage, Refusal>> {
  try {
    const differences = named(identity_id, await accounts(identity_id).compare());
    return accepted({ checked: 1, differences, failed: [] });
  } catch {
    return refused({ code: "unavailable", retry_after_seconds: 5 });
  }
}
