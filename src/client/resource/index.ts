/**
 * `passbook-client/resource`: makes your server, such as an MCP server, a protected resource that people's agents reach
 * with tokens of a Passbook service. No dependencies; runs in Node, Deno, Bun and Workers.
 */
export {
  createProtectedResource,
  type ProtectedHandler,
  type ProtectedResource,
  type ProtectedResourceOptions,
  type VerifiedAccess,
} from "./protected_resource.ts";
export { isPassbookError, PassbookError } from "../errors.ts";
