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
  /** Null: of the whole service. */
  readonly identity_id: string | null;
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

type Difference = Omit<AccountDifference, "identity_id">;

const named = (
  identity_id: string | null,
  differences: readonly Difference[],
): readonly AccountDifference[] => differences.map((one) => ({ identity_id, ...one }));

/** Compares an account with its copies, and its newest purchases with the payment service. @throws if one does not respond */
export async function compareAccount(
  { accounts, payments }: Pick<OperatorServices, "accounts" | "payments">,
  identity_id: string,
) {
  const compared: Comparison = await accounts(identity_id).compare();
  const bought = payments === null ? [] : compared.payments;
  const differences: Difference[] = [...compared.differences];
  for (const { payment_intent_id, credits: expected } of bought) {
    const buyer = await payments?.findBuyer(payment_intent_id);
    if (buyer?.ok === true && buyer.value === identity_id) continue;
    if (buyer?.ok === false && buyer.refusal.code === "payments_unavailable") {
      throw new Error("the payment service does not respond");
    }
    differences.push({ where: "payments", what: "purchase", expected, found: null });
  }
  return { account_id: compared.account_id, differences, payments: bought.length };
}

/** Differences that the console shows. */
const SHOWN_DIFFERENCES = 100;

/** What the last comparison of each account found, the newest first. `is_cut`: there is more. */
export async function listFound({ proof }: Pick<OperatorServices, "proof">) {
  const found = await proof.list(SHOWN_DIFFERENCES + 1);
  const differences = found.slice(0, SHOWN_DIFFERENCES).map(({ found_at_ms, ...one }) => ({
    ...one,
    found_at: new Date(found_at_ms).toISOString(),
  }));
  return { differences, is_cut: found.length > SHOWN_DIFFERENCES };
}

/** Compares the accounts of one page of people. */
export async function comparePage(
  services: OperatorServices,
  { cursor = "" }: z.output<typeof differencesQuery>,
): Promise<ComparedPage> {
  const found = await services.identity.listIdentities(cursor, REBUILD_PAGE_PEOPLE + 1);
  const people = found.slice(0, REBUILD_PAGE_PEOPLE);
  const outcomes = await Promise.allSettled(
    people.map(async (identity_id) =>
      named(identity_id, (await compareAccount(services, identity_id)).differences),
    ),
  );
  const totals = cursor === "" ? named(null, await services.proof.compareTotals()) : [];
  const last = found.length > people.length ? people.at(-1) : undefined;
  return {
    checked: people.length,
    differences: [
      ...totals,
      ...outcomes.flatMap((one) => (one.status === "fulfilled" ? one.value : [])),
    ],
    failed: people.filter((_, at) => outcomes[at]?.status === "rejected"),
    ...(last === undefined ? {} : { next_cursor: last }),
  };
}

/** Compares one account. */
export async function compareOne(
  services: OperatorServices,
  identity_id: string,
): Promise<Result<ComparedPage, Refusal>> {
  try {
    const { differences } = await compareAccount(services, identity_id);
    return accepted({ checked: 1, differences: named(identity_id, differences), failed: [] });
  } catch {
    return refused({ code: "unavailable", retry_after_seconds: 5 });
  }
}
