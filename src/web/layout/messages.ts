/** The texts that say what went wrong or what was done, each with the next step. */
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import type { SignInFailure } from "../../identity/port.ts";
import { message, type Message, type PlainText, type Said } from "../language/text.tsx";

export interface Problem {
  readonly title: Said;
  /** The facts, if the title does not say everything. */
  readonly what?: Said;
  /** The address that the problem is about, in a form that is safe to show. */
  readonly address?: string;
  /** The person's next step. */
  readonly next: Said;
}

/** A form with an invalid field; `what` names the field. */
export function formProblem(what: Said): Problem {
  return {
    title: "Please check the form",
    what,
    next: "Nothing was changed. Go back, correct the field, and send the form again.",
  };
}

/** A suspension with the operator's reason. */
export const suspendedFor = (public_reason: string): Pick<Problem, "what" | "next"> => ({
  what: message("The operator of this service suspended it, and wrote: “{public_reason}”", {
    public_reason,
  }),
  next: "Nothing in it is lost. If you disagree, contact the operator. You can sign out and download your data here.",
});

/** A fault of ours, with the id by which operators find it. */
export const internalProblem = (request_id: string): Problem => ({
  title: "Something went wrong on our side",
  what: "Your last action may or may not have been completed.",
  next: message("To report it, send the request id {request_id}.", { request_id }),
});

/** Refusals that a person can see in a browser. */
export const PAGE_PROBLEMS: Readonly<Partial<Record<RefusalCode, Problem>>> = {
  redirect_not_allowed: {
    title: "We can’t send you back to that address",
    what: "Nothing was changed. The page that sent you here asked us to return you to an address that this service does not allow:",
    next: "If you didn’t expect this, close the page. If this is your app, ask the operator to add its origin to ALLOWED_ORIGINS or to the app’s origins.",
  },
  return_to_not_allowed: {
    title: "This link leads back to an unknown address",
    what: "Nothing was changed. The link asks us to return you to an address that belongs to neither the app nor the program that you connected:",
    next: "If you didn’t expect this, close the page. If this is your app, use an address on the app’s origins or on your client’s redirect addresses.",
  },
  origin_not_allowed: {
    title: "This request came from another site",
    what: "It was not sent from one of our own pages or from a known app. Nothing was changed.",
    next: "Open the page again and use its buttons.",
  },
  not_found: {
    title: "Page not found",
    next: "Check the address, or go to your account.",
  },
  unknown_host: {
    title: "This is not our address",
    what: "You opened this service under a name that it does not use.",
    next: "Go to the address below. If a link brought you here, do not trust that link.",
  },
  https_required: {
    title: "This connection is not secure",
    what: "The request was sent over plain http. Nothing was changed.",
    next: "Open the service over https and try again there.",
  },
  not_operator: {
    title: "This page is for operators only",
    what: "Only the people who run this service can use the console.",
    next: "Go back to your account. To get access, ask the person who runs this service to add you to OPERATORS.",
  },
  role_required: {
    title: "Your role does not include this",
    next: "Ask an operator with that role to do it. Nothing was changed.",
  },
  job_not_found: {
    title: "Job not found",
    next: "Check the address, or find the job in your list of jobs.",
  },
  account_unknown: {
    title: "Account not found",
    next: "Search for the person by e-mail address.",
  },
  identity_ambiguous: {
    title: "Several people have this e-mail address",
    next: "Search for the address in the list of accounts, and open the right one there.",
  },
  app_not_found: {
    title: "App not found",
    next: "Check the list of apps, or register the app.",
  },
  app_stopped: {
    title: "You stopped this app",
    what: "It cannot use your account or your credits.",
    next: "If you want to use it, allow it again on the page Access.",
  },
  suspended: {
    title: "This account is suspended",
    what: "The operator of this service has suspended it for now. Nothing in it is lost.",
    next: "Ask the operator of this service for the reason. You can sign out and download your data here.",
  },
  loopback_required: {
    title: "This works only on your own machine",
    what: "Signing in without a password is for development. It works only at http://localhost.",
    next: "Open the service at http://localhost, with the same port.",
  },
  method_not_allowed: {
    title: "This action isn’t available here",
    what: "A form or a program sent a request to an address that does not accept it. Nothing was changed.",
    next: "Go back, or go to your account.",
  },
  misconfigured: {
    title: "This service is not set up yet",
    what: "A setting is missing or wrong, so the service can’t start. This is not your fault.",
    next: "Try again later. If you run this service, its log names each setting and how to correct it.",
  },
  rate_limited: {
    title: "Too many attempts",
    what: "Your account or your network has sent too many requests in a short time. Nothing was done.",
    next: "Wait a minute, then try again.",
  },
  unavailable: {
    title: "The service is temporarily unavailable",
    what: "Your last action may or may not have been completed.",
    next: "Wait a few seconds, check whether it was completed, and try again if not.",
  },
  payments_unavailable: {
    title: "The payment service is not responding",
    what: "Nothing was paid and nothing was changed.",
    next: "Try again in a few minutes.",
  },
  payments_refused: {
    title: "The payment service refused this",
    what: "Nothing was paid.",
    next: "Ask the operator of this service.",
  },
  package_unknown: {
    title: "This package is not for sale any more",
    what: "Nothing was paid.",
    next: "Go to your account and choose another one.",
  },
  account_full: {
    title: "Your account is full",
    what: "It has stored as much as it can. Jobs that have started can still finish.",
    next: "Ask the operator of this service what to do.",
  },
  newer_data: {
    title: "Your account is being updated",
    what: "It was changed by a newer version of this service than the one that is running now. Nothing was lost.",
    next: "Try again in a few minutes.",
  },
  account_restoring: {
    title: "Your account is being restored",
    what: "An operator of this service brings it back from its archive.",
    next: "Try again in a few minutes.",
  },
};

/** Why a sign-in failed. `provider` is the name on its button. */
export const SIGN_IN_PROBLEMS: Readonly<
  Record<SignInFailure, (provider: string | Message) => Problem>
> = {
  cancelled: (provider) => ({
    title: "You were not signed in",
    what: message("{provider} reported that the sign-in was cancelled or not allowed.", {
      provider,
    }),
    next: "Try again, or choose another way to sign in.",
  }),
  expired: () => ({
    title: "This sign-in has expired",
    what: "It took longer than ten minutes, was already finished, or was started in another browser.",
    next: "Start again here or in the app that you came from.",
  }),
  mismatch: (provider) => ({
    title: "We couldn’t verify this sign-in",
    what: message(
      "The response does not belong to the sign-in with {provider} that this browser started. You were not signed in.",
      { provider },
    ),
    next: "Start again here. If a link brought you to this page, do not use that link again.",
  }),
  provider_unreachable: (provider) => ({
    title: message("{provider} is not responding", { provider }),
    what: "You were not signed in.",
    next: "Try again in a minute, or choose another way to sign in.",
  }),
  provider_failed: (provider) => ({
    title: message("Sign-in with {provider} failed", { provider }),
    what: message("{provider} sent a response that we could not use. You were not signed in.", {
      provider,
    }),
    next: "Try again. If it keeps failing, tell the operator of this service.",
  }),
  not_signed_in_again: (provider) => ({
    title: message("{provider} did not ask you to sign in", { provider }),
    what: "The app that you came from wants you to sign in again. You were not signed in.",
    next: message("Sign out at {provider} and try again, or choose another way to sign in.", {
      provider,
    }),
  }),
  issuer_changed: (provider) => ({
    title: message("Sign-in with {provider} is not set up correctly", { provider }),
    what: "You were not signed in. Nothing was changed.",
    next: "Choose another way to sign in, and tell the operator of this service. The log says what to correct.",
  }),
  linked_elsewhere: (provider) => ({
    title: message("This {provider} account is already in use", { provider }),
    what: "It is linked to another account here, so it was not linked to yours.",
    next: "Sign in with it and unlink it there first, or link a different one.",
  }),
  linked_another: (provider) => ({
    title: message("You already have a {provider} account linked", { provider }),
    what: "You can link one account of each provider.",
    next: "Unlink the one that you have, then link the other one.",
  }),
  link_session_ended: (provider) => ({
    title: message("{provider} was not linked", { provider }),
    what: "You were signed out or signed in as someone else before it was finished.",
    next: "Sign in, then link it again from your account.",
  }),
  passkey_missing: () => ({
    title: "Passkeys need JavaScript",
    what: "Your browser did not run the script that asks for your passkey. Nothing was changed.",
    next: "Allow JavaScript for this page and try again, or choose another way to sign in.",
  }),
  passkey_unknown: () => ({
    title: "We do not know this passkey",
    what: "It was removed from its account, or its account was deleted. You were not signed in.",
    next: "Delete it from your device or password manager, and sign in with another passkey or in another way.",
  }),
  passkey_refused: () => ({
    title: "We couldn’t verify this passkey",
    what: "Your device’s response was not valid. Nothing was changed.",
    next: "Try again. If it keeps failing, sign in another way and remove this passkey from your account.",
  }),
};

/** The action just done, shown on the page that follows. */
const NOTICES: Readonly<Record<string, PlainText>> = {
  signed_out: "You are signed out.",
  signed_out_everywhere:
    "You are signed out in every browser. Open apps notice within 15 minutes. Tokens, and connections that may stay connected, keep their access; you can revoke them on the page Access.",
  signed_out_and_tokens_ended:
    "You are signed out in every browser, and all connections and tokens have lost their access here; those for a resource stop there within ten minutes. Open apps notice within 15 minutes.",
  linked: "Linked. You can now sign in this way.",
  unlinked:
    "Unlinked. You can no longer sign in this way, and everything that you approved with it has lost its access here; at a resource it stops within ten minutes. Open apps notice within 15 minutes.",
  only_one_left: "This is your only way to sign in. Link another one first.",
  app_stopped:
    "Stopped. The app can start no more jobs with your credits. Jobs that it has already started can still finish.",
  app_allowed: "Allowed. The app can use your credits for its own jobs again.",
  job_cancelled:
    "Cancelled. The job ended now, as if it had timed out. If its app still completes it, you pay what it cost.",
  job_ended: "This job had already ended, so it was not cancelled.",
  session_ended: "Ended. That browser has to sign in again.",
  no_receipt: "Stripe has no receipt for this payment. Ask for one if you need it.",
  receipt_unavailable: "Stripe did not give the receipt. Try again in a minute.",
  top_up_on: "Automatic top-up is on. Saving the card charged nothing.",
  top_up_saved: "Saved. It applies from now on.",
  top_up_off: "Automatic top-up is off. A payment that is already on its way is still credited.",
  connection_changed: "Saved. It applies from the next request.",
  revoked:
    "Revoked. It stopped here at once. If it was for a resource, it stops there within ten minutes.",
  account_deleted: "That account was deleted. Sign in to create a new one.",
  not_linked: "That was not linked to your account.",
};

/** The text of a notice that a query names; null for an unknown name. */
export function noticeText(name: string | undefined): PlainText | null {
  return name !== undefined && Object.hasOwn(NOTICES, name) ? (NOTICES[name] ?? null) : null;
}
