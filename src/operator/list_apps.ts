/** The registered apps, by slug. */
import * as z from "zod/mini";
import { utcDayOf } from "../domain/calendar.ts";
import { errorName } from "../domain/result.ts";
import { appSlug, pageLimit } from "../fields.ts";
import type { OperatorServices } from "./acting.ts";

export const listAppsQuery = z.object({ limit: pageLimit, cursor: z.optional(appSlug) });

/** A page of the registry, with the starter credits that each app granted since midnight UTC (null: unknown). */
export async function readApps(services: OperatorServices, query: z.output<typeof listAppsQuery>) {
  const { limit, cursor: after_slug } = query;
  const rows = await services.app_records.list({ after_slug, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const granted = await grantedToday(
    services,
    page.map(({ slug }) => slug),
  );
  const apps = page.map((app) => ({
    ...app,
    granted_today: granted === null ? null : (granted.get(app.slug) ?? 0),
  }));
  return { apps, next_cursor: rows.length > limit ? page.at(-1)?.slug : undefined };
}

/** Credits by slug, some seconds late; null: the read model cannot be read. */
export async function grantedToday({ read_model }: OperatorServices, slugs: readonly string[]) {
  try {
    return await read_model.readGranted(utcDayOf(Date.now()), slugs);
  } catch (error) {
    console.error({ event: "read_model_unreadable", name: errorName(error) });
    return null;
  }
}
