/** Schemas of responses about apps and their keys; strict, as those in `schemas.ts`. */
import * as z from "zod";
import { EXPIRY_OUTCOMES, SETTLERS } from "../../domain/app_policy.ts";
import { cap_period, next_cursor, record_version, slug, time, uuid } from "./schemas.ts";
import { count, named, positive, text_or_null } from "./shapes.ts";

export const app_pause = named("AppPause", {
  since: time,
  message: z.string().describe("The error of requests for jobs."),
})
  .nullable()
  .describe("An operator's pause of the app; null: it is not paused.");

const app_record = named("AppRecord", {
  slug,
  name: z.string(),
  starter_credits: count,
  origins: z.array(z.string()),
  daily_starter_budget: count
    .nullable()
    .describe("The most that its grants of one UTC day may add up to; null: no limit."),
  settle: z.enum(SETTLERS).describe("The caller that completes and fails its jobs."),
  on_expiry: z
    .enum(EXPIRY_OUTCOMES)
    .describe("Whether the reserve of an expired job is refunded or charged."),
  max_overage_percent: count
    .nullable()
    .describe("How far a job's cost may exceed its estimate, in percent; null: no limit."),
  upstream_providers: z
    .array(z.string())
    .describe("Sign-in providers whose upstream tokens the app's origins may receive."),
  icon: text_or_null.describe(
    "The address that the icon was copied from; null: no icon. Pages show the copy.",
  ),
  color: text_or_null.describe("The app's colour, such as #12507b; null: none."),
  suggested_cap: z
    .strictObject({ credits: count, period: cap_period })
    .nullable()
    .describe("The cap that the page suggests when a person approves a device for the app."),
  starter_excluded_domains: z
    .array(z.string())
    .describe("E-mail domains whose people get no starter credits of this app."),
  paused: app_pause,
  starter_expires_after_days: positive
    .nullable()
    .describe("After how many days its starter credits expire; null: never."),
  starter_only_here: z.boolean().describe("Whether only this app can use its starter credits."),
  version: record_version,
  created_at: time,
});

export const registered_app = app_record
  .extend({
    granted_today: z
      .int()
      .nullable()
      .describe(
        "Starter credits granted since midnight UTC, some seconds late; null: unknown, because the read model does not respond.",
      ),
  })
  .meta({ id: "RegisteredApp" });

export const saved_app = named("SavedApp", { app: app_record });

export const app_page = named("AppPage", { apps: z.array(registered_app), next_cursor });

const app_key = named("AppKey", {
  id: uuid,
  label: z.string(),
  last_four: z.string().length(4).describe("The last four characters of the key."),
  created_at: time,
});

export const app_key_page = named("AppKeyPage", {
  keys: z.array(
    app_key
      .extend({
        last_used_at: time
          .nullable()
          .describe("The start of the UTC day of its last use; null: it was never used."),
      })
      .meta({ id: "ListedAppKey" }),
  ),
  next_cursor,
});

export const new_app_key = named("NewAppKey", {
  ...app_key.shape,
  key: text_or_null.describe(
    "The secret, shown only once; null in the response to a repeated request.",
  ),
});
