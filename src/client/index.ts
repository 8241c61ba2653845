/** `passbook-client`: the typed client for apps. No dependency; browsers, Node, Deno, Bun, Workers. */
export type { AccountFilter, Admin, AuditFilter } from "./admin.ts";
export type { AdminApps, AppSettings } from "./admin_apps.ts";
export { createAppClient, type AppClient, type AppClientOptions } from "./app_client.ts";
export {
  createClient,
  type ClientOptions,
  type LedgerFilter,
  type PassbookClient,
  type StartCheckout,
} from "./client.ts";
export type { TokenSource } from "./credentials.ts";
export type { DeviceLogin } from "./device_login.ts";
export {
  isPassbookError,
  PassbookError,
  SERVICE_ERROR_CODES,
  type ClientErrorCode,
  type PassbookErrorCode,
  type ServiceErrorCode,
} from "./errors.ts";
export type { FollowEvents } from "./events.ts";
export type {
  CallOptions,
  CompleteJob,
  CreateJob,
  FailJob,
  JobFilter,
  Jobs,
  SettleOptions,
  WriteOptions,
} from "./jobs.ts";
export * from "./responses.ts";
export type { Ran, RunJobOptions, RunningJob } from "./run_job.ts";
export type { Settled, Work } from "./settlement.ts";
export type { Fetch, FetchedResponse, FetchInit, StreamReader, Wait } from "./transport.ts";
export {
  createTokenVerifier,
  type VerifiedToken,
  type VerifierOptions,
  type VerifyToken,
} from "./verify_token.ts";
