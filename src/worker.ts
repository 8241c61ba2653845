/** The entry point: handlers for requests, the queue and the schedule, and the Durable Object classes. */
import { createApp } from "./app.ts";
import type { ProjectionMessage } from "./readmodel/projector.ts";
import { projectionConsumer, servicesFor, upkeepOf } from "./services.ts";

export { Account } from "./account/object.ts";
export { StarterBudget } from "./budget/object.ts";
export { DeviceLogin } from "./device/object.ts";

const app = createApp(servicesFor);

export default {
  fetch: app.fetch,
  queue: (batch, env) => projectionConsumer(env)(batch),
  scheduled: (_, env) => upkeepOf(env)(),
} satisfies ExportedHandler<Env, ProjectionMessage>;
