/** Labels and texts of the console. */

/** What an operator can do to one account. The keys are the last part of the path. */
export const ACCOUNT_ACTIONS = {
  plan: {
    title: "Change the plan",
    button: "Change the plan",
    effect: "Apps can read the plan. The balance does not change.",
    done: "The plan was changed.",
    reason_hint: "The account’s holder sees this in their statement.",
  },
  suspend: {
    title: "Suspend the account",
    button: "Suspend",
    effect:
      "The holder can only sign out. Nothing is lost: running jobs can still finish, and you can restore the account.",
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
      "Every browser has to sign in again. Open apps notice within 15 minutes. Devices and tokens keep their access.",
    done: "All sessions were ended.",
    reason_hint: "Optional. This is kept in the audit log.",
  },
  "revoke-token": {
    title: "Revoke a personal token",
    button: "Revoke",
    effect:
      "The device or program that uses it loses its access immediately. This cannot be undone.",
    done: "The token was revoked.",
    reason_hint: "Optional. This is kept in the audit log.",
  },
  rebuild: {
    title: "Refresh lists and charts",
    button: "Refresh",
    effect:
      "Use this if lists and charts do not match this account. Its balance and jobs are sent to the read model again. Nothing in the account changes.",
    done: "Lists and charts are being refreshed. This usually takes a few seconds.",
    reason_hint: null,
  },
} as const;

export type AccountAction = keyof typeof ACCOUNT_ACTIONS;

/** Actions that remove access; their buttons are red. */
export const DANGEROUS_ACTIONS: readonly string[] = ["suspend", "signout", "revoke-token"];

const NOTICES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(ACCOUNT_ACTIONS).map(([name, { done }]) => [name, done])),
  given: "The credits were given.",
  taken: "The credits were taken.",
  "app-saved": "The app’s settings were saved. They take effect within a minute.",
  "key-revoked": "The key was revoked. It stops working within a minute.",
};

/** The text of a notice that a query names; null for an unknown name. */
export function consoleNoticeText(name: string | undefined): string | null {
  return name !== undefined && Object.hasOwn(NOTICES, name) ? (NOTICES[name] ?? null) : null;
}

/** Names of the audit log's `act`. One that is missing here is shown as it is stored. */
export const ACT_NAMES: Readonly<Record<string, string>> = {
  "account.credits": "Credits adjusted",
  "account.personal_token.revoke": "Personal token revoked",
  "account.plan": "Plan changed",
  "account.rebuild": "Lists and charts refreshed",
  "account.restore": "Account restored",
  "account.signout": "Signed out everywhere",
  "account.suspend": "Account suspended",
  "accounts.rebuild": "Read model repaired",
  "app.save": "App saved",
  "app_key.add": "App key added",
  "app_key.revoke": "App key revoked",
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
  refund: "Return the credits on hold to the account",
  charge: "Charge the credits on hold as the job’s cost",
} as const;

/** Problems of a form whose fields are valid. */
export const FORM_PROBLEMS = {
  reused:
    "This form was already sent with other values. Check the account to see whether that was done. Send the form again if you still want to make this change.",
  changed:
    "Someone else changed this app after you opened this form. Each field that differs from yours shows the saved value. Send the form again to save your values instead.",
  revoked: "The key that this form added was revoked. To add another key, send the form again.",
  unavailable:
    "The service did not respond, and this may or may not have been done. Send the form again: it is done only once, however often you send it.",
} as const;
