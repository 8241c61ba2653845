/** The error messages of refusals about apps, their keys, webhooks, OAuth clients, resources and plans. */
import type { ErrorTable } from "./table.ts";

const changed = (kind: string): string =>
  `This ${kind} already exists with other settings, or it was changed after you read it. Read it again, then send its current version.`;

export const APPS = {
  app_settles: "Only this app's own server can complete or fail its jobs, with the app's key.",
  app_stopped: ({ app_slug }) => ({
    error: `The account's holder stopped the app ${app_slug}. They can allow it again on the page /account/access.`,
  }),
  app_not_registered: ({ app_slug }) => ({
    error: `No app is registered with the slug ${app_slug}. Check its spelling, or ask the operator to register it.`,
  }),
  app_paused: ({ message }) => ({ error: message }),
  app_not_found: "No app is registered with this slug. Check the slug.",
  app_changed: changed("app"),
  app_key_not_found: "The app has no key with this id.",
  app_key_revoked:
    "The key that this request created was revoked. To create another, use a new Idempotency-Key.",
  app_key_label_taken:
    "Another key of this app has this label. Choose another label, so that the keys can be told apart.",
  webhook_changed: changed("webhook"),
  webhook_not_found: "The app has no webhook with this id.",
  client_changed: changed("client"),
  client_not_found: "The app has no OAuth client with this id.",
  client_deleted:
    "A client with this id was deleted, and its id is not used again. Choose another id.",
  resource_changed: changed("resource"),
  resource_not_found: "The app has no resource with this id.",
  resource_taken:
    "Another resource is registered with this address. Delete that one first, or use another address.",
  plan_changed: changed("plan"),
  plan_not_found: "No plan has this id.",
  plan_in_use: ({ accounts }) => ({
    error: `${accounts} ${accounts === 1 ? "account has" : "accounts have"} this plan. Give them another plan first.`,
    more: { accounts },
  }),
} satisfies Partial<ErrorTable>;
