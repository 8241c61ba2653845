/** `/api/admin/apps/{slug}/keys`: creates, lists and revokes the keys of an app's servers. */
import * as z from "zod/mini";
import * as app_keys from "../../../../operator/app_keys.ts";
import { reasonQuery } from "../../../../operator/audited_action.ts";
import { actingOf } from "../../../caller/acting.ts";
import { endpoint } from "../../endpoint.ts";
import { refuse } from "../../../refusals.ts";
import { pageLimit } from "../../../validation.ts";
import { respondDone, respondOnce, timestamp } from "../../../views.ts";

const listAppKeysQuery = z.object({
  limit: pageLimit,
  cursor: z.optional(z.uuid("must be a next_cursor of this list")),
});

export const addAppKey = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/keys",
    role: "admin",
    body: app_keys.addAppKeyBody,
    refusals: ["app_not_found", "limit_reached:app_keys", "app_key_label_taken", "app_key_revoked"],
  },
  async (context, { params, body, key }) => {
    const added = await app_keys.addAppKey(await actingOf(context), params.slug, { ...body, key });
    return respondOnce(context, added, ({ created_at_ms, ...made }) => ({
      ...made,
      created_at: timestamp(created_at_ms),
    }));
  },
);

export const listAppKeys = endpoint(
  {
    at: "GET /api/admin/apps/{slug}/keys",
    role: "viewer",
    query: listAppKeysQuery,
    refusals: ["app_not_found"],
  },
  async (context, { params, query: { limit, cursor: before_id } }) => {
    const { app_records } = context.get("services");
    const listed = await app_records.listKeys(params.slug, { before_id, limit: limit + 1 });
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
  },
);

export const revokeAppKey = endpoint(
  {
    at: "DELETE /api/admin/apps/{slug}/keys/{id}",
    role: "admin",
    query: reasonQuery,
    refusals: ["app_key_not_found"],
  },
  async (context, { params: { slug, id }, query, key }) => {
    const acting = await actingOf(context);
    return respondDone(context, await app_keys.revokeAppKey(acting, slug, id, { ...query, key }));
  },
);
