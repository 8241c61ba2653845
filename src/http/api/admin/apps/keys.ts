/** `/api/admin/apps/{slug}/keys`: creates, lists and revokes the keys of an app's servers. */
import * as z from "zod/mini";
import type { IdempotencyGuard, OnceAnswer } from "../../../../account/contract.ts";
import type { Changes } from "../../../../domain/audit.ts";
import { accepted } from "../../../../domain/result.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import {
  idempotencyKey,
  pageLimit,
  validBody,
  shownText,
  validQuery,
  wellFormed,
} from "../../../validation.ts";
import { respondDone, respondOnce, timestamp } from "../../../views.ts";
import { performAction, performActionOnce, reason as reasonText } from "../audited_action.ts";

/** Longest label of an app key, in UTF-16 code units. */
const APP_KEY_LABEL_MAX_LENGTH = 80;

export const addAppKeyBody = z.strictObject({
  label: z
    .string("must be a string")
    .check(
      z.trim(),
      z.minLength(1, "must not be empty"),
      z.maxLength(
        APP_KEY_LABEL_MAX_LENGTH,
        `must have at most ${APP_KEY_LABEL_MAX_LENGTH} characters`,
      ),
      wellFormed,
      shownText,
    ),
  reason: z.optional(reasonText),
});

export const listAppKeysQuery = z.object({
  limit: pageLimit,
  cursor: z.optional(z.uuid("must be a next_cursor of this list")),
});

export const revokeAppKeyQuery = z.object({ reason: z.optional(reasonText) });

const slugOf = (context: AppContext): string => context.req.param("slug") ?? "";

/** Creates a key. Only the first response under an idempotency key contains the secret. */
export function addAppKey(
  context: AppContext,
  slug: string,
  { label, reason }: z.output<typeof addAppKeyBody>,
  key: string | undefined,
) {
  const action = {
    act: "app_key.add",
    subject: slug,
    reason: reason ?? null,
    details: { label },
    key,
  };
  const { app_records } = context.get("services");
  const perform = async (guard: IdempotencyGuard | null) => {
    const made = await app_records.addKey(slug, label, guard?.key ?? null);
    return made.ok ? accepted({ value: made.value, replayed: made.value.key === null }) : made;
  };
  // The id of a new key, by which the log names the key as an actor, is known only now.
  return performAction(context, action, perform, ({ id, last_four }) => ({
    key_id: { from: null, to: id },
    last_four: { from: null, to: last_four },
  }));
}

export function revokeAppKey(
  context: AppContext,
  slug: string,
  key_id: string,
  { reason }: z.output<typeof revokeAppKeyQuery>,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const id = key_id.toLowerCase();
  const action = {
    act: "app_key.revoke",
    subject: slug,
    reason: reason ?? null,
    details: { key_id: id },
    key,
  };
  let changes: Changes | null = null;
  const revoke = async () => {
    const revoked = await context.get("services").app_records.revokeKey(slug, id);
    if (revoked.ok) {
      const { label, last_four } = revoked.value;
      changes = { label: { from: label, to: null }, last_four: { from: last_four, to: null } };
    }
    return revoked;
  };
  return performActionOnce(context, action, revoke, () => changes);
}

export const postAppKey = factory.createHandlers(validBody(addAppKeyBody), async (context) => {
  const body = context.req.valid("json");
  const added = await addAppKey(context, slugOf(context), body, idempotencyKey(context));
  return respondOnce(context, added, ({ created_at_ms, ...key }) => ({
    ...key,
    created_at: timestamp(created_at_ms),
  }));
});

export const listAppKeys = factory.createHandlers(validQuery(listAppKeysQuery), async (context) => {
  const { limit, cursor: before_id } = context.req.valid("query");
  const { app_records } = context.get("services");
  const listed = await app_records.listKeys(slugOf(context), { before_id, limit: limit + 1 });
  if (!listed.ok) return refuse(context, listed.refusal);
  const page = listed.value.slice(0, limit);
  const next_cursor = listed.value.length > limit ? page.at(-1)?.id : undefined;
  return context.json({
    keys: page.map(({ created_at_ms, last_used_at_ms, ...key }) => ({
      ...key,
      created_at: timestamp(created_at_ms),
      last_used_at: last_used_at_ms === null ? null : timestamp(last_used_at_ms),
    })),
    ...(next_cursor === undefined ? {} : { next_cursor }),
  });
});

export const deleteAppKey = factory.createHandlers(
  validQuery(revokeAppKeyQuery),
  async (context) => {
    const query = context.req.valid("query");
    const id = context.req.param("id") ?? "";
    const key = idempotencyKey(context);
    return respondDone(context, await revokeAppKey(context, slugOf(context), id, query, key));
  },
);
