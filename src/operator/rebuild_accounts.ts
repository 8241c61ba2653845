/**
 * The accounts of one page of people send the read model the rows that it lacks. A client repeats the call with each
 * `next_cursor`, so an interrupted run can continue.
 */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { wellFormed } from "../fields.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import { performAction } from "./audited_action.ts";

/** People whose accounts one call of the rebuild of all accounts reads: each is a call to an object. */
export const REBUILD_PAGE_PEOPLE = 40;

export const rebuildBody = z.strictObject({
  cursor: z.optional(
    z
      .string("must be a string")
      .check(z.maxLength(254, "must have at most 254 characters"), wellFormed),
  ),
});

interface RepairedPage {
  /** The number of people; only on the first page, since counting reads all of them. */
  readonly people?: number;
  /** People whose accounts were compared with the read model. */
  readonly checked: number;
  readonly repaired: number;
  /** Identities whose accounts could not be repaired. */
  readonly failed: readonly string[];
  readonly next_cursor?: string;
}

export function rebuildAccounts(
  acting: Acting,
  body: z.output<typeof rebuildBody>,
  key: string | undefined,
): Promise<OnceAnswer<RepairedPage>> {
  const action = { act: "accounts.rebuild", subject: "all", details: body, key };
  // A repeated key repairs the page again, which is safe: the response then describes the current state.
  return performAction(acting, action, async () => {
    const page = await repairPage(acting.services, body.cursor);
    return page.ok ? accepted({ value: page.value, replayed: false }) : page;
  });
}

async function repairPage(
  { accounts, identity }: OperatorServices,
  cursor: string | undefined,
): Promise<Result<RepairedPage, Refusal>> {
  const found = await identity.listIdentities(cursor ?? "", REBUILD_PAGE_PEOPLE + 1);
  const people = found.slice(0, REBUILD_PAGE_PEOPLE);
  const outcomes = await Promise.all(
    people.map((identity_id) =>
      accounts(identity_id)
        .repair()
        .catch(() => "failed" as const),
    ),
  );
  if (outcomes.includes("unreachable")) {
    return refused({ code: "unavailable", retry_after_seconds: UNAVAILABLE_RETRY_AFTER_SECONDS });
  }
  const last = found.length > people.length ? people.at(-1) : undefined;
  return accepted({
    ...(cursor === undefined ? { people: await identity.countPeople() } : {}),
    checked: people.length,
    repaired: outcomes.filter((outcome) => outcome === "sent").length,
    failed: people.filter((_, index) => outcomes[index] === "failed"),
    ...(last === undefined ? {} : { next_cursor: last }),
  });
}
