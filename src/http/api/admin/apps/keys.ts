/** `/api/admin/apps/{slug}/keys`: the keys of an app's servers, made, listed and revoked. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
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
import { answerDone, answerOnce, timestamp } from "../../../views.ts";
import { act, actOnce } from "../act.ts";
import { reason as reasonText } from "../reason.ts";

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

/** Makes a key; its secret is in the first answer of an idempotency key alone. */
export function addAppKey(
  context: AppContext,
  slug: string,
  { label, reason }: z.output<typeof addAppKeyBody>,
  key: string | undefined,
) {
  const asked = {
    act: "app_key.add",
    subject: slug,
    reason: reason ?? null,
    details: { label },
    key,
  };
  const { app_records } = context.get("services");
  return act(context, asked, async (guard) => {
    const made = await app_records.addKey(slug, label, guard?.key ?? null);
    return made.ok ? accepted({ value: made.value, replayed: made.value.key === null }) : made;
  });
}

/** Ends a key of the app. */
export function revokeAppKey(
  context: AppContext,
  slug: string,
  key_id: string,
  { reason }: z.output<typeof revokeAppKeyQuery>,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const id = key_id.toLowerCase();
  const asked = {
    act: "app_key.revoke",
    subject: slug,
    reason: reason ?? null,
    details: { key_id: id },
    key,
  };
  return actOnce(context, asked, () => context.get("services").app_records.revokeKey(slug, id));
}

export const postAppKey = factory.createHandlers(validBody(addAppKeyBody), async (context) => {
  const asked = context.req.valid("json");
  const answer = await addAppKey(context, slugOf(context), asked, idempotencyKey(context));
  return answerOnce(context, answer, ({ created_at_ms, ...key }) => ({
    ...key,
    created_at: timestamp(created_at_ms),
  }));
});

export const listAppKeys = factory.createHandlers(validQuery(listAppKeysQuery), async (context) => {
  const { limit, cursor: before_id } = context.req.valid("query");
  const { app_records } = context.get("services");
  const answer = await app_records.listKeys(slugOf(context), { before_id, limit: limit + 1 });
  if (!answer.ok) return refuse(context, answer.refusal);
  const page = answer.value.slice(0, limit);
  const next_cursor = answer.value.length > limit ? page.at(-1)?.id : undefined;
  return context.json({
    keys: page.map(({ created_at_ms, ...key }) => ({
      ...key,
      created_at: timestamp(created_at_ms),
    })),
    ...(next_cursor === undefined ? {} : { next_cursor }),
  });
});

export const deleteAppKey = factory.createHandlers(
  validQuery(revokeAppKeyQuery),
  async (context) => {
    const asked = context.req.valid("query");
    const id = context.req.param("id") ?? "";
    const key = idempotencyKey(context);
    return answerDone(context, await revokeAppKey(context, slugOf(context), id, asked, key));
  },
);
