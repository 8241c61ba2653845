/** Registered apps and their keys in the OpenAPI document. */
import * as z from "zod";
import { done, describe } from "../../../openapi/operation.ts";
import * as records from "./apps.ts";
import * as keys from "./keys.ts";
import * as schemas from "../../../openapi/app_schemas.ts";

const KEY = {
  id: "0192f3a1-7b5e-7c3d-9a41-5d2e8f6b7c10",
  label: "render server",
  last_four: "x9Qz",
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
  icon: "https://sketch.example.com/icon.png",
  color: "#12507b",
  suggested_cap: { credits: 500, period: "month" },
  starter_excluded_domains: ["mailinator.com"],
  starter_expires_after_days: 30,
  starter_only_here: false,
};

const SAVED = { slug: "sketch", ...APP, paused: null, version: 4, created_at: KEY.created_at };

export const apps = describe(
  "Apps",
  { ...records, ...keys },
  {
    listApps: {
      summary: "The registered apps, by slug",
      description: "The settings of the apps, without their keys.",
      success: {
        description: "A page of apps.",
        schema: schemas.app_page,
        example: {
          apps: [
            {
              slug: "sketch",
              ...APP,
              paused: null,
              version: 3,
              created_at: KEY.created_at,
              granted_today: 700,
            },
          ],
        },
      },
    },
    saveApp: {
      summary: "Register an app, or change it",
      description:
        "To change an app, send the `version` that you read; to register one, omit it or send 0. If the app was saved in the meantime, or a new one's slug is registered with other settings, the response is 409 `app_changed` and nothing changes. An omitted optional field gets its default in a new app, and keeps its value in a registered app. With `settle: app`, only the app's key can complete and fail its jobs. `on_expiry` decides whether the reserve of an expired job is refunded or charged. `max_overage_percent` limits how far a job's cost may exceed its estimate: a higher cost gets 400 `overage_limit`, and a job with an estimate of 0 must cost 0. A job keeps the settings that it was created with. `upstream_providers` lists the sign-in providers whose tokens the app's origins may receive. `icon` is copied once, when you save another address than before: at most 64 KiB of PNG, JPEG, WebP or ICO, over https, without redirects. Otherwise the response is 400 `invalid_request`, and nothing changes. Pages show only the copy. `starter_excluded_domains` names e-mail domains, with their subdomains, whose people get no starter credits of this app; if the list is not empty, people without a verified e-mail address get none either. `starter_expires_after_days` and `starter_only_here` are the terms of starter credits from the next grant on. Null removes `icon`, `color` and `suggested_cap`. Changes take effect everywhere within a minute.",
      example: { ...APP, version: 3 },
      success: {
        description: "The app.",
        schema: schemas.saved_app,
        example: { app: SAVED },
      },
    },
    changeApp: {
      summary: "Change some settings of an app",
      description:
        "Settings that the body does not name keep their values; `saveApp` says what each means. Send the `version` that you read. If the app was saved in the meantime, also by a request about other settings, the response is 409 `app_changed` and nothing changes. The audit log has only the settings that differ. Changes take effect everywhere within a minute.",
      example: { max_overage_percent: 50, version: 3 },
      success: {
        description: "The app.",
        schema: schemas.saved_app,
        example: { app: { ...SAVED, max_overage_percent: 50 } },
      },
    },
    pauseApp: {
      summary: "Pause an app",
      description:
        "New jobs of the app get 403 `app_paused` with `message` as their error, whatever credential creates them, and the app makes no starter grants. Started jobs go on: progress, completing, failing and checkout work as before. An approval that its holder gave waits, and can be used when the app continues and the approval has not ended. Takes effect everywhere within a minute. A repetition with another message changes only the message. Only a registered app can be paused; a slug that nobody registered can be registered first.",
      example: {
        reason: "burns credits since 14:00",
        message: "Sketch starts no jobs today. We expect it back tomorrow morning.",
      },
      success: {
        description: "The app.",
        schema: schemas.saved_app,
        example: {
          app: {
            ...SAVED,
            paused: {
              since: "2026-11-21T14:20:00.000Z",
              message: "Sketch starts no jobs today. We expect it back tomorrow morning.",
            },
          },
        },
      },
    },
    continueApp: {
      summary: "Let a paused app continue",
      description:
        "The app starts jobs and makes starter grants again, everywhere within a minute. An app that is not paused stays as it is.",
      example: { reason: "fixed in release 41" },
      success: { description: "The app.", schema: schemas.saved_app, example: { app: SAVED } },
    },
    listAppKeys: {
      summary: "The app's valid keys",
      description:
        "Revoked keys are not listed. The keys themselves are not stored and not returned. `last_used_at` is the start of the UTC day on which a request with the key was last accepted, and null for a key that was never used.",
      success: {
        description: "A page of keys.",
        schema: schemas.app_key_page,
        example: { keys: [{ ...KEY, last_used_at: "2026-11-22T00:00:00.000Z" }] },
      },
    },
    addAppKey: {
      summary: "Create a key for the app's server",
      description:
        "The response contains the key only once. If the request is repeated with its `Idempotency-Key`, `key` is null: if you lost the first response, revoke the key and create another. After the key is revoked, a repeated request gets 409 `app_key_revoked`. No two valid keys of an app have the same label: a label in use is 409 `app_key_label_taken`.",
      example: { label: KEY.label },
      success: {
        description: "The key.",
        schema: schemas.new_app_key,
        example: { ...KEY, key: "pb_app_4f0e…x9Qz" },
      },
    },
    revokeAppKey: {
      summary: "Revoke a key",
      description:
        "The key stops working everywhere within a minute. The app's started jobs stay started; another key of the app can settle them.",
      path: { id: z.string().meta({ examples: [KEY.id] }) },
      success: done,
    },
  },
);
