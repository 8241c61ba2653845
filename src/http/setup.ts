/** The services and base address, or a refusal to serve. */
import { servicesFor } from "../services.ts";
import { factory } from "./context.ts";
import { refuse } from "./refusals.ts";

/** Refuses to serve on settings that make no sense, naming the variable. */
export const setUp = factory.createMiddleware(async (context, next) => {
  const services = servicesFor(context.env);
  if (!services.ok) {
    return refuse(context, { code: "misconfigured", variable: services.refusal.variable });
  }
  context.set("services", services.value);
  context.set("base_url", services.value.config.base_url ?? new URL(context.req.url).origin);
  return next();
});
