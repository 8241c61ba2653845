/** The results of the hooks: one object for each situation, distinguished by `status`. */
import { isPassbookError, type ClientErrorCode, type ServiceErrorCode } from "../errors.ts";
import type { AppEntry, Job } from "../responses.ts";

/** The first response is on its way. Also the state of every hook while a server renders. */
export interface Loading {
  readonly status: "loading";
}

/** Nobody is signed in. */
export interface SignedOut {
  readonly status: "signed_out";
}

/** The service refused, or gave no response. A lost connection is not an error: it is opened again. */
export interface Failed {
  readonly status: "error";
  readonly error: Error;
  /** Tries again from the start. */
  readonly retry: () => void;
}

/** The person's credits, live. */
export interface ReadyWallet {
  readonly status: "ready";
  /** The available credits. */
  readonly credits: number;
  /** The credits that started jobs reserve. */
  readonly held: number;
  readonly plan: string;
  readonly apps: readonly AppEntry[];
}

/** The state that `useWallet` returns. */
export type WalletState = Loading | SignedOut | Failed | ReadyWallet;

/** The person's jobs, live. */
export interface ReadyJobs {
  readonly status: "ready";
  /** Newest first. */
  readonly jobs: readonly Job[];
  /** Whether older jobs match, which `client.jobs.all` reads. */
  readonly hasMore: boolean;
}

/** The state that `useJobs` returns. */
export type JobsState = Loading | SignedOut | Failed | ReadyJobs;

/** Nobody is signed in, and how to change that. */
export interface SignInNeeded extends SignedOut {
  /** Why a sign-in of this page failed; otherwise null. */
  readonly error: Error | null;
  /** Opens the sign-in page, which returns to `redirectTo` or else to this page. */
  readonly signIn: (options?: { readonly redirectTo?: string }) => void;
  /** Tries again, after your own code signed the person in. */
  readonly retry: () => void;
}

/** A person is signed in. */
export interface SignedIn {
  readonly status: "signed_in";
  /** The person's id, which is the `sub` of their tokens. */
  readonly identityId: string;
  /** Ends the browser's session and forgets the token. */
  readonly signOut: () => Promise<void>;
}

/** The state that `useSignIn` returns. */
export type SignInState = Loading | SignInNeeded | Failed | SignedIn;

export const LOADING: Loading = { status: "loading" };
export const SIGNED_OUT: SignedOut = { status: "signed_out" };

const SIGNED_OUT_CODES: readonly (ClientErrorCode | ServiceErrorCode)[] = [
  "no_credentials",
  "signin_failed",
  "token_expired",
  "unauthorized",
];

/** Whether the error means that nobody is signed in. */
export function isSignedOut(error: unknown): boolean {
  return SIGNED_OUT_CODES.some((code) => isPassbookError(error, code));
}

export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
