/** Labels and texts of the console. */

import type { FigureName } from "../../domain/health.ts";
import { SUSPENDED_AT_ONCE_MAX } from "../../domain/limits.ts";
import { nameFromSlug } from "../layout/labels.ts";

/** The meaning of a figure above its limit. */
export const FIGURE_MEANINGS: Readonly<Record<FigureName, string>> = {
  fast_burn: "So many requests fail that an hour uses up 2% of what 30 days allow.",
  slow_burn: "So many requests fail that six hours use up 5% of what 30 days allow.",
  limited_requests: "This share of requests got status 429.",
  failed_requests: "Requests of the last 20 minutes got status 5xx.",
  read_model_lag: "The oldest change that lists and charts do not show yet waits this long.",
  failed_deliveries: "Updates of lists and charts failed in the last 20 minutes.",
  archive_failing: "The second copy of the ledger cannot be written for this long.",
  people_waiting: "The second copy of a person has waited for a change for this long.",
  directory_copy_age: "The newest copy of apps, keys and the audit log is this old.",
  database_size: "A database uses this share of its 10 GB.",
  half_full_accounts: "Old rows of these accounts leave for the archive by themselves.",
  filling_accounts: "These accounts use 80% of their storage. A full account starts no job.",
  differences: "In the last day, an account did not equal its copies, or its own sums.",
  comparison_age: "The schedule has not compared all accounts with their copies for this long.",
  overdue_jobs: "A started job is this far past its deadline, and still holds credits.",
  schedule_age: "The schedule, which runs every ten minutes, has not finished a run for this long.",
  failing_tasks: "Tasks of the schedule failed three times in a row.",
  failed_payment_events: "Events of the payment service could not be processed in the last hour.",
  payments_not_booked: "In the last day, somebody paid and did not get their credits.",
  failed_top_ups:
    "Automatic top-ups were not paid in the last hour, or Stripe’s response is not known.",
  dropped_payment_events: "Events of the payment service changed nothing in the last day.",
  paused_webhooks:
    "Receivers of these apps accepted nothing for three days, so they get no events.",
  failing_webhooks:
    "Receivers of these apps have accepted nothing for an hour. Events wait and are sent again.",
  used_up_budgets: "New people of these apps get no starter credits before midnight UTC.",
  spent_today: "More credits were charged today than DAILY_SPEND_ALERT_CREDITS allows.",
};

/** Figures whose name in the API is not a name for people. */
const FIGURE_NAMES: Readonly<Partial<Record<FigureName, string>>> = {
  fast_burn: "Failing requests, fast",
  slow_burn: "Failing requests, slowly",
  read_model_lag: "Delay of lists",
  failed_deliveries: "Failed updates of lists",
  failed_top_ups: "Unpaid top-ups",
};

export const figureName = (name: FigureName): string => FIGURE_NAMES[name] ?? nameFromSlug(name);

/** The scope of a figure's value. */
export const FIGURE_SCOPES: Readonly<Record<FigureName, string>> = {
  fast_burn: "in an hour",
  slow_burn: "in six hours",
  limited_requests: "in an hour",
  failed_requests: "in 20 min",
  read_model_lag: "the longest",
  failed_deliveries: "in 20 min",
  archive_failing: "the longest",
  people_waiting: "the longest",
  directory_copy_age: "since the last copy",
  database_size: "now",
  half_full_accounts: "now",
  filling_accounts: "now",
  differences: "in a day",
  comparison_age: "since it began",
  overdue_jobs: "the oldest",
  schedule_age: "since its last run",
  failing_tasks: "of the schedule",
  failed_payment_events: "in an hour",
  payments_not_booked: "in a day",
  failed_top_ups: "in an hour",
  dropped_payment_events: "in a day",
  paused_webhooks: "now",
  failing_webhooks: "now",
  used_up_budgets: "today",
  spent_today: "",
};

/** Where an account differs. */
export const DIFFERENCE_PLACES: Readonly<Record<string, string>> = {
  account: "The account itself",
  archive: "The archive",
  read_model: "These lists",
  payments: "The payment service",
};

/** Reasons of figures. One that is missing here is shown as it is stored. */
export const HEALTH_REASONS: Readonly<Record<string, string>> = {
  directory_unreadable: "the database of people and apps (D1 DIRECTORY) does not respond",
  read_model_unreadable: "the database of lists and charts (D1 DB) does not respond",
  metrics_unreadable: "Cloudflare does not respond with the metrics",
  metrics_not_set: "METRICS_READER is not set",
  not_run_yet: "the schedule has not run yet; it first runs within ten minutes of a deployment",
};

/** The actions of an operator on one account. The keys are the last part of the path. */
export const ACCOUNT_ACTIONS = {
  plan: {
    title: "Change the plan",
    button: "Change the plan",
    effect:
      "Apps can read the plan. A saved plan brings its credits at once, and again in each period. The credits of the plan before stay until their period ends.",
    done: "The plan was changed.",
    reason_hint: "The account’s holder sees this in their statement.",
  },
  suspend: {
    title: "Suspend the account",
    button: "Suspend",
    effect:
      "The holder can only sign out and download their data. Apps’ servers can still finish their jobs; the other running jobs expire. Automatic top-up is switched off, and stays off. You can restore the account.",
    done: "The account is suspended. Its holder can only sign out.",
    reason_hint: "This is kept in the audit log.",
  },
  restore: {
    title: "Restore the account",
    button: "Restore",
    effect: "The holder can use the account again, with the same sessions and tokens as before.",
    done: "The account is restored. Its holder can use it again.",
    reason_hint: "This is kept in the audit log.",
  },
  signout: {
    title: "Sign out everywhere",
    button: "Sign out everywhere",
    effect:
      "Every browser has to sign in again. Open apps notice within 15 minutes. Tokens keep their access, and so do connections that may stay connected, unless they were approved through an app’s sign-in.",
    done: "All sessions were ended.",
    reason_hint: "Optional. This is kept in the audit log.",
  },
  "revoke-token": {
    title: "Revoke a personal token",
    button: "Revoke",
    effect:
      "The device or program that uses it loses its access immediately, at the server of a resource within ten minutes. Its running jobs end. This cannot be undone.",
    done: "The token was revoked.",
    reason_hint: "Optional. This is kept in the audit log.",
  },
  rebuild: {
    title: "Refresh lists and charts",
    button: "Refresh",
    effect:
      "Use this if lists and charts do not match this account. They get its balance and jobs again. Nothing in the account changes.",
    done: "Lists and charts are being refreshed. This usually takes a few seconds.",
    reason_hint: null,
  },
  export: {
    title: "Export the person’s data",
    button: "Download",
    effect:
      "Downloads everything that this service stores about the person as one JSON file, the same as they can download themselves. Give it only to that person.",
    done: "The data was exported.",
    reason_hint: "This is kept in the audit log, and the person can see it in their data.",
  },
  delete: {
    title: "Delete the account",
    button: "Delete the account",
    effect:
      "Every session, token and key to the account stops immediately, and its credits are lost. The person’s data is erased within minutes, or within a day if a database or a receiver of webhooks is down. This cannot be undone.",
    done: "The account was deleted. Its data is being erased.",
    reason_hint:
      "The audit log keeps this after the account is gone, so do not write who the person is.",
  },
} as const;

export type AccountAction = keyof typeof ACCOUNT_ACTIONS;

/** Actions that remove access; their buttons are red. */
export const DANGEROUS_ACTIONS: readonly string[] = [
  "suspend",
  "signout",
  "revoke-token",
  "delete",
];

const NOTICES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(ACCOUNT_ACTIONS).map(([name, { done }]) => [name, done])),
  given: "The credits were given.",
  taken: "The credits were taken.",
  refunded: "The credits were given back.",
  "app-saved": "The app’s settings were saved. They take effect within a minute.",
  "app-paused": "The app is paused. Everywhere within a minute, it starts no jobs.",
  "app-continued": "The app continues. Everywhere within a minute, it starts jobs again.",
  "client-deleted": "The client was deleted. It gets no tokens any more within a minute.",
  "resource-saved": "The resource was saved. The change takes effect within a minute.",
  "resource-deleted": "The resource was deleted. No tokens are issued for it within a minute.",
  "plan-saved": "The plan was saved. Its accounts use changed rules from their next turn on.",
  "plan-deleted": "The plan was deleted.",
  "webhook-saved": "The webhook was saved. The change takes effect within a minute.",
  "webhook-replayed": "The events will be sent again.",
  "webhook-deleted": "The webhook was deleted.",
  "webhook-retried": "The events that wait are sent now. Load the page again to see the result.",
  "key-revoked": "The key was revoked. It stops working within a minute.",
};

/** The text of a notice that a query names; null for an unknown name. */
export function consoleNoticeText(name: string | undefined): string | null {
  return name !== undefined && Object.hasOwn(NOTICES, name) ? (NOTICES[name] ?? null) : null;
}

/** Problems of a selection of accounts, by their name in the address of the list. */
export const SELECTION_PROBLEMS: Readonly<Record<string, string>> = {
  none: "No account is selected. Tick the accounts to suspend, then try again.",
  many: `More than ${SUSPENDED_AT_ONCE_MAX} accounts are selected. Suspend at most ${SUSPENDED_AT_ONCE_MAX} at a time.`,
};

/** Names of the audit log's `act`. One that is missing here is shown as it is stored. */
export const ACT_NAMES: Readonly<Record<string, string>> = {
  "account.archive": "Written to the archive",
  "account.credits": "Credits adjusted",
  "account.delete": "Account deleted",
  "account.export": "Data exported",
  "account.job.refund": "Job refunded",
  "account.personal_token.revoke": "Personal token revoked",
  "account.plan": "Plan changed",
  "account.recover": "Restored to an earlier time",
  "account.rebuild": "Lists and charts refreshed",
  "account.restore": "Account restored",
  "account.signout": "Signed out everywhere",
  "account.suspend": "Account suspended",
  "accounts.archive": "All written to the archive",
  "directory.copy": "Directory copied",
  "directory.rebuild": "Directory rebuilt",
  "accounts.rebuild": "Lists and charts repaired",
  "app.save": "App saved",
  "app.pause": "App paused",
  "app.continue": "App continued",
  "app_key.add": "App key added",
  "app_key.revoke": "App key revoked",
  "oauth_client.save": "OAuth client saved",
  "oauth_client.secret": "OAuth client’s secret replaced",
  "oauth_client.delete": "OAuth client deleted",
  "resource.save": "Resource saved",
  "plan.save": "Plan saved",
  "plan.delete": "Plan deleted",
  "resource.delete": "Resource deleted",
  "app_webhook.save": "Webhook saved",
  "app_webhook.rotate": "Webhook’s secret replaced",
  "app_webhook.retry": "Webhook’s deliveries tried again",
  "app_webhook.test": "Webhook tested",
  "app_webhook.replay": "Webhook’s events sent again",
  "app_webhook.delete": "Webhook deleted",
};

export const OUTCOME_NAMES: Readonly<Record<string, string>> = {
  done: "Done",
  refused: "Refused",
  replayed: "Repeated request, not done again",
  unknown: "Outcome unknown: check the account",
};

export const SETTLE_NAMES = {
  holder: "The account’s holder and the app’s key",
  app: "Only the app’s key",
} as const;

export const ON_EXPIRY_NAMES = {
  refund: "Give the held credits back to the account",
  charge: "Charge the held credits as the job’s cost",
} as const;

/** Problems of a form whose fields are valid. */
export const FORM_PROBLEMS = {
  reused:
    "This form was already sent with other values. Check the account to see whether that was done. Send the form again if you still want to make this change.",
  changed:
    "Someone else changed this after you opened this form. Each field that differs from yours shows the saved value. Send the form again to save your values instead.",
  revoked: "The key that this form added was revoked. To add another key, send the form again.",
  unavailable:
    "The service did not respond, and this may or may not have been done. Send the form again: it is done only once, however often you send it.",
} as const;
