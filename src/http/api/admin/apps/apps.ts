/**
 * `GET /api/admin/apps` lists the registered apps, by slug. `PUT …/apps/{slug}` registers an app, or saves it;
 * `PATCH` changes some of its settings; `POST` below it pauses it.
 */
import type { AppRecord } from "../../../../operator/save_app.ts";
import { listAppsQuery, readApps } from "../../../../operator/list_apps.ts";
import * as pause from "../../../../operator/pause_app.ts";
import * as app from "../../../../operator/save_app.ts";
import { actingOf } from "../../../caller/acting.ts";
import { endpoint } from "../../endpoint.ts";
import { refuse } from "../../../refusals.ts";
import { appSlug } from "../../../validation.ts";
import { pauseView, respondOnce, timestamp } from "../../../views.ts";
import { refuseField } from "../refuse_field.ts";

/** An app in the form of the API. */
function appView({ created_at_ms, paused_at_ms, pause_message, ...record }: AppRecord) {
  const { icon_hash: _, last_audit_id: __, ...app } = record;
  const paused = pauseView({ paused_at_ms, pause_message });
  return { ...app, paused, created_at: timestamp(created_at_ms) };
}

export const saveApp = endpoint(
  {
    at: "PUT /api/admin/apps/{slug}",
    role: "admin",
    body: app.saveAppBody,
    refusals: ["app_changed", "app_not_found"],
  },
  async (context, { params, body, key }) => {
    const slug = appSlug.safeParse(params.slug);
    if (!slug.success) {
      const detail = `The app's slug ${slug.error.issues[0]?.message}.`;
      return refuse(context, { code: "invalid_request", detail });
    }
    const problem = await app.findAppProblem(context.get("services"), body);
    if (problem !== null) return refuseField(context, problem);
    const saved = await app.saveApp(await actingOf(context), slug.data, { ...body, key });
    return respondOnce(context, saved, ({ record }) => ({ app: appView(record) }));
  },
);

export const changeApp = endpoint(
  {
    at: "PATCH /api/admin/apps/{slug}",
    role: "admin",
    body: app.changeAppBody,
    refusals: ["app_changed", "app_not_found"],
  },
  async (context, { params, body, key }) => {
    const problem = await app.findAppProblem(context.get("services"), body);
    if (problem !== null) return refuseField(context, problem);
    const saved = await app.saveApp(await actingOf(context), params.slug, { ...body, key });
    return respondOnce(context, saved, ({ record }) => ({ app: appView(record) }));
  },
);

export const pauseApp = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/pause",
    role: "admin",
    body: pause.pauseAppBody,
    refusals: ["app_not_found"],
  },
  async (context, { params, body, key }) => {
    const paused = await pause.pauseApp(await actingOf(context), params.slug, { ...body, key });
    return respondOnce(context, paused, (record) => ({ app: appView(record) }));
  },
);

export const continueApp = endpoint(
  {
    at: "POST /api/admin/apps/{slug}/continue",
    role: "admin",
    body: pause.continueAppBody,
    refusals: ["app_not_found"],
  },
  async (context, { params, body, key }) => {
    const request = { ...body, key };
    const continued = await pause.continueApp(await actingOf(context), params.slug, request);
    return respondOnce(context, continued, (record) => ({ app: appView(record) }));
  },
);

export const listApps = endpoint(
  {
    at: "GET /api/admin/apps",
    role: "viewer",
    query: listAppsQuery,
  },
  async (context, { query }) => {
    const { apps, next_cursor } = await readApps(context.get("services"), query);
    return context.json({
      apps: apps.map(({ granted_today, ...app }) => ({ ...appView(app), granted_today })),
      next_cursor,
    });
  },
);
