/** `GET /healthz`: the Worker runs. `GET /readyz`: it can serve, as far as its stores and keys go. */
import { factory } from "../../context.ts";
import type { ServicesFor } from "../../services.ts";

/** Asks no store and needs no setting: it answers wherever the code runs. */
export const readHealth = factory.createHandlers((context) => {
  context.header("Cache-Control", "no-store");
  return context.json({ ok: true });
});

/**
 * Says which store does not answer, never why: the log has that. On settings that make no sense nothing
 * is served, so nothing is ready.
 */
export const readReadiness = (servicesFor: ServicesFor) =>
  factory.createHandlers(async (context) => {
    context.header("Cache-Control", "no-store");
    const services = servicesFor(context.env);
    const checks = services.ok
      ? await services.value.readiness()
      : { directory: false, read_model: false, codes: false, keys: false };
    const ok = Object.values(checks).every(Boolean);
    return context.json({ ok, checks }, ok ? 200 : 503);
  });
