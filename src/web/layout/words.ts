/** All words that tell a person what went wrong or what was done, each with what to do next. */
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import type { SignInFailure } from "../../identity/port.ts";

/** What a page says of a problem. */
export interface Problem {
  readonly title: string;
  /** What happened, where the title does not say it all. */
  readonly what?: string;
  /** An address that it is about, as it may be shown. */
  readonly address?: string;
  /** What the person can do. */
  readonly next: string;
}

/** A form that was sent with something wrong in it; `what` names the field. */
export function formProblem(what: string): Problem {
  return {
    title: "Something in this form is not right",
    what,
    next: "Nothing was changed. Go back, correct it, and send it again.",
  };
}

/** Refusals that a person can run into. */
export const PAGE_PROBLEMS: Readonly<Partial<Record<RefusalCode, Problem>>> = {
  redirect_not_allowed: {
    title: "We cannot send you back there",
    what: "The page that sent you here wants you back at an address that is not on this service’s list, so nothing was done:",
    next: "Close this page if you did not expect it, or go on to your account here. If it is your app, ask the operator of this service to add its origin to ALLOWED_ORIGINS, or to the app’s origins.",
  },
  origin_not_allowed: {
    title: "That request came from elsewhere",
    what: "It was not sent from one of our own pages or a known app, so nothing was changed.",
    next: "Open the page again and use its buttons.",
  },
  not_found: {
    title: "There is nothing here",
    next: "Check the address, or go to your account.",
  },
  unknown_host: {
    title: "This is not our address",
    what: "You came by a name that this service does not go by.",
    next: "Go to its own address. If a link brought you here, do not trust that link.",
  },
  https_required: {
    title: "That was not sent safely",
    what: "It came over plain http, so nothing was done with it.",
    next: "Open the service over https and do it again there.",
  },
  not_operator: {
    title: "This is for operators",
    what: "The console is for those who run this service.",
    next: "Go back to your account. The person who runs this service can name you in OPERATORS.",
  },
  account_unknown: {
    title: "Nobody has this identity",
    next: "Look for the person by e-mail address.",
  },
  app_unknown: {
    title: "No app has this name",
    next: "See the list of apps, or register it.",
  },
  suspended: {
    title: "This account is suspended",
    what: "The operator of this service has closed it for now. Nothing in it is lost.",
    next: "Ask the operator why. You can sign out here.",
  },
  loopback_required: {
    title: "Only on this machine",
    what: "Signing in without a password is for development, and works at http://localhost alone.",
    next: "Open the service at http://localhost, with the same port.",
  },
  method_not_allowed: {
    title: "That is not done at this address",
    what: "A form or a program sent something here that only another page takes. Nothing was changed.",
    next: "Go back, or go to your account.",
  },
  misconfigured: {
    title: "This service is not set up yet",
    what: "Something is missing or wrong in its settings, so it answers nobody. That is nothing you did.",
    next: "Try again later. If you run it: its log says which settings and what would be right.",
  },
  rate_limited: {
    title: "Too many tries in a short time",
    what: "This comes from your account or your network, so nothing was done.",
    next: "Wait a minute, then try again.",
  },
  unavailable: {
    title: "We cannot answer right now",
    what: "What you asked may or may not have happened.",
    next: "Wait a few seconds, look whether it did, and try again.",
  },
  newer_data: {
    title: "Your account is being updated",
    what: "It was changed by a newer version of this service than the one that is running now. Nothing was lost.",
    next: "Try again in a few minutes.",
  },
};

/** Why a sign-in came to nothing. `provider` is the name on its button. */
export const SIGN_IN_PROBLEMS: Readonly<Record<SignInFailure, (provider: string) => Problem>> = {
  cancelled: (provider) => ({
    title: "You were not signed in",
    what: `${provider} says that the sign-in was cancelled or not allowed.`,
    next: "Try again, or choose another way.",
  }),
  expired: () => ({
    title: "This sign-in has ended",
    what: "It took longer than ten minutes, was finished already, or was started in another browser.",
    next: "Start again here, or from the app you came from.",
  }),
  mismatch: (provider) => ({
    title: "We could not match this answer",
    what: `What came back does not belong to the sign-in with ${provider} that this browser started. Nobody was signed in.`,
    next: "Start again here. If you followed a link to get to this page, do not use that link.",
  }),
  provider_unreachable: (provider) => ({
    title: `${provider} does not answer`,
    what: "You were not signed in.",
    next: "Try again in a minute, or choose another way.",
  }),
  provider_failed: (provider) => ({
    title: `Signing in with ${provider} failed`,
    what: `${provider}’s answer could not be used. You were not signed in.`,
    next: "Try again. If it keeps happening, tell the operator of this service.",
  }),
  issuer_changed: (provider) => ({
    title: `Signing in with ${provider} is not set up right`,
    what: "You were not signed in, and nothing was changed.",
    next: "Choose another way, and tell the operator of this service: their log says what to change.",
  }),
  linked_elsewhere: (provider) => ({
    title: `This ${provider} account belongs to another account`,
    what: "Someone signs in here with it already, so it was not linked to yours.",
    next: "Sign in with it and unlink it there first, or link a different one.",
  }),
  linked_another: (provider) => ({
    title: `You already have a ${provider} account linked`,
    what: "There can be one of each kind.",
    next: "Unlink the one you have, then link the other.",
  }),
  link_session_ended: (provider) => ({
    title: `${provider} was not linked`,
    what: "You were signed out, or signed in as someone else, in the meantime.",
    next: "Sign in, then link it again from your account.",
  }),
};

/** What was done, said once on the page that follows. */
export const NOTICES = {
  signed_out: "You are signed out.",
  signed_out_everywhere:
    "You are signed out in every browser. Devices and tokens that you approved go on; you end them on your account page. Apps that are open notice within 15 minutes.",
  signed_out_and_tokens_ended:
    "You are signed out in every browser, and every device and token has lost its access. Apps that are open notice within 15 minutes.",
  linked: "Linked. You can sign in that way from now on.",
  unlinked:
    "Unlinked. You can no longer sign in that way, and what was approved that way has lost its access.",
  only_one_left: "This is your only way to sign in. Link another one first.",
  app_disconnected:
    "Disconnected. The app starts nothing new with your credits by itself. Jobs that it started still finish.",
  app_connected: "Connected. The app can use your credits for its own jobs again.",
  session_ended: "Ended. That browser has to sign in again.",
  account_deleted: "That account is deleted. Sign in to begin a new one.",
  not_linked: "That was not linked to your account.",
} as const;

export type Notice = keyof typeof NOTICES;

/** The notice of this name; null for any other text. */
export function readNotice(name: string | undefined): Notice | null {
  return name !== undefined && Object.hasOwn(NOTICES, name) ? (name as Notice) : null;
}
