/**
 * `passbook-client/oauth`: lets an app or an agent use a person's account, within limits that the person sets. No
 * dependencies; runs in browsers, Node, Deno, Bun and Workers.
 */
export {
  createOAuthClient,
  type CallbackOptions,
  type OAuthClient,
  type OAuthClientOptions,
  type PendingAuthorization,
  type StartAuthorization,
  type StartedAuthorization,
} from "./oauth_client.ts";
export type {
  Connection,
  ConnectionOptions,
  ConnectionTokens,
  ExchangeLimits,
} from "./connection.ts";
export {
  issuePersonalToken,
  type IssuedPersonalToken,
  type PersonalTokenRequest,
} from "./personal_token.ts";
export type { SpendingCap, SpendingLimits } from "./spending_limits.ts";
export type { OAuthFetch } from "./token_endpoint.ts";
export { isPassbookError, PassbookError, type OAuthErrorCode } from "../errors.ts";
