/** `passbook-client`: the typed client for apps. No dependencies; runs in browsers, Node, Deno, Bun and Workers. */
export { moneyText } from "../domain/currency.ts";
export {
  createClient,
  type ClientOptions,
  type PassbookClient,
  type StartCheckout,
  type StopApp,
  type TokenChanges,
} from "./client.ts";
export type { CallOptions, WriteOptions } from "./calls.ts";
export type { TokenSource, TokenStorage } from "./credentials.ts";
export type { DeviceLogin } from "./device_login.ts";
export {
  isPassbookError,
  PassbookError,
  SERVICE_ERROR_CODES,
  type ClientErrorCode,
  type OAuthErrorCode,
  type PassbookErrorCode,
  type ServiceErrorCode,
} from "./errors.ts";
export type { FollowEvents } from "./events.ts";
export type {
  CompleteJob,
  CreateJob,
  FailJob,
  JobFilter,
  Jobs,
  ReportProgress,
  SettleOptions,
} from "./jobs.ts";
export type { OnApprovalNeeded } from "./job_approval.ts";
export type { ProgressReport } from "./job_progress.ts";
export * from "./responses.ts";
export type { Ledger, LedgerFilter } from "./ledger.ts";
export type { RunResult, RunJobOptions, RunningJob } from "./run_job.ts";
export type { Settled, Work } from "./settlement.ts";
export type { Fetch, FetchedResponse, FetchInit, StreamReader, Wait } from "./transport.ts";
