/**
 * The entry of the development build: production's Worker with a clock that can be moved, and the endpoints of
 * `endpoints.ts`. `npm run dev`, `passbook dev` and the kit for testing run it. No deployment has it.
 */
// First: the other modules read the clock.
import "./clock.ts";
import { createApp } from "../app.ts";
import production, {
  Account as ProductionAccount,
  DeviceLogin as ProductionDeviceLogin,
  StarterBudget as ProductionStarterBudget,
  WebhookDeliveries as ProductionWebhookDeliveries,
  WebhookSender as ProductionWebhookSender,
} from "../worker.ts";
import { addDevelopmentEndpoints } from "./endpoints.ts";
import { currentEnvironment, developmentServicesFor } from "./environment.ts";
import { developed } from "./objects.ts";

export class Account extends developed(ProductionAccount, "ACCOUNT") {}
export class DeviceLogin extends developed(ProductionDeviceLogin, "DEVICE_LOGIN") {}
export class StarterBudget extends developed(ProductionStarterBudget, "STARTER_BUDGET") {}
export class WebhookDeliveries extends developed(
  ProductionWebhookDeliveries,
  "WEBHOOK_DELIVERIES",
) {}
export class WebhookSender extends developed(ProductionWebhookSender, "WEBHOOK_SENDER") {}

const app = createApp(developmentServicesFor);
addDevelopmentEndpoints(app);

export default {
  fetch: app.fetch,
  queue: (batch, env) => production.queue(batch, currentEnvironment(env)),
  scheduled: (controller, env) => production.scheduled(controller, currentEnvironment(env)),
} satisfies ExportedHandler<
  Env,
  Parameters<typeof production.queue>[0]["messages"][number]["body"]
>;
