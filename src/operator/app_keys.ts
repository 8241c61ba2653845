/** Creates and revokes the keys of an app's servers. */
import * as z from "zod/mini";
import type { IdempotencyGuard, OnceAnswer } from "../account/contract.ts";
import type { Changes } from "../domain/audit.ts";
import { accepted } from "../domain/result.ts";
import { shownUpTo } from "../fields.ts";
import type { Acting } from "./acting.ts";
import { performAction, performActionOnce, reason, type ActionRequest } from "./audited_action.ts";
import type { Keyed } from "./save_record.ts";

/** Longest label of an app key, in UTF-16 code units. */
const APP_KEY_LABEL_MAX_LENGTH = 80;

export const addAppKeyBody = z.strictObject({
  label: shownUpTo(APP_KEY_LABEL_MAX_LENGTH),
  reason: z.optional(reason),
});

/** Creates a key. Only the first response under an idempotency key contains the secret. */
export function addAppKey(
  acting: Acting,
  slug: string,
  { label, ...request }: Keyed<z.output<typeof addAppKeyBody>>,
) {
  const action = { act: "app_key.add", subject: slug, details: { label }, ...request };
  const perform = async (guard: IdempotencyGuard | null) => {
    const made = await acting.services.app_records.addKey(slug, label, guard?.key ?? null);
    return made.ok ? accepted({ value: made.value, replayed: made.value.key === null }) : made;
  };
  // The id of a new key, by which the log names the key as an actor, is known only now.
  return performAction(acting, action, perform, ({ id, last_four }) => ({
    key_id: { from: null, to: id },
    last_four: { from: null, to: last_four },
  }));
}

export function revokeAppKey(
  acting: Acting,
  slug: string,
  key_id: string,
  request: ActionRequest,
): Promise<OnceAnswer<null>> {
  const id = key_id.toLowerCase();
  const act = "app_key.revoke";
  const action = { act, subject: slug, details: { key_id: id }, ...request };
  let changes: Changes | null = null;
  const revoke = async () => {
    const revoked = await acting.services.app_records.revokeKey(slug, id);
    if (revoked.ok) {
      const { label, last_four } = revoked.value;
      changes = { label: { from: label, to: null }, last_four: { from: last_four, to: null } };
    }
    return revoked;
  };
  return performActionOnce(acting, action, revoke, () => changes);
}
