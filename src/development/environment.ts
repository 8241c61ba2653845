/** The services of the development build: those of production, with every origin of this machine allowed. */
import { accepted } from "../domain/result.ts";
import type { ServicesFor } from "../http/services.ts";
import { servicesFor } from "../services.ts";

/** The same bindings in an object of its own, by which production's code finds the services that it has built. */
let current: Env | null = null;

/** The environment for requests and objects. After {@link forgetServices} it is another one, whose caches are empty. */
export function currentEnvironment(env: Env): Env {
  current ??= { ...env };
  return current;
}

/** Forgets what the services remember of the stores. */
export function forgetServices(): void {
  current = null;
}

/** The services for the app. */
export const developmentServicesFor: ServicesFor = (env) => {
  const services = servicesFor(currentEnvironment(env));
  if (!services.ok || !services.value.config.dev_signin) return services;
  const { config } = services.value;
  const allowed_origins = [...config.allowed_origins, { kind: "loopback" } as const];
  return accepted({ ...services.value, config: { ...config, allowed_origins } });
};
