/**
 * The origins that receive tokens for other services: upstream tokens, and tokens of a template. Such a token gives access to
 * the person's data at another service, so the operator decides for each app; an origin that may use the rest of the API
 * does not receive it by default.
 */
import { coversCookieDomain, isAllowedOrigin } from "../../../domain/origins.ts";
import { SHARED_AZP, type SessionProof } from "../../../domain/proof.ts";
import type { AppContext } from "../../context.ts";
import type { Services } from "../../services.ts";

type RegisteredApps = Awaited<ReturnType<Services["apps"]["all"]>>;
type RegisteredApp = RegisteredApps extends ReadonlyMap<string, infer App> ? App : never;

/**
 * Whether the origin in `azp` may receive every such token: our own pages, and the origins of `ALLOWED_ORIGINS`. For
 * the shared cookie of the parent domain, that list must allow every host that can read the cookie.
 */
export async function isConfiguredOrigin(
  context: AppContext,
  { azp }: SessionProof,
): Promise<boolean> {
  if (azp === context.get("base_url")) return true;
  const { config, keepOwned } = context.get("services");
  const allowed = await keepOwned(config.allowed_origins);
  if (azp !== SHARED_AZP) return isAllowedOrigin(azp, allowed);
  return config.cookie_domain !== null && coversCookieDomain(config.cookie_domain, allowed);
}

/** Whether the origin in `azp` belongs to a registered app that may receive the tokens of the provider. */
export async function appReceivesProvider(
  context: AppContext,
  { azp }: SessionProof,
  provider: string,
): Promise<boolean> {
  const receiving = await findReceivingApps(context, provider);
  return receiving.some(({ origins }) => isAllowedOrigin(azp, origins));
}

/** Whether the origin in `azp` may receive tokens of a template. `app_slugs`: the apps that the template names. */
export async function receivesTemplate(
  context: AppContext,
  proof: SessionProof,
  app_slugs: readonly string[],
): Promise<boolean> {
  if (await isConfiguredOrigin(context, proof)) return true;
  const apps = await context.get("services").apps.all();
  return app_slugs.some((slug) => isAllowedOrigin(proof.azp, apps.get(slug)?.origins ?? []));
}

/** The registered apps that may receive the tokens of the provider. */
export async function findReceivingApps(
  context: AppContext,
  provider: string,
): Promise<readonly RegisteredApp[]> {
  const apps = await context.get("services").apps.all();
  return [...apps.values()].filter(({ upstream_providers }) =>
    upstream_providers.includes(provider),
  );
}
