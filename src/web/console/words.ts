/** The words of the console that are not markup. */

/** What operators do to one account, by the last part of its address. */
export const ACCOUNT_ACTS = {
  plan: {
    title: "Change the plan",
    button: "Change the plan",
    says: "Apps read the plan. No credits move.",
    done: "The plan was changed.",
    reason: "Its owner sees this in their statement.",
  },
  suspend: {
    title: "Suspend the account",
    button: "Suspend",
    says: "Its owner is kept out everywhere but at signing out. Nothing is lost: jobs that run can still end, and you can restore it.",
    done: "Suspended. Its owner is kept out from now on.",
    reason: "For the audit log.",
  },
  restore: {
    title: "Restore the account",
    button: "Restore",
    says: "Its owner is let in again, with the sessions and tokens they had.",
    done: "Restored. Its owner is let in again.",
    reason: "For the audit log.",
  },
  signout: {
    title: "Sign out everywhere",
    button: "Sign out everywhere",
    says: "Every browser has to sign in again; open apps follow within 15 minutes. Devices and tokens go on.",
    done: "Every session was ended.",
    reason: "For the audit log; may be empty.",
  },
  "revoke-token": {
    title: "Revoke a personal token",
    button: "Revoke",
    says: "Whatever holds it loses its access at once. That cannot be taken back.",
    done: "The token was revoked.",
    reason: "For the audit log; may be empty.",
  },
  rebuild: {
    title: "Send to the read model anew",
    button: "Send",
    says: "Lists and charts get its balance and jobs anew. Nothing in the account changes.",
    done: "The account was sent to the read model.",
    reason: null,
  },
} as const;

export type AccountAct = keyof typeof ACCOUNT_ACTS;

/** Acts that take something from somebody. */
export const TAKING_ACTS: readonly string[] = ["suspend", "signout", "revoke-token"];

/** What was done, by the word in the address of the page that follows. */
const DONE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(ACCOUNT_ACTS).map(([name, { done }]) => [name, done])),
  given: "Credits were given.",
  taken: "Credits were taken.",
  "app-saved": "The app’s settings were saved. They hold within a minute.",
  "key-revoked": "The key was revoked. It stops working within a minute.",
};

/** The notice of this name; null for any other text. */
export function doneWords(name: string | undefined): string | null {
  return name !== undefined && Object.hasOwn(DONE, name) ? (DONE[name] ?? null) : null;
}

/** Acts in the audit log; one that has no name here stands as it is. */
export const ACT_NAMES: Readonly<Record<string, string>> = {
  "account.credits": "Credits adjusted",
  "account.personal_token.revoke": "Personal token revoked",
  "account.plan": "Plan changed",
  "account.rebuild": "Sent to the read model",
  "account.restore": "Restored",
  "account.signout": "Signed out everywhere",
  "account.suspend": "Suspended",
  "accounts.rebuild": "Read model repaired",
  "app.save": "App saved",
  "app_key.add": "App key added",
  "app_key.revoke": "App key revoked",
};

export const OUTCOME_NAMES: Readonly<Record<string, string>> = {
  done: "Done",
  refused: "Refused",
  replayed: "Repeated, not done again",
  unknown: "End not seen: look at the account",
};

export const JOB_STATUS_NAMES = {
  started: "Running",
  completed: "Done",
  failed: "Failed",
} as const;

export const SETTLE_NAMES = {
  holder: "Whoever acts for the account, and the app’s key",
  app: "The app’s key alone",
} as const;

export const ON_EXPIRY_NAMES = {
  refund: "The hold goes back to the account",
  charge: "The hold is kept as the job’s cost",
} as const;

/** What went wrong with a form that was fine in itself. */
export const FORM_PROBLEMS = {
  reused:
    "This form was sent before, with something else in it. Look at the account whether that was done; send this again if you still mean it.",
  changed:
    "Somebody changed this app since you opened this form. Each field that differs from yours shows what is saved now. Send the form again to save yours instead.",
  revoked: "The key that this form added was revoked. To add another, send the form again.",
  unavailable:
    "The service could not answer, and this may or may not have been done. Send the form again: it is done once, however often it is sent.",
} as const;
