/** `GET /api/admin/apps`: the registered apps, by slug. */
import * as z from "zod";
import { factory } from "../../context.ts";
import { appSlug, pageLimit, validQuery } from "../../validation.ts";
import { timestamp } from "../../views.ts";

export const listAppsQuery = z.object({ limit: pageLimit, cursor: appSlug.optional() });

export const listApps = factory.createHandlers(validQuery(listAppsQuery), async (context) => {
  const { limit, cursor: after_slug } = context.req.valid("query");
  const rows = await context.get("services").app_records.list({ after_slug, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const next_cursor = rows.length > limit ? page.at(-1)?.slug : undefined;
  return context.json({
    apps: page.map(({ created_at_ms, ...app }) => ({
      ...app,
      created_at: timestamp(created_at_ms),
    })),
    ...(next_cursor === undefined ? {} : { next_cursor }),
  });
});
