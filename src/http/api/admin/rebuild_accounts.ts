/**
 * `POST /api/admin/rebuild`: the accounts of one page of people send the read model the rows that it lacks. A client
 * repeats the call with each `next_cursor`, so an interrupted run can continue.
 */
import * as z from "zod/mini";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../../domain/limits.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../../domain/result.ts";
import { factory, type AppContext } from "../../context.ts";
import { refuse } from "../../refusals.ts";
import { idempotencyKey, readOptionalBody, wellFormed } from "../../validation.ts";
import { respondOnce } from "../../views.ts";
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

export const postRebuildAll = factory.createHandlers(async (context) => {
  const body = await readOptionalBody(context, rebuildBody);
  if (!body.ok) return refuse(context, body.refusal);
  const { cursor } = body.value;
  const action = {
    act: "accounts.rebuild",
    subject: "all",
    reason: null,
    details: body.value,
    key: idempotencyKey(context),
  };
  // A repeated key repairs the page again, which is safe: the response then describes the current state.
  const repaired = await performAction(context, action, async () => {
    const page = await repairPage(context, cursor);
    return page.ok ? accepted({ value: page.value, replayed: false }) : page;
  });
  return respondOnce(context, repaired, (page) => page);
});

async function repairPage(
  context: AppContext,
  cursor: string | undefined,
): Promise<Result<RepairedPage, Refusal>> {
  const { accounts, identity } = context.get("services");
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
