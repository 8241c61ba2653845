/**
 * `passbook-client/resource`: makes your server, such as an MCP server, a protected resource that people's agents reach
 * with tokens of a Passbook service. No dependencies; runs in Node, Deno, Bun and Workers.
 */
export {
  createProtectedResource,
  type ProtectedHandler,
  type ProtectedResource,
  type ProtectedResourceOptions,
  type ProtectOptions,
  type VerifiedAccess,
} from "./protected_resource.ts";
export type { Charge, ResourceClient } from "./charges.ts";
export type { RunJobOptions, RunningJob, RunResult } from "../run_job.ts";
export type { Work } from "../settlement.ts";
export { isPassbookError, PassbookError } from "../errors.ts";
