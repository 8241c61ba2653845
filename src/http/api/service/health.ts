/** `GET /healthz`: the Worker runs. `GET /readyz`: its settings, stores and keys work. */
import { isReady, RELEASE_HEADER } from "../../../domain/wire.ts";
import { factory } from "../../context.ts";
import type { ServicesFor } from "../../services.ts";

/** Queries no store and reads no setting. */
export const readHealth = factory.createHandlers((context) => {
  context.header("Cache-Control", "no-store");
  return context.json({ ok: true });
});

/** Names the store that does not respond; the reason is only in the log. With wrong settings nothing is ready. */
export const readReadiness = (servicesFor: ServicesFor) =>
  factory.createHandlers(async (context) => {
    context.header("Cache-Control", "no-store");
    // Also with wrong settings: a deployment believes only its own release.
    const release = context.env.RELEASE?.id ?? "";
    if (release !== "") context.header(RELEASE_HEADER, release);
    const services = servicesFor(context.env);
    const checks = services.ok
      ? await services.value.readiness()
      : { directory: false, read_model: false, codes: false, keys: false, account: false };
    const ok = isReady(checks);
    return context.json({ ok, checks }, ok ? 200 : 503);
  });
