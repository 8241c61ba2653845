/** `passbook-client/server`: for an app's own server, which has the app's key. A page does not load it. */
export { createAppClient, type AppClient, type AppClientOptions } from "./app_client.ts";
export { createAppServer, type AppServer, type AppServerOptions } from "./app_server.ts";
export {
  createTokenVerifier,
  type VerifiedToken,
  type VerifierOptions,
  type VerifyToken,
} from "./verify_token.ts";
export {
  verifyWebhook,
  type VerifiedWebhook,
  type VerifyWebhook,
  type WebhookHeaders,
} from "./verify_webhook.ts";
export type { Webhooks, WebhookSettings } from "./webhooks.ts";
