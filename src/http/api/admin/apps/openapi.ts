/** The document's registry of apps and their keys, for operators. */
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { addAppKeyBody, listAppKeysQuery, revokeAppKeyQuery } from "./keys.ts";
import { listAppsQuery } from "./list.ts";
import { saveAppBody } from "./save.ts";
import { done, operation } from "../../../openapi/operation.ts";
import * as schemas from "../../../openapi/schemas.ts";

const KEY = {
  id: "0192f3a1-7b5e-7c3d-9a41-5d2e8f6b7c10",
  label: "render server",
  created_at: "2026-11-21T09:30:00.000Z",
};

const APP = {
  name: "Sketch",
  starter_credits: 100,
  origins: ["https://sketch.example.com"],
  daily_starter_budget: 10_000,
  settle: "app",
  on_expiry: "refund",
  max_overage_percent: 20,
  upstream_providers: ["google"],
};

const slug = z.object({ slug: z.string().meta({ examples: ["sketch"] }) });
const if_match_header = z.object({
  "If-Match": z
    .string()
    .regex(/^"?\d{1,15}"?$/)
    .optional()
    .describe("The version that you read, in place of the field `version`.")
    .meta({ examples: ['"3"'] }),
});
export const app_paths: ZodOpenApiPathsObject = {
  "/api/admin/apps": {
    get: operation({
      id: "listApps",
      tag: "Apps",
      summary: "The registered apps, by slug",
      description: "Their settings, without their keys.",
      security: "operator",
      query: listAppsQuery,
      success: {
        description: "A page of apps.",
        schema: schemas.app_page,
        example: { apps: [{ slug: "sketch", ...APP, version: 3, created_at: KEY.created_at }] },
      },
      refusals: [],
    }),
  },
  "/api/admin/apps/{slug}": {
    put: operation({
      id: "saveApp",
      tag: "Apps",
      summary: "Register an app, or change it",
      description:
        "Send the `version` that you read, as the field or in `If-Match`; it is 0 or omitted for a new app. If somebody saved the app since, or registered it first, the response is 409 `app_changed` and nothing changes. An omitted optional field has its default in a new app, and stays as it is in a registered one. `settle: app` lets the app's key alone complete and fail its jobs; `on_expiry` says what a job's time-out does with its reserve. `max_overage_percent` limits how far a job's cost may exceed its estimate: beyond it completing is 400 `overage_limit`, and a job of estimate 0 may cost nothing. Jobs keep what they were created under. `upstream_providers` names the sign-in providers whose tokens the app's pages get. In force everywhere within a minute.",
      security: "operator",
      path: slug,
      headers: if_match_header,
      body: { schema: saveAppBody, example: { ...APP, version: 3 } },
      idempotent: true,
      success: done,
      refusals: ["app_changed", "app_unknown"],
    }),
  },
  "/api/admin/apps/{slug}/keys": {
    get: operation({
      id: "listAppKeys",
      tag: "Apps",
      summary: "The app's living keys",
      description: "Revoked keys are not listed. The keys themselves are stored and shown nowhere.",
      security: "operator",
      path: slug,
      query: listAppKeysQuery,
      success: {
        description: "A page of keys.",
        schema: schemas.app_key_page,
        example: { keys: [KEY] },
      },
      refusals: ["app_unknown"],
    }),
    post: operation({
      id: "addAppKey",
      tag: "Apps",
      summary: "Make a key for the app's server",
      description:
        "The key is shown this once. Where the request is repeated under its `Idempotency-Key`, `key` is null: revoke the key and make another if the first response was lost. Once the key is revoked, such a request is 409 `app_key_revoked`.",
      security: "operator",
      path: slug,
      body: { schema: addAppKeyBody, example: { label: KEY.label } },
      idempotent: true,
      success: {
        description: "The key.",
        schema: schemas.new_app_key,
        example: { ...KEY, key: "pb_app_4f0e…" },
      },
      refusals: ["app_unknown", "too_many_app_keys", "app_key_revoked"],
    }),
  },
  "/api/admin/apps/{slug}/keys/{id}": {
    delete: operation({
      id: "revokeAppKey",
      tag: "Apps",
      summary: "End a key, everywhere within a minute",
      description: "Started jobs of the app stay started: another key of the app can end them.",
      security: "operator",
      path: slug.extend({ id: z.string().meta({ examples: [KEY.id] }) }),
      query: revokeAppKeyQuery,
      idempotent: true,
      success: done,
      refusals: ["app_key_not_found"],
    }),
  },
};
