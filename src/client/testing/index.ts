/** `passbook-client/testing`: the whole service on this machine, for the tests of an app. Needs Node 22 and miniflare. */
export {
  startPassbook,
  type Passbook,
  type StartPassbook,
  type TestApp,
  type TestPerson,
} from "./kit.ts";
export type { ServiceLog } from "./service.ts";
export type { WebhookEvents } from "./webhook_events.ts";
