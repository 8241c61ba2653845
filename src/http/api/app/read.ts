/** `GET /api/app`: the app whose key the request has. */
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "../../../domain/limits.ts";
import { grantedToday } from "../../../operator/list_apps.ts";
import { endpoint } from "../endpoint.ts";
import { pauseView } from "../../views.ts";
import { refuse } from "../../refusals.ts";

export const readApp = endpoint({ at: "GET /api/app", caller: "app" }, async (context) => {
  const { app_slug = "" } = context.get("own_app") ?? {};
  const app = (await context.get("services").apps.all()).get(app_slug);
  if (app === undefined) {
    const retry_after_seconds = UNAVAILABLE_RETRY_AFTER_SECONDS;
    return refuse(context, { code: "unavailable", retry_after_seconds });
  }
  const { slug, name, settle, on_expiry, starter_credits, daily_starter_budget } = app;
  const granted = await grantedToday(context.get("services"), [slug]);
  const granted_today = granted === null ? null : (granted.get(slug) ?? 0);
  const starter = { starter_credits, daily_starter_budget, granted_today };
  return context.json({ slug, name, settle, on_expiry, ...starter, paused: pauseView(app) });
});
