/** The entry point: handlers for requests, the queue and the schedule, and the Durable Object classes. */
import { Account as AccountObject } from "./account/object.ts";
import { createApp } from "./app.ts";
import { StarterBudget } from "./budget/object.ts";
import { DeviceLogin } from "./device/object.ts";
import { logFailuresOf } from "./operations/object_failures.ts";
import type { ProjectionMessage } from "./readmodel/projector.ts";
import {
  cardChargesOf,
  deliveriesPartsOf,
  projectionConsumer,
  scheduledWorkOf,
  senderPartsOf,
  servicesFor,
} from "./services.ts";
import { Deliveries } from "./webhooks/deliveries.ts";
import { Sender } from "./webhooks/object.ts";

class Account extends AccountObject {
  protected override openCardCharges(): ReturnType<typeof cardChargesOf> {
    return cardChargesOf(this.env);
  }
}

class WebhookSender extends Sender {
  protected override openParts(): ReturnType<typeof senderPartsOf> {
    return senderPartsOf(this.env);
  }
}

class WebhookDeliveries extends Deliveries {
  protected override openParts(): ReturnType<typeof deliveriesPartsOf> {
    return deliveriesPartsOf(this.env);
  }
}

logFailuresOf({ Account, DeviceLogin, StarterBudget, WebhookDeliveries, WebhookSender });

export { Account, DeviceLogin, StarterBudget, WebhookDeliveries, WebhookSender };

const app = createApp(servicesFor);

export default {
  fetch: app.fetch,
  queue: (batch, env) => projectionConsumer(env)(batch),
  scheduled: ({ cron }, env) => scheduledWorkOf(env, cron)(),
} satisfies ExportedHandler<Env, ProjectionMessage>;
