"use client";

/** `passbook-client/react`: hooks for React 18 and later. React is an optional peer of the package. */
export {
  PassbookProvider,
  useJobs,
  usePassbook,
  useSignIn,
  useWallet,
  type PassbookProviderProps,
} from "./hooks.ts";
export type { JobsFilter } from "./job_list.ts";
export type {
  Failed,
  JobsState,
  Loading,
  ReadyJobs,
  ReadyWallet,
  SignedIn,
  SignedOut,
  SignInNeeded,
  SignInState,
  WalletState,
} from "./states.ts";
