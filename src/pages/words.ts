/** All words that tell a person what went wrong or what was done, each with what to do next. */
import type { RefusalCode } from "../domain/refusals.ts";
import type { SignInFailure } from "../identity/port.ts";

/** What a page says of a problem. */
export interface Problem {
  readonly title: string;
  /** What happened, where the title does not say it all. */
  readonly what?: string;
  /** What the person can do. */
  readonly next: string;
}

/** Refusals that a person can run into. */
export const PAGE_PROBLEMS: Readonly<Partial<Record<RefusalCode, Problem>>> = {
  redirect_not_allowed: {
    title: "We cannot send you back there",
    what: "The page that sent you here asked to have you returned to an address that is not on this service’s list. You were not signed in anywhere.",
    next: "Close this page if you did not expect it. If it is your app, ask the operator of this service to allow its address.",
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
  unavailable: {
    title: "We cannot answer right now",
    what: "Nothing was changed.",
    next: "Try again in a few seconds.",
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
  signed_out_everywhere: "You are signed out in every browser.",
  linked: "Linked. You can sign in that way from now on.",
  unlinked: "Unlinked. You can no longer sign in that way.",
  only_one_left: "This is your only way to sign in. Link another one first.",
  session_ended: "Ended. That browser has to sign in again.",
  not_linked: "That was not linked to your account.",
} as const;

export type Notice = keyof typeof NOTICES;

/** The notice of this name; null for any other text. */
export function readNotice(name: string | undefined): Notice | null {
  return name !== undefined && Object.hasOwn(NOTICES, name) ? (name as Notice) : null;
}
