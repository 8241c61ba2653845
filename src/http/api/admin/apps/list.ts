/** `GET /api/admin/apps`: the registered apps, by slug. */
import * as z from "zod/mini";
import { factory, type AppContext } from "../../../context.ts";
import { appSlug, pageLimit, validQuery } from "../../../validation.ts";
import { timestamp } from "../../../views.ts";

export const listAppsQuery = z.object({ limit: pageLimit, cursor: z.optional(appSlug) });

/** A page of the registry. */
export async function readApps(context: AppContext, query: z.output<typeof listAppsQuery>) {
  const { limit, cursor: after_slug } = query;
  const rows = await context.get("services").app_records.list({ after_slug, limit: limit + 1 });
  const apps = rows.slice(0, limit);
  return { apps, next_cursor: rows.length > limit ? apps.at(-1)?.slug : undefined };
}

export const listApps = factory.createHandlers(validQuery(listAppsQuery), async (context) => {
  const { apps, next_cursor } = await readApps(context, context.req.valid("query"));
  return context.json({
    apps: apps.map(({ created_at_ms, ...app }) => ({
      ...app,
      created_at: timestamp(created_at_ms),
    })),
    ...(next_cursor === undefined ? {} : { next_cursor }),
  });
});
