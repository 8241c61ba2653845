/** Suspends many accounts for one reason, such as those of a fraud wave. */
import * as z from "zod/mini";
import { SUSPENDED_AT_ONCE_MAX } from "../domain/limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import {
  performActionOnce,
  reason,
  textForPeople,
  whyNotUnderKey,
  type ActionRequest,
} from "./audited_action.ts";
import { findToChange } from "./find_person.ts";

/** Accounts that one request suspends at the same time. Each needs four calls, and the platform queues more than six. */
const AT_THE_SAME_TIME = 6;

export const suspendManyBody = z.strictObject({
  identity_ids: z.array(z.string("must be a string"), "must be a list of identities").check(
    z.minLength(1, "must not be empty"),
    z.maxLength(SUSPENDED_AT_ONCE_MAX, `must have at most ${SUSPENDED_AT_ONCE_MAX} entries`),
    z.refine((ids) => new Set(ids).size === ids.length, "must have no duplicates"),
  ),
  reason,
  public_reason: z.optional(textForPeople),
});

/** The outcome for one identity, as the request named it. */
export interface SuspendedItem {
  readonly identity_id: string;
  /** Null: the account is suspended. */
  readonly refusal: Refusal | null;
}

/**
 * Suspends each account by itself, with an audit record of its own, in the order of the list. All use one idempotency
 * key, so a repeated request continues where the first one stopped. Refused as a whole only if the key is malformed or
 * belongs to another list. `refusalOf`: the refusal for an account at which an error was thrown.
 */
export async function suspendMany(
  acting: Acting,
  {
    identity_ids,
    reason: given,
    public_reason,
    key,
  }: z.output<typeof suspendManyBody> & ActionRequest,
  refusalOf: (error: unknown) => Refusal,
): Promise<Result<readonly SuspendedItem[], Refusal>> {
  const { accounts } = acting.services;
  const details = { accounts: identity_ids.length, public_reason };
  const action = { act: "account.suspend", reason: given, details, key, subjects: identity_ids };
  const refusal = await whyNotUnderKey(acting, action);
  if (refusal !== null) return refused(refusal);
  const suspend = async (named: string): Promise<Refusal | null> => {
    try {
      const holder = await findToChange(acting, named);
      if (!holder.ok) return holder.refusal;
      const subject = holder.value.identity_id;
      const done = await performActionOnce(acting, { ...action, subject }, () =>
        accounts(subject).suspend({ public_reason }),
      );
      return done.ok ? null : done.refusal;
    } catch (error) {
      return refusalOf(error);
    }
  };
  const items: SuspendedItem[] = identity_ids.map((identity_id) => ({
    identity_id,
    refusal: null,
  }));
  const waiting = items.entries();
  // Several loops share one iterator, so each identity is taken once.
  const loop = async (): Promise<void> => {
    for (const [at, { identity_id }] of waiting) {
      items[at] = { identity_id, refusal: await suspend(identity_id) };
    }
  };
  await Promise.all(Array.from({ length: AT_THE_SAME_TIME }, loop));
  return accepted(items);
}
