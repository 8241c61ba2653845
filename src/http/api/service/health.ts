/** `GET /healthz`: the Worker runs. `GET /readyz`: its settings, stores and keys work. */
import { isReady, RELEASE_HEADER } from "../../../domain/wire.ts";
import { endpoint } from "../endpoint.ts";
import type { ServicesFor } from "../../services.ts";

/** The endpoints that respond even with wrong settings. */
export const healthEndpoints = (servicesFor: ServicesFor) => ({
  // Queries no store and reads no setting.
  readHealth: endpoint({ at: "GET /healthz", caller: "anyone" }, (context) => {
    context.header("Cache-Control", "no-store");
    return context.json({ ok: true });
  }),
  // Names the store that does not respond; the reason is only in the log. With wrong settings nothing is ready.
  readReadiness: endpoint({ at: "GET /readyz", caller: "anyone" }, async (context) => {
    context.header("Cache-Control", "no-store");
    // Also with wrong settings: a deployment believes only its own release.
    const release = context.env.RELEASE?.id ?? "";
    if (release !== "") context.header(RELEASE_HEADER, release);
    const services = servicesFor(context.env);
    const checks = services.ok
      ? await services.value.readiness()
      : {
          directory: false,
          read_model: false,
          archive: false,
          codes: false,
          keys: false,
          account: false,
        };
    const ok = isReady(checks);
    return context.json({ ok, checks }, ok ? 200 : 503);
  }),
});
